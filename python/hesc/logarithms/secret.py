"""Products by logarithms under the secret key: own factors encrypted, products decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hesc import _native
from hesc._native import LogarithmPlan
from hesc._support.inputs import of_kind
from hesc.secret.secret_key import SecretKey, for_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class DecryptedProducts(NamedTuple):
    """What products by logarithms give, for the key owner's eyes."""

    values: NDArray[np.float64]
    """The outputs of each sample: of the plan's shape, samples before it."""
    products: NDArray[np.float64]
    """A row of all products for each sample, without public weights."""
    error: float
    """The root mean square of the values' errors, at most: `LogarithmPlan.error`."""


def encrypt_logarithms(
    secret: SecretKey, plan: LogarithmPlan, factor: int, values: ArrayLike
) -> bytes:
    """Encrypts the key owner's own factor; `logarithms.LogarithmEvaluator` reads it.

    Args:
        secret: the key.
        plan: what all sides agreed upon, of this key's parameters.
        factor: which of its factors, one with `source="secret"`.
        values: of the factor's shape, or of samples before it, within its bounds.

    Every product has a rounding of its own. Size: `plan.sizes(samples).up[factor]`. Cost: a
    transform for each `plan.capacity` samples.

    Raises:
        OutOfRangeError: numbers beyond their bounds, or none.
        ShapeError: another shape, or more samples than `plan.most_samples`.
        ParameterError: a factor that comes otherwise, or a plan of other parameters.

    """
    for_vectors(secret)
    return _native.encrypt_logarithms(_plan(plan), factor, secret.native, values)


def decrypt_logarithms(secret: SecretKey, plan: LogarithmPlan, answer: bytes) -> DecryptedProducts:
    """Every product of an answer, and the sums of those that belong together.

    Raises:
        WireError, ParameterError, KeyMismatchError: damaged bytes, and answers for another plan
            or key pair.
        DecryptionError: products that no declared numbers have. Tell nobody who made it.

    """
    for_vectors(secret)
    of_kind(answer, "an answer", bytes, "LogarithmEvaluator.evaluate makes the bytes of one")
    products, values = _native.decrypt_logarithms(_plan(plan), secret.native, answer)
    return DecryptedProducts(values, products, plan.error)


def _plan(plan: LogarithmPlan) -> LogarithmPlan:
    return of_kind(plan, "plan", LogarithmPlan, "it is what all sides agreed upon")
