"""The operators of `ai.onnx.ml` that end a model, as onnxruntime has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support.documents import is_name
from hesc.models.layers import DenseNetwork
from hesc.models.onnx.ensembles import ensemble
from hesc.models.onnx.values import CLASSES, Chain, Scored, layered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Options = dict[str, Any]


def linear_classifier(chain: Chain, options: Options) -> Scored:
    """Scores and labels of a LinearClassifier.

    Of two classes whose scores are each other's negatives there is one score.
    """
    labels = named_labels(options, "ints")
    rows, added = _coefficients(options, chain.width)
    link = _link(options)
    if len(rows) not in {1, len(labels)} or (len(rows) == 1 and len(labels) != 2):
        raise WireError("a LinearClassifier has a row of weights for each of its classes")
    opposite = len(rows) == 2 and np.array_equal(rows[0], -rows[1]) and added[0] == -added[1]
    # A softmax of both is a sigmoid of their difference, not of one.
    if opposite and link != "softmax":
        rows, added = rows[1:], added[1:]
    if len(rows) == 1:
        link = _of_one(link)
    return Scored(chain.steps, DenseNetwork(layered(chain, rows, added).layers), link, labels)


def linear_regressor(chain: Chain, options: Options) -> Chain:
    """The layer that a LinearRegressor is."""
    if _link(options) != "none":
        raise ParameterError("LinearRegressor with a post_transform; leave it off")
    return layered(chain, *_coefficients(options, chain.width))


def tree_regressor(chain: Chain, options: Options) -> Scored:
    """Scores of a TreeEnsembleRegressor."""
    count = options.get("n_targets", 1)
    if _link(options) != "none" or type(count) is not int or not 0 < count <= CLASSES:
        raise ParameterError(
            f"TreeEnsembleRegressor has from 1 to {CLASSES} targets, and no post_transform"
        )
    width = _features(chain)
    model = ensemble(options, "target", width, outputs=count, single=chain.single)
    return Scored(chain.steps, model, "none")


def tree_classifier(chain: Chain, options: Options) -> Scored:
    """Scores and labels of a TreeEnsembleClassifier.

    Two classes have one output where only one is named. The second is predicted above zero, or
    above a half where no value is negative: that is onnxruntime's rule.
    """
    width, labels, link = _features(chain), named_labels(options, "int64s"), _link(options)
    named = options.get("class_ids")
    if len(labels) > 2 or not isinstance(named, np.ndarray):
        outputs = len(labels)
        model = ensemble(options, "class", width, outputs=outputs, single=chain.single)
        return Scored(chain.steps, model, link, labels)
    of = np.unique(named).tolist()
    based = link != "none" or np.any(options.get("base_values", 0))
    if of not in ([0], [1]) or (of == [1] and based):
        raise ParameterError(
            "trees of two classes have the second one's score alone, under the number 0, as "
            "skl2onnx writes them; runtimes do not agree about others. Models of CatBoost "
            "and LightGBM themselves are read by hesc.ml.load_booster"
        )
    model = ensemble(
        options | {"class_ids": np.zeros_like(named)},
        "class",
        width,
        outputs=1,
        single=chain.single,
    )
    if (model.values >= 0).all():
        if link != "none":
            raise ParameterError("trees of positive values with a post_transform are not read")
        return Scored(chain.steps, replace(model, offset=model.offset - 0.5), link, labels)
    return Scored(chain.steps, model, _of_one(link), labels)


def labels_of(found: list[Any]) -> tuple[Any, ...]:
    """Labels of classes.

    Raises:
        WireError: fewer than two or too many, one twice, names that are too long.

    """
    if not 2 <= len(found) <= CLASSES or len(set(found)) != len(found):
        raise WireError(f"a classifier has from 2 to {CLASSES} classes, each another")
    if any(isinstance(text, str) and not is_name(text) for text in found):
        raise WireError("a class of an ONNX file has a name that is too long")
    return tuple(found)


def _features(chain: Chain) -> int:
    if chain.layers:
        raise ParameterError("trees behind a matrix or a layer are not computed here")
    return chain.width


def _of_one(link: str) -> str:
    """The link of a single score: nothing but a sigmoid makes probabilities of one."""
    return "sigmoid" if link == "one_against_rest" else "none"


def _coefficients(
    options: dict[str, Any], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found, added = options.get("coefficients"), options.get("intercepts")
    if not isinstance(found, np.ndarray) or found.dtype != np.float64 or len(found) % width:
        raise WireError(f"a linear model has rows of {width} coefficients")
    rows = found.reshape(-1, width)
    added = np.zeros(len(rows)) if added is None else added
    if not isinstance(added, np.ndarray) or added.dtype != np.float64 or len(added) != len(rows):
        raise WireError("a linear model has an intercept for each row of coefficients")
    if not len(rows) or not (np.isfinite(rows).all() and np.isfinite(added).all()):
        raise OutOfRangeError("coefficients of this ONNX file are not finite numbers")
    return rows, added


def _link(options: dict[str, Any]) -> str:
    links = {"NONE": "none", "LOGISTIC": "one_against_rest", "SOFTMAX": "softmax"}
    found = options.get("post_transform", "NONE")
    if not isinstance(found, str) or found not in links:
        raise ParameterError(f"post_transform is one of {', '.join(links)} here")
    return links[found]


def named_labels(options: dict[str, Any], kind: str) -> tuple[Any, ...]:
    """Labels among attributes: whole numbers of this kind of list, or texts.

    Raises:
        WireError: there are none.

    """
    numbers, texts = options.get(f"classlabels_{kind}"), options.get("classlabels_strings")
    if isinstance(numbers, np.ndarray) and numbers.dtype == np.int64 and len(numbers):
        return labels_of(numbers.tolist())
    if not isinstance(texts, list):
        raise WireError("a classifier of an ONNX file names its classes")
    return labels_of(texts)
