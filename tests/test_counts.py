"""What is given or shown no more often than was said: over forks, plans, processes and kills."""

from __future__ import annotations

import ast
import copy
import fcntl
import json
import os
import pickle
import re
import resource
import signal
import stat
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import hesc
from hesc._support.one_process import OneProcess
from hesc.cli import files
from hesc.codes import HashKey
from hesc.ml import LinearServer, PrivateRegressor, Scores
from hesc.protocols import ledger
from hesc.protocols.copies import Copies
from hesc.protocols.linkage import Comparer, LinkagePlan, Sender
from hesc.protocols.linkage.blocking import Pass
from hesc.protocols.linkage.blocks import BlockedRecords
from hesc.protocols.weights import Weights
from tests.test_ml_same_model import in_a_child
from tests.vector_cases import precise_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Later versions of Python warn of what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

ROOT = Path(hesc.__file__).parent
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (300, 12))
NAMES = [f"f{n}" for n in range(12)]


def planned(answers: int = 11, **wishes: Any) -> PrivateRegressor:
    made = PrivateRegressor(LinearRegression()).fit(X, X @ np.arange(1.0, 13))
    wishes = {"max_error": 0.5, "ranges": (-1, 1), **wishes}
    made.plan(X, Scores(hidden=True, answers=answers, **wishes), names=NAMES)
    return made


# All counts ---------------------------------------------------------------------------------------

GUARDED = {
    ("protocols/linkage/blocks.py", "BlockedRecords", "_matched"),
    ("protocols/linkage/blocks.py", "BlockedRecords", "_told"),
    ("protocols/linkage/server.py", "Comparer", "_answered"),
    ("protocols/ledger.py", "Count", "given"),
    ("ring_products/models.py", "Model", "_native"),
    ("secret/secret_key.py", "SecretKey", "_native"),
}
"""What counts, or whose compiled part counts, towards no more than may be."""
HARMLESS = {
    "batch/engine.py _Processes _deaths": "ends of workers in a row, of the one thread that waits",
    "batch/parquet_pieces.py PartialParts rows": "rows done, of the one thread that keeps them",
    "serve/bodies.py _Limit _passed": "whether a time has passed, of one event loop",
    "cli/csv_files.py CsvFile _line": "a line's number, for errors",
    "protocols/streams/staged.py Layered bytes_down": "what was measured",
    "protocols/streams/staged.py Layered bytes_up": "what was measured",
    "protocols/streams/staged.py Monomial bytes_down": "what was measured",
    "protocols/streams/staged.py Monomial bytes_up": "what was measured",
    "protocols/linkage/matching.py MutualNearest _row": "pairs so far, of the matcher's own",
    "protocols/linkage/matching.py MutualNearest rows": "pairs so far, of the matcher's own",
    "protocols/message.py MessageWriter _messages": "what one file says of itself",
    "protocols/trees/client.py TreesClient _later": "names of what was read, to be removed",
    "models/onnx/values.py Budget _left": "memory of one reader, which a fork has twice",
    "models/boosters/ubjson.py _Bytes _place": "where one reader is in a file",
    "models/boosters/ubjson.py _Bytes _values": "memory of one reader, which a fork has twice",
    "_support/new_files.py _Made _complete": "whether files of one call have their names",
    "protocols/candidates/encrypted_columns.py _EncryptedColumnSides _held": "measured memory",
    "cli/connections.py BoundedConnection _unspent": "bytes of one head",
    "ml/remote/faces.py AsyncClient _closed": "whether a client was closed",
    "ml/remote/faces.py Client _closed": "whether a client was closed",
    "ml/remote/drivers.py _Body _held": "bytes of one answer",
    "serve/admission.py Admission _buckets": "requests of one process, of the last second",
    "serve/admission.py Admission _under_way": "requests of one process at the moment",
    "serve/admission.py Admission _usual": "what was measured",
    "serve/application.py Application _closed": "whether one process has ended",
    "serve/figures.py Figures _counts": "what is shown of one process",
    "serve/job_queue.py JobQueue _closed": "whether one process has ended",
    "serve/job_queue.py JobQueue _now": "what one process computes at the moment",
    "serve/job_queue.py JobQueue _usual": "what was measured",
    "serve/served_models.py ServedModel _per_byte": "what was measured",
    "serve/state/database.py Database works": "what was seen last",
    "serve/state/jobs.py JobStore _turns": "whose job one process takes next",
    "serve/state/postgres.py _Line _connection": "what is made again where it was lost",
    "serve/state/postgres.py _Line _next_try": "a moment of one process",
    "serve/state/postgres.py _Line fresh": "whether locks were taken by a connection",
    "serve/state/seen.py SeenFile works": "what was seen last",
    "serve/state/service_state.py ServiceState _closed": "whether one process has ended",
    "serve/tokens.py TokenFile _book": "what a file says",
    "serve/tokens.py TokenFile _whole": "whether a file can be read",
    "_support/progress.py Bar done": "what a bar shows",
    "_support/stages.py Stopwatch milliseconds": "what was measured",
}
"""Other numbers and truths that change, and what they are."""
COMPILED = {
    "hesc-circuits/src/gates/monitor.rs": "progress of one circuit",
    "hesc-math/src/system.rs": "a moment, hashed with fresh random bytes, which a fork has anew",
    "hesc-circuits/src/ring_products/server.rs": "GUARDED by ring_products/models.py",
    "hesc-schemes/src/ckks/sharing.rs": "GUARDED by secret/secret_key.py",
    "hesc-schemes/src/rlwe/buffer.rs": "memory that is kept",
    "hesc-schemes/src/streams/pad/keys.rs": "hashed with fresh random bytes, which a fork has anew",
}
"""Compiled counts, and what they are."""


