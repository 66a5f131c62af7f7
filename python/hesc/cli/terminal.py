"""What file commands share at the terminal: passphrases, bars, figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer
from rich import progress
from rich.console import Console

from hesc._native import HescError
from hesc.new_files import check_new, new_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

PASSPHRASE_BYTES: Final = 1 << 12
"""The longest first line of a file with a passphrase."""

PassphraseFile = Annotated[
    Path | None, typer.Option(help="File whose first line is the passphrase, instead of asking.")
]
JsonFile = Annotated[
    str | None, typer.Option("--json", help="Write figures to this new file, - for stdout.")
]


def read_passphrase(path: Path | None) -> str | None:
    """The first line of a file, or None where there is no file.

    Raises:
        HescError: a line that is empty, too long, or no text.

    """
    if path is None:
        return None
    with path.open("rb") as file:
        # Lines end at a line feed and nowhere else: any other character may be part of the words.
        line = file.readline(PASSPHRASE_BYTES)
    words = line.removesuffix(b"\n").removesuffix(b"\r")
    if not words:
        raise HescError(f"the first line of {path} is empty; write the passphrase there")
    if len(line) == PASSPHRASE_BYTES:
        raise HescError(f"the first line of {path} is longer than any passphrase")
    try:
        return words.decode()
    except UnicodeDecodeError as error:
        raise HescError(f"the first line of {path} is no text in UTF-8") from error


def reading(path: Path, description: str) -> AbstractContextManager[IO[bytes]]:
    """A file opened in binary, with a bar on the terminal of how much of it was read."""
    console = Console(stderr=True)
    return progress.open(
        path,
        "rb",
        description=description,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def check_outputs(outputs: Mapping[str, Path], json_file: str | None) -> None:
    """Refuses files that cannot be made, that for figures too, before any work is done.

    Raises:
        OSError, HescError: as `check_new`; two that are one.

    """
    check_new(dict(outputs) | ({} if json_file in (None, "-") else {"--json": Path(json_file)}))


def write_figures(json_file: str | None, figures: Mapping[str, Any]) -> None:
    """Figures as one JSON object, to where `--json` says, or nowhere."""
    text = json.dumps(figures) + "\n"
    if json_file == "-":
        sys.stdout.write(text)
    elif json_file is not None:
        with new_file(json_file) as part:
            part.write_text(text)
