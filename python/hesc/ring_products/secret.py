"""Ring products under the secret key: features and models encrypted, scores decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hesc import _native
from hesc._native import RingProductPlan
from hesc._support.inputs import of_kind
from hesc.secret.secret_key import SecretKey, for_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class DecryptedScores(NamedTuple):
    """What a ring product gives, for the key owner's eyes."""

    values: NDArray[np.float64]
    """A row of outputs for each sample."""
    error: float
    """The root mean square of their errors, at most, over servers: `RingProductPlan.error`."""


def encrypt_features(secret: SecretKey, plan: RingProductPlan, samples: ArrayLike) -> bytes:
    """Encrypts samples for a server that scores them; `ring_products.Model.evaluate` reads it.

    Args:
        secret: the key.
        plan: what both sides agreed upon, of this key's parameters.
        samples: a row of features for each, or one row, within the plan's ranges.

    Size: `plan.sizes(samples)`. Cost: a transform for each `plan.capacity` samples.

    Raises:
        OutOfRangeError: a feature beyond its range, or one that is no number.
        ShapeError: rows of another length, none, or more than `plan.most_samples`.
        ParameterError: a plan of other parameters.

    """
    for_vectors(secret)
    return _native.encrypt_features(_plan(plan), secret.native, samples)


def encrypt_model(
    secret: SecretKey, plan: RingProductPlan, weights: ArrayLike, intercepts: ArrayLike = 0.0
) -> bytes:
    """Encrypts this key owner's own model for a server that must not see it.

    `ring_products.EncryptedModel.from_bytes` reads it.

    Args:
        secret: the key.
        plan: of `RingProductPlan.encrypted`, for weights under the secret key.
        weights: a row for each output, or one row.
        intercepts: what is added to each output, or one number for all.

    Size: `plan.model_size`. Cost: two transforms.

    Raises:
        OutOfRangeError: weights beyond what the plan declares.
        ParameterError: a plan of other weights or parameters.
        ShapeError: another shape.

    """
    for_vectors(secret)
    return _native.encrypt_model(_plan(plan), secret.native, weights, intercepts)


def decrypt_scores(secret: SecretKey, plan: RingProductPlan, answer: bytes) -> DecryptedScores:
    """The scores of an answer. Their errors depend on the secret key: show them to nobody.

    Raises:
        WireError, ParameterError, KeyMismatchError: damaged bytes, and answers for another plan
            or key pair.
        DecryptionError: scores that no declared features have. Tell nobody who made it.

    """
    for_vectors(secret)
    of_kind(answer, "an answer", bytes, "Model.evaluate makes the bytes of one")
    return DecryptedScores(_native.decrypt_scores(_plan(plan), secret.native, answer), plan.error)


def _plan(plan: RingProductPlan) -> RingProductPlan:
    return of_kind(plan, "plan", RingProductPlan, "it is what both sides agreed upon")
