"""`hesc page`: a page for browsers as static files."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated

import typer

from hesc._support.new_files import new_folder
from hesc.cli.files import check_apart
from hesc.cli.terminal import say
from hesc.ml.deployment import ClientFolder
from hesc.serve import pages


def page(
    client: Annotated[Path, typer.Argument(help="The folder client/ of a deployment.")],
    out: Annotated[Path, typer.Option(help="New folder for the page.")],
    url: Annotated[
        str | None,
        typer.Option(help="The service, https://host; without it the host that serves the page."),
    ] = None,
    title: Annotated[str, typer.Option(help="What it predicts, in words.")] = pages.TITLE,
) -> None:
    """Writes a page that encrypts in the browser and asks a service, as files for any host.

    Example: hesc page credit/client --out site --url https://models.example.org

    Whoever serves the page can serve another one: where the service is who samples are hidden from,
    let somebody else serve it. The service has to list the page's origin, by --origin.
    """
    check_apart({"--out": out}, client)
    made = pages.page(
        ClientFolder.open(client).plan,
        service=pages.SAME if url is None else url.rstrip("/"),
        title=title,
    )
    with new_folder(out) as part:
        for name, data in made.files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).write_bytes(data)
    heads = {"content-security-policy": made.policy, **pages.HEADS}
    say(
        f"{len(made.files)} files: {out}; the page is {pages.INDEX}",
        "a host that can set heads should set these:",
        *(f"  {name}: {value}" for name, value in heads.items()),
    )
