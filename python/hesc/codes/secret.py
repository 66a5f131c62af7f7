"""Codes and galleries under the secret key: encrypted, and distances decrypted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from hesc import _native
from hesc._native import GalleryPlan, ParameterError, ShapeError
from hesc._support.inputs import of_kind
from hesc.codes.encrypted_codes import EncryptedDistances, room_for_codes
from hesc.codes.rows import checked
from hesc.secret.secret_key import SecretKey, for_streams, for_vectors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def encrypt_codes(secret: SecretKey, codes: ArrayLike) -> bytes:
    """Binary codes for who compares them, which `EncryptedCodes.from_bytes` reads.

    Half the size of an encryption under the public key. Cost: a transform for each bit of each
    ring degree of records.

    Raises:
        ShapeError: what are no codes.
        ParameterError: parameters that do not hold distances of codes so long.

    """
    params = for_streams(secret)
    rows = checked(codes)
    room_for_codes(params, rows)
    return _native.SeededCodes.encrypt(secret.native, rows).to_bytes()


def decrypt_distances(secret: SecretKey, encrypted: EncryptedDistances) -> NDArray[np.uint32]:
    """Distances of clear codes (rows) to encrypted ones (columns).

    Raises:
        KeyMismatchError: distances under another key.
        DecryptionError: what are no distances, as altered bytes are.

    """
    for_streams(secret)
    kind, remedy = (
        EncryptedDistances,
        "hesc.codes.encrypted_codes.EncryptedDistances.from_bytes reads one",
    )
    return _native.decrypt_distances(secret.native, of_kind(encrypted, "encrypted", kind, remedy))


def encrypt_gallery(secret: SecretKey, plan: GalleryPlan, codes: ArrayLike) -> bytes:
    """Encrypts codes for a server that compares others to them and can read none.

    `hesc.codes.EncryptedGallery.from_bytes` reads them.

    Size: `plan.sizes(records).gallery`. Cost: a transform for each of `bits / piece` pieces of
    each `plan.capacity` codes.

    Raises:
        ShapeError: what are no codes of the plan's bits.
        ParameterError: more than one gallery takes, or a plan of other parameters.

    """
    for_vectors(secret)
    return _native.encrypt_gallery(_plan(plan), secret.native, checked(codes))


def encrypt_probes(secret: SecretKey, plan: GalleryPlan, codes: ArrayLike) -> bytes:
    """Encrypts codes to be compared to a gallery under the same key.

    `hesc.codes.EncryptedGallery.answers` takes them. Size: `plan.sizes(1, probes).probes`.
    Cost: `bits / piece` transforms for each.

    Raises:
        ShapeError: what are no codes of the plan's bits.
        ParameterError: more than one message takes, or a plan of other parameters.

    """
    for_vectors(secret)
    return _native.encrypt_probes(_plan(plan), secret.native, checked(codes))


def gallery_distances(
    secret: SecretKey, plan: GalleryPlan, parts: Iterable[bytes]
) -> NDArray[np.uint32]:
    """Hamming distances of probes (rows) to a gallery (columns), exact.

    Args:
        secret: the key.
        plan: of both.
        parts: all parts of an answer, in any order.

    Cost for each block of a gallery: two transforms, and `bits / piece` uniform polynomials.

    Raises:
        WireError, ParameterError, KeyMismatchError: damaged bytes, and answers for another plan
            or key pair.
        DecryptionError: what are no distances. Tell nobody who made it.
        ShapeError: parts of several answers, one given twice, or some missing.

    """
    for_vectors(secret)
    _plan(plan)
    if isinstance(parts, bytes) or not isinstance(parts, Iterable):
        raise ParameterError(
            f"parts are several answers, not {type(parts).__name__}; give a list of them"
        )
    rows = there = np.empty((0, 0), dtype=np.uint32)
    for part in parts:
        if not isinstance(part, bytes):
            raise ParameterError(f"a part is bytes, not {type(part).__name__}")
        found = _native.decrypt_gallery_distances(plan, secret.native, part)
        records, probes, probe, first, distances = found
        if not rows.size:
            rows = np.zeros((probes, records), dtype=np.uint32)
            there = np.zeros((probes, records), dtype=bool)
        if rows.shape != (probes, records):
            raise ShapeError("these are parts of several answers; give those of one")
        place = probe, slice(first, first + len(distances))
        if there[place].any():
            raise ShapeError("a part was given twice; give each once")
        rows[place], there[place] = distances, True
    if not rows.size or not there.all():
        raise ShapeError("parts are missing; give all that EncryptedGallery.answers makes")
    return rows


def _plan(plan: GalleryPlan) -> GalleryPlan:
    return of_kind(plan, "plan", GalleryPlan, "it is what both sides agreed upon")
