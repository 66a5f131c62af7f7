"""Ranges, bounds and errors of BFV, BGV and CKKS with multiplication, and what of them travels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc._native import primes_of_bits
from tests import reading
from tests.second_implementation import wire
from tests.vector_cases import SCHEMES, Keys, close, precise_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@pytest.fixture(scope="module")
def precise() -> Keys:
    return precise_keys()


def different_data(scheme: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two vectors of one shape that have nothing in common, not even their largest number."""
    if scheme == "ckks":
        return np.full(5, 1e-9), np.linspace(-1, 1, 5)
    return np.zeros(5, dtype=np.int64), np.array([1, -1, 100, -90, 7])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_on_the_wire_but_residues_depends_on_the_data(scheme: str) -> None:
    """Encryptions of different data differ in the seed and the residues alone, in every form.

    So do results of one program on them: numbers that travel are functions of the program and of
    what was declared. Operands in the clear show their size up to a power of two and no more.
    """
    params = hesc.Params.recommended(scheme, encoding="vectors")
    secret, public = hesc.keygen(params, rotations=[1, -4])
    bound = 1 if scheme == "ckks" else 100

    def forms(data: NDArray[Any], operand: NDArray[Any]) -> list[bytes]:
        x = public.encrypt(data, bound=bound)
        y = reading.vector(public, secret.encrypt_to_bytes(data, bound=bound), len(data))
        results = [x, y, x + y, x * y, x * operand, x + operand, x.rotate(1)]
        return [result.to_bytes() for result in results]

    one, other = different_data(scheme)
    operands: tuple[NDArray[Any], NDArray[Any]]
    if scheme == "ckks":
        # Of one size up to a power of two.
        operands = (np.linspace(-1, 1, 5), np.array([0.6, 0.1, 0.0, -0.7, 0.2]))
    else:
        rng = np.random.default_rng(5)
        operand = rng.integers(-9, 10, 5)
        # The norms of both are the same.
        operands = (operand, -operand)
    for first, second in zip(forms(one, operands[0]), forms(other, operands[1]), strict=True):
        heads = [wire.vector_ciphertext_head(data) for data in (first, second)]
        assert heads[0] == heads[1]
        assert len(first) == len(second)
    seeded = [secret.encrypt_to_bytes(data) for data in (one, other)]
    heads = [wire.seeded_head(data) for data in seeded]
    assert heads[0] == heads[1]


def test_bounds_are_declared_and_never_found_out() -> None:
    params = hesc.Params.recommended("ckks", encoding="vectors")
    assert params.bound == 1.0
    secret, public = hesc.keygen(params, products=False)
    for encrypt in (public.encrypt, secret.encrypt_to_bytes):
        with pytest.raises(hesc.OutOfRangeError, match="bound="):
            encrypt([0.5, 1.5])
        with pytest.raises(hesc.OutOfRangeError, match="bound="):
            encrypt([1 + 1j])
        for wrong in (0.0, -1.0):
            with pytest.raises(hesc.ParameterError, match="bound"):
                encrypt([0.0], bound=wrong)
        for wrong in (np.inf, np.nan):
            with pytest.raises(hesc.OutOfRangeError, match="bound is a finite number"):
                encrypt([0.0], bound=wrong)
        # A bound beyond the modulus is refused before anything is encrypted.
        with pytest.raises(hesc.NoiseBudgetError):
            encrypt([1.0], bound=1e40)
    for wrong in (1e40, 1e150, np.inf, np.nan):
        with pytest.raises(hesc.ParameterError, match="bound"):
            hesc.Params.preset("ckks_8192", bound=wrong)
    close(secret.decrypt(public.encrypt([0.5, 1.5], bound=2.0)), [0.5, 1.5])
    # Numbers of the unit circle may be rounded outwards.
    circle = np.exp(1j * np.arange(100))
    np.testing.assert_allclose(secret.decrypt(public.encrypt(circle)), circle, atol=1e-5)
    wide = hesc.Params.recommended("ckks", encoding="vectors", bound=8.0)
    assert wide != params
    again = hesc.Params.from_bytes(wide.to_bytes())
    assert (again, again.name, again.bound) == (wide, "ckks_8192", 8.0)
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(hesc.ParameterError, match="bound"):
            hesc.Params.recommended("ckks", encoding="vectors", bound=wrong)
    with pytest.raises(hesc.ParameterError, match="bound"):
        hesc.Params.recommended("bfv", encoding="vectors", bound=2.0)


