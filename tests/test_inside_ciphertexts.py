"""Shifts, products, quotients and order inside one ciphertext, in the clear and encrypted."""

from __future__ import annotations

import operator
from functools import cache
from itertools import product as every
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hesc
from hesc import _native, integers, keygen
from hesc.gates import integers as circuits
from hesc.integers.candidates import ENGINES
from hesc.integers.secret import decrypt_integers, decrypt_slotwise, encrypt_integers
from hesc.packing import EncryptedSlots
from hesc.params import Params, VectorParams
from hesc_papers.xu2016integers_table_1 import ripples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# In the clear ---------------------------------------------------------------------------------


class Row:
    """Bits in place of a ciphertext."""

    level, noise_budget = 1, 0.0

    def __init__(self, bits: Any) -> None:
        self.bits = bits % 2

    def sum(self, other: Row, _subtract: bool) -> Row:
        return Row(self.bits + other.bits)

    def add_plain(self, row: Any) -> Row:
        return Row(self.bits + row)

    def multiply_plain(self, row: Any) -> Row:
        return Row(self.bits * (row if isinstance(row, np.ndarray) else decoded(row)))


@cache
def decoded(mask: Any) -> Any:
    return np.array(mask.decode_integers(False))


class ClearSlots(EncryptedSlots):
    """Slots that everyone sees, and counts of what ciphertexts would take."""

    counts: dict[str, int] = {}  # noqa: RUF012 - of all together, cleared by who counts

    def _with(self, native: Any, content: str | None = None, others: Any = ()) -> ClearSlots:
        del others
        return ClearSlots(self.params, native, content or self.content)

    def _plain(self, values: Any) -> Any:
        return np.broadcast_to(np.asarray(values), len(self)), "numbers"

    def _count(self, what: str, many: int) -> None:
        self.counts[what] = self.counts.get(what, 0) + many

    def summed(self, pairs: Any, others: Any, content: str) -> ClearSlots:
        self._count("products", 1)
        products = sum(a.native.bits * b.native.bits for a, b in pairs)
        rest = sum(other.native.bits for other in others)
        return self._with(Row(products + rest), content)

    def rotate(self, steps: int, dimension: int = 0) -> ClearSlots:
        self._count("rotations", int(steps != 0))
        lengths = [along.length for along in self.params.dimensions]
        turned = np.roll(self.native.bits.reshape(lengths), -steps, axis=dimension)  # type: ignore[attr-defined]
        return self._with(Row(turned.reshape(-1)))

    def carried(self, passes: EncryptedSlots, elements: Sequence[int], remedy: str) -> ClearSlots:
        del remedy
        generated: Any = self
        for step in range(len(elements)):
            generated = generated + passes * generated.rotate(-(1 << step))
            if step < len(elements) - 1:
                passes = passes * passes.rotate(-(1 << step))
        return self._with(generated.native)


@cache
def laid(preset: str, dtype: str) -> integers.Slotwise:
    """A layout of a set that ships; its masks are encoded once for all counts of numbers."""
    return integers.Slotwise(Params.preset(preset), dtype)


def in_clear(
    layout: integers.Slotwise, numbers: Any, rng: np.random.Generator
) -> integers.SlotwiseIntegers:
    """Numbers in slots, whose other slots hold whatever there is."""
    ones = -1 if layout.kind.signed else layout.kind.most
    own = layout.slots_of(np.full(len(numbers), ones))
    row = np.where(own == 1, layout.slots_of(numbers), rng.integers(0, 2, own.size))
    return integers.SlotwiseIntegers(
        layout,
        ClearSlots(layout.params, Row(row), "numbers"),  # type: ignore[arg-type]
        len(numbers),
    )


def seen(numbers: integers.SlotwiseIntegers) -> Any:
    bits: Any = numbers.slots.native
    return numbers.layout.numbers_of(bits.bits, len(numbers))


def pairs(layout: integers.Slotwise) -> Iterator[Any]:
    """All pairs of numbers, as many as a ciphertext has at a time."""
    kind = layout.kind
    both = np.array(list(every(range(kind.least, kind.most + 1), repeat=2)))
    for at in range(0, len(both), layout.capacity):
        yield both[at : at + layout.capacity].T


def wrapped(numbers: Any, layout: integers.Slotwise) -> Any:
    kind = layout.kind
    return (numbers - kind.least) % (1 << kind.width) + kind.least


