"""Key files and their passphrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind

if TYPE_CHECKING:
    from os import PathLike


def text(passphrase: str | None) -> str | None:
    """A passphrase that has bytes. Without it the error would hold the passphrase."""
    if passphrase is not None:
        of_kind(passphrase, "the passphrase", str, "it is a text")
    if passphrase is not None and any("\ud800" <= letter <= "\udfff" for letter in passphrase):
        raise ParameterError("the passphrase holds half a character, which no keyboard types")
    return passphrase


def wants_passphrase(path: str | PathLike[str]) -> bool:
    """Whether a key file was saved with a passphrase. Its bytes are read outside Python.

    Raises:
        PermissionError: others than its owner may read or change the file, or another user owns it.
        ParameterError: it is no file, or longer than any key.

    """
    return _native.wants_passphrase(path)
