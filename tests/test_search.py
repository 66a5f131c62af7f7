"""Private search: scores beside numpy, errors beside what is stated, changes, files, refusals."""

from __future__ import annotations

import csv
import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import hesc
from hesc import cli
from hesc.protocols import registry
from hesc.protocols.message import Kind, Message
from hesc.protocols.search import rounding
from hesc.protocols.search.nearest import best_of
from hesc.search import Index, SearchClient, SearchPlan, SearchServer

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

METRICS: Final = ("inner", "cosine", "euclidean")
RNG = np.random.default_rng


def parties(index: Index) -> tuple[SearchClient, SearchServer]:
    client = SearchClient(index.plan)
    keys = client.public_keys() if index.plan.needs_keys else None
    return client, SearchServer.of(index, keys=keys)


def asked(client: SearchClient, server: SearchServer, rows: Any, *, clip: bool = False) -> Any:
    query = client.encrypt(rows, clip=clip).data
    return client.decrypt(server.answer(query), query=query)


def exact(metric: str, queries: NDArray[Any], records: NDArray[Any]) -> NDArray[np.float64]:
    """Scores in floating point, by their definition."""
    if metric == "inner":
        return np.asarray(queries @ records.T)
    if metric == "cosine":
        lengths = [np.linalg.norm(rows, axis=1) for rows in (queries, records)]
        return np.asarray(queries @ records.T / np.outer(*lengths))
    return np.asarray(np.linalg.norm(queries[:, None] - records, axis=2))


def planned(records: Any, metric: str = "cosine", **options: Any) -> SearchPlan:
    return SearchPlan.of_vectors(records, metric=metric, records="public", **options)


# Scores -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_scores_are_those_of_rounded_vectors(metric: str, keys: bool) -> None:
    """Exactly, for vectors of all lengths; and near those of the vectors themselves, as stated."""
    rng = RNG(1)
    records = rng.normal(size=(3000, 24)) * rng.uniform(0.01, 1, (3000, 1))
    plan = planned(records, metric, bits=7, keys=keys, query_norm=None)
    assert plan.needs_keys == keys
    client, server = parties(Index(plan, records))
    queries = records[[0, 2999]] * 0.7 + 0.01 * rng.normal(size=(2, 24))
    found = asked(client, server, queries)
    step = plan.step
    if metric == "cosine":
        rows = [each / np.linalg.norm(each, axis=1)[:, None] for each in (records, queries)]
    else:
        rows = [records, queries]
    own, wanted = (np.rint(each / step).astype(np.int64) for each in rows)
    if metric == "euclidean":
        squares = np.square(wanted[:, None] - own).sum(axis=2)
        assert np.array_equal(found.values, np.sqrt(squares.astype(float)) * step)
    else:
        assert np.array_equal(found.values, wanted @ own.T * (step * plan.query_step))
    off = np.abs(found.values - exact(metric, queries, records))
    assert off.max() <= plan.score_error.bound
    assert np.sqrt(np.square(off).mean()) <= plan.score_error.rms
    best = found.best(5)
    order = np.argsort(found.values if metric == "euclidean" else -found.values, kind="stable")
    assert np.array_equal(best.indices, order[:, :5])
    assert found.best(3000).indices.shape == (2, 3000)
    assert found.predictions.tolist() == best.indices[:, 0].tolist()


@pytest.mark.parametrize("metric", METRICS)
def test_errors_are_those_that_are_stated(metric: str) -> None:
    """Of many plans: within the bound always, and of spread vectors by what the deviation says.

    Products of 200 vectors by 400 have 80,000 errors; those of one record are dependent, so that
    the root mean square of a plan is known to some hundredths.
    """
    rng, ratios = RNG(2), []
    for bits in (3, 5, 8, 10):
        # Directions of one number are rounded alike.
        for width in (7, 60) if metric == "cosine" else (1, 7, 60):
            records, queries = rng.normal(size=(400, width)), rng.normal(size=(200, width))
            norm = float(max(np.linalg.norm(each, axis=1).max() for each in (records, queries)))
            lengths = {} if metric == "cosine" else {"norm": norm, "query_norm": norm}
            plan = planned(records, metric, bits=bits, **lengths)
            own, wanted = plan.rounded(records), plan.rounded(queries, queries=True)
            products = wanted.astype(np.int64) @ own.astype(np.int64).T
            squares = [np.square(each.astype(np.int64)).sum(axis=1) for each in (own, wanted)]
            beside = squares if plan.squares is not None else []
            off = plan.values_of(products, *beside) - exact(metric, queries, records)
            assert np.abs(off).max() <= plan.score_error.bound
            ratios.append(np.sqrt(np.square(off).mean()) / plan.score_error.rms)
    assert max(ratios) <= 1.02
    # Lengths at most are declared, and vectors are shorter.
    assert max(ratios) > (0.1 if metric == "euclidean" else 0.5)


