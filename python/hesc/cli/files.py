"""File commands on deployment folders: a client and a server that only exchange files.

Client `keygen`; client `encrypt`; server `eval`; client `decrypt`. The folders are made by
`hesc compile` or `hesc.ml`. Every command checks its output files before it works, and leaves none
after an error.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer

from hesc._native import HescError, KeyMismatchError, ParameterError
from hesc._support import documents
from hesc._support.new_files import check_new, for_owner, new_files, read_whole
from hesc._support.passphrase_files import read_passphrase
from hesc.batch.table_step import counted_from
from hesc.cli.batches import Clip, IgnoreExtra, batches, of_clipped, write_best, write_rows
from hesc.cli.kept import KeptIfAny, kept_in
from hesc.cli.pairing import QueryName, answers_to, checked_name
from hesc.cli.terminal import (
    JsonFile,
    PassphraseFile,
    check_outputs,
    new_result,
    reading,
    say,
    tell,
)
from hesc.ml.deployment import ClientFolder
from hesc.models.conclusions import PROBABILITIES
from hesc.protocols import ledger, registry
from hesc.protocols.folders import MANIFEST, MANIFEST_BYTES, MANIFEST_KIND, ServerFolder
from hesc.protocols.message import Kind, MessageWriter, name_of, query_of, read_messages
from hesc.protocols.search.index import Index
from hesc.protocols.search.plan import SearchPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hesc.protocols.plan import ModelPlan

KEYS_BYTES: Final = 1 << 30
"""The longest file of public keys."""

Folder = Annotated[Path, typer.Option("--client", help="The folder client/ of a deployment.")]
Secret = Annotated[Path, typer.Option("--secret", help="The secret key, from hesc keygen.")]


def keygen(
    client: Annotated[Path, typer.Argument(help="The folder client/ of a deployment.")],
    secret: Annotated[Path, typer.Option(help="New file for the secret key.")],
    keys: Annotated[
        Path | None, typer.Option(help="New file for public keys, where the plan needs them.")
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
    check_apart(outputs, client)
    if folder.plan.needs_keys and keys is None:
        raise ParameterError(
            f"this plan's public keys are {_takes_keys(folder.plan)}: give --keys, a new file"
        )
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
        for_whom = _takes_keys(folder.plan)
        for_whom += ", and to encrypt with" * folder.plan.encrypts_publicly
        lines.append(f"public: {keys} ({for_whom})")
    say(*lines)


def check_apart(outputs: Mapping[str, Path], folder: Path, json_file: str | None = None) -> None:
    """Refuses files that would lie in a deployment: no reader takes it then, and some would leak.

    Raises:
        HescError: naming the option.

    """
    if json_file not in (None, "-"):
        outputs = {**outputs, "--json": Path(json_file)}
    here = folder.resolve()
    for name, path in outputs.items():
        above = path.resolve().parents
        if here in above or any(map(_is_deployed, above)):
            raise HescError(
                f"{name} {path} lies in a deployment, which is kept as it was made and given away; "
                f"choose another place"
            )


def _is_deployed(folder: Path) -> bool:
    """Whether a folder is a deployment, or a side of one: other things have manifests too."""
    manifest = folder / MANIFEST
    try:
        if not manifest.is_file():
            return False
        found = documents.kind_of(read_whole(manifest, MANIFEST_BYTES, "a manifest"))
    except (HescError, OSError):
        return False
    return found == MANIFEST_KIND


def warn_of_formulas(classes: Any) -> None:
    """Says on the terminal that a spreadsheet would run a class's name, if it would."""
    names = [] if classes is None else classes.tolist()
    texts = (name for name in names if isinstance(name, str))
    odd = next((name for name in texts if name.lstrip()[:1] in set("=+-@")), None)
    if odd is not None:
        say(
            f"a class is named {odd[:40]!r}, and is written as it is: spreadsheets take what "
            f"begins with = + - @ for a formula and run it, so import the column as text"
        )


