"""Our change of algorithm, given to SEAL too: one product of monomials and coefficients remains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc.papers.report import Stopwatch
from hesc.papers.seal_peer.setup import make, primes, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.networks import SquareNetwork


class MonomialCkks:
    """CKKS at N = 2048: the product of two ciphertexts, decrypted as it is, summed by the client.

    The error is that of CKKS, not of streams: this is what exact arithmetic offers at the ring
    degree and modulus of stochastic computing, for 22 inferences in a ciphertext.
    """

    SCALE = 2.0**22

    def __init__(self, network: SquareNetwork) -> None:
        self._network = network
        self._setting = make("ckks", 2048, primes(2048, [54]))
        coefficients = network.coefficients()
        self._size = np.abs(coefficients).max()
        self._shape = coefficients.shape
        slots = self._setting.encoder.slot_count()
        self.samples = slots // coefficients.size
        plain = self._setting.encoder.encode(
            np.tile(coefficients.ravel() / self._size, self.samples), self.SCALE
        )
        self._model = self._setting.encryptor.encrypt(plain)

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs (samples, outputs)."""
        setting, clock = self._setting, Stopwatch()
        monomials = self._network.preprocessing.monomials(features)
        outputs, terms = self._shape
        tiled = np.broadcast_to(monomials[:, np.newaxis], (len(monomials), outputs, terms))
        query = setting.encryptor.encrypt(setting.encoder.encode(tiled.ravel(), self.SCALE))
        clock("Enc")
        product = setting.evaluator.multiply(query, self._model)
        clock("FC2")
        values = setting.encoder.decode(setting.decryptor.decrypt(product))
        sums = values[: tiled.size].reshape(tiled.shape).sum(axis=-1) * self._size
        clock("Dec")
        self.bytes_up, self.bytes_down = size([query]), size([product])
        return clock.milliseconds, sums


class MonomialStreams:
    """Our layout on SEAL's BFV: streams side by side, one addition for each output."""

    def __init__(
        self,
        network: SquareNetwork,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        *,
        stream_length: int,
        seed: int = 0,
    ) -> None:
        self._network = network
        self._setting = make("bfv", ring_degree, coeff_moduli, plain_modulus=12289)
        self._length = stream_length
        self._ring_degree = ring_degree
        self._rng = np.random.default_rng(seed)
        coefficients = network.coefficients()
        self._sizes = np.abs(coefficients).max(axis=0)
        self._model = [
            self._setting.encryptor.encrypt(self._encode(self._b2s(row / self._sizes)))
            for row in coefficients
        ]

    def _b2s(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        draws = self._rng.random((*values.shape, self._length))
        return (draws < (1 - values[..., np.newaxis]) / 2).astype(np.int64)

    def _encode(self, bits: NDArray[np.int64]) -> object:
        row = np.zeros(self._ring_degree, dtype=np.int64)
        row[: bits.size] = bits.ravel()
        return self._setting.encoder.encode(row)

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        setting, clock = self._setting, Stopwatch()
        bits = self._b2s(self._network.preprocessing.monomials(features)[0])
        clock("B2S")
        query = setting.encryptor.encrypt(self._encode(bits))
        clock("Enc")
        products = [setting.evaluator.add(query, row) for row in self._model]
        clock("FC2")
        counts = np.stack(
            [setting.encoder.decode(setting.decryptor.decrypt(product)) for product in products]
        )
        clock("Dec")
        used = counts[:, : bits.size].reshape(len(products), *bits.shape)
        sums = ((1 - 2 * (used & 1).mean(axis=-1)) * self._sizes).sum(axis=-1)
        clock("S2B")
        self.bytes_up, self.bytes_down = size([query]), size(products)
        return clock.milliseconds, sums
