"""What models, plans and files of `hesc.ml` are at their edges: names, labels, tables, ledgers."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import AdaBoostRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators

import hesc
from hesc._support import documents
from hesc.cli import calibrate, compiling, files
from hesc.ml import (
    Classes,
    ClientFolder,
    LinearPlan,
    Network,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateMLPRegressor,
    PrivateRegressor,
    Scores,
    deployment,
)
from hesc.models import extraction, fidelity, refusals, steps, transforms
from hesc.models.steps import walking
from hesc.protocols import folders, labels, ledger
from hesc.protocols.classes.whole_models import TreeVotes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]


def fitted(classes: Any = (0, 1, 2)) -> PrivateClassifier:
    return PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, np.array(classes)[Y])


@pytest.fixture(scope="module")
def network() -> PrivateMLPClassifier:
    inner = MLPClassifier((4,), alpha=0.1, max_iter=3000, random_state=0)
    return PrivateMLPClassifier(inner).fit(X, Y)


def compared(model: Any, x: Any, *, names: Any = (), **wishes: Any) -> PrivateClassifier:
    """A model whose plan answers classes alone."""
    made = PrivateClassifier.from_fitted(model)
    made.plan(x, Classes(**wishes), names=names)
    return made


# Names and labels


@pytest.mark.parametrize(
    "names",
    [["a"] * 4, ["a", "b", "c"], ["a" * 1001, "b", "c", "d"], ["\ud800", "b", "c", "d"], "abcd", 7],
    ids=repr,
)
def test_names_that_no_reader_takes_make_no_plan(network: Any, names: Any) -> None:
    wanted: list[Callable[[], Any]] = [
        lambda: fitted().plan(X, names=names),
        lambda: network.plan(X, names=names),
        lambda: compared(fitted().estimator_, X, names=names, bits=2),
    ]
    for make in wanted:
        with pytest.raises(hesc.ParameterError, match="names"):
            make()


@pytest.mark.parametrize(
    ("classes", "taken"),
    [
        (np.array([-(2**63), 0, 2**63 - 1]), True),
        (np.array([0, 1, 2**64 - 1], dtype=np.uint64), False),
        (["", "\ud800", "c"], False),
        (["a", "b", "c\0"], False),
        (["=1+1", "", "é"], True),
        (["a", "\n", "c"], False),
        ([True, False], True),
    ],
)
def test_labels_are_written_where_they_are_read_again(classes: Any, taken: bool) -> None:
    given = np.array(classes, dtype=object if isinstance(classes[0], str) else None)
    if not taken:
        with pytest.raises(hesc.ParameterError):
            labels.described(given)
        return
    found = labels.read(json.loads(json.dumps(labels.described(given))))
    assert found.tolist() == given.tolist()


def test_documents_are_no_longer_than_readers_take(monkeypatch: pytest.MonkeyPatch) -> None:
    made = fitted()
    made.plan(X)
    server = made.server()
    length = len(server.to_bytes())
    monkeypatch.setattr(documents, "LARGEST", length)
    assert len(server.to_bytes()) == length
    monkeypatch.setattr(documents, "LARGEST", length - 1)
    with pytest.raises(hesc.ParameterError, match="read at most"):
        server.to_bytes()


def test_many_short_classes_beside_a_long_one_take_no_memory() -> None:
    """As an array each has as many letters as the longest."""
    values = ["x" * 1000, *map(str, range(1 << 15))]
    with pytest.raises(hesc.WireError, match="up to"):
        labels.read({"type": "str", "values": values})


def test_more_transforms_than_a_client_reads_make_no_plan() -> None:
    parts = [PolynomialFeatures(1, include_bias=False) for _ in range(257)]
    made = PrivateClassifier(make_pipeline(*parts, LogisticRegression(max_iter=500))).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match="257 transforms"):
        made.plan(X)


# Samples


def test_columns_are_checked_by_the_names_that_a_plan_was_given() -> None:
    """Also where scikit-learn does not know them: others would be taken in a wrong order."""
    pandas = pytest.importorskip("pandas")
    made = fitted()
    made.plan(X, Scores(ranges=(0, 10)), names=NAMES)
    table = pandas.DataFrame(X, columns=NAMES)[NAMES[::-1]]
    for fhe in ("simulate", "execute"):
        with (
            pytest.warns(UserWarning, match="fitted without"),
            pytest.raises(hesc.ShapeError, match="another order"),
        ):
            made.run(table, fhe=fhe)
    with pytest.raises(hesc.ShapeError, match="another order"):
        made.save("nowhere", table)


def test_classes_alone_take_tables_as_they_were_fitted() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=NAMES)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(table, Y)
    made = compared(tree, table)
    assert made.client().plan.names == NAMES
    for wrong in (made.plan, lambda x: made.run(x, fhe="simulate")):
        with pytest.raises(ValueError, match="feature names"):
            wrong(table[NAMES[::-1]])
    assert (made.predict(table, fhe="simulate") == tree.predict(table)).mean() > 0.98


@pytest.mark.parametrize("x", [np.array([1.25, 2.5, 3, 4]), X[:3] * 1j, np.array([["secret"] * 4])])
def test_errors_repeat_no_samples(x: Any) -> None:
    made = fitted()
    made.plan(X)
    for call in (made.predict, made.run, lambda rows: made.fit(rows, [0, 1, 2][: len(rows)])):
        with pytest.raises(ValueError, match=r".") as found:
            call(x)
        text = re.sub(r"-?1, -?1|\d[- ]?[dD]", "", str(found.value))
        assert not re.search(r"\d|secret", text)
        assert found.value.__cause__ is None


def test_a_pipeline_that_begins_with_nothing() -> None:
    inner = Pipeline([("nothing", "passthrough"), ("last", LogisticRegression(max_iter=500))])
    made = PrivateClassifier.from_fitted(inner.fit(X, Y))
    made.plan(X)
    assert (made.predict(X, fhe="execute") == inner.predict(X)).mean() > 0.98


def test_models_of_several_targets_are_refused() -> None:
    both = np.column_stack([Y > 0, Y > 1]).astype(int)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, both)
    with pytest.raises(hesc.ParameterError, match="several targets"):
        PrivateClassifier.from_fitted(tree)


def test_numbers_of_samples_that_are_none(network: Any) -> None:
    made = fitted()
    for plan in (made.plan(X), network.plan(X)):
        assert plan.sizes(0) == (0, 0)
        with pytest.raises(hesc.OutOfRangeError):
            plan.sizes(-1)


def test_networks_have_no_candidates_and_say_so(network: Any) -> None:
    network.plan(X)
    with pytest.raises(hesc.ParameterError, match="of another kind"):
        network.candidates()


def test_ranges_that_have_no_width_among_numbers(network: Any) -> None:
    with pytest.raises(hesc.ParameterError, match="ranges are pairs"):
        network.plan(X, Network(ranges=(-1e308, 1e308)))
    with pytest.raises(hesc.ParameterError, match="ranges are pairs"):
        compared(fitted().estimator_, X, ranges=(-1e308, 1e308))
    fields = json.loads(network.plan(X).to_bytes())
    for name, number in (("low", -1e308), ("high", 1e308)):
        fields["ranges"][name] = documents.packed(np.full(4, number))
    with pytest.raises(hesc.WireError, match="a least and a greatest value"):
        type(network.client().plan).from_bytes(json.dumps(fields).encode())


@contextmanager
def memory_within(most: int) -> Iterator[None]:
    """Holds this process to so many bytes more than it has."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("this system does not tell what a process takes")

    def peak() -> int:
        (found,) = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
        return int(found) << 10

    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    yield
    assert peak() - before <= most


