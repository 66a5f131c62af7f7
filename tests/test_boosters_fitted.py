"""Models of XGBoost, LightGBM and CatBoost, fitted here, against these libraries themselves."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import hesc
from hesc.ml import Classes, PrivateClassifier, PrivateRegressor, Scores, load_booster
from hesc.models.boosters import fitted, read, verifying
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from pathlib import Path

RNG: Final = np.random.default_rng(7)
X: Final = RNG.normal(size=(300, 4)).round(2)
NUMBER: Final = X @ [1.0, -2.0, 0.5, 0.0] + np.sin(3 * X[:, 0]) + 4
LABELS: Final = {2: (NUMBER > 4).astype(int), 3: np.digitize(NUMBER, [3.0, 5.0])}
LIBRARIES: Final = ("xgboost", "lightgbm", "catboost")
NAMES: Final = {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}
SIZES: Final[dict[str, dict[str, Any]]] = {
    "xgboost": {"n_estimators": 6, "n_jobs": 1},
    "lightgbm": {"n_estimators": 6, "n_jobs": 1, "verbose": -1, "min_child_samples": 5},
    "catboost": {
        "n_estimators": 6,
        "thread_count": 1,
        "verbose": 0,
        "allow_writing_files": False,
    },
}


def module(library: str) -> Any:
    """The library; without it a test is skipped, and stored models stand in for its own."""
    pytest.importorskip(library, reason=f"{library} is not installed: test_boosters.py has files")
    return importlib.import_module(library)


def made(library: str, kind: str, **options: Any) -> Any:
    return getattr(module(library), NAMES[library] + kind)(**(SIZES[library] | options))


def stumps(library: str, kind: str, **options: Any) -> Any:
    # Two leaves, by whichever name.
    leaves = {"num_leaves": 2} if library == "lightgbm" else {"max_depth": 1}
    return made(library, kind, **leaves, **options)


def random_model(library: str, rng: Any) -> Any:
    """A fitted model with random options."""
    kind, classes = ("Classifier", "Regressor")[int(rng.integers(2))], int(rng.integers(2, 4))
    options: dict[str, Any] = {
        "n_estimators": int(rng.integers(1, 9)),
        "learning_rate": float(rng.uniform(0.05, 1)),
    }
    if library == "xgboost":
        options |= {
            "max_depth": int(rng.integers(1, 6)),
            "booster": ("gbtree", "dart")[int(rng.integers(2))],
            "tree_method": ("exact", "hist", "approx")[int(rng.integers(3))],
            "gamma": float(rng.choice([0, 5])),
            "num_parallel_tree": int(rng.integers(1, 3)),
            "subsample": 0.7,
            "reg_lambda": float(rng.uniform(0, 3)),
        }
        options |= {"rate_drop": 0.5} if options["booster"] == "dart" else {}
        if options["tree_method"] == "exact":
            options["num_parallel_tree"] = 1
    elif library == "lightgbm":
        options |= {
            "num_leaves": int(rng.integers(2, 9)),
            "boosting_type": ("gbdt", "dart", "rf")[int(rng.integers(3))],
            "subsample": 0.6,
            "subsample_freq": 1,
            "extra_trees": bool(rng.integers(2)),
        }
    else:
        policies = ("SymmetricTree", "Depthwise", "Lossguide")
        options |= {"depth": int(rng.integers(1, 5)), "grow_policy": policies[rng.integers(3)]}
    y = LABELS[classes] if kind == "Classifier" else NUMBER
    # Whole numbers have many equal features, zeros among them.
    x = X.round() if rng.integers(2) else X
    return made(library, kind, **options).fit(x, y)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("library", LIBRARIES)
def test_random_models_have_the_scores_of_their_library(library: str, seed: int) -> None:
    """On rows, at thresholds and beside them, and by a file that is read without the library."""
    model = random_model(library, np.random.default_rng(seed))
    found = fitted.described(model)
    rows = np.concatenate([X, verifying.rows_at_thresholds(found)])
    apart = np.abs(found.scores(rows) - fitted.raw_scores(model, rows)).max()
    assert apart <= verifying.tolerance(library, found, rows)
    assert apart <= (1e-4 if library == "xgboost" else 1e-12)
    again = read(fitted.saved(model) if library == "catboost" else booster_of(model), verify=True)
    assert np.array_equal(again.scores(rows), found.scores(rows))


def booster_of(model: Any) -> Any:
    return model.booster_ if hasattr(model, "booster_") else model.get_booster()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("library", LIBRARIES)
def test_classifiers_are_served_as_they_are(library: str, classes: int) -> None:
    y = LABELS[classes]
    private = PrivateClassifier(stumps(library, "Classifier")).fit(X, y)
    plan = private.plan(X, Scores(bins="thresholds", max_error=1e-3))
    assert plan.fidelity is not None
    assert plan.fidelity.apart < 1e-5
    shares = private.predict_proba(X[:64], fhe="execute")
    assert np.abs(shares - private.predict_proba(X[:64])).max() < 7 * plan.error
    found = private.predict(X[:64], fhe="execute")
    assert found.shape == (64,)
    assert (found == private.predict(X[:64])).mean() > 0.95
    assert private.predict(X[:64]).shape == (64,)
    # What is inside is the library's own estimator.
    assert type(private.estimator_) is type(private.estimator)


@pytest.mark.parametrize("library", LIBRARIES)
def test_regressors_are_served_behind_a_scaler(library: str) -> None:
    private = PrivateRegressor(make_pipeline(StandardScaler(), stumps(library, "Regressor")))
    plan = private.fit(X, NUMBER).plan(X, Scores(bins="thresholds", max_error=1e-2))
    found = private.predict(X[:64], fhe="execute")
    assert np.abs(found - private.predict(X[:64])).max() < 7 * plan.error


OBJECTIVES: Final = [
    ("xgboost", {"objective": "count:poisson"}, "exp"),
    ("xgboost", {"objective": "reg:gamma"}, "exp"),
    ("xgboost", {"objective": "reg:tweedie"}, "exp"),
    ("xgboost", {"objective": "count:poisson", "booster": "gblinear"}, "exp"),
    ("xgboost", {"objective": "reg:logistic"}, "expit"),
    ("lightgbm", {"objective": "poisson"}, "exp"),
    ("lightgbm", {"objective": "gamma"}, "exp"),
    ("lightgbm", {"objective": "tweedie"}, "exp"),
    ("lightgbm", {"objective": "cross_entropy"}, "expit"),
    ("catboost", {"loss_function": "Poisson"}, "exp"),
    ("catboost", {"loss_function": "Tweedie:variance_power=1.5"}, "exp"),
]


@pytest.mark.parametrize(("library", "options", "link"), OBJECTIVES)
def test_functions_of_sums_of_trees_are_the_clients(
    library: str, options: dict[str, Any], link: str
) -> None:
    """Predictions of the library, fitted and saved: the client takes the function of scores."""
    y = np.exp(NUMBER / 4) if link == "exp" else LABELS[2] * 0.8
    model = made if "booster" in options else stumps
    private = PrivateRegressor(model(library, "Regressor", **options)).fit(X, y)
    asked: dict[str, Any] = {} if "booster" in options else {"bins": "thresholds"}
    plan = private.plan(X, Scores(**asked, max_error=1e-3))
    assert plan.link == link
    own = private.estimator_.predict(X)
    run = private.run(X[:64], progress=False)
    back = np.log(own) if link == "exp" else np.log(own / (1 - own))
    assert np.abs(run.scores - back[:64]).max() < 7 * plan.error
    # Of neither function the slope is beyond that of `exp`.
    assert np.abs(run.predictions / own[:64] - 1).max() < 8 * plan.error
    saved = private.estimator_ if library == "catboost" else booster_of(private.estimator_)
    loaded = load_booster(saved, verify=True)
    assert loaded.predict(X) == pytest.approx(own, rel=2e-6)
    assert loaded.plan(X, Scores(**asked, max_error=1e-3)).link == link


@pytest.mark.parametrize(
    ("library", "shares", "number"),
    [("xgboost", "reg:logistic", "count:poisson"), ("lightgbm", "cross_entropy", "regression")],
)
def test_classifiers_of_regressors_objectives(library: str, shares: str, number: str) -> None:
    """Shares of the second class are probabilities, and numbers are no scores of classes."""
    private = PrivateClassifier(stumps(library, "Classifier", objective=shares)).fit(X, LABELS[2])
    plan = private.plan(X, Scores(bins="thresholds", max_error=1e-3))
    assert plan.link == "sigmoid"
    found = private.predict_proba(X[:64], fhe="execute")
    assert np.abs(found - private.predict_proba(X[:64])).max() < 7 * plan.error
    private = PrivateClassifier(stumps(library, "Classifier", objective=number)).fit(X, LABELS[2])
    with pytest.raises(hesc.ParameterError, match="the objective of a regressor"):
        private.plan(X, Scores(bins="thresholds"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_deeper_trees_have_classes_or_a_refit(library: str) -> None:
    private = PrivateClassifier(made(library, "Classifier", max_depth=3)).fit(X, LABELS[3])
    with pytest.raises(hesc.ParameterError, match="compare several features each"):
        private.plan(X, Scores())
    assert private.plan(X).protocol == "trees"
    private.plan(X, Classes(min_agreement=0.9))
    assert (private.predict(X, fhe="simulate") == private.predict(X)).mean() > 0.9
    plan = private.plan(X, Scores(refit="additive", min_fidelity=0.7))
    assert plan.fidelity is not None
    assert plan.fidelity.unseen


@pytest.mark.parametrize("library", LIBRARIES)
def test_fitted_models_keep_the_names_of_their_tables(library: str) -> None:
    table = pd.DataFrame(X, columns=["age", "debt", "income", "years"])
    model = stumps(library, "Classifier").fit(table, LABELS[2])
    private = PrivateClassifier.from_fitted(model)
    assert private.plan(table, Scores(bins="thresholds")).names == list(table)
    assert np.array_equal(private.predict(table), np.asarray(model.predict(table)).reshape(-1))
    assert private.predict_proba(table).shape == (300, 2)
    with pytest.raises(ValueError, match="feature names"):
        private.predict(table[["debt", "age", "income", "years"]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_that_was_fitted_again_is_planned_again(library: str) -> None:
    private = PrivateClassifier(stumps(library, "Classifier")).fit(X, LABELS[2])
    private.plan(X, Scores(bins="thresholds"))
    private.run(X[:4], fhe="simulate")
    private.estimator_.fit(X, 1 - LABELS[2])
    with pytest.raises(hesc.ParameterError, match="changed since it was planned"):
        private.run(X[:4], fhe="simulate")


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_values_are_refused_with_what_would_do(library: str) -> None:
    """Also of models that take them, unless by `Trees`: a client encrypts a number for each."""
    private = PrivateClassifier(stumps(library, "Classifier"))
    holes = np.where(np.arange(4) == 1, np.nan, X)
    private.fit(holes, LABELS[2])
    for options in (Scores(bins="thresholds"), Scores(refit="additive"), Classes()):
        with pytest.raises(
            ValueError, match=r"NaN: no feature may be missing.*SimpleImputer.*Trees"
        ):
            private.plan(holes, options)
    model = made(library, "Classifier").fit(np.where(X > 2, np.nan, X), LABELS[2])
    found, rows = fitted.described(model), X[(X <= 2).all(axis=1)]
    apart = np.abs(found.scores(rows) - fitted.raw_scores(model, rows)).max()
    assert apart <= verifying.tolerance(library, found, rows)
    private = PrivateClassifier.from_fitted(model)
    private.plan(rows, Classes(min_agreement=0.5))
    with pytest.raises(ValueError, match="no feature may be missing"):
        private.predict(holes, fhe="simulate")


@pytest.mark.parametrize("library", LIBRARIES)
def test_refusals_name_what_takes_the_model(library: str) -> None:
    with pytest.raises(hesc.ParameterError, match="nearest: PrivateRegressor"):
        PrivateClassifier(made(library, "Regressor")).fit(X, LABELS[2])
    with pytest.raises(hesc.ParameterError, match="nearest: PrivateClassifier"):
        PrivateRegressor(made(library, "Classifier")).fit(X, NUMBER)
    kind = type(made(library, "Classifier"))
    own = type("Mine", (kind,), {"__module__": "mine"})
    with pytest.raises(hesc.ParameterError, match=f"Mine is not .*nearest: {kind.__name__}"):
        PrivateClassifier(own()).fit(X, LABELS[2])


def test_what_is_xgboost_s_own(tmp_path: Path) -> None:
    xgboost = module("xgboost")
    model = made("xgboost", "Classifier").fit(X, LABELS[2])
    with pytest.raises(hesc.ParameterError, match="load_booster"):
        PrivateClassifier.from_fitted(model.get_booster())
    with pytest.raises(hesc.ParameterError, match=r"PrivateClassifier\.from_fitted"):
        load_booster(model)
    for options, words in (
        ({"missing": 0.0}, "missing=nan"),
        ({"objective": lambda y, p: (p - y, np.ones_like(y))}, "objective of its own"),
        ({"objective": "binary:logitraw"}, "binary:logistic"),
        ({"objective": "multi:softprob", "num_class": 2}, "binary:logistic"),
    ):
        refused = PrivateClassifier(made("xgboost", "Classifier", **options)).fit(X, LABELS[2])
        with pytest.raises(hesc.ParameterError, match=words):
            refused.plan(X)
    linear = PrivateClassifier(made("xgboost", "Classifier", booster="gblinear"))
    linear.fit(X, LABELS[2]).plan(X, Scores(max_error=1e-3))
    assert (linear.predict(X, fhe="execute") == linear.predict(X)).mean() > 0.97
    with pytest.raises(hesc.ParameterError, match="bins: for models of trees"):
        linear.plan(X, Scores(bins=8))
    stopped = made("xgboost", "Regressor", n_estimators=60, early_stopping_rounds=2)
    stopped.set_params(learning_rate=0.9)
    stopped.fit(X[:60], NUMBER[:60], eval_set=[(X[60:], NUMBER[60:])], verbose=False)
    trees = fitted.described(stopped).model
    assert isinstance(trees, TreeEnsemble)
    assert len(trees.roots) == stopped.best_iteration + 1 < 60
    for ending in ("json", "ubj"):
        path = tmp_path / f"m.{ending}"
        stopped.save_model(path)
        assert isinstance(load_booster(path, verify=True), PrivateRegressor)
    again = xgboost.XGBRegressor()
    again.load_model(path)
    assert load_booster(path).predict(X) == pytest.approx(again.predict(X), rel=1e-5)
    forest = PrivateClassifier(xgboost.XGBRFClassifier(n_estimators=5, max_depth=1, n_jobs=1))
    plan = forest.fit(X, LABELS[2]).plan(X, Scores(bins="thresholds"))
    assert plan.fidelity is not None
    assert plan.fidelity.agreement == 1


def test_what_is_lightgbm_s_own(tmp_path: Path) -> None:
    model = made("lightgbm", "Classifier").fit(X, np.array(["no", "yes"])[LABELS[2]])
    assert PrivateClassifier.from_fitted(model).classes_.tolist() == ["no", "yes"]
    # A file has no labels.
    path = tmp_path / "m.txt"
    model.booster_.save_model(path)
    private = load_booster(path, verify=True)
    assert isinstance(private, PrivateClassifier)
    assert private.classes_.tolist() == [0, 1]
    assert private.predict_proba(X) == pytest.approx(model.predict_proba(X))
    ranker = module("lightgbm").LGBMRanker()
    with pytest.raises(hesc.ParameterError, match="LGBMRanker is not computed"):
        PrivateRegressor(ranker).fit(X, NUMBER)
    assert np.array_equal(load_booster(model.booster_).predict(X), private.predict(X))


def test_a_file_that_its_library_reads_otherwise_is_not_loaded() -> None:
    """Where the library is installed it is asked."""
    data = fitted.saved(made("lightgbm", "Regressor").fit(X, NUMBER).booster_)
    assert read(data, verify=True).classes is None
    with pytest.MonkeyPatch.context() as patch:
        wrong = fitted.raw_scores_of_saved
        patch.setattr(fitted, "raw_scores_of_saved", lambda *a, **k: wrong(*a, **k) + 1e-3)
        with pytest.raises(hesc.ParameterError, match="lightgbm computes something else"):
            read(data)
        patch.setattr(verifying, "find_spec", lambda _: None)
        assert read(data).classes is None
        with pytest.raises(hesc.ParameterError, match="verify=True needs lightgbm"):
            read(data, verify=True)


def test_estimators_are_cloned_and_pickled() -> None:
    model = stumps("catboost", "Classifier")
    private = clone(PrivateClassifier(model)).fit(X, LABELS[2])
    # CatBoost forgets how many features there were.
    again = PrivateClassifier.from_fitted(private.estimator_)
    assert PrivateClassifier.from_fitted(again.estimator_).n_features_in_ == 4


def test_xgboost_behind_sparse_rows_is_refused() -> None:
    """It takes zeros that sparse rows leave out for missing cells, and a client has none."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    words = rng.choice([f"w{place}" for place in range(12)], (200, 1)).astype(object)
    model = make_pipeline(OneHotEncoder(), xgboost.XGBClassifier(max_depth=1, n_estimators=3))
    made = PrivateClassifier(model).fit(words, rng.integers(0, 2, 200))
    with pytest.raises(hesc.ParameterError, match="sparse_output=False"):
        made.plan(words, Scores(bins="thresholds"))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["category", "object", "string"])
