"""What programs on vectors of BFV, BGV and CKKS keep, check and begin with, and what is refused."""

from __future__ import annotations

from functools import cache, partial
from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import hesc
from tests import reading
from tests.laws.programs import FLAG, OPERAND, Programs, between, one_of, operation
from tests.vector_party import Party, party

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc.params import VectorParams


class Kept(NamedTuple):
    """A vector, what it should decrypt to, and what it did decrypt to."""

    vector: hesc.EncryptedVector
    values: Any
    found: Any


@cache
def strangers(params: VectorParams) -> Party:
    """Another key pair of the same set."""
    return Party(params, *hesc.keygen(params, rotations=[1, 2], conjugate=True))


class VectorProgram(Programs[Kept]):
    """Vectors of one key pair, encrypted in all ways there are; strangers' and bad ones refused."""

    scheme = "bfv"
    ring: tuple[int, int] = (256, 9)
    """Ring degree and levels."""
    plain_bits = 20
    wraps = True
    """Whether integers are meant modulo the plaintext modulus; they have bounds otherwise."""

    def start(self) -> None:
        self.party = party(self.scheme, *self.ring, self.plain_bits)
        self.row = self.ring[0] // 2
        self.ckks = self.scheme == "ckks"
        self.encrypted(int(self.rng.integers(1, 21)), seeded=False, z=False)
        self.encrypted(1, seeded=True, z=True)

    def numbers(self, shape: Any, *, z: bool) -> Any:
        found = self.party.numbers(self.rng, shape)
        if z and self.ckks:
            found = found + 1j * self.party.numbers(self.rng, shape)
        if not self.wraps and self.chance(0.3):
            # Sums and products next to the largest integer, and beyond.
            largest = self.party.params.integer_range[1]
            sizes = (1, 90, isqrt(largest), isqrt(largest) + 1, largest // 2, largest)
            most = sizes[int(self.rng.integers(len(sizes)))]
            found = np.asarray(self.rng.integers(-most, most + 1, shape))
        return found

    def terms(self, numbers: Any) -> dict[str, Any]:
        """What an encryption declares: no smaller bound holds for the numbers."""
        if self.ckks:
            return {}
        most = max(1, int(np.max(np.abs(numbers), initial=0)))
        return {"wrap": True} if self.wraps else {"bound": most}

    def encryption(self, numbers: Any) -> hesc.EncryptedVector:
        return self.party.public.encrypt(numbers, **self.terms(numbers))

    def seeded(self, numbers: Any) -> hesc.EncryptedVector:
        data = self.party.secret.encrypt_to_bytes(numbers, **self.terms(numbers))
        return reading.vector(self.party.public, data)

    def reduced(self, numbers: Any) -> Any:
        """Exact results without bounds are known modulo the plaintext modulus."""
        t = self.party.params.plain_modulus
        return numbers if t is None or not self.wraps else (numbers + t // 2) % t - t // 2

    def compared(self, compute: Any, expect: Any, *operands: Kept) -> None:
        """A step of the program; nothing is kept if both sides refuse it, or the room has ended."""
        try:
            # What doubles cannot hold no ciphertext does: it has to be refused.
            with np.errstate(over="ignore", invalid="ignore"):
                expected = np.atleast_1d(expect())
        except ValueError:
            self.refused(compute, hesc.ShapeError)
            self.unchanged(*operands)
            return
        try:
            vector = compute()
        except hesc.NoiseBudgetError:
            self.counts["no room"] += 1
            self.unchanged(*operands)
            return
        except hesc.OutOfRangeError:
            assert not self.wraps
            self.counts["no range"] += 1
            self.unchanged(*operands)
            return
        self.party.check(vector, expected)
        found = self.party.secret.decrypt(vector)
        if not self.wraps:
            np.testing.assert_array_equal(found, expected)
            assert vector.bound is not None
            assert np.max(np.abs(expected)) <= vector.bound <= self.party.params.integer_range[1]
        assert found.dtype == (np.int64 if not self.ckks else found.dtype)
        assert np.iscomplexobj(found) == vector.complex_values
        self.keep(Kept(vector, self.reduced(expected), found))
        if self.chance(0.1):
            self.unchanged(*operands)

    def unchanged(self, *operands: Kept) -> None:
        for kept in operands:
            np.testing.assert_array_equal(self.party.secret.decrypt(kept.vector), kept.found)

    def encrypted(self, length: int, *, seeded: bool, z: bool) -> None:
        x = self.numbers(length, z=z)
        self.compared(partial(self.seeded if seeded else self.encryption, x), lambda: x)

    @operation(length=one_of(1, 1, 1, 2, 3, 5, 6, 7, 8, 11, 16, 19, 20), seeded=FLAG, z=FLAG)
    def encrypt(self, length: int, seeded: bool, z: bool) -> None:
        self.encrypted(length, seeded=seeded, z=z)

    @operation(rows=one_of(0, 1, 2), more=one_of(-28, -1, 0, 1, 33), seeded=FLAG)
    def long_vectors(self, rows: int, more: int, seeded: bool) -> None:
        """Lengths up to the slots, and beyond."""
        slots, length = self.party.params.slot_count, max(0, rows * self.row + more)
        if 1 <= length <= slots:
            self.encrypted(length, seeded=seeded, z=False)
            return
        x = self.numbers(length, z=False)
        party = self.party
        encrypt = party.secret.encrypt_to_bytes if seeded else party.public.encrypt
        self.refused(partial(encrypt, x), hesc.ShapeError)

    @operation(beyond=FLAG, seeded=FLAG, sign=one_of(-1, 1))
    def at_the_bound(self, beyond: bool, seeded: bool, sign: int) -> None:
        """The largest numbers there may be are right, and none beyond are taken."""
        p = self.party
        if self.ckks:
            x = np.array([0.5, sign * p.params.bound * (1 + 1e-9 * beyond), -1])
        else:
            smallest, largest = p.params.integer_range
            x = np.array([1, (largest + beyond) if sign > 0 else (smallest - beyond), 0])
        calls = (partial(self.encryption, x), partial(self.seeded, x))
        if beyond:
            self.refused(calls[seeded], hesc.OutOfRangeError)
        else:
            self.compared(calls[seeded], lambda: x)

    @operation(exponent=between(-6, 9), seeded=FLAG)
    def declared(self, exponent: int, seeded: bool) -> None:
        """CKKS: bounds that an encryption declares, far above and below the set's."""
        if not self.ckks:
            return
        bound, p = 10.0**exponent, self.party
        x = bound * self.rng.uniform(-1, 1, 5)
        if seeded:
            self.compared(
                lambda: reading.vector(p.public, p.secret.encrypt_to_bytes(x, bound=bound)),
                lambda: x,
            )
        else:
            self.compared(lambda: p.public.encrypt(x, bound=bound), lambda: x)
        self.refused(lambda: p.public.encrypt(1.01 * x / abs(x), bound=0.5), hesc.OutOfRangeError)

    @operation(
        a=OPERAND,
        kind=one_of("nan", "inf", "beyond", "text", "fraction", "masked"),
        how=one_of("encrypt", "+", "*", "polynomial"),
    )
    def no_numbers(self, a: int, kind: str, how: str) -> None:
        v, *_ = kept = self.pick(a)
        bad: dict[str, Any] = {
            "nan": float("nan"),
            "inf": float("inf"),
            "beyond": 10**30 if not self.ckks else float("-inf"),
            "text": "1",
            "fraction": 0.5 if not self.ckks else float("nan"),
            "masked": np.ma.masked_array([1.0, 2.0], [False, True]),
        }
        number = bad[kind]
        p = self.party
        numbers = number if kind == "masked" else np.atleast_1d(number)
        calls: dict[str, Callable[[], Any]] = {
            "encrypt": lambda: p.public.encrypt(numbers),
            "+": lambda: v + number,
            "*": lambda: v * number,
            "polynomial": lambda: v.polynomial(numbers),
        }
        self.refused(calls[how], (hesc.OutOfRangeError, hesc.ShapeError))
        self.unchanged(kept)

    @operation(a=OPERAND, level=between(0, 9))
    def travel(self, a: int, level: int) -> None:
        v, x, _ = kept = self.pick(a)
        if not 1 <= level <= v.level:
            self.refused(lambda: v.mod_switch_to(level), hesc.ShapeError)
            return
        self.compared(
            lambda: reading.vector(self.party.public, v.mod_switch_to(level).to_bytes(), len(x)),
            lambda: x,
            kept,
        )
        self.refused(
            lambda: reading.vector(self.party.public, v.to_bytes(), len(x) + 1), hesc.ShapeError
        )

    @operation(a=OPERAND, how=one_of("+", "-", "*", "dot", "decrypt", "rotate", "relin"))
    def other_keys(self, a: int, how: str) -> None:
        v, x, _ = kept = self.pick(a)
        other = strangers(self.party.params)
        numbers = self.numbers(len(x), z=False)
        w = other.public.encrypt(numbers, **self.terms(numbers))
        # The vector, with keys of a stranger.
        mixed = hesc.EncryptedVector(v.params, v.native, len(x), keys=other.public)
        calls: dict[str, Callable[[], Any]] = {
            "+": lambda: v + w,
            "-": lambda: w - v,
            "*": lambda: v * w,
            "dot": lambda: v.dot(w),
            "decrypt": lambda: other.secret.decrypt(v),
            "rotate": lambda: mixed.rotate(1),
            "relin": lambda: mixed * mixed,
        }
        if how == "rotate" and (len(x) < 2 or len(x) > 2):
            return
        if how == "dot" and len(x) > self.row:
            return
        # A vector without room for a product may be refused for that, and large numbers for theirs.
        worn = () if how in ("+", "-", "decrypt") else (hesc.NoiseBudgetError,)
        large = () if self.wraps else (hesc.OutOfRangeError,)
        self.refused(calls[how], (hesc.KeyMismatchError, *worn, *large))
        self.unchanged(kept)

    @operation(a=OPERAND, how=one_of("dot", "times", "relin", "galois", "shared"))
    def missing_keys(self, a: int, how: str) -> None:
        """Keys that were not made, and what is not to be shared, are refused by name."""
        v, x, _ = kept = self.pick(a)
        p = self.party
        vector = reading.vector(p.public.only(), v.to_bytes())
        calls: dict[str, Callable[[], Any]] = {
            "dot": lambda: vector.dot(vector),
            "times": lambda: self.numbers((2, len(x)), z=False) @ vector,
            "relin": lambda: vector * vector,
            "galois": vector.conjugate,
            "shared": lambda: p.secret.decrypt_shared(v, expected=v, answers=1),
        }
        if how == "times" and not 2 <= len(x) <= self.row:
            return
        errors: list[type[Exception]] = [hesc.ParameterError]
        if how in ("times", "dot"):
            # The room for a product with a mask or a matrix is looked at before the keys.
            errors.append(hesc.NoiseBudgetError)
        if not self.wraps:
            errors.append(hesc.OutOfRangeError)
        self.refused(calls[how], tuple(errors))
        self.unchanged(kept)

    @operation(a=OPERAND)
    def still(self, a: int) -> None:
        self.unchanged(self.pick(a))
        self.agreed()
