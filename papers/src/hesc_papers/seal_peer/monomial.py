"""Our change of algorithm, given to SEAL too: one product of monomials and coefficients remains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._support.stages import Stopwatch
from hesc.streams.encoding import Encoder
from hesc.streams.networks.monomial import MODEL_DIMENSION, QUERY_DIMENSION
from hesc_papers.seal_peer.setup import make, primes, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.streams.networks import SquareNetwork


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
        query = setting.encryptor.encrypt_symmetric(
            setting.encoder.encode(tiled.ravel(), self.SCALE)
        )
        clock("Enc")
        product = setting.evaluator.multiply(query, self._model)
        clock("FC2")
        values = setting.encoder.decode(setting.decryptor.decrypt(product))
        sums = values[: tiled.size].reshape(tiled.shape).sum(axis=-1) * self._size
        clock("Dec")
        self.bytes_up, self.bytes_down = size([query]), size([product])
        return clock.milliseconds, sums


class MonomialStreams:
    """hesc's best mode on SEAL's BFV, with all its tricks that SEAL's interface has.

    The same streams, side by side in the coefficients, at the same plaintext modulus. The three
    outputs are digits of base 3, fused in advance: the model is one ciphertext, and the server
    multiplies the query by 1 + 3 + 9 and adds it. What SEAL lacks is the small modulus of the
    answer, and seeds in the wheel.
    """

    PLAIN_MODULUS = 32
    BASE = 3

    def __init__(
        self,
        network: SquareNetwork,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        *,
        stream_length: int,
        secret_key: bool,
    ) -> None:
        import seal

        self._network, self._length = network, stream_length
        self._setting = make(
            "bfv",
            ring_degree,
            coeff_moduli,
            plain_modulus=self.PLAIN_MODULUS,
            packing="coefficients",
        )
        encryptor, evaluator = self._setting.encryptor, self._setting.evaluator
        self._encrypt = encryptor.encrypt_symmetric if secret_key else encryptor.encrypt
        coefficients = network.coefficients()
        sizes = np.abs(coefficients).max(axis=0)
        self._weights = self.BASE ** np.arange(len(coefficients))
        encoded = Encoder(stream_length, first_dimension=MODEL_DIMENSION).encode(
            coefficients / sizes
        )
        rows = [
            evaluator.multiply_plain(
                encryptor.encrypt(self._setting.encoder.encode(bits.ravel())),
                seal.Plaintext(f"{weight:X}"),
            )
            for bits, weight in zip(encoded.bits, self._weights, strict=True)
        ]
        self._model = evaluator.add_many(rows)
        self._all = seal.Plaintext(f"{self._weights.sum():X}")
        # What each count adds to the outputs: a sign for each digit, times the term's size.
        counts = np.arange(self.BASE ** len(coefficients))
        self._signs = 1.0 - 2.0 * (counts[:, np.newaxis] // self._weights % self.BASE & 1)
        self._shares = np.repeat(sizes / stream_length, stream_length)

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        setting, clock = self._setting, Stopwatch()
        monomials = self._network.preprocessing.monomials(features)[0]
        encoder = Encoder(self._length, first_dimension=QUERY_DIMENSION)
        bits = encoder.encode(monomials).bits
        clock("B2S")
        query = self._encrypt(setting.encoder.encode(bits.ravel()))
        clock("Enc")
        answer = setting.evaluator.multiply_plain(query, self._all)
        setting.evaluator.add_inplace(answer, self._model)
        clock("FC2")
        counts = setting.encoder.decode(setting.decryptor.decrypt(answer))[: bits.size]
        clock("Dec")
        signs = np.take(self._signs, counts, axis=0)
        clock("Separation")
        sums = self._shares @ signs
        clock("S2B")
        self.bytes_up, self.bytes_down = size([query]), size([answer])
        return clock.milliseconds, sums
