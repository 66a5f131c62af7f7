"""Fitted models of XGBoost, LightGBM and CatBoost: known by their names, read by what they save.

None of the libraries is imported here: whoever has a model of one has imported it.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError
from hesc.models.boosters import saved_models

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.described import Described
    from hesc.models.trees import TreeEnsemble

    Array = NDArray[np.float64]

CLASSIFIERS: Final = ("XGBClassifier", "XGBRFClassifier", "LGBMClassifier", "CatBoostClassifier")
"""Classifiers by the names of their classes, which are exact."""
REGRESSORS: Final = ("XGBRegressor", "XGBRFRegressor", "LGBMRegressor", "CatBoostRegressor")
"""Regressors by the names of their classes."""
_LIBRARIES: Final = ("xgboost", "lightgbm", "catboost")
_HALF: Final = 2.0**-24
"""The rounding of a float32, relative."""


def library_of(model: Any) -> str | None:
    """The one of the three libraries that a model or a booster is of, or None."""
    module = type(model).__module__.partition(".")[0]
    return module if module in _LIBRARIES else None


def is_classifier(model: Any) -> bool:
    """Whether a model is one of `CLASSIFIERS`."""
    return library_of(model) is not None and type(model).__name__ in CLASSIFIERS


def is_regressor(model: Any) -> bool:
    """Whether a model is one of `REGRESSORS`."""
    return library_of(model) is not None and type(model).__name__ in REGRESSORS


def is_boosted(model: Any) -> bool:
    """Whether a model is one of these libraries' classifiers and regressors."""
    return is_classifier(model) or is_regressor(model)


def features_of(model: Any) -> int:
    """Features of a sample that a model was fitted on."""
    # CatBoost forgets its number in a copy and in a pickle.
    catboost = library_of(model) == "catboost"
    return len(model.feature_names_) if catboost else int(model.n_features_in_)


def names_of(model: Any) -> NDArray[Any] | None:
    """Names of the features that a model was fitted on, or None where there were none."""
    if library_of(model) != "catboost":
        return getattr(model, "feature_names_in_", None)
    names = list(model.feature_names_)
    # What CatBoost makes up where there are none.
    return None if names == [str(i) for i in range(len(names))] else np.array(names, dtype=object)


def forget_names(model: Any) -> None:
    """Has a fitted model take arrays without a warning, since names were checked before."""
    model.__dict__.pop("feature_names_in_", None)
    if library_of(model) == "lightgbm":
        model.__dict__["_fitted_with_feature_names"] = False


def base_of(model: Any, names: tuple[str, ...]) -> str | None:
    """The first of these names that is of a class which a library's model is a subclass of."""
    bases = [
        kind for kind in type(model).__mro__ if kind.__module__.partition(".")[0] in _LIBRARIES
    ]
    return next((kind.__name__ for kind in bases if kind.__name__ in names), None)


def described(model: Any) -> Described:
    """What a fitted classifier or regressor computes.

    Raises:
        ParameterError: what is not computed here, by name, with what would do.

    """
    found = _described(*_saved(model))
    if found.classes is not None or not is_classifier(model):
        return found
    if found.link != "expit":
        raise ParameterError(
            f"this {type(model).__name__} has the objective of a regressor, and what its classes "
            f"are of its scores is not known; fit it without objective="
        )
    # Shares of the second class: logistic probabilities by another name.
    return found._replace(classes=np.arange(2), link="sigmoid")


@lru_cache(maxsize=2)
def _described(data: bytes, rounds: int | None) -> Described:
    """The last ones again: a plan asks whether its model is still the same at every use."""
    return saved_models.read(data, rounds=rounds).model


def saved(booster: Any) -> bytes:
    """What a booster of XGBoost or LightGBM, or a model of CatBoost, saves.

    Raises:
        ParameterError: another object.

    """
    library, name = library_of(booster), type(booster).__name__
    if library == "xgboost" and name == "Booster":
        return bytes(booster.save_raw("ubj"))
    if library == "lightgbm" and name == "Booster":
        text: str = booster.model_to_string()
        return text.encode()
    if library == "catboost":
        # It writes to paths alone.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            booster.save_model(str(path), format="json")
            return path.read_bytes()
    if is_boosted(booster):
        raise ParameterError(
            f"{name} is a fitted estimator: give it to PrivateClassifier.from_fitted or "
            f"PrivateRegressor.from_fitted, which keep its classes and best iteration"
        )
    return saved_models.bytes_of(booster)