def quotients(a: Any, b: Any, most: int) -> tuple[Any, Any]:
    """As `hesc.integers` has them: by zero all ones, and the dividend."""
    some = np.maximum(b, 1)
    return np.where(b == 0, most, a // some), np.where(b == 0, a, a % some)


KINDS = ["uint1", "uint2", "int2", "uint3", "int3", "uint4", "int4"]


@pytest.mark.parametrize("dtype", KINDS)
def test_products_and_shifts_in_the_clear_are_those_of_all_numbers(
    dtype: str,
) -> None:
    layout, rng = laid("bgv_13107", dtype), np.random.default_rng(1)
    kind = layout.kind
    for a, b in pairs(layout):
        x, y = (in_clear(layout, numbers, rng) for numbers in (a, b))
        assert seen(x * y).tolist() == wrapped(a * b, layout).tolist()
        assert seen(x * b).tolist() == wrapped(a * b, layout).tolist()
        for factor in range(kind.least, kind.most + 1):
            assert seen(factor * x).tolist() == wrapped(a * factor, layout).tolist()
        for places in range(kind.width + 2):
            assert seen(x << places).tolist() == wrapped(a << places, layout).tolist()
            assert seen(x >> places).tolist() == (a >> places).tolist()
        if not kind.signed:
            assert seen(x << y).tolist() == wrapped(a << b, layout).tolist()
            assert seen(x >> y).tolist() == (a >> b).tolist()
            assert seen(x >> b).tolist() == (a >> b).tolist()
            most = kind.most
            assert seen(most >> y).tolist() == (most >> b).tolist()
            assert seen(1 << y).tolist() == wrapped(1 << b, layout).tolist()


@pytest.mark.parametrize("dtype", [name for name in KINDS if name.startswith("u")] + ["uint5"])
def test_quotients_in_the_clear_are_those_of_all_numbers(dtype: str) -> None:
    layout, rng = laid("bgv_13107", dtype), np.random.default_rng(2)
    most = layout.kind.most
    for a, b in pairs(layout):
        x, y = (in_clear(layout, numbers, rng) for numbers in (a, b))
        expected = [one.tolist() for one in quotients(a, b, most)]
        for digit in range(1, min(layout.kind.width, 4) + 1):
            quotient, left = x.divided(y, digit=digit)
            assert left is not None
            assert [seen(quotient).tolist(), seen(left).tolist()] == expected
            assert seen(x.divided(y, digit=digit, rest=False)[0]).tolist() == expected[0]
        assert [seen(one).tolist() for one in divmod(x, b)] == expected
        assert seen(x // y).tolist() == expected[0]
        assert seen(x % y).tolist() == expected[1]
        public = [one.tolist() for one in quotients(np.full_like(b, most), b, most)]
        assert [seen(most // y).tolist(), seen(most % y).tolist()] == public


@pytest.mark.parametrize("name", ["bgv_13107", "bgv_65535"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 16, 17])
def test_rows_in_order_in_the_clear(name: str, count: int) -> None:
    """Counts beyond a line of slots, and below it; numbers that are equal, and all of the least."""
    for dtype in ("uint1", "int3", "uint6"):
        layout, rng = laid(name, dtype), np.random.default_rng(count)
        kind = layout.kind
        rows = [rng.integers(kind.least, kind.most + 1, count) for _ in range(3)]
        rows += [np.full(count, kind.least), np.sort(rows[0])[::-1], np.full(count, kind.most)]
        for row in rows:
            assert seen(in_clear(layout, row, rng).ordered()).tolist() == np.sort(row).tolist()


@pytest.mark.parametrize("count", [2, 3, 4])
def test_all_rows_of_few_numbers_are_sorted(count: int) -> None:
    layout, rng = laid("bgv_13107", "uint2"), np.random.default_rng(0)
    for row in every(range(4), repeat=count):
        assert seen(in_clear(layout, row, rng).ordered()).tolist() == sorted(row)


# Plans ----------------------------------------------------------------------------------------

OPERATIONS: dict[str, Callable[..., Any]] = {
    "*": operator.mul,
    "* 11": lambda a, _: a * 11,
    "<< 3": lambda a, b: (a << 3) + b,
    ">> 3": lambda a, b: (a >> 3) ^ b,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "//": operator.floordiv,
    "divmod": divmod,
    "sort": lambda a, b: integers.sort(a ^ b),
}


@pytest.fixture(scope="module")
def small() -> VectorParams:
    """Bits in the slots of a small odd ring: 16 slots of 8 bits, in circles of 8."""
    found: VectorParams
    found = Params.cyclotomic(255, [50] * 28, [50], plain_modulus=2, assurance="insecure")
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_plans_state_what_is_taken(small: VectorParams, name: str) -> None:
    """Products, rotations and keys: as many as bits in the clear count, and no key is left out."""
    plan = integers.plan(
        OPERATIONS[name], "uint4", "uint4", count=3, params=small, layout="slotwise"
    )
    computation: Any = plan.chosen.computation
    layout, rng = integers.Slotwise(small, "uint4"), np.random.default_rng(0)
    a, b = (in_clear(layout, rng.integers(0, 16, 3), rng) for _ in range(2))
    ClearSlots.counts.clear()
    if name in {"//", "divmod"}:
        a.divided(b, digit=computation.digit, rest=name == "divmod")
    elif name == "sort":
        (a ^ b).ordered()
    else:
        OPERATIONS[name](a, b)
    assert plan.chosen.products == ClearSlots.counts.get("products", 0)
    assert computation.rotations == ClearSlots.counts["rotations"]
    assert f"{computation.rotations} rotations" in plan.decision.explain()
    if plan.chosen.products:
        assert 0 < plan.chosen.depth <= plan.chosen.products
    secret, public = keygen(small, **plan.keys)
    inputs = [integers.encrypt(public, [1, 15, 9], "uint4", layout="slotwise") for _ in range(2)]
    results = plan(*inputs, progress=False)
    for result in results if isinstance(results, tuple) else [results]:
        assert result.blocks[0].level >= plan.levels[-1]
        budget = secret.noise_budget(EncryptedSlots(small, result.blocks[0], "numbers"))
        assert budget >= result.blocks[0].noise_budget > 0
    for at in range(len(plan.keys["slot_rotations"])):
        few = [along for i, along in enumerate(plan.keys["slot_rotations"]) if i != at]
        _, less = keygen(small, slot_rotations=few)
        again = [integers.encrypt(less, [1], "uint4", layout="slotwise") for _ in range(2)]
        with pytest.raises(hesc.HescError, match=r"slot_rotations|rows of 3"):
            plan(*again, progress=False)


EDGES = st.sampled_from([0, 1, 2, 127, 128, 129, 254, 255])


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(EDGES | st.integers(0, 255), EDGES | st.integers(0, 255)), min_size=1, max_size=5
    ),
    width=st.integers(2, 8),
    name=st.sampled_from(["*", "<<", ">>", "divmod", "mixed"]),
)
def test_encrypted_numbers_are_numpys(
    small: VectorParams, rows: list[tuple[int, int]], width: int, name: str
) -> None:
    """Any width, several ciphertexts, and public numbers on either side."""
    a, b = np.array(rows).T & (1 << width) - 1
    most, public = (1 << width) - 1, b.astype(np.uint8) if width == 8 else None

    def mixed(x: Any, y: Any) -> Any:
        beside = 5 % (most + 1) if public is None else public
        return [(x << 1) * y, beside - (x >> 1), beside * x, most >> y]

    function: Any = mixed if name == "mixed" else OPERATIONS[name]
    plan = integers.plan(
        function, *[f"uint{width}"] * 2, count=len(a), params=small, layout="slotwise"
    )
    secret, keys = keygen(small, **plan.keys)
    uploads = [encrypt_integers(secret, x, f"uint{width}", layout="slotwise") for x in (a, b)]
    given = [integers.read(small, x, layout="slotwise").with_keys(keys) for x in uploads]
    results = plan(*given, progress=False)
    beside = np.full_like(a, 5 % (most + 1)) if public is None else b
    expected = {
        "*": [a * b],
        "<<": [a << np.minimum(b, width)],
        ">>": [a >> b],
        "divmod": list(quotients(a, b, most)),
        "mixed": [(a << 1) * b, beside - (a >> 1), beside * a, most >> b],
    }[name]
    found = list(results) if isinstance(results, tuple) else [results]
    for result, wanted in zip(found, expected, strict=True):
        assert decrypt_integers(secret, result).tolist() == (wanted & most).tolist()


SECURE = {
    "* of 8 bits": (operator.mul, "uint8", 6),
    "shifts of 64 bits": (lambda a, b: (a << 7, a >> b), "uint64", 6),
    "divmod of 4 bits": (divmod, "uint4", 40),
    "sort of 16 bits": (lambda a, _: integers.sort(a), "uint16", 8),
}


@pytest.mark.parametrize("name", SECURE)
def test_sets_of_128_bits_have_room(name: str) -> None:
    function, dtype, count = SECURE[name]
    plan = integers.plan(function, dtype, dtype, count=count, layout="slotwise")
    assert plan.params.assurance == "guidelines2024"
    kind, rng = integers.Slotwise(plan.params, dtype).kind, np.random.default_rng(5)
    a, b = (rng.integers(0, kind.most, count, dtype=np.uint64, endpoint=True) for _ in range(2))
    a[:4], b[:4] = [0, kind.most, kind.most, 1], [0, kind.most, 1, kind.most]
    if "shifts" in name:
        b[4:] = [7, 63]
    secret, public = keygen(plan.params, **plan.keys)
    results = plan(
        *(integers.encrypt(public, x, dtype, layout="slotwise") for x in (a, b)), progress=False
    )
    found = [
        decrypt_integers(secret, each).tolist()
        for each in (results if isinstance(results, tuple) else [results])
    ]
    x, y = (row.tolist() for row in (a, b))
    mask = int(kind.most)
    if name.startswith("*"):
        assert found == [[i * j & mask for i, j in zip(x, y, strict=True)]]
    elif "shifts" in name:
        assert found[0] == [i << 7 & mask for i in x]
        assert found[1] == [i >> j if j < 64 else 0 for i, j in zip(x, y, strict=True)]
    elif "divmod" in name:
        assert found[0] == [i // j if j else mask for i, j in zip(x, y, strict=True)]
        assert found[1] == [i % j if j else i for i, j in zip(x, y, strict=True)]
    else:
        assert found == [sorted(x)]


def test_rows_without_a_plan(small: VectorParams) -> None:
    layout = integers.Slotwise(small, "int4")
    secret, public = keygen(small, slot_rotations=layout.rotations)
    numbers = layout.encrypt(public, [7, -8, 0, -8])
    assert decrypt_slotwise(secret, numbers.ordered()).tolist() == [-8, -8, 0, 7]
    assert decrypt_slotwise(secret, numbers * -3).tolist() == [-5, -8, 0, -8]
    row: Any = integers.encrypt(public, [7, -8, 0, -8], "int4", layout="slotwise")
    found = integers.evaluate(integers.sort(row))
    assert decrypt_integers(secret, found).tolist() == [-8, -8, 0, 7]


def test_what_is_not_computed_inside_is_refused(small: VectorParams) -> None:
    along: dict[str, Any] = {"params": small, "layout": "slotwise", "count": 3}
    for function, match in (
        (operator.floordiv, "with sign"),
        (operator.mod, "with sign"),
        (lambda a, b: (a < b) * a, "conversion"),
        (lambda a, b: a << b.astype("uint4"), "conversion"),
    ):
        with pytest.raises(hesc.ParameterError, match=match):
            integers.plan(function, "int4", "int4", **along)
    wrong: list[dict[str, Any]] = [
        {},
        {"count": 3, "layout": "sliced"},
        {"count": 3, "engine": "prime"},
        {"count": 3, "engine": "bootstrapped"},
    ]
    for how in wrong:
        with pytest.raises(hesc.ParameterError, match="inside one ciphertext: give count="):
            integers.plan(integers.sort, "uint4", **how)
    with pytest.raises(hesc.CircuitError, match="has 4 of these numbers"):
        integers.plan(integers.sort, "uint4", params=small, count=5)
    with pytest.raises(hesc.CircuitError, match="no set has room for this along slots"):
        integers.plan(divmod, "uint64", "uint64", count=2, layout="slotwise")
    plan = integers.plan(integers.sort, "uint4", params=small, count=3)
    assert plan.layout == "slotwise"
    _, public = keygen(small, **plan.keys)
    for numbers in ([1, 2], [1, 2, 3, 4], [1, 2, 3, 4, 5]):
        other = integers.encrypt(public, numbers, "uint4", layout="slotwise")
        with pytest.raises(hesc.ShapeError, match="sorts rows of 3"):
            plan(other)
    sliced: Any = integers.encrypt(public, [1, 2, 3], "uint4")
    with pytest.raises(hesc.ParameterError, match="these are sliced"):
        plan(sliced)
    with pytest.raises(hesc.CircuitError, match="inside one ciphertext"):
        integers.evaluate(integers.sort(sliced))
    with pytest.raises(hesc.ParameterError, match="truth values"):
        integers.sort(sliced < 2)
    signed: Any = integers.Slotwise(small, "int4").encrypt(public, [1, 2, 3])
    wrongs: list[Callable[[], Any]] = [
        lambda: signed // signed,
        lambda: signed << signed,
        lambda: signed << -1,
        lambda: signed * 8,
        lambda: signed * [1, 2],
        lambda: signed.divided(1, digit=0),
    ]
    for refused in wrongs:
        with pytest.raises(hesc.HescError):
            refused()


# The adder of the paper that has no room ----------------------------------------------------------


def test_no_plan_takes_a_ripple_adder() -> None:
    """From eight bits on they are deeper than others and slower, where sets have room for both.

    A plan takes one for five bits, where it has fewer products: index 55831 is not needed.
    """
    widths = (8, 16, 32, 64)
    # All on one set, whose speed is measured once.
    for width, row in zip(widths, ripples(widths), strict=True):
        plan = integers.plan(
            operator.add, f"uint{width}", f"uint{width}", engine="binary", layout="sliced"
        )
        assert "ripple" not in plan.chosen.parameters, width
        assert row["ripple / other"] > 1, width
        assert row["other: depth"] < row["depth"] == width


def test_no_set_has_room_for_the_papers_ripple_adder() -> None:
    circuit = circuits.adder(64, adder="ripple")
    for ring in ENGINES["binary"]:
        for name in ring:
            with pytest.raises(hesc.CircuitError, match="64 products in sequence"):
                _native.SlotPlan(circuit, Params.preset(name), 0)
