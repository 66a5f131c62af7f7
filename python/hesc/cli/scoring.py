"""`hesc score`: a table of any length through a service, resumed where it was ended."""

from __future__ import annotations

import os
import time
from collections import Counter
from itertools import islice
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from hesc._native import HescError
from hesc._support.new_files import sha256_of
from hesc._support.passphrase_files import read_passphrase
from hesc.batch.table_step import counted_from
from hesc.cli.batches import Clip, IgnoreExtra, batches, of_clipped, write_best, write_rows
from hesc.cli.files import (
    check_apart,
    check_rows,
    check_wishes,
    warn_of_formulas,
    words_of,
)
from hesc.cli.partial import PartialTable
from hesc.cli.terminal import (
    JsonFile,
    PassphraseFile,
    check_outputs,
    reading,
    say,
    tell,
)
from hesc.ml.remote.client_folder import SECRET
from hesc.ml.remote.exchanges import ServiceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.ml.remote.faces import Client

_TOKEN: Final = "HESC_TOKEN"  # noqa: S105 - a variable's name
_TOKEN_BYTES: Final = 1 << 10


class _Wishes(NamedTuple):
    """What is done with samples, and written of them."""

    clip: bool
    ignore_extra: bool
    probabilities: bool
    best: int | None


def score(
    rows: Annotated[Path, typer.Argument(help="Samples, a CSV or Parquet file with names.")],
    url: Annotated[str, typer.Option(help="The service, https://host.")],
    out: Annotated[Path, typer.Option(help="New CSV file for the predictions.")],
    folder: Annotated[
        Path, typer.Option(help="Folder that keeps plan and keys; made where there is none.")
    ],
    token_file: Annotated[
        Path | None,
        typer.Option(help="File whose first line is the token; else HESC_TOKEN has it."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Digest of the plan, as the model's owner tells it.")
    ] = None,
    clip: Clip = False,
    ignore_extra: IgnoreExtra = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write probabilities of classes too.")
    ] = False,
    best: Annotated[
        int | None, typer.Option(help="Records to write for each query, of a search.", min=1)
    ] = None,
    jobs: Annotated[
        bool | None,
        typer.Option("--jobs/--no-jobs", help="Queries in a queue; by default as the plan says."),
    ] = None,
    at_once: Annotated[int, typer.Option(help="Queries under way at once.", min=1, max=64)] = 4,
    patience: Annotated[
        float, typer.Option(help="Seconds that a busy service is waited for.", min=0)
    ] = 120.0,
    certificates: Annotated[
        Path | None, typer.Option(help="File of certificates that are trusted instead.")
    ] = None,
    insecure_http: Annotated[
        bool, typer.Option("--insecure-http", help="Take http:// to other machines.")
    ] = False,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase of a new secret key.")
    ] = False,
    passphrase_file: PassphraseFile = None,
    json_file: JsonFile = None,
) -> None:
    """Scores samples by a service that never sees them. Ended early, the same command goes on.

    Example: hesc score rows.csv --url https://models.example.org --folder credit --out scored.csv

    What is done so far lies beside --out, in a folder whose name ends with .partial: predictions,
    and encrypted queries that were on their way. These are sent again as they are, which counts
    them once. The plan is printed when it is fetched, before anything is sent.
    """
    from hesc.ml.remote.faces import Client

    check_outputs({"--out": out}, json_file)
    check_apart({"--out": out}, folder, json_file)
    wishes = _Wishes(clip, ignore_extra, probabilities, best)
    start = time.perf_counter()
    with Client(
        url,
        token=_token(token_file),
        model=model,
        folder=folder,
        passphrase=_words(folder, passphrase_file, ask=passphrase),
        jobs=jobs,
        at_once=at_once,
        patience=patience,
        certificates=certificates,
        insecure_http=insecure_http,
        show=lambda plan: say(*plan.splitlines()),
    ) as client:
        plan = client.plan
        check_wishes(plan, probabilities, best)
        if not rows.is_file():
            raise HescError(f"{rows} is no file: rows are read several times, a pipe will not do")
        check_rows(rows, plan, clip=clip, ignore_extra=ignore_extra)
        before_rows = _seen(rows)
        belongs = {
            "rows": sha256_of(rows),
            "plan": plan.digest.hex(),
            "secret": sha256_of(folder / SECRET),
            "wishes": list(wishes),
        }
        with PartialTable(out, belongs) as partial:
            before = partial.counts["samples"]
            if before:
                say(f"{before} samples were scored before, and are not asked again")
            with reading(rows, "scoring") as file:
                taken = batches(file, plan, ignore_extra=ignore_extra)
                left = ((first, batch) for first, batch in taken if first >= before)
                try:
                    while group := list(islice(left, at_once)):
                        _score(client, group, partial, wishes)
                except ServiceError:
                    done = partial.counts["samples"]
                    say(f"{done} samples are scored so far: the same command goes on with the rest")
                    raise
            if _seen(rows) != before_rows or sha256_of(rows) != belongs["rows"]:
                raise HescError(
                    f"{rows} was changed while it was scored: remove {out}.partial and begin anew"
                )
            figures = partial.counts | {
                "error": plan.error,
                "classes": dict(sorted(partial.classes.items())),
                "seconds": time.perf_counter() - start,
            }
            count = partial.counts["samples"]
            partial.finish()
        error = "" if plan.error_in_words is None else f"; {plan.error_in_words}"
        warn_of_formulas(plan.classes)
        lines = [f"predictions: {count}{error}: {out}"]
        lines += of_clipped(partial.counts["clipped"], partial.counts["clipped_samples"])
        tell(json_file, figures, *lines)


