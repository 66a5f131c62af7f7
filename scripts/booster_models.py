"""Writes vectors/boosters.json: saved models of XGBoost, LightGBM and CatBoost with their scores.

Readers of `hesc.models.boosters` are held to them where the libraries are not installed. Each case
has the file as its library wrote it, rows of which most have a feature at a threshold or beside it,
and the library's own raw scores of these; or the words of a refusal. Needs xgboost, lightgbm and
catboost. Run: python -m scripts.booster_models
"""

from __future__ import annotations

import base64
import json
import warnings
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost

from hesc.models.boosters import fitted, saved_models, verifying
from hesc.models.conclusions import INVERSES

LIBRARIES: Final = (xgboost, lightgbm, catboost)
TARGET: Final = Path(__file__).parents[1] / "vectors" / "boosters.json"
RNG: Final = np.random.default_rng(43)
X: Final = RNG.normal(size=(120, 4)).round(2)
NUMBER: Final = X @ [1.0, -2.0, 0.5, 0.0] + np.sin(3 * X[:, 0]) + 4
THREE: Final = np.digitize(NUMBER, [3.0, 5.0])
TWO: Final = (NUMBER > 4).astype(int)
POSITIVE: Final = np.exp(NUMBER / 4)
PAIR: Final = np.column_stack([NUMBER, -NUMBER])
TABLE: Final = pd.DataFrame(X, columns=["age", "debt", "income", "years"])
KINDS: Final = pd.DataFrame({"a": X[:, 0], "k": pd.Categorical(np.arange(len(X)) % 3)})
HOLES: Final = np.where(X > 1, np.nan, X)
CODES: Final = np.column_stack([HOLES[:, 0], np.digitize(X[:, 1:3], np.linspace(-1, 1, 7))])
GROUPS: Final = [len(X)]
ROWS: Final = 40


def _xgb(name: str, x: Any, y: Any, **options: Any) -> Any:
    sizes = {"n_estimators": 4, "max_depth": 3, "random_state": 1}
    return getattr(xgboost, name)(**(sizes | options)).fit(x, y)


def _lgb(name: str, x: Any, y: Any, **options: Any) -> Any:
    sizes = {"n_estimators": 4, "num_leaves": 5, "min_child_samples": 5, "verbose": -1}
    fit = {"group": GROUPS} if name == "LGBMRanker" else {}
    fit |= {"categorical_feature": [1, 2]} if x is CODES else {}
    return getattr(lightgbm, name)(**(sizes | options)).fit(x, y, **fit)


def _cat(name: str, x: Any, y: Any, **options: Any) -> Any:
    sizes = {"iterations": 4, "depth": 3, "verbose": 0, "allow_writing_files": False}
    sizes |= {"border_count": 32, "random_seed": 1}
    return getattr(catboost, name)(**(sizes | options)).fit(x, y)


def _stopped() -> Any:
    model = xgboost.XGBRegressor(
        n_estimators=60, max_depth=3, learning_rate=0.9, early_stopping_rounds=2
    )
    return model.fit(X[:60], NUMBER[:60], eval_set=[(X[60:], NUMBER[60:])], verbose=False)


def _bare() -> Any:
    options = {"objective": "multi:softmax", "num_class": 3, "max_depth": 2}
    return xgboost.train(options, xgboost.DMatrix(X, THREE), 3)


def _own(y: Any, p: Any) -> Any:
    return p - y, np.ones_like(y)


