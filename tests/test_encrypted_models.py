"""Ring products with encrypted weights from Python: scores beside numpy, sizes, refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc.ring_products import EncryptedModel, Model
from hesc.ring_products import RingProductPlan as Plan
from hesc.ring_products.secret import decrypt_scores, encrypt_features, encrypt_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RNG = np.random.default_rng(23)
WEIGHTS, INTERCEPTS = RNG.normal(size=(3, 5)), np.array([0.5, -2.0, 7.0])
LOW, HIGH = np.array([-1.0, 0, 0, 2, -3]), np.array([1.0, 16, 1, 2, 5])
BOUNDS: dict[str, Any] = {
    "low": LOW,
    "high": HIGH,
    "weights_l1": 64,
    "weights_l2": 64,
    "offset": 128,
}


class Party(NamedTuple):
    """Everybody's things."""

    plan: Plan
    secret: hesc.SecretKey
    keys: hesc.PublicKeys
    model: bytes
    server: EncryptedModel


def encrypted(plan: Plan, secret: hesc.SecretKey, keys: hesc.PublicKeys) -> bytes:
    if plan.encrypted_under == "secret":
        return encrypt_model(secret, plan, WEIGHTS, INTERCEPTS)
    return EncryptedModel.encrypt(plan, keys, WEIGHTS, INTERCEPTS)


def make(under: str, error: float = 0.05) -> Party:
    plan = Plan.encrypted((3, 5), error=error, under=under, **BOUNDS)
    secret, keys = hesc.keygen(plan.params, products=False)
    model = encrypted(plan, secret, keys)
    return Party(plan, secret, keys, model, EncryptedModel.from_bytes(plan, model))


@pytest.fixture(scope="module", params=["secret", "public"])
def party(request: pytest.FixtureRequest) -> Party:
    return make(request.param)


def samples(count: int) -> NDArray[np.float64]:
    return RNG.uniform(LOW, HIGH, (count, 5))


@pytest.mark.parametrize("count", [1, 2, 200])
def test_scores_are_those_of_numpy(party: Party, count: int) -> None:
    """Beyond seven errors one of 10^11; sizes are those stated."""
    x = samples(count)
    query = encrypt_features(party.secret, party.plan, x)
    answer = party.server.evaluate(query)
    assert party.plan.sizes(count) == (len(query), len(answer))
    assert party.plan.model_size == len(party.model)
    found = decrypt_scores(party.secret, party.plan, answer)
    assert np.abs(found.values - (x @ WEIGHTS.T + INTERCEPTS)).max() < 7 * found.error


def test_errors_of_samples_depend_on_those_that_share_a_ciphertext(party: Party) -> None:
    x = np.concatenate([samples(1), np.tile(HIGH, (party.plan.capacity - 1, 1))])
    alone, all_of_them = party.plan.errors_of(WEIGHTS, x[0]), party.plan.errors_of(WEIGHTS, x)
    assert alone.shape == (3,)
    assert all_of_them.shape == (len(x), 3)
    assert (alone < all_of_them[0]).all()
    assert (all_of_them <= party.plan.error * (1 + 1e-9)).all()


def test_plans_say_who_encrypts(party: Party) -> None:
    again = Plan.from_bytes(party.plan.to_bytes())
    assert again.encrypted_under == party.plan.encrypted_under
    assert f"{again.encrypted_under} key" in repr(again)
    assert again.answers is None
    assert again.to_bytes() == party.plan.to_bytes()


def test_models_differ_in_residues_alone(party: Party) -> None:
    """Two encryptions of one model, and one of another."""
    plan = party.plan
    again = encrypted(plan, party.secret, party.keys)
    assert len({len(party.model), len(again)}) == 1
    assert party.model[:46] == again[:46]
    assert party.model[46:78] != again[46:78]


def open_plan() -> Plan:
    return Plan.of_model(WEIGHTS, INTERCEPTS, low=LOW, high=HIGH, error=0.05)


WORD: Any = "x"


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda p: encrypt_model(p.secret, p.plan, WEIGHTS * 100), "OutOfRange", "declares"),
        (lambda p: encrypt_model(p.secret, p.plan, WEIGHTS * np.nan), "OutOfRange", "no numbers"),
        (lambda p: encrypt_model(p.secret, p.plan, WEIGHTS, 1e9), "OutOfRange", "model adds"),
        (lambda p: encrypt_model(p.secret, p.plan, WEIGHTS.T), "Shape", "of shape"),
        (lambda p: encrypt_model(p.secret, p.plan, WEIGHTS, [1, 2]), "Shape", "intercepts"),
        (lambda p: encrypt_model(p.secret, None, WEIGHTS), "Parameter", "plan is of the type"),  # type: ignore[arg-type]
        (lambda p: encrypt_model(p.secret, open_plan(), WEIGHTS), "Parameter", "secret key"),
        (lambda p: EncryptedModel.encrypt(p.plan, p.keys, WEIGHTS), "Parameter", "public key"),
        (lambda p: EncryptedModel.encrypt(p.plan, p.secret, WEIGHTS), "Parameter", "keygen gives"),
        (lambda p: EncryptedModel.from_bytes(p.plan, WORD), "Parameter", "bytes"),
        (lambda p: EncryptedModel.from_bytes(p.plan, b"model"), "Wire", "fewer bytes"),
        (lambda p: EncryptedModel.from_bytes(p.plan, p.plan.to_bytes()), "Wire", "another kind"),
        (lambda p: EncryptedModel.from_bytes(p.model, p.model), "Parameter", "Plan.encrypted"),
        (lambda p: EncryptedModel.from_bytes(open_plan(), p.model), "Parameter", "not encrypted"),
        (lambda p: EncryptedModel(p.plan, p.model), "Parameter", "from_bytes makes it"),
        (lambda p: Model(p.plan, WEIGHTS, INTERCEPTS), "Parameter", "EncryptedModel"),
        (lambda p: p.server.evaluate(p.model), "Wire", "another kind"),
        (lambda p: p.server.evaluate(WORD), "Parameter", "bytes"),
        (lambda _: make("both"), "Parameter", "secret or public"),
        (lambda _: make("secret", 1e-13), "NoiseBudget", "no set"),
    ],
)
def test_refusals(act: Callable[[Party], object], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act(make("secret"))


def test_other_plans_and_keys_are_refused(party: Party) -> None:
    """Answers of products with clear weights are of other plans, as are those of finer ones."""
    x = samples(1)
    other, _ = hesc.keygen(party.plan.params, products=False)
    query = encrypt_features(party.secret, party.plan, x)
    answer = party.server.evaluate(query)
    with pytest.raises(hesc.KeyMismatchError):
        party.server.evaluate(encrypt_features(other, party.plan, x))
    with pytest.raises(hesc.KeyMismatchError):
        decrypt_scores(other, party.plan, answer)
    clear = open_plan()
    owner, _ = hesc.keygen(clear.params, products=False)
    asked = encrypt_features(owner, clear, x)
    with pytest.raises(hesc.ParameterError):
        party.server.evaluate(asked)
    with pytest.raises(hesc.ParameterError):
        Model(clear, WEIGHTS, INTERCEPTS).evaluate(query)
    first_degree = Model(clear, WEIGHTS, INTERCEPTS).evaluate(asked)
    with pytest.raises(hesc.ParameterError):
        decrypt_scores(party.secret, party.plan, first_degree)
    with pytest.raises(hesc.ParameterError):
        decrypt_scores(owner, clear, answer)
    with pytest.raises(TypeError):
        bool(party.server)
