"""What steps are made of: digests of the files that their arguments name, wherever these lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hesc._native import ParameterError
from hesc._support.new_files import sha256_of
from hesc.protocols.folders import MANIFEST
from hesc.protocols.search.index import records_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES: Final = {"client", "secret", "keys", "server", "index"}
"""Arguments of steps that are paths of files and folders."""


def digest_of(path: Path) -> str:
    """SHA-256 of a file, or of the manifest of a folder, which has the digests of its files."""
    return sha256_of(path / MANIFEST if path.is_dir() else path)


def named(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a step is made of: of files and folders what is in them, not where they are.

    Nothing is said of a passphrase.

    Args:
        name: of the step.
        options: its arguments.

    Raises:
        OSError, WireError: a file that may not be read, or is no index.

    """
    found: dict[str, Any] = {"step": name}
    for option, value in options.items():
        # Its digest would tell a passphrase to who guesses, and it changes no result.
        if option == "passphrase_file":
            continue
        if option not in FILES or value is None:
            found[option] = value
        else:
            found[option] = (records_digest if option == "index" else digest_of)(Path(value))
    return found


def check_same(now: Any, before: Any) -> None:
    """Refuses files that are others than those that a run was begun with.

    Raises:
        ParameterError: they are.

    """
    if now != before:
        raise ParameterError(
            "a folder, an index or keys here are not those that this run was begun with: have the "
            "same files on every machine, change none during a run, and begin anew"
        )
