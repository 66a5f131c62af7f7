"""What file commands share at the terminal: passphrases, bars, figures."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich import progress
from rich.console import Console
from rich.text import Text

from hesc._native import HescError
from hesc._support.new_files import check_new, for_owner, new_file, new_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import TextIO

PassphraseFile = Annotated[
    Path | None, typer.Option(help="File whose first line is the passphrase, instead of asking.")
]
JsonFile = Annotated[
    str | None, typer.Option("--json", help="Write figures to this new file, - for stdout.")
]


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
    for name, path in outputs.items():
        if str(path) == "-":
            raise HescError(f"{name} - : {name} is a file, which is there whole or not at all")
    check_new(dict(outputs) | ({} if json_file in (None, "-") else {"--json": Path(json_file)}))


def say(*lines: str) -> None:
    """Lines on the terminal."""
    # No markup: names of files may hold brackets.
    Console(stderr=True).print(Text("\n".join(map(printable, lines))), soft_wrap=True)


def printable(text: str) -> str:
    """A text of one line, with other letters as Python writes them.

    Names of files may be a peer's, and hold line feeds and escape sequences.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


@contextmanager
def new_result(out: Path, json_file: str | None) -> Iterator[tuple[Path, str | None]]:
    """A new result and a file of figures, which appear together, as `new_file` makes one.

    Gives where the result is written, and what `tell` takes for the figures.
    """
    if json_file in (None, "-"):
        with new_file(out) as part:
            yield part, json_file
    else:
        with new_files(out, Path(json_file)) as (part, figures):
            yield part, str(figures)


def tell(json_file: str | None, figures: Mapping[str, Any], *lines: str) -> None:
    """What a command has done: figures where `--json` says, if anywhere, and lines on the terminal.

    Said before a command's files have their names, so that one that fails here leaves none.

    Raises:
        OSError, HescError: they cannot be written.

    """
    write_text(json_file, json.dumps(figures) + "\n")
    say(*lines)


def write_text(json_file: str | None, text: str) -> None:
    """To where `--json` says, or nowhere.

    Raises:
        OSError: the file cannot be made.
        HescError: there is no standard output, or it takes no more.

    """
    if json_file == "-":
        with standard_output() as out:
            out.write(text)
    elif json_file is not None:
        # Figures may be of samples: how many were clipped, or have which class.
        with (
            new_file(json_file) as part,
            open(part, "x", encoding="utf-8", opener=for_owner) as file,
        ):
            file.write(text)


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Where `--json -` writes; what was written is out on leaving.

    Raises:
        HescError: there is none, or it takes no more.

    """
    # Python has none where it was closed before the start.
    if sys.stdout is None:
        raise HescError("--json - writes on standard output, which is closed; give a file")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        # Python flushes again when it ends, and would print a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise HescError(f"standard output takes no figures: {error.strerror}") from error
