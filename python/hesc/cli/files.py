"""File commands on deployment folders: a client and a server that only exchange files.

Client `keygen`; client `encrypt`; server `eval`; client `decrypt`. The folders are made by
`hesc compile` or `hesc.ml`. Every command checks its output files before it works, and leaves none
after an error.
"""

from __future__ import annotations

import csv
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from hesc._native import HescError, ParameterError, WireError
from hesc.cli.columns import Table
from hesc.cli.terminal import (
    JsonFile,
    PassphraseFile,
    check_outputs,
    read_passphrase,
    reading,
    write_figures,
)
from hesc.ml import ledger
from hesc.ml.deployment import ClientFolder, ServerFolder
from hesc.ml.folders import MANIFEST
from hesc.networks.batches import BatchWriter, read_batches
from hesc.networks.messages import Message
from hesc.new_files import check_new, new_file, new_files, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TextIO

CELLS: Final = 1 << 20
"""Features read at a time."""
KEYS_BYTES: Final = 1 << 30
"""The longest file of public keys."""

Folder = Annotated[Path, typer.Option("--client", help="The folder client/ of a deployment.")]
Secret = Annotated[Path, typer.Option("--secret", help="The secret key, from hesc keygen.")]


def _say(*lines: str) -> None:
    # No markup: names of files may hold brackets.
    Console(stderr=True).print(Text("\n".join(lines)), soft_wrap=True)