def test_operands_of_ckks_are_numbers(precise: Keys) -> None:
    secret, public = precise
    x = public.encrypt([0.5, -0.25])
    for large in (x + 10**20, 10**20 - x):
        np.testing.assert_allclose(secret.decrypt(large), [1e20, 1e20])
        assert not large.complex_values
    for wrong in ("a", None, 10**400, [object()]):
        calls: list[Callable[[Any], Any]] = [
            lambda y: x + y,
            lambda y: x - y,
            lambda y: y - x,
            lambda y: x * y,
        ]
        for call in calls:
            with pytest.raises(hesc.OutOfRangeError):
                call(wrong)
    # One real column times one number is real.
    column = hesc.vectors.Matrix(public.params, [[0.5], [1.0], [2.0]]) @ public.encrypt([0.5])
    assert secret.decrypt(column).dtype == np.float64
    close(secret.decrypt(column), [0.25, 0.5, 1.0])


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_integers_come_back_or_are_refused(scheme: str) -> None:
    params = hesc.Params.recommended(scheme, encoding="vectors")
    secret, public = hesc.keygen(params, rotations=[1])
    smallest, largest = params.integer_range
    assert params.plain_modulus == largest - smallest + 1
    ends = [smallest, -1, 0, largest]
    close(secret.decrypt(public.encrypt(ends)), ends)
    close(
        secret.decrypt(
            hesc.EncryptedVector.from_bytes(public.params, secret.encrypt_to_bytes(ends), 4)
        ),
        ends,
    )
    one = public.encrypt([1, 1], bound=1)
    close(secret.decrypt(one * largest), [largest, largest])
    assert params.plain_modulus is not None
    calls: list[Callable[[Any], Any]] = [
        lambda wrong: public.encrypt([wrong]),
        lambda wrong: secret.encrypt_to_bytes([wrong]),
        lambda wrong: public.encrypt(np.array([wrong])),
        lambda wrong: one * wrong,
        lambda wrong: one + wrong,
        lambda wrong: one - [wrong, 0],
        lambda wrong: one * [0, wrong],
        lambda wrong: one.polynomial([0, wrong]),
        lambda wrong: hesc.vectors.Matrix(params, [[wrong]]),
    ]
    for wrong in (largest + 1, smallest - 1, params.plain_modulus - 1, 2**63, 2**64 - 5, 2**70):
        for call in calls:
            with pytest.raises(hesc.OutOfRangeError, match="integers"):
                call(wrong)
    with pytest.raises(hesc.ParameterError, match="integers"):
        _ = hesc.Params.recommended("ckks", encoding="vectors").integer_range


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_products_with_ones_own_image_are_right_or_refused(scheme: str) -> None:
    """The constant coefficient of `e(X) e(1/X)` is the sum of all squares of the noise."""
    params = hesc.Params.recommended(scheme, encoding="vectors", ring_degree=4096)
    secret, public = hesc.keygen(params, conjugate=True)
    smallest, largest = params.integer_range
    values = np.random.default_rng(1).integers(smallest, largest + 1, params.slot_count)
    x = public.encrypt(values, wrap=True)
    expected = values.astype(object) * np.roll(values, params.slot_count // 2)
    found = x * x.swap_rows()
    factor = 1
    try:
        while True:
            wrapped = (expected * factor - smallest) % (largest - smallest + 1) + smallest
            close(secret.decrypt(found), wrapped.astype(np.int64))
            assert found.noise_budget <= secret.noise_budget(found)
            found, factor = found * 5, factor * 5
    except hesc.NoiseBudgetError:
        assert found.noise_budget < np.log2(8)


class Exact:
    """What an encrypted vector computes, in the clear."""

    def __init__(self, values: NDArray[np.complex128]) -> None:
        self.values = values

    def __add__(self, other: Any) -> Exact:
        return Exact(self.values + getattr(other, "values", other))

    def __sub__(self, other: Any) -> Exact:
        return Exact(self.values - getattr(other, "values", other))

    def __mul__(self, other: Any) -> Exact:
        return Exact(self.values * getattr(other, "values", other))

    def rotate(self, steps: int) -> Exact:
        return Exact(np.roll(self.values, -steps))


PROGRAMS: list[Callable[[Any, Any, NDArray[np.complex128]], Any]] = [
    lambda a, b, _: a + b,
    lambda a, b, _: a - b,
    lambda a, b, _: a * b,
    lambda a, _, plain: a * plain,
    lambda a, _, plain: a + plain,
    lambda a, *_: a * 0.3,
    lambda a, *_: a.rotate(1),
]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6, 1e9])
def test_errors_of_ckks_stay_within_their_bound(precise: Keys, size: float) -> None:
    """Random programs on numbers of any size, in both forms of encryption, encoding included."""
    secret, public = precise
    slots = secret.params.slot_count
    rng = np.random.default_rng(int(size))

    def numbers(most: float) -> NDArray[np.complex128]:
        found = most * rng.uniform(0, 1, slots) * np.exp(2j * np.pi * rng.uniform(0, 1, slots))
        # Alike, or one large one among small ones.
        sizes = np.where(np.arange(slots) == 3, 1, 1e-6) if rng.integers(2) else np.ones(slots)
        return np.asarray(found * sizes)

    for _ in range(6):
        exact = [numbers(size) for _ in range(3)]
        sent = secret.encrypt_to_bytes(exact[0], bound=size)
        pool = [reading.vector(public, sent, slots)]
        pool += [public.encrypt(x, bound=size) for x in exact[1:]]
        for _ in range(8):
            i, j = rng.integers(len(pool), size=2)
            plain = numbers(rng.choice([1e-2, 1.0, 1e3]))
            program = PROGRAMS[rng.integers(len(PROGRAMS))]
            try:
                found = program(pool[i], pool[j], plain)
            except hesc.NoiseBudgetError:
                continue
            expected = program(Exact(exact[i]), Exact(exact[j]), plain).values
            pool.append(found)
            exact.append(expected)
        for vector, expected in zip(pool, exact, strict=True):
            assert np.max(np.abs(secret.decrypt(vector) - expected)) <= vector.error_bound


