"""`hesc compile` of ONNX files, and what comes out at the other end."""

from __future__ import annotations

import csv
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hesc
from hesc.cli import compiling, files
from tests.test_boosters import of

if TYPE_CHECKING:
    from pathlib import Path

X, Y = load_iris(return_X_y=True)


FINALS = {
    "linear": LogisticRegression(),
    "network": MLPClassifier((5,), max_iter=400, random_state=0),
    "stumps": GradientBoostingClassifier(max_depth=1, n_estimators=20, random_state=0),
}


@pytest.mark.parametrize("name", FINALS)
def test_from_an_onnx_file_to_predictions(name: str, tmp_path: Path) -> None:
    """All kinds of plans, by commands alone, predict what scikit-learn does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make_pipeline(StandardScaler(), FINALS[name]).fit(X, Y)
        model = to_onnx(fitted, X[:1].astype(np.float32), options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    rows = tmp_path / "r.csv"
    np.savetxt(rows, X, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    out = tmp_path / "d"
    bins = "thresholds" if name == "stumps" else None
    if name == "network":
        with pytest.raises(hesc.ParameterError, match=r"--answers, --min-fidelity: .*Network\(\)"):
            compiling.compile_model(tmp_path / "m.onnx", rows, out, answers=5, min_fidelity=0.5)
    compiling.compile_model(tmp_path / "m.onnx", rows, out, sample=20, bins=bins)
    client, server, secret = out / "client", out / "server", tmp_path / "k"
    files.keygen(client, secret, tmp_path / "keys")
    files.encrypt(rows, client, secret, tmp_path / "q")
    keys = tmp_path / "keys" if name == "network" else None
    files.evaluate(tmp_path / "q", server, tmp_path / "a", keys)
    files.decrypt(tmp_path / "a", client, secret, tmp_path / "p")
    with (tmp_path / "p").open(newline="", encoding="utf-8") as table:
        found = [int(row["prediction"]) for row in csv.DictReader(table)]
    assert (np.array(found) == fitted.predict(X)).mean() > 0.95


def test_an_objective_chooses_what_is_compiled(tmp_path: Path) -> None:
    """With figures of all candidates; the same plan as in Python."""
    fitted = LogisticRegression(max_iter=500).fit(X, Y > 0)
    model = to_onnx(fitted, X[:1].astype(np.float32), options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    rows, figures = tmp_path / "r.csv", tmp_path / "f.json"
    np.savetxt(rows, X, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    made: Any = {"objective": "bytes", "sample": 0, "json_file": str(figures)}
    compiling.compile_model(tmp_path / "m.onnx", rows, tmp_path / "d", **made)
    found = json.loads(figures.read_text())
    best, *others = found["candidates"]
    assert found["objective"] == "bytes"
    assert best["candidate"] == "ring products"
    assert best["not_taken"] is None
    assert (best["bytes_up"], best["bytes_down"]) == (found["bytes_up"], found["bytes_down"])
    assert all(other["not_taken"] for other in others)
    assert {"ckks columns", "clear", "gates"} <= {other["candidate"] for other in others}
    assert "Why this plan" in (tmp_path / "d/report.html").read_text()
    figures.unlink()
    classes: Any = made | {"disclose": "class", "min_agreement": 0.9}
    compiling.compile_model(tmp_path / "m.onnx", rows, tmp_path / "c", **classes)
    engines = [each["candidate"] for each in json.loads(figures.read_text())["candidates"]]
    assert {"gates", "integers binary", "integers prime"} <= set(engines)
    with pytest.raises(hesc.ParameterError, match=r"objective.*latency"):
        compiling.compile_model(tmp_path / "m.onnx", rows, tmp_path / "e", objective="time")
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("xgboost linear numbers", "ubj"),
        ("xgboost two classes", "json"),
        ("lightgbm one against all", "txt"),
        ("catboost texts", "json"),
    ],
)
def test_from_a_saved_model_of_a_boosting_library(name: str, ending: str, tmp_path: Path) -> None:
    """Without the library that wrote it, where it is not installed."""
    path, out, rows = tmp_path / f"m.{ending}", tmp_path / "d", tmp_path / "r.csv"
    path.write_bytes(of(name))
    np.savetxt(rows, X, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    if "linear" not in name:
        with pytest.raises(hesc.ParameterError, match="compare several features each"):
            compiling.compile_model(path, rows, out, bins="thresholds")
        compiling.compile_model(path, rows, tmp_path / "exact", sample=4)
    options: Any = {} if "linear" in name else {"refit": "additive", "min_fidelity": 0.2}
    compiling.compile_model(path, rows, out, sample=4, max_error=0.1, **options)
    assert (out / "client/plan.json").is_file()
    path.write_bytes(of(name)[: len(of(name)) // 3])
    with pytest.raises(hesc.HescError):
        compiling.compile_model(path, rows, tmp_path / "e", **options)


def with_holes(path: Path, rows: Any, holes: Any, word: str = "") -> None:
    """A table of CSV in which some cells are empty, or a word for that."""
    lines = [
        ",".join(word if gone else repr(cell) for cell, gone in zip(*row, strict=True))
        for row in zip(rows.tolist(), holes.tolist(), strict=True)
    ]
    path.write_text("\n".join(["a,b,c,d", *lines]) + "\n")


def fitted_and_saved(name: str, folder: Path, x: Any, y: Any) -> tuple[Path, Any]:
    """A small model of a library, and the file that it is saved as."""
    if name == "onnx":
        fitted: Any = RandomForestClassifier(5, random_state=0).fit(x, y)
        made = to_onnx(fitted, X[:1].astype(np.float32), options={"zipmap": False})
        assert b"inf" in str(made).encode()
        (folder / "m.onnx").write_bytes(made.SerializeToString())
        return folder / "m.onnx", fitted
    module: Any = pytest.importorskip(name)
    if name == "lightgbm":
        fitted = module.LGBMClassifier(n_estimators=5, verbose=-1, min_child_samples=5).fit(x, y)
        fitted.booster_.save_model(folder / "m.txt")
        return folder / "m.txt", fitted
    if name == "xgboost":
        fitted = module.XGBClassifier(n_estimators=5).fit(x, y)
        fitted.save_model(folder / "m.json")
    else:
        fitted = module.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False)
        fitted.fit(x, y).save_model(str(folder / "m.json"), format="json")
    return folder / "m.json", fitted


def written(rows: Any, path: Path, word: str) -> None:
    """A table with gaps, of Parquet or of CSV."""
    if path.suffix == ".csv":
        with_holes(path, rows, np.isnan(rows), word)
        return
    arrow, parquet = (pytest.importorskip(f"pyarrow{part}") for part in ("", ".parquet"))
    cells = {
        label: [None if np.isnan(cell) else cell for cell in column]
        for label, column in zip("abcd", rows.T.tolist(), strict=True)
    }
    parquet.write_table(arrow.table(cells), path)


@pytest.mark.parametrize(
    ("name", "ending", "word"),
    [
        ("xgboost", "csv", ""),
        ("lightgbm", "csv", "NaN"),
        ("lightgbm", "parquet", ""),
        ("catboost", "csv", "NA"),
        ("onnx", "csv", ""),
    ],
)
def test_missing_cells_are_those_that_trees_take(
    name: str, ending: str, word: str, tmp_path: Path
) -> None:
    """From training data with gaps to predictions of rows with gaps, by commands alone."""
    rng = np.random.default_rng(0)
    x = X.copy()
    x[rng.random(len(x)) < 0.2, 1] = np.nan
    y = np.where(np.isnan(x[:, 1]), 2, Y > 0)
    path, fitted = fitted_and_saved(name, tmp_path, x, y)
    rows = tmp_path / f"r.{ending}"
    written(x, rows, word)
    out = tmp_path / "d"
    compiling.compile_model(path, rows, out, sample=8)
    client, server, secret, keys = out / "client", out / "server", tmp_path / "k", tmp_path / "keys"
    assert "column 'b'" in (out / "report.html").read_text().replace("&#39;", "'")
    files.keygen(client, secret, keys)
    files.encrypt(rows, client, secret, tmp_path / "q")
    files.evaluate(tmp_path / "q", server, tmp_path / "a", keys)
    files.decrypt(tmp_path / "a", client, secret, tmp_path / "p")
    with (tmp_path / "p").open(newline="", encoding="utf-8") as table:
        found = [int(row["prediction"]) for row in csv.DictReader(table)]
    assert (np.array(found) == np.ravel(fitted.predict(x))).mean() > 0.97
    # Where no cell was missing in training data, none may be.
    elsewhere = np.zeros(X.shape, dtype=bool)
    elsewhere[3, 2] = True
    with_holes(tmp_path / "e.csv", X, elsewhere)
    with pytest.raises(hesc.OutOfRangeError, match="'c'"):
        files.encrypt(tmp_path / "e.csv", client, secret, tmp_path / "f")
    # Numbers that are none are refused as before.
    for other in ("inf", "-Infinity", "many"):
        with_holes(tmp_path / "e.csv", X, elsewhere, other)
        with pytest.raises(hesc.HescError, match=r"line 5.*'c'"):
            files.encrypt(tmp_path / "e.csv", client, secret, tmp_path / "f")
        with pytest.raises(hesc.HescError, match=r"line 5.*'c'"):
            compiling.compile_model(path, tmp_path / "e.csv", tmp_path / "g")
    # Plans of other options take none.
    with pytest.raises(hesc.ShapeError, match=r"plan\(X, Trees\(\)\)"):
        compiling.compile_model(path, rows, tmp_path / "g", refit="additive")
    assert not (tmp_path / "g").exists()


def test_missing_cells_are_refused_where_models_take_none(tmp_path: Path) -> None:
    final = LogisticRegression(max_iter=500).fit(X, Y)
    made = to_onnx(final, X[:1].astype(np.float32), options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    elsewhere = np.zeros(X.shape, dtype=bool)
    elsewhere[3, 2] = True
    for word in ("", "NaN", "inf"):
        with_holes(tmp_path / "r.csv", X, elsewhere, word)
        with pytest.raises(hesc.HescError, match=r"line 5.*impute it first"):
            compiling.compile_model(tmp_path / "m.onnx", tmp_path / "r.csv", tmp_path / "d")
    parquet, arrow = (pytest.importorskip(f"pyarrow{part}") for part in (".parquet", ""))
    cells = dict(zip("abcd", np.where(elsewhere, np.nan, X).T.tolist(), strict=True))
    parquet.write_table(arrow.table(cells), tmp_path / "r.parquet")
    with pytest.raises(hesc.HescError, match=r"missing cells, which this model does not take"):
        compiling.compile_model(tmp_path / "m.onnx", tmp_path / "r.parquet", tmp_path / "d")
    with_holes(tmp_path / "l.csv", np.array([X.min(0), X.max(0)]), elsewhere[2:4])
    with_holes(tmp_path / "r.csv", X, np.zeros(X.shape, dtype=bool))
    with pytest.raises(hesc.HescError, match="impute it first"):
        compiling.compile_model(
            tmp_path / "m.onnx", tmp_path / "r.csv", tmp_path / "d", ranges_from=tmp_path / "l.csv"
        )
