"""Ring products from Python: scores beside numpy, sizes, refusals, the second implementation."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc import ring_products
from hesc.ring_products import Bounds, EncryptedModel, Model
from hesc.ring_products import RingProductPlan as Plan
from hesc.ring_products.secret import decrypt_scores, encrypt_features, encrypt_model
from tests.second_implementation import ring_products as second
from tests.second_implementation import wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

RNG = np.random.default_rng(19)
WEIGHTS = RNG.normal(size=(3, 5))
INTERCEPTS = np.array([0.5, -2.0, 7.0])
LOW, HIGH = np.array([-1.0, 0, 0, 2, -3]), np.array([1.0, 16, 1, 2, 5])


class Party(NamedTuple):
    """Everybody's things."""

    plan: Plan
    secret: hesc.SecretKey
    keys: hesc.PublicKeys
    model: Model


def make(*, hidden: bool = False) -> Party:
    if hidden:
        plan = Plan.hiding(
            (3, 5),
            low=LOW,
            high=HIGH,
            error=0.5,
            weights_l1=64,
            weights_l2=64,
            offset=128,
            answers=300,
        )
    else:
        plan = Plan.of_model(WEIGHTS, INTERCEPTS, low=LOW, high=HIGH, error=0.05)
    secret, keys = hesc.keygen(plan.params, products=False)
    model = Model(plan, WEIGHTS, INTERCEPTS, keys=keys if hidden else None)
    return Party(plan, secret, keys, model)


@pytest.fixture(scope="module", params=[False, True], ids=["public", "hidden"])
def party(request: pytest.FixtureRequest) -> Party:
    return make(hidden=request.param)


def samples(count: int) -> NDArray[np.float64]:
    return RNG.uniform(LOW, HIGH, (count, 5))


@pytest.mark.parametrize("count", [1, 2, 90])
def test_scores_are_those_of_numpy(party: Party, count: int) -> None:
    """Beyond seven errors one of 10^11; sizes are those stated."""
    x = samples(count)
    query = encrypt_features(party.secret, party.plan, x)
    if party.plan.answers is not None:
        party = party._replace(model=Model(party.plan, WEIGHTS, INTERCEPTS, keys=party.keys))
    answer = party.model.evaluate(query)
    assert party.plan.sizes(count) == (len(query), len(answer))
    found = decrypt_scores(party.secret, party.plan, answer)
    assert found.error == party.plan.error
    assert found.values.shape == (count, 3)
    assert np.abs(found.values - (x @ WEIGHTS.T + INTERCEPTS)).max() < 7 * found.error


def test_second_implementation_reads_answers(party: Party, tmp_path: Path) -> None:
    """Plan, key file and answer, to the last bit; the answer of several ciphertexts too."""
    path = tmp_path / "secret"
    party.secret.save(path)
    plan = second.read_plan(party.plan.to_bytes())
    secret = wire.read_secret(path.read_bytes(), plan.ring_degree)
    model = Model(party.plan, WEIGHTS, INTERCEPTS, keys=party.keys if party.plan.answers else None)
    x = samples(party.plan.capacity + 1 if party.plan.answers is None else 2)
    answer = model.evaluate(encrypt_features(party.secret, party.plan, x))
    ours = decrypt_scores(party.secret, party.plan, answer).values
    assert np.array_equal(second.decrypt(answer, plan, secret), ours)


def test_plans_travel_and_share_keys(party: Party) -> None:
    again = pickle.loads(pickle.dumps(party.plan))  # noqa: S301 - our own
    assert again.to_bytes() == party.plan.to_bytes()
    assert again.shape == (3, 5)
    low, high = again.ranges
    assert np.array_equal(low, LOW)
    assert np.array_equal(high, HIGH)
    read = hesc.Params.from_bytes(again.params.to_bytes())
    keys = hesc.PublicKeys.from_bytes(read, party.keys.to_bytes())
    query = encrypt_features(party.secret, again, samples(1))
    assert decrypt_scores(party.secret, again, party.model.evaluate(query)).values.shape == (1, 3)
    if again.answers is not None:
        Model(again, WEIGHTS, keys=keys)
    assert "outputs" in repr(again)


