"""Commands of private search: an index of vectors in a file, and a whole search to look at."""

from __future__ import annotations

import shlex
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TextIO

import typer
from rich.console import Console
from rich.table import Table

from hesc._native import ParameterError
from hesc._support.new_files import for_owner
from hesc.cli.batches import write_best
from hesc.cli.files import Folder, check_apart
from hesc.cli.terminal import JsonFile, check_outputs, new_result, say, tell
from hesc.cli.vector_files import Seen, VectorFile
from hesc.ml import deployment, report
from hesc.ml.deployment import ClientFolder
from hesc.protocols.folders import PLAN, SERVER, ServerFolder
from hesc.protocols.search.index import Index
from hesc.protocols.search.plan import SearchPlan
from hesc.protocols.search.rounding import LONGER, METRICS
from hesc.protocols.search.server import SearchServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hesc.protocols.search.nearest import SearchResult

_SHOWN: Final = 20
"""Queries whose best records the terminal shows."""

_HELP: Final = """The index of a private search: records that encrypted queries are compared with.

Example: hesc index build vectors.parquet --out corpus --index corpus.index --records public
"""
app = typer.Typer(no_args_is_help=True, help=_HELP)

Vectors = Annotated[
    Path,
    typer.Argument(help="A table of numbers, CSV or Parquet, or an array of numpy (.npy)."),
]
ListColumn = Annotated[
    str | None,
    typer.Option("--column", help="The column of a Parquet file that holds lists of numbers."),
]
IndexFile = Annotated[Path, typer.Option("--index", help="The file of the records.")]


def _fill(index: Index, file: VectorFile, count: int) -> float:
    """Appends all vectors of a file; the seconds that it took."""
    start = time.perf_counter()
    for batch in file.batches(f"packing {count} records"):
        index.append(batch)
    return time.perf_counter() - start


@app.command("build")
def build(
    vectors: Vectors,
    out: Annotated[Path, typer.Option(help="New folder for the deployment.")],
    index: Annotated[Path, typer.Option(help="New file for the records, for the server.")],
    records: Annotated[
        str, typer.Option(help="What the records are: public, such as every client may have.")
    ],
    metric: Annotated[
        str, typer.Option(help="What is told of two vectors: inner, cosine or euclidean.")
    ] = "cosine",
    bits: Annotated[int, typer.Option(help="Bits of an entry of the usual size.")] = 6,
    most: Annotated[
        int | None, typer.Option(help="Records of the index, at most; as many as there are.")
    ] = None,
    query_norm: Annotated[
        float | None, typer.Option(help="The length of a query, at most; that of records.")
    ] = None,
    keys: Annotated[
        bool | None,
        typer.Option("--keys/--no-keys", help="Whether clients give keys; by default by bytes."),
    ] = None,
    column: ListColumn = None,
    json_file: JsonFile = None,
) -> None:
    """Makes a deployment of vectors: a folder for clients, one for the server, and an index.

    Example: hesc index build vectors.parquet --out corpus --index corpus.index --records public
    Then keygen, encrypt, eval with --index and decrypt, as for any deployment.
    """
    check_outputs({"--out": out, "--index": index}, json_file)
    check_apart({"--out": out, "--index": index}, out, json_file)
    file = VectorFile(vectors, column)
    seen = Seen(file)
    norms: dict[str, Any] = {}
    if metric != "cosine":
        norms = {"norm": seen.longest * LONGER, "query_norm": query_norm}
    if metric == "cosine" and query_norm is not None:
        raise ParameterError("cosines are of vectors of any length: leave out --query-norm")
    if metric not in METRICS or metric == "hamming":
        raise ParameterError("--metric is inner, cosine or euclidean")
    planned = SearchPlan.of_vectors(
        seen.first,
        records=records,
        metric=metric,
        bits=bits,
        most_records=seen.count if most is None else most,
        keys=keys,
        names=file.names,
        **norms,
    )
    made = Index(planned)
    seconds = _fill(made, file, seen.count)
    data = planned.to_bytes()
    sides = {
        "client": {PLAN: data},
        "server": {PLAN: data, SERVER: SearchServer(planned).to_bytes()},
    }
    files = {f"{side}/{name}": held for side in sides for name, held in sides[side].items()}
    command = shlex.join(
        [
            "hesc",
            "index",
            "build",
            str(vectors),
            "--out",
            str(out),
            "--index",
            str(index),
            "--records",
            records,
            "--metric",
            metric,
            "--bits",
            str(bits),
        ]
    )
    page = report.page(planned, None, name=out.name, files=files, own=False, commands=[command])
    with new_result(index, json_file) as (part, beside):
        made.save(part)
        deployment.write(out, planned, sides, page)
        figures = {
            "records": seen.count,
            "features": seen.width,
            "bytes": made.memory,
            "seconds": seconds,
            "plan": planned.digest.hex(),
        }
        tell(
            beside,
            figures,
            f"records: {seen.count} of {seen.width} features, {made.memory} bytes: {index}",
            f"deployment: {out} (client/ for clients, server/ and {index} for the server)",
        )
    say(*str(planned).splitlines())


