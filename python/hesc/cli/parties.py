"""`hesc party`: the commands of who owns columns, and of the server who gathers them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hesc._native import ParameterError, WireError
from hesc._support.new_files import read_whole
from hesc.batch.table_step import counted_from
from hesc.cli.batches import Clip, IgnoreExtra, batches, of_clipped
from hesc.cli.files import KEYS_BYTES, Folder, check_apart, messages
from hesc.cli.pairing import QueryName
from hesc.cli.terminal import JsonFile, check_outputs, new_result, reading, tell
from hesc.ml.deployment import ClientFolder
from hesc.protocols.message import Kind, MessageWriter, name_of
from hesc.protocols.owners import pieces
from hesc.protocols.owners.party import Party

if TYPE_CHECKING:
    from collections.abc import Iterator

_HELP: Final = """Columns of several owners, for one model.

Example: hesc party encrypt own.csv --client client --party bank --keys k.keys --out bank.hesc
"""
app = typer.Typer(no_args_is_help=True, help=_HELP)


def _plan(folder: ClientFolder) -> Any:
    plan = folder.plan
    if not plan.parties:
        raise ParameterError(
            "this plan's samples have one owner, the client: hesc encrypt encrypts them"
        )
    return plan


@app.command("encrypt")
def encrypt(
    rows: Annotated[Path, typer.Argument(help="This party's columns, a CSV file with a header.")],
    client: Folder,
    party: Annotated[str, typer.Option(help="Which of the plan's parties this is.")],
    keys: Annotated[Path, typer.Option(help="The client's public key, from the client itself.")],
    out: Annotated[Path, typer.Option(help="New file for the encrypted columns.")],
    clip: Clip = False,
    ignore_extra: IgnoreExtra = False,
    json_file: JsonFile = None,
) -> None:
    """Encrypts one party's columns for the server. Row i of all parties is of the same one.

    Example: hesc party encrypt own.csv --client client --party bank --keys k.keys --out bank.hesc
    """
    check_outputs({"--out": out}, json_file)
    folder = ClientFolder.open(client)
    plan = _plan(folder)
    check_apart({"--out": out}, client, json_file)
    owner = Party(plan, party, read_whole(keys, KEYS_BYTES, "a file of public keys"))
    if rows.is_file():
        # A wrong row is found before minutes of work.
        with reading(rows, "checking") as file:
            for first, batch in batches(file, owner.side, ignore_extra=ignore_extra):
                with counted_from(first, "samples"):
                    owner.side.prepared(batch, clip=clip)
    count = clipped = clipped_samples = up = 0
    name = QueryName()
    with (
        reading(rows, "encrypting") as file,
        new_result(out, json_file) as (part, beside),
        part.open("xb") as piece,
    ):
        writer = MessageWriter(piece, plan.digest)
        for first, batch in batches(file, owner.side, ignore_extra=ignore_extra):
            with counted_from(first, "samples"):
                found = owner.encrypt(batch, clip=clip, first=first)
            writer.write(found.data)
            name.messages.append(name_of(found.data))
            count, up = count + len(batch), up + len(found.data)
            clipped += found.clipped
            clipped_samples += found.clipped_samples
        writer.finish()
        figures: dict[str, Any] = {
            "piece": name.whole,
            "samples": count,
            "bytes": up,
            "clipped": clipped,
            "clipped_samples": clipped_samples,
        }
        lines = [f"rows encrypted: {count}, {up} bytes: {out} (piece {name}, for the server alone)"]
        lines += of_clipped(clipped, clipped_samples, "rows")
        piece.flush()
        tell(beside, figures, *lines)


@app.command("join")
def join(
    files: Annotated[list[Path], typer.Argument(help="What each party encrypted, in any order.")],
    client: Folder,
    out: Annotated[Path, typer.Option(help="New file for the query, which hesc eval answers.")],
    json_file: JsonFile = None,
) -> None:
    """Gathers the encrypted columns of all parties into one query: the server's part.

    Example: hesc party join bank.hesc clinic.hesc --client client --out query.hesc
    """
    check_outputs({"--out": out}, json_file)
    folder = ClientFolder.open(client)
    plan = _plan(folder)
    check_apart({"--out": out}, client, json_file)
    name, named = QueryName(), [QueryName() for _ in files]
    queries = up = samples = 0
    with ExitStack() as stack:
        opened = [stack.enter_context(reading(path, "joining")) for path in files]
        part, beside = stack.enter_context(new_result(out, json_file))
        query = stack.enter_context(part.open("xb"))
        writer = MessageWriter(query, plan.digest)
        for found in _together([messages(file, Kind.PIECE, plan) for file in opened]):
            for each, piece in zip(named, found, strict=True):
                each.messages.append(name_of(piece))
            data = pieces.joined(plan, found, first=samples)
            writer.write(data)
            name.messages.append(name_of(data))
            queries, up = queries + 1, up + len(data)
            samples += plan.opened(data, Kind.QUERY).samples
        writer.finish()
        figures = {
            "query": name.whole,
            "pieces": [each.whole for each in named],
            "samples": samples,
            "queries": queries,
            "bytes": up,
        }
        query.flush()
        tell(
            beside,
            figures,
            f"samples: {samples}, queries: {queries}, {up} bytes: {out} (query {name})",
            *(f"{path} is piece {each}" for path, each in zip(files, named, strict=True)),
        )


def _together(files: list[Iterator[bytes]]) -> Iterator[list[bytes]]:
    """The next piece of every file, until all end together.

    Raises:
        WireError: one ends before the others.

    """
    while True:
        found = [next(file, None) for file in files]
        there = [piece for piece in found if piece is not None]
        if not there:
            return
        if len(there) < len(found):
            raise WireError(
                "one party sent fewer rows than another; rows are matched by position, and each "
                "has as many"
            )
        yield there
