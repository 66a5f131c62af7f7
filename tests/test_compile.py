"""`hesc compile` of ONNX files, and what comes out at the other end."""

from __future__ import annotations

import csv
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hesc.cli import compiling, files

if TYPE_CHECKING:
    from pathlib import Path

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("layers", [(), (5,)], ids=["linear", "network"])
def test_from_an_onnx_file_to_predictions(layers: tuple[int, ...], tmp_path: Path) -> None:
    """Both kinds of plans, by commands alone, predict what scikit-learn does."""
    final = MLPClassifier(layers, max_iter=400, random_state=0) if layers else LogisticRegression()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make_pipeline(StandardScaler(), final).fit(X, Y)
        model = to_onnx(fitted, X[:1].astype(np.float32), options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    rows = tmp_path / "r.csv"
    np.savetxt(rows, X, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    out = tmp_path / "d"
    compiling.compile_model(tmp_path / "m.onnx", rows, out, sample=20)
    client, server, secret = out / "client", out / "server", tmp_path / "k"
    files.keygen(client, secret, tmp_path / "keys")
    files.encrypt(rows, client, secret, tmp_path / "q")
    keys = tmp_path / "keys" if layers else None
    files.evaluate(tmp_path / "q", server, tmp_path / "a", keys)
    files.decrypt(tmp_path / "a", client, secret, tmp_path / "p")
    with (tmp_path / "p").open(newline="", encoding="utf-8") as table:
        found = [int(row["prediction"]) for row in csv.DictReader(table)]
    assert (np.array(found) == fitted.predict(X)).mean() > 0.95
