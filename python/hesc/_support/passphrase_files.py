"""Passphrases in files, for commands and workers that nobody sits at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc._native import HescError

if TYPE_CHECKING:
    from pathlib import Path

PASSPHRASE_BYTES: Final = 1 << 12
"""The longest first line of a file with a passphrase."""


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