def test_sizes_and_names_tell_nothing_of_the_numbers(party: Party) -> None:
    """All that queries of one count differ in are residues and seeds."""
    queries = [encrypt_features(party.secret, party.plan, x) for x in (LOW, HIGH, samples(1))]
    heads = {query[: 14 + 36] for query in queries}
    assert len(heads) == 1
    assert len({len(query) for query in queries}) == 1
    bodies = {query[14 + 36 : 14 + 36 + 32] for query in queries}
    assert len(bodies) == 3


def test_the_law_of_errors_is_at_most_what_is_stated() -> None:
    plan = make().plan
    for x in samples(20):
        assert (plan.errors_of(WEIGHTS, x) <= plan.error * (1 + 1e-9)).all()
    corner = plan.errors_of(WEIGHTS, HIGH)
    assert corner.max() > 0.9 * plan.error


def test_a_deployment_is_stated_apart_from_all_of_them() -> None:
    """Roundings of weights are one server's: what holds of one is more, and three times at most."""
    for hidden in (False, True):
        plan = make(hidden=hidden).plan
        assert plan.error < plan.deployment_error < 3.1 * plan.error


def cancelling(rng: np.random.Generator) -> tuple[Any, ...]:
    """Weights, intercept and ranges such that scores are small beside what they are summed of."""
    count = int(rng.integers(1, 5))
    middle = rng.normal(size=count) * 10.0 ** rng.integers(-3, 14, size=count)
    half = np.abs(rng.normal(size=count)) * 10.0 ** rng.integers(-6, 6, size=count)
    # Ranges of a few doubles, and of one.
    narrow = rng.random(count) < 0.3
    half[narrow] = np.spacing(np.abs(middle[narrow])) * rng.integers(0, 4, size=narrow.sum())
    weights = rng.normal(size=(1, count)) * 10.0 ** rng.integers(-2, 3, size=(1, count))
    if rng.random() < 0.3:
        weights[:, rng.integers(count)] *= 10.0 ** rng.integers(0, 12)
    intercept = -(weights @ middle) + rng.normal(size=1)
    return weights, intercept, middle - half, middle + half


def exact(weights: NDArray[np.float64], intercept: float, x: NDArray[np.float64]) -> Fraction:
    products = (
        Fraction(w) * Fraction(v) for w, v in zip(weights.tolist(), x.tolist(), strict=True)
    )
    return sum(products, Fraction(intercept))


@pytest.mark.parametrize("kept_from", ["nobody", "hiding", "secret", "public"])
def test_scores_are_exact_whatever_cancels(kept_from: str) -> None:
    """Beside fractions: no score is eight stated errors off (one of 10^15), or there is no plan."""
    rng = np.random.default_rng(23)
    scored = far = 0
    for _ in range(150):
        weights, intercept, low, high = cancelling(rng)
        reach = float((np.abs(weights) @ (high - low)).max())
        error = reach * 10.0 ** rng.uniform(-6, -0.5)
        shape = weights.shape
        try:
            if kept_from == "nobody":
                plan = Plan.of_model(weights, intercept, low=low, high=high, error=error)
            else:
                bounds = Bounds.of_model(weights, intercept, low=low, high=high)._asdict()
                both = {"low": low, "high": high, "error": error, **bounds}
                plan = (
                    Plan.hiding(shape, answers=5, **both)
                    if kept_from == "hiding"
                    else Plan.encrypted(shape, under=kept_from, **both)
                )
        except (hesc.NoiseBudgetError, hesc.ParameterError):
            # Ranges that are all points, and errors below the last bit of a score.
            continue
        secret, keys = hesc.keygen(plan.params, products=False)
        server: Model | EncryptedModel
        if kept_from in {"nobody", "hiding"}:
            server = Model(plan, weights, intercept, keys=keys if plan.answers else None)
        else:
            data = (
                encrypt_model(secret, plan, weights, intercept)
                if kept_from == "secret"
                else EncryptedModel.encrypt(plan, keys, weights, intercept)
            )
            server = EncryptedModel.from_bytes(plan, data)
        x = np.clip(low + (high - low) * rng.choice([0, 1, rng.random()], low.shape), low, high)
        answer = server.evaluate(encrypt_features(secret, plan, x))
        found = decrypt_scores(secret, plan, answer)
        true = exact(weights[0], float(intercept[0]), x)
        off = abs(Fraction(float(found.values[0, 0])) - true) / Fraction(found.error)
        assert off < 8, (weights, intercept, low, high, float(off))
        scored += 1
        far += (np.abs(weights) @ np.abs(x))[0] * 2**-53 > 8 * found.error
    # The law has something to say: of so many what doubles lose is beyond it.
    assert scored > 75
    assert far > 5