def _takes_keys(plan: Any) -> str:
    if not plan.needs_keys:
        return "needed by nobody under this plan"
    if plan.parties:
        return "for all parties and the server"
    return "for the server" if registry.server_takes_keys(plan) else "for the model's owner"


def words_of(secret: Path, passphrase_file: Path | None) -> str | None:
    """The passphrase of a key's file: a file's first line, or asked for where the key has one."""
    from hesc.secret import wants_passphrase

    words = read_passphrase(passphrase_file)
    if words is None and wants_passphrase(secret):
        words = typer.prompt("passphrase", hide_input=True, err=True)
    return words


def check_rows(rows: Path, plan: Any, *, clip: bool, ignore_extra: bool) -> int:
    """Finds a wrong row before anything is done with one; how many there are.

    Raises:
        HescError: as the table's reader and the plan's `prepared`; it says which row.

    """
    count = 0
    with reading(rows, "checking") as file:
        for first, batch in batches(file, plan, ignore_extra=ignore_extra):
            with counted_from(first, "samples"):
                plan.prepared(batch, clip=clip)
            count += len(batch)
    return count


def opened_client(
    plan: Any, secret: Path, passphrase_file: Path | None, keys: Path | None = None
) -> Any:
    """A client with a key from a file, whose passphrase is asked for where it has one."""
    from hesc.secret import SecretKey

    if keys is not None and not plan.encrypts_publicly:
        raise ParameterError(
            "a client of this plan encrypts under its secret key alone: leave out keys, or --keys"
        )
    given = None if keys is None else read_whole(keys, KEYS_BYTES, "a file of public keys")
    words = words_of(secret, passphrase_file)
    try:
        kept = SecretKey.load(plan.params, secret, passphrase=words)
    except ParameterError as error:
        raise ParameterError(
            f"{secret} is no key of this plan, for which hesc keygen makes one: {error}"
        ) from error
    return registry.client_of(plan, secret=kept, keys=given)


def messages(file: IO[bytes], kind: Kind, plan: ModelPlan) -> Iterator[bytes]:
    """The messages of a file, of one kind and plan, in their wire forms.

    Raises:
        WireError: another plan's, damaged, or longer than any of this plan.

    """
    return read_messages(file, kind, plan.digest, longest=plan.longest(kind))


