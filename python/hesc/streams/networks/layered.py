"""The algorithm of koseki2022hesc section 4.3: layer by layer on encrypted weights.

Sums are concatenations; the activation x^2 is expanded, so that sums are taken once at the end,
and needs two independent copies of its input. For a 4-4-3 network a sample takes 8 ciphertexts
up, 32 + 100 + 300 additions and 303 ciphertexts down, 3 of them biases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hesc._native import ShapeError
from hesc._support.inputs import flat
from hesc.streams.arrays import EncryptedArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hesc.streams.encryptor import Encryptor
    from hesc.streams.networks.square import SquareNetwork

COPIES = 2


Indices = NDArray[np.int64]


class _Pairs(NamedTuple):
    """Which streams each layer combines, for one number of samples."""

    hidden: tuple[Indices, Indices]
    joined: Indices
    squares: tuple[Indices, Indices]
    outputs: tuple[Indices, Indices]
    biases: tuple[Indices, Indices]


def _pairs(left: Indices, right: Indices) -> tuple[Indices, Indices]:
    left, right = np.broadcast_arrays(left, right)
    return flat(left), flat(right)


class LayeredModel:
    """A network's weights, encrypted: what a server holds. Hidden weights are there twice."""

    def __init__(
        self,
        hidden_weights: list[EncryptedArray],
        hidden_bias: list[EncryptedArray],
        output_weights: EncryptedArray,
        output_bias: EncryptedArray,
    ) -> None:
        self.hidden_weights = hidden_weights
        self.hidden_bias = hidden_bias
        self.output_weights = output_weights
        self.output_bias = output_bias
        self._hidden, self._inputs = hidden_weights[0].shape
        self._outputs = len(output_bias)
        self._pairings: dict[int, _Pairs] = {}

    @classmethod
    def encrypt(cls, network: SquareNetwork, encryptor: Encryptor) -> LayeredModel:
        """Encrypts a network under the client's public key."""
        return cls(
            encryptor.encrypt_copies(network.hidden_weights, COPIES),
            encryptor.encrypt_copies(network.hidden_bias, COPIES),
            encryptor.encrypt(network.output_weights),
            encryptor.encrypt(network.output_bias),
        )

    def _pairing(self, samples: int) -> _Pairs:
        """Made once: a server sees the same number of samples again."""
        if samples not in self._pairings:
            inputs, hidden, outputs = self._inputs, self._hidden, self._outputs

            def grid(*shape: int) -> Indices:
                return np.arange(np.prod(shape), dtype=np.int64).reshape(shape)

            terms = grid(samples, hidden, inputs + 1)
            products = grid(samples, hidden, inputs)
            biases = np.broadcast_to(products.size + grid(hidden, 1), (samples, hidden, 1))
            squares = grid(samples, 1, hidden, (inputs + 1) ** 2)
            self._pairings = {
                samples: _Pairs(
                    hidden=_pairs(grid(samples, 1, inputs), grid(hidden, inputs)),
                    joined=np.concatenate([products, biases], axis=-1).reshape(-1),
                    squares=_pairs(terms[..., :, np.newaxis], terms[..., np.newaxis, :]),
                    outputs=_pairs(squares, grid(outputs, hidden, 1)),
                    biases=_pairs(grid(samples, outputs), grid(outputs)),
                )
            }
        return self._pairings[samples]

    def hidden(self, query: list[EncryptedArray]) -> list[EncryptedArray]:
        """FC1, for each copy: terms (samples, hidden, inputs + 1), not yet summed."""
        layers = []
        for z, weights, bias in zip(query, self.hidden_weights, self.hidden_bias, strict=True):
            if z.ndim != 2 or z.shape[1] != self._inputs:
                raise ShapeError(f"a query has shape (samples, {self._inputs}), not {z.shape}")
            pairs = self._pairing(len(z))
            products = z.native.multiply(weights.native, *pairs.hidden)
            terms = products.append(bias.native).select(pairs.joined)
            shape = (len(z), self._hidden, self._inputs + 1)
            layers.append(EncryptedArray(z.params, terms, shape))
        return layers

    def squares(self, hidden: list[EncryptedArray]) -> EncryptedArray:
        """ACT: all products of the terms of one copy with those of the other.

        Shape (samples, hidden, (inputs + 1)^2).
        """
        first, second = hidden
        pairs = self._pairing(len(first))
        products = first.native.multiply(second.native, *pairs.squares)
        shape = (len(first), self._hidden, (self._inputs + 1) ** 2)
        return EncryptedArray(first.params, products, shape)

    def outputs(self, squares: EncryptedArray) -> EncryptedArray:
        """FC2: (samples, outputs), by concatenation."""
        pairs = self._pairing(len(squares))
        products = squares.native.multiply(self.output_weights.native, *pairs.outputs)
        sums = products.sum_groups(self._hidden * (self._inputs + 1) ** 2)
        outputs = sums.add(self.output_bias.native, *pairs.biases)
        return EncryptedArray(squares.params, outputs, (len(squares), self._outputs))

    def evaluate(self, query: list[EncryptedArray]) -> EncryptedArray:
        """Outputs (samples, outputs) of the whole network."""
        return self.outputs(self.squares(self.hidden(query)))


def encrypt_query(
    network: SquareNetwork, encryptor: Encryptor, features: ArrayLike
) -> list[EncryptedArray]:
    """The client's part: independent encryptions of the inputs, (samples, inputs) each."""
    return encryptor.encrypt_copies(network.preprocessing.normalise(features), COPIES)