def test_a_plan_goes_through_many_features_a_few_samples_at_a_time() -> None:
    """A short plan may name thousands of products of one feature, and take few of them together."""
    made = PrivateRegressor(LinearRegression()).fit(X[:, :1], Y)
    made.plan(X[:, :1], Scores(max_error=0.1, ranges=(0, 10)))
    fields = json.loads(made.client().plan.to_bytes())
    wide = 1 << 12
    steps: list[Any] = [
        transforms.Monomials(1, np.zeros((wide, 1))),
        transforms.Projection(np.zeros(wide), np.full((1, wide), 1 / wide)),
    ]
    fields["steps"] = transforms.described(steps)
    plan = LinearPlan.from_bytes(json.dumps(fields).encode())
    samples = np.linspace(0, 10, 5000)[:, None]
    plan.prepared(samples[:10])
    # All at once they are 160 megabytes.
    with memory_within(1 << 25):
        found = plan.prepared(samples).features
    assert found == pytest.approx(samples)


def test_bins_of_more_blocks_than_features_are_refused_at_once() -> None:
    blocks = 1 << 17
    step = {
        "step": "bins",
        "inputs": 1,
        "features": documents.packed(np.tile([0.0, -1], (blocks, 1))),
        "counts": documents.packed(np.zeros((blocks, 2))),
        "edges": documents.packed(np.zeros(1)),
    }
    with memory_within(1 << 25), pytest.raises(hesc.WireError, match="do not fit"):
        transforms.read([step], 1)


