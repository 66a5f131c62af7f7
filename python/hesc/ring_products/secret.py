"""Ring products under the secret key: features and models encrypted, scores decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hesc._native import ShapeError
from hesc._support.inputs import of_kind, real_array
from hesc.ring_products.models import model_arrays
from hesc.ring_products.plans import Plan
from hesc.secret.keys import SecretKey, for_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Scores(NamedTuple):
    """What a ring product gives, for the key owner's eyes."""

    values: NDArray[np.float64]
    """A row of outputs for each sample."""
    error: float
    """The root mean square of their errors, at most, over servers: `Plan.error`."""


def encrypt_features(secret: SecretKey, plan: Plan, samples: ArrayLike) -> bytes:
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
    of_kind(plan, "plan", Plan, "a ring_products.Plan is what both sides agreed upon")
    rows = real_array(samples, "samples")
    features = plan.native.features
    if rows.ndim not in {1, 2} or rows.shape[-1] != features:
        raise ShapeError(f"samples are rows of {features} features; got the shape {rows.shape}")
    return plan.native.encrypt(secret.native, rows.reshape(-1))


def encrypt_model(
    secret: SecretKey, plan: Plan, weights: ArrayLike, intercepts: ArrayLike = 0.0
) -> bytes:
    """Encrypts this key owner's own model for a server that must not see it.

    `ring_products.EncryptedModel.from_bytes` reads it.

    Args:
        secret: the key.
        plan: of `ring_products.Plan.encrypted`, for weights under the secret key.
        weights: a row for each output, or one row.
        intercepts: what is added to each output, or one number for all.

    Size: `plan.model_size`. Cost: two transforms.

    Raises:
        OutOfRangeError: weights beyond what the plan declares.
        ParameterError: a plan of other weights or parameters.
        ShapeError: another shape.

    """
    for_vectors(secret)
    of_kind(plan, "plan", Plan, "a ring_products.Plan is what both sides agreed upon")
    rows, added = model_arrays(plan, weights, intercepts)
    return plan.native.encrypt_model(secret.native, rows, added)


def decrypt_scores(secret: SecretKey, plan: Plan, answer: bytes) -> Scores:
    """The scores of an answer. Their errors depend on the secret key: show them to nobody.

    Raises:
        WireError, ParameterError, KeyMismatchError: damaged bytes, and answers for another plan
            or key pair.
        DecryptionError: scores that no declared features have. Tell nobody who made it.

    """
    for_vectors(secret)
    of_kind(plan, "plan", Plan, "a ring_products.Plan is what both sides agreed upon")
    of_kind(answer, "an answer", bytes, "Model.evaluate makes the bytes of one")
    native = plan.native
    values = native.decrypt(secret.native, answer)
    return Scores(values.reshape(-1, native.outputs), native.error)
