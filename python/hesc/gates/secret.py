"""Encrypted bits under the secret key: decrypted, and their noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc import _native
from hesc._support.inputs import of_kind
from hesc.gates.answers import BitAnswer
from hesc.gates.encrypted import EncryptedBits
from hesc.secret.secret_key import SecretKey, for_streams

if TYPE_CHECKING:
    from numpy.typing import NDArray


def decrypt_bits(secret: SecretKey, bits: EncryptedBits | BitAnswer) -> NDArray[np.uint8]:
    """Zeros and ones, in the shape of `bits`; `hesc.gates.to_numbers` reads numbers of them.

    Raises:
        KeyMismatchError, ParameterError: bits of another key or parameter set.
        DecryptionError: altered ciphertexts.

    """
    for_streams(secret)
    if isinstance(bits, BitAnswer):
        # Refuses several outputs before the work.
        shape = bits.shape
        return _native.decrypt_bit_answer(secret.native, bits.native).reshape(shape)
    of_kind(bits, "bits", EncryptedBits, "EncryptedBits or BitAnswer.from_bytes reads them")
    found = _native.decrypt_bits(secret.native, bits.native)
    return found.reshape(bits.shape)


def decrypt_outputs(secret: SecretKey, answer: BitAnswer) -> tuple[NDArray[np.uint8], ...]:
    """The bits of each output of an answer, in its shape.

    Raises:
        KeyMismatchError, ParameterError: an answer of another key or parameter set.
        DecryptionError: altered ciphertexts.

    """
    for_streams(secret)
    of_kind(answer, "answer", BitAnswer, "Evaluator.answer and BitAnswer.from_bytes make one")
    found = _native.decrypt_bit_answer(secret.native, answer.native).reshape(-1)
    ends = np.cumsum([int(np.prod(shape)) for shape in answer.shapes])
    parts = np.split(found, ends[:-1])
    return tuple(part.reshape(shape) for part, shape in zip(parts, answer.shapes, strict=True))


def bit_noise(secret: SecretKey, bits: EncryptedBits) -> tuple[float, float]:
    """The mean square of the bits' noise, and what the model expects at most; torus units."""
    for_streams(secret)
    of_kind(bits, "bits", EncryptedBits, "EncryptedBits.from_bytes reads them")
    return _native.bit_noise(secret.native, bits.native)
