"""What calls of users have in common: where warnings point to, and how numpy treats numbers.

Warnings name the line that called hesc, however deep they arise. What a caller told numpy of
overflow and the like (`numpy.seterr`) is of the caller's own computations.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    CallT = TypeVar("CallT", bound=Callable[..., Any])

_OWN: Final = str(Path(__file__).parent.parent)


def callers_level() -> int:
    """The `stacklevel` of `warnings.warn`, in who calls this, that names the first foreign line."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001 - as the module warnings does
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
        level += 1
    return level


def usual_floats(call: CallT) -> CallT:
    """The same with numpy's own treatment of floating-point errors, whatever the caller's is.

    Otherwise probabilities that are too small for a double, and are zeros, would be errors of those
    who set `numpy.seterr(all="raise")`; so would much in scikit-learn.
    """

    @functools.wraps(call)
    def called(*args: Any, **options: Any) -> Any:
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return call(*args, **options)

    return cast("CallT", called)
