"""Batches in processes of their own: each has the cluster, the threads and the memory of one case.

`python -m hesc_papers.scale_run CASE FOLDER ARGUMENTS` prints what it found as a line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError
from hesc.batch.engine import Work, run
from hesc.batch.on_ray import ClusterObject
from hesc.batch.parquet_pieces import ParquetPieces
from hesc.batch.secret import DecryptAnswers, EncryptRows
from hesc.batch.server_side import (
    AnswerQueries,
    ComputeAnswers,
    CountHere,
    budget_of,
    part_of_index,
)
from hesc.batch.step_files import named
from hesc.protocols.linkage.block_runs import LinkBlocks, tables_of
from hesc.protocols.linkage.blocking import place_of
from hesc.protocols.linkage.demonstration import prepare_people

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WIDTH: Final = 64
"""Features of a row."""
CLASSES: Final = 10
HIDDEN: Final = 60
"""Numbers that the model with hidden weights gives in all: fewer than it has features."""
RECORDS_WIDTH: Final = 64
_OBJECTS: Final = 1 << 32
"""Bytes that a node of a cluster holds for others; taken as they are needed."""
_ID: Final = "id"
_DEVIATIONS: Final = 10
"""What two decryptions of a score are apart by, at most, over its error."""


class Place:
    """A folder with deployments, keys and rows; drawn with fixed seeds where it is empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def options(self, name: str) -> dict[str, Any]:
        """Arguments of a client's callables for a deployment."""
        found = {"client": self.folder / name / "client", "secret": self.folder / f"{name}.key"}
        return {key: str(path) for key, path in found.items()}

    def server(self, name: str) -> dict[str, Any]:
        """Arguments of the server's callable."""
        found: dict[str, Any] = {"server": str(self.folder / name / "server")}
        if (self.folder / f"{name}.keys").exists():
            found["keys"] = str(self.folder / f"{name}.keys")
        if (self.folder / f"{name}.index").exists():
            found["index"] = str(self.folder / f"{name}.index")
        return found

    def steps(self, name: str, **decrypts: Any) -> Work:
        """All three steps of a deployment, with rows' names carried along."""
        asks = self.options(name)
        return Work(
            (
                (EncryptRows, {**asks, "keep": [_ID]}),
                (AnswerQueries, self.server(name)),
                (DecryptAnswers, asks | decrypts),
            )
        )

    def deploy_scores(self) -> None:
        """A linear model of ten classes, and one of a score whose weights are hidden."""
        from sklearn.linear_model import LinearRegression, LogisticRegression

        from hesc.ml import PrivateClassifier, PrivateRegressor, Scores

        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (600, WIDTH))
        names = [f"f{number}" for number in range(WIDTH)]
        y = (X @ rng.normal(size=(WIDTH, CLASSES))).argmax(axis=1)
        scores = PrivateClassifier(LogisticRegression(max_iter=300)).fit(X, y)
        scores.plan(X, Scores(ranges=(-1, 1)), names=names)
        self.save("scores", scores)
        hidden = PrivateRegressor(LinearRegression()).fit(X, X @ np.linspace(1, 2, WIDTH))
        wishes = Scores(hidden=True, answers=HIDDEN, max_error=0.5, ranges=(-1, 1))
        hidden.plan(X, wishes, names=names)
        self.save("hidden", hidden)

    def save(self, name: str, model: Any) -> None:
        """Deploys a planned model, with a client's key, and its public ones where there are any."""
        from hesc.ml import ClientFolder

        model.save(self.folder / name)
        client = ClientFolder.open(self.folder / name / "client").client()
        client.secret.save(self.folder / f"{name}.key")
        if client.plan.needs_keys:
            (self.folder / f"{name}.keys").write_bytes(client.public_keys())

    def deploy_search(self, records: int) -> None:
        """An index of drawn records in a file, and a client of it."""
        from hesc.ml import deployment
        from hesc.protocols.folders import PLAN, SERVER
        from hesc.search import Index, SearchClient, SearchPlan, SearchServer

        vectors = np.random.default_rng(1).normal(size=(records, RECORDS_WIDTH))
        # Blocks that share a second part stay in one part of an index, and here are few.
        plan = SearchPlan.of_vectors(
            vectors[:1000], records="public", most_records=records, keys=True, shared=1
        )
        data = plan.to_bytes()
        sides = {
            "client": {PLAN: data},
            "server": {PLAN: data, SERVER: SearchServer(plan).to_bytes()},
        }
        deployment.write(self.folder / "search", plan, sides, b"<html></html>")
        Index(plan, vectors).save(self.folder / "search.index")
        client = SearchClient(plan)
        client.secret.save(self.folder / "search.key")
        if plan.needs_keys:
            (self.folder / "search.keys").write_bytes(client.public_keys())

    def table(self, rows: int, width: int = WIDTH, *, seed: int = 2) -> Any:
        """Drawn rows with names, in memory."""
        import pyarrow as pa

        rng = np.random.default_rng(seed)
        columns = {f"f{number}": rng.uniform(-1, 1, rows) for number in range(width)}
        return pa.table({_ID: np.arange(rows), **columns})

    def write_rows(self, name: str, rows: int, width: int = WIDTH) -> Path:
        """A Parquet file of drawn rows, in row groups of 100,000; constant memory."""
        from pyarrow import parquet

        path = self.folder / name
        writer: Any = None
        for first in range(0, rows, 100_000):
            table = self.table(min(100_000, rows - first), width, seed=first + 3)
            ids = np.arange(first, first + table.num_rows)
            table = table.set_column(0, _ID, [ids])
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
        writer.close()
        return path


