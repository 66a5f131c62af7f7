"""Encrypted integers against numpy: every operator, random programs, every engine, and refusals."""

from __future__ import annotations

import operator
import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import hesc
from hesc import gates, integers, keygen
from hesc.integers.circuits import circuit_of, styles
from hesc.integers.kinds import common, kind_of
from hesc.integers.secret import decrypt_integers, decrypt_slotwise, encrypt_integers
from hesc.packing.secret import encrypt_slots
from hesc.params import Params, VectorParams
from hesc.planner import OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc.integers import Integers

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "//": operator.floordiv,
    "%": operator.mod,
}


def numbers(rng: np.random.Generator, dtype: str, count: int) -> Any:
    """Random numbers, small ones and the ends."""
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    info = np.iinfo(dtype)
    some = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    small = rng.integers(max(info.min, -3), 4, count).astype(dtype)
    ends = np.array([info.min, info.max, 0, 1, info.max - 1], dtype=dtype)
    return np.concatenate([some, small, rng.choice(ends, count)])[rng.permutation(3 * count)][
        :count
    ]


def in_the_clear(roots: list[Integers], leaves: list[Integers], given_numbers: list[Any]) -> Any:
    """What every way to make the circuit computes, which must be one."""
    words = [
        np.asarray(x).astype(np.int64 if x.dtype.kind == "i" else np.uint64) for x in given_numbers
    ]
    masks = [np.uint64((1 << leaf.kind.width) - 1) for leaf in leaves]
    inputs = [x.view(np.uint64) & mask for x, mask in zip(words, masks, strict=True)]
    found = None
    for style in styles(roots):
        values = circuit_of(roots, leaves, style)(*inputs)
        again = [
            (value.astype(np.uint64) << np.uint64(64 - root.kind.width)).view(np.int64)
            >> np.int64(64 - root.kind.width)
            if root.kind.signed
            else value
            for value, root in zip(values, roots, strict=True)
        ]
        again = [value.astype(root.kind.numpy) for value, root in zip(again, roots, strict=True)]
        if found is not None:
            for x, y in zip(found, again, strict=True):
                np.testing.assert_array_equal(x, y)
        found = again
    return found


def by_numpy(function: Callable[..., Any], *arrays: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*arrays)


@pytest.mark.parametrize("name", BINARY)
def test_operators_are_numpys(name: str) -> None:
    rng = np.random.default_rng(len(name) + ord(name[0]))
    function = BINARY[name]
    for first in TYPES:
        for second in TYPES:
            widths = kind_of(first).width + kind_of(second).width
            if name in {"*", "//", "%"} and (widths > 40 or "bool" in {first, second}):
                continue
            if "bool" in {first, second} and name in {"+", "-"} and first == second:
                continue
            a, b = numbers(rng, first, 64), numbers(rng, second, 64)
            if name in {"//", "%"}:
                b[b == 0] = 1
            leaves = [integers.Integers(kind_of(first)), integers.Integers(kind_of(second))]
            if {first, second} in (
                {"uint64", kind} for kind in ("int8", "int16", "int32", "int64")
            ):
                with pytest.raises(hesc.ParameterError, match="astype"):
                    function(*leaves)
                continue
            root = function(*leaves)
            expected = by_numpy(function, a, b)
            assert root.kind.numpy == expected.dtype, (first, second)
            (found,) = in_the_clear([root], leaves, [a, b])
            np.testing.assert_array_equal(found, expected, err_msg=f"{first} {name} {second}")


def test_divisions_by_zero_are_as_stated() -> None:
    for dtype, quotients in (("uint8", [255, 255, 255]), ("int8", [-1, -1, 0])):
        leaves = [integers.Integers(kind_of(dtype)) for _ in range(2)]
        a = np.array([0, 100, 200], dtype=np.uint8).astype(dtype)
        roots = list(divmod(leaves[0], leaves[1]))
        found = in_the_clear(roots, leaves, [a, np.zeros(3, dtype=dtype)])
        np.testing.assert_array_equal(found[0], np.array(quotients, dtype=dtype))
        np.testing.assert_array_equal(found[1], a)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int64", "uint64"])
