"""The binding of the search: scores beside numpy, threads, files, refusals."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from hesc import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNS = bytes(range(32))
MEGABYTE = 10**6


class Party(NamedTuple):
    """A client of a plan, and what a server has of it."""

    plan: _native.SearchPlan
    secret: _native.VectorSecretKey
    shared: _native.SearchSecrets
    keys: _native.SearchKeys | None

    def asks(self, vector: NDArray[np.int16]) -> tuple[bytes, _native.SearchKeys | None]:
        return _native.encrypt_vector(self.plan, self.secret, vector), self.keys

    def reads(self, answer: bytes) -> NDArray[np.int64]:
        return _native.decrypt_search(self.plan, self.secret, self.shared, answer)


def party(plan: _native.SearchPlan) -> Party:
    secret, _ = _native.VectorSecretKey.generate(plan.params)
    shared = _native.SearchSecrets(plan, secret)
    keys = None
    if plan.expanded:
        data = _native.search_keys(plan, secret, shared)
        assert len(data) == plan.sizes[0]
        keys = _native.SearchKeys(plan, data)
    return Party(plan, secret, shared, keys)


def plan_of(dimensions: int = 8, *, expanded: bool = False, shared: int = 1) -> _native.SearchPlan:
    entries = (5, 6, 16 * 16 * dimensions, 32 * 32 * dimensions)
    return _native.SearchPlan(dimensions, entries, 50_000, expanded, shared, SIGNS)


def index_of(plan: _native.SearchPlan, records: NDArray[np.int16]) -> _native.SearchIndex:
    index = _native.SearchIndex(plan)
    index.append(records.ravel())
    return index


@pytest.mark.parametrize(("expanded", "shared"), [(False, 1), (True, 1), (True, 2)])
def test_scores_are_numpys(expanded: bool, shared: int, tmp_path: Path) -> None:
    plan = pickle.loads(pickle.dumps(plan_of(expanded=expanded, shared=shared)))  # noqa: S301
    rng = np.random.default_rng(1)
    records = rng.integers(-32, 32, (2 * plan.block + 9, 8), np.int16)
    index = index_of(plan, records)
    assert index.size == (len(records), plan.index_sizes(len(records))[1])
    parties = [party(plan) for _ in range(2)]
    queries = rng.integers(-16, 16, (2, 8), np.int16)
    asked = [own.asks(query) for own, query in zip(parties, queries, strict=True)]
    assert {len(query) for query, _ in asked} == {plan.sizes[1]}
    answers = index.answer(asked)
    for own, query, answer in zip(parties, queries, answers, strict=True):
        assert len(answer) == plan.index_sizes(len(records))[0]
        assert (own.reads(answer) == records.astype(np.int64) @ query).all()
    path = tmp_path / "index"
    index.save(path)
    with pytest.raises(FileExistsError):
        index.save(path)
    data = np.memmap(path, np.uint8, "r")
    assert len(data) == plan.index_sizes(len(records))[2]
    mapped = _native.SearchFile(plan, data)
    assert mapped.records == len(records)
    assert mapped.answer(asked) == answers
    copy = mapped.to_index()
    copy.remove(0)
    assert (copy.vector(0) == records[-1]).all()
    assert index.answer(asked[:1])[0] == answers[0]
    lie = np.array(data)
    lie[-5000] ^= 1
    with pytest.raises(_native.WireError, match="changed"):
        _native.SearchFile(plan, lie)


def test_distances_are_those_of_codes() -> None:
    plan = _native.SearchPlan(65, None, 1000, False, 1, SIGNS)
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2, (300, 65), np.int16)
    own = party(plan)
    scores = own.reads(index_of(plan, 1 - 2 * bits).answer([own.asks(1 - 2 * bits[7])])[0])
    found = [plan.distance(int(score)) for score in scores]
    assert found == (bits != bits[7]).sum(axis=1).tolist()


def test_answers_go_on_while_records_change() -> None:
    """Each answer is of the records of one moment: all old, or the new ones from the first on."""
    plan = plan_of()
    records = np.ones((plan.block + 5, 8), np.int16)
    index, own = index_of(plan, records), party(plan)
    asked = own.asks(np.ones(8, np.int16))

    def change() -> None:
        for record in range(40):
            index.replace(record, np.full(8, 2, np.int16))

    with ThreadPoolExecutor(3) as pool:
        changes = pool.submit(change)
        answers = list(pool.map(lambda _: index.answer([asked])[0], range(20)))
        changes.result()
    for answer in [*answers, index.answer([asked])[0]]:
        scores = own.reads(answer)
        changed = int((scores == 16).sum())
        assert (scores[:changed] == 16).all()
        assert (scores[changed:] == 8).all()
    assert changed == 40


def test_what_does_not_fit_is_refused() -> None:
    plan, own = plan_of(), party(plan_of())
    index = index_of(plan, np.ones((3, 8), np.int16))
    with pytest.raises(_native.OutOfRangeError):
        index.replace(0, np.full(8, 40, np.int16))
    with pytest.raises(_native.ShapeError):
        index.replace(3, np.ones(8, np.int16))
    with pytest.raises(_native.ShapeError):
        index.append(np.ones(9, np.int16))
    with pytest.raises(_native.ShapeError):
        _native.SearchIndex(plan).answer([own.asks(np.ones(8, np.int16))])
    with pytest.raises(_native.ParameterError):
        _native.SearchPlan(0, None, 1, False, 1, SIGNS)
    with pytest.raises(_native.NoiseBudgetError):
        _native.SearchPlan(4096, (16, 16, 2**60, 2**60), 10, True, 1, SIGNS)
    answer = index.answer([own.asks(np.ones(8, np.int16))])[0]
    with pytest.raises(_native.KeyMismatchError):
        party(plan).reads(answer)
    with pytest.raises(_native.WireError):
        own.reads(answer[:-1])
    for thing in (index, own.shared):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(thing)


MEMORY = """
import json, re, sys
import numpy as np
from hesc import _native

