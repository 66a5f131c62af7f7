"""Distances of codes by SEAL, bit columns in coefficients as hesc has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc_papers.seal_peer.setup import make, primes, size

if TYPE_CHECKING:
    from numpy.typing import NDArray

RING_DEGREE: Final = 1024
PLAIN_MODULUS: Final = 1024


class Columns:
    """Encrypted columns of up to 1024 codes: a ciphertext of 27 bits for each bit."""

    def __init__(self, bits: NDArray[np.uint8]) -> None:
        moduli = primes(RING_DEGREE, [27])
        self._setting = make(
            "bfv", RING_DEGREE, moduli, plain_modulus=PLAIN_MODULUS, packing="coefficients"
        )
        self.records = len(bits)
        encode = self._setting.encoder.encode
        self._columns = [
            self._setting.encryptor.encrypt_symmetric(encode(column)) for column in bits.T
        ]

        self._zero = self._setting.encryptor.encrypt_symmetric(encode(0 * bits.T[0]))

    @property
    def bytes(self) -> int:
        """Bytes of the columns, both halves of each, as the wheel computes with them."""
        return size(self._columns)

    def sum(self, code: NDArray[np.uint8]) -> Any:
        """Encrypted distances to a code: a sum or a difference for each bit, then their ones."""
        evaluator = self._setting.evaluator
        (first, *columns), (sign, *bits) = self._columns, code.tolist()
        total = (evaluator.sub if sign else evaluator.add)(self._zero, first)
        for column, bit in zip(columns, bits, strict=True):
            if bit:
                evaluator.sub_inplace(total, column)
            else:
                evaluator.add_inplace(total, column)
        ones = np.full(self.records, int(code.sum()), dtype=np.int64)
        evaluator.add_plain_inplace(total, self._setting.encoder.encode(ones))
        return total

    def distances(self, total: Any) -> NDArray[np.int64]:
        """Decrypts."""
        plain = self._setting.decryptor.decrypt(total)
        found: NDArray[np.int64] = self._setting.encoder.decode(plain)
        return found[: self.records]