def test_few_features_take_few_bytes() -> None:
    """A query of 30 features and one output: they, a seed and names."""
    plan = Plan.of_model(RNG.normal(size=30), low=-1, high=1, error=0.1)
    assert plan.sizes().up <= 224
    assert plan.params.ring_degree == 1024


def test_models_count_what_they_give() -> None:
    _, secret, keys, model = make(hidden=True)
    plan = model.plan
    query = encrypt_features(secret, plan, samples(50))
    assert model.answers_left == 300
    assert model.evaluate(query) != model.evaluate(query)
    assert model.answers_left == 0
    with pytest.raises(hesc.ParameterError, match="150 more numbers are beyond the 0"):
        model.evaluate(query)
    other, _ = hesc.keygen(plan.params, products=False)
    with pytest.raises(hesc.KeyMismatchError):
        model.evaluate(encrypt_features(other, plan, samples(1)))
    assert make().model.answers_left is None
    for action in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="not pickled or copied"):
            action(model)
    with pytest.raises(hesc.ParameterError, match="give the public key"):
        Model(plan, WEIGHTS, INTERCEPTS)
    with pytest.raises(hesc.ParameterError, match="hides no weights"):
        Model(make().plan, WEIGHTS, INTERCEPTS, keys=keys)


WORD: Any = "x"