OWN = ("self", "cls")


def changing(path: Path) -> Iterator[tuple[str, str]]:
    """Classes and attributes that a method adds to, takes from, or sets to a number or a truth."""
    for of in ast.walk(ast.parse(path.read_text())):
        if not isinstance(of, ast.ClassDef):
            continue
        for method in of.body:
            if not isinstance(method, ast.FunctionDef) or method.name == "__init__":
                continue
            for step in ast.walk(method):
                if isinstance(step, ast.AugAssign):
                    targets: list[ast.expr] = [step.target]
                elif isinstance(step, ast.Assign) and counts(step.value):
                    targets = step.targets
                else:
                    continue
                for name in (each for target in targets for each in set_by(target)):
                    if isinstance(name, ast.Attribute) and ast.unparse(name.value) in OWN:
                        yield of.name, name.attr


def set_by(target: ast.expr) -> Iterator[ast.expr]:
    """What an assignment changes, of its left side."""
    if isinstance(target, ast.Tuple):
        for each in target.elts:
            yield from set_by(each)
    elif isinstance(target, ast.Subscript):
        yield from set_by(target.value)
    else:
        yield target


def counts(value: ast.expr) -> bool:
    """Whether a value that is set is a number, a truth, or computed of some."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return any(
        (isinstance(part, ast.Constant) and isinstance(part.value, int | float))
        or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Sub))
        for part in parts
    )


def test_every_count_is_known() -> None:
    """A new one is in one of the lists above: guarded against forks, or of no consequence."""
    found = {
        (path.relative_to(ROOT).as_posix(), *each)
        for path in ROOT.rglob("*.py")
        for each in changing(path)
    }
    unknown = {" ".join(each) for each in found - GUARDED} - set(HARMLESS)
    assert not unknown, "counts that are in no list"
    for place, name, _ in GUARDED:
        of = next(
            node
            for node in ast.walk(ast.parse((ROOT / place).read_text()))
            if isinstance(node, ast.ClassDef) and node.name == name
        )
        said = ast.unparse(of)
        is_one = any(ast.unparse(base) == "OneProcess" for base in of.bases)
        assert is_one or "OneProcess(" in said, name
        assert ("self.check()" if is_one else "self._counts.check()") in said, name


@pytest.mark.skipif(not (ROOT.parents[1] / "crates").exists(), reason="without the sources")
def test_every_compiled_count_is_known() -> None:
    crates = ROOT.parents[1] / "crates"
    kinds = re.compile(r"Mutex<(u\d+|usize|f64|bool)>|Atomic(U|I)\w+::new|: Atomic(U|I|Bool)")
    found = {
        path.relative_to(crates).as_posix()
        for path in crates.glob("*/src/**/*.rs")
        if kinds.search(path.read_text().split("#[cfg(test)]")[0])
    }
    assert found - set(COMPILED) == set()


# Forks --------------------------------------------------------------------------------------------


def test_a_fork_does_not_double_what_a_key_shows() -> None:
    secret, public = precise_keys()
    vector, expected = public.encrypt([0.5]), public.encrypt([0.0])
    show = partial(secret.decrypt_shared, vector, expected=expected, answers=4)
    assert "forked after a secret key that counts" in in_a_child(show)
    before = secret.shared
    show()
    assert secret.shared > before
    # What counts nothing is had in both.
    assert in_a_child(lambda: secret.decrypt(vector)) == "nothing"


def test_a_fork_does_not_draw_sizes_or_give_blocks_again() -> None:
    key, table = HashKey(bytes(32)), {"name": ["Ada"] * 4}
    rows = RNG.integers(0, 2**63, (4, 1)).astype(np.uint64)
    records = BlockedRecords(key, table, rows, [Pass("name", 1)], role="sender")
    assert "forked after these BlockedRecords" in in_a_child(lambda: records.told_sizes("private"))
    sizes = records.told_sizes("private")
    plan = LinkagePlan.of_blocks(records.passes, "private", sizes, sizes, bits=64)
    assert "forked after these BlockedRecords" in in_a_child(lambda: records.codes(plan, 0))
    assert len(records.codes(plan, 0)) == sizes[0]


def test_a_fork_does_not_double_what_a_comparer_answers() -> None:
    plan = LinkagePlan(4, 520, 64)
    keys = hesc.keygen(plan.params)[1].to_bytes()
    codes = RNG.integers(0, 2**63, (520, 1)).astype(np.uint64)
    messages = list(Sender(plan, keys, codes[:4]).messages())
    comparer = Comparer(plan, keys, codes)
    # Before any of it is asked for.
    assert "forked after a Comparer" in in_a_child(lambda: comparer.pieces(messages))
    pieces = comparer.pieces(messages)
    first = next(pieces)
    # The rest belongs to whoever has the first part.
    assert "forked after a Comparer" in in_a_child(lambda: list(pieces))
    assert len([first, *pieces]) == 2
    with pytest.raises(hesc.ParameterError, match="compared already"):
        comparer.pieces(messages)
    for doubled in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not pickled"):
            doubled(comparer)


def test_a_fork_does_not_double_what_a_count_has(tmp_path: Path) -> None:
    made = planned()
    client = made.client()
    server = made.server(keys=client.public_keys())
    query = client.encrypt(X[:1]).data
    assert "forked after a server" in in_a_child(partial(server.answer, query))
    assert server.answers_left == 11
    with ledger.opened(tmp_path / "l", bytes(32)) as counted:
        assert "forked after" in in_a_child(partial(counted.spend, 1, 9))
        counted.spend(9, 9)
    # What a child makes itself is its own.
    assert in_a_child(lambda: OneProcess("it", "").check()) == "nothing"


def test_a_ledger_that_is_written_in_part_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "l"
    with ledger.opened(path, bytes(32)) as counted:
        counted.spend(1, 9)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ledger.opened(path, bytes(32)) as counted:
        # A limit inside the file: the system writes up to it, and says no error.
        resource.setrlimit(resource.RLIMIT_FSIZE, (150, before[1]))
        try:
            with pytest.raises(OSError, match="in part"):
                counted.spend(5, 9)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert counted.given == 1
    with ledger.opened(path, bytes(32)) as counted:
        assert counted.given == 1


# Plans --------------------------------------------------------------------------------------------


def test_budgets_follow_weights() -> None:
    """Another plan of the same model goes on where the last was; another model does not."""
    made = planned()
    made.run(X[:7], progress=False)
    for error, ranges in ((0.5, (-1, 1)), (0.25, (-1, 1)), (0.5, (-2, 2))):
        made.plan(X, Scores(hidden=True, answers=11, max_error=error, ranges=ranges))
        client = made.client()
        server = made.server(keys=client.public_keys())
        assert server.answers_left == 4
        again = LinearServer.from_bytes(server.to_bytes(), keys=client.public_keys())
        with pytest.raises(hesc.ParameterError, match="7 are given and 5 more"):
            again.answer(client.encrypt(X[:5]).data)
    client.decrypt(server.answer(client.encrypt(X[:4]).data))
    assert server.answers_left == 0
    with pytest.raises(hesc.ParameterError, match="under whichever plan; 11 are given"):
        made.run(X[:1], progress=False)
    # A smaller limit than was spent, and the same weights in another estimator.
    other = planned(5)
    assert other.server(keys=other.client().public_keys()).answers_left == 0
    new = PrivateRegressor(LinearRegression()).fit(X, X @ np.arange(2.0, 14))
    new.plan(X, Scores(hidden=True, answers=11, max_error=0.5, ranges=(-1, 1)))
    assert new.server(keys=new.client().public_keys()).answers_left == 11


def test_a_report_spends_nothing(tmp_path: Path) -> None:
    made = planned()
    made.save(tmp_path / "d", sample=11)
    assert made.server(keys=made.client().public_keys()).answers_left == 11


def test_fingerprints() -> None:
    one = Weights.of([[1.0, -0.0]], [2.0], (1, 2))
    assert one.fingerprint == Weights.of([[1.0, 0.0]], [2.0], (1, 2)).fingerprint
    for weights, added in (
        ([[1.0, 0.0]], [3.0]),
        ([[1.0], [0.0]], [2.0, 0.0]),
        ([[2.0, 0.0]], 1.0),
    ):
        shape = np.shape(weights)
        assert Weights.of(weights, added, shape).fingerprint != one.fingerprint


# Ledgers ------------------------------------------------------------------------------------------


def test_a_ledger_does_not_say_whose_it_is(tmp_path: Path) -> None:
    """Two of one model have nothing in common: who tries weights tries them on each, slowly."""
    model = Weights.of([[1.0, 2.0]], [0.0], (1, 2)).fingerprint
    found = []
    for name in "ab":
        with ledger.opened(tmp_path / name, model):
            found.append(json.loads((tmp_path / name).read_bytes()))
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        assert model.hex() not in (tmp_path / name).read_text()
    assert all(found[0][key] != found[1][key] for key in ("model", "salt"))
    with (
        pytest.raises(hesc.WireError, match="another model's"),
        ledger.opened(tmp_path / "a", bytes(32)),
    ):
        pass


def test_ledgers_are_for_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "l"
    with ledger.opened(path, bytes(32)):
        other = os.open(path, os.O_RDWR)
        # Not even for who would share it.
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        os.close(other)
    turns = 6
    children = []
    for _ in range(2):
        child = os.fork()
        if not child:
            try:
                for _ in range(turns):
                    with ledger.opened(path, bytes(32)) as counted:
                        counted.spend(1, 100)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    with ledger.opened(path, bytes(32)) as counted:
        assert counted.given == 2 * turns


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A deployment with hidden weights, keys, and a query of two samples in two parts."""
    at = tmp_path_factory.mktemp("desk")
    made = planned()
    made.save(at / "d", sample=0)
    files.keygen(at / "d" / "client", at / "k", at / "keys")
    np.savetxt(at / "r.csv", X[:2], delimiter=",", header=",".join(NAMES), comments="")
    files.encrypt(at / "r.csv", at / "d" / "client", at / "k", at / "q")
    return at


