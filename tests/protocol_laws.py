"""What holds for every protocol, whatever it computes: laws on a planned model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

import hesc
from hesc.protocols import registry
from tests.lying_documents import check_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

LIES: Final = 120
"""Lies about a document that are tried."""


def check_documents(private: Any) -> None:
    """The model of a planned estimator, with its server or owner: read back as it was, or refused.

    Args:
        private: an estimator that is planned.

    """
    plan = private._served().plan
    if registry.protocol_of(plan).has_owner:
        model = private.owner().to_bytes()
        assert check_reader(model, lambda b: registry.read_owner(plan, b), LIES) > LIES // 3
    else:
        model = private._backend.server().to_bytes()
        assert check_reader(model, registry.read_server, LIES) > LIES // 3


def check_plan(plan: Any) -> None:
    """A plan of any protocol: read back as it was, or refused, and under no other's name."""
    data = plan.to_bytes()
    assert type(registry.read_plan(data)) is registry.protocol_of(plan).loaded("plan")
    assert registry.read_plan(data).digest == plan.digest
    assert check_reader(data, registry.read_plan, LIES) > LIES // 2
    for wrong in _other_protocols(plan):
        with pytest.raises(hesc.HescError):
            registry.read_plan(wrong)
        with pytest.raises(hesc.WireError, match="another protocol"):
            type(plan).from_bytes(wrong)


def _other_protocols(plan: Any) -> Iterator[bytes]:
    """The plan under the name of each other protocol."""
    own = f'"protocol":"{plan.protocol}"'.encode()
    assert plan.to_bytes().count(own) == 1
    # Of protocols whose plans have the same fields one is read as the other's: sizes tell them
    # apart, where they differ, and digests always do.
    same = {"linear", "outsourced"}
    for name in registry.PROTOCOLS:
        if name != plan.protocol and not {name, plan.protocol} <= same:
            yield plan.to_bytes().replace(own, f'"protocol":"{name}"'.encode())


def check_keys(plan: Any) -> None:
    """Who holds the secret key: public keys of another pair, set or plan are refused at once."""
    own, other = registry.client_of(plan), registry.client_of(plan)
    again = registry.client_of(plan, secret=own.secret, keys=own.public_keys())
    assert again.public_keys() == own.public_keys()
    if registry.protocol_of(plan).has_model and registry.server_takes_keys(plan):
        assert len(own.public_keys()) == plan.key_bytes
    with pytest.raises(hesc.KeyMismatchError, match="another pair"):
        registry.client_of(plan, secret=own.secret, keys=other.public_keys())
    with pytest.raises(hesc.ParameterError, match="secret="):
        registry.client_of(plan, keys=own.public_keys())
    for nobody in (None, b"", object()):
        with pytest.raises(hesc.HescError):
            registry.client_of(plan, secret=nobody, keys=b"")


def check_sizes(private: Any, rows: Any) -> None:
    """What a plan says that runs send is what they send."""
    plan = private._served().plan
    for samples in {1, min(3, len(rows)), min(plan.rows + 1, len(rows))}:
        found = private.run(rows[:samples], progress=False)
        assert found.sizes == plan.sizes(samples), samples


def check_words(plan: Any) -> None:
    """What a plan says of itself, to people and in notebooks."""
    title, rows = plan.disclosure()
    assert title
    assert {*plan.roles, "bytes"} <= set(rows)
    assert all(str(size) in rows["bytes"] for size in plan.sizes())
    assert "<table>" in plan._repr_html_()
    if registry.protocol_of(plan).has_model:
        assert plan.sizes(plan.rows + 1).up > plan.sizes(1).up or plan.rows == 1
