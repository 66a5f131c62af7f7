"""Prepared queries by files: a folder of each side keeps what it has of them, each used once."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hesc._native import ParameterError
from hesc.cli.files import Folder, Secret, check_apart, messages, opened_client
from hesc.cli.kept import Kept, kept_in
from hesc.cli.pairing import QueryName, answers_to
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
from hesc.protocols.message import Kind, MessageWriter, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST: Final = 10_000
"""Queries that one command prepares, at most."""


def prepare(
    count: Annotated[
        int | None, typer.Argument(help="Queries to prepare; without it --answer completes some.")
    ] = None,
    *,
    client: Folder,
    secret: Secret,
    kept: Kept,
    out: Annotated[
        Path | None, typer.Option(help="New file for the preparation, for the server.")
    ] = None,
    answer: Annotated[
        Path | None, typer.Option(help="The server's answer to a preparation.")
    ] = None,
    query: Annotated[
        Path | None, typer.Option(help="The preparation that the answer is to.")
    ] = None,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Prepares queries before samples are known, so that these cost little when they come.

    Example: hesc prepare 20 --client credit/client --secret s.key --kept kept --out p.hesc
    The server answers p.hesc by eval with --kept, a folder of its own, and the client completes:
    hesc prepare --client credit/client --secret s.key --kept kept --answer a.hesc --query p.hesc
    From then on encrypt, eval and decrypt take --kept.
    """
    completes = answer is not None and query is not None and count is None and out is None
    begins = count is not None and out is not None and answer is None and query is None
    if completes == begins:
        raise ParameterError(
            "give a number of queries and --out to begin, or --answer and --query to complete"
        )
    folder = ClientFolder.open(client)
    check_apart({"--kept": kept} | ({"--out": out} if out else {}), client, json_file)
    opened = opened_client(folder.plan, secret, passphrase_file)
    if begins and count is not None and out is not None:
        _begin(kept_in(opened, kept), count, out, json_file)
    elif answer is not None and query is not None:
        with ExitStack() as stack:
            sent = stack.enter_context(query.open("rb"))
            given = stack.enter_context(reading(answer, "completing"))
            pairs = answers_to(
                messages(sent, Kind.QUERY, folder.plan), messages(given, Kind.ANSWER, folder.plan)
            )
            _complete(kept_in(opened, kept), pairs)


def _begin(opened: Any, count: int, out: Path, json_file: str | None) -> None:
    """Writes a preparation of so many queries."""
    if not 1 <= count <= _MOST:
        raise ParameterError(f"{count} queries are not from 1 to {_MOST}: write several files")
    check_outputs({"--out": out}, json_file)
    name, up, left = QueryName(), 0, count
    with new_result(out, json_file) as (part, beside), part.open("xb") as file:
        writer = MessageWriter(file, opened.plan.digest)
        while left:
            message = opened.prepare(some := min(left, opened.plan.rows))
            writer.write(message)
            name.messages.append(name_of(message))
            left, up = left - some, up + len(message)
        writer.finish()
        file.flush()
        figures = {"query": name.whole, "queries": count, "bytes": up}
        tell(beside, figures, f"queries begun: {count}, {up} bytes: {out} (query {name})")


def _complete(opened: Any, pairs: Iterator[tuple[bytes, bytes]]) -> None:
    """Reads what the server answered to a preparation."""
    for sent, given in pairs:
        opened.complete(given, query=sent)
    say(f"queries prepared and not used: {opened.ready}")
