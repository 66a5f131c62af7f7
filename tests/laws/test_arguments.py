"""Law: whatever stands in an argument's place, what is refused is refused by an error of ours.

Every public function, constructor and method is called with values of every kind in each place,
beside others that are right. Python's own errors (an attribute that is not there, a conversion, an
array that has no truth value) do not say what to give instead.
"""

from __future__ import annotations

import inspect
import linecache
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc

from .arguments import LEFT_OUT, calls, public

if TYPE_CHECKING:
    import pytest

# What nobody means, and what lies at an end of what somebody may mean.
WRONG: Final[tuple[Any, ...]] = (
    None, "x", "\ud800", b"x", bytearray(b"x"), 10**400, -1, 0, 2, 1.5, 10**20, float("nan"),
    float("inf"), True, [], {}, [None], [[1], [1, 2]], ["\ud800"], [10**400], [[0.1]], (10**400, 2),
    1j, object(), type, lambda: 0, np.array([]), np.zeros((1, 1, 1)), np.array(["x"]),
    np.array([None]),
)  # fmt: skip

_PACKAGE = str(Path(hesc.__file__).parent)


def _is_ours(error: Exception, name: str) -> bool:
    """Whether it says what is wrong in our words: what Python raises by itself does not."""
    # Of the system: no such file, no such memory.
    if isinstance(error, hesc.HescError | MemoryError | OSError):
        return True
    # As lists have it, which loops end by.
    if isinstance(error, IndexError):
        return name.endswith("__getitem__")
    if isinstance(error, TypeError | ZeroDivisionError):
        last = traceback.extract_tb(error.__traceback__)[-1]
        line = linecache.getline(last.filename, last.lineno or 0)
        return last.filename.startswith(_PACKAGE) and line.lstrip().startswith("raise")
    return False


def test_all_that_is_public_is_called(tmp_path: Path) -> None:
    """What is new is called here too, or left out for a reason."""
    called = {call.name for call in calls(tmp_path)}
    assert public() - called - LEFT_OUT == set()
    assert public() - called >= LEFT_OUT


# At the ends of doubles, alone and in arrays.
EXTREME: Final[tuple[Any, ...]] = tuple(
    form
    for number in (1e308, -1e308, 5e-324, 1e-200, 0.0)
    for form in (number, [number], [number] * 2, [[number]], [[number, 1.0]], [[number] * 4])
)


def test_numbers_at_the_ends_of_doubles_are_taken_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where numpy raises at every overflow and underflow, as careful programs have it, too."""
    (tmp_path / "given").mkdir()
    monkeypatch.chdir(tmp_path)
    found = []
    with np.errstate(all="raise"):
        for name, function, right in calls(tmp_path / "given"):
            for place in right:
                for number in (right[place], *EXTREME):
                    try:
                        made = function(**right | {place: number})
                        if inspect.isgenerator(made):
                            list(made)
                    except Exception as error:
                        if not _is_ours(error, name):
                            found.append(f"{name}({place}={number!r:.30}): {error!r}")
    assert not found, "\n".join(found)


def test_what_is_refused_is_refused_by_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each place of each call, beside arguments that are right."""
    (tmp_path / "given").mkdir()
    (tmp_path / "here").mkdir()
    # Where files named "x" are written.
    monkeypatch.chdir(tmp_path / "here")
    found, tried = [], 0
    for name, function, right in calls(tmp_path / "given"):
        function(**right)
        for place in right:
            for wrong in WRONG:
                tried += 1
                try:
                    # Numbers at the ends of doubles overflow, and numpy says so.
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", RuntimeWarning)
                        made = function(**right | {place: wrong})
                    if inspect.isgenerator(made):
                        list(made)
                except Exception as error:
                    if not _is_ours(error, name):
                        said = f"{type(error).__name__}: {error}"
                        found.append(f"{name}({place}={wrong!r:.30}): {said:.80}")
                finally:
                    for path in (tmp_path / "here").iterdir():
                        path.unlink()
    assert not found, "\n".join(found)
    assert tried > 12_000
