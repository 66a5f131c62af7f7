"""Uploads under public keys, and whoever multiplies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hesc import _native
from hesc._native import LogarithmPlan, ParameterError
from hesc._support.inputs import of_kind
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


def encrypt(plan: LogarithmPlan, factor: int, keys: PublicKeys, values: ArrayLike) -> bytes:
    """Encrypts one side's numbers under the key owner's public keys.

    Args:
        plan: what all sides agreed upon, of these keys' parameters.
        factor: which of its factors, one with `source="public"`.
        keys: those of the key owner.
        values: of the factor's shape, or of samples before it, within its bounds.

    Every product has a rounding of its own, so that no two are off alike. Size:
    `plan.sizes(samples).up[factor]`. Cost: three transforms for each `plan.capacity` samples.

    Raises:
        OutOfRangeError: numbers beyond their bounds, or none.
        ShapeError: another shape, or more samples than `plan.most_samples`.
        ParameterError: a factor that comes otherwise, or a plan of other parameters.

    """
    of_kind(plan, "plan", LogarithmPlan, "encrypt takes a LogarithmPlan first")
    of_kind(keys, "keys", PublicKeys, "keygen gives them beside the secret key")
    return _native.encrypt_logarithms(plan, factor, keys.public, values)


class LogarithmEvaluator:
    """Adds ciphertexts where numbers are multiplied. What serves all samples is added up once.

    Args:
        plan: what all sides agreed upon.
        shared: the uploads of factors that are encrypted and serve all samples.
        clear: for each factor with `source="clear"` its numbers. They are rounded at random once.

    Raises:
        WireError, KeyMismatchError: damaged bytes, uploads under several keys.
        ParameterError: uploads for another plan; a factor that is missing, twice, or not shared.
        OutOfRangeError, ShapeError: numbers beyond their bounds, or of another shape.

    """

    def __init__(
        self,
        plan: LogarithmPlan,
        *,
        shared: Sequence[bytes] = (),
        clear: Mapping[int, ArrayLike] | None = None,
    ) -> None:
        self.plan = of_kind(
            plan, "plan", LogarithmPlan, "LogarithmPlan.elementwise, sums or polynomial makes it"
        )
        given = {} if clear is None else clear
        if not isinstance(given, Mapping):
            raise ParameterError(
                f"clear is {{factor: numbers}}, a mapping, not {type(given).__name__}"
            )
        self._native = _native.LogarithmEvaluator(plan, list(given.items()), uploads_of(shared))

    def evaluate(self, uploads: Sequence[bytes]) -> bytes:
        """The answer to the uploads of all other factors, in any order, for the key owner.

        An answer is no upload: products are not multiplied again. Cost: additions, and a transform
        for each ciphertext.

        Raises:
            WireError, KeyMismatchError: damaged bytes, uploads under several keys.
            ParameterError: uploads for another plan; a factor that is missing or twice.
            ShapeError: uploads of different numbers of samples.

        """
        return self._native.evaluate(uploads_of(uploads))


def uploads_of(uploads: Sequence[bytes]) -> list[bytes]:
    """A list of bytes.

    Raises:
        ParameterError: for anything else.

    """
    if not isinstance(uploads, list | tuple) or not all(
        isinstance(upload, bytes) for upload in uploads
    ):
        raise ParameterError("uploads are a list of bytes, one for each factor")
    return list(uploads)
