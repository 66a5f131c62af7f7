"""Classifiers of two classes whose threshold is another one than that of the model inside.

Scores are moved so that the threshold is zero, and say no probabilities then: whoever adds the
threshold again has those of the model inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from hesc._native import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.models.linear.simple import Linear

    Array = NDArray[np.float64]

KINDS: Final = (FixedThresholdClassifier, TunedThresholdClassifierCV)
"""What compares with a threshold."""
_SHARES: Final = "predict_proba"


def moved(final: Any, form: Callable[[Any], Linear]) -> Linear:
    """The linear form of the model inside, less the score at which classes change.

    Raises:
        ParameterError: a threshold of probabilities that are not the sigmoid of one score, or one
            that puts all samples in one class.

    """
    found = form(final.estimator_)
    if not _is_of_shares(final) and not hasattr(final.estimator_, "decision_function"):
        raise ParameterError(
            f"this {type(final).__name__} compares scores, which {type(final.estimator_).__name__} "
            f"does not give: have it compare probabilities by response_method='predict_proba'"
        )
    if _is_of_shares(final) and (found.link == "none" or found.link.startswith("mean_")):
        raise ParameterError(
            f"this {type(final).__name__} compares probabilities that are no sigmoid of one score; "
            f"have it compare scores by response_method='decision_function', or take a "
            f"LogisticRegression inside"
        )
    return found._replace(intercepts=found.intercepts - _turn(final), link="none")


def scores(final: Any, rows: Array, scored: Callable[[Any, Array], Array]) -> Array:
    """The same of rows, by scikit-learn: scores of the model inside, less the threshold."""
    found: Array = scored(final.estimator_, rows) - _turn(final)
    return found


def _is_of_shares(final: Any) -> bool:
    """Whether probabilities are compared; "auto" takes them where there are any."""
    if final.response_method == "auto":
        return hasattr(final.estimator_, _SHARES)
    return bool(final.response_method == _SHARES)


def _turn(final: Any) -> float:
    """The score at which the class changes.

    Raises:
        ParameterError: there is none.

    """
    shares = _is_of_shares(final)
    if isinstance(final, FixedThresholdClassifier):
        threshold, positive = final.threshold, final.pos_label
        if threshold == "auto":
            threshold = 0.5 if shares else 0.0
    else:
        threshold = final.best_threshold_
        positive = final._curve_scorer._get_pos_label()  # noqa: SLF001 - no public name
    # The other class is the positive one: its score is the negative, its share the rest.
    sign = -1.0 if positive is not None and positive == final.classes_[0] else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = sign * float(np.log(threshold) - np.log1p(-threshold) if shares else threshold)
    if not np.isfinite(turn):
        raise ParameterError(
            f"the threshold {threshold:g} of this {type(final).__name__} puts every sample in one "
            f"class: take one between 0 and 1 of probabilities, and a finite one of scores"
        )
    return turn
