"""A folder beside a result that is made piece by piece: its making goes on however it was ended.

The folder has the result's name and `.partial`. It is for its owner alone, one process has it at a
time, and it says what its result is made of: one of other rows, keys or wishes is refused.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

from hesc._native import HescError
from hesc._support.new_files import check_new, read_whole, replace_file
from hesc._support.strict_json import parsed

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_STATE: Final = "state.json"
_STATE_BYTES: Final = 1 << 16


class PartialFolder:
    """What is done of a result so far.

    Args:
        out: the result, when all of it is there.
        belongs: what it is made of; a folder of something else is refused.

    Raises:
        HescError: a folder of other rows, another plan or other wishes; one that another process
            writes, or that is damaged.
        OSError: it cannot be made.

    """

    def __init__(self, out: Path, belongs: dict[str, Any]) -> None:
        self.out, self._belongs = out, belongs
        self.folder = out.with_name(out.name + ".partial")
        """Where it lies."""
        self.lock = -1
        """A descriptor of the folder, which is locked while it is open."""

    def __enter__(self) -> Self:
        check_new({"--out": self.out})
        with suppress(FileExistsError):
            self.folder.mkdir(mode=0o700)
        try:
            self.lock = os.open(self.folder, _FOLDER)
        except OSError as error:
            raise HescError(
                f"{self.folder} is no folder of one's own: {error.strerror}; remove it, or give "
                f"another --out"
            ) from error
        try:
            self._check_folder()
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.begin(self._read())
        except BlockingIOError:
            os.close(self.lock)
            raise HescError(f"another process writes {self.folder}: wait until it ends") from None
        except BaseException:
            os.close(self.lock)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.lock)

    def begin(self, state: dict[str, Any] | None) -> None:
        """Takes up what is there.

        Args:
            state: what `write_state` wrote last; None where nothing was written yet.

        Raises:
            HescError: it is damaged.

        """
        if state is None:
            self.write_state({})

    def _check_folder(self) -> None:
        """Refuses a folder that somebody else made, or may write: a result would go where he says.

        Raises:
            HescError: it is one.

        """
        found = os.fstat(self.lock)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise HescError(
                f"{self.folder} is another's, or others may read or write it: remove it, or give "
                f"another --out"
            )

    def _read(self) -> dict[str, Any] | None:
        path = self.folder / _STATE
        if not path.exists():
            return None
        try:
            found: Any = parsed(read_whole(path, _STATE_BYTES, "a state"))
            same = found.pop("belongs") == self._belongs
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self.damaged() from error
        if not same:
            raise HescError(
                f"{self.folder} is of other rows, another plan or key, or other options: give the "
                f"same again to go on, or remove it to begin anew"
            )
        state: dict[str, Any] = found
        return state

    def damaged(self) -> HescError:
        """The error of a state that says nothing."""
        return HescError(f"{self.folder / _STATE} is damaged: remove {self.folder} to begin anew")

    def write_state(self, state: dict[str, Any]) -> None:
        """Writes how far it is, beside what it belongs to; on the disk when this returns."""
        data = json.dumps({"belongs": self._belongs, **state}).encode()
        replace_file(self.folder / _STATE, data)

    def remove(self) -> None:
        """Removes the folder, when the result has its name."""
        shutil.rmtree(self.folder)