def taken() -> dict[str, Any]:
    """Models that are read."""
    forest = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    return {
        "xgboost two classes": _xgb("XGBClassifier", X, TWO),
        "xgboost three classes": _xgb("XGBClassifier", X, THREE, max_depth=2),
        "xgboost softmax of two": _xgb(
            "XGBClassifier", X, TWO, objective="multi:softprob", num_class=2
        ),
        "xgboost hinge": _xgb("XGBClassifier", X, TWO, objective="binary:hinge"),
        "xgboost numbers with names": _xgb("XGBRegressor", TABLE, NUMBER),
        "xgboost base score": _xgb("XGBClassifier", X, TWO, base_score=0.3),
        "xgboost absolute error": _xgb("XGBRegressor", X, NUMBER, objective="reg:absoluteerror"),
        "xgboost two targets": _xgb("XGBRegressor", X, PAIR, max_depth=2),
        "xgboost dart": _xgb("XGBClassifier", X, THREE, booster="dart", rate_drop=0.7),
        "xgboost linear classes": _xgb(
            "XGBClassifier", X, THREE, booster="gblinear", base_score=0.0
        ),
        "xgboost linear numbers": _xgb("XGBRegressor", X, NUMBER, booster="gblinear"),
        "xgboost forest": _xgb("XGBRFClassifier", X, TWO),
        "xgboost pruned": _xgb("XGBRegressor", X, NUMBER, tree_method="exact", gamma=20.0),
        "xgboost stopped early": _stopped(),
        "xgboost bare": _bare(),
        "lightgbm two classes": _lgb("LGBMClassifier", X, TWO),
        "lightgbm three classes": _lgb("LGBMClassifier", X, THREE),
        "lightgbm one against all": _lgb("LGBMClassifier", X, THREE, objective="multiclassova"),
        "lightgbm numbers with names": _lgb("LGBMRegressor", TABLE, NUMBER),
        "lightgbm forest": _lgb("LGBMClassifier", X, THREE, **forest),
        "lightgbm dart": _lgb("LGBMRegressor", X, NUMBER, boosting_type="dart", drop_rate=0.7),
        "lightgbm quantile": _lgb("LGBMRegressor", X, NUMBER, objective="quantile"),
        "lightgbm one leaf": _lgb("LGBMRegressor", X, NUMBER, min_child_samples=100),
        "lightgbm zeros": _lgb("LGBMRegressor", X.round(), NUMBER),
        "catboost two classes": _cat("CatBoostClassifier", X, TWO),
        "catboost texts": _cat("CatBoostClassifier", X, np.array(["lo", "mid", "hi"])[THREE]),
        "catboost truth values": _cat("CatBoostClassifier", X, TWO > 0),
        "catboost one against all": _cat(
            "CatBoostClassifier", X, THREE, loss_function="MultiClassOneVsAll"
        ),
        "catboost numbers with names": _cat("CatBoostRegressor", TABLE, NUMBER),
        "catboost two targets": _cat("CatBoostRegressor", X, PAIR, loss_function="MultiRMSE"),
        "catboost lossguide": _cat("CatBoostRegressor", X, NUMBER, grow_policy="Lossguide"),
        "catboost depthwise": _cat("CatBoostClassifier", X, THREE, grow_policy="Depthwise"),
        "xgboost poisson": _xgb("XGBRegressor", X, POSITIVE, objective="count:poisson"),
        "xgboost gamma": _xgb("XGBRegressor", X, POSITIVE, objective="reg:gamma"),
        "xgboost tweedie": _xgb("XGBRegressor", X, POSITIVE, objective="reg:tweedie"),
        "xgboost logistic": _xgb("XGBRegressor", X, TWO, objective="reg:logistic"),
        "lightgbm poisson": _lgb("LGBMRegressor", X, POSITIVE, objective="poisson"),
        "lightgbm gamma": _lgb("LGBMRegressor", X, POSITIVE, objective="gamma"),
        "lightgbm tweedie": _lgb("LGBMRegressor", X, POSITIVE, objective="tweedie"),
        "lightgbm entropy": _lgb("LGBMRegressor", X, TWO, objective="cross_entropy"),
        "catboost poisson": _cat("CatBoostRegressor", X, POSITIVE, loss_function="Poisson"),
        "catboost tweedie": _cat(
            "CatBoostRegressor", X, POSITIVE, loss_function="Tweedie:variance_power=1.5"
        ),
        "xgboost missing": _xgb("XGBClassifier", HOLES, TWO),
        "xgboost categories": _xgb("XGBRegressor", CODES, NUMBER, **_OF_CODES),
        "xgboost categories one by one": _xgb(
            "XGBClassifier", CODES, THREE, max_cat_to_onehot=100, **_OF_CODES
        ),
        "lightgbm missing": _lgb("LGBMClassifier", HOLES, THREE),
        "lightgbm missing counts as zero": _lgb("LGBMRegressor", HOLES, NUMBER, use_missing=False),
        "lightgbm categories": _lgb("LGBMRegressor", CODES, NUMBER, min_data_per_group=5),
        "catboost missing": _cat("CatBoostRegressor", HOLES, NUMBER),
        "catboost missing is greatest": _cat("CatBoostRegressor", HOLES, NUMBER, nan_mode="Max"),
    }


_OF_CODES: Final[dict[str, Any]] = {
    "enable_categorical": True,
    "feature_types": ["q", "c", "c"],
}
"""Options of XGBoost for `CODES`."""


