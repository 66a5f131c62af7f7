"""`hesc batch`: tables of Parquet of any length, on all cores of a machine or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hesc._native import ParameterError
from hesc.batch.engine import Work, run
from hesc.batch.on_ray import joined_cluster
from hesc.batch.parquet_pieces import ParquetPieces
from hesc.batch.secret import DecryptAnswers, EncryptRows
from hesc.batch.server_side import (
    AnswerQueries,
    ComputeAnswers,
    CountHere,
    budget_of,
    check_budget,
)
from hesc.cli.batches import Clip, IgnoreExtra  # noqa: TC001 - typer reads annotations
from hesc.cli.files import Folder, Secret, check_apart
from hesc.cli.terminal import JsonFile, PassphraseFile, check_outputs, tell
from hesc.ml.deployment import ClientFolder
from hesc.protocols import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hesc.batch.engine import Counting

_HELP: Final = """Tables of Parquet of any length, piece by piece on all cores or a cluster of Ray.

Example: hesc batch answer queries.parquet answers.parquet --server credit/server --workers 4

What is done so far lies beside the result, in a folder whose name ends with .partial; ended early,
the same command goes on. The result is there whole or not at all.
"""
app = typer.Typer(no_args_is_help=True, help=_HELP)

_PIECE: Final = 1 << 14
_QUERIES: Final = 64

Source = Annotated[Path, typer.Argument(metavar="IN", help="A table of Parquet.")]
Out = Annotated[Path, typer.Argument(help="New file of Parquet for the result.")]
ServerOption = Annotated[Path, typer.Option("--server", help="The folder server/ of a deployment.")]
Keys = Annotated[
    Path | None, typer.Option(help="The client's public keys, where the plan needs them.")
]
IndexOption = Annotated[
    Path | None, typer.Option("--index", help="The file of a search's records, of hesc index.")
]
Ray = Annotated[
    str | None,
    typer.Option("--ray", help="Address of a cluster of Ray; auto for the one that runs here."),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Pieces under way at once; by default as many as there are cores.", min=1),
]
Rows = Annotated[int, typer.Option(help="Rows of a piece, at most.", min=1)]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A column to carry along in the clear, as a row's name; may come again."),
]
Probabilities = Annotated[
    bool, typer.Option("--probabilities", help="Probabilities of classes too.")
]
Best = Annotated[int | None, typer.Option(help="Records for each query, of a search.", min=1)]


@app.command("encrypt")
def encrypt(
    source: Source,
    out: Out,
    client: Folder,
    secret: Secret,
    keys: Keys = None,
    clip: Clip = False,
    ignore_extra: IgnoreExtra = False,
    keep: Keep = None,
    rows: Rows = _PIECE,
    workers: Workers = None,
    ray: Ray = None,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Encrypts a table, for machines of the client alone: rows are in the clear there.

    Example: hesc batch encrypt rows.parquet asked.parquet --client credit/client --secret my.key
    """
    options = _paths(client=client, secret=secret, keys=keys, passphrase_file=passphrase_file)
    options |= {"clip": clip, "ignore_extra": ignore_extra, "keep": keep or []}
    _check(out, json_file, {"--client": client})
    # What is wrong with keys or wishes is said before a worker is begun.
    EncryptRows(**options)
    _run(Work(((EncryptRows, options),)), source, out, rows, workers, ray, json_file, "queries")


@app.command("answer")
def answer(
    source: Source,
    out: Out,
    server: ServerOption,
    keys: Keys = None,
    index: IndexOption = None,
    parts: Annotated[
        int | None,
        typer.Option(help="Parts of the index, each in a process of the cluster.", min=1),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(help="File, or postgresql://..., that counts what leaves, as of hesc serve."),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(help="What names of files beside a state in PostgreSQL begin with."),
    ] = None,
    answers: Annotated[
        int | None, typer.Option(help="Answers of this model in all, by --state.", min=1)
    ] = None,
    rows: Rows = _QUERIES,
    workers: Workers = None,
    ray: Ray = None,
    json_file: JsonFile = None,
) -> None:
    """Answers encrypted queries: the server's part. What is counted is counted before it leaves.

    Example: hesc batch answer queries.parquet answers.parquet --server credit/server
    """
    options = _paths(server=server, keys=keys, index=index) | {"parts": parts}
    if parts is not None and ray is None:
        raise ParameterError("processes of one machine share a mapped index: leave out --parts")
    _check(out, json_file, {"--server": server})
    if ray is not None:
        # What answers from parts lives in the cluster.
        joined_cluster(ray)
    own = ComputeAnswers(**options)
    budget = budget_of(server, state, files, answers)
    check_budget(own.model, budget)
    counting = None if budget is None else CountHere(own, budget)
    try:
        step = AnswerQueries if counting is None else ComputeAnswers
        work = Work(((step, options),))
        _run(work, source, out, rows, workers, ray, json_file, "answers", counting)
    finally:
        if counting is not None:
            counting.book.close()


