"""Classes alone: circuits give what the quantised model gives, and say no more."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc import integers
from hesc._support import shares
from hesc.integers import EncryptedIntegers, Integers
from hesc.integers.circuits import Style, circuit_of
from hesc.integers.secret import encrypt_integers
from hesc.ml import Classes, PrivateClassifier
from hesc.models import extraction, transforms
from hesc.models.extraction import linear_form
from hesc.models.trees import TreeEnsemble
from hesc.protocols import registry
from hesc.protocols.classes import comparisons, quantisation, whole_models
from hesc.protocols.classes.client import ClassClient
from hesc.protocols.classes.comparisons import Words
from hesc.protocols.classes.plan import ClassPlan, Counted
from hesc.protocols.classes.planning import held_out
from hesc.protocols.classes.quantisation import quantised
from hesc.protocols.classes.server import ClassServer
from hesc.protocols.classes.whole_trees import trees
from hesc.protocols.message import Kind, Message
from hesc.protocols.runs import Session
from hesc.vectors.keys import PublicKeys
from tests.lying_messages import refitted

X, Y = datasets.load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)


def planned(estimator: Any, **wishes: Any) -> PrivateClassifier:
    private = PrivateClassifier.from_fitted(estimator)
    private.plan(X, Classes(**wishes))
    return private


@pytest.fixture(scope="module")
def tree() -> PrivateClassifier:
    # Which engine takes least time, and so how many samples a query has, is the processor's.
    return planned(TREE, engine="binary")


@pytest.fixture(scope="module")
def parties(tree: PrivateClassifier) -> tuple[ClassClient, ClassServer]:
    client = ClassClient(ClassPlan.from_bytes(tree._served().plan.to_bytes()))
    data = tree.server().to_bytes()
    return client, ClassServer.from_bytes(data, keys=client.public_keys())


def test_a_build_without_gates_chooses_among_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(hesc._native, "Evaluator")
    # What was chosen where there are gates is kept.
    comparisons._cheapest.cache_clear()
    private = planned(TREE)
    assert private._served().plan.engine in {"binary", "prime"}
    with pytest.raises(hesc.CircuitError, match="this build of hesc has no gates"):
        planned(TREE, engine="bootstrapped")


def test_runs_of_many_minutes_say_so_before_they_begin(
    tree: PrivateClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query of few samples makes hours of what one of many takes minutes for."""
    plan = tree._served().plan
    slow = replace(plan, seconds=100.0)
    monkeypatch.setattr(slow.__class__, "prepared", lambda *_args, **_options: 1 / 0)
    client: Any = SimpleNamespace(plan=slow)
    server: Any = None
    samples = np.zeros((3 * plan.rows, 4))
    with pytest.warns(UserWarning, match=r"5 min.*batch="), pytest.raises(ZeroDivisionError):
        Session(client, server).run(samples, clip=False, progress=False)


def in_the_clear(model: whole_models.WholeModel, words: Words, steps: Any, argmax: str) -> Any:
    """The circuit itself, on bits that nobody encrypted."""
    leaves = [Integers(kind) for kind in words.kinds]
    decide = whole_models.function(model, words.bits, words.per_word, words.inputs, argmax)
    circuit = circuit_of([decide(*leaves)], leaves, Style())
    (found,) = circuit(steps @ (1 << words.bits * np.arange(words.inputs)))
    return found


@pytest.mark.parametrize("argmax", whole_models.ARGMAX)
@pytest.mark.parametrize("classes", [2, 3, 5, 8])
def test_circuits_of_linear_models(classes: int, argmax: str) -> None:
    """Ties among them: the first of the largest, as numpy's argmax."""
    rng = np.random.default_rng(classes)
    weights = rng.integers(0, 4, (classes, 3))
    model = whole_models.LinearScores(weights - weights.min(axis=0), rng.integers(0, 9, classes))
    steps = rng.integers(0, 8, (300, 3))
    totals = np.sort(model.totals(steps), axis=1)
    assert (totals[:, -1] == totals[:, -2]).any()
    found = in_the_clear(model, Words(3, 3), steps, argmax)
    assert np.array_equal(found, whole_models.classify(model, steps))


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(3, max_depth=3, random_state=0),
        GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("labels", [Y, Y > 0], ids=["three", "two"])