@pytest.mark.parametrize("scheme", ["bfv", "bgv", "ckks"])
def test_primes_of_a_chain_may_differ_in_size(scheme: str) -> None:
    """SEAL's usual chain has primes of 60 and of 40 bits: digits of one are lifted to the other."""
    large, special, *small = primes_of_bits(16384, [60, 60, 40, 40])
    exact = scheme != "ckks"
    params = hesc.Params.lattice(
        scheme,
        8192,
        [large, *small],
        special_moduli=[special],
        plain_modulus=primes_of_bits(16384, [20])[0] if exact else None,
        scale=None if exact else 2.0**40,
    )
    secret, public = hesc.keygen(params, rotations=[1], conjugate=True)
    values = np.array([3, -2] if exact else [0.5, -0.25])
    x = public.encrypt(values, bound=3)
    for result, expected in [
        (x * x, values**2),
        (x.rotate(1), values[::-1]),
        (x.polynomial([1, 2, 1]), (1 + values) ** 2),
    ]:
        error = np.abs(secret.decrypt(result) - expected)
        assert np.all(error <= (0 if exact else result.error_bound))


@pytest.mark.parametrize("standard", ["insecure", "hestd2018"])
def test_sets_below_the_standard_asked_for_are_refused_when_read(standard: str) -> None:
    if standard == "insecure":
        special, *others = primes_of_bits(2048, [30] * 3)
        params = hesc.Params.lattice(
            "bgv", 1024, others, special_moduli=[special], plain_modulus=257, assurance=standard
        )
    else:
        params = hesc.Params.preset("hestd2018_bfv_4096")
    data = params.to_bytes()
    with pytest.raises(hesc.SecurityError):
        hesc.Params.from_bytes(data)
    assert hesc.Params.from_bytes(data, assurance=standard) == params


def test_scales_that_leave_no_number_are_refused() -> None:
    """Numbers so small that their size times an infinite scale is no number are no exception."""
    special, first, *others = primes_of_bits(512, [50] * 2 + [40] * 10)
    params = hesc.Params.lattice(
        "ckks",
        256,
        [first, *others],
        special_moduli=[special],
        scale=2.0**100,
        assurance="insecure",
    )
    secret, public = hesc.keygen(params)
    x = public.encrypt([1e-300], bound=1e-200)
    for _ in range(4):
        assert np.all(np.abs(secret.decrypt(x)) <= x.error_bound)
        assert np.isfinite(x.noise_budget)
        last = x
        try:
            x = x * x
        except hesc.NoiseBudgetError:
            break
    with pytest.raises(hesc.NoiseBudgetError):
        last * last
