"""Layouts of encrypted integers: sliced, along slots and packed for the way, against numpy."""

from __future__ import annotations

import operator
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hesc
from hesc import integers, keygen
from hesc.integers.kinds import kind_of
from hesc.integers.secret import decrypt_integers, decrypt_slotwise, encrypt_integers
from hesc.packing import EncryptedSlots
from hesc.packing.secret import decrypt_slots
from hesc.params import Params, VectorParams

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = {"+": operator.add, "-": operator.sub, "&": operator.and_, "|": operator.or_}
NUMBERS["^"] = operator.xor
COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
LOGIC = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
FORMS: list[dict[str, Any]] = [
    {"layout": "slotwise"},
    {"layout": "sliced"},
    {"upload": "packed"},
    {"answer": "packed"},
    {"upload": "packed", "answer": "packed"},
]


def program(steps: list[Any], inputs: list[Any], public: list[Any], *, clear: bool) -> Any:
    """A random program of what all layouts compute: numbers of one type, and truth values."""
    values, truths = list(inputs), [inputs[0] < inputs[-1]]
    minimum = np.minimum if clear else integers.minimum
    maximum = np.maximum if clear else integers.maximum
    where: Any = np.where if clear else integers.where
    for kind, name, i, j, k in steps:
        a, truth = values[i % len(values)], truths[k % len(truths)]
        everything = [*values, *public]
        b = everything[j % len(everything)]
        if kind == "numbers":
            values.append(NUMBERS[name](a, b) if k % 2 else NUMBERS[name](b, a))
        elif kind == "compared":
            truths.append(COMPARED[name](a, b) if k % 2 else COMPARED[name](b, a))
        elif kind == "logic":
            truths.append(LOGIC[name](truth, truths[j % len(truths)]))
        elif name == "~":
            values.append(~a)
            truths.append(~truth)
        elif name == "min":
            values.append(minimum(a, b))
        elif name == "max":
            values.append(maximum(a, b))
        else:
            values.append(where(truth, a, b))
    return values[-1], truths[-1]


def _steps(kind: str, names: Any) -> Any:
    index = st.integers(0, 99)
    return st.tuples(st.just(kind), st.sampled_from(sorted(names)), index, index, index)


STEPS = st.lists(
    st.one_of(
        _steps("numbers", NUMBERS),
        _steps("compared", COMPARED),
        _steps("logic", LOGIC),
        _steps("others", ["~", "min", "max", "where"]),
    ),
    min_size=1,
    max_size=5,
)


@pytest.fixture(scope="module")
def small() -> VectorParams:
    """Bits in the slots of a small odd ring: 16 slots of 8 bits, in circles of 8."""
    found: VectorParams
    found = Params.cyclotomic(255, [50] * 20, [50], plain_modulus=2, assurance="insecure")
    return found