def test_messages_of_networks_are_as_long_as_their_plan_says(network: Any) -> None:
    """Whoever sends brackets instead of samples is refused before they are read."""
    plan = network.plan(X)
    with pytest.raises(hesc.WireError, match="up to"):
        plan.vector(b"[" * (3 * max(plan.vectors)))


def test_trees_whose_nodes_lie_among_those_of_others_are_refused() -> None:
    """Bounds on totals, hence the widths of circuits, are taken tree by tree."""
    leaf = [-1, 0, 0, 0]
    apart = np.array([[0, 1, 1, 2], leaf, leaf, leaf])
    mixed = np.array([[0, 1, 2, 3], leaf, leaf, leaf])
    values = np.array([[0, 0], [0, 3], [3, 0], [3, 3]])
    offsets = np.zeros(2, dtype=np.int64)
    assert TreeVotes(np.array([0, 3]), apart, values, offsets).fits(1, 2, 2)
    assert not TreeVotes(np.array([0, 1]), mixed, values, offsets).fits(1, 2, 2)


def test_classes_are_asked_for_by_the_plan_that_answers() -> None:
    """Features are steps of ranges, and those of another plan mean something else."""
    tree = DecisionTreeClassifier(max_depth=1).fit(X, Y)
    made = compared(tree, X, engine="binary", batch=9)
    client = made.client()
    server = made.server(keys=client.public_keys())
    fields = json.loads(client.plan.to_bytes())
    fields["ranges"]["low"] = documents.packed(np.full(4, -100.0))
    other = type(client.plan).from_bytes(json.dumps(fields).encode())
    stranger = type(client)(other, secret=client.secret, keys=client.public_keys())
    with pytest.raises(hesc.WireError, match="another plan"):
        server.answer(stranger.encrypt(X[:9]).data)
    answer = server.answer(client.encrypt(X[:9]).data)
    assert (client.decrypt(answer).predictions == made.predict(X[:9], fhe="simulate")).all()
    with pytest.raises(hesc.WireError, match="another plan"):
        stranger.decrypt(answer)


def test_a_plan_whose_keys_take_all_memory_is_refused(network: Any) -> None:
    """A kilobyte may ask for hundreds of keys of many megabytes."""
    plan = network.plan(X)
    made = network.client().public_keys()
    assert plan.key_bytes == pytest.approx(len(made), rel=0.1)
    fields = json.loads(plan.to_bytes()) | {"ring_degree": 32768}
    with pytest.raises(hesc.WireError, match="bytes of keys"):
        type(plan).from_bytes(json.dumps(fields | {"widths": [4, 8192, 8192, 3]}).encode())
    assert type(plan).from_bytes(json.dumps(fields | {"widths": [4, 128, 128, 3]}).encode())


# Files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("edges")
    made = fitted(["=1+1", "a", "safe"])
    made.plan(X, names=NAMES)
    made.save(at / "d", sample=0)
    files.keygen(at / "d" / "client", at / "k")
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in X[::30])]
    (at / "rows.csv").write_text("\n".join(lines))
    files.encrypt(at / "rows.csv", at / "d" / "client", at / "k", at / "q")
    files.evaluate(at / "q", at / "d" / "server", at / "a")
    return at


def calls(folder: Path) -> dict[str, Callable[..., Any]]:
    client, server, key = folder / "d" / "client", folder / "d" / "server", folder / "k"
    return {
        "encrypt": lambda out, **o: files.encrypt(folder / "rows.csv", client, key, out, **o),
        "eval": lambda out, **o: files.evaluate(folder / "q", server, out, **o),
        "decrypt": lambda out, **o: files.decrypt(folder / "a", client, key, out, **o),
    }


