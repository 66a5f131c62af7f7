"""Models of more features times outputs than one ring holds: several ring products that add up."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, RidgeClassifier

import hesc
from hesc.ml import (
    LinearClient,
    LinearPlan,
    LinearServer,
    Outsourced,
    PrivateClassifier,
    PrivateRegressor,
    Scores,
)
from hesc.ring_products.parts import PLACES, RingProductParts, parts_of

RNG = np.random.default_rng(0)
FEATURES = 12_001
ROWS = RNG.normal(size=(80, FEATURES)) + 0.5


def linear(weights: Any, intercepts: Any) -> LinearRegression:
    """A model of weights that nobody has to fit."""
    found = LinearRegression()
    found.coef_, found.intercept_ = np.array(weights), np.array(intercepts)
    found.n_features_in_ = found.coef_.shape[1]
    return found


@pytest.fixture(scope="module")
def made() -> PrivateRegressor:
    """Three outputs, hence two parts, the last of which is filled up."""
    weights = RNG.normal(size=(3, FEATURES)) * [[1.0], [0.1], [1.0]] / 100
    private = PrivateRegressor.from_fitted(linear(weights, [1.0, -2.0, 300.0]))
    private.plan(ROWS, Scores(max_error=1e-3))
    return private


def test_stated_errors_are_true(made: PrivateRegressor) -> None:
    """Errors in units of their law have a mean square of one.

    Of 240 normal errors it leaves 0.55 to 1.5 once in 10^6 runs.
    """
    plan, linear = made._served().plan, made._served().linear
    assert isinstance(plan.ring, RingProductParts)
    assert len(plan.ring.parts) == 2
    assert plan.error <= 1e-3
    clear = made.predict(ROWS)
    for fhe in ("execute", "simulate"):
        run = made.run(ROWS, fhe=fhe, progress=False)
        law = plan.errors_of(linear.weights, plan.prepared(ROWS).features)
        assert law.max() <= plan.error * (1 + 1e-9)
        assert 0.55 < np.mean(np.square((run.scores - clear) / law)) < 1.5
        assert run.sizes == plan.sizes(len(ROWS))
        assert run.error == plan.error <= plan.deployment_error


def test_errors_are_no_larger_than_wanted() -> None:
    """Whichever is wanted: sizes go in steps, and some errors are nearly those that are wanted."""
    weights, ones = RNG.normal(size=(3, FEATURES)), np.ones(FEATURES)
    for error in 1e-3 * 2.0 ** np.linspace(0, 2, 9):
        found = RingProductParts.of_model(weights, 0.0, low=-ones, high=ones, error=error)
        assert found.error <= error


def test_a_plan_says_that_there_are_parts(made: PrivateRegressor) -> None:
    plan = made._served().plan
    assert "the client sees the 2 sums" in str(plan)
    assert plan.ring.shape == (3, FEATURES)
    low, high = plan.ranges
    assert np.array_equal(low, ROWS.min(axis=0))
    assert np.array_equal(high, ROWS.max(axis=0))


def test_parties_by_wire(made: PrivateRegressor) -> None:
    plan = LinearPlan.from_bytes(made._served().plan.to_bytes())
    assert plan.to_bytes() == made._served().plan.to_bytes()
    client, server = LinearClient(plan), LinearServer.from_bytes(made.server().to_bytes())
    query = client.encrypt(ROWS[:2]).data
    answer = server.answer(query)
    found = client.decrypt(answer, query=query)
    assert np.abs(found.scores - made.predict(ROWS[:2])).max() < 7 * plan.error
    sizes = plan.sizes(2)
    assert (len(query), len(answer)) == sizes
    # A message of fewer parts.
    message = plan.opened(answer, hesc.protocols.message.Kind.ANSWER)
    with pytest.raises(hesc.WireError, match="than its plan says, 1 instead of 2"):
        client.decrypt(message._replace(parts=message.parts[:1]).to_bytes())


def test_a_part_without_weights_adds_nothing() -> None:
    weights = np.zeros((1, PLACES + 2))
    weights[0, ::2] = RNG.normal(size=PLACES // 2 + 1) / 100
    rows = RNG.normal(size=(20, PLACES + 2)) * 0.1 + 40
    private = PrivateRegressor.from_fitted(linear(weights, [-3.0]))
    plan = private.plan(rows, Scores(max_error=1e-2))
    run = private.run(rows[:5], progress=False)
    assert np.abs(run.scores - private.predict(rows[:5])[:, 0]).max() < 7 * plan.error


def test_classes_of_many_features() -> None:
    labels = (ROWS[:, :6].sum(axis=1) > 3) + (ROWS[:, 0] > 0.5).astype(int)
    private = PrivateClassifier(RidgeClassifier()).fit(ROWS, labels)
    assert private.plan(ROWS).agreement > 0.9
    found = private.predict(ROWS[:5], fhe="execute", progress=False)
    assert (found == labels[:5]).mean() > 0.7


def test_what_is_hidden_or_encrypted_has_one_ring(made: PrivateRegressor) -> None:
    for options, words in (
        (Scores(hidden=True), "hidden weights take one .* would see what each part"),
        (Outsourced(), "encrypted weights take one .* is one ciphertext"),
    ):
        with pytest.raises(hesc.ParameterError, match=words):
            made.plan(ROWS, options)
    with pytest.raises(hesc.ParameterError, match="more than 64 ring products"):
        RingProductParts.of_model(
            np.ones((600, 4000)), 0.0, low=np.zeros(4000), high=np.ones(4000), error=1.0
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"features": FEATURES + 2}, "do not fit|more features"),
        ({"features": FEATURES - 2}, "do not fit|more features|another number"),
        ({"features": True}, "number of features"),
        ({"parts": []}, "2 to 64 parts"),
        ({"parts": ["first", "first"]}, "more features"),
        ({"parts": ["first", "one"]}, "do not fit"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    made: PrivateRegressor, change: dict[str, Any], words: str
) -> None:
    fields = json.loads(made._served().plan.to_bytes())
    small = hesc.ml.PrivateRegressor.from_fitted(linear([[1.0, 2.0]], [0.0]))
    one = json.loads(small.plan(ROWS[:, :2], Scores(max_error=0.1)).to_bytes())["ring"]
    named = {"first": fields["ring"]["parts"][0], "one": one}
    if isinstance(change.get("parts"), list):
        change = {"parts": [named[name] for name in change["parts"]]}
    fields["ring"] |= change
    with pytest.raises(hesc.WireError, match=words):
        LinearPlan.from_bytes(json.dumps(fields).encode())


def test_one_ring_is_one_part() -> None:
    private = PrivateRegressor.from_fitted(linear([[1.0, 2.0]], [0.0]))
    plan = private.plan(ROWS[:, :2], Scores(max_error=0.1))
    assert parts_of(plan.ring) == (plan.ring,)