def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

plan = _native.SearchPlan(128, (6, 6, 10_240, 10_240), 200_000, True, 4, bytes(32))
records = np.random.default_rng(1).integers(-8, 8, (10_000, 128), np.int16)
secret, _ = _native.VectorSecretKey.generate(plan.params)
shared = _native.SearchSecrets(plan, secret)
keys = _native.SearchKeys(plan, _native.search_keys(plan, secret, shared))
query = _native.encrypt_vector(plan, secret, records[0])
start = kilobytes("VmHWM")
index = _native.SearchIndex(plan)
for _ in range(20):
    index.append(records.ravel())
built = kilobytes("VmHWM")
for _ in range(6):
    answer = index.answer([(query, keys)])
answered = kilobytes("VmHWM")
index.save(sys.argv[1])
saved = kilobytes("VmHWM")
before = kilobytes("RssAnon")
mapped = _native.SearchFile(plan, np.memmap(sys.argv[1], np.uint8, "r"))
opened = kilobytes("RssAnon")
assert mapped.answer([(query, keys)]) == answer
del mapped, answer
between = kilobytes("RssAnon")
copy = _native.SearchFile(plan, np.memmap(sys.argv[1], np.uint8, "r")).to_index()
copied = kilobytes("RssAnon")
assert copy.size == index.size
grown = [built - start, answered - built, saved - answered, opened - before, copied - between]
print(json.dumps([index.size[1], [1024 * x for x in grown]]))
"""


def test_memory_is_that_of_packed_records(tmp_path: Path) -> None:
    """Records come in pieces, so that blocks are copied; answers take no more for more records."""
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell what a process takes")
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "index")]
    # Each thread works in memory of its own.
    env = {**os.environ, "RAYON_NUM_THREADS": "2"}
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    packed, (built, answered, saved, opened, copied) = json.loads(found.stdout)
    assert packed > 130 * MEGABYTE
    assert built <= 1.01 * packed + 4 * MEGABYTE
    assert built + answered <= 1.05 * packed + 64 * MEGABYTE
    assert saved <= MEGABYTE
    assert opened <= 2 * MEGABYTE
    assert copied <= 1.01 * packed + 4 * MEGABYTE
