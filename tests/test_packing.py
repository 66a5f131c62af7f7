"""Slots of odd rings: packed, unpacked, spread, gathered; what they cannot do is refused."""

from __future__ import annotations

import base64
import json
import pickle
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc import packing
from hesc.packing.secret import decrypt_slots, encrypt_slots
from tests import reading
from tests.second_implementation import cyclotomic, wire
from tests.vector_cases import stored_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

STORED = json.loads((Path(__file__).parents[1] / "vectors" / "slots.json").read_text())
Keys = tuple[hesc.SecretKey, hesc.PublicKeys]
# Index, plaintext modulus: a Fermat index, a prime one, a composite one, odd moduli and a power.
SETS = [(255, 2), (127, 2), (341, 2), (255, 7), (255, 8), (51, 1024)]


def small(index: int, plain_modulus: int, **keys: Any) -> Keys:
    params = hesc.Params.cyclotomic(
        index, [45] * 4, [50], plain_modulus=plain_modulus, assurance="insecure"
    )
    return hesc.keygen(params, unpacking=True, **keys)


@pytest.fixture(scope="module", params=SETS, ids=str)
def keys(request: pytest.FixtureRequest) -> Keys:
    return small(*request.param, spreading=True, slot_rotations=[(0, 1), (0, -1)])


@pytest.fixture(scope="module")
def bits() -> Keys:
    return small(255, 2, spreading=True, slot_rotations=[(0, 1)])


def messages(keys: Keys, seed: int = 0) -> NDArray[np.int64]:
    params = keys[0].params
    rng = np.random.default_rng(seed)
    assert params.plain_modulus is not None
    assert params.slot_degree is not None
    return rng.integers(0, params.plain_modulus, (params.slot_count, params.slot_degree))


def modulo(keys: Keys, values: Any) -> Any:
    return np.asarray(values) % keys[0].params.plain_modulus


def test_messages_come_back(keys: Keys) -> None:
    secret, public = keys
    rows = messages(keys)
    for content in (packing.NORMAL, packing.POWERS):
        for data in (
            encrypt_slots(secret, rows, content=content),
            encrypt_slots(secret, rows.reshape(-1), content=content),
            packing.encrypt(public, rows, content=content).to_bytes(),
        ):
            slots = reading.slots(public, data)
            assert slots.content == content
            np.testing.assert_array_equal(decrypt_slots(secret, slots), rows)
            assert slots.noise_budget <= secret.noise_budget(slots)
    short = reading.slots(public, encrypt_slots(secret, rows.reshape(-1)[:3]))
    np.testing.assert_array_equal(
        decrypt_slots(secret, short).reshape(-1)[:3], rows.reshape(-1)[:3]
    )
    assert not decrypt_slots(secret, short).reshape(-1)[3:].any()
    numbers = reading.slots(public, encrypt_slots(secret, rows[:, 0] % 2, content=packing.NUMBERS))
    np.testing.assert_array_equal(modulo(keys, decrypt_slots(secret, numbers)), rows[:, 0] % 2)


def test_every_level_takes_messages(bits: Keys) -> None:
    secret, public = bits
    rows = messages(bits)
    sizes = []
    for level in range(1, len(secret.params.levels) + 1):
        data = encrypt_slots(secret, rows, level=level)
        slots = reading.slots(public, data)
        assert slots.level == level
        np.testing.assert_array_equal(decrypt_slots(secret, slots), rows)
        sizes.append(len(data))
    assert sizes == sorted(sizes)
    with pytest.raises(hesc.OutOfRangeError, match="level"):
        encrypt_slots(secret, rows, level=9)