def encrypt(
    rows: Annotated[
        Path, typer.Argument(help="Samples, a CSV file with a header, or a Parquet file.")
    ],
    client: Folder,
    secret: Secret,
    out: Annotated[Path, typer.Option(help="New file for the encrypted samples.")],
    clip: Clip = False,
    ignore_extra: IgnoreExtra = False,
    keys: Annotated[
        Path | None,
        typer.Option(help="The client's public keys, where the plan encrypts under them."),
    ] = None,
    kept: KeptIfAny = None,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Encrypts samples, as many as there are. Columns are found by name.

    Example: hesc encrypt rows.csv --client credit/client --secret secret.key --out query.hesc
    """
    check_outputs({"--out": out}, json_file)
    folder = ClientFolder.open(client)
    check_apart({"--out": out} | ({} if kept is None else {"--kept": kept}), client, json_file)
    plan = folder.plan
    if plan.parties:
        raise ParameterError(
            f"this plan's samples are of several owners, {', '.join(map(repr, plan.parties))}, and "
            f"each encrypts its own columns: hesc party encrypt"
        )
    if plan.encrypts_publicly and keys is None:
        raise ParameterError(
            "samples of this plan are encrypted under the client's public key: give --keys, the "
            "file of `hesc keygen --keys`"
        )
    opened = opened_client(plan, secret, passphrase_file, keys)
    prepared: dict[str, Any] = {}
    if kept is not None:
        kept_in(opened, kept)
        prepared["prepared"] = True
    if rows.is_file():
        # Before hours of work, and before prepared queries are used.
        found_rows = check_rows(rows, plan, clip=clip, ignore_extra=ignore_extra)
        if prepared:
            opened.check_ready(found_rows)
    count = clipped = clipped_samples = queries = up = 0
    name = QueryName()
    with (
        reading(rows, "encrypting") as file,
        new_result(out, json_file) as (part, beside),
        part.open("xb") as query,
    ):
        writer = MessageWriter(query, plan.digest)
        for first, batch in batches(file, plan, ignore_extra=ignore_extra):
            with counted_from(first, "samples"):
                found = opened.encrypt(batch, clip=clip, **prepared)
            writer.write(found.data)
            name.messages.append(name_of(found.data))
            count, queries, up = count + len(batch), queries + 1, up + len(found.data)
            clipped += found.clipped
            clipped_samples += found.clipped_samples
        writer.finish()
        figures: dict[str, Any] = {
            "query": name.whole,
            "samples": count,
            "queries": queries,
            "bytes": up,
            "clipped": clipped,
            "clipped_samples": clipped_samples,
        }
        lines = [
            f"samples encrypted: {count}, {up} bytes, queries: {queries}: {out} (query {name})"
        ]
        lines += of_clipped(clipped, clipped_samples)
        query.flush()
        tell(beside, figures, *lines)


def _answers(queries: Iterator[bytes], served: Any) -> Iterator[tuple[int, bytes]]:
    """Bytes of each query of a file, and its answer."""
    for query in queries:
        yield len(query), served.answer(query)


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
    kept: KeptIfAny = None,
    index: Annotated[
        Path | None, typer.Option(help="The file of a search's records, of hesc index.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Evaluates the model on encrypted samples: the server's part, without a secret key.

    Example: hesc eval query.hesc --server credit/server --out answer.hesc
    """
    check_outputs({"--out": out}, json_file)
    folder = ServerFolder.open(server)
    outputs = {"--out": out} | ({} if ledger_file is None else {"--ledger": ledger_file})
    check_apart(outputs | ({} if kept is None else {"--kept": kept}), server, json_file)
    given = None if keys is None else read_whole(keys, KEYS_BYTES, "a file of public keys")
    served: Any = folder.server(keys=given)
    if index is not None:
        if not isinstance(folder.plan, SearchPlan):
            raise ParameterError("only a search has an index: leave out --index")
        served.index = Index.open(folder.plan, index)
    if kept is not None:
        kept_in(served, kept)
    if served.answers_left is not None:
        # A ledger has the count of all processes; this one adds up its own for it.
        served.count = ledger.Count()
    most: int | None = served.answers_left
    if most is not None and ledger_file is None:
        raise ParameterError(
            f"this model hides what it knows, for {most} numbers in all, and somebody has to count "
            f"them over all its runs: give --ledger, a file that stays with the server"
        )
    if most is None and ledger_file is not None:
        raise ParameterError("this model hides nothing and counts nothing: leave out --ledger")
    start = time.perf_counter()
    name = QueryName()
    queries = up = down = 0
    with ExitStack() as stack:
        counted = None
        if most is not None and ledger_file is not None:
            counted = stack.enter_context(ledger.opened(ledger_file, served.fingerprint))
        file = stack.enter_context(reading(query, "evaluating"))
        found = _answers(messages(file, Kind.QUERY, served.plan), served)
        if counted is not None and most is not None:
            # All of them or none, and counted on the disk before any byte of them is there. They
            # are few.
            found = iter(list(found))
            counted.spend(served.count.given, most)
        part, beside = stack.enter_context(new_result(out, json_file))
        with open(part, "xb", opener=for_owner) as answer:
            writer = MessageWriter(answer, served.plan.digest)
            for asked, answered in found:
                writer.write(answered)
                name.messages.append(query_of(answered))
                queries, up, down = queries + 1, up + asked, down + len(answered)
            writer.finish()
        figures: dict[str, Any] = {
            "query": name.whole,
            "queries": queries,
            "bytes_up": up,
            "bytes_down": down,
            "seconds": time.perf_counter() - start,
        }
        lines = [f"queries answered: {queries}, {down} bytes: {out} (query {name})"]
        if counted is not None and most is not None:
            figures["numbers_left"] = most - counted.given
            lines.append(f"{most - counted.given} numbers left of {most}")
        tell(beside, figures, *lines)


def check_wishes(plan: ModelPlan, probabilities: bool, best: int | None) -> None:
    """Refuses columns that a plan's answers do not have.

    Raises:
        ParameterError: naming the option.

    """
    if probabilities and plan.link not in PROBABILITIES:
        raise ParameterError("this plan gives no probabilities: leave out --probabilities")
    if best is not None and not isinstance(plan, SearchPlan):
        raise ParameterError("only a search has best records: leave out --best")


def decrypt(
    answer: Annotated[Path, typer.Argument(help="The server's answer.")],
    client: Folder,
    secret: Secret,
    out: Annotated[Path, typer.Option(help="New CSV file for the predictions.")],
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add columns of probabilities.")
    ] = False,
    query: Annotated[
        Path | None,
        typer.Option(help="The query: an answer to another is refused, or of fewer samples."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The query's name: an answer to another is refused.")
    ] = None,
    kept: KeptIfAny = None,
    best: Annotated[
        int | None,
        typer.Option(help="Of a search, a row for each of so many best records instead."),
    ] = None,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Decrypts an answer: a row with prediction and scores for each sample, in their order.

    The file of predictions has mode 0600.

    Example: hesc decrypt answer.hesc --client credit/client --secret k.key --out predictions.csv
    With --query query.hesc, or --name 4f1c20d97a31, it must be the answer to that query.
    """
    check_outputs({"--out": out}, json_file)
    folder = ClientFolder.open(client)
    check_apart({"--out": out} | ({} if kept is None else {"--kept": kept}), client, json_file)
    plan = folder.plan
    check_wishes(plan, probabilities, best)
    wanted = None if name is None else checked_name(name)
    if query is not None and plan.parties:
        raise ParameterError(
            "a query of several owners is for the server alone, and who has the key must not get "
            "hold of it: give --name, which hesc party join prints, instead of --query"
        )
    opened = opened_client(plan, secret, passphrase_file)
    if kept is not None:
        kept_in(opened, kept)
    count, found_name = 0, QueryName()
    classes: Counter[str] = Counter()
    with ExitStack() as stack:
        file = stack.enter_context(reading(answer, "decrypting"))
        answers = messages(file, Kind.ANSWER, plan)
        pairs: Iterator[tuple[bytes | None, bytes]] = ((None, each) for each in answers)
        if query is not None:
            sent = stack.enter_context(query.open("rb"))
            pairs = iter(answers_to(messages(sent, Kind.QUERY, plan), answers))
        if kept is not None:
            # What is read stays readable unless all of it is written.
            stack.enter_context(opened.reading())
        part, beside = stack.enter_context(new_result(out, json_file))
        table = stack.enter_context(open(part, "x", newline="", encoding="utf-8", opener=for_owner))
        for asked, each in pairs:
            found_name.messages.append(query_of(each))
            try:
                found = opened.decrypt(each, query=asked)
            except KeyMismatchError as refused:
                raise KeyMismatchError(
                    f"{secret} is not the key that this query was encrypted with: {refused}"
                ) from refused
            if best is None:
                shares = plan.probabilities(found.scores) if probabilities else None
                write_rows(table, plan, found, shares, header=not count)
            else:
                write_best(table, found.best_or_all(best), count, least=found.least)
            count += len(found.predictions)
            if plan.classes is not None:
                classes.update(str(label) for label in found.predictions.tolist())
        if wanted is not None:
            found_name.check(wanted)
        figures: dict[str, Any] = {"query": found_name.whole, "samples": count}
        figures["error"] = plan.error
        if plan.classes is not None:
            figures["classes"] = dict(sorted(classes.items()))
        error = "" if plan.error_in_words is None else f"; {plan.error_in_words}"
        table.flush()
        warn_of_formulas(plan.classes)
        tell(beside, figures, f"predictions: {count}{error}: {out} (query {found_name})")
