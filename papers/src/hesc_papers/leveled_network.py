"""The Iris network by products of ciphertexts, in the form of the other candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._native import primes_of_bits
from hesc._support.stages import Run, Stopwatch
from hesc.params import Params
from hesc.secret import keygen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.streams.networks import SquareNetwork
    from hesc.vectors import EncryptedVector


class LeveledNetwork:
    """The network exactly, with products of ciphertexts; the model is encrypted too.

    Slots are (output, hidden, input), 4 by 4 by 4, as for SEAL: one encrypted sample, three
    products of ciphertexts, four rotations.
    """

    SIDE = 4
    PRECISION = 16.0
    """BFV: inputs and weights are multiples of 1/16; five factors stay below t / 2."""
    PLAIN_BITS = 26

    def __init__(self, network: SquareNetwork, scheme: str) -> None:
        self._network, self._exact = network, scheme != "ckks"
        params = Params.recommended(scheme, encoding="vectors")
        if self._exact:
            params = Params.lattice(
                scheme,
                params.ring_degree,
                params.coeff_moduli,
                special_moduli=params.special_moduli,
                plain_modulus=primes_of_bits(params.ring_index, [self.PLAIN_BITS])[0],
            )
        steps = [1, 2, self.SIDE, 2 * self.SIDE]
        self._secret, self._public = keygen(params, rotations=steps)
        # A bias meets products of two (five) scaled factors.
        self._model = [
            self._encrypt(tile, power)
            for tile, power in zip(slot_cube(network, self.SIDE), (1, 2, 1, 5), strict=True)
        ]

    def _encrypt(self, values: NDArray[np.float64], power: int) -> EncryptedVector:
        if not self._exact:
            return self._public.encrypt(values)
        scaled = np.rint(values * self.PRECISION**power)
        # Sums are read where they are right; elsewhere they may wrap.
        return self._public.encrypt(scaled.astype(np.int64), wrap=True)

    @staticmethod
    def _sum(vector: EncryptedVector, steps: tuple[int, int]) -> EncryptedVector:
        for step in steps:
            vector = vector + vector.rotate(step)
        return vector

    def run(self, features: NDArray[np.float64]) -> Run:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        w1, b1, w2, b2 = self._model
        clock = Stopwatch()
        z = self._network.preprocessing.normalise(features)[0]
        query = self._encrypt(np.tile(z, self.SIDE**2), 1)
        clock("Enc")
        hidden = self._sum(query * w1, (2, 1)) + b1
        clock("FC1")
        squares = hidden.square()
        clock("ACT")
        output = self._sum(squares * w2, (2 * self.SIDE, self.SIDE)) + b2
        clock("FC2")
        values = self._secret.decrypt(output)
        clock("Dec")
        self.bytes_up, self.bytes_down = len(query.to_bytes()), len(output.to_bytes())
        outputs = values[: self.SIDE**3 : self.SIDE**2][: len(self._network.classes)]
        scale = self.PRECISION**5 if self._exact else 1.0
        return clock.milliseconds, outputs / scale


def slot_cube(network: SquareNetwork, side: int) -> tuple[NDArray[np.float64], ...]:
    """Weights of the hidden layer, its bias, weights of the output layer and its bias in slots."""
    cube = np.zeros((4, side, side, side))
    outputs = len(network.classes)
    cube[0] = network.hidden_weights[np.newaxis]
    # The sums over inputs are right where the input index is 0 only.
    cube[1, :, :, 0] = network.hidden_bias
    cube[2, :outputs, :, 0] = network.output_weights
    cube[3, :outputs, 0, 0] = network.output_bias
    return tuple(tile.ravel() for tile in cube)