def test_functions_are_numpys(dtype: str) -> None:
    rng = np.random.default_rng(5)
    a, b = numbers(rng, dtype, 90), numbers(rng, dtype, 90)
    places = rng.integers(0, 12, 90).astype(np.uint8)
    kind = kind_of(dtype)
    x, y, by = (integers.Integers(k) for k in (kind, kind, kind_of("uint8")))
    cases: list[tuple[Integers, Any]] = [
        (-x, -a),
        (~x, ~a),
        (abs(x), np.abs(a)),
        (+x, a),
        (x * 37, by_numpy(operator.mul, a, np.array(37, dtype))),
        (x // 4, a // 4),
        (x % 4, a % 4),
        (x**0, a**0),
        (x**3, by_numpy(lambda v: v**3, a)),
        (x.bit_count(), np.bitwise_count(a)),
        (integers.minimum(x, y), np.minimum(a, b)),
        (integers.maximum(x, y), np.maximum(a, b)),
        (integers.where(x < y, x, y + 1), np.where(a < b, a, by_numpy(operator.add, b, 1))),
        (integers.where(x < y, 7, x), np.where(a < b, np.array(7, dtype), a)),
        (x.astype("uint8"), a.astype("uint8")),
        (x.astype("int16"), a.astype("int16")),
        (x.astype("int64"), a.astype("int64")),
        (x.astype("bool"), a.astype(bool)),
        (x << 3, a << 3),
        (x >> 3, a >> 3),
        (x >> 200, a >> (kind.width - 1) if kind.signed else np.zeros_like(a)),
        (5 - x, by_numpy(operator.sub, np.array(5, dtype), a)),
        (x * 3, by_numpy(operator.mul, a, np.array(3, dtype))),
        (100 // integers.maximum(x, 1), 100 // np.maximum(a, 1)) if kind.width == 8 else (x, a),
        (integers.median([x, y, x + 1]), np.sort([a, b, by_numpy(operator.add, a, 1)], axis=0)[1]),
    ]  # fmt: skip
    for root, expected in cases:
        (found,) = in_the_clear([root], [x, y], [a, b])
        np.testing.assert_array_equal(found, expected, err_msg=repr(root))
    if dtype == "uint64":
        places = places.astype(dtype)
    for root, expected in ((x << by, a << places), (x >> by, a >> places)):
        assert root.kind.numpy == expected.dtype
        inside = places < root.kind.width
        (found,) = in_the_clear([root], [x, by], [a, places])
        np.testing.assert_array_equal(found[inside], expected[inside])
        # numpy leaves shifts beyond the width to the machine: zeros come here, or signs.
        rest = np.where(a < 0, -1, 0) if root.operation == "right" else np.zeros_like(a)
        np.testing.assert_array_equal(found[~inside], rest[~inside])


def test_numbers_in_the_clear_have_numpys_types() -> None:
    a = np.array([200, 3, 255], dtype=np.uint8)
    flag = np.array([True, False, True])
    x, f = integers.Integers(kind_of("uint8")), integers.Integers(kind_of("bool"))
    cases: list[tuple[Integers, Any]] = [
        (x + np.uint16(100), a + np.uint16(100)),
        (np.int16(3) * x, np.int16(3) * a),
        (x << np.uint16(4), a << np.uint16(4)),
        (x * 5, a * 5),
        (x + np.array(500, dtype=np.uint16), a + np.array(500, dtype=np.uint16)),
        (x ** np.uint16(2), a ** np.uint16(2)),
        (x ** np.int64(2), a ** np.int64(2)),
        (x**3, a**3),
        (x // 8, a // 8),
        (x % 8, a % 8),
        (100 % integers.maximum(x, 1), 100 % np.maximum(a, 1)),
        (1 << (x & 3), 1 << (a & 3)),
        (integers.minimum(x, np.int32(7)), np.minimum(a, np.int32(7))),
    ]
    for root, expected in cases:
        assert root.kind.numpy == expected.dtype, root
        (found,) = in_the_clear([root], [x], [a])
        np.testing.assert_array_equal(found, expected)
    for root, expected in ((f << 1, flag << 1), (f & 1, flag & 1), (f & True, flag & True)):
        assert root.kind.numpy == expected.dtype
        (found,) = in_the_clear([root], [f], [flag])
        np.testing.assert_array_equal(found, expected)
    by = integers.Integers(kind_of("uint32"))
    places = np.array([1, 70000, 2**31], dtype=np.uint32)
    (found,) = in_the_clear([x.astype("uint32") << by], [x, by], [a, places])
    assert found.tolist() == [400, 0, 0]
    calls: list[Callable[[], Integers]] = [
        lambda: f**0,
        lambda: f << f,
        lambda: x // 256,
        lambda: x << x.astype("int8"),
    ]
    for refused in calls:
        with pytest.raises(hesc.HescError):
            refused()
    assert (integers.Integers(kind_of("uint256")) // 8).dtype == "uint256"
    with pytest.raises(hesc.ShapeError, match="list"):
        integers.dot(iter([x]), [x])  # type: ignore[arg-type]
    wide = integers.Integers(kind_of("uint256"))
    with pytest.raises(hesc.ParameterError, match="256"):
        wide + integers.Integers(kind_of("int8"))


def test_sums_of_several_do_not_wrap() -> None:
    rng = np.random.default_rng(8)
    for dtype in ("int8", "uint8", "uint16"):
        arrays = [numbers(rng, dtype, 40) for _ in range(5)]
        leaves = [integers.Integers(kind_of(dtype)) for _ in arrays]
        root = integers.total(leaves)
        assert root.kind.width == kind_of(dtype).width + 3
        (found,) = in_the_clear([root], leaves, arrays)
        np.testing.assert_array_equal(found, np.sum(np.stack(arrays).astype(np.int64), axis=0))
        root = integers.dot(leaves[:3], leaves[2:])
        (found,) = in_the_clear([root], leaves, arrays)
        pairs = zip(arrays[:3], arrays[2:], strict=True)
        np.testing.assert_array_equal(found, sum(a.astype(np.int64) * b for a, b in pairs))
        found = in_the_clear(integers.sort(leaves), leaves, arrays)
        np.testing.assert_array_equal(np.stack(found), np.sort(np.stack(arrays), axis=0))


_STEPS = st.lists(
    st.tuples(
        st.sampled_from([*BINARY, "where", "abs", "~", "min"]),
        st.integers(0, 99),
        st.integers(0, 99),
    ),
    min_size=1,
    max_size=6,
)


def program(steps: list[tuple[str, int, int]], inputs: list[Any], *, clear: bool) -> Any:
    """A random program on values of whatever kind: numpy's arrays, or expressions."""
    values = list(inputs)
    for name, i, j in steps:
        a, b = values[i % len(values)], values[j % len(values)]
        if name == "where":
            values.append(np.where(a < b, a, b) if clear else integers.where(a < b, a, b))
        elif name == "abs":
            values.append(abs(a))
        elif name == "~":
            values.append(~a)
        elif name == "min":
            values.append(np.minimum(a, b) if clear else integers.minimum(a, b))
        elif name in {"//", "%"}:
            values.append(BINARY[name](a, b | 1))
        else:
            values.append(BINARY[name](a, b))
    return values[-1]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    steps=_STEPS,
    dtypes=st.lists(st.sampled_from(["int8", "uint8", "int16", "uint16"]), min_size=1, max_size=3),
    seed=st.integers(0, 2**32),
)
def test_programs_are_numpys(steps: Any, dtypes: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = [numbers(rng, dtype, 50) for dtype in dtypes]
    leaves = [integers.Integers(kind_of(dtype)) for dtype in dtypes]
    try:
        root = program(steps, leaves, clear=False)
    except hesc.ParameterError:
        # Arithmetic on truth values, which numpy refuses or takes for logic.
        assume(False)
    expected = by_numpy(
        lambda *given_arrays: program(steps, list(given_arrays), clear=True), *arrays
    )
    assume(root.kind.width <= 64)
    (found,) = in_the_clear([root], leaves, arrays)
    np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def small() -> VectorParams:
    """Bits in the slots of a small odd ring, with room for many products."""
    found: VectorParams
    found = Params.cyclotomic(255, [50] * 16, [50], plain_modulus=2, assurance="insecure")
    return found


@pytest.fixture(scope="module")
def keys(small: VectorParams) -> Any:
    return keygen(small)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    steps=_STEPS,
    dtypes=st.lists(st.sampled_from(["int8", "uint8"]), min_size=1, max_size=2),
    seed=st.integers(0, 2**32),
)
def test_encrypted_programs_are_numpys(
    keys: Any, small: VectorParams, steps: Any, dtypes: list[str], seed: int
) -> None:
    secret, public = keys
    rng = np.random.default_rng(seed)
    count = small.slot_count + 3
    arrays = [numbers(rng, dtype, count) for dtype in dtypes]
    try:
        plan = integers.plan(
            lambda *leaves: program(steps, list(leaves), clear=False),
            *dtypes,
            count=count,
            params=small,
        )
    except (hesc.ParameterError, hesc.CircuitError):
        assume(False)
    expected = by_numpy(
        lambda *given_arrays: program(steps, list(given_arrays), clear=True), *arrays
    )
    found = plan(*(integers.encrypt(public, array) for array in arrays))
    np.testing.assert_array_equal(decrypt_integers(secret, found), expected)


@pytest.fixture(scope="module")
def bit_keys() -> Any:
    """The key owner, the public key and the server of bits that bootstrap."""
    secret, public = hesc.keygen(hesc.Params.preset("tfhe_2048"), bootstrapping=True)
    return secret, public, gates.Evaluator(public)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    steps=_STEPS,
    dtypes=st.lists(st.sampled_from(["int4", "uint4"]), min_size=1, max_size=2),
    seed=st.integers(0, 2**32),
)
def test_bootstrapped_programs_are_those_in_the_clear(
    bit_keys: Any, steps: Any, dtypes: list[str], seed: int
) -> None:
    """numpy has no types of four bits: circuits in the clear, which are numpy's, stand for it."""
    secret, public, server = bit_keys
    rng = np.random.default_rng(seed)
    kinds = [kind_of(dtype) for dtype in dtypes]
    arrays = [rng.integers(kind.least, kind.most, 2, endpoint=True) for kind in kinds]
    try:
        plan = integers.plan(
            lambda *leaves: program(steps, list(leaves), clear=False),
            *dtypes,
            count=2,
            engine="bootstrapped",
        )
        leaves = [integers.Integers(kind) for kind in kinds]
        root = program(steps, leaves, clear=False)
    except hesc.ParameterError:
        assume(False)
    (expected,) = in_the_clear([root], leaves, arrays)
    encrypted = [
        integers.encrypt(public, array, dtype) for array, dtype in zip(arrays, dtypes, strict=True)
    ]
    found = decrypt_integers(secret, plan(*encrypted, server=server))
    np.testing.assert_array_equal(found, expected)


def test_integers_on_bits_that_bootstrap(bit_keys: Any) -> None:
    secret, public, server = bit_keys
    weights = np.array([3, 250], dtype=np.uint8)
    plan = integers.plan(
        lambda a, b: (a * weights + b, a < b, a // (b | 1)),
        "uint8",
        "int8",
        count=2,
        engine="bootstrapped",
    )
    assert plan.params.name == "tfhe_2048"
    assert "bootstrapped" in plan.decision.explain()
    a, b = np.array([200, 7], dtype=np.uint8), np.array([-3, 100], dtype=np.int8)
    x: Any = integers.encrypt(public, a)
    y = integers.read(public.params, integers.encrypt(public, b).to_bytes())
    assert pickle.loads(pickle.dumps(y)).dtype == "int8"  # noqa: S301 - our own
    results = plan(x, y, server=server, progress=False)
    for found, expected in zip(results, (a * weights + b, a < b, a // (b | 1)), strict=True):
        answer = integers.IntegerAnswer.from_bytes(plan.params, found.answer(server).to_bytes())
        packed = integers.read(public.params, found.pack(server).to_bytes())
        for form in (found, answer, packed):
            numbers_of = decrypt_integers(secret, form)
            np.testing.assert_array_equal(numbers_of, expected)
            assert numbers_of.dtype == expected.dtype
        with pytest.raises(hesc.ParameterError, match="pack"):
            found.to_bytes()
    # Results go on, however deep.
    again = integers.evaluate(integers.minimum(results[0], 50) - 1, server=server, progress=False)
    np.testing.assert_array_equal(
        decrypt_integers(secret, again), np.minimum(a * weights + b, 50) - 1
    )


def test_what_no_bootstrapping_plan_takes_is_refused(bit_keys: Any, keys: Any) -> None:
    secret, public, server = bit_keys
    x: Any = integers.encrypt(public, [1, 2], "uint8")
    in_slots = integers.encrypt(keys[1], [1, 2], "uint8")
    plan = integers.plan(operator.add, "uint8", "uint8", engine="bootstrapped")
    with pytest.raises(hesc.ParameterError, match="server="):
        plan(x, x)
    with pytest.raises(hesc.ParameterError, match="BootstrappedIntegers"):
        plan(x, in_slots, server=server)
    with pytest.raises(hesc.ParameterError, match="mix"):
        integers.evaluate(x + in_slots, server=server)
    with pytest.raises(hesc.ShapeError):
        plan(x, integers.encrypt(public, [1], "uint8"), server=server)
    with pytest.raises(hesc.ParameterError, match=r"hesc\.keygen"):
        integers.encrypt(secret, [1], "uint8")
    with pytest.raises(hesc.ParameterError, match="a set for streams"):
        decrypt_integers(secret, in_slots)
    with pytest.raises(hesc.ParameterError):
        integers.plan(operator.add, "uint8", "uint8", params=3)  # type: ignore[arg-type]
    with pytest.raises(hesc.ShapeError, match="count="):
        integers.plan(lambda a: a + np.arange(3, dtype=np.uint8), "uint8", count=2)
    other_secret, other = hesc.keygen(plan.params)
    with pytest.raises(hesc.KeyMismatchError):
        plan(x, integers.encrypt(other, [1, 2], "uint8"), server=server)
    with pytest.raises(hesc.KeyMismatchError):
        decrypt_integers(other_secret, x)
    data = x.to_bytes()
    for lie in (data[:-1], x.bits.to_bytes(), in_slots.to_bytes(), x.answer(server).to_bytes()):
        with pytest.raises(hesc.WireError):
            integers.read(public.params, lie)


def test_rows_of_public_numbers_are_numpys(keys: Any, small: VectorParams) -> None:
    secret, public = keys
    rng = np.random.default_rng(5)
    count = small.slot_count + 5
    a, b = numbers(rng, "int8", count), numbers(rng, "uint8", count)
    c, d = numbers(rng, "int8", count), rng.integers(0, 9, count, dtype=np.uint8)
    truths = numbers(rng, "bool", count)

    def function(x: Integers, y: Integers) -> tuple[Integers, ...]:
        return (
            c - x,
            y * b,
            integers.where(x < c, x, c),
            y >> d,
            integers.dot([x, y], [c, b]),
            integers.where(x < 0, truths, y),
            y ^ 255 - b,
        )

    def clear(x: Any, y: Any) -> tuple[Any, ...]:
        dot = x.astype(np.int64) * c + y.astype(np.int64) * b
        return (
            c - x,
            y * b,
            np.where(x < c, x, c),
            y >> d,
            dot,
            np.where(x < 0, truths, y),
            y ^ 255 - b,
        )

    plan = integers.plan(function, "int8", "uint8", count=count, params=small)
    first, second = integers.encrypt(public, a), integers.encrypt(public, b)
    for found, expected in zip(plan(first, second), clear(a, b), strict=True):
        np.testing.assert_array_equal(decrypt_integers(secret, found), expected)
    alone = integers.evaluate(first + c)
    np.testing.assert_array_equal(decrypt_integers(secret, alone), a + c)
    # Nothing but public numbers in a result.
    _, known = integers.evaluate(first + c, integers.maximum(first, c) * 0 + d)
    np.testing.assert_array_equal(decrypt_integers(secret, known), d)


@pytest.mark.parametrize("name", ["bgv_13107_circuits", "bgv_16384"])
def test_engines_compute_the_same(name: str) -> None:
    params = Params.preset(name)
    secret, public = keygen(params)
    rng = np.random.default_rng(3)
    a, b = numbers(rng, "int16", 700), numbers(rng, "int16", 700)

    def function(x: Integers, y: Integers) -> tuple[Integers, Integers]:
        return x + y, integers.minimum(x, y)

    plan = integers.plan(function, "int16", "int16", count=700, params=params)
    assert plan.chosen.depth <= params.depth
    x, y = integers.encrypt(public, a), integers.encrypt(public, b)
    seen: list[tuple[int, int]] = []
    total, least = plan(x, y, progress=lambda done, all_: seen.append((done, all_)))
    np.testing.assert_array_equal(decrypt_integers(secret, total), by_numpy(operator.add, a, b))
    np.testing.assert_array_equal(decrypt_integers(secret, least), np.minimum(a, b))
    blocks = -(-700 // params.slot_count)
    assert seen[-1] == (blocks * plan.chosen.products,) * 2
    assert seen == sorted(seen)


def test_expressions_of_encrypted_integers_are_evaluated(keys: Any) -> None:
    secret, public = keys
    a = integers.encrypt(public, [1, 2, 250], "uint8")
    b = integers.read(public.params, encrypt_integers(secret, [7, 250, 250], "uint8")).with_keys(
        public
    )
    summed, larger = integers.evaluate(a + b, a > b, spare=2)
    assert decrypt_integers(secret, summed).tolist() == [8, 252, 244]
    assert decrypt_integers(secret, larger).tolist() == [False, False, False]
    # Results go on.
    doubled = integers.evaluate(summed + summed)
    assert decrypt_integers(secret, doubled).tolist() == [16, 248, 232]
    deep: Integers = a
    for _ in range(9):
        deep = deep * deep // (b | 1)
    with pytest.raises(hesc.CircuitError, match="plan the whole function"):
        integers.evaluate(deep)


def test_wire_forms_lead_back(keys: Any) -> None:
    secret, public = keys
    for dtype, values in (
        ("bool", [True, False, True]),
        ("int24", [-(1 << 23), (1 << 23) - 1, -1]),
        ("uint100", [(1 << 100) - 1, 0, 1 << 99]),
        ("int100", [2**63, -1, 0]),
    ):
        x = integers.encrypt(public, values, dtype)
        again = integers.read(public.params, x.to_bytes())
        assert again.to_bytes() == x.to_bytes()
        assert (again.dtype, len(again)) == (dtype, 3)
        assert decrypt_integers(secret, again).tolist() == values
        seeded = encrypt_integers(secret, values, dtype)
        assert len(seeded) < 0.6 * len(x.to_bytes())
        assert decrypt_integers(secret, integers.read(public.params, seeded)).tolist() == values
        assert pickle.loads(pickle.dumps(x)).to_bytes() == x.to_bytes()  # noqa: S301 - our own
    data = bytearray(x.to_bytes())
    for place in (0, 20, len(data) // 2, len(data) - 1):
        damaged = bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises((hesc.WireError, hesc.ParameterError)):
            integers.read(public.params, damaged)
    with pytest.raises(hesc.WireError):
        integers.read(public.params, bytes(data[:-1]))


@pytest.mark.parametrize("dtype", ["uint1", "int2", "uint3", "int4", "uint8", "int8"])
def test_integers_along_slots_are_numpys(small: VectorParams, dtype: str) -> None:
    layout = integers.Slotwise(small, dtype)
    secret, public = keygen(small, slot_rotations=layout.slot_rotations)
    kind, rng = layout.kind, np.random.default_rng(4)
    assert layout.capacity == 2 * (8 // kind.width)
    modulus = 1 << kind.width

    def wrapped(values: Any) -> list[int]:
        return [(int(x) - kind.least) % modulus + kind.least for x in values]

    for count in range(1, layout.capacity + 1):
        a, b = (rng.integers(kind.least, kind.most, count, endpoint=True) for _ in range(2))
        x, y = layout.encrypt(public, a), layout.encrypt(public, b)
        y = layout.read(y.to_bytes(), count)
        cases = [
            (x + y, a + b),
            (x - y, a - b),
            (-x, -a),
            (~x, ~a),
            (x & y, a & b),
            (x | y, a | b),
            (x ^ y, a ^ b),
            (x + b, a + b),
            (kind.most - x, kind.most - a),
            (x - kind.least, a - kind.least),
            (x | b, a | b),
            (x + x, a + a),
        ]
        for found, expected in cases:
            assert decrypt_slotwise(secret, found).tolist() == wrapped(expected)


def test_sums_inside_one_ciphertext() -> None:
    params = Params.preset("bgv_13107")
    layout = integers.Slotwise(params, "uint64")
    secret, public = keygen(params, slot_rotations=layout.slot_rotations)
    assert (layout.capacity, layout.steps) == (8, [1, 2, 4, 8, 16, 32])
    ends = np.array([0, 1, 2**64 - 1, 2**63], dtype=np.uint64)
    a, b = np.repeat(ends, 2), np.tile(ends, 2)
    upload = encrypt_slots(secret, layout.slots_of(b), content="numbers")
    summed = layout.encrypt(public, a) + layout.read(upload, 8)
    np.testing.assert_array_equal(decrypt_slotwise(secret, summed), a + b)
    with pytest.raises(hesc.NoiseBudgetError):
        summed + summed


def test_what_does_not_lie_along_slots_is_refused(small: VectorParams) -> None:
    for name, dtype in (("bgv_16384", "uint8"), ("bgv_13107", "uint129"), ("bgv_13107", "bool")):
        with pytest.raises(hesc.ParameterError):
            integers.Slotwise(Params.preset(name), dtype)
    layout = integers.Slotwise(small, "uint4")
    _, public = keygen(small, slot_rotations=layout.slot_rotations)
    for values in ([1] * 5, [], [[1]]):
        with pytest.raises(hesc.ShapeError):
            layout.encrypt(public, values)
    with pytest.raises(hesc.OutOfRangeError):
        layout.encrypt(public, [16])
    x = layout.encrypt(public, [1, 2])
    with pytest.raises(hesc.ShapeError):
        x + layout.encrypt(public, [1])
    with pytest.raises(hesc.OutOfRangeError):
        x + 16
    with pytest.raises(hesc.ShapeError):
        layout.read(x.to_bytes(), 5)
    with pytest.raises(TypeError):
        bool(x < 3)
    _, bare = keygen(small)
    with pytest.raises(hesc.ParameterError, match="slot_rotations"):
        layout.encrypt(bare, [1]) + 1


def test_kinds_that_no_integers_have_are_refused() -> None:
    for arguments in ((8, False, True), (1, True, True), (8.0,), (True,), (8, 1), (0,), (257,)):
        with pytest.raises(hesc.ParameterError):
            integers.IntegerKind(*arguments)
    for dtype in ([("a", "i4"), ("a", "i4")], {"names": ["a"]}):
        with pytest.raises(hesc.ParameterError, match="integer type"):
            kind_of(dtype)  # type: ignore[arg-type]


def test_many_are_sorted_by_networks_alone() -> None:
    """Comparing each with each takes netlists that grow with the square of how many there are."""
    for count, ranked in ((64, {True, False}), (65, {False})):
        several = [integers.Integers(kind_of("uint8")) for _ in range(count)]
        assert {style.ranks for style in styles(integers.sort(several))} == ranked


def test_what_memory_does_not_hold_is_refused_before_the_start() -> None:
    def add(x: Integers, y: Integers) -> Integers:
        return x + y

    for layout, count in (("sliced", 600), ("slotwise", 3)):
        both = partial(
            integers.plan, add, "uint16", "uint16", count=count, engine="binary", layout=layout
        )
        most = both().chosen.peak_bytes
        assert both(memory=most).chosen.peak_bytes <= most < 2**31
        with pytest.raises(hesc.CircuitError, match="GB of ciphertexts at once"):
            both(memory=1000)
    for wrong in (0, -1, 1.5, "8 GB"):
        with pytest.raises(hesc.HescError):
            integers.plan(add, "uint16", "uint16", memory=wrong)  # type: ignore[arg-type]


def test_refusals_do_not_repeat_secrets(keys: Any) -> None:
    with pytest.raises(hesc.OutOfRangeError) as refused:
        integers.encrypt(keys[1], [31337], "uint8")
    assert "31337" not in str(refused.value)


def test_what_is_no_integer_is_refused(keys: Any) -> None:
    secret, public = keys
    for values, dtype in (
        ([256], "uint8"),
        ([-1], "uint8"),
        ([128], "int8"),
        ([1.0], "uint8"),
        ([np.nan], "uint8"),
        (["1"], "uint8"),
        (np.ma.masked_array([1, 2], [False, True]), "uint8"),
    ):
        with pytest.raises(hesc.OutOfRangeError):
            integers.encrypt(public, values, dtype)
    for shapeless in ([], [[1]], 1):
        with pytest.raises(hesc.ShapeError):
            integers.encrypt(public, shapeless, "uint8")
    for dtype in ("float32", "uint0", "uint257", "int1", "complex64", "no"):
        with pytest.raises(hesc.ParameterError):
            integers.encrypt(public, [1], dtype)
    a = integers.encrypt(public, [1, 2], "uint8")
    longer = integers.encrypt(public, [1, 2, 3], "uint8")
    with pytest.raises(hesc.ShapeError):
        integers.evaluate(a + longer)
    with pytest.raises(hesc.OutOfRangeError):
        a + 300
    with pytest.raises(hesc.ParameterError):
        a + 1.5
    with pytest.raises(hesc.ParameterError):
        a / 2
    for array in (np.array([1.0, 2.0]), np.ma.masked_array([1, 2], mask=[True, False])):
        with pytest.raises((hesc.ParameterError, hesc.OutOfRangeError)):
            a + array
    for array in (np.array([[1, 2]]), np.array([], dtype=np.int8)):
        with pytest.raises(hesc.ShapeError):
            a + array
    with pytest.raises(hesc.ShapeError):
        integers.evaluate(a + np.array([1, 2, 3], dtype=np.uint8))
    with pytest.raises(TypeError):
        bool(a == longer)
    with pytest.raises(hesc.OutOfRangeError):
        a**-1
    with pytest.raises(hesc.OutOfRangeError):
        a << -1
    with pytest.raises(hesc.ParameterError, match="evaluate"):
        decrypt_integers(secret, a + a)  # type: ignore[arg-type]


def test_what_no_plan_takes_is_refused(keys: Any, small: VectorParams) -> None:
    _, public = keys
    a = integers.encrypt(public, [1, 2], "uint8")
    plan = integers.plan(operator.add, "uint8", "uint8", params=small)
    with pytest.raises(hesc.ShapeError):
        plan(a)
    with pytest.raises(hesc.ParameterError, match="uint16"):
        plan(a, integers.encrypt(public, [1, 2], "uint16"))
    with pytest.raises(hesc.ParameterError):
        plan(a, a + a)
    _, other = keygen(small)
    with pytest.raises(hesc.KeyMismatchError):
        plan(a, integers.encrypt(other, [1, 2], "uint8"))
    with pytest.raises(hesc.ParameterError, match="BGV"):
        integers.plan(operator.add, "uint8", "uint8", params=Params.preset("bfv_8192"))
    with pytest.raises(hesc.ParameterError):
        integers.plan(lambda x: x + a, "uint8")
    for wrong in (
        {"engine": "quantum"},
        {"params": "bgv_13107"},
        {"engine": "prime", "params": small},
    ):
        with pytest.raises(hesc.ParameterError):
            integers.plan(operator.add, "uint8", "uint8", **wrong)
    with pytest.raises(hesc.ParameterError):
        integers.plan(lambda _: 5, "uint8")
    with pytest.raises(hesc.ParameterError, match="public numbers"):
        integers.evaluate(a**0)
    with pytest.raises(TypeError, match="again from the function"):
        pickle.dumps(plan)
    # A block that is lower than the others, before any is computed.
    many = integers.encrypt(public, np.zeros(2 * small.slot_count, dtype=np.uint8))
    many.blocks[1] = [bit.mod_switch_to(1) for bit in many.blocks[1]]
    seen: list[int] = []
    with pytest.raises(hesc.CircuitError):
        plan(many, many, progress=lambda done, _: seen.append(done))
    assert not seen


def test_plans_say_what_they_weighed() -> None:
    plan = integers.plan(operator.add, "uint64", "uint64", count=20_000)
    assert plan.engine == "prime"
    assert plan.seconds < 2 * plan.latency * 1.01
    few = integers.plan(operator.add, "uint64", "uint64", count=100)
    assert few.engine == "binary"
    text = few.decision.explain()
    assert all(estimate.parameters in text for estimate in few.decision.estimates)
    assert all(reason in text for _, reason, _ in few.decision.infeasible)
    assert len(few.candidates) == 4
    assert "*" in text

    def deep(x: Integers, y: Integers) -> Integers:
        return x // y // y

    # Wider ones are deeper still, and take as much longer to be found so.
    with pytest.raises(hesc.CircuitError, match="no such limit"):
        integers.plan(deep, "uint12", "uint12", engine="prime")
    without_limit = integers.plan(deep, "uint12", "uint12")
    assert without_limit.engine == "bootstrapped"
    assert not without_limit.levels
    assert "bootstraps" in repr(without_limit)


def test_plans_of_integers_are_decided_as_tasks_are() -> None:
    def both(x: Integers, y: Integers) -> tuple[Integers, Integers]:
        return x + y, integers.maximum(x, y)

    found = {
        objective: integers.plan(both, "uint8", "uint8", count=3, objective=objective)
        for objective in OBJECTIVES
    }
    for plan in found.values():
        costs = [plan.decision.cost(estimate) for estimate in plan.decision.estimates]
        assert costs == sorted(costs)
        assert plan.chosen is plan.decision.estimates[0]
    # Each bit takes some bytes, and each ciphertext thousands.
    assert found["bytes"].engine == "bootstrapped"
    assert found["throughput"].engine == "binary"
    a, b = np.array([200, 7, 255]), np.array([100, 8, 255])
    for estimate in found["bytes"].decision.estimates:
        if estimate.way.startswith("prime"):
            continue
        parties = estimate.prepare()
        up = parties.encrypt([a, b])
        results = parties.decrypt(parties.answer(up))
        np.testing.assert_array_equal(results, [(a + b) % 256, np.maximum(a, b)])
        assert parties.held() > 0
    with pytest.raises(hesc.ParameterError, match="objective"):
        integers.plan(both, "uint8", "uint8", objective="beauty")


def test_promotion_is_numpys() -> None:
    kinds = [dtype for dtype in TYPES if dtype != "bool"]
    for first in kinds:
        for second in kinds:
            expected = np.result_type(np.dtype(first), np.dtype(second))
            if expected.kind == "f":
                with pytest.raises(hesc.ParameterError):
                    common(kind_of(first), kind_of(second))
            else:
                assert str(common(kind_of(first), kind_of(second))) == str(expected)
    assert str(common(kind_of("uint12"), kind_of("int8"))) == "int13"
