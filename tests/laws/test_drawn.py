"""What hides is drawn from the system: nobody who knows every other generator foresees it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc.codes import HashKey
from hesc.integers.transciphering import Shape
from hesc.protocols.linkage import Comparer, LinkagePlan, Sender
from hesc.protocols.owners import masks, sets

if TYPE_CHECKING:
    from collections.abc import Callable

CODES = np.arange(256, dtype=np.uint64).reshape(128, 2)


def order_of(party: type[Sender | Comparer], public: hesc.PublicKeys) -> bytes:
    """Where a linkage's matches lead: the order that only the party knows."""
    made = party(LinkagePlan(128, 128, 128), public, CODES)
    return made.matched([[place, place] for place in range(128)]).tobytes()


@pytest.fixture(scope="module")
def draws() -> dict[str, Callable[[], bytes]]:
    _, public = hesc.keygen(LinkagePlan(128, 128, 128).params())
    cipher = hesc.CipherKey.generate()
    keys = hesc.keygen(sets.params_of("66 bits"), products=False)[1]
    return {
        "the sender's order": lambda: order_of(Sender, public),
        "the comparer's order": lambda: order_of(Comparer, public),
        "masks of scores": lambda: masks.normal(2).tobytes(),
        "keys of hashes": lambda: HashKey.generate().secret_bytes(),
        "keys of ciphers": lambda: hesc.CipherKey.generate().secret_bytes(),
        "nonces of messages": lambda: cipher.encrypt([0], "uint8", shape=Shape(8, 1)).nonce,
        "noise": lambda: keys.encrypt(np.zeros(sets.SLOTS)).to_bytes(),
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