def test_words_that_a_library_encodes_itself_are_refused(library: str, kind: str) -> None:
    """By the column's and the model's name; the cells are not repeated."""
    words = pd.Series(np.array(["clerk", "nurse"])[LABELS[2]])
    table = pd.DataFrame({"age": X[:, 0], "job": words.astype(kind)})
    private = PrivateClassifier(stumps(library, "Classifier"))
    name = type(private.estimator).__name__
    with pytest.raises(hesc.ShapeError, match=f"column 'job' .*{name} .*OneHotEncoder") as refused:
        private.fit(table, LABELS[2])
    assert "nurse" not in str(refused.value)
    encoded = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough"
        ),
        stumps(library, "Classifier"),
    )
    plan = PrivateClassifier(encoded).fit(table, LABELS[2]).plan(table, Scores(bins="thresholds"))
    assert plan.names == ["age", "job"]
    # Numbers of whatever type are numbers.
    private.fit(table[["age"]].astype(object), LABELS[2])


@pytest.mark.parametrize("most", [2, 50], ids=["counts", "one-hot splits"])
def test_categories_of_catboost_are_refused_with_the_reason(most: int, tmp_path: Path) -> None:
    x = pd.DataFrame({"a": X[:, 0], "b": RNG.integers(0, 9, len(X))})
    model = made("catboost", "Classifier", one_hot_max_size=most, cat_features=["b"])
    model.fit(x, (x["b"] % 3 == 0).astype(int))
    model.save_model(str(tmp_path / "m.json"), format="json")
    text = (tmp_path / "m.json").read_text()
    assert ("OneHotFeature" if most > 9 else "OnlineCtr") in text
    for call in (
        lambda: load_booster(tmp_path / "m.json"),
        lambda: PrivateClassifier.from_fitted(model).plan(x),
    ):
        with pytest.raises(
            hesc.ParameterError, match=r"categorical_features.*hashes.*OneHotEncoder"
        ):
            call()
