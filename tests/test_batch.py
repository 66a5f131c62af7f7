"""Batches over tables: the same results by callables, processes and commands; nothing twice."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

import hesc
from hesc.batch import Answer, Decrypt, Encrypt, engine
from hesc.batch.engine import Work, _Processes, run
from hesc.batch.on_ray import joined_cluster
from hesc.batch.parquet_pieces import ParquetPieces, PartialParts, RowPiece
from hesc.batch.server_side import ComputeAnswers, CountHere, budget_of, part_of_index
from hesc.batch.step_files import named
from hesc.cli import app
from hesc.ml import ClientFolder, PrivateRegressor, Scores
from hesc.protocols.folders import ServerFolder
from hesc.protocols.search.index import Index, joined, records_digest
from hesc.serve.served_models import ServedModel
from hesc_papers.scale_run import HIDDEN, RECORDS_WIDTH, Place, audited
from tests.batch_steps import DiesAlways, DiesOnce, Fails, Slow

ROWS = 700
TWINS = ("plus", "minus")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("batch"))
    made.deploy_scores()
    return made


@pytest.fixture(scope="module")
def wanted(place: Place) -> Any:
    return place.steps("scores").made()(place.table(ROWS))


def noted(folder: Path) -> Work:
    """Work that changes nothing, and leaves a file for each piece in a new folder."""
    folder.mkdir()
    return Work(((Slow, {"folder": str(folder), "seconds": 0.0}),))


def queries_of(place: Place, count: int) -> Any:
    """So many queries of the hidden model, of a sample each."""
    asks = Encrypt(**place.options("hidden"), keep=["id"])
    table = place.table(count)
    return pa.concat_tables([asks(table.slice(at, 1)) for at in range(count)])


def given(place: Place, state: Path) -> dict[str, int]:
    budget = budget_of(place.server("hidden")["server"], state, None, 1000)
    assert budget is not None
    book = budget.opened()
    try:
        return book.given
    finally:
        book.state.close()


# Callables ----------------------------------------------------------------------------------------


def test_callables_say_what_both_sides_say(place: Place, wanted: Any) -> None:
    """A column of queries, a column of answers, and predictions beside what was kept."""
    table = place.table(ROWS)
    asked = Encrypt(**place.options("scores"), keep=["id"])(table)
    assert asked.column_names == ["id", "samples", "query"]
    answered = Answer(**place.server("scores"))(asked)
    assert answered.column_names == ["id", "samples", "query", "answer"]
    found = Decrypt(**place.options("scores"), probabilities=True)(answered)
    assert audited(found, wanted) == {"lost": 0, "twice": 0, "wrong": 0}
    shares = np.array([found.column(f"probability {each}").to_numpy() for each in range(10)])
    assert np.allclose(shares.sum(axis=0), 1)
    # Without rows nothing is said, and nothing fails.
    empty = Answer(**place.server("scores"))(
        Encrypt(**place.options("scores"))(table.slice(0, 0).drop_columns(["id"]))
    )
    assert empty.num_rows == 0


def test_nothing_that_holds_a_key_or_a_model_is_pickled(place: Place) -> None:
    for made in (
        Encrypt(**place.options("scores")),
        Decrypt(**place.options("scores")),
        Answer(**place.server("scores")),
    ):
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="fn_constructor_kwargs"):
                copied(made)
    # What travels to workers is paths.
    work = pickle.dumps(place.steps("scores"))
    assert len(work) < 2000
    assert (place.folder / "scores.key").read_bytes()[-32:] not in work
    # Digests go with them, and none of what is guessed.
    words = place.folder / "words"
    words.write_text("guessed\n")
    asks = place.options("scores") | {"passphrase_file": str(words)}
    begun = Work(((Decrypt, asks),)).begun()
    assert hashlib.sha256((place.folder / "scores.key").read_bytes()).hexdigest().encode() in begun
    assert hashlib.sha256(words.read_bytes()).hexdigest().encode() not in begun


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        (float("nan"), "sample 123 in column 'f3' has no value"),
        (None, "sample 123 in column 'f3' has no value"),
        (7.5, r"\('f3'\) of sample 123 is beyond"),
        (float("inf"), "sample 123"),
    ],
)
def test_wrong_rows_are_named(place: Place, cell: float | None, says: str) -> None:
    """By number, by what is kept of them, and in files by the rows before their piece."""
    table = place.table(ROWS)
    cells = table.column("f3").to_pylist()
    cells[123] = cell
    table = table.set_column(table.column_names.index("f3"), "f3", pa.array(cells, pa.float64()))
    with pytest.raises(hesc.OutOfRangeError, match=says) as refused:
        Encrypt(**place.options("scores"), keep=["id"])(table)
    assert "(row 123: id = 123)" in str(refused.value)


def test_columns_that_do_not_belong_are_refused(place: Place) -> None:
    table = place.table(3)
    with pytest.raises(hesc.ShapeError, match="column 'id'"):
        Encrypt(**place.options("scores"))(table)
    assert Encrypt(**place.options("scores"), ignore_extra=True)(table).num_rows == 1
    with pytest.raises(hesc.ShapeError, match="lacks the column 'f0'"):
        Encrypt(**place.options("scores"))(table.drop_columns(["f0", "id"]))
    with pytest.raises(hesc.ParameterError, match="names of their own"):
        Encrypt(**place.options("scores"), keep=["query"])
    with pytest.raises(hesc.ParameterError, match='batch_format="pyarrow"'):
        Encrypt(**place.options("scores"))(table.to_pandas())


def test_messages_that_do_not_belong_are_named(place: Place) -> None:
    """Missing, damaged, of another plan, to another query: nothing is given for the table."""
    asks = Encrypt(**place.options("scores"), ignore_extra=True)
    answers = Answer(**place.server("scores"))
    table = place.table(2)
    good = [asks(table.slice(at, 1)).column("query")[0].as_py() for at in range(2)]
    other = queries_of(place, 1).column("query")[0].as_py()
    for wrong in (None, b"", good[0][:-1], other):
        asked = pa.table({"query": pa.array([*good, wrong], pa.large_binary())})
        with pytest.raises(hesc.HescError, match="row 2"):
            answers(asked)
    with pytest.raises(hesc.ShapeError, match="no column 'query'"):
        answers(table)
    with pytest.raises(hesc.WireError, match="holds no bytes"):
        answers(pa.table({"query": [1]}))
    found = answers(pa.table({"query": pa.array(good, pa.large_binary())}))
    swapped = found.set_column(0, "query", found.column("query").take([1, 0]))
    with pytest.raises(hesc.WireError, match="row 0: the answer is to another query"):
        Decrypt(**place.options("scores"))(swapped)


def test_keys_that_others_may_read_are_refused(place: Place, tmp_path: Path) -> None:
    loose = tmp_path / "loose.key"
    loose.write_bytes((place.folder / "scores.key").read_bytes())
    loose.chmod(0o644)
    for kind in (Encrypt, Decrypt):
        with pytest.raises(PermissionError, match="chmod 600"):
            kind(**place.options("scores") | {"secret": str(loose)})


def test_passphrases_come_from_files(place: Place, tmp_path: Path) -> None:
    options = place.options("scores")
    folder = ClientFolder.open(options["client"])
    sealed, words = tmp_path / "sealed.key", tmp_path / "words"
    folder.load_secret(options["secret"]).save(sealed, passphrase="some words")
    words.write_text("some words\n")
    with pytest.raises(hesc.ParameterError, match="passphrase_file"):
        Encrypt(options["client"], sealed)
    assert Encrypt(options["client"], sealed, passphrase_file=words).rows > 1


# Budgets ------------------------------------------------------------------------------------------


def test_budgets_are_spent_once_for_a_query(place: Place, tmp_path: Path) -> None:
    """The same bytes again for nothing; not one more than may be; nothing of a wrong table."""
    state, asked = tmp_path / "state", queries_of(place, 4)
    with pytest.raises(hesc.ParameterError, match="--state"):
        Answer(**place.server("hidden"))
    with pytest.raises(hesc.ParameterError, match="leave out state="):
        Answer(**place.server("scores"), state=state)
    answers = Answer(**place.server("hidden"), state=state, answers=4)
    first = answers(asked)
    assert answers(asked).equals(first)
    assert len(Decrypt(**place.options("hidden"))(first)) == 4
    more = queries_of(place, 2)
    with pytest.raises(hesc.ParameterError, match="4 answers in all"):
        answers(more)
    assert answers(asked).equals(first)
    answers._book.close()
    assert given(place, state) == {"answers": 4, "numbers": 4}
    # Another process's turn, and a larger limit.
    later = Answer(**place.server("hidden"), state=state, answers=5)
    wrong = pa.table({"query": pa.array([more.column("query")[0].as_py(), b"x"])})
    with pytest.raises(hesc.WireError, match="row 1"):
        later(wrong)
    assert later(asked).equals(first)
    later._book.close()
    assert given(place, state) == {"answers": 4, "numbers": 4}


def test_numbers_of_hidden_weights_are_never_exceeded(place: Place, tmp_path: Path) -> None:
    state = tmp_path / "state"
    for start in range(0, HIDDEN + 10, 10):
        # As another worker or run has it: its own servers, the same state.
        answers = Answer(**place.server("hidden"), state=state)
        try:
            if start < HIDDEN:
                answers(queries_of(place, 10))
            else:
                with pytest.raises(hesc.ParameterError, match=f"{HIDDEN} numbers in all"):
                    answers(queries_of(place, 10))
        finally:
            answers._book.close()
    assert given(place, state)["numbers"] == HIDDEN


# Files that are replaced --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def twins(place: Place) -> Place:
    """Deployments of two models with one plan: of hidden weights it says nothing of their signs."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (100, 20))
    for name, sign in zip(TWINS, (1, -1), strict=True):
        model = PrivateRegressor(LinearRegression(fit_intercept=False)).fit(x, sign * x.sum(axis=1))
        wishes = Scores(hidden=True, answers=19, max_error=0.5, ranges=(-1, 1))
        model.plan(x, wishes, names=[f"f{at}" for at in range(20)], table=False)
        place.save(name, model)
    plans = {ServerFolder.open(place.folder / each / "server").plan.digest for each in TWINS}
    assert len(plans) == 1
    return place


