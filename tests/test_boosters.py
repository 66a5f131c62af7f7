"""Saved models of XGBoost, LightGBM and CatBoost, read without these; and damage to every file."""

from __future__ import annotations

import base64
import json
import time
import tracemalloc
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pytest

import hesc
from hesc.ml import PrivateClassifier, PrivateRegressor, Scores, load_booster
from hesc.models.boosters import read, saved_models, ubjson, verifying
from hesc.models.conclusions import predictions, probabilities

VECTORS: Final = json.loads((Path(__file__).parents[1] / "vectors" / "boosters.json").read_text())
TAKEN: Final[dict[str, Any]] = VECTORS["taken"]
REFUSED: Final[dict[str, Any]] = VECTORS["refused"]
ALL: Final = TAKEN | REFUSED


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def numbers(packed: dict[str, Any]) -> Any:
    return np.frombuffer(unpacked(packed["f8"]), "<f8").reshape(packed["shape"])


def of(name: str) -> bytes:
    return unpacked(ALL[name]["file"])


def document_of(name: str) -> Any:
    """What a file of XGBoost says, in JSON's kinds of values."""
    data = of(name)
    found = json.loads(data) if data[1:2] == b'"' else ubjson.parsed(data)
    return json.loads(json.dumps(found, default=lambda array: array.tolist()))


# What is read is what the libraries computed


@pytest.mark.parametrize("name", TAKEN)
def test_scores_are_those_of_the_library(name: str) -> None:
    """At thresholds and beside them too; to the last digits, where the library adds in double."""
    case = TAKEN[name]
    found = saved_models.read(of(name))
    rows, expected = numbers(case["rows"]), numbers(case["scores"])
    assert found.library == name.split(maxsplit=1)[0]
    scores = found.model.scores(rows)
    assert scores.shape == expected.shape
    apart = np.abs(scores - expected).max()
    assert apart <= verifying.tolerance(found.library, found.model, rows)
    assert apart <= (1e-4 if found.library == "xgboost" else 1e-12)


@pytest.mark.parametrize("name", [name for name in TAKEN if "predictions" in TAKEN[name]])
def test_classes_and_probabilities_are_those_of_the_library(name: str) -> None:
    case = TAKEN[name]
    found = saved_models.read(of(name)).model
    rows, shares = numbers(case["rows"]), numbers(case["probabilities"])
    scores = found.scores(rows)
    scores = scores[:, 0] if scores.shape[1] == 1 else scores
    assert found.classes is not None
    assert found.classes.tolist() == case["classes"]
    assert predictions(found.classes, scores).tolist() == case["predictions"]
    if found.link == "none":
        assert name in {"xgboost hinge", "lightgbm one against all", "catboost one against all"}
    else:
        assert probabilities(found.link, scores) == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in TAKEN if "numbers" in TAKEN[name]])
def test_predictions_are_functions_of_scores_where_the_objective_says_so(name: str) -> None:
    """XGBoost takes exponentials in float32."""
    case = TAKEN[name]
    loaded = load_booster(of(name), verify=False)
    assert isinstance(loaded, PrivateRegressor)
    assert loaded.predict(numbers(case["rows"])) == pytest.approx(
        numbers(case["numbers"]), rel=2e-6 if name.startswith("xgboost") else 1e-12
    )


def test_a_base_score_that_no_link_has_is_refused() -> None:
    for name, words in (("xgboost poisson", "above zero"), ("xgboost logistic", "within 0 and 1")):
        document = document_of(name)
        document["learner"]["learner_model_param"]["base_score"] = "[-1E0]"
        with pytest.raises(hesc.OutOfRangeError, match=words):
            saved_models.read(json.dumps(document).encode())


def test_names_of_features_come_along() -> None:
    for library in ("xgboost", "lightgbm", "catboost"):
        found = saved_models.read(of(f"{library} numbers with names")).model
        assert found.names == ["age", "debt", "income", "years"]
        assert not saved_models.read(of(f"{library} two classes")).model.names


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_why_and_what_would_do(name: str) -> None:
    with pytest.raises(hesc.ParameterError, match=REFUSED[name]["words"]):
        saved_models.read(of(name))


def test_rounds_after_an_early_stop_do_not_count() -> None:
    """XGBoost's scikit-learn interface leaves them out, and notes in a file that it wrote it."""
    learner = document_of("xgboost stopped early")["learner"]
    best, trees = int(learner["attributes"]["best_iteration"]), learner["gradient_booster"]["model"]
    assert len(trees["trees"]) > best + 1
    model = saved_models.read(of("xgboost stopped early")).model.model
    assert len(getattr(model, "roots", ())) == best + 1


