"""Searches beside the second implementation: each reads what the other has written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from hesc import SecretKey, _native, keygen
from tests.second_implementation import searches as second
from tests.second_implementation import wire

if TYPE_CHECKING:
    from pathlib import Path

NAME = slice(16, 32)
PLANS = {
    "integers": (3, (6, 6, 300, 300)),
    "signs": (5, None),
    "long integers": (2, (12, 10, 40_000, 9000)),
}


@pytest.mark.parametrize("name", PLANS)
def test_queries_and_answers_are_read_by_both(name: str, tmp_path: Path) -> None:
    """Vectors, scores, signs and roundings, over two blocks and part of one."""
    dimensions, entries = PLANS[name]
    plan = _native.SearchPlan(dimensions, entries, 5000, False, 1, bytes(range(32)))
    read = second.read_plan(plan.to_bytes())
    assert (read.ring_degree, read.word_bits, read.scale) == (
        plan.block,
        plan.word_bits,
        plan.noise[1],
    )
    secret, _ = keygen(plan.params, products=False)
    assert isinstance(secret, SecretKey)
    secret.save(tmp_path / "secret")
    data = (tmp_path / "secret").read_bytes()
    key = wire.open_frame(data, "secret")[NAME], wire.read_secret(data, plan.block)
    shared = _native.SearchSecrets(plan, secret.native)
    rng = np.random.default_rng(1)
    count = 2 * plan.block + 9
    if entries is None:
        records = rng.choice([-1, 1], (count, dimensions)).astype(np.int16)
        vector = rng.choice([-1, 1], dimensions).astype(np.int16)
    else:
        records = rng.integers(-9, 10, (count, dimensions)).astype(np.int16)
        vector = np.arange(-1, dimensions - 1, dtype=np.int16) * 7
    exact = (records.astype(int) @ vector).tolist()
    index = _native.SearchIndex(plan)
    index.append(records.ravel())
    own = _native.encrypt_vector(plan, secret.native, vector)
    other = second.encrypt(vector, read, key, bytes(32))
    assert len(own) == len(other)
    for query in (own, other):
        assert second.decrypt_query(query, read, key[1]) == vector.tolist()
        assert _native.decrypt_search_query(plan, secret.native, query).tolist() == vector.tolist()
        found = index.answer([(query, None)])[0]
        made = second.answer(query, read, records)
        # Nothing in an answer is drawn: both are the same to the last bit.
        assert found == made
        assert second.decrypt(found, read, key[1]) == exact
        assert _native.decrypt_search(plan, secret.native, shared, made).tolist() == exact