STEPS = {"evaluate", "spend", "_keep", "new_files", "new_file", "_sync", "_link", "write", "finish"}
"""Functions of `eval` whose lines are its steps."""


def killed_at(step: int, work: Callable[[], object]) -> int:
    """Work in a child that is killed before its step of that number; how many steps it took."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        taken = 0

        def trace(frame: Any, event: str, _: object) -> Any:
            nonlocal taken
            if frame.f_code.co_name not in STEPS or "hesc" not in frame.f_code.co_filename:
                return None
            if event == "line":
                taken += 1
                if taken == step:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        try:
            sys.settrace(trace)
            work()
            sys.settrace(None)
            os.write(write, str(taken).encode())
        finally:
            os._exit(0)
    os.close(write)
    _, status = os.waitpid(child, 0)
    with os.fdopen(read) as file:
        said = file.read()
    assert os.WIFSIGNALED(status) or said, "the command failed"
    return int(said or 0)


def test_no_more_is_readable_than_was_counted(
    desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`eval` killed at every step: what lies on the disk then, under any name, is counted.

    And nobody else may read what was half written.
    """
    # It is slow on purpose.
    monkeypatch.setattr(ledger, "named", lambda *_: "0" * 64)

    def work(folder: Path) -> None:
        folder.mkdir()
        keys, out = desk / "keys", folder / "a"
        files.evaluate(desk / "q", desk / "d" / "server", out, keys, folder / "l")

    steps = killed_at(0, partial(work, tmp_path / "0"))
    assert steps > 40
    answered = 0
    for step in range(1, steps + 1):
        folder = tmp_path / str(step)
        assert killed_at(step, partial(work, folder)) == 0
        there = list(folder.iterdir()) if folder.exists() else []
        given = 0
        if (folder / "l").exists():
            given = json.loads((folder / "l").read_bytes())["given"]
        # Ledgers are shorter than any answer.
        found = [path for path in there if path.name != "l" and path.stat().st_size > 1000]
        assert given in (0, 2)
        assert not found or given == 2, step
        answered += bool(found)
        parts = (path for path in there if path.name.startswith("."))
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in parts)
    # Some died with the answer there, and some before.
    assert 0 < answered < steps