@pytest.mark.parametrize("command", ["encrypt", "eval", "decrypt"])
def test_figures_and_output_are_two_files(folder: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(hesc.HescError, match="one file"):
        calls(folder)[command](out, json_file=str(out))
    assert not out.exists()


@pytest.mark.parametrize("command", ["encrypt", "eval", "decrypt"])
@pytest.mark.parametrize("place", ["client", "server", "."])
def test_nothing_is_written_into_a_deployment(folder: Path, command: str, place: str) -> None:
    """Its readers refuse it from then on."""
    out = folder / "d" / place / "out"
    for options in ({}, {"json_file": str(out)}):
        with pytest.raises(hesc.HescError, match="lies in a deployment"):
            calls(folder)[command](out if not options else folder / "free", **options)
    deployment.Deployment.open(folder / "d")


def test_classes_that_spreadsheets_would_run_are_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls(folder)["decrypt"](tmp_path / "p.csv")
    assert "'=1+1'" in capsys.readouterr().err.replace("\n", "")
    # What is in the file stays what it is.
    assert "\n=1+1," in (tmp_path / "p.csv").read_text()


def test_weights_are_never_readable_by_others(tmp_path: Path) -> None:
    made = fitted()
    made.plan(X)
    seen = []
    right = folders.write

    def watched(at: Path, *args: Any, **options: Any) -> Any:
        seen.append((at.name, stat.S_IMODE(at.stat().st_mode)))
        return right(at, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folders, "write", watched)
        made.save(tmp_path / "d", sample=0)
    assert dict(seen)["server"] == 0o700
    assert stat.S_IMODE((tmp_path / "d" / "server").stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts elsewhere")
def test_a_deployment_whose_name_is_no_text(tmp_path: Path) -> None:
    made = fitted()
    made.plan(X)
    at = made.save(os.fsdecode(bytes(tmp_path / "d") + b"\xff"), sample=0)
    assert ClientFolder.open(at / "client").plan.inputs == 4


def test_a_ledger_is_whole_or_not_there(tmp_path: Path) -> None:
    path, digest = tmp_path / "l", b"ab" * 16
    with ledger.opened(path, digest) as counted:
        assert counted.given == 0
        assert b'"given":0' in path.read_bytes()
        counted.spend(12, 20)
    whole = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with pytest.raises(hesc.WireError), ledger.opened(path, digest):
            pass
        assert path.read_bytes() == whole[:cut]
    # As an editor leaves it: the next count stands alone.
    path.write_bytes(whole.replace(b":12", b":  12") + b"\n\n")
    with ledger.opened(path, digest) as counted:
        counted.spend(1, 20)
    assert path.read_bytes() == whole.replace(b":12", b":13")


def test_a_number_of_bins_has_digits_that_python_reads() -> None:
    assert compiling._number_of("16") == 16
    assert compiling._number_of(None) is None
    assert compiling._number_of("9" * 5000) == "9" * 5000
    assert compiling._number_of("²") == "²"


def test_brackets_in_a_calibration_are_no_markup(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from hesc.planner import Calibration
    from hesc.planner.calibration import cache_file

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    path = cache_file(1)
    assert path is not None
    path.parent.mkdir()
    path.write_text(Calibration({"a.[/b]": 1.0}, "cpu [/red]", 4e-5).to_json())
    calibrate.calibrate(threads=1)
    for odd in ("\x1b[31m", "\ud800", "a\nb"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"source": odd}))
        with pytest.raises(hesc.WireError):
            calibrate.calibrate(threads=1)


# Classes that no document holds

LABELS: dict[str, Any] = {
    "datetime64": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[ns]"),
    "datetime64[D]": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[D]"),
    "timedelta64": np.array([1, 2, 3], "timedelta64[ns]"),
    "timedelta64 of hours": np.array([1, 2, 3], "timedelta64[h]"),
    "complex128": np.array([1, 2j, 3]),
    "bytes": np.array([b"a", b"b", b"c"]),
    "void": np.array([(1, 2.0), (2, 3.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "int, str": np.array([1, "b", 2], dtype=object),
    "datetime": np.array([1, 2, 3], "datetime64[s]").astype(object),
    "NoneType, int": np.array([1, None, 2], dtype=object),
}


@pytest.mark.parametrize("name", LABELS)
def test_classes_of_other_kinds_are_refused_by_name(name: str) -> None:
    """And never become numbers, as dates of nanoseconds do in a list."""
    kind = name.split(" ", maxsplit=1)[0].rstrip(",").split("[")[0]
    with pytest.raises(hesc.ParameterError, match=f"of the type .*{kind}.*LabelEncoder"):
        labels.described(LABELS[name])


@pytest.mark.parametrize("options", [None, Classes()])
@pytest.mark.parametrize("name", ["datetime64", "timedelta64"])
def test_dates_are_no_classes_of_any_setting(name: str, options: Any) -> None:
    dates = LABELS[name]
    model = LogisticRegression(max_iter=500).fit(X, Y)
    # As scikit-learn's own models have them that take dates.
    model.classes_ = dates
    with pytest.raises(hesc.ParameterError, match=f"of the type {name}"):
        PrivateClassifier.from_fitted(model).plan(X, options)


@pytest.mark.parametrize(
    "given",
    [
        np.array([True, False]),
        np.array([3, 1], dtype=np.uint8),
        np.array([0.5, 2], dtype=np.float16),
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        np.array([1, 2], dtype=object),
    ],
    ids=lambda given: str(given.dtype),
)
def test_classes_of_documents_stay_what_they_are(given: Any) -> None:
    found = labels.read(json.loads(json.dumps(labels.described(given))))
    assert found.tolist() == given.tolist()


# Scores that do not vary


def constants() -> dict[str, tuple[Any, Any]]:
    flat = np.full(len(X), 0.1)
    return {
        "linear": (PrivateRegressor(LinearRegression()), flat),
        "ridge": (PrivateRegressor(Ridge()), flat),
        "tree": (PrivateRegressor(DecisionTreeRegressor()), flat),
        "boosted": (PrivateRegressor(GradientBoostingRegressor(n_estimators=2)), flat),
        "forest": (PrivateRegressor(RandomForestRegressor(3)), flat),
        "medians": (PrivateRegressor(AdaBoostRegressor(n_estimators=2)), flat),
        "two targets": (PrivateRegressor(Ridge()), np.column_stack([X[:, 0], flat])),
        "a point": (PrivateRegressor(Ridge()), X[:, 0]),
    }


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("name", constants())
@pytest.mark.filterwarnings("ignore:.*invalid value")
def test_scores_that_are_all_alike_are_refused_or_served(name: str, refit: bool) -> None:
    """By an error of ours that names what is alike, or what to write; with it they are right."""
    private, target = constants()[name]
    rows = np.full_like(X, 2.5) if name == "a point" else X
    private.fit(rows, target)
    wishes: dict[str, Any] = {"refit": "additive", "bins": 4} if refit else {}
    words = "max_error=|varies|no feature has two bins|models of trees|no sums of its trees"
    with pytest.raises(hesc.ParameterError, match=words):
        private.plan(rows, Scores(**wishes))
    try:
        private.plan(rows, Scores(max_error=0.01, **wishes))
    except hesc.HescError:
        return
    found = private.run(rows[:5], progress=False)
    expected = private.estimator_.predict(rows[:5])
    assert np.abs(found.scores - expected.reshape(found.scores.shape)).max() < 0.07


# Networks at the edge


@pytest.mark.parametrize(
    ("features", "layers", "activation"), [(1, (1,), "tanh"), (1, (1, 1), "relu")]
)
def test_networks_of_one_unit_run(features: int, layers: tuple[int, ...], activation: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, features))
    inner = MLPRegressor(
        hidden_layer_sizes=layers, activation=activation, max_iter=3000, random_state=1, alpha=0.01
    )
    private = PrivateMLPRegressor(inner).fit(rows, rows[:, 0] + 0.1 * rng.normal(size=80))
    plan = private.plan(rows, Network(max_error=0.5))
    found = private.run(rows[:5], progress=False)
    clear = private.estimator_.predict(rows[:5])
    assert np.abs(found.scores - clear).max() <= plan.worst + 7 * plan.noise
    client = private.client()
    assert abs(len(client.public_keys()) - plan.key_bytes) < 200
    # Keys to rotate by are for networks that do.
    inner = MLPRegressor(hidden_layer_sizes=(2,), max_iter=3000, random_state=0)
    wider = PrivateMLPRegressor(inner).fit(rows, rows[:, 0])
    wider.plan(rows, Network(max_error=1.0))
    refused = (hesc.WireError, hesc.ParameterError)
    with pytest.raises(refused, match="parameters differ"):
        private.server(keys=wider.client().public_keys())


def test_networks_whose_predictions_are_all_alike_are_refused_or_served() -> None:
    rng = np.random.default_rng(0)
    point, target = np.full((60, 1), 2.5), rng.normal(size=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        private = PrivateMLPRegressor(
            MLPRegressor(hidden_layer_sizes=(3,), max_iter=50, random_state=0)
        )
        private.fit(point, target)
    with pytest.raises(hesc.ParameterError, match="alike; give max_error="):
        private.plan(point)
    private.plan(point, Network(max_error=0.1))
    found = private.run(point[:3], progress=False)
    assert np.abs(found.scores - private.predict(point[:3])).max() < 0.7
    # All units are off: whatever comes in, the same comes out.
    rows = rng.normal(size=(60, 2))
    private.estimator.set_params(max_iter=3000)
    private.fit(rows, rows[:, 0])
    private.estimator_.coefs_[-1][:] = 0
    with pytest.raises(hesc.ParameterError, match="alike; give max_error="):
        private.plan(rows)


# Figures and the rows that they are of


def test_a_report_says_which_rows_its_figures_are_of(tmp_path: Path) -> None:
    private = fitted()
    private.plan(X)
    own = (private.save(tmp_path / "own", sample=3) / "report.html").read_text()
    others = (private.save(tmp_path / "others", X[:10], sample=3) / "report.html").read_text()
    assert "3 rows of the data that the model was planned with" in own
    assert "were given for this report" not in own
    assert "of the data that the model was planned with" not in others
    assert "3 rows that were given for this report" in others


def test_what_stays_is_stated_for_errors_that_work_together() -> None:
    """Two scores may err by the same noise in opposite directions: 2 deviations on one gap.

    Of 200,000 rows a share within five deviations of the stated one, or more.
    """
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200_000, 2))
    noise = 0.5 * rng.standard_normal(len(rows))
    noisy = rows + np.column_stack([noise, -noise])
    stays = float((noisy.argmax(axis=1) == rows.argmax(axis=1)).mean())
    stated = fidelity.kept(rows, np.full(rows.shape, 0.5), rows)
    assert abs(stays - stated) < 5 * np.sqrt(stays * (1 - stays) / len(rows))
    # Of one output there is one error.
    single = rows[:, :1]
    stays = float((((single[:, 0] + noise) > 0) == (single[:, 0] > 0)).mean())
    stated = fidelity.kept(single, np.full(single.shape, 0.5), single)
    assert abs(stays - stated) < 5 * np.sqrt(stays * (1 - stays) / len(rows))


@pytest.mark.parametrize(
    ("private", "said"),
    [
        (PrivateClassifier(PCA(2)), "make_pipeline(PCA(), LogisticRegression())"),
        (PrivateRegressor(MaxAbsScaler()), "make_pipeline(MaxAbsScaler(), Ridge())"),
    ],
)
def test_a_transform_alone_is_told_where_it_goes(private: Any, said: str) -> None:
    with pytest.raises(hesc.ParameterError, match=re.escape(said)):
        private.fit(X, Y)


def test_what_is_named_as_nearest_is_taken_there() -> None:
    """Of every estimator that scikit-learn has: never itself, never a class that is refused too."""

    def first_of_two(part: Any) -> Any:
        return Pipeline([("first", part), ("last", LogisticRegression())])

    def alone(part: Any) -> Any:
        return part

    places: list[tuple[tuple[type, ...], tuple[type, ...], Callable[[Any], Any]]] = [
        (extraction.CLASSIFIERS, extraction.CLASSIFIERS, alone),
        (extraction.REGRESSORS, extraction.REGRESSORS, alone),
        (extraction.NEIGHBORS, extraction.NEIGHBORS, alone),
        (extraction.OUTLIERS, extraction.OUTLIERS, alone),
        (steps.TRANSFORMS, extraction.CLASSIFIERS, first_of_two),
    ]
    for taken, finals, placed in places:
        names = {kind.__name__ for kind in taken}
        for name, kind in all_estimators():
            # A pipeline is its parts; what scikit-learn is about to drop warns if it is looked at.
            if kind in {*taken, Pipeline, *walking.KEEPERS} or name.startswith("PassiveAggressive"):
                continue
            with pytest.raises(hesc.ParameterError) as refused:
                refusals.check(placed(kind.__new__(kind)), finals)
            nearest = re.search(r"nearest: (.*?)\. Taken here", str(refused.value))
            assert nearest is not None
            first = re.split(r"\W", nearest[1])[0]
            assert first != name
            if nearest[1].isidentifier() and not first.startswith("Private"):
                assert first in names, (name, nearest[1])
