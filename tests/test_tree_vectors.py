"""Stored trees, queries and answers: read by hesc and by the second implementation."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hesc
from hesc.models import transforms
from hesc.protocols import registry
from hesc.protocols.message import Kind, Message
from tests.second_implementation import forests, wire

STORED = json.loads((Path(__file__).parents[1] / "vectors" / "trees.json").read_text())


def data(case: dict[str, Any], name: str) -> bytes:
    return base64.b64decode(case[name])


def part_of(message: bytes, kind: Kind, plan: Any) -> bytes:
    found: Message = Message.from_bytes(message, kind, plan=plan.digest)
    return found.parts[0]


def leaves_of(server: Any) -> list[list[list[forests.Leaf]]]:
    """The model of a server, as its counts say."""
    model = {name: column.tolist() for name, column in server.model().items()}
    values, edges = iter(model["values"]), iter(model["edges"])
    conditions, terms = iter(model["conditions"]), iter(model["terms"])
    negated, leaves = iter(model["negated"]), iter(model["leaves"])

    def condition() -> forests.Condition:
        return next(negated), [next(edges) for _ in range(next(terms))]

    def leaf() -> forests.Leaf:
        return next(values), [condition() for _ in range(next(conditions))]

    return [
        [[leaf() for _ in range(next(leaves))] for _ in range(trees)]
        for trees, _ in server.plan.forest.outputs
    ]


@pytest.mark.parametrize("name", STORED)
def test_both_implementations_agree(name: str, tmp_path: Path) -> None:
    case = STORED[name]
    plan: Any = registry.read_plan(data(case, "plan"))
    path = tmp_path / "secret"
    path.write_bytes(data(case, "secret"))
    path.chmod(0o600)
    secret = hesc.SecretKey.load(plan.params, path)
    client = registry.client_of(plan, secret=secret, keys=data(case, "keys"))
    server: Any = registry.read_server(data(case, "server"), keys=data(case, "keys"))
    forest = forests.read_plan(plan.forest.to_bytes())
    key_name = wire.open_frame(data(case, "secret"), "secret")[16:32]
    ternary = wire.read_secret(data(case, "secret"), forest.ring_degree)
    bits = transforms.transformed(plan.steps, np.array([case["sample"]]))[0] != 0
    expected = case["sums"]

    # What is stored, by both.
    query, answer = data(case, "query"), data(case, "answer")
    asked, answered = part_of(query, Kind.QUERY, plan), part_of(answer, Kind.ANSWER, plan)
    assert (forests.decrypt_bits(asked, forest, ternary) == bits).all()
    assert forests.sums(answered, forest, ternary) == expected
    scores = client.decrypt(answer, query=query).scores
    assert (np.rint(scores / plan.unit).reshape(-1) == expected).all()

    # hesc answers the second implementation's query, and the other way round.
    own = forests.encrypt_bits(bits, forest, (key_name, ternary), bytes(range(32)))
    message = Message(Kind.QUERY, plan.digest[:16], 1, (own,)).to_bytes()
    assert (
        forests.sums(part_of(server.answer(message), Kind.ANSWER, plan), forest, ternary)
        == expected
    )
    rng = np.random.default_rng(4)
    theirs = forests.answer(asked, forest, leaves_of(server), rng)
    reply = Message(Kind.ANSWER, plan.digest[:16], 1, (theirs,), answer[22:38]).to_bytes()
    assert (client.decrypt(reply, query=query).scores == scores).all()