def test_what_is_refused_is_not_counted_and_not_there(desk: Path, tmp_path: Path) -> None:
    out, counted = tmp_path / "a", tmp_path / "l"
    # What this process gave by itself is not the ledger's.
    planned().run(X[:8], progress=False)
    for turn in range(5):
        files.evaluate(
            desk / "q", desk / "d" / "server", out.with_name(f"a{turn}"), desk / "keys", counted
        )
    before = counted.read_bytes()
    with pytest.raises(hesc.ParameterError, match="10 are given and 2 more"):
        files.evaluate(desk / "q", desk / "d" / "server", out, desk / "keys", counted)
    assert counted.read_bytes() == before
    assert not out.exists()


def test_a_model_that_is_planned_again_keeps_its_ledger(desk: Path, tmp_path: Path) -> None:
    made = planned(max_error=0.25, ranges=(-2, 2))
    made.save(tmp_path / "d", sample=0)
    client, server = tmp_path / "d" / "client", tmp_path / "d" / "server"
    files.keygen(client, tmp_path / "k", tmp_path / "keys")
    files.encrypt(desk / "r.csv", client, tmp_path / "k", tmp_path / "q")
    counted = tmp_path / "l"
    files.evaluate(desk / "q", desk / "d" / "server", tmp_path / "a", desk / "keys", counted)
    files.evaluate(tmp_path / "q", server, tmp_path / "b", tmp_path / "keys", counted)
    assert json.loads(counted.read_bytes())["given"] == 4