def test_a_saved_model_is_served(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 4))
    path = tmp_path / "model"
    path.write_bytes(of("xgboost linear classes"))
    private = load_booster(path, verify=False)
    assert isinstance(private, PrivateClassifier)
    private.plan(rows, Scores(max_error=1e-3))
    assert (private.predict(rows, fhe="execute") == private.predict(rows)).mean() > 0.95
    regressor = load_booster(of("lightgbm numbers with names"), verify=False)
    assert isinstance(regressor, PrivateRegressor)
    assert regressor.feature_names_in_.tolist() == ["age", "debt", "income", "years"]
    with pytest.raises(hesc.ParameterError, match="refit='additive'"):
        regressor.plan(pd.DataFrame(rows, columns=regressor.feature_names_in_), Scores())
    with pytest.raises(hesc.ParameterError, match="verify is True"):
        read(path, verify="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x80\x04\x95", "a pickle runs what it holds"),
        (b"CBM1\x00", "format='json'"),
        (b"binf\x00\x00", "as .json or .ubj"),
        (b'{"name": "tree", "tree_info": []}', "no saved model"),
        (b"[1, 2]", "no saved model"),
    ],
)
def test_other_files_are_refused_with_how_to_save(data: bytes, words: str) -> None:
    with pytest.raises(hesc.ParameterError, match=words):
        read(data)
    with pytest.raises(hesc.ParameterError, match="a path or bytes"):
        read(3)


# Damage and hostility

DAMAGED: Final = (hesc.WireError, hesc.ParameterError, hesc.OutOfRangeError, hesc.ShapeError)


def checked(data: bytes) -> bool:
    """Whether a file is read; then it gives finite scores, and else an error of hesc."""
    try:
        found = saved_models.read(data).model
        scores = found.scores(np.zeros((3, min(found.inputs, 1 << 10))))
    except DAMAGED:
        return False
    assert not np.isnan(scores).any()
    return True


