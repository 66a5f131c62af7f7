"""Products of encrypted matrices against numpy's, and what their plans state beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc._native import primes_of_bits
from hesc._support import memory
from hesc.vectors import EncryptedVector, MatrixProduct
from hesc.vectors.grids import MatrixGrids, MatrixShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SCHEMES = ("bfv", "bgv", "ckks")
SHAPES = ((1, 1, 1), (1, 300, 1), (3, 5, 2), (7, 1, 9), (16, 16, 16), (130, 4, 90), (33, 65, 17))
CLEAR = (None, "left", "right")


def params_of(scheme: str) -> Any:
    return hesc.Params.recommended(scheme, encoding="vectors")


def drawn(plan: MatrixProduct, bounds: tuple[int, int], seed: int) -> list[NDArray[Any]]:
    rng = np.random.default_rng(seed)
    inner = plan._inner
    shapes = (plan.shape[0], inner), (inner, plan.shape[1])
    if plan.params.is_approximate:
        return [rng.uniform(-1, 1, shape) for shape in shapes]
    return [rng.integers(-b, b + 1, shape) for b, shape in zip(bounds, shapes, strict=True)]


class Run:
    """One product, computed."""

    def __init__(
        self, plan: MatrixProduct, matrices: list[NDArray[Any]], bounds: tuple[int, int]
    ) -> None:
        self.secret, self.public = hesc.keygen(plan.params, **plan.keys)
        self.operands: list[Any] = []
        sides = zip(("left", "right"), (plan.left, plan.right), matrices, bounds, strict=True)
        for side, lay, matrix, bound in sides:
            declared: Any = {} if plan.params.is_approximate else {"bound": bound}
            self.operands.append(
                matrix
                if plan.clear == side
                else [self.public.encrypt(vector, **declared) for vector in lay(matrix)]
            )
        self.vectors = plan.multiply(*self.operands)
        self.decrypted = [self.secret.decrypt(vector) for vector in self.vectors]
        self.found = plan.matrix(self.decrypted)
        self.error = float(np.abs(self.found - matrices[0] @ matrices[1]).max())


@pytest.mark.parametrize("objective", ["latency", "bytes"])
@pytest.mark.parametrize("clear", CLEAR)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_products_are_numpys_and_as_stated(
    scheme: str, shape: tuple[int, int, int], clear: str | None, objective: str
) -> None:
    rows, inner, columns = shape
    bounds = (7, 5)
    exact = scheme != "ckks"
    plan = MatrixProduct(
        params_of(scheme),
        (rows, inner),
        (inner, columns),
        clear=clear,
        bounds=bounds if exact else None,
        objective=objective,
    )
    run = Run(plan, drawn(plan, bounds, seed=sum(shape)), bounds)
    assert run.error <= plan.error_bound
    assert plan.bound == (35 * inner if exact else None)
    up = [each for each in run.operands if isinstance(each, list)]
    assert [len(each) for each in up] == [count for count in plan.ciphertexts[:2] if count]
    assert len(run.vectors) == plan.ciphertexts[2]
    for vector in run.vectors:
        assert vector.bound == plan.bound
        # By public keys there is more noise, and of BGV a product may have fewer primes.
        assert vector.level <= plan.level
        assert scheme == "bgv" or vector.level == plan.level
        assert vector.error_bound <= plan.error_bound * (1 + 1e-12)
        # Integers in the clear decide about it, to a bit.
        assert vector.noise_budget >= plan.noise_budget - bool(exact and clear)
    down = sum(len(vector.to_bytes()) for vector in run.vectors)
    assert down <= plan.bytes_down
    assert scheme == "bgv" or down == plan.bytes_down
    assert len(run.public.to_bytes()) == plan.key_bytes
    size = hesc.params.wire_sizes.vector(plan.params, seeded=True)
    assert sum(map(len, up)) * size == plan.bytes_up


class InTheClear:
    """Slots in the clear, in rows that rotate: what `MatrixOperations` is on ciphertexts."""

    def __init__(self, row: int, slots: int) -> None:
        self.row, self.slots = row, slots

    def filled(self, vector: NDArray[Any]) -> NDArray[Any]:
        return np.tile(vector, self.slots // len(vector)).reshape(-1, self.row)

    def turned(self, slots: NDArray[Any], steps: list[int]) -> list[NDArray[Any]]:
        return [np.roll(slots, -step, axis=1) for step in steps]

    def summed(self, pairs: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
        return sum((a * b for a, b in pairs), np.zeros((1, 1), dtype=int))

    def weighed(self, pairs: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
        return self.summed([(self.filled(numbers), slots) for numbers, slots in pairs])

    def folded(self, slots: NDArray[Any], period: int, onto: int) -> NDArray[Any]:
        while period > onto:
            period //= 2
            slots = slots + (slots[::-1] if period >= self.row else np.roll(slots, -period, axis=1))
        return slots


@pytest.mark.parametrize("rows_of_slots", [1, 2])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("shape", [(4, 4, 4), (3, 11, 5), (9, 2, 20), (1, 70, 1), (17, 8, 3)])
def test_every_layout_computes_the_product(
    shape: tuple[int, int, int], plain: bool, rows_of_slots: int
) -> None:
    """Those that no plan chooses here, too; and nothing else lies in their slots."""
    rows, inner, columns = shape
    row = 32
    slots = InTheClear(row, rows_of_slots * row)
    rng = np.random.default_rng(1)
    a, b = rng.integers(1, 9, (rows, inner)), rng.integers(1, 9, (inner, columns))
    layouts = list(MatrixGrids.all(MatrixShape(*shape), row, slots.slots, plain=plain))
    assert len(layouts) > 3
    for layout in layouts:
        left: Any = layout.left(a) if plain else [slots.filled(v) for v in layout.left(a)]
        right: Any = [slots.filled(v) for v in layout.right(b)]
        operations: Any = slots
        found: list[Any] = list(layout.product(left, right, operations))
        assert len(found) == layout.work.results
        vectors = [each.reshape(-1)[: layout.result_length] for each in found]
        assert all(np.array_equal(slots.filled(v), f) for v, f in zip(vectors, found, strict=True))
        np.testing.assert_array_equal(layout.matrix(vectors), a @ b)
        assert np.count_nonzero(np.concatenate(vectors)) == rows * columns


@pytest.mark.parametrize("clear", CLEAR)
@pytest.mark.parametrize("shape", [(20, 40, 24), (64, 64, 64)])
@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_nothing_else_lies_in_the_slots(
    scheme: str, shape: tuple[int, int, int], clear: str | None
) -> None:
    """Sums of parts of the product would tell of the matrices what the product does not."""
    rows, inner, columns = shape
    for objective in ("latency", "bytes"):
        plan = MatrixProduct(
            params_of(scheme),
            (rows, inner),
            (inner, columns),
            clear=clear,
            bounds=(9, 9),
            objective=objective,
        )
        run = Run(plan, [np.full((rows, inner), 9), np.full((inner, columns), 9)], (9, 9))
        found = np.concatenate(run.decrypted)
        assert set(found.tolist()) <= {0, 9 * 9 * inner}
        # Each entry once or several times, copies of the whole.
        assert np.count_nonzero(found) % (rows * columns) == 0


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("clear", CLEAR)
@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_the_largest_integers_are_exact_and_larger_ones_refused(
    scheme: str, clear: str | None, sign: int
) -> None:
    params = params_of(scheme)
    largest = -params.integer_range[0]
    inner = 8
    bound = int((largest // inner) ** 0.5)
    other = largest // inner // bound
    plan = MatrixProduct(params, (5, inner), (inner, 6), clear=clear, bounds=(bound, other))
    a, b = np.full((5, inner), sign * bound), np.full((inner, 6), other)
    run = Run(plan, [a, b], (bound, other))
    assert run.error == 0
    assert abs(run.found[0, 0]) == bound * other * inner > 0.95 * largest
    with pytest.raises(hesc.OutOfRangeError, match="larger plain_modulus"):
        MatrixProduct(params, (5, inner), (inner, 6), clear=clear, bounds=(bound, other + 1))
    # Without a plan's bounds those of vectors decide, before anything is computed.
    free = MatrixProduct(params, (5, inner), (inner, 6), clear=clear)
    operands = [
        matrix if clear == side else [run.public.encrypt(v, bound=most) for v in lay(matrix)]
        for side, lay, matrix, most in (
            ("left", free.left, a, bound),
            ("right", free.right, b + (clear == "right"), other + 1),
        )
    ]
    if clear != "left":
        with pytest.raises(hesc.OutOfRangeError, match="the result may be beyond"):
            free.multiply(*operands)


def test_integers_modulo_the_plain_modulus_have_no_bound() -> None:
    params = params_of("bgv")
    plan = MatrixProduct(params, (2, 3), (3, 2))
    secret, public = hesc.keygen(params, **plan.keys)
    a, b = np.full((2, 3), 30000), np.full((3, 2), -29999)
    x = [public.encrypt(v, wrap=True) for v in plan.left(a)]
    y = [public.encrypt(v, wrap=True) for v in plan.right(b)]
    product = plan.multiply(x, y)
    assert product[0].bound is None
    found = plan.matrix([secret.decrypt(v) for v in product])
    assert np.array_equal(found % 65537, (a @ b) % 65537)
    bounded = MatrixProduct(params, (2, 3), (3, 2), bounds=(100, 100))
    with pytest.raises(hesc.ParameterError, match="wrap=True"):
        bounded.multiply(x, y)


def test_small_types_say_what_their_numbers_stay_within() -> None:
    params = params_of("bfv")
    plan = MatrixProduct(params, (3, 4), (4, 2), bounds=(1, 255))
    secret, public = hesc.keygen(params, **plan.keys)
    a = np.arange(12).reshape(3, 4) % 3 == 0
    b = np.arange(248, 256, dtype=np.uint8).reshape(4, 2)
    product = plan.multiply(
        [public.encrypt(v) for v in plan.left(a)], [public.encrypt(v) for v in plan.right(b)]
    )
    found = plan.matrix([secret.decrypt(v) for v in product])
    assert np.array_equal(found, a.astype(int) @ b.astype(int))
    assert product[0].bound == plan.bound == 4 * 255


@pytest.mark.parametrize("clear", CLEAR)
@pytest.mark.parametrize("values", ["random", "largest", "complex"])
def test_errors_of_ckks_are_within_what_plans_state(values: str, clear: str | None) -> None:
    """Many entries, so that the measured maximum is not far below what the model calls likely."""
    rng = np.random.default_rng(5)
    params = params_of("ckks")
    for shape in ((24, 30), (30, 40)), ((1, 2000), (2000, 1)):
        plan = MatrixProduct(params, *shape, clear=clear)
        matrices = [rng.uniform(-1, 1, side) for side in shape]
        if values == "largest":
            matrices = [np.sign(matrix) for matrix in matrices]
        if values == "complex":
            matrices = [np.exp(1j * np.pi * matrix) for matrix in matrices]
        run = Run(plan, matrices, (1, 1))
        assert 0 < run.error <= plan.error_bound
        assert (run.found.dtype.kind == "c") == (values == "complex")


def test_weights_in_the_clear_may_be_larger() -> None:
    params = params_of("ckks")
    plan = MatrixProduct(params, (3, 5), (5, 4), clear="right", bounds=(1.0, 100.0))
    rng = np.random.default_rng(2)
    run = Run(plan, [rng.uniform(-1, 1, (3, 5)), rng.uniform(-100, 100, (5, 4))], (1, 1))
    assert run.error <= plan.error_bound
    assert plan.error_bound > MatrixProduct(params, (3, 5), (5, 4), clear="right").error_bound
    with pytest.raises(hesc.OutOfRangeError, match=r"beyond 100\.0"):
        plan.multiply(run.operands[0], np.full((5, 4), 100.5))


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_both_rows_are_filled(scheme: str) -> None:
    """Twice the slots are half the ciphertexts; the exchange of rows adds both halves."""
    params = params_of(scheme)
    row = params.ring_degree // 2
    plan = MatrixProduct(params, (1, 2 * row), (2 * row, 1), bounds=(2, 1), objective="bytes")
    assert plan.keys["conjugate"]
    assert plan.ciphertexts == (1, 1, 1)
    run = Run(plan, drawn(plan, (2, 1), 3), (2, 1))
    assert run.error == 0
    wide = MatrixProduct(params, (8, 64), (64, 128), bounds=(2, 1), clear="left", objective="bytes")
    assert wide.ciphertexts == (0, 1, 1)
    assert wide.lengths[1:] == (2 * row, 2 * row)
    assert Run(wide, drawn(wide, (2, 1), 4), (2, 1)).error == 0
    _, public = hesc.keygen(params, **{**plan.keys, "conjugate": False})
    x = [public.encrypt(v, bound=2) for v in plan.left(np.ones((1, 2 * row), int))]
    y = [public.encrypt(v, bound=1) for v in plan.right(np.ones((2 * row, 1), int))]
    with pytest.raises(hesc.ParameterError, match="the exchange of rows"):
        plan.multiply(x, y)


def test_fewer_bytes_are_more_rotations() -> None:
    params = params_of("bgv")
    of = {
        objective: MatrixProduct(params, (64, 64), (64, 64), objective=objective)
        for objective in ("latency", "bytes")
    }
    assert of["bytes"].bytes_up + of["bytes"].bytes_down < of["latency"].bytes_up
    assert of["bytes"].rotations > of["latency"].rotations
    assert of["bytes"].key_bytes > of["latency"].key_bytes


@pytest.mark.parametrize("side", ["left", "right"])
def test_matrices_in_the_clear_larger_than_a_row_are_cut(side: str) -> None:
    params = params_of("bgv")
    row = params.ring_degree // 2
    left, right = (1, row + 3), (row + 3, 2)
    plan = MatrixProduct(params, left, right, clear=side, bounds=(1, 1))
    assert Run(plan, drawn(plan, (1, 1), 6), (1, 1)).error == 0


def test_products_follow_one_another_on_the_wire() -> None:
    """Results of a plan are read as vectors, and are operands of a plan of the same layout."""
    params = params_of("ckks")
    plan = MatrixProduct(params, (64, 64), (64, 64), clear="left")
    rng = np.random.default_rng(8)
    a, b = rng.uniform(-1, 1, (64, 64)) / 64, rng.uniform(-1, 1, (64, 64))
    secret, public = hesc.keygen(params, **plan.keys)
    up = [secret.encrypt_to_bytes(v) for v in plan.right(b)]
    assert sum(map(len, up)) == plan.bytes_up
    read = [EncryptedVector.from_bytes(params, data).with_keys(public) for data in up]
    once = plan.multiply(a, read)
    assert plan.lengths[1] == plan.lengths[2]
    twice = plan.multiply(a, once)
    down = [EncryptedVector.from_bytes(params, v.to_bytes()) for v in twice]
    found = plan.matrix([secret.decrypt(v) for v in down])
    assert np.abs(found - a @ a @ b).max() <= twice[0].error_bound


@pytest.mark.parametrize("shape", [(8, 8, 8), (33, 65, 17)])
@pytest.mark.parametrize("objective", ["latency", "bytes"])
def test_bytes_are_those_of_who_holds_the_secret_key(
    shape: tuple[int, int, int], objective: str
) -> None:
    """His ciphertexts have less noise, so that a product of BGV has more primes."""
    rows, inner, columns = shape
    params = params_of("bgv")
    plan = MatrixProduct(
        params, (rows, inner), (inner, columns), bounds=(7, 5), objective=objective
    )
    secret, public = hesc.keygen(params, **plan.keys)
    a, b = drawn(plan, (7, 5), seed=1)
    up = [
        [secret.encrypt_to_bytes(vector, bound=bound) for vector in lay(matrix)]
        for lay, matrix, bound in ((plan.left, a, 7), (plan.right, b, 5))
    ]
    assert sum(len(data) for side in up for data in side) == plan.bytes_up
    read = [
        [EncryptedVector.from_bytes(params, data).with_keys(public) for data in side] for side in up
    ]
    product = plan.multiply(*read)
    assert [vector.level for vector in product] == [plan.level] * len(product)
    assert sum(len(vector.to_bytes()) for vector in product) == plan.bytes_down
    assert np.array_equal(plan.matrix([secret.decrypt(vector) for vector in product]), a @ b)


def small_set(scheme: str) -> Any:
    """A ring of 256 (insecure), where few entries fill a row of slots."""
    *primes, modulus = primes_of_bits(512, [52, 50, 50, 50, 20])
    own: dict[str, Any] = {"plain_modulus": modulus}
    if scheme == "ckks":
        primes, own = primes_of_bits(512, [54, 52, 40, 40]), {"scale": 2.0**40}
    return hesc.Params.lattice(
        scheme, 256, primes[1:], special_moduli=primes[:1], assurance="insecure", **own
    )


class Chain:
    """`w @ (v @ x)` by two plans: what encrypted `x` becomes is the operand of the second."""

    def __init__(self, params: Any, seed: int) -> None:
        rng = np.random.default_rng(seed)
        inner, middle, rows, columns = rng.choice((1, 2, 3, 5, 8, 16, 33, 64, 130, 300), 4)
        if seed % 2:
            inner = middle = rows
        v, w = rng.integers(-1, 2, (middle, inner)), rng.integers(-1, 2, (rows, middle))
        x = rng.integers(-1, 2, (inner, columns))
        if params.is_approximate:
            v, w = v / inner, w / middle
        self.expected = w @ v @ x
        self.turned = bool(rng.random() < 0.5)
        clear = "right" if self.turned else "left"
        self.weights = [v.T, w.T] if self.turned else [v, w]
        self.plans = [
            MatrixProduct(
                params, *self.ordered(weights.shape, shape), clear=clear, objective=objective
            )
            for weights, shape, objective in zip(
                self.weights,
                [(columns, inner), (columns, middle)]
                if self.turned
                else [x.shape, (middle, columns)],
                rng.choice(("latency", "bytes"), 2),
                strict=True,
            )
        ]
        first, second = (plan.keys for plan in self.plans)
        moves = {
            "rotations": sorted({*first["rotations"], *second["rotations"]}),
            "conjugate": first["conjugate"] or second["conjugate"],
        }
        self.secret, public = hesc.keygen(params, products=False, **moves)
        lay = self.plans[0].left if self.turned else self.plans[0].right
        declared: Any = {} if params.is_approximate else {"bound": 1}
        vectors = lay(x.T if self.turned else x)
        self.once = self.multiplied(0, [public.encrypt(v, **declared) for v in vectors])

    def ordered(self, weights: Any, other: Any) -> tuple[Any, Any]:
        """Both operands in their order, the one in the clear first but for transposes."""
        return (other, weights) if self.turned else (weights, other)

    def multiplied(self, at: int, vectors: list[EncryptedVector]) -> list[EncryptedVector]:
        return self.plans[at].multiply(*self.ordered(self.weights[at], vectors))

    @property
    def fits(self) -> bool:
        """Whether the second plan's operand has as many vectors, of these lengths."""
        plan, at = self.plans[1], 0 if self.turned else 1
        wanted = [plan.lengths[at]] * plan.ciphertexts[at]
        return [len(vector) for vector in self.once] == wanted


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_a_plan_takes_the_products_that_it_follows_and_no_others(scheme: str) -> None:
    params = small_set(scheme)
    followed = refused = 0
    for seed in range(40):
        chain = Chain(params, seed)
        first, second = chain.plans
        if second.follows(first):
            followed += 1
            assert chain.fits
            twice = chain.multiplied(1, chain.once)
            found = second.matrix([chain.secret.decrypt(vector) for vector in twice])
            apart = np.abs((found.T if chain.turned else found) - chain.expected).max()
            assert apart <= max(vector.error_bound for vector in twice), seed
        elif chain.fits:
            refused += 1
            with pytest.raises(hesc.ParameterError, match="does not follow"):
                chain.multiplied(1, chain.once)
            with pytest.raises(hesc.ParameterError, match="does not follow"):
                chain.multiplied(1, [vector + vector for vector in chain.once])
    assert followed >= 8
    assert refused >= 1


