"""The algorithm of koseki2022hesc section 4.3: layer by layer on encrypted weights.

Sums are concatenations; the activation x^2 is expanded, so that sums are taken once at the end,
and needs two independent copies of its input. For a 4-4-3 network a sample takes 8 ciphertexts
up, 32 + 100 + 300 additions and 303 ciphertexts down, 3 of them biases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hesc.arrays import EncryptedArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hesc.encryptor import Encryptor
    from hesc.networks.square import SquareNetwork

COPIES = 2


class LayeredModel(NamedTuple):
    """A network's weights, encrypted: what a server holds. Hidden weights are there twice."""

    hidden_weights: list[EncryptedArray]
    hidden_bias: list[EncryptedArray]
    output_weights: EncryptedArray
    output_bias: EncryptedArray

    @classmethod
    def encrypt(cls, network: SquareNetwork, encryptor: Encryptor) -> LayeredModel:
        """Encrypts a network under the client's public key."""
        return cls(
            encryptor.encrypt_copies(network.hidden_weights, COPIES),
            encryptor.encrypt_copies(network.hidden_bias, COPIES),
            encryptor.encrypt(network.output_weights),
            encryptor.encrypt(network.output_bias),
        )

    def hidden(self, query: list[EncryptedArray]) -> list[EncryptedArray]:
        """FC1, for each copy: terms (samples, hidden, inputs + 1), not yet summed."""
        layers = []
        for z, weights, bias in zip(query, self.hidden_weights, self.hidden_bias, strict=True):
            products = z[:, np.newaxis, :] * weights[np.newaxis]
            samples, hidden, _ = products.shape
            biases = bias[:, np.newaxis].broadcast_to((samples, hidden, 1))
            layers.append(EncryptedArray.concatenate([products, biases], axis=-1))
        return layers

    def squares(self, hidden: list[EncryptedArray]) -> EncryptedArray:
        """ACT: all products of the terms of one copy with those of the other."""
        first, second = hidden
        return first[..., :, np.newaxis] * second[..., np.newaxis, :]

    def outputs(self, squares: EncryptedArray) -> EncryptedArray:
        """FC2: (samples, outputs), by concatenation."""
        samples, hidden = squares.shape[:2]
        terms = squares.reshape(samples, hidden, -1)[:, np.newaxis]
        products = terms * self.output_weights[np.newaxis, :, :, np.newaxis]
        outputs = products.shape[1]
        sums = products.reshape(samples, outputs, -1).sum(axis=-1)
        return sums + self.output_bias[np.newaxis]

    def evaluate(self, query: list[EncryptedArray]) -> EncryptedArray:
        """Outputs (samples, outputs) of the whole network."""
        return self.outputs(self.squares(self.hidden(query)))


def encrypt_query(
    network: SquareNetwork, encryptor: Encryptor, features: ArrayLike
) -> list[EncryptedArray]:
    """The client's part: independent encryptions of the inputs, (samples, inputs) each."""
    return encryptor.encrypt_copies(network.normalise(features), COPIES)