@pytest.mark.parametrize("name", ALL)
def test_files_that_are_damaged_in_any_byte(name: str) -> None:
    """Errors of hesc or models with numbers, in no time."""
    data, rng = of(name), np.random.default_rng(1)
    begin = time.process_time()
    for place in rng.integers(0, len(data), 60).tolist():
        other = bytes([int(rng.integers(256))])
        checked(data[:place] + other + data[place + 1 :])
        checked(data[:place] + data[place + int(rng.integers(1, 9)) :])
        checked(data[:place] + other * int(rng.integers(1, 9)) + data[place:])
    for place in rng.integers(0, len(data) - len(data) // 3, 20).tolist():
        # What follows upon LightGBM's trees says nothing of them.
        assert checked(data[:place]) == (b"end of trees\n" in data[:place] and name in TAKEN)
    assert time.process_time() - begin < 60


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places of a document."""
    inside: Any = value.items() if isinstance(value, dict) else ()
    inside = enumerate(value) if isinstance(value, list) else inside
    return [path, *(found for key, part in inside for found in places_of(part, (*path, key)))]


LIES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    1 << 70,
    1e39,
    2.5,
    "",
    "9" * 30,
    [],
    {},
    [[]],
    ["x" * 1000, 1],
    [1] * 300,
    [-1],
)


@pytest.mark.parametrize("name", [name for name in TAKEN if of(name)[:2] in {b'{"', b"{\n"}])
def test_files_that_lie_in_any_field(name: str) -> None:
    document, rng = json.loads(of(name)), np.random.default_rng(2)
    # Most of CatBoost's fields are options of fitting.
    known = [p for p in places_of(document) if p and p[:2] != ("model_info", "params")]
    for place in [known[i] for i in rng.integers(0, len(known), 150)]:
        lying = json.loads(of(name))
        holder = lying
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = LIES[int(rng.integers(len(LIES)))]
        checked(json.dumps(lying).encode())
        if isinstance(place[-1], str):
            del holder[place[-1]]
            checked(json.dumps(lying).encode())


def test_lightgbm_s_fields_lie() -> None:
    text, rng = of("lightgbm three classes").decode(), np.random.default_rng(3)
    lines = text.split("end of trees")[0].split("\n")
    for _ in range(200):
        place = int(rng.integers(len(lines)))
        name, _, value = lines[place].partition("=")
        words = value.split()
        lie = ["", "-1", "999999999", "nan", "inf", "1e400", "x", "3 3", "1_0", "٣"][
            int(rng.integers(10))
        ]
        other = [f"{name}={lie}", f"{name}={' '.join([lie, *words[1:]])}", lines[place] * 2]
        changed = [*lines[:place], other[int(rng.integers(3))], *lines[place + 1 :]]
        checked("\n".join([*changed, "end of trees", ""]).encode())
    swapped = text.replace("Tree=1\n", "Tree=2\n", 1)
    for damaged in (
        swapped,
        text.replace("end of trees", ""),
        text.replace("num_leaves=5", "num_leaves=5\nnum_leaves=5", 1),
        text.replace("left_child=1", "left_child=0", 1).replace("left_child=0", "left_child=3", 1),
        text.replace("tree_sizes=", "tree_sizes=1 ", 1),
        text.replace("max_feature_idx=3", "max_feature_idx=1", 1),
    ):
        with pytest.raises(DAMAGED):
            saved_models.read(damaged.encode())


def first_tree(document: Any) -> Any:
    return document["learner"]["gradient_booster"]["model"]["trees"][0]


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("left_children", lambda v: [0, *v[1:]]),
        ("left_children", lambda v: [v[0] + 1, *v[1:]]),
        ("left_children", lambda v: [99, *v[1:]]),
        ("right_children", lambda v: [-1, *v[1:]]),
        ("right_children", lambda v: [-2, *v[1:]]),
        ("split_indices", lambda v: [4, *v[1:]]),
        ("split_conditions", lambda v: [1e39, *v[1:]]),
        ("split_conditions", lambda v: v[1:]),
        ("split_type", lambda v: [1, *v[1:]]),
    ],
)
def test_trees_of_xgboost_that_are_none(field: str, change: Any) -> None:
    """Cycles, two parents, children, features and numbers that are not there."""
    document = document_of("xgboost numbers with names")
    saved_models.read(json.dumps(document).encode())
    tree = first_tree(document)
    tree[field] = change(tree[field])
    with pytest.raises(DAMAGED):
        saved_models.read(json.dumps(document).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"{L" + (1 << 62).to_bytes(8, "big"),
        b"{L" + (-5).to_bytes(8, "big", signed=True) + b"ab",
        b"{U\x01a" * 40 + b"Z" + b"}" * 40,
        b"{U\x01a[$d#L" + (1 << 61).to_bytes(8, "big"),
        b"{U\x01a[$Z#L" + (1 << 40).to_bytes(8, "big"),
        b"{U\x01a[#L" + (1 << 40).to_bytes(8, "big") + b"Z}",
        b"{U\x01aZU\x01aZ}",
        b"{U\x01aZ}Z",
        b"{U\x01aSd\x00\x00\x00\x00}",
        b"{U\x01\xffZ}",
        b"{U\x01a[ZZ",
        b"{U\x01aX}",
    ],
)
def test_ubjson_that_is_none(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        ubjson.parsed(data)
    with pytest.raises(DAMAGED):
        saved_models.read(data)


def test_ubjson_of_everything() -> None:
    data = (
        b"{U\x01aTU\x01bFU\x01ci\xffU\x01dI\x01\x00U\x01el\x00\x00\x00\x05U\x01fd\x3f\x80\x00\x00"
        b"U\x01gSU\x02hiU\x01h[ZZ]U\x01j[#U\x02TFU\x01k[$U#U\x03\x01\x02\x03}"
    )
    found = ubjson.parsed(data)
    assert isinstance(found, dict)
    assert found.pop("k").tolist() == [1, 2, 3]
    expected = {"a": True, "b": False, "c": -1, "d": 256, "e": 5, "f": 1.0, "g": "hi"}
    assert found == expected | {"h": [None, None], "j": [True, False]}


@pytest.mark.parametrize("unit", [b"[],", b"{},", b"0,", b"[[],[]],"])
def test_large_files_of_nothing_take_bounded_memory(unit: bytes) -> None:
    data = b'{"learner":[' + unit * ((8 << 20) // len(unit)) + b"0]}"
    tracemalloc.start()
    try:
        with pytest.raises(DAMAGED):
            saved_models.read(data)
        assert tracemalloc.get_traced_memory()[1] < 1 << 30
    finally:
        tracemalloc.stop()
    with pytest.raises(DAMAGED):
        saved_models.read(b'{"learner":' + b"[" * 100_000)
    with pytest.raises(hesc.WireError, match="bytes at most"):
        read(bytes(saved_models.LARGEST + 1))


def test_models_that_are_too_large() -> None:
    """A tree names as many outputs as it likes: they are not made room for."""
    changed = document_of("xgboost two targets")
    sizes = changed["learner"]["learner_model_param"]
    sizes |= {"num_target": "4096", "base_score": "5E-1"}
    model = changed["learner"]["gradient_booster"]["model"]
    model["trees"] = model["trees"] * 200
    model["tree_info"] = model["tree_info"] * 200
    model.pop("iteration_indptr")
    with pytest.raises(hesc.ParameterError, match="fit fewer trees"):
        saved_models.read(json.dumps(changed).encode())