def keygen(
    client: Annotated[Path, typer.Argument(help="The folder client/ of a deployment.")],
    secret: Annotated[Path, typer.Option(help="New file for the secret key.")],
    keys: Annotated[
        Path | None, typer.Option(help="New file for public keys, where the server needs them.")
    ] = None,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase of the secret key.")
    ] = False,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Makes a client's keys. The secret key's file has mode 0600; nothing is overwritten.

    Example: hesc keygen credit/client --secret secret.key --keys client.keys
    """
    folder = ClientFolder.open(client)
    outputs = {"--secret": secret} | ({} if keys is None else {"--keys": keys})
    check_new(outputs)
    _check_apart(outputs, client)
    if folder.plan.needs_keys and keys is None:
        raise ParameterError("this plan's server needs public keys: give --keys, a new file")
    words = read_passphrase(passphrase_file)
    if words is None and passphrase:
        words = typer.prompt("passphrase", hide_input=True, confirmation_prompt=True)
    made = folder.client()
    with new_files(*outputs.values()) as parts:
        made.secret.save(parts[0], passphrase=words)
        if keys is not None:
            parts[1].write_bytes(made.public_keys())
    lines = [f"secret: {secret} (mode 0600)"]
    if keys is not None:
        for_whom = "for the server" if folder.plan.needs_keys else "this plan's server needs none"
        lines.append(f"public: {keys} ({for_whom})")
    _say(*lines)


def _check_apart(outputs: Mapping[str, Path], folder: Path, json_file: str | None = None) -> None:
    """Refuses files that would lie in a deployment: no reader takes it then, and some would leak.

    Raises:
        HescError: naming the option.

    """
    if json_file not in (None, "-"):
        outputs = {**outputs, "--json": Path(json_file)}
    here = folder.resolve()
    deployed = [here, *([here.parent] if (here.parent / MANIFEST).exists() else [])]
    for name, path in outputs.items():
        if any(place in path.resolve().parents for place in deployed):
            raise HescError(
                f"{name} {path} lies in a deployment, which is kept as it was made and given away; "
                f"choose another place"
            )


def _opened_client(folder: ClientFolder, secret: Path, passphrase_file: Path | None) -> Any:
    from hesc.secret import wants_passphrase

    words = read_passphrase(passphrase_file)
    if words is None and wants_passphrase(secret):
        words = typer.prompt("passphrase", hide_input=True, err=True)
    return folder.client(secret=folder.load_secret(secret, passphrase=words))


def _batches(file: IO[bytes], message: Message, digest: str) -> Iterator[bytes]:
    """The batches behind the first, which names the plan.

    Raises:
        WireError: another plan's, or damaged.

    """
    found = read_batches(file, message)
    if next(found) != bytes.fromhex(digest):
        raise WireError(
            f"{file.name} is for another plan than this folder's; check which it was made with"
        )
    some = False
    for batch in found:
        some = True
        yield batch
    if not some:
        raise WireError(f"{file.name} holds no sample")


def encrypt(
    rows: Annotated[Path, typer.Argument(help="Samples, a CSV file with a header.")],
    client: Folder,
    secret: Secret,
    out: Annotated[Path, typer.Option(help="New file for the encrypted samples.")],
    clip: Annotated[
        bool, typer.Option("--clip", help="Bring values beyond their ranges to the ends.")
    ] = False,
    ignore_extra: Annotated[
        bool, typer.Option("--ignore-extra", help="Leave out columns that the plan does not know.")
    ] = False,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Encrypts samples, as many as there are. Columns are found by name.

    Example: hesc encrypt rows.csv --client credit/client --secret secret.key --out query.hesc
    """
    check_outputs({"--out": out}, json_file)
    folder = ClientFolder.open(client)
    _check_apart({"--out": out}, client, json_file)
    plan = folder.plan
    opened = _opened_client(folder, secret, passphrase_file)
    size = max(1, min(plan.rows, CELLS // plan.inputs))

    def batches(file: IO[bytes]) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
        table = Table(file)
        first = 0
        for batch in table.batches(
            table.chosen(plan.names, plan.inputs, ignore_extra=ignore_extra), size
        ):
            yield first, batch
            first += len(batch)

    if rows.is_file():
        # A wrong row is found before hours of work.
        with reading(rows, "checking") as file:
            for first, batch in batches(file):
                with _after(first):
                    plan.prepared(batch, clip=clip)
    count = clipped = clipped_samples = queries = up = 0
    with reading(rows, "encrypting") as file, new_file(out) as part, part.open("xb") as query:
        writer = BatchWriter(query, Message.SAMPLES)
        writer.write(bytes.fromhex(folder.digest))
        for first, batch in batches(file):
            with _after(first):
                found = opened.encrypt(batch, clip=clip)
            writer.write(found.data)
            count, queries, up = count + len(batch), queries + 1, up + len(found.data)
            clipped += found.clipped
            clipped_samples += found.clipped_samples
        writer.finish()
    figures = {
        "samples": count,
        "queries": queries,
        "bytes": up,
        "clipped": clipped,
        "clipped_samples": clipped_samples,
    }
    write_figures(json_file, figures)
    _say(f"samples encrypted: {count}, {up} bytes, queries: {queries}: {out}")
    if clipped:
        _say(f"{clipped} values in {clipped_samples} samples were brought within their ranges")


@contextmanager
def _after(first: int) -> Iterator[None]:
    """Says of an error in a batch how many samples were before it."""
    try:
        yield
    except HescError as error:
        if not first:
            raise
        raise type(error)(f"{error} (samples counted from {first})") from error


def evaluate(
    query: Annotated[Path, typer.Argument(help="Encrypted samples.")],
    server: Annotated[Path, typer.Option(help="The folder server/ of a deployment.")],
    out: Annotated[Path, typer.Option(help="New file for the answer.")],
    keys: Annotated[
        Path | None, typer.Option(help="The client's public keys, where the plan needs them.")
    ] = None,
    ledger_file: Annotated[
        Path | None,
        typer.Option(
            "--ledger", help="File that counts what a model with hidden weights has given."
        ),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Evaluates the model on encrypted samples: the server's part, without a secret key.

    Example: hesc eval query.hesc --server credit/server --out answer.hesc
    """
    check_outputs({"--out": out}, json_file)
    folder = ServerFolder.open(server)
    outputs = {"--out": out} | ({} if ledger_file is None else {"--ledger": ledger_file})
    _check_apart(outputs, server, json_file)
    given = None if keys is None else read_whole(keys, KEYS_BYTES, "a file of public keys")
    served = folder.server(keys=given)
    most: int | None = getattr(served, "answers_left", None)
    if most is not None and ledger_file is None:
        raise ParameterError(
            f"this model hides its weights for {most} numbers in all, which somebody has to count "
            f"over all its runs: give --ledger, a file that stays with the server"
        )
    if most is None and ledger_file is not None:
        raise ParameterError("this model hides nothing and counts nothing: leave out --ledger")
    start = time.perf_counter()
    queries = up = down = 0
    with ExitStack() as stack:
        counted = None
        if ledger_file is not None:
            counted = stack.enter_context(ledger.opened(ledger_file, folder.digest))
        file = stack.enter_context(reading(query, "evaluating"))
        part = stack.enter_context(new_file(out))
        with part.open("xb") as answer:
            writer = BatchWriter(answer, Message.SCORES)
            writer.write(bytes.fromhex(folder.digest))
            for batch in _batches(file, Message.SAMPLES, folder.digest):
                found = served.answer(batch)
                writer.write(found)
                queries, up, down = queries + 1, up + len(batch), down + len(found)
            writer.finish()
        if counted is not None and most is not None:
            left: Any = getattr(served, "answers_left", 0)
            # Counted before the answer is there.
            counted.spend(most - left, most)
    seconds = time.perf_counter() - start
    figures: dict[str, Any] = {
        "queries": queries,
        "bytes_up": up,
        "bytes_down": down,
        "seconds": seconds,
    }
    lines = [f"queries answered: {queries}, {down} bytes: {out}"]
    if counted is not None and most is not None:
        figures["numbers_left"] = most - counted.given
        lines.append(f"{most - counted.given} numbers left of {most}")
    write_figures(json_file, figures)
    _say(*lines)


def decrypt(
    answer: Annotated[Path, typer.Argument(help="The server's answer.")],
    client: Folder,
    secret: Secret,
    out: Annotated[Path, typer.Option(help="New CSV file for the predictions.")],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add columns of probabilities.")
    ] = False,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Decrypts an answer: a row with prediction and scores for each sample, in their order.

    Example: hesc decrypt answer.hesc --client credit/client --secret k.key --out predictions.csv
    """
    check_outputs({"--out": out}, json_file)
    folder = ClientFolder.open(client)
    _check_apart({"--out": out}, client, json_file)
    plan = folder.plan
    if probabilities and not hasattr(plan, "probabilities"):
        raise ParameterError("this plan gives no probabilities: leave out --probabilities")
    opened = _opened_client(folder, secret, passphrase_file)
    count = 0
    classes: Counter[str] = Counter()
    with (
        reading(answer, "decrypting") as file,
        new_file(out) as part,
        part.open("x", newline="", encoding="utf-8") as table,
    ):
        for batch in _batches(file, Message.SCORES, folder.digest):
            found = opened.decrypt(batch)
            shares = plan.probabilities(found.scores) if probabilities else None
            _write_rows(table, plan, found, shares, header=not count)
            count += len(found.predictions)
            if plan.classes is not None:
                classes.update(str(name) for name in found.predictions.tolist())
    odd = _first_formula(plan.classes)
    if odd is not None:
        _say(
            f"a class is named {odd[:40]!r}, and is written as it is: spreadsheets take what "
            f"begins with = + - @ for a formula and run it, so import the column as text"
        )
    figures = {"samples": count, "error": plan.error}
    if plan.classes is not None:
        figures["classes"] = dict(sorted(classes.items()))
    write_figures(json_file, figures)
    error = "" if plan.error is None else f", scores within {plan.error:.3g} (root mean square)"
    _say(f"predictions: {count}{error}: {out}")


def _first_formula(classes: Any) -> str | None:
    """A class's name that a spreadsheet would run, if there is one."""
    names = [] if classes is None else classes.tolist()
    texts = (name for name in names if isinstance(name, str))
    return next((name for name in texts if name.lstrip()[:1] in set("=+-@")), None)


def _write_rows(
    table: TextIO, plan: Any, found: Any, probabilities: Any | None, *, header: bool
) -> None:
    """A line for each sample: prediction, scores, their error, probabilities."""
    columns: list[tuple[list[str], Any]] = []
    labels = [] if plan.classes is None else [str(name) for name in plan.classes.tolist()]
    what = "transformed" if getattr(plan, "transformer", False) else "prediction"
    columns.append((_names(what, found.predictions, []), found.predictions))
    if plan.classes is not None and found.scores is not None:
        columns.append((_names("score", found.scores, labels), found.scores))
    if found.error is not None:
        columns.append((["error"], np.full(len(found.predictions), found.error)))
    if probabilities is not None:
        columns.append((_names("probability", probabilities, labels), probabilities))
    writer = csv.writer(table, lineterminator="\n")
    if header:
        writer.writerow([name for names, _ in columns for name in names])
    lists = [
        np.asarray(values).reshape(len(found.predictions), -1).tolist() for _, values in columns
    ]
    for row in zip(*lists, strict=True):
        writer.writerow([cell for cells in row for cell in cells])


def _names(what: str, values: Any, labels: list[str]) -> list[str]:
    if np.ndim(values) == 1:
        return [what]
    width = values.shape[1]
    ends = labels if len(labels) == width else [str(place) for place in range(width)]
    return [f"{what} {end}" for end in ends]
