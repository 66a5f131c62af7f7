"""Products by logarithms from Python: numpy beside them, laws, sizes, refusals, stored vectors."""

from __future__ import annotations

import base64
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc import logarithms
from hesc.logarithms import Factor, LogarithmEvaluator
from hesc.logarithms import LogarithmPlan as Plan
from hesc.logarithms.secret import decrypt_logarithms, encrypt_logarithms
from tests.second_implementation import logarithms as second
from tests.second_implementation import wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RNG = np.random.default_rng(19)
VECTORS = Path(__file__).parents[1] / "vectors" / "logarithms.json"
STORED = json.loads(VECTORS.read_text())
MATRIX = RNG.uniform(-2, 2, (3, 5))


class Party(NamedTuple):
    """Everybody's things."""

    plan: Plan
    secret: hesc.SecretKey
    keys: hesc.PublicKeys

    @classmethod
    def of(cls, plan: Plan) -> Party:
        return cls(plan, *hesc.keygen(plan.params, products=False))

    def upload(self, number: int, values: Any) -> bytes:
        if self.plan.factors[number].source == "secret":
            return encrypt_logarithms(self.secret, self.plan, number, values)
        return logarithms.encrypt(self.plan, number, self.keys, values)

    def server(self, numbers: list[Any]) -> LogarithmEvaluator:
        factors = list(enumerate(self.plan.factors))
        clear = {at: numbers[at] for at, factor in factors if factor.source == "clear"}
        shared = [
            self.upload(at, numbers[at])
            for at, factor in factors
            if factor.shared and factor.source != "clear"
        ]
        return LogarithmEvaluator(self.plan, shared=shared, clear=clear)

    def uploads(self, numbers: list[Any]) -> list[bytes]:
        factors = enumerate(self.plan.factors)
        return [self.upload(at, numbers[at]) for at, factor in factors if not factor.shared]

    def run(self, numbers: list[Any]) -> Any:
        answer = self.server(numbers).evaluate(self.uploads(numbers))
        return decrypt_logarithms(self.secret, self.plan, answer)


def matrix_party(source: str = "public", error: float = 0.05) -> Party:
    weights = Factor((3, 5), bound=2.0, source=source, shared=True)
    return Party.of(Plan.sums([Factor(5), weights], error=error))


@pytest.fixture(scope="module")
def party() -> Party:
    return matrix_party()


def hard(shape: tuple[int, ...], bound: Any) -> NDArray[np.float64]:
    """Equal numbers, powers of two, tiny ones, zeros and bounds among others."""
    kinds = RNG.integers(0, 7, shape)
    sizes = [
        np.zeros(shape),
        np.ones(shape),
        0.5 ** RNG.integers(0, 12, shape),
        1e-9 * RNG.uniform(size=shape),
        np.full(shape, 0.37),
        RNG.uniform(size=shape),
        RNG.uniform(size=shape),
    ]
    return np.asarray(np.choose(kinds, sizes) * RNG.choice([-1, 1], shape) * bound)


