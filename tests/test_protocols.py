"""Laws of every row of the registry."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, Final

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from hesc.ml import (
    Classes,
    Outsourced,
    Parties,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateNeighbours,
    Search,
    Trees,
)
from hesc.ml.square_networks import PrivateSquareNetwork
from hesc.protocols import registry
from hesc.protocols.linkage import LinkagePlan
from hesc.streams.iris import load_network
from tests.protocol_laws import (
    check_documents,
    check_keys,
    check_plan,
    check_sizes,
    check_words,
)

X, Y = load_iris(return_X_y=True)


def _classifier(options: Any = None) -> Any:
    private = PrivateClassifier(RidgeClassifier()).fit(X, Y)
    private.plan(X, options)
    return private


def _network() -> Any:
    private = PrivateMLPClassifier(MLPClassifier((4,), max_iter=50, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        private.fit(X, Y)
    private.plan(X)
    return private


def _neighbours() -> Any:
    private = PrivateNeighbours(KNeighborsClassifier()).fit(X, Y)
    private.plan(X, Search(records="public"))
    return private


def _square() -> Any:
    private = PrivateSquareNetwork.from_network(load_network())
    private.plan(X)
    return private


def _trees() -> Any:
    private = PrivateClassifier(RandomForestClassifier(3, max_depth=2, random_state=0))
    private.fit(X, Y).plan(X, Trees())
    return private


PLANNED: Final = {
    "linear": _classifier,
    "outsourced": lambda: _classifier(Outsourced()),
    "owners": lambda: _classifier(Parties({"p": [0, 1], "q": [2, 3]})),
    "classes": lambda: _classifier(Classes(engine="binary")),
    "networks": _network,
    "search": _neighbours,
    "streams": _square,
    "trees": _trees,
}
"""An estimator that each protocol of models serves."""
AGREED: Final = {"linkage": LinkagePlan(70, 530, 128)}
"""A plan of each protocol that serves no model."""


def test_every_protocol_is_tried() -> None:
    assert set(PLANNED) | set(AGREED) == set(registry.PROTOCOLS)
    for name, row in registry.PROTOCOLS.items():
        assert row.has_model == (name in PLANNED)


@cache
def planned(name: str) -> Any:
    return PLANNED[name]()


def plan_of(name: str) -> Any:
    return AGREED.get(name) or planned(name)._served().plan


@pytest.mark.parametrize("name", PLANNED)
def test_models_are_read_strictly(name: str) -> None:
    check_documents(planned(name))


@pytest.mark.parametrize("name", registry.PROTOCOLS)
def test_plans_are_read_strictly(name: str) -> None:
    check_plan(plan_of(name))


@pytest.mark.parametrize("name", PLANNED)
def test_sizes_are_those_of_runs(name: str) -> None:
    check_sizes(planned(name), X)


@pytest.mark.parametrize("name", ["classes", "owners"])
def test_costs_have_the_bytes_of_keys(name: str) -> None:
    plan = plan_of(name)
    assert plan.costs["keys"] == plan.key_bytes


@pytest.mark.parametrize("name", registry.PROTOCOLS)
def test_plans_say_who_learns_what(name: str) -> None:
    check_words(plan_of(name))


@pytest.mark.parametrize("name", registry.PROTOCOLS)
def test_keys_of_another_pair_are_refused_at_once(name: str) -> None:
    check_keys(plan_of(name))
