"""A server's weights, in the clear and encrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Never

from hesc import _native
from hesc._native import RingProductPlan, WireError
from hesc._support.inputs import of_kind, wire_bytes
from hesc._support.one_process import OneProcess
from hesc._support.opaque import Opaque
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike


_SAMPLES: Final = slice(46, 50)
"""Where a query has its number of samples: behind the names of its plan and key."""


def check_samples(query: bytes, samples: int) -> None:
    """Refuses a query whose head tells another number of samples; all else `evaluate` checks.

    Raises:
        WireError: another number.

    """
    found = int.from_bytes(query[_SAMPLES], "little")
    if found != samples:
        raise WireError(
            f"the query's ring product is of {found} samples, its message of {samples}; check "
            f"what was sent"
        )


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

    plan: RingProductPlan
    _counts: OneProcess | None

    def __new__(
        cls,
        plan: RingProductPlan,
        weights: ArrayLike,
        intercepts: ArrayLike = 0.0,
        *,
        keys: PublicKeys | None = None,
    ) -> Self:
        """Weights under a plan."""
        of_kind(plan, "plan", RingProductPlan, "RingProductPlan.of_model or hiding makes it")
        if keys is not None:
            of_kind(keys, "keys", PublicKeys, "keygen gives them beside the secret key")
        public = None if keys is None else keys.public
        made = super().__new__(cls, plan, weights, intercepts, public)
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
        return super().evaluate(
            of_kind(query, "a query", bytes, "encrypt_features makes the bytes of one")
        )


class EncryptedModel(Opaque):
    """Weights that the server has under encryption, for plans of `RingProductPlan.encrypted`.

    `hesc.SecretKey.encrypt_model` makes the bytes of one under the secret key, `encrypt`
    under the public key; `from_bytes` reads both. It answers queries under the same key pair alone.
    """

    def __init__(self, plan: RingProductPlan, native: _native.RingProductEncryptedModel) -> None:
        remedy = "EncryptedModel.from_bytes makes it"
        self.plan = plan
        self._native = of_kind(native, "native", _native.RingProductEncryptedModel, remedy)

    @staticmethod
    def encrypt(
        plan: RingProductPlan, keys: PublicKeys, weights: ArrayLike, intercepts: ArrayLike = 0.0
    ) -> bytes:
        """Encrypts a model under the public keys of who asks: the bytes that `from_bytes` reads.

        Args:
            plan: of `RingProductPlan.encrypted(..., under="public")`.
            keys: the public keys of who asks.
            weights: a row for each output, or one row.
            intercepts: what is added to each output, or one number for all.

        Size: `plan.model_size`. Cost: six transforms.

        Raises:
            OutOfRangeError: weights beyond what the plan declares.
            ParameterError: a plan of other weights, keys of other parameters.
            ShapeError: another shape.

        """
        of_kind(
            plan, "plan", RingProductPlan, 'RingProductPlan.encrypted(..., under="public") makes it'
        )
        of_kind(keys, "keys", PublicKeys, "keygen gives them beside the secret key")
        return _native.encrypt_model(plan, keys.public, weights, intercepts)

    @classmethod
    def from_bytes(cls, plan: RingProductPlan, data: bytes) -> EncryptedModel:
        """Reads a model under the plan that it was encrypted for; strict.

        Raises:
            WireError, ParameterError: damaged bytes, another object's, or another plan's.

        """
        of_kind(plan, "plan", RingProductPlan, "RingProductPlan.encrypted or from_bytes makes it")
        native = _native.RingProductEncryptedModel.from_bytes(plan, wire_bytes(data))
        return cls(plan, native)

    def evaluate(self, query: bytes) -> bytes:
        """The answer to a query under the same key pair, for whoever sent it.

        Cost: three transforms for each ciphertext, four under the public key.

        Raises:
            WireError, ParameterError: damaged bytes, or a query for another plan.
            KeyMismatchError: a query of another key pair.

        """
        return self._native.evaluate(
            of_kind(query, "a query", bytes, "encrypt_features makes the bytes of one")
        )
