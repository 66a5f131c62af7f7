"""Batches on a real cluster of several nodes, one of which is killed in the middle.

Each case has a process of its own, with its cluster (`hesc_papers.scale_run`).
"""

from __future__ import annotations

import pytest

from hesc_papers.scale_run import Place, case

pytest.importorskip("ray", reason="ray is not installed: pip install 'hesc[ray]' has it")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("cluster"))
    made.deploy_scores()
    return made


def test_queries_are_counted_once_where_a_node_is_killed(place: Place) -> None:
    """The engine on three nodes: all answers, the same ones again for nothing, exact counts."""
    found = case("killed engine", place, 12, timeout=600)
    assert found == {
        "queries": 12, "lost": 0, "twice": 0, "other answers": 0, "charged": 0, "numbers": 0,
    }  # fmt: skip


@pytest.mark.long
def test_one_actor_counts_for_all_nodes(place: Place) -> None:
    """`map_batches` on three nodes: one object of the cluster holds the state."""
    found = case("killed budget", place, 24, timeout=900)
    assert found == {
        "queries": 24, "lost": 0, "twice": 0, "other answers": 0, "charged": 0, "numbers": 0,
    }  # fmt: skip


@pytest.mark.long
def test_datasets_are_whole_where_a_node_is_killed(place: Place) -> None:
    found = case("killed dataset", place, 40_000, 40, timeout=900)
    assert found == {"lost": 0, "twice": 0, "wrong": 0, "rows": 40_000}


@pytest.mark.long
def test_parts_of_an_index_are_asked_again_where_a_node_is_killed(place: Place) -> None:
    place.deploy_search(9000)
    found = case("parts", place, 2, timeout=900)
    assert (found["wrong"], found["queries"]) == (0, 1)


@pytest.mark.long
def test_wrong_rows_end_a_cluster_s_run_by_their_number(place: Place) -> None:
    found = case("poison", place, timeout=600)
    assert "sample 123" in found["dataset"]
    assert "row 123: id = 123" in found["dataset"]
    assert "sample 23" in found["engine"]
    assert "counted from 100" in found["engine"]
    assert "there is no such folder" in found["constructor"]
