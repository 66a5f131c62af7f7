"""Ours: one product between the client's monomials and the model owner's coefficients.

A network of one square layer is a quadratic polynomial in its inputs. The client multiplies its
own inputs in the clear, the model owner its own weights, and of the five factors that
koseki2022hesc multiplies under encryption one product remains. That is a change of algorithm, not
of implementation: it needs a client that computes monomials. All streams of a sample lie side by
side in one ciphertext.

Client: `encryptor.encrypt(network.preprocessing.monomials(features))`. Server: `evaluate`. Client:
`Decryptor.decrypt`, whose values are the network's outputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._native import ShapeError
from hesc._support.inputs import flat
from hesc.streams.arrays import EncryptedArray, SeededArray
from hesc.streams.encryptor import Encryptor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.streams.arrays import Answer
    from hesc.streams.encryptor import AnyEncryptor
    from hesc.streams.networks.square import SquareNetwork
    from hesc.vectors.keys import PublicKeys

QUERY_DIMENSION = 0
MODEL_DIMENSION = 1


def largest(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest size of each monomial's coefficients, 1 where all are zero."""
    sizes: NDArray[np.float64] = np.abs(coefficients).max(axis=0)
    return np.where(sizes == 0, 1.0, sizes)


class MonomialModel:
    """A network's coefficients, encrypted: what a server holds.

    The largest size of each monomial's coefficients is public (the client learns it with the
    answer): scaling each monomial by its own keeps the error of short streams small.
    """

    def __init__(self, coefficients: EncryptedArray) -> None:
        if coefficients.ndim != 2:
            raise ShapeError(
                f"a model has shape (outputs, monomials), not {coefficients.shape}; see "
                f"MonomialModel.encrypt"
            )
        self.coefficients = coefficients
        self._outputs, self._monomials = coefficients.shape
        # Which streams multiply, by number of samples: a server sees the same number again.
        self._pairs: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    @classmethod
    def encrypt(
        cls,
        network: SquareNetwork,
        public: PublicKeys,
        *,
        stream_length: int = 64,
        random_state: int | None = None,
    ) -> MonomialModel:
        """Encrypts a network under the client's public key."""
        encryptor = Encryptor(
            public,
            stream_length,
            first_dimension=MODEL_DIMENSION,
            random_state=random_state,
        )
        return cls.encrypted_by(encryptor, network)

    @classmethod
    def encrypted_by(cls, encryptor: AnyEncryptor, network: SquareNetwork) -> MonomialModel:
        """Encrypts a network; of streams of `MODEL_DIMENSION`, which no query uses."""
        coefficients = network.coefficients()
        return cls.scaled_by(encryptor, coefficients, largest(coefficients))

    @classmethod
    def scaled_by(
        cls,
        encryptor: AnyEncryptor,
        coefficients: NDArray[np.float64],
        scales: NDArray[np.float64],
    ) -> MonomialModel:
        """Encrypts coefficients (outputs, monomials) that are no larger than public scales."""
        encrypted = encryptor.encrypt(coefficients / scales)
        if isinstance(encrypted, SeededArray):
            encrypted = encrypted.expand()
        return cls(encrypted * scales)

    def evaluate(self, query: EncryptedArray) -> EncryptedArray:
        """Outputs (samples, outputs) for encrypted monomials (samples, monomials).

        Cost: one homomorphic addition for each sample and output.
        """
        if query.ndim != 2 or query.shape[1] != self._monomials:
            raise ShapeError(
                f"a query has shape (samples, {self._monomials}), not {query.shape}; encrypt "
                f"network.preprocessing.monomials(features)"
            )
        samples = query.shape[0]
        if samples not in self._pairs:
            shape = (samples, self._outputs, self._monomials)
            left = np.broadcast_to(query.positions()[:, np.newaxis], shape)
            right = np.broadcast_to(self.coefficients.positions(), shape)
            self._pairs = {samples: (flat(left), flat(right))}
        products = query.native.multiply(self.coefficients.native, *self._pairs[samples])
        sums = products.sum_groups(self._monomials)
        return EncryptedArray(query.params, sums, (samples, self._outputs))

    def answer(self, query: EncryptedArray) -> Answer:
        """Outputs as they go back: fused where the plaintext modulus has room, and compact."""
        outputs = self.evaluate(query)
        # Counts of a product are at most 2: digits of base 3.
        fuse = self._outputs if 3**self._outputs - 1 <= outputs.native.capacity else None
        return outputs.answer(fuse=fuse)
