"""All-one polynomials of one encrypted number with SEAL: with streams, and exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._support.stages import Stopwatch
from hesc.streams.encoding import Encoder
from hesc_papers.seal_peer.all_one import AllOne
from hesc_papers.seal_peer.setup import make, primes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class StreamPolynomial:
    """The algorithm of koseki2022hesc: ciphertexts for each copy of x and for the constant 1.

    Monomials are prefix products, one addition each; the sum is the list of their ciphertexts.
    The encoder is hesc's, its time included.
    """

    def __init__(
        self,
        degree: int,
        scheme: str,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        *,
        packing: str = "slots",
        plain_modulus: int | None = None,
        scale: float | None = None,
        stream_length: int,
        generator: str = "bernoulli",
        encrypt_constant: bool = False,
    ) -> None:
        self._setting = make(
            scheme, ring_degree, coeff_moduli, plain_modulus=plain_modulus, packing=packing
        )
        self._degree, self._scale = degree, scale
        self._options = (stream_length, generator)
        self._encrypt_constant = encrypt_constant
        self._block = min(stream_length, ring_degree)

    def _encrypt(self, bits: NDArray[np.uint8]) -> list[Any]:
        """A ciphertext for each block of the stream."""
        return [
            self._setting.encryptor.encrypt(self._encode(block))
            for block in bits.reshape(-1, self._block)
        ]

    def _encode(self, bits: NDArray[np.uint8]) -> Any:
        encoder = self._setting.encoder
        if self._scale is None:
            return encoder.encode(bits.astype(np.int64))
        # Two bits in each complex slot.
        low, high = np.split(bits.astype(np.float64), 2)
        return encoder.encode_complex(low + 1j * high, self._scale)

    def _ones(self, plain: Any) -> int:
        """Odd counts of a block."""
        encoder = self._setting.encoder
        if self._scale is None:
            counts = np.asarray(encoder.decode(plain), dtype=np.int64)[: self._block]
        else:
            slots = np.asarray(encoder.decode_complex(plain))
            counts = np.rint(np.concatenate([slots.real, slots.imag])).astype(np.int64)
        return int((counts & 1).sum())

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage and the value."""
        setting, clock = self._setting, Stopwatch()
        length, generator = self._options
        values = [x] * self._degree + [1.0] * self._encrypt_constant
        encoded = Encoder(length, generator=generator).encode_factors(values)
        streams = [stream.bits for stream in encoded]
        clock("B2S")
        copies = [self._encrypt(bits) for bits in streams]
        clock("Enc")
        terms = copies[:1]
        for copy in copies[1 : self._degree]:
            pairs = zip(terms[-1], copy, strict=True)
            terms.append([setting.evaluator.add(a, b) for a, b in pairs])
        terms += copies[self._degree :]
        clock("Eval")
        plain = [setting.decryptor.decrypt(block) for term in terms for block in term]
        clock("Dec")
        value = self._degree + 1 - 2 * sum(map(self._ones, plain)) / length
        clock("S2B")
        return clock.milliseconds, value


class Chain(NamedTuple):
    """Parameters of CKKS for a polynomial; the last prime is SEAL's for keys."""

    ring_degree: int
    modulus_bits: tuple[int, ...]
    scale_bits: float
    switched: int
    """Levels whose products are relinearised and rescaled; those above stay as they are."""


PAPERS_CHAIN: Final = (8192, (50, 30, 30, 30, 30, 47), 30.0)


def papers_chain(degree: int) -> Chain:
    """The paper's modulus; the last product is neither relinearised nor rescaled."""
    return Chain(*PAPERS_CHAIN, switched=(degree - 1).bit_length() - 1)


def tuned_chain(degree: int) -> Chain:
    """The smallest ring and modulus found with errors below those of streams of 2048 bits.

    Read as the mean of all slots, which hold the same number, results are better by the root of
    their number; scales of 17 bits are then enough.
    """
    if degree == 2:
        return Chain(2048, (54,), 25.0, switched=0)
    if degree == 3:
        return Chain(2048, (54,), 16.6, switched=0)
    if degree == 4:
        return Chain(4096, (46, 46, 17), 21.0, switched=0)
    if degree <= 8:
        return Chain(4096, (40, 18, 18, 32), 17.3, switched=2)
    return Chain(4096, (29, 28, 18, 18, 17), 17.3, switched=2)


class LeveledPolynomial:
    """CKKS with products of ciphertexts.

    Every slot holds a number of its own: as many evaluations as slots for the time of one.
    """

    def __init__(self, degree: int, chain: Chain) -> None:
        ring_degree = chain.ring_degree
        self._degree, self._scale = degree, 2.0**chain.scale_bits
        self._setting = make("ckks", ring_degree, primes(ring_degree, chain.modulus_bits))
        self.all_one = AllOne(self._setting, chain.switched)

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage and the value of the all-one polynomial."""
        stages, values = self._evaluate(x)
        return stages, float(values.mean())

    def values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The polynomial of up to as many numbers as slots at once."""
        return self._evaluate(x)[1][: len(x)]

    def _evaluate(
        self, x: float | NDArray[np.float64]
    ) -> tuple[dict[str, float], NDArray[np.float64]]:
        setting, clock = self._setting, Stopwatch()
        encrypted = setting.encryptor.encrypt(setting.encoder.encode(x, self._scale))
        clock("Enc")
        total = self.all_one(encrypted, self._degree)
        clock("Eval")
        values = np.asarray(setting.encoder.decode(setting.decryptor.decrypt(total)))
        clock("Dec")
        return clock.milliseconds, values


class IntegerPolynomial:
    """BFV as in the paper: integers, products of ciphertexts. Inputs are rounded to few levels."""

    PLAIN_MODULUS = 1032193

    def __init__(self, degree: int) -> None:
        import seal

        moduli = [q.value() for q in seal.CoeffModulus.BFVDefault(8192)]
        self._setting = make("bfv", 8192, moduli, plain_modulus=self.PLAIN_MODULUS)
        self._degree = degree
        # The sum of n + 1 terms of this precision stays below t / 2.
        self._precision = max(1, int((self.PLAIN_MODULUS / 2 / (degree + 1)) ** (1 / degree)))
        self._all_one = AllOne(
            self._setting, (degree - 1).bit_length() - 1, precision=self._precision
        )

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage and the value of the all-one polynomial."""
        setting, clock, p = self._setting, Stopwatch(), self._precision
        number = np.full(8192, round(x * p), dtype=np.int64)
        encrypted = setting.encryptor.encrypt(setting.encoder.encode(number))
        clock("Enc")
        total = self._all_one(encrypted, self._degree)
        clock("Eval")
        value = setting.encoder.decode(setting.decryptor.decrypt(total))[0]
        clock("Dec")
        return clock.milliseconds, float(value) / p**self._degree
