"""A server's weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from hesc import _native
from hesc._native import ParameterError, ShapeError
from hesc.inputs import of_kind
from hesc.leveled.keys import PublicKeys
from hesc.ring_products.plans import Plan, spread, weight_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Model:
    """Weights that are ready for queries; it is not printed, copied or pickled with them.

    Args:
        plan: what both sides agreed upon.
        weights: a row for each output, or one row.
        intercepts: what is added to each output, or one number for all.
        keys: for a plan that hides weights, the public keys of who asks. The model then answers
            queries under these keys alone, and not more numbers than `plan.answers`.

    Raises:
        OutOfRangeError: weights beyond what the plan declares.
        ParameterError: keys too many or missing.
        ShapeError: another shape.

    """

    def __init__(
        self,
        plan: Plan,
        weights: ArrayLike,
        intercepts: ArrayLike = 0.0,
        *,
        keys: PublicKeys | None = None,
    ) -> None:
        self.plan = of_kind(plan, "plan", Plan, "Plan.of_model or Plan.hiding makes it")
        rows = weight_rows(weights)
        if rows.shape != plan.shape:
            raise ShapeError(f"the plan is for weights of shape {plan.shape}; got {rows.shape}")
        if keys is not None:
            of_kind(keys, "keys", PublicKeys, "leveled_keygen gives them beside the secret key")
        self._native = _native.RingProductModel(
            plan.native,
            rows.reshape(-1),
            spread(intercepts, plan.shape[0], "intercepts"),
            None if keys is None else keys.public,
        )

    def __reduce__(self) -> Never:
        raise TypeError(
            "a Model is not pickled or copied, for its count of answers would be copied too; make "
            "one from plan and weights, and keep count of what it may still give"
        )

    def evaluate(self, query: bytes) -> bytes:
        """The answer to a query, for whoever sent it.

        Cost: three transforms for each ciphertext, six where weights are hidden.

        Raises:
            WireError, ParameterError: damaged bytes, or a query for another plan.
            KeyMismatchError, ParameterError: where weights are hidden, a query of another key
                pair, and one for more numbers than are left.

        """
        if not isinstance(query, bytes):
            raise ParameterError(f"a query is bytes, not {type(query).__name__}")
        return self._native.evaluate(query)

    @property
    def answers_left(self) -> int | None:
        """Numbers that it may still give, counted in this object; None where nothing is hidden."""
        return self._native.answers_left