@pytest.mark.parametrize("bits", [1, 4])
def test_circuits_of_trees(estimator: Any, labels: Any, bits: int) -> None:
    """On all places of a grid, those that no sample has among them."""
    ensemble = TreeEnsemble.from_sklearn(estimator.fit(X, labels))
    model = trees(ensemble, (X.min(axis=0), X.max(axis=0)), bits, 3)
    assert model.fits(4, len(np.unique(labels)), bits)
    steps = np.random.default_rng(0).integers(0, 1 << bits, (400, 4))
    found = in_the_clear(model, Words(4, bits), steps, "pairs")
    assert np.array_equal(found, whole_models.classify(model, steps))


def test_many_bits_are_the_clear_model() -> None:
    """Of trees and linear models: what quantisation loses vanishes with its steps."""
    ranges = X.min(axis=0), X.max(axis=0)
    steps = quantised(X, ranges, 16)
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    grown = trees(TreeEnsemble.from_sklearn(forest), ranges, 16, 20)
    assert np.array_equal(whole_models.classify(grown, steps), forest.predict(X))
    linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    form = linear_form(linear)
    whole = quantisation.linear(form.weights, form.intercepts, ranges, 16, 20)
    assert np.array_equal(whole_models.classify(whole, steps), linear.predict(X))


FITTED = {
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(10, max_depth=4, random_state=0),
}


def chosen(estimator: Any, rows: Any, **wishes: Any) -> tuple[Any, Any, int]:
    """The model of fewest bits of a fitted one, how it classifies rows, and models made."""
    steps, form = extraction.form_of(estimator)
    features = transforms.transformed(steps, rows)
    ranges = features.min(axis=0), features.max(axis=0)
    clear = np.searchsorted(estimator.classes_, estimator.predict(rows))
    made = []

    def make(bits: int, of_numbers: int) -> Any:
        made.append((bits, of_numbers))
        if isinstance(form, TreeEnsemble):
            return trees(form, ranges, bits, of_numbers)
        return quantisation.linear(form.weights, form.intercepts, ranges, bits, of_numbers)

    found = quantisation.fewest_bits(make, features, clear, ranges, bits=None, least=0.99, **wishes)

    def classes(others: Any) -> Any:
        steps_of = quantised(transforms.transformed(steps, others), ranges, found.bits)
        return estimator.classes_[whole_models.classify(found.model, steps_of)]

    return found, classes, len(made)


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("load", [datasets.load_breast_cancer, datasets.load_wine])
def test_agreement_is_stated_of_rows_that_nothing_was_chosen_on(load: Any, name: str) -> None:
    """Twenty splits: rows that neither bits nor the model have seen keep as many classes at least.

    The statement may be wrong once in a hundred; and few models are made for it.
    """
    rows, labels = load(return_X_y=True)
    late = 0
    for seed in range(20):
        x, other, y, _ = train_test_split(rows, labels, random_state=seed)
        estimator = clone(FITTED[name]).fit(x, y)
        held = held_out(len(x))
        assert held is not None
        found, classes, made = chosen(estimator, x, held=held)
        assert made <= (20 if found.among == 2 else 40)
        planner, _, alone = chosen(estimator, x)
        assert alone <= 20
        assert planner.agreement >= 0.99
        kept = classes(x) == estimator.predict(x)
        assert found.agreement == kept[held].mean() >= 0.99
        assert kept[~held].mean() >= 0.99
        misses = round((1 - found.agreement) * held.sum())
        least = 1 - shares.most(misses, int(held.sum()), tried=found.among)
        late += (classes(other) == estimator.predict(other)).mean() < least
    assert late <= 1