@app.command("decrypt")
def decrypt(
    source: Source,
    out: Out,
    client: Folder,
    secret: Secret,
    probabilities: Probabilities = False,
    best: Best = None,
    rows: Rows = _QUERIES,
    workers: Workers = None,
    ray: Ray = None,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Decrypts answers, for machines of the client alone: a row for each sample, or record found.

    Example: hesc batch decrypt answers.parquet out.parquet --client credit/client --secret my.key
    """
    options = _paths(client=client, secret=secret, passphrase_file=passphrase_file)
    options |= {"probabilities": probabilities, "best": best}
    _check(out, json_file, {"--client": client})
    DecryptAnswers(**options)
    _run(Work(((DecryptAnswers, options),)), source, out, rows, workers, ray, json_file, "rows")


@app.command("score")
def score(
    source: Source,
    out: Out,
    client: Folder,
    secret: Secret,
    server: ServerOption,
    keys: Keys = None,
    index: IndexOption = None,
    clip: Clip = False,
    ignore_extra: IgnoreExtra = False,
    keep: Keep = None,
    probabilities: Probabilities = False,
    best: Best = None,
    rows: Rows = _PIECE,
    workers: Workers = None,
    ray: Ray = None,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Encrypts, answers and decrypts at once, both sides in each worker: to measure and to compare.

    Example: hesc batch score in.parquet out.parquet --client client --secret my.key --server server

    Between two sides encrypt, answer and decrypt do the same, or a service and its client. Models
    that count what they give take these: here a killed run would ask for the same rows twice.
    """
    _check(out, json_file, {"--client": client, "--server": server})
    plan = ClientFolder.open(client).plan
    given = {"keys": keys} if plan.encrypts_publicly else {}
    encrypts = _paths(client=client, secret=secret, passphrase_file=passphrase_file, **given)
    encrypts |= {"clip": clip, "ignore_extra": ignore_extra, "keep": keep or []}
    given = {"keys": keys} if registry.server_takes_keys(plan) else {}
    answers = _paths(server=server, index=index, **given)
    decrypts = _paths(client=client, secret=secret, passphrase_file=passphrase_file)
    decrypts |= {"probabilities": probabilities, "best": best}
    steps = ((EncryptRows, encrypts), (AnswerQueries, answers), (DecryptAnswers, decrypts))
    work = Work(steps)
    work.made()
    _run(work, source, out, rows, workers, ray, json_file, "rows")


def _paths(**paths: Path | None) -> dict[str, Any]:
    """Options of a step: workers may be in other folders than this process."""
    return {name: str(path.resolve()) for name, path in paths.items() if path is not None}


def _check(out: Path, json_file: str | None, folders: Mapping[str, Path]) -> None:
    check_outputs({"OUT": out}, json_file)
    for folder in folders.values():
        check_apart({"OUT": out}, folder, json_file)


def _run(
    work: Work,
    source: Path,
    out: Path,
    rows: int,
    workers: int | None,
    ray: str | None,
    json_file: str | None,
    what: str,
    counting: Counting | None = None,
) -> None:
    """Does the work, and says what was done."""
    pieces = ParquetPieces(source, rows)
    seen = pieces.seen
    belongs = {
        "rows": pieces.digest,
        "piece": rows,
        "steps": work.made_of(),
    }
    done = run(
        work,
        pieces,
        out,
        belongs=belongs,
        workers=workers,
        ray=ray,
        counting=counting,
        progress=True,
        unchanged=lambda: pieces.seen == seen,
    )
    lines = [f"{what}: {done.rows}, of {pieces.rows} rows: {out}"]
    if done.resumed:
        lines.insert(0, f"{done.resumed} of {done.pieces} pieces were done before")
    tell(json_file, done._asdict(), *lines)