# Copies -------------------------------------------------------------------------------------------


def test_copies_are_as_good_as_a_client_makes_them() -> None:
    """What a plan says of its answers, beside a client that asks along its own rows' axes."""
    rng = np.random.default_rng(1)
    mixed = rng.normal(size=(2000, 30)) @ (rng.normal(size=(30, 30)) / np.arange(1, 31))
    weights, added = rng.normal(size=(2, 30)), np.array([0.1, -0.1])
    train, own, fresh = mixed[:800], mixed[800:1400], mixed[1400:]
    tried = Copies(weights, added, train, classifies=True)
    centre, scale = own.mean(axis=0), own.std(axis=0)
    axes = np.linalg.svd((own - centre) / scale)[2]
    truth = fresh @ weights.T + added
    for samples in (1, 2, 4, 8, 16, 29):
        steps = axes[: samples - 1] * scale
        found = (centre @ weights.T + added) + (fresh - centre) / scale @ axes[: samples - 1].T @ (
            steps @ weights.T
        )
        explained = 1 - np.square(found - truth).sum() / np.square(truth - truth.mean(0)).sum()
        alike = (found.argmax(axis=1) == truth.argmax(axis=1)).mean()
        copied = tried.best(samples)
        # On other rows of the same kind, and by the best of several ways.
        assert copied.explained > explained - 0.05
        assert copied.agreement > alike - 0.05
    assert (copied.samples, copied.rows) == (29, 400)
    assert copied.explained > 0.99
    # The middle and every axis: the model itself.
    np.testing.assert_allclose(next(tried._guesses(31)), tried._scores, atol=1e-9)


