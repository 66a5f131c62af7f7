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
from hesc.protocols.message import Kind, Message, name_of
from hesc.protocols.trees.preparations import Preparations
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
        return next(values), [condition() for _ in range(next(conditions))], {}

    found = [
        [[leaf() for _ in range(next(leaves))] for _ in range(trees)] for trees in server.plan.trees
    ]
    return found if server.plan.structure == "hidden" else forms_of(found)


def forms_of(outputs: list[list[list[forests.Leaf]]]) -> list[list[list[forests.Leaf]]]:
    """Of trees of public structure: one leaf an output, whose slopes are those of their leaves.

    Each tree has a bit for every leaf but its first; trees of the same leaves have the same bits.
    """
    firsts: dict[str, int] = {}
    found: list[list[list[forests.Leaf]]] = []
    bits = 0
    for trees in outputs:
        constant, slopes = 0, dict[int, int]()
        for tree in trees:
            key = repr([conditions for _, conditions, _ in tree])
            if key not in firsts:
                firsts[key], bits = bits, bits + len(tree) - 1
            constant += tree[0][0]
            for bit, (value, *_) in enumerate(tree[1:], firsts[key]):
                slopes[bit] = slopes.get(bit, 0) + value - tree[0][0]
        found.append([[(constant, [], slopes)]])
    return found


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

    # Prepared: hesc's client and the second implementation's server, then the other way round.
    client.preparations, server.preparations = Preparations(), Preparations()
    digest = plan.digest[:16]
    begun = client.prepare(1)
    prepared, kept = forests.prepare(
        part_of(begun, Kind.QUERY, plan), forest, leaves_of(server), rng
    )
    reply = Message(Kind.ANSWER, digest, 1, (prepared,), name_of(begun)).to_bytes()
    assert client.complete(reply, query=begun) == 1
    small = client.encrypt([case["sample"]], prepared=True).data
    told = forests.finish(part_of(small, Kind.QUERY, plan), forest, kept)
    reply = Message(Kind.ANSWER, digest, 1, (told,), name_of(small)).to_bytes()
    assert (client.decrypt(reply, query=small).scores == scores).all()
    t = forest.plain_modulus
    masks = rng.integers(t, size=forest.edges).tolist()
    key = (key_name, ternary)
    begun = forests.encrypt_bits(
        np.array(masks), forest, key, bytes(range(1, 33)), forests.PREPARATION
    )
    reply = server.answer(Message(Kind.QUERY, digest, 1, (begun,)).to_bytes())
    shares = forests.decrypt(
        part_of(reply, Kind.ANSWER, plan), forest, ternary, forests.PREPARATION
    )
    prepared = part_of(reply, Kind.ANSWER, plan)
    small = forests.ask((begun, prepared), masks, forest, bits)
    reply = server.answer(Message(Kind.QUERY, digest, 1, (small,)).to_bytes())
    told = part_of(reply, Kind.ANSWER, plan)
    numbers = forests.read_masked(told, forest, "forest masked answer", forest.leaves)
    sums = [(x + y) % t for x, y in zip(numbers, shares, strict=True)]
    assert forests.sums_of(sums, forest) == expected
