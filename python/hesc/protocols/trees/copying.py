"""How good a copy of trees some answers give, tried on rows at hand.

A client that follows the protocol chooses its samples: rows that it knows, and mixtures of them. It
fits other trees to their scores, and the copy is held against rows that it did not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from hesc.models.fidelity import ROUNDINGS
from hesc.protocols.copies import Copy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_HELD: Final = 1000
"""Rows that copies are held against, at most."""
_LARGEST: Final = float(np.finfo(np.float32).max)
_TREES: Final = 50
"""Trees of a copy."""


def best(x: Array, score: Callable[[Array], Array], samples: int, *, classifies: bool) -> Copy:
    """The copy that so many answers give.

    Args:
        x: rows as the trees are given them; half of them are the client's.
        score: the model's scores of such rows, a row of outputs for each.
        samples: that are answered.
        classifies: whether classes follow from scores.

    """
    rng = np.random.Generator(np.random.PCG64(0))
    order = rng.permutation(len(x))
    # What copies are fitted to is compared in float32.
    x = np.clip(x, -_LARGEST, _LARGEST)
    own, held = x[order[::2]], x[order[1::2][:_HELD]]
    held = held if len(held) else own
    asked = own[:samples]
    if (more := samples - len(asked)) > 0:
        # Each feature of one row or of another.
        pairs = own[rng.integers(len(own), size=(2, more))]
        asked = np.concatenate([asked, np.where(rng.random(pairs[0].shape) < 0.5, *pairs)])
    scores = score(asked)
    targets = scores[:, 0] if scores.shape[1] == 1 else scores
    copied = ExtraTreesRegressor(_TREES, random_state=0).fit(asked, targets)
    wanted, found = score(held), copied.predict(held).reshape(len(held), -1)
    spread = np.square(wanted - wanted.mean(axis=0)).sum()
    left = np.square(found - wanted).sum()
    # Scores that are all alike, but for roundings, are known from one.
    alike = len(wanted) * np.square(ROUNDINGS * np.abs(wanted).max())
    explained = float(1 - left / spread) if spread > alike else 1.0
    if not classifies:
        return Copy(samples, len(held), explained, None, None)
    true, guessed = (
        rows[:, 0] > 0 if rows.shape[1] == 1 else rows.argmax(axis=1) for rows in (wanted, found)
    )
    majority = np.unique(true, return_counts=True)[1].max() / len(held)
    return Copy(samples, len(held), explained, float(np.mean(true == guessed)), float(majority))