@pytest.mark.parametrize("bits", [None, 3])
def test_all_models_together_share_one_doubt(
    monkeypatch: pytest.MonkeyPatch, bits: int | None
) -> None:
    """Whichever model held rows accept first, the parts of the doubt add up to one at most."""
    features, ranges = np.zeros((40, 1)), (np.zeros(1), np.ones(1))
    held = np.arange(40) < 10
    clear = np.zeros(40, dtype=np.int64)
    refused: set[Any] = set()
    monkeypatch.setattr(
        quantisation, "classify", lambda model, _: np.where(held & (model in refused), 1, clear)
    )
    monkeypatch.setattr(quantisation, "_work", lambda model, _: 100 * model[0] + model[1])

    def made(*which: int) -> Any:
        return which

    shared = []
    # Of few bits, so many models are enough but for rows held out, which are asked one by one.
    for most in range(11 if bits is None else 10):
        refused = {(bits or 1, of_numbers) for of_numbers in range(1, most + 1)}
        found = quantisation.fewest_bits(
            made, features, clear, ranges, bits=bits, least=1.0, held=held
        )
        shared.append(found.among)
    assert shared[:3] == [2, 6, 12]
    assert len(set(shared)) == len(shared)
    assert sum(1 / each for each in shared) <= 1
    refused = set()
    every = quantisation.fewest_bits(made, features, clear, ranges, bits=bits, least=1.0)
    assert every.among == (quantisation.MODELS if bits is None else 10)


def test_ways_that_were_tried_make_a_share_less_sure() -> None:
    """By as much as their number: the probability that none of them is so far off."""
    for misses, rows in ((0, 40), (3, 100), (50, 1000)):
        sure = [shares.most(misses, rows, tried=tried) for tried in (1, 2, 10, 100)]
        assert sure == sorted(set(sure))
        for share, tried in zip(sure, (1, 2, 10, 100), strict=True):
            assert tried * math.exp(-shares.surprise(misses / rows, rows, share)) < 0.0101


@pytest.mark.parametrize("least", [0.9817499, 0.98, 0.5, 0.0])
def test_what_is_kept_at_least_is_rounded_down(least: float) -> None:
    text = str(Counted(1.0, 250, least))
    said = float(text.split("; for ")[1].split(" %", maxsplit=1)[0])
    assert 100 * least - 0.1 < said <= 100 * least + 1e-9


def test_few_rows_say_so() -> None:
    """None of them is kept apart, and the plan says that bits were chosen on all."""
    few = TREE.predict(X[::10])
    plan = PrivateClassifier.from_fitted(TREE).plan(X[::10], Classes())
    assert held_out(len(few)) is None
    assert plan.counted.rows is plan.counted.least is None
    assert "bits were chosen on these rows" in str(plan)
    many = PrivateClassifier.from_fitted(TREE).plan(X, Classes())
    assert many.counted.rows == 37
    assert many.counted.least < many.agreement
    assert "37 rows that bits were not chosen on" in str(many)


def test_executed_is_simulated(tree: PrivateClassifier) -> None:
    """Exactly, and as large as said."""
    found, expected = tree.run(X, progress=False), tree.run(X, fhe="simulate")
    assert np.array_equal(found.predictions, expected.predictions)
    assert found.sizes == expected.sizes
    held = held_out(len(X))
    share = float((expected.predictions == TREE.predict(X))[held].mean())
    assert tree._served().plan.agreement == share
    assert found.scores is found.error is None


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_trees_of_steps_are_the_trees_at_the_steps(bits: int) -> None:
    """In whole numbers as on the values that these stand for; a feature may have one value."""
    model: Any = extraction.form_of(TREE)[1]
    rng, most = np.random.default_rng(bits), (1 << bits) - 1
    least, greatest = X.min(axis=0), X.max(axis=0)
    root = model.roots[0]
    feature, threshold = int(model.features[root]), float(model.thresholds[root])
    for fixed in (None, threshold - 1, threshold, np.nextafter(threshold, 9), threshold + 1):
        low, high = least.copy(), greatest.copy()
        if fixed is not None:
            low[feature] = high[feature] = fixed
        steps = rng.integers(0, most, (500, 4), endpoint=True)
        steps[:, low == high] = 0
        found = whole_models.classify(trees(model, (low, high), bits, 8), steps)
        expected = model.scores(low + steps * ((high - low) / most)).argmax(axis=1)
        assert np.array_equal(found, expected), fixed


