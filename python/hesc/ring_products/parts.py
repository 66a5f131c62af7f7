"""Linear scores of more features than one ring holds: several ring products, which add up.

Every one takes each n-th feature, and all are of one shape and one parameter set: where a model has
too few features for that, the last ones take a feature that is always zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from hesc._native import MOST_RING_PRODUCTS, RING_PLACES, ParameterError, RingProductPlan
from hesc._support import documents
from hesc._support.inputs import real_array
from hesc.ring_products.plans import Sizes, spread, weight_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.params.vectors import VectorParams

    Array = NDArray[np.float64]

PLACES: Final = RING_PLACES
"""Features times outputs of one ring product, at most."""
MOST: Final = MOST_RING_PRODUCTS
"""Ring products of a model, at most: a query has a ciphertext for each and every sample."""


class RingProductParts:
    """Ring products whose scores add up: public, and the same on both sides.

    `of_model` makes one; `parts` are plans of their own, in their order.

    Args:
        features: of a sample, over all parts.
        parts: the plans.

    Raises:
        ParameterError: parts that do not fit together.

    """

    answers: None = None
    """Weights are not hidden."""
    encrypted_under: None = None
    """Weights are in the clear."""
    model_size: None = None
    """Nor are they sent."""

    def __init__(self, features: int, parts: Sequence[RingProductPlan]) -> None:
        self.parts = tuple(parts)
        self._features = features
        if not 2 <= len(self.parts) <= MOST:
            raise ParameterError(f"ring products that add up are 2 to {MOST}")
        first = self.parts[0]
        each = -(-features // len(self.parts))
        for part in self.parts:
            clear = part.answers is None and part.encrypted_under is None
            if not clear or part.shape != first.shape or part.params != first.params:
                raise ParameterError(
                    "ring products that add up have weights in the clear, one shape and one set"
                )
        if first.shape[1] != each or features <= each:
            raise ParameterError("ring products that add up do not have as many features")

    @classmethod
    def of_model(
        cls, weights: ArrayLike, intercepts: ArrayLike, *, low: Array, high: Array, error: float
    ) -> Self:
        """The fewest parts, each with its share of the error.

        Args:
            weights: a row for each output.
            intercepts: what is added to each output.
            low: the least value of each feature.
            high: the greatest.
            error: the root mean square of a score's error that is wanted, at most.

        Raises:
            ParameterError: more than `MOST` parts, or more outputs than a ring holds.
            NoiseBudgetError, OutOfRangeError: as `RingProductPlan.of_model`.

        """
        rows = weight_rows(weights)
        outputs, features = rows.shape
        count = -(-features // max(PLACES // outputs, 1))
        if outputs > PLACES or count > MOST:
            raise ParameterError(
                f"{features} features times {outputs} outputs are more than {MOST} ring products "
                f"of {PLACES} each: select features (SelectKBest, TruncatedSVD), or serve outputs "
                f"as models of their own"
            )
        added = spread(intercepts, outputs, "intercepts")
        share = error / np.sqrt(count)
        ends = [_shared(end, count) for end in (low[None], high[None])]
        parts = []
        for place, own in enumerate(_shared(rows, count)):
            least, most = (end[place][0] for end in ends)
            declared = _with_a_weight(own, least, most, share)
            # What is declared adds nothing at the middle of all ranges.
            constants = added * (place == 0) + (own - declared) @ (least + (most - least) / 2)
            parts.append(
                RingProductPlan.of_model(declared, constants, low=least, high=most, error=share)
            )
        return cls(features, parts)

    @property
    def params(self) -> VectorParams:
        """The parameter set of the client's keys."""
        return self.parts[0].params

    @property
    def shape(self) -> tuple[int, int]:
        """Scores of a sample, and features."""
        return self.parts[0].shape[0], self._features

    @property
    def ranges(self) -> tuple[Array, Array]:
        """The least and the greatest value of each feature."""
        pairs = [part.ranges for part in self.parts]
        low, high = (np.column_stack([pair[end] for pair in pairs]) for end in (0, 1))
        return low.reshape(-1)[: self._features].copy(), high.reshape(-1)[: self._features].copy()

    @property
    def error(self) -> float:
        """The root mean square of a score's error, at most: errors of all parts are apart."""
        return float(np.sqrt(sum(part.error**2 for part in self.parts)))

    @property
    def deployment_error(self) -> float:
        """What one server's errors stay within with 99 % probability."""
        return float(np.sqrt(sum(part.deployment_error**2 for part in self.parts)))

    @property
    def capacity(self) -> int:
        """Samples of a ciphertext."""
        return self.parts[0].capacity

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples."""
        found = [part.sizes(samples) for part in self.parts]
        return Sizes(sum(size.up for size in found), sum(size.down for size in found))

    def errors_of(self, weights: ArrayLike, samples: ArrayLike) -> Array:
        """The root mean square errors of scores of samples that share a ciphertext."""
        pairs = zip(self.parts, self.shared(weights), self.shared(samples), strict=True)
        squares = [np.square(part.errors_of(*own)) for part, *own in pairs]
        return np.asarray(np.sqrt(sum(squares)))

    def shared(self, rows: ArrayLike) -> list[Array]:
        """Columns of rows of features, or of weights, of each part."""
        return _shared(np.atleast_2d(real_array(rows, "rows")), len(self.parts))

    def __repr__(self) -> str:
        return f"<hesc.ring_products.RingProductParts: {len(self.parts)} of {self.parts[0]!r}>"


def _shared(rows: Array, count: int) -> list[Array]:
    """Each n-th column, with zeros where the last ones have a column less."""
    each = -(-rows.shape[1] // count)
    filled = np.zeros((len(rows), each * count))
    filled[:, : rows.shape[1]] = rows
    return [np.ascontiguousarray(filled[:, place::count]) for place in range(count)]


def _with_a_weight(rows: Array, low: Array, high: Array, error: float) -> Array:
    """Weights to declare: of a part that adds nothing a tiny one, for bounds are above zero."""
    half = (high - low) / 2
    if (rows * half).any() or not half.any():
        return rows
    found = rows.copy()
    place = int(half.argmax())
    found[0, place] = 2.0**-20 * error / half[place]
    return found


Ring = RingProductPlan | RingProductParts
"""One ring product, or several that add up."""


def parts_of(ring: Ring) -> tuple[RingProductPlan, ...]:
    """The ring products, in their order."""
    return ring.parts if isinstance(ring, RingProductParts) else (ring,)


def shared_by(ring: Ring, rows: Array) -> list[Array]:
    """Columns of rows of features, or of weights, of each ring product."""
    return ring.shared(rows) if isinstance(ring, RingProductParts) else [rows]


def only(ring: Ring) -> RingProductPlan:
    """The ring product of a plan that has one.

    Raises:
        ParameterError: there are several.

    """
    if isinstance(ring, RingProductParts):
        raise ParameterError("this takes one ring product, and these are several that add up")
    return ring


def written(ring: Ring) -> Any:
    """One ring product, or several, for a document."""
    if isinstance(ring, RingProductParts):
        parts = [documents.base64_of(part.to_bytes()) for part in ring.parts]
        return {"features": ring.shape[1], "parts": parts}
    return documents.base64_of(ring.to_bytes())
