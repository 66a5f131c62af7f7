"""Names of classes in documents: texts, whole numbers, finite numbers or truth values."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import MOST_CLASSES, ParameterError, WireError, read_classes
from hesc._support import documents
from hesc.models import conclusions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.conclusions import Isotonic

MOST: Final = MOST_CLASSES
"""Classes of a plan: an array of them has as many letters for each as the longest has."""
_KINDS: Final = "biufUO"
"""Letters of numpy's kinds of arrays: truth values, numbers, texts, objects."""
_LABELS: Final = {"bool": bool, "int": int, "float": float, "str": str}


def described(classes: NDArray[Any]) -> dict[str, Any]:
    """Classes for a document.

    Raises:
        ParameterError: labels that no document holds.

    """
    values = classes.tolist()
    # Lists of dates hold whole numbers where a date has too many digits for Python's own.
    listed = classes.dtype.kind in _KINDS
    for name, kind in _LABELS.items():
        if listed and all(type(value) is kind for value in values) and _are_apart(values):
            if len(values) > MOST:
                raise ParameterError(f"a plan has up to {MOST} classes; these are {len(values)}")
            return {"type": name, "values": values}
    found = {type(value).__name__ for value in values} if listed else {classes.dtype.name}
    raise ParameterError(
        f"a client is told classes that are texts of {documents.NAME} printable letters at most, "
        "whole numbers of 64 bits with a sign, finite numbers or truth values, all of one kind and "
        f"each another; these are of the type {', '.join(sorted(found)[:3])}: encode them first "
        "(sklearn.preprocessing.LabelEncoder)"
    )


def _are_apart(values: list[Any]) -> bool:
    """Whether labels are all different, names that can be printed, and numbers that arrays hold."""
    texts = all(documents.is_name(value) for value in values if isinstance(value, str))
    numbers = all(math.isfinite(value) for value in values if isinstance(value, float))
    whole = all(-1 << 63 <= value < 1 << 63 for value in values if isinstance(value, int))
    return texts and numbers and whole and len(set(values)) == len(values)


def read(value: object) -> NDArray[Any]:
    """Classes from a document.

    Raises:
        WireError: fewer than two, of another type, or one of them twice.

    """
    return np.array(read_classes(json.dumps(value).encode()))


def described_or_none(classes: NDArray[Any] | None) -> dict[str, Any] | None:
    """Classes for a document, or none of a model that has no classes."""
    return None if classes is None else described(classes)


def check_scores(
    classes: NDArray[Any] | None, outputs: int, link: str, calibration: Isotonic | None = None
) -> None:
    """Refuses classes that so many scores do not tell, and links that are not for them.

    Of two classes there is one score, else one of each; where several models are averaged, as many
    for each of them.

    Raises:
        WireError: another number of classes, a link or a calibration of something else.

    """
    if classes is None:
        fits = link not in conclusions.PROBABILITIES
    else:
        each = 1 if len(classes) == 2 else len(classes)
        fits = outputs % each == 0 if conclusions.is_mean(link) else outputs == each
        if link in conclusions.INVERSES:
            raise WireError("a plan of classes has a link of numbers")
    if not fits:
        raise WireError("a plan has another number of classes than of scores")
    if (calibration is not None) != (link == "mean_isotonic"):
        raise WireError("a plan has a calibration where its link is isotonic, and no other")
    if calibration is not None and len(calibration.counts) != outputs:
        raise WireError("a calibration of a plan has another number of functions than of scores")
