"""Numbers, texts and mappings of saved models, each of the kind that was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support.documents import is_name
from hesc.models.conclusions import INVERSES

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDEST: Final = 1 << 16
"""Features of a sample."""
CLASSES: Final = 1 << 12
"""Outputs of a model."""
LARGEST: Final = 1 << 24
"""Nodes of trees times outputs."""
_DIGITS: Final = 9


def part(of: object, name: str, what: str) -> Any:
    """What a mapping has under a name.

    Raises:
        WireError: it has none, or is no mapping.

    """
    if not isinstance(of, dict) or name not in of:
        raise WireError(f"a saved {what} model has {name}; this file is damaged, or something else")
    return of[name]


def mapping(of: object, name: str, what: str) -> dict[str, Any]:
    """A mapping that a mapping has under a name.

    Raises:
        WireError: it has none.

    """
    found = part(of, name, what)
    if not isinstance(found, dict):
        raise WireError(f"{name} of a saved {what} model has fields; this file is damaged")
    return found


def listed(of: object, name: str, what: str) -> list[Any]:
    """A list that a mapping has under a name.

    Raises:
        WireError: it has none.

    """
    found = part(of, name, what)
    # Readers of typed lists give arrays.
    found = found.tolist() if isinstance(found, np.ndarray) else found
    if not isinstance(found, list):
        raise WireError(f"{name} of a saved {what} model is a list; this file is damaged")
    return found


def text(of: object, name: str, what: str) -> str:
    """A text that a mapping has under a name.

    Raises:
        WireError: it has none.

    """
    found = part(of, name, what)
    if not isinstance(found, str):
        raise WireError(f"{name} of a saved {what} model is a text; this file is damaged")
    return found


def reals(value: object, what: str) -> NDArray[np.float64]:
    """A list of finite numbers.

    Raises:
        WireError: anything else.
        OutOfRangeError: a number that is not finite.

    """
    # One long text among numbers would make all of an array as long.
    if isinstance(value, list) and set(map(type, value)) <= {int, float}:
        try:
            value = np.array(value, dtype=np.float64)
        except OverflowError as error:
            raise OutOfRangeError(f"{what} are finite numbers") from error
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "fiu":
        raise WireError(f"{what} are a list of numbers; this file is damaged")
    found = value.astype(np.float64)
    if not np.isfinite(found).all():
        raise OutOfRangeError(f"{what} are finite numbers")
    return found


def wholes(value: object, what: str) -> NDArray[np.int64]:
    """A list of whole numbers of 32 bits.

    Raises:
        WireError: anything else.

    """
    found = reals(value, what)
    if (found != np.rint(found)).any() or (np.abs(found) > 2**32).any():
        raise WireError(f"{what} are whole numbers; this file is damaged")
    return found.astype(np.int64)


def count(value: object, what: str, least: int, most: int) -> int:
    """A whole number within limits, which files have as a text.

    Raises:
        WireError: anything else.

    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS:
        value = int(value)
    if type(value) is not int or not least <= value <= most:
        raise WireError(f"{what} is a whole number from {least} to {most} here")
    return value


def check_sizes(nodes: int, outputs: int) -> None:
    """Refuses trees that are too large.

    Raises:
        ParameterError: they are.

    """
    if nodes * outputs > LARGEST:
        raise ParameterError(
            f"trees of {nodes} nodes and {outputs} outputs; {LARGEST} of both multiplied at most: "
            f"fit fewer trees, or a model of each class"
        )


def places(link: str | None, outputs: int) -> NDArray[np.int64] | None:
    """Classes by their places, of a file without names of them; None of a regressor.

    Args:
        link: how scores become probabilities or predictions; None where they are these.
        outputs: numbers of a score.

    """
    return None if link is None or link in INVERSES else np.arange(max(outputs, 2))


def usable_names(names: list[str], inputs: int) -> list[str]:
    """Names of features, or none where some are missing or are one.

    Raises:
        WireError: another number of them.

    """
    if names and len(names) != inputs:
        raise WireError(f"a saved model of {inputs} features has as many names of features")
    sound = all(names) and len(set(names)) == len(names) and all(is_name(name) for name in names)
    return names if sound else []