@pytest.fixture(scope="module")
def keys(small: VectorParams) -> Any:
    rotations = [(0, sign * step) for step in range(1, 8) for sign in (1, -1)]
    return keygen(small, slot_rotations=rotations, unpacking=True)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    steps=STEPS,
    dtype=st.sampled_from(["int8", "uint8"]),
    count=st.integers(1, 40),
    form=st.sampled_from(FORMS),
    seed=st.integers(0, 2**32),
)
# A bit of twice a number is a public zero, to which a public bit is added: noise of no encryption.
@example(
    steps=[("numbers", "+", 0, 0, 0), ("numbers", "+", 2, 3, 0)],
    dtype="int8",
    count=1,
    form={"layout": "sliced"},
    seed=0,
)
def test_programs_in_every_layout_are_numpys(
    keys: Any, small: VectorParams, steps: Any, dtype: str, count: int, form: Any, seed: int
) -> None:
    secret, public = keys
    rng, kind = np.random.default_rng(seed), kind_of(dtype)
    arrays = [
        rng.integers(kind.least, kind.most, count, dtype=dtype, endpoint=True) for _ in range(3)
    ]
    row = arrays.pop()
    arrays[1][: count // 2] = arrays[0][: count // 2]
    beside = [row, int(row[0])]
    plan = integers.plan(
        lambda *leaves: program(steps, list(leaves), beside, clear=False),
        dtype,
        dtype,
        count=count,
        params=small,
        **form,
    )
    assert plan.layout == form.get("layout", "sliced")
    with np.errstate(all="ignore"):
        scalar = np.array(row[0])
        expected = program(steps, arrays, [row, scalar], clear=True)
    uploads = [
        encrypt_integers(secret, arrays[0], layout=plan.upload),
        integers.encrypt(public, arrays[1], layout=plan.upload).to_bytes(),
    ]
    seen: list[tuple[int, int]] = []
    results = plan(
        *(
            integers.read(public.params, data, layout=plan.upload).with_keys(public)
            for data in uploads
        ),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == sorted(seen)
    assert all(done == total for done, total in seen[-1:])
    for found, wanted in zip(results, expected, strict=True):
        back = integers.read(public.params, found.to_bytes(), layout=plan.answer)
        decrypted = decrypt_integers(secret, back)
        assert decrypted.dtype == wanted.dtype
        np.testing.assert_array_equal(decrypted, wanted)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, seed=st.integers(0, 2**32))
def test_what_a_plan_says_along_slots_is_what_comes(
    keys: Any, small: VectorParams, steps: Any, seed: int
) -> None:
    """Levels of results on encryptions under the public key, and keys: no more and no fewer."""
    _, public = keys
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(0, 256, 4, dtype=np.uint8) for _ in range(3)]
    plan = integers.plan(
        lambda x, y: program(steps, [x, y], [arrays[2]], clear=False),
        *["uint8"] * 2,
        count=4,
        params=small,
        layout="slotwise",
    )
    inputs = [integers.encrypt(public, array, layout=plan.upload) for array in arrays[:2]]
    results = plan(*inputs, progress=False)
    assert min(result.blocks[0].level for result in results) == plan.levels[-1]
    secret, few = keygen(small, **plan.keys)
    again = [integers.encrypt(few, array, layout=plan.upload) for array in arrays[:2]]
    for result, other in zip(plan(*again, progress=False), results, strict=True):
        assert result.blocks[0].level == other.blocks[0].level
        assert decrypt_integers(secret, result).shape == (4,)