def refused() -> dict[str, tuple[Any, str]]:
    """Models that are refused, and words of why."""
    threshold = _cat("CatBoostClassifier", X, TWO)
    threshold.set_probability_threshold(0.3)
    one = {"n_estimators": 1}
    few: dict[str, Any] = {"iterations": 1}
    texts = KINDS.assign(k=KINDS["k"].astype(str))
    return {
        "xgboost logitraw": (
            _xgb("XGBClassifier", X, TWO, objective="binary:logitraw", **one),
            "binary:logistic",
        ),
        "xgboost survival": (
            _xgb("XGBRegressor", X, POSITIVE, objective="survival:cox", **one),
            "survival",
        ),
        "xgboost vector leaves": (
            _xgb("XGBRegressor", X, PAIR, multi_strategy="multi_output_tree", **one),
            "one_output_per_tree",
        ),
        "xgboost labels": (
            _xgb("XGBClassifier", X, np.column_stack([TWO, 1 - TWO]), **one),
            "several labels",
        ),
        "xgboost linear classes from their shares": (
            _xgb("XGBClassifier", X, THREE, booster="gblinear"),
            "base_score=0",
        ),
        "lightgbm ranking": (_lgb("LGBMRanker", X, THREE, **one), "ranking"),
        "lightgbm linear leaves": (
            _lgb("LGBMRegressor", X, NUMBER, linear_tree=True, **one),
            "linear_tree=False",
        ),
        "lightgbm root": (_lgb("LGBMRegressor", X, NUMBER, reg_sqrt=True, **one), "root"),
        "lightgbm slope": (_lgb("LGBMClassifier", X, TWO, sigmoid=0.7, **one), "sigmoid=1"),
        "lightgbm own objective": (
            _lgb("LGBMClassifier", X, TWO, objective=_own, **one),
            "objective of its own",
        ),
        "lightgbm zeros are missing": (
            _lgb("LGBMRegressor", X.round(), NUMBER**2, zero_as_missing=True, n_estimators=9),
            "zero_as_missing=False",
        ),
        "catboost variance": (
            _cat("CatBoostRegressor", X, NUMBER, loss_function="RMSEWithUncertainty", **few),
            "variance",
        ),
        "catboost labels": (
            _cat(
                "CatBoostClassifier",
                X,
                np.column_stack([TWO, 1 - TWO]),
                loss_function="MultiLogloss",
                **few,
            ),
            "several labels",
        ),
        "catboost threshold": (threshold, "set_probability_threshold"),
        "catboost categories": (
            _cat("CatBoostRegressor", texts, NUMBER, cat_features=["k"], **few),
            "cat_features",
        ),
    }


def saved(name: str, model: Any) -> bytes:
    """A file as its library writes it; XGBoost's scikit-learn interface notes that it was there."""
    library = name.split(maxsplit=1)[0]
    if library == "lightgbm":
        return fitted.saved(model.booster_)
    if library == "catboost":
        return fitted.saved(model)
    with TemporaryDirectory() as folder:
        # One format after the other.
        path = Path(folder) / ("m.json" if len(name) % 2 else "m.ubj")
        model.save_model(path)
        return path.read_bytes()


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _numbers(array: Any) -> dict[str, Any]:
    found = np.ascontiguousarray(array, dtype="<f8")
    return {"shape": list(found.shape), "f8": _packed(found.tobytes())}


def case(name: str, model: Any) -> dict[str, Any]:
    """A file, rows, its library's scores of them, and what it concludes from these."""
    data = saved(name, model)
    found = saved_models.read(data)
    places = RNG.permutation(200)[:ROWS]
    close = verifying.rows_at_thresholds(found.model)[places]
    if "missing" in name or "categories" in name:
        close = np.concatenate([close, verifying.with_missing(close)])
    rows = np.concatenate([close, X[:8, : found.model.inputs]])
    classes = found.model.classes
    scores = fitted.raw_scores_of_saved(data, found.library, rows, classes=classes is not None)
    made: dict[str, Any] = {"file": _packed(data), "rows": _numbers(rows)}
    made["scores"] = _numbers(scores)
    made["classes"] = None if classes is None else classes.tolist()
    # A booster has no classes, and XGBoost's interface takes a softmax of two for several labels.
    if classes is not None and name not in {"xgboost bare", "xgboost softmax of two"}:
        made["probabilities"] = _numbers(model.predict_proba(rows))
        made["predictions"] = np.asarray(model.predict(rows)).reshape(-1).tolist()
    if found.model.link in INVERSES:
        made["numbers"] = _numbers(np.asarray(model.predict(rows)).reshape(-1))
    return made


def main() -> None:
    """Writes the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = {
            "versions": {kind.__name__: kind.__version__ for kind in LIBRARIES},
            "taken": {name: case(name, model) for name, model in taken().items()},
            "refused": {
                name: {"file": _packed(saved(name, model)), "words": words}
                for name, (model, words) in refused().items()
            },
        }
    TARGET.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