def test_a_kept_key_goes_with_its_own_public_one() -> None:
    """Bits that bootstrap are encrypted under it: whoever has another's key reads samples."""
    plan = planned(TREE, engine="bootstrapped", batch=1)._served().plan
    client, (_, other) = ClassClient(plan), hesc.keygen(plan.params)
    keys = client.public_keys()
    assert ClassClient(plan, secret=client.secret, keys=keys).public_keys() == keys
    own = PublicKeys.from_bytes(plan.params, keys)
    with pytest.raises(hesc.KeyMismatchError):
        ClassClient(plan, secret=client.secret, keys=ClassClient(plan).public_keys())
    parts = {"public": other.public, "bootstrapping": own.bootstrapping}
    with pytest.raises(hesc.KeyMismatchError):
        PublicKeys(plan.params, parts).to_bytes()


def test_parties_apart(parties: tuple[ClassClient, ClassServer], tmp_path: Any) -> None:
    """Bytes alone between them, and the key is kept in a file."""
    client, server = parties
    answer = server.answer(client.encrypt(X[::10]).data)
    found = client.decrypt(answer)
    assert (found.predictions == TREE.predict(X[::10])).mean() > 0.9
    assert found.scores is None
    assert len(client.public_keys()) == client.plan.costs["keys"]
    client.secret.save(tmp_path / "key")
    plan = registry.read_plan(client.plan.to_bytes())
    again = registry.client_of(plan, secret=hesc.SecretKey.load(plan.params, tmp_path / "key"))
    assert np.array_equal(again.decrypt(answer).predictions, found.predictions)
    with pytest.raises(hesc.ParameterError, match="without its public ones"):
        again.public_keys()
    with pytest.raises(hesc.KeyMismatchError):
        ClassClient(client.plan).decrypt(answer)


def test_bits_that_bootstrap() -> None:
    small = planned(TREE, engine="bootstrapped", batch=2)
    assert small._served().plan.rows == 2
    rows = X[[0, 60, 140]]
    found = small.run(rows, progress=False)
    assert np.array_equal(found.predictions, small.predict(rows, fhe="simulate"))