@pytest.mark.parametrize(
    "dtype", ["uint1", "int2", "uint3", "int4", "uint5", "int6", "int7", "uint8"]
)
def test_comparisons_along_slots_are_those_of_numbers(small: VectorParams, dtype: str) -> None:
    """All widths up to a circle: windows of bits are no powers of two."""
    lying = integers.Slotwise(small, dtype)
    rotations = lying.slot_rotations + lying.choice_rotations
    secret, public = keygen(small, slot_rotations=rotations)
    kind, rng = lying.kind, np.random.default_rng(lying.kind.width)
    for count in {1, lying.capacity}:
        a, b = (rng.integers(kind.least, kind.most, count, endpoint=True) for _ in range(2))
        b[: count // 3] = a[: count // 3]
        x, y = lying.encrypt(public, a), lying.encrypt(public, b)
        for compare in COMPARED.values():
            for found in (compare(x, y), compare(x, b)):
                assert isinstance(found, integers.SlotwiseTruths)
                assert decrypt_slotwise(secret, found).tolist() == compare(a, b).tolist()
        chosen = ((x < y) | (x == kind.most) ^ True).where(x, b)
        expected = np.where((a < b) | (a == kind.most) ^ True, a, b)
        assert decrypt_slotwise(secret, chosen).tolist() == expected.tolist()
        constant = (x >= y).where(kind.most, kind.least)
        expected = np.where(a >= b, kind.most, kind.least)
        assert decrypt_slotwise(secret, constant).tolist() == expected.tolist()


def test_truth_values_leave_nothing_beside_them(small: VectorParams) -> None:
    """Slots of a comparison hold its result, and nothing of how it was found."""
    lying = integers.Slotwise(small, "int4")
    secret, public = keygen(small, slot_rotations=lying.slot_rotations)
    x, y = (lying.encrypt(public, numbers) for numbers in ([1, -3, 7], [2, -4, 7]))
    for truths in (x < y, x == y, ~(x == y), (x < y) ^ (x > y), (x < y) | (x != y)):
        row = decrypt_slots(secret, truths.slots)
        row[lying.truths_row(True, lying.capacity) == 1] = 0
        assert not row.any()


def test_few_numbers_lie_along_slots_and_many_do_not() -> None:
    few = integers.plan(operator.add, "uint64", "uint64", count=8, engine="binary")
    assert (few.layout, few.upload, few.answer) == ("slotwise",) * 3
    assert few.keys == {"slot_rotations": [(0, -step) for step in (1, 2, 4, 8, 16, 32)]}
    many = integers.plan(operator.add, "uint64", "uint64", count=512, engine="binary")
    assert (many.layout, many.upload, many.keys) == ("sliced", "sliced", {})
    unknown = integers.plan(operator.add, "uint64", "uint64", engine="binary")
    assert unknown.layout == "sliced"
    for plan in (few, many):
        found: dict[str, Any] = {each.way: each for each in plan.decision.estimates}
        along, sliced = found["binary, slotwise"], found["binary, sliced"]
        assert along.products == 12
        assert along.slots == 8
        blocks = -(-plan.count // along.slots)
        assert along.up / blocks < sliced.up / 60
        assert "slotwise" in plan.decision.explain()
    assert "slotwise" in unknown.decision.explain()
    assert "count=" in unknown.decision.explain()
    assert "count=" not in few.decision.explain()
    product = integers.plan(operator.mul, "uint8", "uint8", count=2)
    assert product.layout == "sliced"
    assert "slotwise" in product.decision.explain()
    several = integers.plan(lambda a: a.bit_count(), "uint8", count=2)
    assert "operation 'count'" in several.decision.explain()


def test_integers_that_are_sliced_are_computed_so_by_plans_that_chose() -> None:
    """Programs that know nothing of layouts: where none was asked for, they go on as they were.

    Sums of 32 bits are several times as fast along slots: the choice does not hang on the machine.
    """
    plan = integers.plan(operator.add, "uint32", "uint32", count=3, engine="binary")
    assert plan.layout == "slotwise"
    secret, public = keygen(plan.params)
    a, b = (integers.encrypt(public, [1, 2, 2**32 - 6], "uint32") for _ in range(2))
    found = plan(a, b)
    assert isinstance(found, integers.EncryptedIntegers)
    assert decrypt_integers(secret, found).tolist() == [2, 4, 2**32 - 12]
    along = integers.encrypt(public, [1, 2, 2**32 - 6], "uint32", layout="slotwise")
    with pytest.raises(hesc.ParameterError, match="slotwise, and these are sliced"):
        plan(along, b)


def test_plans_on_presets_compute_in_every_layout() -> None:
    rng = np.random.default_rng(9)
    a, b = (rng.integers(-(2**15), 2**15, 40).astype(np.int16) for _ in range(2))
    expected = [a + b, np.minimum(a, b)]
    for form in FORMS:
        plan = integers.plan(
            lambda x, y: (x + y, integers.minimum(x, y)),
            *["int16"] * 2,
            count=40,
            engine="binary",
            **form,
        )
        secret, public = keygen(plan.params, **plan.keys)
        data = [encrypt_integers(secret, x, layout=plan.upload) for x in (a, b)]
        inputs = [
            integers.read(public.params, x, layout=plan.upload).with_keys(public) for x in data
        ]
        for found, wanted in zip(plan(*inputs, progress=False), expected, strict=True):
            np.testing.assert_array_equal(decrypt_integers(secret, found), wanted)
        # What an upload has, with its frame, is what a plan says.
        assert 0.9 < sum(map(len, data)) / plan.chosen.up < 1.2


def test_noise_of_what_is_unpacked_is_within_what_plans_go_by() -> None:
    plan = integers.plan(
        operator.add, "uint16", "uint16", count=3, engine="binary", upload="packed"
    )
    secret, public = keygen(plan.params, **plan.keys)
    (start, *_), bits = plan.levels, 0
    for encrypted in (
        integers.encrypt(public, [1, 2, 65535], "uint16", layout="packed"),
        integers.read(
            public.params,
            encrypt_integers(secret, [7, 8, 9], "uint16", layout="packed"),
            layout="packed",
        ).with_keys(public),
    ):
        assert isinstance(encrypted, integers.PackedIntegers)
        for bit in encrypted.unpack(start).bits():
            slots = EncryptedSlots(public.params, bit, "numbers")
            assert secret.noise_budget(slots) >= slots.noise_budget
            assert bit.level == start
            bits += 1
    assert bits == 32


@pytest.mark.parametrize("layout", integers.LAYOUTS)
def test_wire_forms_of_layouts_lead_back(keys: Any, layout: str) -> None:
    secret, public = keys
    for dtype, values in (
        ("uint8", [200, 3, 9]),
        ("int8", list(range(-20, 20))),
        ("int5", [-16, 15, -1, 0]),
        ("uint1", [1, 0, 1]),
    ):
        x = integers.encrypt(public, values, dtype, layout=layout)
        again = integers.read(public.params, x.to_bytes(), layout=layout)
        assert again.to_bytes() == x.to_bytes() == pickle.loads(pickle.dumps(x)).to_bytes()  # noqa: S301
        assert (again.dtype, len(again), again.layout) == (dtype, len(values), layout)
        assert decrypt_integers(secret, again).tolist() == values
        seeded = encrypt_integers(secret, values, dtype, layout=layout)
        assert len(seeded) < 0.6 * len(x.to_bytes())
        other = integers.read(public.params, seeded, layout=layout)
        assert decrypt_integers(secret, other).tolist() == values
        for expected in set(integers.LAYOUTS) - {layout}:
            with pytest.raises(hesc.ParameterError, match=f'layout="{layout}"'):
                integers.read(public.params, seeded, layout=expected)
        data = bytearray(x.to_bytes())
        for place in (0, 20, 24, len(data) // 2, len(data) - 1):
            damaged = bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            with pytest.raises((hesc.WireError, hesc.ParameterError)):
                integers.read(public.params, damaged, layout=layout)
        with pytest.raises(hesc.WireError):
            integers.read(public.params, bytes(data[:-1]), layout=layout)


def test_mixed_layouts_are_refused_by_name(keys: Any, small: VectorParams) -> None:
    _, public = keys
    given = {
        layout: integers.encrypt(public, [1, 2], "uint8", layout=layout)
        for layout in integers.LAYOUTS
    }
    for form in ({"layout": "slotwise"}, {"layout": "sliced"}, {"upload": "packed"}):
        plan = integers.plan(operator.add, "uint8", "uint8", count=2, params=small, **form)  # type: ignore[arg-type]
        own = given[plan.upload]
        for layout, other in given.items():
            if layout != plan.upload:
                with pytest.raises(
                    hesc.ParameterError, match=f"{plan.upload}, and these are {layout}"
                ):
                    plan(own, other)
        with pytest.raises(hesc.ShapeError):
            plan(own, integers.encrypt(public, [1], "uint8", layout=plan.upload))
        with pytest.raises(hesc.ParameterError, match="uint7"):
            plan(own, integers.encrypt(public, [1, 2], "uint7", layout=plan.upload))
        _, others = keygen(small, **plan.keys)
        with pytest.raises(hesc.KeyMismatchError):
            plan(own, integers.encrypt(others, [1, 2], "uint8", layout=plan.upload))
    along, sliced = given["slotwise"], given["sliced"]
    assert isinstance(along, integers.SlotwiseArray)
    with pytest.raises(hesc.ParameterError, match="layout="):
        integers.evaluate(along + sliced)
    with pytest.raises(hesc.ParameterError, match="PackedIntegers"):
        given["packed"] + sliced  # type: ignore[operator]
    with pytest.raises(hesc.ParameterError, match="PackedIntegers"):
        along + given["packed"]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_public_numbers_go_with_those_of_their_block(
    keys: Any, small: VectorParams, count: int
) -> None:
    """Of blocks of two numbers, whose last one may have one."""
    secret, public = keys
    numbers, row = np.arange(count, dtype=np.uint8), 7 * np.arange(1, count + 1, dtype=np.uint8)
    plan = integers.plan(
        lambda a: (a ^ row, a & row), "uint8", count=count, params=small, layout="slotwise"
    )
    given = integers.encrypt(public, numbers, "uint8", layout="slotwise")
    for found, expected in zip(
        plan(given, progress=False), (numbers ^ row, numbers & row), strict=True
    ):
        np.testing.assert_array_equal(decrypt_integers(secret, found), expected)


def test_expressions_along_slots_are_evaluated(keys: Any) -> None:
    secret, public = keys
    x = integers.encrypt(public, [1, 2, 250], "uint8", layout="slotwise")
    y = integers.encrypt(public, [7, 250, 250], "uint8", layout="slotwise")
    assert isinstance(x, integers.SlotwiseArray)
    summed, larger = integers.evaluate(x + y, x > y, spare=1)
    assert decrypt_integers(secret, summed).tolist() == [8, 252, 244]
    assert decrypt_integers(secret, larger).tolist() == [False, False, False]
    assert decrypt_integers(secret, integers.evaluate(summed - x)).tolist() == [7, 250, 250]
    assert decrypt_integers(secret, integers.evaluate(x * y)).tolist() == [7, 244, 36]
    with pytest.raises(hesc.ParameterError, match="count"):
        integers.evaluate(x.bit_count())
    deep: Any = x
    for _ in range(12):
        deep = deep + y
    with pytest.raises(hesc.CircuitError, match="sliced"):
        integers.evaluate(deep)


def test_packed_answers_of_several_blocks_have_room(keys: Any, small: VectorParams) -> None:
    """Bits of all blocks lie together, however narrow results are: plans count on that."""
    secret, public = keys
    params = Params.cyclotomic(51, [50] * 12, [50], plain_modulus=2, assurance="insecure")
    tiny = keygen(params, unpacking=True)
    numbers = np.arange(9) % 16
    try:
        plan = integers.plan(
            lambda a: ((a | a) % a, a | a), "uint4", count=9, params=params, answer="packed"
        )
    except hesc.CircuitError:
        pass
    else:
        found = plan(integers.encrypt(tiny[1], numbers, "uint4"), progress=False)
        assert decrypt_integers(tiny[0], found[1]).tolist() == numbers.tolist()
    many = np.arange(100, dtype=np.uint8) % 4
    plan = integers.plan(operator.sub, "uint2", "uint2", count=100, params=small, answer="packed")
    a, b = (integers.encrypt(public, x, "uint2") for x in (many, many[::-1]))
    found = decrypt_integers(secret, plan(a, b, progress=False))
    np.testing.assert_array_equal(found, (many - many[::-1]) % 4)
    # Of two sets, whose blocks are as many or not.
    foreign = integers.encrypt(tiny[1], many, "uint2")
    with pytest.raises(hesc.HescError):
        plan(a, foreign)


def test_answers_are_no_inputs_of_packed_plans(keys: Any, small: VectorParams) -> None:
    _, public = keys
    plan = integers.plan(
        operator.add, *["uint8"] * 2, params=small, upload="packed", answer="packed"
    )
    x, y = (integers.encrypt(public, [1], "uint8", layout="packed") for _ in range(2))
    answer = plan(x, y, progress=False)
    with pytest.raises(hesc.CircuitError, match="these are answers"):
        plan(answer, x)


def test_keys_without_what_a_plan_needs_are_refused(small: VectorParams) -> None:
    _, bare = keygen(small)
    for form in ({"layout": "slotwise"}, {"upload": "packed"}):
        plan = integers.plan(operator.add, "uint8", "uint8", count=2, params=small, **form)  # type: ignore[arg-type]
        x = integers.encrypt(bare, [1, 2], "uint8", layout=plan.upload)
        with pytest.raises(hesc.ParameterError, match=next(iter(plan.keys))):
            plan(x, x)
    plan = integers.plan(operator.add, "uint8", "uint8", count=2, params=small, layout="slotwise")
    _, without = keygen(small, products=False, **plan.keys)
    x = integers.encrypt(without, [1, 2], "uint8", layout="slotwise")
    with pytest.raises(hesc.ParameterError, match="relinearisation"):
        plan(x, x)


def test_what_no_layout_computes_is_refused(keys: Any, small: VectorParams) -> None:
    _, public = keys
    row = np.arange(2, dtype=np.uint8)
    alone: list[tuple[Callable[..., Any], list[str], str]] = [
        (operator.floordiv, ["int8", "int8"], "with sign"),
        (operator.add, ["uint8", "uint16"], "several types"),
        (operator.and_, ["bool", "bool"], "truth values"),
        (lambda a: a.astype("uint16"), ["uint8"], "conversion"),
        (lambda a: (a, integers.maximum(a, 0) - a, a.bit_count()), ["uint8"], "count"),
        (lambda a: (a < 3) == (a > 5), ["uint8"], "equal"),
        (lambda a: [a + 1, a**0], ["uint8"], "public"),
        (lambda a: integers.total([a, a]), ["uint8"], "conversion"),
    ]
    for function, dtypes, reason in alone:
        with pytest.raises(hesc.ParameterError, match=reason):
            integers.plan(function, *dtypes, count=2, params=small, layout="slotwise")
    for wrong in (
        {"layout": "diagonal"},
        {"layout": "packed"},
        {"upload": "slotwise"},
        {"answer": "short"},
        {"upload": "packed", "layout": "slotwise"},
        {"upload": "packed", "engine": "prime"},
        {"layout": "slotwise", "engine": "bootstrapped"},
    ):
        with pytest.raises(hesc.ParameterError, match=r"layout|upload|answer"):
            integers.plan(operator.add, "uint8", "uint8", count=2, **wrong)  # type: ignore[arg-type]
    with pytest.raises(hesc.CircuitError, match="packed"):
        integers.plan(
            operator.add,
            *["uint8"] * 2,
            params=Params.preset("bgv_16384"),
            upload="packed",
        )
    with pytest.raises(hesc.CircuitError, match='layout="sliced"'):
        integers.plan(
            lambda a: a + a + a + a,
            "uint64",
            count=1,
            params=Params.preset("bgv_13107"),
            layout="slotwise",
        )
    _, many = keygen(Params.preset("bgv_16384"), products=False)
    with pytest.raises(hesc.ParameterError, match="bgv_16384"):
        integers.encrypt(many, [1], "uint8", layout="packed")
    for encrypted in ("diagonal", "packed by powers"):
        with pytest.raises(hesc.ParameterError, match="there is no layout"):
            integers.encrypt(public, row, layout=encrypted)
    with pytest.raises(hesc.ParameterError, match="more bits than a circle"):
        integers.encrypt(public, [1], "uint9", layout="slotwise")


def test_noise_that_a_plan_does_not_know_is_refused_before_it_starts(
    keys: Any, small: VectorParams
) -> None:
    """A block that is lower than the others."""
    _, public = keys
    plan = integers.plan(
        lambda a: a + (a + (a + a)), "uint8", count=5, params=small, layout="slotwise"
    )
    x = integers.encrypt(public, [1, 2, 3, 4, 5], "uint8", layout="slotwise")
    assert isinstance(x, integers.SlotwiseArray)
    x.blocks[-1] = x.blocks[-1].mod_switch_to(2)
    seen: list[int] = []
    with pytest.raises(hesc.CircuitError, match="room"):
        plan(x, progress=lambda done, _: seen.append(done))
    assert not seen


def test_what_goes_with_no_truth_value_is_refused(keys: Any, small: VectorParams) -> None:
    lying = integers.Slotwise(small, "uint8")
    x = lying.encrypt(keys[1], [3])
    truths = x < 5
    masked = np.ma.masked_array([True], mask=[True])
    others: list[Any] = [[1], [1.5], 1, [True, False], masked, x]
    for other in others:
        with pytest.raises(hesc.HescError):
            truths & other
    with pytest.raises(hesc.ShapeError):
        truths | (lying.encrypt(keys[1], [3, 4]) < 5)
    with pytest.raises(hesc.ShapeError):
        truths.where(x, lying.encrypt(keys[1], [3, 4]))
    with pytest.raises(hesc.OutOfRangeError):
        truths.where(x, 256)
    for number in (300, 1.5):
        with pytest.raises(hesc.OutOfRangeError):
            x < number  # noqa: B015
