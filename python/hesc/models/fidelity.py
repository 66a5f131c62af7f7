"""How near what is computed comes to the model that was fitted, where the two are not the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import WireError
from hesc._support import documents
from hesc.models.agreement import ROUNDINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_WORDS: Final = {
    "bins": "thresholds moved to the nearest public edges",
    "additive": "AN ADDITIVE RE-FIT, NOT THE MODEL THAT WAS TRAINED",
}
WAYS: Final = tuple(_WORDS)
"""What was changed."""


@dataclass(frozen=True)
class Fidelity:
    """Two models on the same rows: what is computed, and what was fitted."""

    way: str
    """One of `WAYS`."""
    rows: int
    """Rows that both were compared on."""
    unseen: bool
    """Whether what is computed was made without these rows."""
    agreement: float | None
    """The share of rows that both models put in the same class; None of regressors."""
    explained: float | None
    """The share of the variance of the fitted model's scores (R^2); None where it has none."""
    apart: float
    """The root mean square of the difference of their scores."""

    @property
    def share(self) -> float:
        """What is held against a wanted fidelity: agreement of classifiers, otherwise R^2."""
        share = self.explained if self.agreement is None else self.agreement
        # Scores that are all alike have no variance: then they are the same or not.
        return (1.0 if self.apart == 0 else 0.0) if share is None else share

    def __str__(self) -> str:
        which = "rows that it was not made from" if self.unseen else "rows planned with"
        same = []
        if self.agreement is not None:
            same.append(f"{100 * self.agreement:.2f} % have the same class")
        if self.explained is not None:
            same.append(f"R^2 of scores {self.explained:.4f}")
        same.append(f"scores {self.apart:.3g} apart (root mean square)")
        return f"{_WORDS[self.way]}; of {self.rows} {which} {', '.join(same)}"

    def described(self) -> dict[str, Any]:
        """For a document."""
        return asdict(self)


def measured(
    way: str,
    found: Array,
    clear: Array,
    classes: tuple[NDArray[Any], NDArray[Any]] | None,
    **of: Any,
) -> Fidelity:
    """The fidelity of scores.

    Args:
        way: one of `WAYS`.
        found: rows of outputs of what is computed.
        clear: those of the fitted model.
        classes: of a classifier: what both conclude.
        of: whether the rows are `unseen`.

    """
    apart = float(np.sqrt(((found - clear) ** 2).mean()))
    deviation = float(np.sqrt(((clear - clear.mean(axis=0)) ** 2).mean()))
    alike = ROUNDINGS * float(np.abs(clear).max())
    return Fidelity(
        way,
        len(found),
        agreement=None if classes is None else float(np.mean(classes[0] == classes[1])),
        explained=1 - (apart / deviation) ** 2 if deviation > alike else None,
        # Beside scores that are alike, but for roundings, differences are roundings as well.
        apart=apart if deviation > alike or apart > alike else 0.0,
        **of,
    )


def read(value: object) -> Fidelity:
    """A fidelity from a document.

    Raises:
        WireError: anything else.

    """
    given = documents.exactly(value, {field.name for field in fields(Fidelity)}, "fidelity")
    documents.one_of(given["way"], WAYS, "what a fidelity is of")
    rows, unseen = given["rows"], given["unseen"]
    agreement, explained, apart = given["agreement"], given["explained"], given["apart"]
    sound = (
        type(rows) is int
        and 0 < rows < 1 << 53
        and type(unseen) is bool
        and (agreement is None or (type(agreement) is float and 0 <= agreement <= 1))
        and (explained is None or (type(explained) is float and explained <= 1))
        and type(apart) is float
        and apart >= 0
    )
    if not sound:
        raise WireError("the fidelity of a plan is shares up to 1, of a number of rows")
    return Fidelity(**given)