class ScoreRows:
    """All steps at once, as one callable class for `map_batches`.

    Args:
        folder: of a `Place`.
        name: of a deployment there.

    """

    def __init__(self, folder: str, name: str) -> None:
        self._all: Callable[[Any], Any] = Place(Path(folder)).steps(name).made()

    def __call__(self, table: Any) -> Any:
        """Rows, scored."""
        return self._all(table)


@contextmanager
def cluster(processors: list[int]) -> Iterator[Any]:
    """A cluster of Ray on this machine, a node with so many processors for each number.

    Gives ray's `Cluster`; this process belongs to it.
    """
    import ray
    from ray.cluster_utils import Cluster

    # Ray's own clusters for tests give a node 150 MB for objects: answers would go to the disk.
    own = {"object_store_memory": _OBJECTS, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": processors[0], **own})
    try:
        for number in processors[1:]:
            made.add_node(num_cpus=number, **own)
        made.wait_for_nodes()
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def kill(made: Any, which: int) -> None:
    """Ends a node and its workers by SIGKILL, as a machine that loses its power."""
    nodes = sorted(made.worker_nodes, key=lambda node: str(node.node_id))
    made.remove_node(nodes[which], allow_graceful=False)


def audited(table: Any, wanted: Any) -> dict[str, int]:
    """What is wrong with a result, held to another of the same rows.

    Args:
        table: the result, in any order.
        wanted: what each row should be.

    """
    ids = table.column(_ID).to_numpy()
    places = np.argsort(ids, kind="stable")
    once, counts = np.unique(ids, return_counts=True)
    lost = np.setdiff1d(wanted.column(_ID).to_numpy(), once)
    wrong = 0
    if not len(lost) and not (counts > 1).any():
        # Each time it is encrypted, a score has another error.
        bound = _DEVIATIONS * wanted.column("error").to_numpy()
        apart = [
            np.abs(table.column(name).to_numpy()[places] - wanted.column(name).to_numpy()) > bound
            for name in wanted.column_names
            if name.startswith("score")
        ]
        wrong = int(np.count_nonzero(np.any(apart, axis=0)))
    return {"lost": len(lost), "twice": int((counts - 1).sum()), "wrong": wrong}


def _blocks(table: Any, count: int) -> list[Any]:
    """A table in so many blocks. Ray's own division waits for a processor that workers have."""
    ends = np.linspace(0, table.num_rows, count + 1).astype(int)
    return [table.slice(a, b - a) for a, b in pairwise(ends) if b > a]


# Cases --------------------------------------------------------------------------------------------


def timed_plain(place: Place, rows: int) -> dict[str, Any]:
    """Seconds of the plain call, of one process; callables are made before."""
    table, steps = place.table(rows), place.steps("scores").made()
    steps(table.slice(0, 100))
    start = time.perf_counter()
    found = steps(table)
    return {"seconds": time.perf_counter() - start, "rows": found.num_rows}


def timed_ray(place: Place, rows: int, workers: int, batch: int) -> dict[str, Any]:
    """Seconds of `map_batches` with so many workers, each on a node of its own; start and all."""
    made = {"folder": str(place.folder), "name": "scores"}
    with cluster([1] * workers):
        table = place.table(rows)
        blocks = _blocks(table, max(8, rows // batch))
        return _mapped(ScoreRows, made, blocks, workers, table.slice(0, 1))


def _mapped(
    make: type, made: dict[str, Any], blocks: list[Any], workers: int, small: Any
) -> dict[str, Any]:
    """Seconds of `map_batches` over blocks, and before it of two over a small one for each worker.

    The first of these starts processes that the others find, as the second query of a day does.
    """
    import ray

    found: dict[str, Any] = {}
    few = [small] * workers
    for name, given in (("first", few), ("start", few), ("seconds", blocks)):
        dataset = ray.data.from_arrow(given)
        start = time.perf_counter()
        mapped = dataset.map_batches(
            make,
            batch_format="pyarrow",
            batch_size=None,
            compute=ray.data.ActorPoolStrategy(size=workers),
            fn_constructor_kwargs=made,
        ).materialize()
        found[name] = time.perf_counter() - start
        found["rows"] = mapped.count()
    return found


def timed_engine(place: Place, rows: int, workers: int, batch: int) -> dict[str, Any]:
    """Seconds of the engine by processes of this machine; start, reading and writing included."""
    source = place.folder / f"rows-{rows}.parquet"
    if not source.exists():
        place.write_rows(source.name, rows)
    out = place.folder / f"engine-{os.getpid()}.parquet"
    pieces = ParquetPieces(source, batch)
    done = run(place.steps("scores"), pieces, out, belongs={}, workers=workers)
    out.unlink()
    return {"seconds": done.seconds, "rows": done.rows}


def timed_search(place: Place, queries: int, workers: int) -> dict[str, Any]:
    """Seconds that workers of a cluster take for so many encrypted queries, start and all."""
    table = place.table(queries, RECORDS_WIDTH)
    asks = EncryptRows(**place.options("search"), keep=[_ID])
    asked = asks(table)
    blocks = _blocks(asked, asked.num_rows)
    with cluster([1] * workers):
        return _mapped(AnswerQueries, place.server("search"), blocks, workers, blocks[0])


def timed_linkage(place: Place, people: int, workers: int) -> dict[str, Any]:
    """Seconds that workers of a cluster take for a pass over so many people, start and all."""
    # People are drawn, and nothing is read.
    del place
    prepared = prepare_people(people, "padded")
    plan = prepared.plan
    # Of the second pass who matched in the first is left out: it comes behind.
    passes = plan.agreed_blocks.passes
    numbers = [number for number in plan.blocks if place_of(passes, number).at == 0]
    blocks = list(tables_of(plan, numbers, prepared.sender, prepared.comparer))
    made = {"plan": plan.to_bytes(), "threshold": prepared.threshold.distance}
    small = min(blocks, key=lambda table: table.nbytes)
    with cluster([1] * workers):
        return _mapped(LinkBlocks, made, blocks, workers, small)


def parts_of_search(place: Place, parts: int) -> dict[str, Any]:
    """Whether answers from parts of an index are those of the whole; a part's node is killed."""
    table = place.table(3, RECORDS_WIDTH)
    asked = EncryptRows(**place.options("search"))(table.drop_columns([_ID]))
    whole = AnswerQueries(**place.server("search"))(asked)
    with cluster([1, 1, 1]) as made:
        answers = AnswerQueries(**place.server("search"), parts=parts)
        first = answers(asked)
        kill(made, 0)
        again = answers(asked)
        paths = {"server": "", "keys": None} | place.server("search")
        alone = ClusterObject(part_of_index, paths, (0, parts), named("part", paths), on_head=False)
        records = alone.call("__repr__")
    return {
        "wrong": int(not first.equals(whole)) + int(not again.equals(whole)),
        "queries": asked.num_rows,
        "part": records,
    }


def killed_dataset(place: Place, rows: int, blocks: int) -> dict[str, Any]:
    """`map_batches` over three nodes, one of which is killed in the middle."""
    import ray

    table = place.table(rows)
    wanted = place.steps("scores").made()(table)
    with cluster([1, 1, 1]) as made:
        dataset = ray.data.from_arrow(_blocks(table, blocks))
        scored = dataset.map_batches(
            ScoreRows,
            batch_format="pyarrow",
            batch_size=None,
            compute=ray.data.ActorPoolStrategy(size=2),
            fn_constructor_kwargs={"folder": str(place.folder), "name": "scores"},
        )
        found, left = [], rows // 4
        for batch in scored.iter_batches(
            batch_format="pyarrow", batch_size=None, prefetch_batches=0
        ):
            found.append(batch)
            left -= batch.num_rows
            if left <= 0 and len(made.worker_nodes) == 2:
                kill(made, 0)
    import pyarrow as pa

    result = pa.concat_tables(found)
    return audited(result, wanted) | {"rows": result.num_rows}


def killed_budget(place: Place, queries: int) -> dict[str, Any]:
    """Queries of hidden weights over three nodes, one of which is killed: what the state counts."""
    import ray

    state = place.folder / "killed.state"
    table = place.table(queries)
    asks = EncryptRows(**place.options("hidden"), keep=[_ID])
    import pyarrow as pa

    asked = pa.concat_tables([asks(table.slice(at, 1)) for at in range(queries)])
    with cluster([1, 1, 1]) as made:
        options = {**place.server("hidden"), "state": str(state), "answers": queries}

        def answered(kill_one: bool) -> Any:
            dataset = ray.data.from_arrow(_blocks(asked, queries))
            answers = dataset.map_batches(
                AnswerQueries,
                batch_format="pyarrow",
                batch_size=None,
                compute=ray.data.ActorPoolStrategy(size=2),
                fn_constructor_kwargs=options,
            )
            found = []
            for batch in answers.iter_batches(
                batch_format="pyarrow", batch_size=None, prefetch_batches=0
            ):
                found.append(batch)
                if kill_one and len(found) == queries // 4:
                    kill(made, 0)
            return pa.concat_tables(found).sort_by("query")

        first = answered(True)
        second = answered(False)
    return _charged(place, state, asked, first, second)


def killed_engine(place: Place, queries: int) -> dict[str, Any]:
    """The same by the engine, which counts in its own process."""
    from pyarrow import parquet

    state, source = place.folder / "engine.state", place.folder / "asked.parquet"
    table = place.table(queries)
    asks = EncryptRows(**place.options("hidden"), keep=[_ID])
    import pyarrow as pa

    asked = pa.concat_tables([asks(table.slice(at, 1)) for at in range(queries)])
    parquet.write_table(asked, source)
    options = place.server("hidden")
    own = ComputeAnswers(**options)
    budget = budget_of(options["server"], state, None, queries)
    if budget is None:
        raise RuntimeError("a state was given")
    found = []
    with cluster([1, 1, 1]) as made:
        for number in range(2):
            out = place.folder / f"answered-{number}.parquet"
            counting = CountHere(own, budget)

            def look(done: int, all_of_them: int, number: int = number) -> None:
                if not number and 4 * done >= all_of_them and len(made.worker_nodes) == 2:
                    kill(made, 0)

            try:
                run(
                    Work(((ComputeAnswers, options),)),
                    ParquetPieces(source, 1),
                    out,
                    belongs={},
                    workers=2,
                    ray=made.address,
                    counting=counting,
                    progress=look,
                )
            finally:
                counting.book.close()
            found.append(parquet.read_table(out).sort_by("query"))
    return _charged(place, state, asked, *found)


def _charged(place: Place, state: Path, asked: Any, first: Any, second: Any) -> dict[str, Any]:
    """What a state says of queries that were answered twice."""
    budget = budget_of(place.server("hidden")["server"], state, None, asked.num_rows)
    if budget is None:
        raise RuntimeError("a state was given")
    book = budget.opened()
    given = book.given
    book.state.close()
    found = DecryptAnswers(**place.options("hidden"))(first)
    lost = set(asked.column("query").to_pylist()) - set(first.column("query").to_pylist())
    return {
        "queries": asked.num_rows,
        "lost": len(lost),
        "twice": first.num_rows - len(set(first.column("query").to_pylist())),
        "other answers": int(not first.equals(second)),
        "charged": given["answers"] - asked.num_rows,
        "numbers": given["numbers"] - found.num_rows,
    }


def poisoned(place: Place) -> dict[str, str]:
    """What is said of a row that is no number, and of a worker that cannot be made."""
    import pyarrow as pa
    import ray
    from pyarrow import parquet

    table = place.table(300)
    cells = table.column("f3").to_pylist()
    cells[123] = None
    table = table.set_column(table.column_names.index("f3"), "f3", pa.array(cells, pa.float64()))
    source = place.folder / "poisoned.parquet"
    parquet.write_table(table, source)
    found = {}
    with cluster([1, 1]) as made:
        for name, folder in (("dataset", "scores"), ("constructor", "nowhere")):
            scored = ray.data.from_arrow(table).map_batches(
                ScoreRows,
                batch_format="pyarrow",
                batch_size=None,
                compute=ray.data.ActorPoolStrategy(size=1),
                fn_constructor_kwargs={"folder": str(place.folder), "name": folder},
            )
            try:
                scored.materialize()
            except ray.exceptions.RayError as error:
                found[name] = str(error)
        out = place.folder / "none.parquet"
        try:
            run(
                place.steps("scores"),
                ParquetPieces(source, 100),
                out,
                belongs={},
                ray=made.address,
            )
        except HescError as error:
            found["engine"] = str(error)
    return found


def in_constant_memory(place: Place, rows: int, workers: int, batch: int) -> dict[str, Any]:
    """The most memory of the engine and of a worker over so many rows of a Parquet file."""
    source = place.folder / f"rows-{rows}.parquet"
    if not source.exists():
        place.write_rows(source.name, rows)
    out = place.folder / "constant.parquet"
    resident: list[float] = []

    def look(done: int, all_of_them: int) -> None:
        del done, all_of_them
        resident.append(_resident())

    start = time.perf_counter()
    done = run(
        place.steps("scores"),
        ParquetPieces(source, batch),
        out,
        belongs={},
        workers=workers,
        progress=look,
    )
    out.unlink()
    tenth = max(1, len(resident) // 10)
    workers_most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "rows": done.rows,
        "seconds": time.perf_counter() - start,
        "rss_mb": max(resident),
        "worker_rss_mb": workers_most / 1e3,
        "growth": float(np.median(resident[-tenth:]) / np.median(resident[:tenth]) - 1),
    }


def _resident() -> float:
    """Megabytes of this process that are in memory now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1e3
    return 0.0


CASES: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "plain": timed_plain,
    "ray": timed_ray,
    "engine": timed_engine,
    "search": timed_search,
    "linkage": timed_linkage,
    "parts": parts_of_search,
    "killed dataset": killed_dataset,
    "killed budget": killed_budget,
    "killed engine": killed_engine,
    "memory": in_constant_memory,
    "poison": poisoned,
}


def case(name: str, place: Place, *arguments: int, timeout: float = 7200.0) -> dict[str, Any]:
    """What a case finds, in a process of its own with one thread a worker.

    Raises:
        RuntimeError: it fails, or takes longer than `timeout` seconds; with its last words.

    """
    command = [sys.executable, "-m", "hesc_papers.scale_run", name, str(place.folder)]
    environment = {
        **os.environ,
        "RAYON_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    with subprocess.Popen(  # noqa: S603 - this module
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            out, error = process.communicate(timeout=timeout)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        raise RuntimeError(f"{name}: {error[-2000:]}")
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def main() -> None:
    """A case of the command line."""
    name, folder, *arguments = sys.argv[1:]
    print(json.dumps(CASES[name](Place(Path(folder)), *map(int, arguments))))


if __name__ == "__main__":
    main()