def test_unpacked_coordinates_are_numbers_that_compute(keys: Keys) -> None:
    secret, public = keys
    rows = messages(keys, 1)
    for content in (packing.NORMAL, packing.POWERS):
        slots = reading.slots(public, encrypt_slots(secret, rows, content=content))
        columns = slots.unpack()
        assert len(columns) == rows.shape[1]
        for column, expected in zip(columns, rows.T, strict=True):
            assert column.content == packing.NUMBERS
            np.testing.assert_array_equal(modulo(keys, decrypt_slots(secret, column)), expected)
        last = rows.shape[1] - 1
        some = slots.unpack([last, 0], level=2)
        assert [column.level for column in some] == [2, 2]
        for column, at in zip([*some, slots.extract(last)], [last, 0, last], strict=True):
            np.testing.assert_array_equal(modulo(keys, decrypt_slots(secret, column)), rows[:, at])
        a, b = columns[0], columns[-1]
        x, y = rows[:, 0], rows[:, last]
        for found, expected in [
            (a + b, x + y),
            (a - b, x - y),
            (-a, -x),
            (a * b, x * y),
            (a.square(), x * x),
            (a + 1, x + 1),
            (1 - a, 1 - x),
            (a - 1, x - 1),
            (packing.sum_of_products([(a, b), (a, a)], [b]), x * y + x * x + y),
        ]:
            np.testing.assert_array_equal(
                modulo(keys, decrypt_slots(secret, found)), modulo(keys, expected)
            )
            assert found.noise_budget <= secret.noise_budget(found)
        half = x % 2
        np.testing.assert_array_equal(
            modulo(keys, decrypt_slots(secret, a * half + half)), modulo(keys, x * half + half)
        )


def test_packed_answers_have_the_columns(keys: Keys) -> None:
    secret, public = keys
    rows = messages(keys, 2)
    columns = reading.slots(public, encrypt_slots(secret, rows)).unpack()
    packed = packing.pack([columns[0], *(c.mod_switch_to(2) for c in columns[1:])])
    assert packed.content == packing.POWERS
    assert packed.level == (2 if len(columns) > 1 else columns[0].level)
    found = decrypt_slots(
        secret, packing.EncryptedSlots.from_bytes(public.params, packed.to_bytes())
    )
    np.testing.assert_array_equal(found, rows)
    again = packed.unpack([0])[0]
    np.testing.assert_array_equal(modulo(keys, decrypt_slots(secret, again)), rows[:, 0])