def test_copies_are_held_against_rows_that_nobody_asked_about() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 100))
    tried = Copies(rng.normal(size=(1, 100)), np.zeros(1), x, classifies=False).best(59)
    # Thirty rows span less than a third of all directions; on themselves they would explain all.
    assert tried.explained < 0.6


def test_copies_know_that_scores_may_all_be_above_zero() -> None:
    """Half of what an end of the first axis has is the middle's: R^2 0.5 of these scores."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(600, 1)) + 0.7 * rng.normal(size=(600, 8))
    scores = x.sum(axis=1)
    truth = Copies(np.ones((1, 8)), np.full(1, -scores.min()), x, classifies=False)
    assert truth.best(1).explained > 0.5
    # Whichever way the first axis points.
    other = Copies(-np.ones((1, 8)), np.full(1, scores.max()), x, classifies=False)
    assert abs(other.best(1).explained - truth.best(1).explained) < 0.1
    # Rows that do not vary have no axes.
    still = Copies(np.ones((1, 2)), np.ones(1), np.ones((4, 2)), classifies=False)
    assert still.best(2).explained == 1


def test_more_answers_are_never_said_to_give_less() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 20)) * np.arange(1, 21)
    tried = Copies(rng.normal(size=(1, 20)), np.ones(1), x, classifies=True)
    # All numbers up to 16 are tried, and of more each eighth.
    found = [tried.best(samples) for samples in range(1, 17)]
    for name in ("explained", "agreement"):
        said = [getattr(each, name) for each in found]
        assert said == sorted(said)
    # The default: the last that is bounded, of the numbers that are tried.
    most = tried.most(19)
    assert most is not None
    assert most.is_bounded
    assert not tried.best(most.samples + max(1, most.samples // 8)).is_bounded


def test_plans_say_what_their_answers_give_away() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, size=(300, 12))
    made = PrivateRegressor(LinearRegression()).fit(x, x @ rng.normal(size=12))
    plan = made.plan(x, Scores(hidden=True, max_error=0.5))
    assert plan.copy.explained < 0.5
    assert 2 <= plan.ring.answers == plan.copy.samples < 11
    assert f"R^2 of scores {plan.copy.explained:.2f}" in str(plan)
    more = made.plan(x, Scores(hidden=True, max_error=0.5, answers=11))
    assert more.copy.explained > 0.5
    assert b"copy" not in more.to_bytes()
    # One direction in which nearly everything varies: one answer is too many, unless it is wished.
    alike = x[:, :1] + 0.01 * x
    single = PrivateRegressor(LinearRegression()).fit(alike, x[:, 0])
    with pytest.raises(hesc.ParameterError, match=r"hides too little.*R\^2 of scores.*answers="):
        single.plan(alike, Scores(hidden=True, max_error=1.0))
    copies = Copies(np.ones((1, 12)), np.zeros(1), alike, classifies=False)
    assert copies.most(5) is None
    assert copies.best(1).explained > 0.9