SHAPES: list[list[tuple[int, ...]]] = [
    [(), ()],
    [(4,), (3, 1)],
    [(2, 3), (3,), ()],
    [(1,), (40, 1), (30,)],
    [(7,), (7,), (7,), (7,), (7,)],
]
SOURCES = ["secret", "public", "clear", "secret", "public"]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("error", [0.3, 0.01])
def test_products_broadcast_as_numpy_does(shapes: list[tuple[int, ...]], error: float) -> None:
    """Every product is between the ends of what roundings make of its factors, certainly."""
    bounds = [0.5 ** (at % 3) for at in range(len(shapes))]
    factors = [
        Factor(shape, bound=bound, source=source, shared=at == 1)
        for at, (shape, bound, source) in enumerate(zip(shapes, bounds, SOURCES, strict=False))
    ]
    party = Party.of(Plan.elementwise(factors, error=error * float(np.prod(bounds))))
    plan = party.plan
    one = [hard(shape, bound) for shape, bound in zip(shapes, bounds, strict=True)]
    expected = np.ones(())
    for numbers in one:
        expected = expected * numbers
    given = [
        numbers if factor.shared else np.broadcast_to(numbers, (60, *factor.shape))
        for numbers, factor in zip(one, plan.factors, strict=True)
    ]
    found = party.run(given)
    assert found.values.shape == (60, *expected.shape)
    assert plan.shape == expected.shape
    assert (plan.errors_of(*one) <= plan.error * (1 + 1e-9)).all()
    least, ratio = 2.0**-plan.code.octaves, 2 ** (1 / plan.code.step) * (1 + 1e-12)
    low, high = np.full((2, *expected.shape), np.prod(bounds))
    for numbers, bound in zip(one, bounds, strict=True):
        share = np.abs(numbers) / bound
        low = low * np.where(share < least, 0, share / ratio)
        high = high * np.where(share == 0, 0, np.maximum(share, least) * ratio)
    sizes = np.abs(found.values)
    assert (low <= sizes).all()
    assert (sizes <= high).all()
    assert (found.values * expected >= 0).all()
    assert plan.sizes(60).down == len(party.server(given).evaluate(party.uploads(given)))


@pytest.mark.parametrize("source", ["secret", "public"])
def test_sums_have_the_law_that_is_stated(source: str) -> None:
    """Mean errors within 6.5 deviations, once in 10^10; mean squares of 2,000 sums in 25 %."""
    factors = [Factor(50, source=source), Factor(50, source=source)]
    weights = RNG.uniform(-2, 2, 50)
    party = Party.of(Plan.sums(factors, error=0.5, weights=weights))
    plan = party.plan
    for x in (np.full(50, 0.3), np.full(50, 2.0**-plan.code.octaves / 2), RNG.uniform(-1, 1, 50)):
        many = np.broadcast_to(x, (2000, 50))
        found = party.run([many, many])
        law = float(plan.errors_of(x, x))
        off = (found.values - (x * x * weights).sum()) / law
        assert abs(off.mean()) * np.sqrt(2000) < 6.5
        assert abs(np.square(off).mean() - 1) < 0.25
        assert np.allclose(found.products @ weights, found.values)
        assert found.error == plan.error


def test_matrices_clear_or_encrypted() -> None:
    x = hard((70, 5), 1.0)
    for source in ("public", "clear", "secret"):
        party = matrix_party(source, 0.02)
        found = party.run([x, MATRIX])
        assert found.values.shape == (70, 3)
        # Seven worst errors; no one of 210 in 10^9 runs.
        assert np.abs(found.values - x @ MATRIX.T).max() < 7 * found.error
        assert found.products.shape == (70, 15)


def test_polynomials_of_two_parties() -> None:
    """2 x^2 z - 0.5 y z^3 + y - 1, and another; the constant costs nothing but a place."""
    exponents = [[[2, 0], [0, 1], [0, 1], [0, 0]], [[1], [3], [0], [0]]]
    coefficients = [[2, -0.5, 1.0, -1], [0.0, 0, 4, 0]]
    factors = [Factor(2, bound=[1, 3]), Factor(1, bound=2.0, source="public")]
    party = Party.of(Plan.polynomial(factors, exponents, coefficients, error=0.05))
    x, z = RNG.uniform([-1, -3], [1, 3], (200, 2)), RNG.uniform(-2, 2, (200, 1))
    monomials = np.stack(
        [x[:, 0] ** 2 * z[:, 0], x[:, 1] * z[:, 0] ** 3, x[:, 1], np.ones(200)], axis=1
    )
    found = party.run([x, z])
    expected = monomials @ np.array(coefficients).T
    assert np.abs(found.values - expected).max() < 7 * found.error
    assert np.array_equal(found.products[:, 3], np.ones(200))
    law = np.array([party.plan.errors_of(*row) for row in zip(x, z, strict=True)])
    square = np.square((found.values - expected) / np.maximum(law, 1e-300)).mean()
    # 400 of them scatter by less than a tenth.
    assert abs(square - 1) < 0.5


