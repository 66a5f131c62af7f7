"""Whether a fitted model is still the one that was planned."""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import HescError
from hesc._support import documents
from hesc.models import extraction, transforms
from hesc.models.samples import spread_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows

    Array = NDArray[np.float64]


class Known:
    """What a model is known by: its transforms, its weights or trees, and how scores become shares.

    Of trees that are not read, since something else was fitted to their scores, scores of some
    rows. All of it is copied, since a model may be edited where its numbers lie.

    Args:
        estimator: as it was planned.
        rows: samples.
        clear: its scores of them.

    """

    def __init__(self, estimator: Any, rows: Rows, clear: Array) -> None:
        self._exactly = _numbers(estimator)
        self._seen = None
        if not self._exactly.whole:
            places = spread_out(len(rows))
            self._seen = (rows[places], clear[places])

    def is_still(self, estimator: Any) -> bool:
        """Whether this estimator computes the same."""
        if _numbers(estimator) != self._exactly:
            return False
        if self._seen is None:
            return True
        rows, clear = self._seen
        now = extraction.clear_scores(estimator, rows)
        # Threads add trees up in any order.
        return bool(np.allclose(now, clear, rtol=1e-9, atol=1e-12))


class _ModelNumbers(NamedTuple):
    """The numbers of a model: equal for equal models."""

    parts: list[Any]
    """Transforms, link, weights, as parts of documents; of trees a digest."""
    whole: bool
    """Whether they are all that there is."""


def _numbers(estimator: Any) -> _ModelNumbers:
    final = extraction.parts_of(estimator)[-1]
    steps, linear = extraction.linear_parts_of(estimator)
    found: list[Any] = transforms.described(steps)
    if linear is not None:
        numbers = [documents.packed(linear.weights), documents.packed(linear.intercepts)]
        points = None if linear.calibration is None else linear.calibration.described()
        return _ModelNumbers([*found, linear.link, *numbers, points], whole=True)
    found.append(extraction.link_of(final))
    try:
        _, form = extraction.form_of(estimator)
    except HescError:
        return _ModelNumbers(found, whole=False)
    return _ModelNumbers([*found, _digest(form)], whole=True)


def _digest(form: Any) -> bytes:
    """The SHA-256 digest of all arrays of trees."""
    digest = sha256()
    for field in fields(form):
        digest.update(np.ascontiguousarray(getattr(form, field.name)).tobytes())
    return digest.digest()