@app.command("add")
def add(
    vectors: Vectors,
    server: Annotated[Path, typer.Option(help="The folder server/ of the deployment.")],
    index: IndexFile,
    out: Annotated[Path, typer.Option(help="New file for all records.")],
    column: ListColumn = None,
    json_file: JsonFile = None,
) -> None:
    """Adds records behind those of an index, into a new file.

    Example: hesc index add more.csv --server corpus/server --index corpus.index --out new.index
    """
    check_outputs({"--out": out}, json_file)
    folder = ServerFolder.open(server)
    check_apart({"--out": out}, server, json_file)
    plan = _plan_of(folder)
    made = Index.open(plan, index)
    file = VectorFile(vectors, column, plan.names)
    seen = Seen(file)
    seconds = _fill(made, file, seen.count)
    with new_result(out, json_file) as (part, beside):
        made.save(part)
        figures = {"records": len(made), "added": seen.count, "seconds": seconds}
        tell(beside, figures, f"records: {len(made)}, {seen.count} of them added: {out}")


def _plan_of(folder: ClientFolder | ServerFolder) -> SearchPlan:
    if not isinstance(folder.plan, SearchPlan):
        raise ParameterError(f"{folder.path} is of another protocol than a search")
    return folder.plan


class _Round(NamedTuple):
    """A query of some vectors, and its answer."""

    found: SearchResult
    up: int
    down: int
    seconds: tuple[float, float, float]
    """To encrypt, to answer and to decrypt."""


def _rounds(file: VectorFile, asks: Any, server: SearchServer, *, clip: bool) -> Iterator[_Round]:
    """All vectors of a file, as many in a query as it has."""
    rows = asks.plan.rows
    for batch in file.batches("searching"):
        for first in range(0, len(batch), rows):
            start = time.perf_counter()
            query = asks.encrypt(batch[first : first + rows], clip=clip).data
            asked = time.perf_counter()
            answer = server.answer(query)
            answered = time.perf_counter()
            found = asks.decrypt(answer, query=query)
            times = asked - start, answered - asked, time.perf_counter() - answered
            yield _Round(found, len(query), len(answer), times)


def search(
    rows: Annotated[Path, typer.Argument(help="Queries: a table of numbers, or an array.")],
    client: Folder,
    index: IndexFile,
    best: Annotated[int, typer.Option(help="Records to show for each query.")] = 10,
    out: Annotated[Path | None, typer.Option(help="New CSV file for the best records.")] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Shorten queries that are longer than declared.")
    ] = False,
    column: ListColumn = None,
    json_file: JsonFile = None,
) -> None:
    """Searches an index with encrypted queries, both sides in this process and with a new key.

    Example: hesc search queries.csv --client corpus/client --index corpus.index --best 5
    It shows what a search finds, sends and takes. Between two machines keygen, encrypt (of a CSV
    or Parquet table of numbers), eval with --index and decrypt do the same.
    """
    outputs = {} if out is None else {"--out": out}
    check_outputs(outputs, json_file)
    folder = ClientFolder.open(client)
    check_apart(outputs, client, json_file)
    plan = _plan_of(folder)
    records = Index.open(plan, index)
    asks = folder.client()
    keys = asks.public_keys() if plan.needs_keys else None
    server = SearchServer.of(records, keys=keys)
    file = VectorFile(rows, column, plan.names)
    count = up = down = 0
    seconds = dict.fromkeys(("encrypt", "answer", "decrypt"), 0.0)
    shown = Table(title=f"{best} best of {len(records)} records")
    for name in ("query", "rank", "record", "distance" if plan.nearest_first else "score"):
        shown.add_column(name, justify="right")
    with ExitStack() as stack:
        table: TextIO | None = None
        beside = json_file
        if out is not None:
            part, beside = stack.enter_context(new_result(out, json_file))
            table = stack.enter_context(
                open(part, "x", newline="", encoding="utf-8", opener=for_owner)
            )
        for each in _rounds(file, asks, server, clip=clip):
            near = each.found.best_or_all(best)
            if table is not None:
                write_best(table, near, count, least=plan.nearest_first)
            for at, (places, scores) in enumerate(zip(*near, strict=True), start=count):
                for rank, (place, score) in enumerate(zip(places, scores, strict=True), 1):
                    if at < _SHOWN:
                        shown.add_row(str(at), str(rank), str(place), f"{score:.6g}")
            count += len(near.indices)
            up, down = up + each.up, down + each.down
            for step, taken in zip(seconds, each.seconds, strict=True):
                seconds[step] += taken
        if table is not None:
            table.flush()
        figures = {
            "queries": count,
            "records": len(records),
            "bytes_up": up,
            "bytes_down": down,
            "key_bytes": 0 if keys is None else len(keys),
            "error": plan.error,
            "seconds": seconds,
        }
        lines = [
            f"queries: {count}, {up} bytes up, {down} down"
            + (f", {len(keys)} of keys, once" if keys is not None else ""),
            ", ".join(f"{step} {1000 * each / count:.3g} ms" for step, each in seconds.items())
            + " for each query",
        ]
        if plan.error_in_words is not None:
            lines.append(plan.error_in_words)
        tell(beside, figures, *lines)
    if json_file != "-":
        Console().print(shown)