def test_roundings_that_depend_on_each_other_keep_the_bound() -> None:
    """Vectors whose every entry is rounded by nearly half a step, in the query's own direction."""
    norm = 10.0
    plan = SearchPlan(
        inputs=40,
        records="public",
        metric="inner",
        step=0.5,
        query_step=0.5,
        norm=norm,
        query_norm=norm,
        most_records=10,
    )
    entry = 0.5 * 2 + 0.2499
    records = np.full((1, 40), entry)
    off = (
        plan.values_of(
            plan.rounded(records).astype(np.int64) @ plan.rounded(records, queries=True).T
        )[0, 0]
        - 40 * entry**2
    )
    assert plan.score_error.rms < abs(off) <= plan.score_error.bound


def test_codes_have_their_distances() -> None:
    rng = RNG(3)
    bits = rng.integers(0, 2, (500, 70))
    plan = SearchPlan.of_codes(70, records="public", most_records=500)
    client, server = parties(Index(plan, bits))
    queries = np.vstack([bits[7], 1 - bits[7], np.zeros(70), np.ones(70)])
    found = asked(client, server, queries)
    assert np.array_equal(found.values, (bits != queries[:, None]).sum(axis=2))
    assert found.error is None
    assert found.best(1).indices[0, 0] == 7
    with pytest.raises(hesc.OutOfRangeError, match="zeros and ones"):
        Index(plan, bits[:2] + 0.5)
    with pytest.raises(hesc.OutOfRangeError, match=r"feature|range"):
        client.encrypt(bits[:1] * 2)


def test_of_equal_scores_the_first_is_better() -> None:
    values = np.array([[5.0, 3, 5, 3, 0], [2, 2, 2, 2, 2], [9, 8, 7, 6, 6]])
    assert best_of(values, 3, least=True).tolist() == [[4, 1, 3], [0, 1, 2], [3, 4, 2]]
    assert best_of(values, 3, least=False).tolist() == [[0, 2, 1], [0, 1, 2], [0, 1, 2]]
    assert best_of(values, 5, least=True)[1].tolist() == [0, 1, 2, 3, 4]


def test_as_many_queries_as_features_give_every_record_away() -> None:
    """What a plan says: 20,000 records of scores with the axes, to the last whole number."""
    rng = RNG(4)
    records = rng.normal(size=(20_000, 16))
    plan = planned(records, "inner", bits=5)
    index = Index(plan, records)
    client, server = parties(index)
    axes = np.eye(16) * plan.query_step
    found = asked(client, server, axes).values / (plan.step * plan.query_step)
    assert np.array_equal(np.rint(found.T).astype(np.int16), plan.rounded(records))
    told = " ".join(str(plan).split())
    assert "16 samples with their scores give EVERY record away, whatever encrypts them" in told
    assert "no count of answers hides anything" in told


# Changes ------------------------------------------------------------------------------------------