def test_zeros_are_zeros_whatever_they_meet() -> None:
    for count in (2, 3, 6):
        party = Party.of(Plan.elementwise([Factor(8)] * count, error=0.1))
        for zeros in range(1, count + 1):
            numbers = [np.where(at < zeros, 0.0, hard((8,), 1.0)) for at in range(count)]
            assert not party.run(numbers).values.any()


def test_plans_travel_and_share_keys(party: Party) -> None:
    again = pickle.loads(pickle.dumps(party.plan))  # noqa: S301 - our own
    assert again.to_bytes() == party.plan.to_bytes()
    assert again.shape == (3,)
    assert [factor.shape for factor in again.factors] == [(5,), (3, 5)]
    assert "2 factors" in repr(again)
    assert "public, shared" in repr(again.factors[1])
    assert party._replace(plan=again).run([np.ones(5), MATRIX]).values.shape == (1, 3)


@pytest.mark.parametrize("source", ["secret", "public"])
def test_sizes_and_names_tell_nothing_of_the_numbers(source: str) -> None:
    party = Party.of(Plan.elementwise([Factor(6, source=source), Factor(6)], error=0.1))
    given = [np.zeros((9, 6)), np.ones((9, 6)), hard((9, 6), 1.0)]
    uploads = [party.upload(0, numbers) for numbers in given]
    assert len({upload[: 14 + 32 + 5] for upload in uploads}) == 1
    assert {len(upload) for upload in uploads} == {party.plan.sizes(9).up[0]}
    assert len({upload[14 + 32 + 5 :] for upload in uploads}) == 3


def stored(case: dict[str, Any], key: str) -> bytes:
    return base64.b64decode(case[key])


