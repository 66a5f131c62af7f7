"""Models of decisions as parts of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import WireError
from hesc._support import documents
from hesc.protocols.classes.whole_models import LARGEST, LinearScores, TreeVotes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.protocols.classes.whole_models import WholeModel
    from hesc.protocols.wire import Earlier

_PARTS: Final[dict[str, tuple[Callable[..., WholeModel], dict[str, int]]]] = {
    "linear": (LinearScores, {"weights": 2, "offsets": 1}),
    "trees": (TreeVotes, {"roots": 1, "nodes": 2, "values": 2, "offsets": 1}),
}


def described(model: WholeModel) -> dict[str, Any]:
    """A model for a document: **weights in the clear**."""
    _, axes = _PARTS[model.name]
    parts = {name: documents.packed(getattr(model, name)) for name in axes}
    return {"model": model.name} | parts


def read(value: object, _what: str, earlier: Earlier) -> WholeModel:
    """A model from a document, which fits the plan before it.

    Raises:
        WireError: no model, or one of other features or classes.

    """
    found = value.get("model") if isinstance(value, dict) else None
    make, axes = _PARTS[documents.one_of(found, tuple(_PARTS), "a model of decisions")]
    given = documents.exactly(value, {"model", *axes}, "model of decisions")
    parts = {name: _whole(given[name], count, name) for name, count in axes.items()}
    model, plan = make(**parts), earlier["plan"]
    words = plan.words
    if not model.fits(words.inputs, len(plan.classes), words.bits):
        raise WireError("a model of decisions whose parts do not fit together, or its plan")
    return model


def _whole(value: object, axes: int, name: str) -> NDArray[np.int64]:
    numbers = documents.unpacked(value, axes, name)
    if (numbers != np.floor(numbers)).any() or (np.abs(numbers) > LARGEST).any():
        raise WireError(f"{name}: whole numbers up to 2^52 were expected")
    return numbers.astype(np.int64)
