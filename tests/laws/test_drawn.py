"""What hides is drawn from the system: nobody who knows every other generator foresees it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc.codes import HashKey
from hesc.integers.transciphering import Shape
from hesc.protocols.linkage import Comparer, LinkagePlan, Sender, pieces
from hesc.protocols.message import NAME_BYTES
from hesc.protocols.owners import column_sets, masks

if TYPE_CHECKING:
    from collections.abc import Callable

CODES = np.arange(256, dtype=np.uint64).reshape(128, 2)


def order_of(party: type[Sender | Comparer], keys: bytes) -> bytes:
    """Where a linkage's matches lead: the order that only the party knows."""
    plan = LinkagePlan(128, 128, 128)
    made, name = party(plan, keys, CODES), bytes(NAME_BYTES - 1) + b"q"
    made._queries.add(name)
    every = np.arange(128).repeat(2).reshape(-1, 2)
    return made.matched(pieces.write_matches(plan, every, name)).tobytes()


@pytest.fixture(scope="module")
def draws() -> dict[str, Callable[[], bytes]]:
    linked = hesc.keygen(LinkagePlan(128, 128, 128).params)[1].to_bytes()
    cipher = hesc.CipherKey.generate()
    keys = hesc.keygen(column_sets.params_of("66 bits"), products=False)[1]
    return {
        "the sender's order": lambda: order_of(Sender, linked),
        "the comparer's order": lambda: order_of(Comparer, linked),
        "masks of scores": lambda: masks.normal(2).tobytes(),
        "keys of hashes": lambda: HashKey.generate().secret_bytes(),
        "keys of ciphers": lambda: hesc.CipherKey.generate().secret_bytes(),
        "nonces of messages": lambda: cipher.encrypt([0], "uint8", shape=Shape(8, 1)).nonce,
        "noise": lambda: keys.encrypt(np.zeros(column_sets.SLOTS)).to_bytes(),
    }


@pytest.mark.parametrize(
    "what",
    [
        "the sender's order",
        "the comparer's order",
        "masks of scores",
        "keys of hashes",
        "keys of ciphers",
        "nonces of messages",
        "noise",
    ],
)
def test_what_hides_is_another_each_time(what: str, draws: Any, monkeypatch: Any) -> None:
    """Every generator that can be put to a place is at the same one: sizes, seeds, processes.

    Equal by chance once in 2^96, the nonces; orders of 128 records once in 128!.
    """
    seeded = np.random.default_rng

    def draw() -> bytes:
        random.seed(7)
        np.random.seed(7)  # noqa: NPY002 - what somebody may draw from
        monkeypatch.setattr(np.random, "default_rng", lambda *_: seeded(7))
        monkeypatch.setattr(random, "Random", lambda *_: random._inst)
        found: bytes = draws[what]()
        return found

    assert draw() != draw()