def test_operands_of_lower_levels_are_taken() -> None:
    params = params_of("ckks")
    plan = MatrixProduct(params, (4, 4), (4, 4))
    secret, public = hesc.keygen(params, **plan.keys)
    a = np.linspace(-1, 1, 16).reshape(4, 4)
    x = [public.encrypt(v).mod_switch_to(2) for v in plan.left(a)]
    y = [public.encrypt(v) for v in plan.right(a)]
    product = plan.multiply(x, y)
    assert product[0].level == 1
    assert np.abs(plan.matrix([secret.decrypt(v) for v in product]) - a @ a).max() < 1e-4


PLANNED: Any = MatrixProduct
_PLAN = MatrixProduct(params_of("bfv"), (3, 5), (5, 2), bounds=(9, 9))
_CLEAR = MatrixProduct(params_of("bfv"), (3, 5), (5, 2), bounds=(9, 9), clear="left")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: PLANNED(p, (3, 5), (4, 2)), hesc.ShapeError, "has no product with one"),
        (lambda p: PLANNED(p, (3, 0), (0, 2)), hesc.OutOfRangeError, "a side of a matrix"),
        (lambda p: PLANNED(p, (3, 65537), (65537, 2)), hesc.OutOfRangeError, "65536"),
        (lambda p: PLANNED(p, (5000, 1), (1, 5000)), hesc.OutOfRangeError, "one by one"),
        (lambda p: PLANNED(p, (3,), (3, 2)), hesc.ShapeError, "rows and columns"),
        (lambda p: PLANNED(p, 3, (3, 2)), hesc.ParameterError, "give rows and columns"),
        (lambda p: PLANNED(p, (3, 5), (5, 2), clear="both"), hesc.ParameterError, "left"),
        (lambda p: PLANNED(p, (3, 5), (5, 2), objective="x"), hesc.ParameterError, "bytes"),
        (lambda p: PLANNED(p, (3, 5), (5, 2), bounds=(9,)), hesc.ShapeError, "two"),
        (lambda p: PLANNED(p, (3, 5), (5, 2), bounds=(0, 1)), hesc.OutOfRangeError, "bound"),
        (lambda _: _PLAN.left(np.ones((5, 3), int)), hesc.ShapeError, r"shape \(3, 5\)"),
        (lambda _: _PLAN.left(np.full((3, 5), 10)), hesc.OutOfRangeError, "larger bounds"),
        (lambda _: _PLAN.left(np.full((3, 5), 0.5)), hesc.OutOfRangeError, "integers"),
        (lambda _: _PLAN.right(np.full((5, 2), 10**9)), hesc.OutOfRangeError, "plain_modulus"),
        (lambda _: _CLEAR.left(np.ones((3, 5), int)), hesc.ParameterError, "in the clear"),
        (lambda _: _PLAN.matrix([]), hesc.ShapeError, "all that multiply returned"),
        (lambda _: _PLAN.matrix([np.zeros(3)]), hesc.ShapeError, "all that multiply returned"),
        (lambda _: _PLAN.multiply(np.ones((3, 5)), []), hesc.ParameterError, r"plan\.left"),
        (lambda _: _CLEAR.multiply([], []), hesc.ShapeError, "shape"),
        (lambda _: _CLEAR.multiply(np.ones((3, 5)), []), hesc.ShapeError, r"plan\.right"),
    ],
)
def test_refusals_say_what_to_do(
    call: Callable[[Any], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call(params_of("bfv"))


def test_sets_that_cannot_multiply_matrices_are_refused() -> None:
    with pytest.raises(hesc.ParameterError, match="odd index"):
        MatrixProduct(hesc.Params.preset("bgv_4369"), (2, 2), (2, 2))
    bfv = params_of("bfv")
    bare = hesc.Params.lattice(
        "bfv",
        bfv.ring_degree,
        bfv.coeff_moduli,
        plain_modulus=bfv.plain_modulus,
        assurance="insecure",
    )
    with pytest.raises(hesc.ParameterError, match="special primes"):
        MatrixProduct(bare, (2, 2), (2, 2))
    with pytest.raises(hesc.ParameterError, match="is of the type"):
        MatrixProduct(hesc.Params.preset("insecure_tfhe_512"), (2, 2), (2, 2))
    with pytest.raises(hesc.ParameterError, match="stay within 1"):
        MatrixProduct(params_of("ckks"), (2, 2), (2, 2), bounds=(2.0, 1.0))


def test_wrong_operands_and_missing_keys_are_refused() -> None:
    params = params_of("bfv")
    a, b = np.ones((3, 5), int), np.ones((5, 2), int)

    def operands(public: hesc.PublicKeys, bound: int = 9) -> Any:
        return (
            [public.encrypt(v, bound=bound) for v in _PLAN.left(a)],
            [public.encrypt(v, bound=9) for v in _PLAN.right(b)],
        )

    _, public = hesc.keygen(params, **_PLAN.keys)
    x, y = operands(public)
    with pytest.raises(hesc.OutOfRangeError, match="bound=9"):
        _PLAN.multiply(*operands(public, bound=10))
    with pytest.raises(hesc.ShapeError, match="the same plan"):
        _PLAN.multiply(x * 2, y)
    with pytest.raises(hesc.ShapeError, match="the same plan"):
        _PLAN.multiply([public.encrypt([1, 2])], y)
    other = hesc.Params.preset("bfv_16384")
    _, theirs = hesc.keygen(other, products=False)
    with pytest.raises(hesc.ParameterError, match="make both of one set"):
        _PLAN.multiply([theirs.encrypt(v, bound=9) for v in _PLAN.left(a)], y)
    _, few = hesc.keygen(params, rotations=_PLAN.keys["rotations"][1:])
    with pytest.raises(hesc.ParameterError, match=r"keygen\(params, \*\*plan.keys\)"):
        _PLAN.multiply(*operands(few))
    _, none = hesc.keygen(params)
    with pytest.raises(hesc.ParameterError, match=r"keygen\(params, \*\*plan.keys\)"):
        _PLAN.multiply(*operands(none))
    _, moves = hesc.keygen(params, **{**_PLAN.keys, "products": False})
    with pytest.raises(hesc.ParameterError, match="products=True"):
        _PLAN.multiply(*operands(moves))
    # Keys of another pair: its own error.
    _, strange = hesc.keygen(params, **_PLAN.keys)
    with pytest.raises(hesc.KeyMismatchError):
        _PLAN.multiply(x, operands(strange)[1])


def test_products_that_memory_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    params = params_of("bfv")
    plan = MatrixProduct(params, (64, 64), (64, 64), bounds=(1, 1), clear="left")
    _, public = hesc.keygen(params, **plan.keys)
    ones = np.ones((64, 64), int)
    x = [public.encrypt(v, bound=1) for v in plan.right(ones)]
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 20)
    monkeypatch.setattr(memory, "_SMALL", 1 << 20)
    with pytest.raises(MemoryError, match="ciphertexts at once"):
        plan.multiply(ones, x)