@pytest.mark.parametrize("plain_modulus", [2, 4, 8, 9])
def test_numbers_are_given_from_either_side(plain_modulus: int) -> None:
    secret, public = small(85, plain_modulus)
    t = plain_modulus
    for number in range(-(t // 2), t):
        slots = packing.encrypt(public, [number] * 3, content=packing.NUMBERS)
        assert decrypt_slots(secret, slots + number)[:3].tolist() == [2 * number % t] * 3
        assert decrypt_slots(secret, number - slots)[0] == 0
    # Whatever else has the same residue is refused: it would act as another number.
    for number in (t, t + 1, 2 * t, *range(-2 * t, -(t // 2))):
        with pytest.raises(hesc.OutOfRangeError, match="numbers in slots"):
            packing.encrypt(public, [number], content=packing.NUMBERS)


def test_a_ring_of_one_slot_spreads_its_message() -> None:
    params = hesc.Params.cyclotomic(5, [40, 40], [44], assurance="insecure")
    secret, public = hesc.keygen(params, unpacking=True, spreading=True)
    found = {
        message: int(decrypt_slots(secret, slots)[0])
        for message, slots in packing.Spread(packing.encrypt(public, [1, 0, 1, 1]))
    }
    assert found == {0: 1, 1: 0, 2: 1, 3: 1}


def test_bits_have_the_operators_of_bits(bits: Keys) -> None:
    secret, public = bits
    rows = messages(bits, 6)
    a, b = reading.slots(public, encrypt_slots(secret, rows)).unpack([0, 1])
    x, y = rows[:, 0], rows[:, 1]
    for found, expected in [(a ^ b, x ^ y), (a & b, x & y), (a ^ 1, 1 - x), (1 & a, x)]:
        np.testing.assert_array_equal(decrypt_slots(secret, found), expected)
    assert decrypt_slots(secret, a.rotate(0)).tolist() == x.tolist()


def test_large_primes_have_normal_bases() -> None:
    make = hesc.Params.cyclotomic
    assert make(85, [45], [50], plain_modulus=1000003, assurance="insecure").slot_degree == 16


def test_messages_are_spread_and_gathered(keys: Keys) -> None:
    secret, public = keys
    rows = messages(keys, 3)
    spread = packing.Spread(reading.slots(public, encrypt_slots(secret, rows)), level=3)
    alone = dict(spread)
    assert sorted(alone) == list(range(len(spread))) == list(range(rows.size))
    flat = rows.reshape(-1)
    for message, slots in alone.items():
        assert modulo(keys, decrypt_slots(secret, slots)[0]) == flat[message]
    together = packing.gather((alone[k] for k in range(rows.size)), public)
    np.testing.assert_array_equal(decrypt_slots(secret, together), rows)
    few = decrypt_slots(secret, packing.gather([alone[5], alone[0]], public)).reshape(-1)
    np.testing.assert_array_equal(few[:2], flat[[5, 0]])
    assert not few[2:].any()
    column = reading.slots(public, encrypt_slots(secret, rows[:, 0] % 2, content=packing.NUMBERS))
    for message, slots in packing.Spread(column):
        assert modulo(keys, decrypt_slots(secret, slots)[0]) == rows[message, 0] % 2


def test_numbers_rotate_along_dimensions(keys: Keys) -> None:
    secret, public = keys
    params = secret.params
    numbers = messages(keys, 4)[:, 0] % 2
    slots = packing.encrypt(public, numbers, content=packing.NUMBERS)
    lengths = [dimension.length for dimension in params.dimensions]
    for steps in (1, -1):
        moved = modulo(keys, decrypt_slots(secret, slots.rotate(steps)))
        expected = np.roll(numbers.reshape(lengths), -steps, axis=0).reshape(-1)
        np.testing.assert_array_equal(moved, expected)
    np.testing.assert_array_equal(modulo(keys, decrypt_slots(secret, slots.frobenius())), numbers)


@pytest.mark.parametrize("index", [17, 119, 255])
def test_values_rotate_as_rows_or_not_at_all(index: int) -> None:
    """By whatever they are given: coordinates change along dimensions with a twist, of one map too.

    The rings have dimensions with a twist of 1, two of them, and with one of 2 beside none.
    """
    params = hesc.Params.cyclotomic(index, [45] * 2, [50], plain_modulus=2, assurance="insecure")
    lengths = [dimension.length for dimension in params.dimensions]
    rotations = [(axis, step) for axis in range(len(lengths)) for step in (1, -1)]
    secret, public = hesc.keygen(params, slot_rotations=rotations)
    rows = messages((secret, public), 7)
    moved = 0
    for content, given in (
        (packing.NUMBERS, rows[:, 0]),
        (packing.NORMAL, rows),
        (packing.POWERS, rows),
    ):
        slots = packing.encrypt(public, given, content=content)
        for axis, step in rotations:
            try:
                found = decrypt_slots(secret, slots.rotate(step, axis))
            except hesc.ParameterError:
                assert content != packing.NUMBERS
                continue
            along = given.reshape(*lengths, *given.shape[1:])
            expected = np.roll(along, -step, axis=axis).reshape(given.shape)
            np.testing.assert_array_equal(found, expected)
            moved += 1
    assert moved >= len(rotations)


def test_frobenius_maps_move_coordinates(keys: Keys) -> None:
    secret, public = keys
    rows = messages(keys, 5)
    slots = reading.slots(public, encrypt_slots(secret, rows))
    found = decrypt_slots(secret, slots.frobenius(2))
    np.testing.assert_array_equal(found, np.roll(rows, 2, axis=1))


def test_wrong_operands_are_refused(bits: Keys) -> None:
    # Types that checkers refuse.
    keygen: Any = hesc.keygen
    from_bytes: Any = hesc.PublicKeys.from_bytes
    secret, public = bits
    rows = messages(bits)
    packed = reading.slots(public, encrypt_slots(secret, rows))
    powers = reading.slots(public, encrypt_slots(secret, rows, content=packing.POWERS))
    numbers = packed.unpack([0])[0]
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: packed + powers, hesc.ParameterError, "unpack first"),
        (lambda: packed * powers, hesc.ParameterError, "unpack first"),
        (lambda: powers + packed, hesc.ParameterError, "unpack first"),
        (lambda: powers - packed, hesc.ParameterError, "unpack first"),
        (lambda: powers * packed, hesc.ParameterError, "unpack first"),
        (lambda: packing.sum_of_products([], [powers, packed]), hesc.ParameterError, "unpack"),
        (
            lambda: packing.sum_of_products([(numbers, powers)], [packed]),
            hesc.ParameterError,
            "unpack first",
        ),
        (lambda: packed.rotate(1), hesc.ParameterError, "unpack first"),
        (lambda: powers.rotate(1), hesc.ParameterError, "unpack first"),
        (powers.frobenius, hesc.ParameterError, "unpack first"),
        (numbers.unpack, hesc.ParameterError, "hold numbers already"),
        (lambda: numbers.extract(0), hesc.ParameterError, "hold numbers already"),
        (lambda: numbers.rotate(1, 7), hesc.ParameterError, "dimensions"),
        (lambda: numbers.rotate(5), hesc.ParameterError, r"slot_rotations=\[\(0, 5\)\]"),
        (lambda: packed.unpack([8]), hesc.ShapeError, r"0\.\.7"),
        (lambda: packed.unpack(level=9), hesc.OutOfRangeError, "level"),
        (lambda: packing.pack([packed]), hesc.ParameterError, "numbers"),
        (lambda: packing.pack([]), hesc.ParameterError, "nothing"),
        (lambda: packing.pack(numbers), hesc.ParameterError, "in a list"),  # type: ignore[arg-type]
        (lambda: packed.unpack(3), hesc.ParameterError, "in a list"),  # type: ignore[arg-type]
        (lambda: packing.Spread(packed, [99]), hesc.ShapeError, r"0\.\.7"),
        (lambda: packing.Spread(packed, level=77), hesc.OutOfRangeError, "level"),
        (lambda: packed ^ packed, TypeError, "bits"),
        (lambda: encrypt_slots(secret, [10**30]), hesc.OutOfRangeError, "64 bits"),
        (lambda: secret.noise_budget(3), hesc.ParameterError, "int"),  # type: ignore[arg-type]
        (lambda: packing.pack([numbers] * 9), hesc.ShapeError, "8 coordinates"),
        (lambda: packing.sum_of_products([]), hesc.ParameterError, "nothing"),
        (lambda: packing.gather([], public), hesc.ParameterError, "nothing"),
        (lambda: packing.gather([packed], public), hesc.ParameterError, "numbers"),
        (lambda: packing.Spread(numbers, [0]), hesc.ParameterError, "no coordinates"),
        (lambda: encrypt_slots(secret, [2]), hesc.OutOfRangeError, r"0\.\.1"),
        (lambda: encrypt_slots(secret, [-1]), hesc.OutOfRangeError, r"0\.\.1"),
        (lambda: encrypt_slots(secret, [0.5]), hesc.OutOfRangeError, "whole"),
        (lambda: encrypt_slots(secret, np.zeros(129, int)), hesc.ShapeError, "128"),
        (lambda: encrypt_slots(secret, np.zeros((17, 1), int)), hesc.ShapeError, "16 slots"),
        (lambda: encrypt_slots(secret, np.zeros((1, 9), int)), hesc.ShapeError, "of 8"),
        (lambda: encrypt_slots(secret, np.zeros((1, 1, 1), int)), hesc.ShapeError, "shape"),
        (lambda: encrypt_slots(secret, [1] * 17, content="numbers"), hesc.ShapeError, "16"),
        (
            lambda: encrypt_slots(secret, [1], content="bits"),
            hesc.ParameterError,
            "numbers, normal",
        ),
        (lambda: numbers + np.array([1, 0]), hesc.ShapeError, "16"),
        (lambda: public.encrypt([1]), hesc.ParameterError, "packing"),
        (lambda: reading.vector(public, packed.to_bytes()), hesc.ParameterError, "packing"),
        (lambda: reading.slots(public, packed.native.to_bytes()), hesc.WireError, "slots"),
        (lambda: bool(packed), TypeError, "decrypt"),
        (lambda: hesc.keygen(secret.params, rotations=[1]), hesc.ParameterError, "ring"),
        (lambda: keygen(secret.params, rotations=3), hesc.ParameterError, "help"),
        (lambda: keygen(secret.params, products=[]), hesc.ParameterError, "products"),
        (lambda: from_bytes(secret.params, {"public": 3}), hesc.ParameterError, "to_bytes"),
        (
            lambda: hesc.keygen(secret.params, slot_rotations=[(5, 1)]),
            hesc.HescError,
            "dim",
        ),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_missing_keys_are_named(bits: Keys) -> None:
    secret, full = bits
    rows = messages(bits)
    data = encrypt_slots(secret, rows)
    bare = full.only()
    packed = reading.slots(bare, data)
    cases: list[tuple[Callable[[], Any], str]] = [
        (packed.unpack, "unpacking=True"),
        (lambda: packed.extract(0), 'unpacking="extract"'),
        (lambda: packed * packed, "products=True"),
        (packed.frobenius, "unpacking=True"),
        (lambda: packing.Spread(packed), "spreading=True"),
        (lambda: packing.gather([packed], bare), "spreading=True"),
    ]
    for call, remedy in cases:
        with pytest.raises(hesc.ParameterError, match=remedy):
            call()
    few = hesc.keygen(secret.params, unpacking="extract")
    some = reading.slots(few[1], encrypt_slots(few[0], rows))
    np.testing.assert_array_equal(decrypt_slots(few[0], some.extract(3)), rows[:, 3])
    with pytest.raises(hesc.ParameterError, match="unpacking=True"):
        some.unpack()
    # Ciphertexts of other keys are refused before anything is computed.
    foreign = reading.slots(few[1], encrypt_slots(few[0], rows))
    with pytest.raises(hesc.KeyMismatchError):
        foreign + reading.slots(full, data)
    with pytest.raises(hesc.KeyMismatchError):
        packing.sum_of_products([(reading.slots(full, data), foreign)])
    with pytest.raises(hesc.KeyMismatchError):
        decrypt_slots(secret, foreign)


def test_indices_that_make_no_ring_are_refused() -> None:
    make = hesc.Params.cyclotomic
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: make(256, [45], [50]), "even"),
        (lambda: make(255, [45], [50], plain_modulus=3), "divisor 3"),
        (lambda: make(255, [45], [50], plain_modulus=14), "power of a prime"),
        (lambda: make(255, [45], [50], plain_modulus=2**30), "too large"),
        (lambda: make(255, [51], [52], assurance="insecure"), "51 bits"),
        (lambda: make(9, [45], [50], assurance="insecure"), "square"),
        (lambda: make(4369, [45, 45], [50]), "beyond"),
        (lambda: make(8191, [20], [50]), "prime"),
        (lambda: make(8191, [45], [], plain_modulus=3).slot_degree, "910 coordinates"),
        (lambda: hesc.Params.lattice("bgv", None, [97], special_moduli=[]), "either"),
        (lambda: hesc.Params.lattice("bgv", 1000, [97], special_moduli=[]), "power of two"),
    ]
    for call, message in cases:
        with pytest.raises(hesc.HescError, match=message):
            call()
    vectors = hesc.keygen(hesc.Params.preset("bgv_4096"))[0]
    with pytest.raises(hesc.ParameterError, match="odd index"):
        encrypt_slots(vectors, [1])


def test_slots_survive_pickling(bits: Keys) -> None:
    secret, public = bits
    rows = messages(bits)
    slots = pickle.loads(pickle.dumps(reading.slots(public, encrypt_slots(secret, rows))))  # noqa: S301
    np.testing.assert_array_equal(decrypt_slots(secret, slots), rows)
    assert "normal" in repr(slots)
    assert len(slots) == 16


@pytest.mark.parametrize("index", [31, 51, 85])
def test_second_implementation_reads_slots(index: int, tmp_path: Path) -> None:
    """Decryption from bytes, products and slots, all by definition in Python's integers."""
    params = hesc.Params.cyclotomic(index, [40, 40], [45], assurance="insecure")
    secret, public = hesc.keygen(params, unpacking=True, slot_rotations=[(0, 1)])
    secret.save(tmp_path / "key")
    n, t = params.ring_degree, 2
    ternary = wire.read_secret((tmp_path / "key").read_bytes(), n)
    key = cyclotomic.from_basis(list(ternary), index)
    levels = wire.level_moduli(params.to_bytes())

    def plaintext(slots: packing.EncryptedSlots) -> list[int]:
        head, parts = wire.read_ciphertext(slots.native.to_bytes(), n, levels)
        moduli = levels[head[1] - 1]
        modulus = int(np.prod([int(q) for q in moduli], dtype=object))
        phase = [0] * n
        for limb, q in enumerate(moduli):
            first, second = (cyclotomic.from_basis(list(part[limb]), index) for part in parts)
            product = cyclotomic.multiply(key, second, index)
            residues = cyclotomic.to_basis(
                [a + b for a, b in zip(first, product, strict=True)], index
            )
            lift = modulus // q * pow(modulus // q, -1, q)
            phase = [(x + r * lift) % modulus for x, r in zip(phase, residues, strict=True)]
        centred = [x - modulus if 2 * x > modulus else x for x in phase]
        return cyclotomic.from_basis([x % t for x in centred], index)

    def values(slots: packing.EncryptedSlots) -> list[list[int]]:
        return [cyclotomic.remainder(plaintext(slots), f, t) for f in polynomials]

    polynomials = cyclotomic.factors(index, t)
    assert len(polynomials) == params.slot_count
    rng = np.random.default_rng(index)
    rows = rng.integers(0, t, (params.slot_count, params.slot_degree or 1))
    packed = reading.slots(public, encrypt_slots(secret, rows))
    # A slot alone is a remainder alone: which belongs to which.
    factor_of = []
    for slot in range(params.slot_count):
        alone = np.zeros_like(rows)
        alone[slot, 0] = 1
        found = values(reading.slots(public, encrypt_slots(secret, alone)))
        others = [i for i, value in enumerate(found) if any(value)]
        assert len(others) == 1
        factor_of.append(others[0])
    assert sorted(factor_of) == list(range(params.slot_count))
    # Numbers are constants, wherever they come from.
    for column, expected in zip(packed.unpack(), rows.T, strict=True):
        found = values(column)
        for slot, number in enumerate(expected):
            assert found[factor_of[slot]] == [number] + [0] * (len(polynomials[0]) - 2)
    # Products are those of remainders.
    left, right = values(packed), values(packed.frobenius())
    product = values(packed * packed.frobenius())
    for f, a, b, c in zip(polynomials, left, right, product, strict=True):
        full = [0] * (2 * len(f))
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                full[i + j] += x * y
        assert cyclotomic.remainder(full, f, t) == c
        # The Frobenius map is the square.
        full = [0] * (2 * len(f))
        for i, x in enumerate(a):
            full[2 * i] += x
        assert cyclotomic.remainder(full, f, t) == b
    # Packed columns are coefficients of powers of X.
    columns = packed.unpack()
    found = values(packing.pack(columns))
    for slot, row in enumerate(rows):
        assert found[factor_of[slot]] == list(row)


@pytest.mark.parametrize("case", STORED, ids=lambda case: case["plain_modulus"])
def test_stored_vectors(case: dict[str, Any], tmp_path: Path) -> None:
    def stored(key: str) -> bytes:
        return base64.b64decode(case[key])

    rows = np.array(case["rows"])
    secret, public = stored_keys(case, tmp_path)
    packed = reading.slots(public, stored("packed"))
    assert packed.content == packing.NORMAL
    np.testing.assert_array_equal(decrypt_slots(secret, packed), rows)
    product = rows[:, 0] * rows[:, 1] % case["plain_modulus"]
    found = decrypt_slots(
        secret, packing.EncryptedSlots.from_bytes(public.params, stored("product"))
    )
    np.testing.assert_array_equal(found, product)
    powers = decrypt_slots(
        secret, packing.EncryptedSlots.from_bytes(public.params, stored("powers"))
    )
    np.testing.assert_array_equal(powers[:, :2], rows[:, :2])
    assert not powers[:, 2:].any()
    # The keys still do what they did.
    first, second = packed.unpack([0, 1])
    np.testing.assert_array_equal(decrypt_slots(secret, first * second), product)
    np.testing.assert_array_equal(
        decrypt_slots(secret, packing.encrypt(public, rows, content=packing.POWERS)), rows
    )
    np.testing.assert_array_equal(decrypt_slots(secret, first.rotate(1)), np.roll(rows[:, 0], -1))


def test_slots_on_the_wire_are_strict(bits: Keys) -> None:
    secret, public = bits
    data = encrypt_slots(secret, messages(bits))
    body = wire.open_frame(data, "slots")
    for flags in range(256):
        changed = wire.frame("slots", struct.pack("<B", flags) + body[1:])
        if flags in {4, 5, 6}:
            assert reading.slots(public, changed).content is not None
        else:
            with pytest.raises(hesc.WireError):
                reading.slots(public, changed)
    for wrong in (body[:-1], body + b"\0", b""):
        with pytest.raises(hesc.WireError):
            reading.slots(public, wire.frame("slots", wrong))
