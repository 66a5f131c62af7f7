"""Networks that fitted scikit-learn estimators are: transforms, layers, classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor

from hesc._native import ParameterError
from hesc.models.described import Described
from hesc.models.extraction import features_of, parts_of
from hesc.models.given import GivenClassifier, GivenRegressor
from hesc.models.layers import DenseNetwork, Layer
from hesc.models.refusals import check_transforms
from hesc.models.steps import transforms_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLASSIFIERS: Final = (MLPClassifier,)
REGRESSORS: Final = (MLPRegressor,)
_GIVEN: Final[dict[tuple[type, ...], type]] = {
    CLASSIFIERS: GivenClassifier,
    REGRESSORS: GivenRegressor,
}


def check(estimator: Any, finals: tuple[type, ...]) -> None:
    """Refuses an estimator that is no network, or comes behind what a client does not compute.

    Raises:
        ParameterError: with its name, and the nearest thing that works.

    """
    *before, final = parts_of(estimator) or [None]
    if type(final) not in (*finals, _GIVEN[finals]):
        raise ParameterError(
            f"{type(final).__name__} is not a network of hidden layers: "
            f"{finals[0].__name__} is, by exact class, and networks of ONNX files; linear models "
            f"are for PrivateClassifier and PrivateRegressor"
        )
    model = final.described.model if isinstance(final, GivenClassifier | GivenRegressor) else None
    if model is not None and not (isinstance(model, DenseNetwork) and not model.is_linear):
        raise ParameterError(
            "this model from a file has no hidden layers with activations: PrivateClassifier and "
            "PrivateRegressor take linear ones and trees"
        )
    check_transforms(before)


def described(estimator: Any, *, names: list[str]) -> Described:
    """Transforms and layers of a fitted estimator, with trailing scalers in the first layer.

    Raises:
        ParameterError: several labels to a sample, or an output that is no score.

    """
    *before, final = parts_of(estimator)
    steps = [step for part in before for step in transforms_of(part)]
    inputs = features_of(estimator)
    if isinstance(final, GivenClassifier | GivenRegressor):
        given = final.described
        return given._replace(inputs=inputs, names=names, steps=[*steps, *given.steps]).folded()
    links = {"softmax": "softmax", "logistic": "sigmoid", "identity": "none"}
    classifier = isinstance(final, MLPClassifier)
    several = classifier and np.ndim(final.classes_[0]) > 0
    labels = getattr(getattr(final, "_label_binarizer", None), "y_type_", "")
    if final.out_activation_ not in links or several or labels.startswith("multilabel"):
        raise ParameterError(
            "this network gives no scores of classes or targets: fit one label to a sample, and "
            "a regressor with loss='squared_error'"
        )
    kinds = [final.activation] * (len(final.coefs_) - 1) + ["identity"]
    layers = (
        Layer(_doubles(weights.T), _doubles(intercepts), kind)
        for weights, intercepts, kind in zip(final.coefs_, final.intercepts_, kinds, strict=True)
    )
    classes = np.array(final.classes_) if classifier else None
    link = links[final.out_activation_]
    return Described(inputs, names, steps, DenseNetwork(tuple(layers)), classes, link).folded()


def _doubles(numbers: Any) -> NDArray[np.float64]:
    return np.array(numbers, dtype=np.float64)