@pytest.mark.parametrize("case", STORED, ids=lambda case: case["name"])
def test_stored_vectors(case: dict[str, Any], tmp_path: Path) -> None:
    """hesc and the second implementation read the stored answer; both make it again."""
    data = stored(case, "plan")
    plan, theirs = Plan.from_bytes(data), second.read_plan(data)
    assert theirs.zero * len(theirs.operands) < 1 << (theirs.bits - 1)
    path = tmp_path / "secret"
    path.write_bytes(stored(case, "secret"))
    path.chmod(0o600)
    secret = hesc.SecretKey.load(plan.params, path)
    key = wire.read_secret(path.read_bytes(), theirs.ring_degree)
    answer = stored(case, "answer")
    found = decrypt_logarithms(secret, plan, answer)
    assert np.allclose(found.products, case["products"], rtol=1e-12, atol=0)
    decrypted = second.decrypt(answer, theirs, key)
    assert np.allclose(decrypted, case["products"], rtol=1e-12, atol=0)
    outputs = np.zeros((len(decrypted), int(np.prod(theirs.shape))))
    for output, product, weight in theirs.terms:
        outputs[:, output] += weight * np.array(decrypted)[:, product]
    assert np.allclose(outputs.reshape(found.values.shape), found.values, rtol=1e-9, atol=1e-12)
    # Every upload has codes next to its numbers.
    shared = [base64.b64decode(upload) for upload in case["shared"]]
    uploads = [base64.b64decode(upload) for upload in case["uploads"]]
    read = [second.read_upload(upload, theirs) for upload in [*shared, *uploads]]
    for number, blocks in read:
        operand = theirs.operands[number]
        if operand.source != second.PUBLIC:
            continue
        rows = np.array(case["numbers"][number]).reshape(-1, len(operand.bounds))
        places = [code for block in blocks for code in second.phases(block, theirs, key)]
        for place, code in enumerate(places):
            row = rows[0] if operand.shared else rows[place // theirs.products]
            share = second.factor(operand, place % theirs.products, list(row))
            assert code in second.neighbours(theirs, share), (number, place)
    if all(operand.source == second.PUBLIC for operand in theirs.operands):
        head = wire.open_frame(answer, "logarithm answer")[:32]
        again = second.write_answer([blocks for _, blocks in read], [], theirs, head, 3)
        assert again == answer
    clear = {
        at: np.array(case["numbers"][at])
        for at, factor in enumerate(plan.factors)
        if factor.source == "clear"
    }
    server = LogarithmEvaluator(plan, shared=shared, clear=clear)
    if not clear:
        assert server.evaluate(uploads) == answer
    assert decrypt_logarithms(secret, plan, server.evaluate(uploads)).values.shape[0] == 3


def test_second_implementation_writes_answers_with_clear_factors(tmp_path: Path) -> None:
    """Codes of its own choice for the clear factor; hesc decrypts what it wrote."""
    factors = [Factor(2, source="public"), Factor(2, source="clear")]
    party = Party.of(Plan.elementwise(factors, error=0.05))
    path = tmp_path / "secret"
    party.secret.save(path)
    theirs = second.read_plan(party.plan.to_bytes())
    upload = party.upload(0, [[1.0, -1.0], [0.0, 1.0]])
    _, blocks = second.read_upload(upload, theirs)
    clear = [second.neighbours(theirs, share)[0] for share in (-1.0, 0.5)]
    head = wire.open_frame(upload, "logarithm upload")[:32]
    answer = second.write_answer([blocks], clear, theirs, head, 2)
    found = decrypt_logarithms(party.secret, party.plan, answer).values
    assert np.allclose(found, [[-1, -0.5], [0, 0.5]], rtol=2 ** (1 / theirs.step) - 1, atol=0)


def test_the_error_that_is_stated_is_the_largest() -> None:
    """Searched on a grid, in plain Python; coarse codes have a little less than the bound says."""
    for count, error in [(1, 0.01), (2, 0.02), (3, 0.03)]:
        plan = Plan.elementwise([Factor() for _ in range(count)], error=error)
        found = np.sqrt(second.worst(second.read_plan(plan.to_bytes()), count))
        assert 0.95 * plan.error < found <= plan.error * (1 + 1e-9)


@pytest.mark.parametrize("source", ["secret", "public"])
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("error", [0.2, 0.03, 1e-3, 1e-4])
def test_plans_follow_from_what_they_declare(source: str, count: int, error: float) -> None:
    """Code and bits are made again in Python; the ring is the smallest that has room."""
    factors = [Factor(3, bound=[1, 2, 0.3], source=source)] * count
    clear = Factor((), source="clear")
    plan = Plan.sums([*factors, clear], error=error * 2.0**count, weights=[1, -2, 0.5])
    theirs = second.read_plan(plan.to_bytes())
    code = theirs.bits, theirs.octaves, theirs.step
    assert code == second.expected_code(theirs)
    assert theirs.answer_bits == second.expected_answer_bits(theirs)
    if theirs.ring_degree > 1024:
        smaller = replace(theirs, ring_degree=1024, modulus=67_104_769)
        assert second.expected_answer_bits(smaller) is None


WORD: Any = "x"
BYTES: Any = b"bytes"


def masked() -> Any:
    return np.ma.MaskedArray(np.zeros(5), mask=[False, True, False, False, False])


def poly(exponents: Any, coefficients: Any) -> Plan:
    return Plan.polynomial([Factor(2), Factor(1)], exponents, coefficients, error=0.1)


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda p: p.upload(0, [1.0, 0, 0, 0, 1 + 1e-9]), "OutOfRange", "element 4 in sample 0"),
        (lambda p: p.upload(0, np.full(5, np.nan)), "OutOfRange", "declared bound"),
        (lambda p: p.upload(0, masked()), "Shape", "masked"),
        (lambda p: p.upload(0, np.zeros(4)), "Shape", r"the shape \(5,\)"),
        (lambda p: p.upload(0, np.zeros((0, 5))), "Shape", "0 samples"),
        (lambda p: p.upload(0, np.zeros((2, 2, 5))), "Shape", "samples before it"),
        (lambda p: p.upload(0, [1j] * 5), "Shape", "real"),
        (lambda p: p.upload(1, np.zeros((2, 3, 5))), "Shape", r"the shape \(3, 5\)"),
        (lambda p: encrypt_logarithms(p.secret, p.plan, 1, MATRIX), "Parameter", "public keys"),
        (lambda p: logarithms.encrypt(p.plan, 0, p.keys, np.zeros(5)), "Parameter", "key owner"),
        (lambda p: logarithms.encrypt(p.plan, 2, p.keys, 0), "Parameter", "factors 0 to 1"),
        (lambda p: logarithms.encrypt(p.plan, -1, p.keys, 0), "Parameter", "factors 0 to 1"),
        (lambda p: logarithms.encrypt(p.plan, WORD, p.keys, 0), "Parameter", "factors 0 to 1"),
        (lambda p: logarithms.encrypt(p.secret, 1, p.keys, 0), "Parameter", "Plan first"),
        (lambda p: logarithms.encrypt(p.plan, 1, p.secret, MATRIX), "Parameter", "keygen"),
        (lambda p: encrypt_logarithms(p.secret, None, 0, 0), "Parameter", "plan is of the type"),  # type: ignore[arg-type]
        (lambda p: decrypt_logarithms(p.secret, p.plan, "answer"), "Parameter", "bytes"),  # type: ignore[arg-type]
        (lambda p: decrypt_logarithms(p.secret, p.plan, b"answer"), "Wire", "fewer bytes"),
        (lambda p: decrypt_logarithms(p.secret, None, b""), "Parameter", "plan is of the type"),  # type: ignore[arg-type]
        (lambda p: LogarithmEvaluator(p.plan), "Parameter", "operand 1 is missing"),
        (lambda p: LogarithmEvaluator(p.plan, clear={1: MATRIX}), "Parameter", "is encrypted"),
        (lambda p: LogarithmEvaluator(p.plan, clear={7: MATRIX}), "Parameter", "factors 0 to 1"),
        (lambda p: LogarithmEvaluator(p.secret), "Parameter", "Plan.elementwise"),
        (lambda p: LogarithmEvaluator(p.plan, shared=BYTES), "Parameter", "a list of bytes"),
        (lambda p: p.server([0, MATRIX]).evaluate([]), "Parameter", "operand 0 is missing"),
        (lambda p: p.server([0, MATRIX]).evaluate([WORD]), "Parameter", "a list of bytes"),
        (
            lambda p: p.server([0, MATRIX]).evaluate([p.upload(0, np.ones(5))] * 2),
            "Parameter",
            "operand 0 is there twice",
        ),
        (lambda p: p.plan.errors_of(np.zeros(5)), "Shape", "2 factors"),
        (lambda p: p.plan.errors_of(np.zeros(5), np.zeros(5)), "Shape", "factor 1"),
        (lambda p: p.plan.errors_of(np.full(5, 2.0), MATRIX), "OutOfRange", "declared bound"),
        (lambda _: Plan.from_bytes(b"plan"), "Wire", "plan"),
        (lambda _: Plan.elementwise([], error=1), "Parameter", "a factor for each side"),
        (lambda _: Plan.elementwise([WORD], error=1), "Parameter", "logarithms.Factor"),
        (lambda _: Plan.elementwise([Factor(2), Factor(3)], error=1), "Shape", "broadcast"),
        (lambda _: Plan.elementwise([Factor(1)] * 65, error=1), "Parameter", "1 to 64"),
        (
            lambda _: Plan.elementwise([Factor((2**11, 1)), Factor(2**11)], error=1),
            "Shape",
            "at most",
        ),
        (lambda _: Plan.elementwise([Factor(shared=True)], error=1), "Parameter", "each sample"),
        (lambda _: Plan.elementwise([Factor()], error=0), "Parameter", "error"),
        (lambda _: Plan.elementwise([Factor()], error=np.nan), "Parameter", "error"),
        (lambda _: Plan.elementwise([Factor()], error=1e-15), "NoiseBudget", "no set"),
        (lambda _: Plan.sums([Factor()], error=1), "Shape", "an axis"),
        (lambda _: Plan.sums([Factor(2)], error=1, weights=[1, 2, 3]), "Shape", "weights"),
        (lambda _: Plan.sums([Factor(2)], error=1, weights=[1, np.nan]), "Parameter", "weights"),
        (lambda _: poly([[[1, 0]]], [1]), "Shape", "2 factors"),
        (lambda _: poly([[[1, 0]], [[1], [1]]], [1]), "Parameter", "one for each product"),
        (lambda _: poly([[[1, 0]], [[1, 1]]], [1]), "Shape", "factor 1"),
        (lambda _: poly([[[1, 0]], [[-1]]], [1]), "OutOfRange", "0 to 64"),
        (lambda _: poly([[[1, 0]], [[65]]], [1]), "OutOfRange", "0 to 64"),
        (lambda _: poly([[[1, 0]], [[0.5]]], [1]), "Shape", "whole"),
        (lambda _: poly([[[1, 0]], [[1]]], [1, 2]), "Shape", "coefficients are 1"),
        (lambda _: poly([[[1, 0]], [[1]]], [np.nan]), "Parameter", "weights"),
        (lambda _: poly([[[1, 0]] * 2, [[1]] * 2], [0, 1]), "Parameter", "every product"),
        (lambda _: Factor(2, bound=[1, 2, 3]), "Shape", "bound"),
        (lambda _: Factor(2, source="mine"), "Parameter", "secret, public, clear"),
        (lambda _: Factor((1,) * 9), "Shape", "8 axes"),
        (lambda _: Factor(0), "OutOfRange", "axis"),
        (lambda _: Factor((2**11, 2**11)), "Shape", "at most"),
        (lambda _: Plan.elementwise([Factor(bound=0.0)], error=1), "Parameter", "bounds"),
        (lambda _: Plan.elementwise([Factor(bound=np.inf)], error=1), "Parameter", "bounds"),
    ],
)
def test_refusals(party: Party, act: Callable[[Party], object], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act(party)


def test_other_plans_and_keys_are_refused(party: Party) -> None:
    upload, server = party.upload(0, np.ones(5)), party.server([0, MATRIX])
    answer = server.evaluate([upload])
    # Products are not multiplied again.
    with pytest.raises(hesc.WireError, match="another kind"):
        server.evaluate([answer])
    other = Party.of(party.plan)
    with pytest.raises(hesc.KeyMismatchError):
        server.evaluate([other.upload(0, np.ones(5))])
    with pytest.raises(hesc.KeyMismatchError):
        decrypt_logarithms(other.secret, party.plan, answer)
    plan = matrix_party(error=0.051).plan
    assert plan.params.to_bytes() == party.plan.params.to_bytes()
    with pytest.raises(hesc.ParameterError):
        server.evaluate([party._replace(plan=plan).upload(0, np.ones(5))])
    with pytest.raises(hesc.ParameterError):
        decrypt_logarithms(party.secret, plan, answer)
    both = Party.of(Plan.elementwise([Factor(), Factor()], error=0.1))
    uploads = [both.upload(0, np.ones(3)), both.upload(1, np.ones(2))]
    with pytest.raises(hesc.ShapeError, match="2 samples where others have 3"):
        LogarithmEvaluator(both.plan).evaluate(uploads)


def test_nobody_makes_plans_past_their_checks() -> None:
    kind: Any = Plan
    with pytest.raises(TypeError):
        kind(None)


def test_bounds_that_were_declared_stay() -> None:
    """Neither by the array that they came in, nor by the factor's own."""
    given = np.ones(3)
    factor = Factor(3, bound=given)
    before = Plan.elementwise([factor, Factor(3)], error=0.05).to_bytes()
    given[:] = 100.0
    assert Plan.elementwise([factor, Factor(3)], error=0.05).to_bytes() == before
    with pytest.raises(ValueError, match="read-only"):
        factor.bounds[0] = 100.0


def test_what_is_public_cannot_decrypt() -> None:
    assert set(logarithms.__all__) == {"LogarithmEvaluator", "Factor", "LogarithmPlan", "encrypt"}
    kinds = (LogarithmEvaluator, Factor, Plan)
    assert not any("decrypt" in name for kind in kinds for name in dir(kind))
