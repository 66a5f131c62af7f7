"""Key files and their passphrases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc import _native
from hesc._native import ParameterError
from hesc.inputs import of_kind
from hesc.new_files import read_whole

if TYPE_CHECKING:
    from os import PathLike


# As the reader of keys has it.
_KEY_FILE: Final = 1 << 20


def text(passphrase: str | None) -> str | None:
    """A passphrase that has bytes. Without it the error would hold the passphrase."""
    if passphrase is not None:
        of_kind(passphrase, "the passphrase", str, "it is a text")
    if passphrase is not None and any("\ud800" <= letter <= "\udfff" for letter in passphrase):
        raise ParameterError("the passphrase holds half a character, which no keyboard types")
    return passphrase


def wants_passphrase(path: str | PathLike[str]) -> bool:
    """Whether a key file was saved with a passphrase."""
    return _native.is_sealed(read_whole(path, _KEY_FILE, "a secret key"))