class Live:
    """A deployment whose folder of the server is replaced, and a client of it."""

    def __init__(self, twins: Place, folder: Path) -> None:
        self.twins, self.server = twins, folder / "server"
        self.asks = twins.options(TWINS[0])
        self.answers = twins.server(TWINS[0]) | {"server": str(self.server)}
        # Scores of 10 and -5, or of the other signs: eight of their errors from what is held below.
        self.rows = pa.table({f"f{at}": [0.5, -0.25] for at in range(20)})
        self.queries = Encrypt(**self.asks)(self.rows)
        self.put(0)

    def put(self, which: int) -> None:
        shutil.rmtree(self.server, ignore_errors=True)
        shutil.copytree(self.twins.folder / TWINS[which] / "server", self.server)

    def read(self, answered: Any) -> Any:
        found = Decrypt(**self.asks)(answered.select(["samples", "query", "answer"]))
        return found.column("prediction").to_numpy()


def test_a_kept_answer_is_of_the_model_that_gave_it(twins: Place, tmp_path: Path) -> None:
    live = Live(twins, tmp_path)
    for which, sign in ((0, 1), (1, -1), (0, 1)):
        live.put(which)
        answers = Answer(**live.answers, state=tmp_path / "state")
        first = answers(live.queries)
        assert answers(live.queries).equals(first)
        answers._book.close()
        assert np.abs(live.read(first) - sign * np.array([10, -5])).max() < 4
    paths = [twins.folder / each / "server" for each in TWINS]
    one, other = (ServedModel(ServerFolder.open(path)) for path in paths)
    assert one.digest == other.digest
    assert one.identity != other.identity