def masked() -> Any:
    return np.ma.MaskedArray(np.zeros(5), mask=[False, True, False, False, False])


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda p: encrypt_features(p.secret, p.plan, HIGH + 1e-9), "OutOfRange", "feature 0"),
        (lambda p: encrypt_features(p.secret, p.plan, HIGH * np.nan), "OutOfRange", "declared"),
        (lambda p: encrypt_features(p.secret, p.plan, masked()), "Shape", "masked"),
        (lambda p: encrypt_features(p.secret, p.plan, HIGH[:4]), "Shape", "5 features"),
        (lambda p: encrypt_features(p.secret, p.plan, np.zeros((0, 5))), "Shape", "0 samples"),
        (lambda p: encrypt_features(p.secret, p.plan, [1j] * 5), "Shape", "real"),
        (lambda p: encrypt_features(p.secret, None, HIGH), "Parameter", "plan is of the type"),  # type: ignore[arg-type]
        (lambda p: decrypt_scores(p.secret, p.plan, "answer"), "Parameter", "bytes"),  # type: ignore[arg-type]
        (lambda p: decrypt_scores(p.secret, p.plan, b"answer"), "Wire", "fewer bytes"),
        (lambda p: p.model.evaluate(bytearray(9)), "Parameter", "bytes"),
        (lambda p: p.model.evaluate(p.plan.to_bytes()), "Wire", "another kind"),
        (lambda p: Model(p.plan, WEIGHTS * 100, INTERCEPTS), "OutOfRange", "declares"),
        (lambda p: Model(p.plan, WEIGHTS * np.nan, INTERCEPTS), "OutOfRange", "no numbers"),
        (lambda p: Model(p.plan, WEIGHTS, INTERCEPTS + 1), "OutOfRange", "model adds"),
        (lambda p: Model(p.plan, WEIGHTS.T, INTERCEPTS), "Shape", "of shape"),
        (lambda p: Model(p.plan, WEIGHTS, INTERCEPTS[:2]), "Shape", "intercepts"),
        (lambda p: Model(p.secret, WEIGHTS), "Parameter", "Plan.of_model"),
        (lambda _: Plan.from_bytes(b"plan"), "Wire", "plan"),
        (lambda _: Plan.of_model(WEIGHTS, low=1, high=0, error=1), "Parameter", "low at most"),
        (lambda _: Plan.of_model(WEIGHTS, low=0, high=[1, 2], error=1), "Shape", "high are 5"),
        (lambda _: Plan.of_model([], low=0, high=1, error=1), "Shape", "row for each"),
        (lambda _: Plan.of_model(WEIGHTS, low=0, high=1, error=0), "Parameter", "error"),
        (lambda _: Plan.of_model(WEIGHTS, low=0, high=1, error=WORD), "Parameter", "of_model"),
        (
            lambda _: Plan.of_model(WEIGHTS * 0, low=0, high=1, error=1),
            "Parameter",
            "^weights .*not zero",
        ),
        (
            lambda _: Plan.of_model(WEIGHTS, low=1, high=1, error=1),
            "Parameter",
            "^weights .*points",
        ),
        (lambda _: Plan.of_model(WEIGHTS * 1e300, low=0, high=1, error=1), "Parameter", "^weights"),
        (lambda _: Plan.of_model(WEIGHTS * np.nan, low=0, high=1, error=1), "Parameter", "finite"),
        (
            lambda _: Plan.of_model(WEIGHTS, INTERCEPTS * np.inf, low=0, high=1, error=1),
            "Parameter",
            "^weights and intercepts",
        ),
        (lambda _: Plan.of_model(WEIGHTS, low=0, high=1, error=1e300), "Parameter", "1e100"),
        (
            lambda _: Plan.hiding(
                (1, 1), low=0, high=1, error=1, weights_l1=1, weights_l2=1, answers=2**50
            ),
            "NoiseBudget",
            "whatever their error: plan for fewer hidden answers",
        ),
        (lambda _: Plan.of_model(WEIGHTS, low=0, high=1, error=1e-15), "NoiseBudget", "no set"),
        (lambda _: Plan.of_model(np.ones((200, 200)), low=0, high=1, error=1), "Shape", "groups"),
        (
            lambda _: Plan.hiding(
                (1, 1), low=0, high=1, error=1, weights_l1=1, weights_l2=1, answers=0
            ),
            "OutOfRange",
            "answers",
        ),
    ],
)
def test_refusals(act: Callable[[Party], object], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act(make())


def test_other_plans_are_refused() -> None:
    first = make()
    plan = Plan.of_model(WEIGHTS, INTERCEPTS, low=LOW, high=HIGH, error=0.06)
    assert plan.params.to_bytes() == first.plan.params.to_bytes()
    query = encrypt_features(first.secret, plan, HIGH)
    with pytest.raises(hesc.ParameterError):
        first.model.evaluate(query)
    answer = Model(plan, WEIGHTS, INTERCEPTS).evaluate(query)
    with pytest.raises(hesc.ParameterError):
        decrypt_scores(first.secret, first.plan, answer)
    other, _ = hesc.keygen(plan.params, products=False)
    with pytest.raises(hesc.KeyMismatchError):
        decrypt_scores(other, plan, answer)
    fine = Plan.of_model(WEIGHTS, INTERCEPTS, low=LOW, high=HIGH, error=1e-6)
    with pytest.raises(hesc.ParameterError):
        encrypt_features(first.secret, fine, HIGH)


def test_bounds_of_models_that_doubles_do_not_hold_are_refused() -> None:
    """What overflows, and differences of what does, which are no numbers."""
    ends: dict[str, Any]
    for weights, ends in (
        ([[1e300]], {"low": 0, "high": 1e300}),
        ([[0.0]], {"low": -1.7e308, "high": 1.7e308}),
        ([[1.0], [1.0]], {"low": 0, "high": 1e308}),
    ):
        with pytest.raises(hesc.HescError, match=r"beyond what doubles hold|within 1e100"):
            ring_products.Bounds.of_model(weights, **ends)


def test_what_is_public_cannot_decrypt() -> None:
    assert set(ring_products.__all__) == {"Bounds", "EncryptedModel", "Model", "RingProductPlan"}
    kinds = (Bounds, EncryptedModel, Model, Plan)
    assert not any("decrypt" in name for kind in kinds for name in dir(kind))