def test_a_server_needs_no_secrets_and_no_scikit_learn(
    parties: tuple[ClassClient, ClassServer], tmp_path: Any
) -> None:
    client, server = parties
    files = {
        "server": server.to_bytes(),
        "keys": client.public_keys(),
        "query": client.encrypt(X[:2]).data,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    code = """
import sys
from pathlib import Path
from hesc.protocols import registry

at = Path(sys.argv[1])
server = registry.read_server((at / "server").read_bytes(), keys=(at / "keys").read_bytes())
(at / "answer").write_bytes(server.answer((at / "query").read_bytes()))
assert not {"hesc.secret", "sklearn"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    found = client.decrypt((tmp_path / "answer").read_bytes())
    assert np.array_equal(found.predictions, TREE.predict(X[:2]))


def test_refusals(tree: PrivateClassifier, parties: tuple[ClassClient, ClassServer]) -> None:
    client, server = parties
    with pytest.raises(hesc.ParameterError, match="SVC is not computed"):
        planned(SVC().fit(X, Y))
    with pytest.raises(hesc.ParameterError, match="fewer than min_agreement=1"):
        planned(TREE, bits=1, min_agreement=1)
    with pytest.raises(hesc.ParameterError, match="a share of rows"):
        planned(TREE, min_agreement=2)
    with pytest.raises(hesc.OutOfRangeError, match="beyond the plan's range"):
        client.encrypt(X + 10)
    assert client.encrypt(X[:3] + 10, clip=True).clipped_samples == 3
    with pytest.raises(hesc.OutOfRangeError):
        client.encrypt(np.full((1, 4), np.nan))
    with pytest.raises(hesc.ShapeError, match="as several"):
        client.encrypt(np.tile(X, (4, 1)))
    with pytest.raises(hesc.ParameterError, match=r"client\.public_keys"):
        tree.server().answer(client.encrypt(X[:1]).data)
    with pytest.raises(hesc.KeyMismatchError):
        server.answer(ClassClient(client.plan).encrypt(X[:1]).data)
    for party in parties:
        with pytest.raises(TypeError):
            pickle.dumps(party)


def test_a_class_that_there_is_not_is_no_answer(
    parties: tuple[ClassClient, ClassServer],
) -> None:
    """Two bits say four places, of which there are three."""
    client, _ = parties
    secret: Any = client.secret
    for place in range(4):
        fresh = integers.read(secret.params, encrypt_integers(secret, [place], "uint2"))
        # No longer than an answer is.
        low = [[bit.mod_switch_to(1) for bit in block] for block in fresh.blocks]
        data = EncryptedIntegers(secret.params, fresh.kind, 1, low).to_bytes()
        answer = Message(Kind.ANSWER, client.plan.digest, 1, (data,)).to_bytes()
        if place < 3:
            assert client.decrypt(answer).predictions.tolist() == [place]
            continue
        with pytest.raises(hesc.DecryptionError, match="class that there is not"):
            client.decrypt(answer)


def test_words_of_as_many_samples_as_a_query_says(
    parties: tuple[ClassClient, ClassServer],
) -> None:
    """A message says how many samples it has, and so does each ciphertext."""
    client, server = parties
    read = client.plan.opened(client.encrypt(X[:2]).data, Kind.QUERY)
    with pytest.raises(hesc.ShapeError, match="as many samples as it says"):
        server.answer(read._replace(samples=3).to_bytes())
    with pytest.raises(hesc.WireError, match="other parts"):
        server.answer(read._replace(parts=(*read.parts, *read.parts)).to_bytes())
    answer = client.plan.opened(server.answer(read.to_bytes()), Kind.ANSWER)
    with pytest.raises(hesc.WireError, match="answer is of 2 samples"):
        client.decrypt(answer._replace(samples=3).to_bytes())


def test_damaged_bytes(tree: PrivateClassifier, parties: tuple[ClassClient, ClassServer]) -> None:
    """Errors of hesc's own, or other classes where residues were changed; nothing else."""
    client, server = parties
    query = client.encrypt(X[:2]).data
    answer = server.answer(query)
    rng = np.random.default_rng(0)
    readers: list[tuple[bytes, Any, int]] = [
        (tree._served().plan.to_bytes(), ClassPlan.from_bytes, 200),
        (tree.server().to_bytes(), ClassServer.from_bytes, 200),
        (query, server.answer, 8),
        (answer, client.decrypt, 40),
    ]
    for data, read, times in readers:
        for turn in range(times):
            damaged = bytearray(data)
            head = min(len(data), 400)
            damaged[rng.integers(head if turn % 2 else len(data))] ^= 1 << rng.integers(8)
            given = bytes(damaged) if turn % 3 else bytes(damaged[: rng.integers(len(data))])
            try:
                read(refitted(given))
            except hesc.HescError:
                continue


def test_what_a_plan_says(tree: PrivateClassifier) -> None:
    told = str(tree._served().plan)
    for words in (
        "no score",
        "NOT HIDDEN",
        "whatever encrypts them",
        "gives the clear model's class",
    ):
        assert words in told
    # Thresholds and leaves are the server's.
    assert "nodes" not in tree._served().plan.to_bytes().decode()