def _score(
    client: Client,
    group: list[tuple[int, NDArray[Any]]],
    partial: PartialTable,
    wishes: _Wishes,
) -> None:
    """Asks for batches, all at once, and writes what comes of them.

    Raises:
        ServiceError: a query was refused; what came to those before it is written.

    """
    counts, plan = partial.counts, client.plan
    first = counts["queries"]
    queries, clipped = [], []
    if group[0][0] != counts["samples"]:
        raise HescError(
            "another version of hesc took these rows in other pieces: remove the folder .partial "
            "to begin anew"
        )
    for number, (place, batch) in enumerate(group, first):
        with counted_from(place, "samples"):
            ready = plan.prepared(batch, clip=wishes.clip)
        query = partial.query(number)
        if query is None:
            query = client.local.encrypted(ready.features)
            partial.keep(number, query)
        queries.append(query)
        clipped.append((ready.values, ready.samples))
    refused = None
    try:
        answers = client.answers(queries)
    except ServiceError as error:
        refused, answers = error, list(error.answered)
    # Who has paid for an answer has it.
    for query, (values, samples), answer in zip(queries, clipped, answers, strict=False):
        found = client.local.decrypt(answer, query=query)
        if wishes.best is None:
            shares = plan.probabilities(found.scores) if wishes.probabilities else None
            write_rows(partial.table, plan, found, shares, header=not counts["samples"])
        else:
            best = found.best_or_all(wishes.best)
            write_best(partial.table, best, counts["samples"], least=found.least)
        if plan.classes is not None:
            classes = Counter(str(label) for label in found.predictions.tolist())
            partial.classes = dict(Counter(partial.classes) + classes)
        counts["samples"] += len(found.predictions)
        counts["bytes_up"] += len(query)
        counts["bytes_down"] += len(answer)
        counts["clipped"] += values
        counts["clipped_samples"] += samples
    counts["queries"] += len(answers)
    partial.done(first)
    if refused is not None:
        raise refused


def _seen(path: Path) -> tuple[int, ...]:
    """What changes where a file does."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _token(path: Path | None) -> str:
    """The token, of a file or of the environment; never of the command line, which others see."""
    if path is None:
        found = os.environ.get(_TOKEN, "")
        if not found:
            raise HescError(f"give --token-file, whose first line is the token, or set {_TOKEN}")
        return found
    with path.open("rb") as file:
        line = file.readline(_TOKEN_BYTES)
    try:
        return line.strip().decode("ascii")
    except UnicodeDecodeError:
        raise HescError(f"the first line of {path} is no token") from None


def _words(folder: Path, path: Path | None, *, ask: bool) -> str | None:
    """The passphrase of the key in a folder, or of one that will be made there."""
    secret = folder / SECRET
    if secret.exists():
        return words_of(secret, path)
    words = read_passphrase(path)
    if words is None and ask:
        words = typer.prompt("passphrase", hide_input=True, confirmation_prompt=True, err=True)
    return words