def _saved(model: Any) -> tuple[bytes, int | None]:
    """What a fitted model saves, and how many rounds of it count."""
    library = library_of(model)
    if library == "xgboost":
        if callable(model.objective):
            raise ParameterError(
                "this model of XGBoost has an objective of its own, and what predictions are of "
                "its scores is not known; fit it with one of XGBoost's"
            )
        softmax = str(model.objective).startswith("multi:")
        if softmax and is_classifier(model) and model.n_classes_ == 2:
            raise ParameterError(
                "XGBoost's classifier takes a softmax of two classes for several labels to a "
                "sample; fit it with objective='binary:logistic'"
            )
        if not _is_nan(model.missing):
            raise ParameterError(
                f"this model of XGBoost takes {model.missing!r} for missing, and sends it another "
                f"way than by comparison; fit it with missing=nan"
            )
        return saved(model.get_booster()), _best(model)
    return saved(model.booster_ if library == "lightgbm" else model), None


def _is_nan(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _best(model: Any) -> int | None:
    """Rounds of a model of XGBoost that was stopped early."""
    try:
        return int(model.best_iteration) + 1
    except AttributeError:
        return None


def raw_scores(model: Any, rows: Array) -> Array:
    """Scores of a fitted model by its own library, a row for each sample.

    Of two classes there is one score, above zero where the second one is predicted.
    """
    library = library_of(model)
    if library == "xgboost":
        rounds = _best(model) or 0
        found = _of_xgboost(model.get_booster(), rows, rounds)
    elif library == "lightgbm":
        found = _of_lightgbm(model.booster_, rows)
    else:
        found = model.predict(rows, prediction_type="RawFormulaVal")
    return _rows_of(found, len(rows), classes=is_classifier(model))


def raw_scores_of_saved(data: bytes, library: str, rows: Array, *, classes: bool) -> Array:
    """Scores of a saved model by its own library, which is imported here.

    Args:
        data: of the file.
        library: that wrote it.
        rows: samples.
        classes: whether it is a classifier.

    Raises:
        ImportError: the library is not installed.
        Exception: the library's own errors.

    """
    if library == "xgboost":
        import xgboost

        booster = xgboost.Booster()
        booster.load_model(bytearray(data))
        best = booster.attr("best_iteration") if booster.attr("scikit_learn") else None
        found = _of_xgboost(booster, rows, int(best) + 1 if best else 0)
    elif library == "lightgbm":
        import lightgbm

        found = _of_lightgbm(lightgbm.Booster(model_str=data.decode()), rows)
    else:
        import catboost

        # It reads JSON from paths alone.
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / "model.json"
            part.write_bytes(data)
            loaded = catboost.CatBoost().load_model(str(part), format="json")
        found = loaded.predict(rows, prediction_type="RawFormulaVal")
    return _rows_of(found, len(rows), classes=classes)


def _of_xgboost(booster: Any, rows: Array, rounds: int) -> Any:
    import xgboost

    return booster.predict(
        xgboost.DMatrix(rows),
        output_margin=True,
        iteration_range=(0, rounds),
        validate_features=False,
    )


def _of_lightgbm(booster: Any, rows: Array) -> Any:
    found = booster.predict(rows, raw_score=True)
    # Of forests it has sums where predictions have means.
    if "\naverage_output\n" in booster.model_to_string(num_iteration=1):
        best = booster.best_iteration
        return found / (best if best > 0 else booster.current_iteration())
    return found


def _rows_of(found: Any, count: int, *, classes: bool) -> Array:
    scores = np.asarray(found, dtype=np.float64).reshape(count, -1)
    two = classes and scores.shape[1] == 2
    return scores[:, 1:] - scores[:, :1] if two else scores


def doubt(library: str | None, trees: TreeEnsemble) -> float:
    """What the library's scores may differ by from sums of the same leaves in double precision.

    XGBoost adds in float32: each sum is rounded by `2^-24` of itself, and of two classes the
    difference is of two such sums.
    """
    if library != "xgboost":
        return 0.0
    ends = np.append(trees.roots[1:], len(trees.features))
    largest = sum(
        np.abs(trees.values[first:end]).max() for first, end in zip(trees.roots, ends, strict=True)
    )
    whole = float(largest) + float(np.abs(trees.offset).max())
    return 4 * (len(trees.roots) + 2) * _HALF * whole
