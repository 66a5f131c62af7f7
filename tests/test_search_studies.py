"""What studies of search stand on: passages, small numbers, clusters, drawn vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from hesc import _native
from hesc_papers import search, search_passages, search_recall, search_scale
from hesc_papers.search_cases import CODES, DENSE, SQUARE, Case, Party
from hesc_papers.search_clusters import Clusters
from hesc_papers.search_passages import Embedded

if TYPE_CHECKING:
    from collections.abc import Callable


def _begins(query: str) -> Callable[[str], bool]:
    return lambda text: text.startswith(query)


def test_passages_are_the_same_each_time_and_without_what_is_asked() -> None:
    """Summaries that are asked for are in no passage of their own docstring."""
    first, again = (search_passages.texts(("numpy",), queries=50) for _ in range(2))
    assert first == again
    assert len(first.queries) == 50
    assert len(set(first.passages)) == len(first.passages) > 1000
    lengths = [len(passage.split()) for passage in first.passages]
    assert min(lengths) >= search_passages.SHORTEST
    # Of whole lines, with what is left at the end of a docstring.
    assert max(lengths) < 2 * search_passages.WORDS
    every = {" ".join(passage.split()) for passage in first.passages}
    assert not [query for query in first.queries if any(map(_begins(query), every))]
    with pytest.raises(RuntimeError, match="not installed"):
        search_passages.texts(("no_such_library",))


def test_shorter_passages_are_more() -> None:
    few, many = (len(search_passages.texts(("numpy",), words=words)[0]) for words in (120, 30))
    assert many > 2 * few


@pytest.mark.parametrize("size", [1, 8, 96, 128, 384])
def test_rotations_keep_scalar_products(size: int) -> None:
    rows = np.random.default_rng(size).standard_normal((5, size)).astype(np.float32)
    turned = search_recall.rotated(rows)
    assert np.allclose(turned @ turned.T, rows @ rows.T, atol=1e-4)
    # One entry becomes many.
    one = np.eye(size, dtype=np.float32)
    assert np.abs(search_recall.rotated(one)).max() <= (1 if size == 1 else 0.75)


def test_clipped_numbers_are_whole_and_within_their_bits() -> None:
    rng = np.random.default_rng(1)
    vectors = Embedded(*(rng.standard_normal((9, 20)).astype(np.float32) for _ in range(2)))
    for bits in search_recall.BITS:
        most = 2 ** (bits - 1) - 1
        whole = search_recall.clipped(vectors, None, bits)
        assert np.abs(whole.records).max() == most
        for rows in (*whole, *search_recall.clipped(vectors, 1.0, bits)):
            assert (rows == np.rint(rows)).all()
            assert np.abs(rows).max() <= most


@pytest.mark.parametrize("block", [40, 64, 1000])
def test_clusters_have_room_for_all_and_no_more(block: int) -> None:
    rng = np.random.default_rng(2)
    records = rng.standard_normal((300, 6)).astype(np.float32)
    records /= np.linalg.norm(records, axis=1, keepdims=True)
    clusters = Clusters(records, block)
    count = -(-300 // block)
    assert len(clusters.centres) == count
    sizes = np.bincount(clusters.blocks, minlength=count)
    assert sizes.sum() == 300
    assert sizes.max() <= block
    # Whoever asks for all blocks finds all records, whoever asks for one some near ones.
    assert clusters.holds(records, count).all()
    if count > 1:
        one = clusters.holds(records, 1)
        assert (one.sum(axis=1) <= block).all()
        assert one.diagonal().mean() > 0.5


@pytest.mark.parametrize("case", [DENSE, CODES, Case("x", 3, codes=False, expanded=True)])
def test_drawn_vectors_are_what_plans_allow(case: Case) -> None:
    assert Case.read(case.words()) == case
    rows = np.concatenate(list(case.chunks(500))).astype(np.int64)
    assert rows.shape == (500, case.dimensions)
    if case.codes:
        assert set(np.unique(rows)) == {-1, 1}
    else:
        squares = np.square(rows).sum(axis=1)
        assert squares.max() <= SQUARE * case.dimensions
        assert np.median(squares) > 0.85 * SQUARE * case.dimensions


def test_parties_read_what_they_ask() -> None:
    case = Case("x", 5, codes=False, expanded=True)
    plan = case.plan(100)
    party, rows = Party(plan), next(case.chunks(100))
    index = _native.SearchIndex(plan)
    index.append(rows.astype(np.int16).ravel())
    scores = party.reads(index.answer([party.asks(rows[3])])[0])
    assert (scores == rows.astype(np.int64) @ rows[3]).all()


def test_figures_that_were_asked_for_are_measured() -> None:
    """Names of targets are those that full runs have."""
    names = {run.name for run in search.runs(quick=False) if not run.kernels}
    of_runs = {name for name in search.TARGETS if ".1e" in name}
    assert {name.rpartition(".")[0] for name in of_runs} <= names
    assert sum(run.queries * run.records for run in search.runs(quick=False)) >= 10**8


def test_slopes_are_those_of_powers() -> None:
    x = [10.0, 100.0, 1000.0]
    assert search_scale._power(x, [3 * value**1.5 for value in x]) == pytest.approx(1.5)
    assert search_scale._power(x, [7.0] * 3) == 0