def test_a_budget_of_a_replaced_folder_counts_nothing(twins: Place, tmp_path: Path) -> None:
    live = Live(twins, tmp_path)
    answers = Answer(**live.answers, state=tmp_path / "state")
    live.put(1)
    with pytest.raises(hesc.ParameterError, match="not those that this run was begun with"):
        answers(live.queries)


def test_workers_compute_with_the_files_that_a_run_was_begun_with(
    twins: Place, tmp_path: Path
) -> None:
    """A process that has answered for one model does not answer with it for the next."""
    live = Live(twins, tmp_path)
    work = Work(((ComputeAnswers, live.answers),))
    first = work.begun()
    assert np.abs(live.read(engine._worked(first, 0, live.queries)) - [10, -5]).max() < 4
    live.put(1)
    second = work.begun()
    assert np.abs(live.read(engine._worked(second, 0, live.queries)) - [-10, 5]).max() < 4
    with pytest.raises(hesc.ParameterError, match="not those that this run was begun with"):
        engine._worked(first, 0, live.queries)


def test_parts_answer_from_the_index_that_they_were_begun_with(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.deploy_search(9000)
    paths = {"keys": None} | place.server("search")
    made_of = named("part", paths)
    part = part_of_index(paths, (0, 2), made_of).index
    assert part is not None
    assert len(part) < 9000
    index = Index.open(ServerFolder.open(paths["server"]).plan, paths["index"])
    index.replace(8999, np.ones(RECORDS_WIDTH))
    index.save(tmp_path / "later.index")
    (tmp_path / "later.index").replace(paths["index"])
    assert named("part", paths) != made_of
    with pytest.raises(hesc.ParameterError, match="not those that this run was begun with"):
        part_of_index(paths, (0, 2), made_of)
    short = Path(paths["index"]).read_bytes()[:60]
    for data in (b"", b"HESCINDX", short, b"x" * 100):
        (tmp_path / "no.index").write_bytes(data)
        with pytest.raises(hesc.WireError, match="no index of a search, or cut off"):
            records_digest(tmp_path / "no.index")


def test_an_address_where_nobody_is_is_no_cluster() -> None:
    """At once: Ray itself would try for minutes."""
    pytest.importorskip("ray")
    for address in ("127.0.0.1:1", "[::1]:1", "127.0.0.1:99999"):
        with pytest.raises(hesc.HescError, match="there is no cluster of Ray at"):
            joined_cluster(address)


# The engine ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows(place: Place) -> Path:
    path = place.folder / "rows.parquet"
    parquet.write_table(place.table(ROWS), path, row_group_size=300)
    return path


def test_pieces_are_rows_of_groups(rows: Path) -> None:
    source = ParquetPieces(rows, 128)
    found = list(source.pieces(()))
    assert [piece.number for piece in found] == list(range(7))
    assert [piece.first for piece in found] == [0, 128, 256, 300, 428, 556, 600]
    ids = [each for piece in found for each in piece.table.column("id").to_pylist()]
    assert ids == list(range(source.rows))
    left = list(source.pieces({0, 1, 2, 4}))
    assert [piece.number for piece in left] == [3, 5, 6]
    assert all(piece.table.equals(found[piece.number].table) for piece in left)


def test_processes_say_what_one_call_says(
    place: Place, rows: Path, wanted: Any, tmp_path: Path
) -> None:
    """Two processes, one of which is killed on the way: the whole result, and nothing beside it."""
    out, mark = tmp_path / "out.parquet", tmp_path / "mark"
    dies = (DiesOnce, {"mark": str(mark), "row": 400})
    work = Work((dies, *place.steps("scores").steps))
    seen: list[int] = []
    done = run(
        work,
        ParquetPieces(rows, 150),
        out,
        belongs={},
        workers=2,
        progress=lambda now, _: seen.append(now),
    )
    assert mark.exists()
    assert (done.rows, done.pieces, done.resumed, seen[-1]) == (ROWS, 5, 0, ROWS)
    found = parquet.read_table(out)
    assert found.column("id").to_pylist() == list(range(ROWS))
    assert audited(found, wanted) == {"lost": 0, "twice": 0, "wrong": 0}
    assert out.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mark", "out.parquet"]


def test_a_death_between_two_pieces_is_no_end(tmp_path: Path) -> None:
    """The process is gone before the next piece is given, and nobody has looked since."""
    work = noted(tmp_path / "calls")
    pool = _Processes(work.begun(), 1)
    table = pa.table({"id": [1]})
    try:
        pool.submit(RowPiece(0, 0, table))
        assert [piece.number for piece, _ in pool.finished()] == [0]
        for process in pool.executor._processes.values():
            process.kill()
            process.join()
        end = time.monotonic() + 60
        while not pool.executor._broken and time.monotonic() < end:
            time.sleep(0.01)
        for number in (1, 2):
            pool.submit(RowPiece(number, number, table))
        found: list[int] = []
        while len(found) < 2:
            found += [piece.number for piece, _ in pool.finished()]
        assert sorted(found) == [1, 2]
    finally:
        pool.executor.shutdown()


def test_workers_that_cannot_be_made_say_why(rows: Path, tmp_path: Path) -> None:
    source = ParquetPieces(rows, 300)
    for work, says in (
        (Work(((Fails, {}),)), "there is no such model"),
        (
            Work(((DiesAlways, {}),)),
            "ended 4 times without a result, the last time with rows from 0",
        ),
    ):
        with pytest.raises((hesc.HescError, FileNotFoundError), match=says):
            run(work, source, tmp_path / "out.parquet", belongs={}, workers=1)
        assert not (tmp_path / "out.parquet").exists()


def test_what_is_done_is_told_by_name_and_digest(rows: Path, tmp_path: Path) -> None:
    """A wrong row ends the run; what was done stays, and damaged parts are done again."""
    out = tmp_path / "out.parquet"
    source = ParquetPieces(rows, 150)
    steps = noted(tmp_path / "calls")
    with PartialParts(out, {"of": 1}) as parts:
        for piece in source.pieces((3, 4)):
            parts.keep(piece.number, piece.table)
        first = parts.done[0]
    first.write_bytes(first.read_bytes()[:-1] + b"x")
    folder = out.with_name("out.parquet.partial")
    (folder / ".0123456789abcdef.part.parquet").touch()
    with pytest.raises(hesc.HescError, match="of other rows"):
        run(steps, source, out, belongs={"of": 2}, workers=1)
    # The part of another piece, and what is no file.
    digest = parts.done[1].name.split("-")[-1]
    (folder / f"part-00000003-{digest}").write_bytes(parts.done[1].read_bytes())
    os.mkfifo(folder / f"part-00000004-{'0' * 64}.parquet")
    done = run(steps, source, out, belongs={"of": 1}, workers=1)
    assert (done.resumed, done.pieces) == (2, 5)
    called = sorted(int(path.name.partition("-")[0]) for path in (tmp_path / "calls").iterdir())
    assert called == [0, 450, 600]
    assert parquet.read_table(out).equals(parquet.read_table(rows))


def test_parts_of_another_run_are_not_taken(rows: Path, tmp_path: Path) -> None:
    """Not even where what tells runs from each other is gone; what is nobody's stays there."""
    out = tmp_path / "out.parquet"
    source = ParquetPieces(rows, 150)
    steps = noted(tmp_path / "calls")
    with PartialParts(out, {"of": 1}) as parts:
        for piece in source.pieces(()):
            parts.keep(piece.number, piece.table.slice(0, 1))
    folder = out.with_name("out.parquet.partial")
    (folder / "state.json").unlink()
    mine = folder / "mine.txt"
    mine.write_text("mine")
    with pytest.raises(hesc.HescError, match="is not of this run: move it away"):
        run(steps, source, out, belongs={"of": 2}, workers=1)
    assert mine.read_text() == "mine"
    mine.unlink()
    done = run(steps, source, out, belongs={"of": 2}, workers=1)
    assert (done.resumed, done.pieces) == (0, 5)
    assert parquet.read_table(out).equals(parquet.read_table(rows))
    other = tmp_path / "other.parquet"
    (tmp_path / "other.parquet.partial").symlink_to(tmp_path)
    with pytest.raises(hesc.HescError, match="is no folder of one's own"):
        run(steps, source, other, belongs={}, workers=1)


def test_two_columns_of_one_name_are_refused(place: Place, tmp_path: Path) -> None:
    table = place.table(3)
    asks = Encrypt(**place.options("scores"), keep=["id"])
    asked = asks(table)
    counted = Answer(**place.server("scores"), state=tmp_path / "state.db", answers=9)
    for step, given_, name in (
        (asks, table, "id"),
        (Answer(**place.server("scores")), asked, "query"),
        (counted, asked, "query"),
        (Decrypt(**place.options("scores")), counted(asked), "answer"),
    ):
        with pytest.raises(hesc.ShapeError, match=f"two columns '{name}'"):
            step(given_.append_column(name, given_.column(name)))
    computes = ComputeAnswers(**place.server("scores"))
    budget = budget_of(place.server("scores")["server"], tmp_path / "other.db", None, 9)
    assert budget is not None
    with pytest.raises(hesc.ParameterError, match="a column 'answer' already"):
        CountHere(computes, budget).before(counted(asked))
    with pytest.raises(hesc.ParameterError, match="hesc numbers: rename"):
        Encrypt(**place.options("scores"), keep=["hesc numbers"])


def test_changed_rows_are_noticed(rows: Path, tmp_path: Path) -> None:
    work = Work(((Slow, {"folder": str(tmp_path), "seconds": 0.0}),))
    with pytest.raises(hesc.HescError, match="changed meanwhile"):
        run(
            work,
            ParquetPieces(rows, 300),
            tmp_path / "out.parquet",
            belongs={},
            workers=1,
            unchanged=lambda: False,
        )


# Commands -----------------------------------------------------------------------------------------


def command(*words: object) -> list[str]:
    return ["batch", *map(str, words)]


def test_commands_on_files_and_a_kill(place: Place, tmp_path: Path) -> None:
    """Encrypted, answered by a counted model while it is killed, gone on with, and decrypted."""
    rows, asked = tmp_path / "rows.parquet", tmp_path / "asked.parquet"
    parquet.write_table(place.table(12), rows)
    client = [f"--{name}={path}" for name, path in place.options("hidden").items()]
    server = [f"--{name}={path}" for name, path in place.server("hidden").items()]
    runner = CliRunner()
    made = runner.invoke(
        app, command("encrypt", rows, asked, *client, "--keep=id", "--rows=1", "--workers=1")
    )
    assert made.exit_code == 0, made.output
    state, out = tmp_path / "state", tmp_path / "answered.parquet"
    words = command("answer", asked, out, *server, f"--state={state}", "--rows=1", "--workers=1")
    with subprocess.Popen(
        [sys.executable, "-m", "hesc", *words], stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        parts = out.with_name("answered.parquet.partial")
        end = time.monotonic() + 240
        while len(list(parts.glob("part-*"))) < 2 and time.monotonic() < end:
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        _workers_end(process.pid)
    before = given(place, state)["answers"]
    assert 2 <= before <= 12
    assert not out.exists()
    made = runner.invoke(app, [*words, "--json=-"])
    assert made.exit_code == 0, made.output
    figures = json.loads(made.stdout)
    assert figures["rows"] == 12
    assert 2 <= figures["resumed"] < 12
    assert given(place, state) == {"answers": 12, "numbers": 12}
    scored = tmp_path / "scored.parquet"
    made = runner.invoke(app, command("decrypt", out, scored, *client, "--workers=1"))
    assert made.exit_code == 0, made.output
    found = parquet.read_table(scored)
    assert found.column("id").to_pylist() == list(range(12))
    features = np.array([place.table(12).column(f"f{at}").to_numpy() for at in range(64)]).T
    near = features @ np.linspace(1, 2, 64)
    assert np.abs(found.column("prediction").to_numpy() - near).max() < 10 * 0.5
    # Again, with the result there: refused before anything is done.
    again = runner.invoke(app, words)
    assert again.exit_code
    assert "exists" in str(again.exception)


def _workers_end(group: int) -> None:
    """Those of a process that was killed end by themselves: nobody else is in its group."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    pytest.fail("workers outlive the process that gave them work")


def test_commands_refuse_before_they_begin(place: Place, rows: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    out = tmp_path / "out.parquet"
    server = [f"--{name}={path}" for name, path in place.server("hidden").items()]
    client = [f"--{name}={path}" for name, path in place.options("hidden").items()]
    for words, says in (
        (command("answer", rows, out, *server), "hides what it knows"),
        (command("answer", rows, out, *server, "--parts=2", "--state=x"), "leave out --parts"),
        (command("answer", rows, out, *server, "--answers=2"), "give state="),
        (command("score", rows, out, *client, *server), "hides what it knows"),
        (command("decrypt", rows, out, *client, "--best=2"), "only a search"),
    ):
        made = runner.invoke(app, words)
        assert made.exit_code
        assert says in str(made.exception), made.output
        assert not list(tmp_path.iterdir())


def test_scores_of_a_file_by_one_command(
    place: Place, rows: Path, wanted: Any, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    client = [f"--{name}={path}" for name, path in place.options("scores").items()]
    server = [f"--{name}={path}" for name, path in place.server("scores").items()]
    words = command("score", rows, out, *client, *server, "--keep=id", "--rows=300", "--workers=2")
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.output
    assert audited(parquet.read_table(out), wanted) == {"lost": 0, "twice": 0, "wrong": 0}


def test_counted_queries_of_the_engine(place: Place, tmp_path: Path) -> None:
    """A budget that ends in the middle: as many as may be, and the same again for nothing."""
    source = tmp_path / "asked.parquet"
    parquet.write_table(queries_of(place, 6), source)
    options = place.server("hidden")
    own = ComputeAnswers(**options)

    def answered(most: int) -> None:
        budget = budget_of(options["server"], tmp_path / "state", None, most)
        assert budget is not None
        counting = CountHere(own, budget)
        try:
            run(
                Work(((ComputeAnswers, options),)),
                ParquetPieces(source, 1),
                tmp_path / "out.parquet",
                belongs={},
                workers=1,
                counting=counting,
            )
        finally:
            counting.book.close()

    with pytest.raises(hesc.ParameterError, match="4 answers in all"):
        answered(4)
    assert given(place, tmp_path / "state") == {"answers": 4, "numbers": 4}
    answered(6)
    assert given(place, tmp_path / "state") == {"answers": 6, "numbers": 6}


# Parts of an index --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def searching(place: Place) -> Place:
    place.deploy_search(9000)
    return place


def test_parts_of_an_index_answer_as_the_whole(searching: Place) -> None:
    """Byte by byte, whatever the metric, and found by the same commands as any search."""
    asks = Encrypt(**searching.options("search"), keep=["id"])
    asked = asks(searching.table(3))
    whole = Answer(**searching.server("search"))(asked)
    for parts in range(1, 4):
        assert Answer(**searching.server("search"), parts=parts)(asked).equals(whole)
    with pytest.raises(hesc.ParameterError, match="take fewer"):
        Answer(**searching.server("search"), parts=10_000)
    best = Decrypt(**searching.options("search"), best=2)(whole)
    assert best.column_names == ["id", "rank", "record", "score"]
    assert best.column("id").to_pylist() == [0, 0, 1, 1, 2, 2]
    vectors = np.random.default_rng(1).normal(size=(9000, 64))
    table = searching.table(3).drop_columns(["id"])
    rows = np.array([column.to_numpy() for column in table.columns]).T
    cosines = (rows @ vectors.T) / np.linalg.norm(vectors, axis=1)
    cosines /= np.linalg.norm(rows, axis=1)[:, None]
    found = np.take_along_axis(cosines, best.column("record").to_numpy().reshape(3, 2), axis=1)
    most = np.sort(cosines, axis=1)[:, -2:][:, ::-1]
    assert np.abs(found - most).max() < 0.1


def test_a_part_is_not_changed(searching: Place) -> None:
    plan, path = _index(searching)
    part = Index.open(plan, path, part=(0, 1))
    assert len(part) == 9000
    for wrong in ((1, 1), (0, 0), 3, (0.5, 2)):
        with pytest.raises(hesc.HescError):
            Index.open(plan, path, part=wrong)  # type: ignore[arg-type]
    several = Index.open(plan, path, part=(0, 2))
    with pytest.raises(hesc.ParameterError, match="a part of an index is not changed"):
        several.remove(0)
    with pytest.raises(hesc.WireError, match="of several"):
        joined(plan, [(b"a",), (b"a", b"b")])
    with pytest.raises(hesc.WireError):
        joined(plan, [(b"a",), (b"a",)])


def _index(place: Place) -> tuple[Any, Path]:
    plan = ClientFolder.open(place.folder / "search" / "client").plan
    return plan, place.folder / "search.index"