CHANGES = st.lists(
    st.tuples(st.sampled_from(["append", "replace", "remove", "save"]), st.integers(0, 10**6)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(changes=CHANGES, metric=st.sampled_from(["inner", "euclidean"]))
def test_an_index_is_the_list_of_its_records(
    changes: list[tuple[str, int]], metric: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """After any changes, and through files: each record, its number and its place."""
    rng = RNG(5)
    plan = SearchPlan(
        inputs=3,
        records="public",
        metric=metric,
        norm=50.0,
        query_norm=50.0,
        most_records=5000,
        signs=bytes(32),
    )
    index, held = Index(plan), np.empty((0, 3))
    for what, number in changes:
        if what == "append":
            more = rng.integers(-20, 21, (1 + number % 1500, 3)).astype(float)
            if len(held) + len(more) > 5000:
                with pytest.raises(hesc.OutOfRangeError, match="most_records"):
                    index.append(more)
                continue
            index.append(more)
            held = np.vstack([held, more])
        elif what == "save":
            path = tmp_path_factory.mktemp("index") / "records"
            if index.is_mapped:
                continue
            index.save(path)
            index = Index.open(plan, path)
        elif not len(held):
            with pytest.raises(hesc.HescError):
                index.remove(0)
        elif what == "replace":
            vector = rng.integers(-20, 21, 3).astype(float)
            index.replace(number % len(held), vector)
            held[number % len(held)] = vector
        else:
            index.remove(number % len(held))
            held[number % len(held)] = held[-1]
            held = held[:-1]
    assert len(index) == len(held)
    assert index.memory == plan.native.index_sizes(len(held))[1]
    client = SearchClient(plan)
    server = SearchServer.of(index)
    if not len(held):
        with pytest.raises(hesc.HescError, match="no record"):
            server.answer(client.encrypt(np.ones((1, 3))).data)
        return
    found = asked(client, server, [[1.0, -2, 3]]).values[0]
    assert np.allclose(found, exact(metric, np.array([[1.0, -2, 3]]), held)[0], rtol=1e-12)


def test_distances_are_of_one_moment_while_records_change() -> None:
    """Records go from the origin to one far away: no answer mixes products and squares of both."""
    plan = SearchPlan(
        inputs=4,
        records="public",
        metric="euclidean",
        norm=60.0,
        query_norm=60.0,
        most_records=3000,
    )
    index = Index(plan, np.zeros((3000, 4)))
    client, server = parties(index)
    stop = threading.Event()

    def change() -> int:
        turns = 0
        while not stop.is_set():
            away = 30.0 * ((turns // 3000) % 2 == 0)
            index.replace(turns % 3000, [0.0, away, 0, 0])
            turns += 1
        return turns

    with ThreadPoolExecutor(3) as pool:
        changes = pool.submit(change)
        try:
            answers = list(
                pool.map(lambda _: asked(client, server, [[0.0, 30, 0, 0]]).values, range(60))
            )
        finally:
            stop.set()
        assert changes.result() > 10
    assert set(np.unique(np.concatenate(answers)).tolist()) <= {0.0, 30.0}


def test_files_are_read_strictly(tmp_path: Path) -> None:
    records = RNG(6).normal(size=(1500, 8))
    plan = planned(records)
    index = Index(plan, records)
    path = index.save(tmp_path / "index")
    with pytest.raises(FileExistsError):
        index.save(path)
    opened = Index.open(plan, path)
    assert (len(opened), opened.memory, opened.is_mapped) == (1500, index.memory, True)
    client, server = parties(opened)
    expected = asked(*parties(index), records[:2]).values
    assert np.array_equal(asked(client, server, records[:2]).values, expected)
    for refused in (lambda: opened.save(tmp_path / "copy"), lambda: opened.vector(0)):
        with pytest.raises(hesc.ParameterError, match="file"):
            refused()
    opened.replace(3, records[4])
    assert not opened.is_mapped
    assert np.allclose(opened.vector(3), opened.vector(4))
    with pytest.raises(hesc.ParameterError, match=r"parameter|plan"):
        Index.open(planned(records), path)
    with pytest.raises(FileNotFoundError):
        Index.open(plan, tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        Index.open(plan, tmp_path)
    data = path.read_bytes()
    rng = RNG(7)
    for turn in range(60):
        lie = bytearray(data)
        lie[rng.integers(4096 if turn % 2 else len(data))] ^= 1 << rng.integers(8)
        wrong = tmp_path / f"lie {turn}"
        wrong.write_bytes(lie if turn % 3 else lie[: rng.integers(len(lie))])
        if turn % 3 and bytes(lie) == data:
            continue
        with pytest.raises(hesc.HescError):
            Index.open(plan, wrong)
    (tmp_path / "empty").touch()
    with pytest.raises(hesc.WireError, match="empty"):
        Index.open(plan, tmp_path / "empty")


def test_arrays_larger_than_memory_are_read_in_pieces(tmp_path: Path) -> None:
    """A mapped array: a piece at a time, whose ends are not those of blocks; and what was done."""
    records = RNG(8).normal(size=(40_000, 16)).astype(np.float32)
    np.save(tmp_path / "records.npy", records)
    mapped = np.load(tmp_path / "records.npy", mmap_mode="r")
    plan = planned(records[:100], most_records=50_000)
    index = Index(plan, mapped[:777])
    shown: list[tuple[int, int]] = []
    index.append(mapped[777:], progress=lambda done, total: shown.append((done, total)))
    assert shown[-1] == (39_223, 39_223)
    client, server = parties(index)
    found = asked(client, server, records[[3, 39_999]])
    off = found.values - exact("cosine", records[[3, 39_999]].astype(float), records.astype(float))
    assert np.abs(off).max() <= plan.score_error.bound
    assert found.best(1).indices[:, 0].tolist() == [3, 39_999]


def test_records_that_are_refused_leave_those_before() -> None:
    plan = planned(np.eye(4), "inner", most_records=40_000, norm=1.0)
    rows = np.full((30_000, 4), 0.1)
    rows[29_000] = 9
    index = Index(plan)
    with pytest.raises(hesc.OutOfRangeError, match=r"9.*declares 1"):
        index.append(rows)
    count = len(index)
    assert count in (0, *range(1, 29_001))
    for wrong, error in (
        (np.full((1, 4), np.nan), hesc.OutOfRangeError),
        (np.full((1, 3), 0.1), hesc.ShapeError),
        (np.empty((0, 4)), hesc.ShapeError),
        (np.full(4, 0.1), hesc.ShapeError),
        (np.array([["a"] * 4]), hesc.ShapeError),
    ):
        with pytest.raises(error):
            index.append(wrong)
    assert len(index) == count
    for record in (-1, count, 10**30):
        with pytest.raises(hesc.OutOfRangeError):
            index.remove(record)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from hesc._support import memory

    plan = planned(np.eye(1000)[:2], most_records=1 << 22)
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 28)
    rows = np.lib.stride_tricks.as_strided(np.ones(1000), (1 << 20, 1000), (0, 8))
    index = Index(plan)
    with pytest.raises(MemoryError, match="1,048,576 records would take"):
        index.append(rows)
    assert len(index) == 0


# Plans --------------------------------------------------------------------------------------------


def test_records_have_to_be_called_public() -> None:
    for wrong in ("", "private", None, True):
        with pytest.raises(hesc.ParameterError, match="can compute every record"):
            SearchPlan.of_vectors(np.eye(3), records=wrong)  # type: ignore[arg-type]
        with pytest.raises(hesc.ParameterError, match="can compute every record"):
            SearchPlan.of_codes(64, records=wrong, most_records=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"metric": "hamming"}, "Parameter", "of_codes"),
        ({"metric": "dot"}, "Parameter", "inner, cosine or euclidean"),
        ({"bits": 1}, "OutOfRange", "2 to 16"),
        ({"bits": 16}, "HESC", ""),
        ({"norm": 2.0}, "Parameter", "length 1"),
        ({"metric": "inner", "norm": 0.0}, "Parameter", "a length"),
        ({"metric": "inner", "norm": np.nan}, "Parameter", "a length"),
        ({"most_records": 0}, "OutOfRange", "most_records"),
        ({"most_records": 2**27}, "OutOfRange", "most_records"),
        ({"shared": 4, "keys": False}, "Parameter", "shared"),
        ({"shared": 9}, "OutOfRange", "1 to 8"),
        ({"names": ["a"]}, "Parameter", "names are 3"),
    ],
)
def test_plans_that_cannot_be(options: dict[str, Any], error: str, words: str) -> None:
    kind = hesc.HescError if error == "HESC" else getattr(hesc, f"{error}Error")
    if options == {"bits": 16}:
        # Many bits are a matter of room alone.
        assert planned(np.eye(3), bits=14).score_error.rms < 1e-3
        return
    with pytest.raises(kind, match=words):
        planned(np.eye(3), **options)


def test_what_has_fewest_bytes_is_taken() -> None:
    """Keys and shared parts where a hundred queries are shorter by them; otherwise as asked."""
    records = RNG(9).normal(size=(100, 128))
    small, large = planned(records[:, :3]), planned(records, most_records=10**6)
    assert (small.expanded, small.shared, large.expanded) == (False, 1, True)
    assert large.shared > 1

    def total(plan: SearchPlan) -> int:
        return plan.key_bytes + 100 * sum(plan.sizes())

    for keys, shared in ((False, None), (True, 1), (True, 2), (True, 4), (True, 8)):
        other = planned(records, most_records=10**6, keys=keys, shared=shared)
        assert (other.expanded, other.shared) == (keys, shared or 1)
        assert total(large) <= total(other)


def test_plans_travel() -> None:
    plan = planned(RNG(10).normal(size=(9, 5)), "euclidean", names=list("abcde"))
    again = registry.read_plan(plan.to_bytes())
    copied = pickle.loads(pickle.dumps(plan))  # noqa: S301 - our own
    for other in (again, copied):
        assert other.digest == plan.digest
        assert other.sizes() == plan.sizes()
    assert pickle.loads(pickle.dumps(again)).native.to_bytes() == plan.native.to_bytes()  # noqa: S301
    for thing in (Index(plan), SearchClient(plan)):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(thing)


def test_queries_that_are_too_long_are_refused_or_shortened() -> None:
    plan = planned(np.eye(3), "inner", norm=1.0, query_norm=2.0)
    client, server = parties(Index(plan, np.eye(3)))
    with pytest.raises(hesc.OutOfRangeError, match=r"sample 1 is 3 long.*--clip"):
        client.encrypt([[0, 0, 1], [0, 3, 0]])
    query = client.encrypt([[0, 0, 1], [0, 3, 0]], clip=True)
    assert (query.clipped, query.clipped_samples) == (3, 1)
    found = client.decrypt(server.answer(query.data), query=query.data)
    assert found.values[1, 1] == pytest.approx(2, abs=plan.score_error.bound)
    cosines = planned(np.eye(3))
    with pytest.raises(hesc.OutOfRangeError, match="no cosine"):
        SearchClient(cosines).encrypt(np.zeros((1, 3)))
    # However long or short: a direction is one.
    for size in (1e-300, 1e300):
        features = cosines.prepared([[size, size, 0]]).features
        assert (
            cosines.rounded(features).tolist() == cosines.rounded(np.array([[1.0, 1, 0]])).tolist()
        )


def test_servers_without_records_and_with_others() -> None:
    records = np.eye(3)
    plan, other = planned(records), planned(records)
    client = SearchClient(plan)
    server = SearchServer(plan)
    query = client.encrypt(records[:1]).data
    with pytest.raises(hesc.ParameterError, match="--index"):
        server.answer(query)
    with pytest.raises(hesc.ParameterError, match="another plan"):
        server.index = Index(other)
    with pytest.raises(hesc.ParameterError, match="Index"):
        server.index = records  # type: ignore[assignment]
    server.index = Index(plan)
    with pytest.raises(hesc.ParameterError, match="no record"):
        server.answer(query)
    read = registry.read_server(SearchServer(plan).to_bytes())
    assert read.model() == {"vectors": None}


def test_keys_of_another_client_are_refused() -> None:
    records = RNG(11).normal(size=(50, 20))
    for plan in (
        planned(records, keys=True),
        SearchPlan.of_codes(9, records="public", most_records=3, keys=True),
    ):
        own, other = SearchClient(plan), SearchClient(plan)
        again = SearchClient(plan, secret=own.secret, keys=own.public_keys())
        assert again.public_keys() == own.public_keys()
        with pytest.raises(hesc.KeyMismatchError, match="another pair"):
            SearchClient(plan, secret=own.secret, keys=other.public_keys())
        for lie in (b"", own.public_keys()[:-1], own.public_keys() + b"x"):
            with pytest.raises(hesc.WireError):
                SearchClient(plan, secret=own.secret, keys=lie)
    plan = planned(records, keys=True)
    own, other = SearchClient(plan), SearchClient(plan)
    server = SearchServer.of(Index(plan, records), keys=other.public_keys())
    with pytest.raises(hesc.KeyMismatchError):
        server.answer(own.encrypt(records[:1]).data)
    with pytest.raises(hesc.ParameterError, match="give keys="):
        SearchServer.of(Index(plan, records)).answer(own.encrypt(records[:1]).data)


def test_answers_with_altered_squares_are_refused_or_other_distances() -> None:
    """The server's word for squares: what no records have is refused."""
    records = RNG(12).normal(size=(9, 4))
    plan = planned(records, "euclidean")
    client, server = parties(Index(plan, records))
    query = client.encrypt(records[:1]).data
    found = plan.opened(server.answer(query), Kind.ANSWER)
    lie = Message(found.kind, found.plan, 1, (found.parts[0], bytes(18)), found.query).to_bytes()
    with pytest.raises(hesc.DecryptionError, match="no records have such distances"):
        client.decrypt(lie, query=query)


# Commands -----------------------------------------------------------------------------------------


def run(*arguments: object) -> Any:
    found = CliRunner().invoke(cli.app, [str(each) for each in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def test_commands_build_search_and_add(tmp_path: Path) -> None:
    records = RNG(13).normal(size=(300, 6))
    names = [f"f{place}" for place in range(6)]
    with (tmp_path / "v.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *records.tolist()])
    np.save(tmp_path / "v.npy", records[:7])
    out, index = tmp_path / "corpus", tmp_path / "corpus.index"
    build = ("index", "build", tmp_path / "v.csv", "--out", out, "--index", index)
    with pytest.raises(hesc.ParameterError, match="records='public'"):
        run(*build, "--records", "mine")
    assert not out.exists()
    assert not index.exists()
    told = run(*build, "--records", "public", "--metric", "euclidean", "--most", 600, "--json", "-")
    figures = json.loads(told.stdout)
    assert (figures["records"], figures["features"]) == (300, 6)
    client, secret = out / "client", tmp_path / "secret"
    plan = registry.read_plan((client / "plan.json").read_bytes())
    assert figures["plan"] == plan.digest.hex()
    keys = ("--keys", tmp_path / "keys") if plan.needs_keys else ()
    run("keygen", client, "--secret", secret, *keys)
    with (tmp_path / "q.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names[::-1], *records[:20, ::-1].tolist()])
    run(
        "encrypt",
        tmp_path / "q.csv",
        "--client",
        client,
        "--secret",
        secret,
        "--out",
        tmp_path / "q",
    )
    serve = ("eval", tmp_path / "q", "--server", out / "server", *keys)
    with pytest.raises(hesc.ParameterError, match="--index"):
        run(*serve, "--out", tmp_path / "none")
    assert not (tmp_path / "none").exists()
    run(*serve, "--index", index, "--out", tmp_path / "a")
    read = ("decrypt", tmp_path / "a", "--client", client, "--secret", secret)
    run(*read, "--query", tmp_path / "q", "--best", 2, "--out", tmp_path / "best.csv")
    with (tmp_path / "best.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["query"], row["record"]) for row in rows if row["rank"] == "1"] == [
        (str(place), str(place)) for place in range(20)
    ]
    assert all(float(row["distance"]) == 0 for row in rows if row["rank"] == "1")
    more = tmp_path / "more.index"
    run(
        "index",
        "add",
        tmp_path / "v.npy",
        "--server",
        out / "server",
        "--index",
        index,
        "--out",
        more,
    )
    told = run(
        "search", tmp_path / "v.npy", "--client", client, "--index", more, "--best", 2, "--out",
        tmp_path / "twice.csv", "--json", "-",
    )  # fmt: skip
    figures = json.loads(told.stdout)
    assert (figures["queries"], figures["records"]) == (7, 307)
    with (tmp_path / "twice.csv").open() as file:
        found = [int(row["record"]) for row in csv.DictReader(file)]
    assert found == [place for first in range(7) for place in (first, 300 + first)]
    with pytest.raises(hesc.ParameterError, match="another protocol"):
        _other_deployment(tmp_path)


def _other_deployment(folder: Path) -> None:
    """A search with the folder of another protocol."""
    from sklearn.linear_model import RidgeClassifier

    from hesc.ml import PrivateClassifier

    x = RNG(14).normal(size=(40, 3))
    private = PrivateClassifier(RidgeClassifier()).fit(x, x[:, 0] > 0)
    private.plan(x)
    private.save(folder / "linear")
    run("search", folder / "v.npy", "--client", folder / "linear/client", "--index", folder / "x")


def test_columns_of_lists_are_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    records = RNG(15).normal(size=(50, 5)).astype(np.float32)
    table = pa.table({"id": list(range(50)), "vector": list(records)})
    parquet.write_table(table, tmp_path / "v.parquet")
    build = ("index", "build", tmp_path / "v.parquet", "--records", "public")
    told = run(
        *build,
        "--column",
        "vector",
        "--out",
        tmp_path / "c",
        "--index",
        tmp_path / "i",
        "--json",
        "-",
    )
    assert json.loads(told.stdout)["features"] == 5
    for column, words in (("id", "no lists"), ("none", "no column")):
        with pytest.raises(hesc.HescError, match=words):
            run(*build, "--column", column, "--out", tmp_path / "d", "--index", tmp_path / "j")
    ragged = pa.table({"vector": [[1.0, 2], [1.0]]})
    parquet.write_table(ragged, tmp_path / "v2.parquet")
    with pytest.raises(hesc.HescError, match=r"differ in length|hold"):
        run(
            "index", "build", tmp_path / "v2.parquet", "--records", "public", "--column", "vector",
            "--out", tmp_path / "d", "--index", tmp_path / "j",
        )  # fmt: skip
    assert not (tmp_path / "d").exists()


def test_steps_are_for_entries_of_the_usual_size() -> None:
    """A vector of equal entries has a quarter of what its bits hold."""
    for bits in (4, 6, 8):
        step = rounding.step_for(1.0, 64, bits)
        assert (1 / 8) / step == pytest.approx(((1 << (bits - 1)) - 1) / 4)
    with pytest.raises(hesc.ParameterError, match="larger step"):
        rounding.square_of(1.0, 1e-9, 4)
    assert rounding.square_of(3.0, 1.0, 4) == 17


def test_rounding_of_counts_and_bits_is_measured() -> None:
    """Entries that are alike are rounded alike: a plan says what that did to its vectors."""
    rng = RNG(16)
    pixels = rng.poisson(1.0, (400, 128)).astype(float)
    bits = (rng.random((400, 128)) < 0.3).astype(float)
    spread = rng.normal(size=(400, 128))
    for records, metric in ((pixels, "inner"), (pixels, "cosine"), (bits, "euclidean")):
        plan = planned(records, metric)
        own, wanted = plan.rounded(records), plan.rounded(records[:50], queries=True)
        products = wanted.astype(np.int64) @ own.astype(np.int64).T
        squares = [np.square(each.astype(np.int64)).sum(axis=1) for each in (own, wanted)]
        beside = squares if plan.squares is not None else []
        off = plan.values_of(products, *beside) - exact(metric, records[:50], records)
        rms = np.sqrt(np.square(off).mean())
        assert plan.error is not None
        assert rms <= plan.error <= plan.score_error.bound
        if metric != "euclidean":
            assert plan.dependence > 2
            assert "roundings depend on each other" in str(plan)
    assert planned(spread, "inner").dependence == 1
    assert "spread evenly" in str(planned(spread))


def test_queries_take_no_more_memory_than_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message has fewer queries of many dimensions; what has no room is refused by a server."""
    wide = planned(np.eye(4096)[:2], keys=True)
    assert wide.rows == 1
    assert str(wide.constants) in str(wide)
    assert planned(np.eye(8), keys=True).rows == 16
    from hesc._support import memory

    plan = planned(np.eye(1024)[:2], keys=False)
    client, server = parties(Index(plan, np.eye(1024)[:2]))
    query = client.encrypt(np.eye(1024)[:3]).data
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 20)
    with pytest.raises(MemoryError, match="constants of 3 queries"):
        server.answer(query)


def test_interrupts_leave_all_or_nothing_of_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends a change before it is in place: records and their squares stay as they were."""
    plan = planned(np.eye(4), "euclidean", most_records=9)
    index = Index(plan, np.eye(4))
    client, server = parties(index)
    before = asked(client, server, [[0.5, 0.5, 0, 0]]).values.tolist()

    class Interrupted:
        def __init__(self, native: Any) -> None:
            self._native = native

        def __getattr__(self, name: str) -> Any:
            def call(*given: Any) -> None:
                getattr(self._native, name)(*given)
                raise KeyboardInterrupt

            return call

    branch = index._branch
    monkeypatch.setattr(index, "_branch", lambda: Interrupted(branch()))
    with pytest.raises(KeyboardInterrupt):
        index.append(np.eye(4)[:1])
    with pytest.raises(KeyboardInterrupt):
        index.replace(1, [1.0, 0, 0, 0])
    with pytest.raises(KeyboardInterrupt):
        index.remove(0)
    assert len(index) == 4
    assert asked(client, server, [[0.5, 0.5, 0, 0]]).values.tolist() == before


def test_records_that_are_replaced_are_read_as_others() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(3) * 0.5, columns=list("abc"))
    plan = planned(frame, "inner", most_records=5)
    assert plan.names == list("abc")
    index = Index(plan, frame)
    index.replace(0, frame.iloc[1:2])
    assert np.allclose(index.vector(0), index.vector(1))
    for wrong, error in (
        (frame[["c", "b", "a"]].iloc[:1], hesc.ShapeError),
        (frame.iloc[:2], hesc.ShapeError),
        ([[0.1], [0.2], [0.3]], hesc.ShapeError),
        ([0.1, 0.2], hesc.ShapeError),
        ([1j, 0, 0], hesc.HescError),
        (["1", "2", "3"], hesc.HescError),
        (np.ma.masked_array([1.0, 2, 3], [False, True, False]), hesc.HescError),
    ):
        with pytest.raises(error):
            index.replace(0, wrong)
    # What is called while records are packed may look at them.
    Index(plan).append(frame, progress=lambda *_: index.vector(0))
    with pytest.raises(hesc.ShapeError, match=r"named otherwise|another order"):
        SearchClient(plan).encrypt(frame[["c", "b", "a"]])


def test_the_longest_queries_keep_their_direction() -> None:
    plan = planned(np.eye(3), "inner", norm=1.0)
    for size in (1e154, 1e155, 1e300):
        features = plan.prepared([[size, 2 * size, 0]], clip=True).features
        assert np.allclose(features, np.array([[1, 2, 0]]) / np.sqrt(5))


def test_files_with_records_beyond_the_plan_are_refused(tmp_path: Path) -> None:
    """An index of a plan of the same primes and signs, whose records may be longer."""
    plan = SearchPlan(
        inputs=4, records="public", metric="inner", norm=9.0, query_norm=9.0, most_records=9
    )
    made = Index(plan, np.full((2, 4), 4.0))
    assert made.plan.most_square >= 64
    path = made.save(tmp_path / "index")
    shorter = SearchPlan(
        inputs=4,
        records="public",
        metric="inner",
        norm=9.0,
        query_norm=9.0,
        most_records=9,
        signs=plan.signs,
    )
    assert len(Index.open(shorter, path)) == 2
    object.__setattr__(shorter, "norm", 1.0)
    with pytest.raises(hesc.WireError, match="longer than the plan declares"):
        Index.open(shorter, path)


def test_tables_are_read_by_name_by_every_command(tmp_path: Path) -> None:
    records = RNG(17).normal(size=(40, 3))
    for name, columns in (("v.csv", "abc"), ("turned.csv", "cba"), ("other.csv", "xyz")):
        places = [
            "abc".index(letter) if letter in "abc" else at for at, letter in enumerate(columns)
        ]
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([list(columns), *records[:, places].tolist()])
    out, index = tmp_path / "c", tmp_path / "i"
    build = ("index", "build", tmp_path / "v.csv", "--records", "public", "--metric", "euclidean")
    run(*build, "--out", out, "--index", index)
    held = ("--client", out / "client", "--index", index, "--best", 1, "--out")
    run("search", tmp_path / "turned.csv", *held, tmp_path / "best.csv")
    with (tmp_path / "best.csv").open() as file:
        assert [row["record"] for row in csv.DictReader(file)] == [str(at) for at in range(40)]
    with pytest.raises(hesc.HescError, match="no column"):
        run("search", tmp_path / "other.csv", *held, tmp_path / "other")
    add = ("--server", out / "server", "--index", index, "--out", tmp_path / "more")
    with pytest.raises(hesc.HescError, match="no column"):
        run("index", "add", tmp_path / "other.csv", *add)
    for where in (out / "inside", out / "client" / "inside"):
        with pytest.raises(hesc.HescError, match="lies in a deployment"):
            run(
                "index", "build", tmp_path / "v.csv", "--records", "public",
                "--out", tmp_path / "d", "--index", where,
            )  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY", b"PK\x03\x04", b"x" * 200, b"\x93NUMPY\x01\x00\x10\x00{'descr': ['<f8'\n"],
)
def test_arrays_that_are_none_are_refused_in_words(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(hesc.HescError, match=r"no array of numpy|no rows"):
        run(
            "index", "build", tmp_path / "v.npy", "--records", "public",
            "--out", tmp_path / "d", "--index", tmp_path / "i",
        )  # fmt: skip
