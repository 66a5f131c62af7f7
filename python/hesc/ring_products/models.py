"""A server's weights, in the clear and encrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from hesc import _native
from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind
from hesc._support.one_process import OneProcess
from hesc._support.opaque import Opaque
from hesc.ring_products.plans import Plan, spread, weight_rows
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Model(_native.RingProductModel):
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

    plan: Plan
    _counts: OneProcess | None

    def __new__(
        cls,
        plan: Plan,
        weights: ArrayLike,
        intercepts: ArrayLike = 0.0,
        *,
        keys: PublicKeys | None = None,
    ) -> Self:
        """Weights under a plan."""
        of_kind(plan, "plan", Plan, "Plan.of_model or Plan.hiding makes it")
        rows, added = model_arrays(plan, weights, intercepts)
        if keys is not None:
            of_kind(keys, "keys", PublicKeys, "keygen gives them beside the secret key")
        public = None if keys is None else keys.public
        made = super().__new__(cls, plan.native, rows, added, public)
        elsewhere = "Answer in one process, or by `hesc eval --ledger`, which counts in a file"
        hidden = keys is not None
        made._counts = OneProcess("a model with hidden weights", elsewhere) if hidden else None
        made.plan = plan
        return made

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
                pair, one for more numbers than are left, and any in a process that was forked since
                the model was made.

        """
        if self._counts is not None:
            self._counts.check()
        return super().evaluate(_bytes(query, "a query"))


class EncryptedModel(Opaque):
    """Weights that the server has under encryption, for plans of `Plan.encrypted`.

    `hesc.SecretKey.encrypt_model` makes the bytes of one under the secret key, `encrypt`
    under the public key; `from_bytes` reads both. It answers queries under the same key pair alone.
    """

    def __init__(self, plan: Plan, native: _native.RingProductEncryptedModel) -> None:
        remedy = "EncryptedModel.from_bytes makes it"
        self.plan = plan
        self._native = of_kind(native, "native", _native.RingProductEncryptedModel, remedy)

    @staticmethod
    def encrypt(
        plan: Plan, keys: PublicKeys, weights: ArrayLike, intercepts: ArrayLike = 0.0
    ) -> bytes:
        """Encrypts a model under the public keys of who asks: the bytes that `from_bytes` reads.

        Args:
            plan: of `Plan.encrypted(..., under="public")`.
            keys: the public keys of who asks.
            weights: a row for each output, or one row.
            intercepts: what is added to each output, or one number for all.

        Size: `plan.model_size`. Cost: six transforms.

        Raises:
            OutOfRangeError: weights beyond what the plan declares.
            ParameterError: a plan of other weights, keys of other parameters.
            ShapeError: another shape.

        """
        of_kind(plan, "plan", Plan, 'Plan.encrypted(..., under="public") makes it')
        of_kind(keys, "keys", PublicKeys, "keygen gives them beside the secret key")
        rows, added = model_arrays(plan, weights, intercepts)
        return plan.native.encrypt_model_public(keys.public, rows, added)

    @classmethod
    def from_bytes(cls, plan: Plan, data: bytes) -> EncryptedModel:
        """Reads a model under the plan that it was encrypted for; strict.

        Raises:
            WireError, ParameterError: damaged bytes, another object's, or another plan's.

        """
        of_kind(plan, "plan", Plan, "Plan.encrypted or Plan.from_bytes makes it")
        native = _native.RingProductEncryptedModel.from_bytes(plan.native, _bytes(data, "a model"))
        return cls(plan, native)

    def evaluate(self, query: bytes) -> bytes:
        """The answer to a query under the same key pair, for whoever sent it.

        Cost: three transforms for each ciphertext, four under the public key.

        Raises:
            WireError, ParameterError: damaged bytes, or a query for another plan.
            KeyMismatchError: a query of another key pair.

        """
        return self._native.evaluate(_bytes(query, "a query"))


def model_arrays(
    plan: Plan, weights: ArrayLike, intercepts: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights row after row and intercepts, of the plan's shape."""
    rows = weight_rows(weights)
    if rows.shape != plan.shape:
        raise ShapeError(f"the plan is for weights of shape {plan.shape}; got {rows.shape}")
    return rows.reshape(-1), spread(intercepts, plan.shape[0], "intercepts")


def _bytes(data: bytes, name: str) -> bytes:
    if not isinstance(data, bytes):
        raise ParameterError(f"{name} is bytes, not {type(data).__name__}")
    return data
