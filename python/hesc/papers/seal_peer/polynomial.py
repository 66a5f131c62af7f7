"""Polynomials `sum a_i x^i` of one encrypted number with SEAL: with streams, and exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc.papers.report import Stopwatch
from hesc.papers.seal_peer.setup import make, primes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BABY = 4


class StreamPolynomial:
    """The algorithm of koseki2022hesc: a ciphertext for each copy of x and for the constant 1.

    Monomials are prefix products, one addition each; the sum is the list of their ciphertexts.
    """

    def __init__(
        self,
        scheme: str,
        degree: int,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        *,
        plain_modulus: int | None = None,
        scale: float | None = None,
        seed: int = 0,
    ) -> None:
        self._setting = make(scheme, ring_degree, coeff_moduli, plain_modulus=plain_modulus)
        self._degree = degree
        self._length = ring_degree
        self._scale = scale
        self._rng = np.random.default_rng(seed)

    def _encode(self, bits: NDArray[np.bool_]) -> Any:
        encoder = self._setting.encoder
        if self._scale is None:
            return encoder.encode(bits.astype(np.int64))
        # Two bits in each complex slot.
        low, high = np.split(bits.astype(np.float64), 2)
        return encoder.encode_complex(low + 1j * high, self._scale)

    def _parities(self, plain: Any) -> NDArray[np.int64]:
        encoder = self._setting.encoder
        if self._scale is None:
            counts = np.asarray(encoder.decode(plain), dtype=np.int64)
        else:
            slots = np.asarray(encoder.decode_complex(plain))
            counts = np.rint(np.concatenate([slots.real, slots.imag])).astype(np.int64)
        return counts & 1

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage and the value of the all-one polynomial."""
        setting, clock = self._setting, Stopwatch()
        values = np.array([*[x] * self._degree, 1.0])
        draws = self._rng.random((len(values), self._length))
        streams = draws < (1 - values[:, np.newaxis]) / 2
        clock("B2S")
        *copies, one = [setting.encryptor.encrypt(self._encode(bits)) for bits in streams]
        clock("Enc")
        products = [copies[0]]
        for copy in copies[1:]:
            products.append(setting.evaluator.add(products[-1], copy))
        products.append(one)
        clock("Eval")
        plain = [setting.decryptor.decrypt(product) for product in products]
        clock("Dec")
        ones = sum(int(self._parities(p).sum()) for p in plain)
        value = len(products) - 2 * ones / self._length
        clock("S2B")
        return clock.milliseconds, value


class LeveledPolynomial:
    """CKKS with products of ciphertexts: powers to the fourth, then giant steps of four.

    Every slot holds a number of its own: as many evaluations as slots for the time of one.
    """

    def __init__(
        self,
        degree: int,
        ring_degree: int,
        modulus_bits: Sequence[int],
        *,
        scale_bits: int,
    ) -> None:
        self._degree = degree
        self._scale = 2.0**scale_bits
        self._setting = make("ckks", ring_degree, primes(ring_degree, modulus_bits))
        self._relin = self._setting.keys.create_relin_keys()
        self.slots = self._setting.encoder.slot_count()

    def _product(self, a: Any, b: Any) -> Any:
        evaluator = self._setting.evaluator
        a, b = self._levelled(a, b)
        product = evaluator.square(a) if a is b else evaluator.multiply(a, b)
        evaluator.relinearize_inplace(product, self._relin)
        evaluator.rescale_to_next_inplace(product)
        # The primes are near the scale: the difference is below the noise.
        product.scale(self._scale)
        return product

    def _levelled(self, *operands: Any) -> list[Any]:
        """The operands at the lowest level of any of them."""
        lowest = min(operands, key=lambda c: c.coeff_modulus_size())
        evaluator = self._setting.evaluator
        return [
            c
            if c.parms_id() == lowest.parms_id()
            else evaluator.mod_switch_to(c, lowest.parms_id())
            for c in operands
        ]

    def _sum(self, *operands: Any) -> Any:
        return self._setting.evaluator.add_many(self._levelled(*operands))

    def _plus_one(self, c: Any) -> Any:
        plain = self._setting.encoder.encode(1.0, self._scale)
        plain = self._setting.evaluator.mod_switch_to(plain, c.parms_id())
        return self._setting.evaluator.add_plain(c, plain)

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage and the value of the all-one polynomial."""
        stages, values = self._evaluate(x)
        return stages, float(values[0])

    def values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The polynomial of up to `slots` numbers at once."""
        return self._evaluate(x)[1][: len(x)]

    def _evaluate(
        self, x: float | NDArray[np.float64]
    ) -> tuple[dict[str, float], NDArray[np.float64]]:
        setting, clock, n = self._setting, Stopwatch(), self._degree
        encrypted = setting.encryptor.encrypt(setting.encoder.encode(x, self._scale))
        clock("Enc")
        powers = {1: encrypted}
        for power in range(2, min(n, _BABY) + 1):
            powers[power] = self._product(powers[(power + 1) // 2], powers[power // 2])
        blocks = []
        for start in range(0, n + 1, _BABY):
            top = min(_BABY - 1, n - start)
            if start > _BABY and start not in powers:
                half = start // 2 // _BABY * _BABY
                powers[start] = self._product(powers[start - half], powers[half])
            if top == 0:
                # The monomial alone.
                blocks.append(powers[start])
                continue
            block = powers[1] if top == 1 else self._sum(*(powers[i] for i in range(1, top + 1)))
            block = self._plus_one(block)
            blocks.append(block if start == 0 else self._product(powers[start], block))
        total = blocks[0] if len(blocks) == 1 else self._sum(*blocks)
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
        self._relin = self._setting.keys.create_relin_keys()
        self._degree = degree
        # The sum of n + 1 terms of this precision stays below t / 2.
        self.precision = max(1, int((self.PLAIN_MODULUS / 2 / (degree + 1)) ** (1 / degree)))

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage and the value of the all-one polynomial."""
        setting, clock, n, p = self._setting, Stopwatch(), self._degree, self.precision
        encoder, evaluator = setting.encoder, setting.evaluator

        def constant(value: int) -> Any:
            return encoder.encode(np.full(8192, value, dtype=np.int64))

        encrypted = setting.encryptor.encrypt(constant(round(x * p)))
        clock("Enc")
        powers = {1: encrypted}
        for power in range(2, n + 1):
            a, b = powers[(power + 1) // 2], powers[power // 2]
            powers[power] = evaluator.square(a) if a is b else evaluator.multiply(a, b)
            evaluator.relinearize_inplace(powers[power], self._relin)
        # Every term to the precision of the highest.
        terms = [
            c if power == n else evaluator.multiply_plain(c, constant(p ** (n - power)))
            for power, c in powers.items()
        ]
        total = evaluator.add_plain(evaluator.add_many(terms), constant(p**n))
        clock("Eval")
        value = encoder.decode(setting.decryptor.decrypt(total))[0]
        clock("Dec")
        self.noise_budget = setting.decryptor.invariant_noise_budget(total)
        return clock.milliseconds, float(value) / p**n
