"""A plan from a model, data that its ranges are taken from, and options."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import ParameterError
from hesc._support.inputs import real_array, whole
from hesc._support.memory import make_room
from hesc.models import extraction, transforms
from hesc.models.conclusions import is_mean
from hesc.models.fidelity import kept, typical_of
from hesc.models.linear import simple
from hesc.models.samples import spread_out
from hesc.models.tables.forms import SampleTable
from hesc.protocols.copies import Copies
from hesc.protocols.linear.features import Features
from hesc.protocols.linear.plan import LinearPlan
from hesc.protocols.linear.ranges import ranges_of
from hesc.ring_products import RingProductPlan
from hesc.ring_products.parts import PLACES, Ring, RingProductParts
from hesc.ring_products.plans import Bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.fidelity import Fidelity
    from hesc.models.linear.simple import Linear
    from hesc.models.tables.forms import Rows
    from hesc.protocols.copies import Copy
    from hesc.protocols.linear.ranges import Ranges

    Array = NDArray[np.float64]


_NONE: Final = (
    ". Cells that are None are another thing than NaN to scikit-learn, and the same to a client: "
    "make them one before the model is fitted, X.fillna(numpy.nan)"
)
_HIDDEN: Final = (
    "hidden weights",
    "the answers of several are decrypted one by one, so that a client would see what each part "
    "of the features adds to a score, as many numbers about the weights as there are parts",
)
"""Why models that hide weights are not split."""
_ENCRYPTED: Final = (
    "encrypted weights",
    "an encrypted model is one ciphertext, whose answers are not added to those of others",
)
"""Why models that are encrypted are not split."""

_TRIED: Final = 4000
"""Rows that plans of hidden weights look at, at least, where there are as many."""
_NUMBERS: Final = 1 << 24
"""Numbers of rows that they look at, at most, where these are more rows than that."""
_DRAWS: Final = 32
"""Draws of errors of each row, where agreement is counted on some."""


def make(
    model: Linear,
    x: Rows,
    clear: Array,
    *,
    names: list[str],
    classes: NDArray[Any] | None,
    max_error: float | None,
    hidden: object,
    answers: int | None,
    ranges: Ranges | None,
    under: str | None = None,
    kind: type[LinearPlan] = LinearPlan,
    fidelity: Fidelity | None = None,
) -> LinearPlan:
    """The plan of a linear form.

    Args:
        model: transforms and weights.
        x: rows of features before the transforms.
        clear: scikit-learn's scores of them, which the linear form has to give too where there is
            no `fidelity`.
        names: of the features, or none.
        classes: of a classifier.
        max_error: the root mean square that is wanted; None for a hundredth of the median margin
            between classes, or of the scores' deviation, or up to two times less.
        hidden: whether weights are hidden from the client.
        answers: numbers that a hidden model gives in all; None for as many as leave copies of it
            bad, see `copies.Copy.is_bounded`.
        ranges: the least and greatest values of features after the transforms, see `ranges_of`.
        under: which of the client's keys weights are encrypted under, "public" or "secret"; None
            for weights that the server has in the clear.
        kind: of the plan, as that says.
        fidelity: how near the linear form comes to the scores, if it does not give them.

    Raises:
        ParameterError: forms that disagree, options that cannot be.
        NoiseBudgetError: no set reaches this error.

    """
    if model.weights.size > PLACES and (hidden is True or under is not None):
        what, why = _HIDDEN if under is None else _ENCRYPTED
        raise ParameterError(
            f"{what} take one ring product, of {PLACES} features times outputs, and these are "
            f"{model.weights.size}: {why}. Select features (SelectKBest, PCA), serve outputs as "
            f"models of their own, or plan Scores(), which splits them and hides nothing"
        )
    features, low, high, error = grounds(
        model,
        x,
        clear,
        names=names,
        ranges=ranges,
        max_error=max_error,
        margins=classes is not None and not is_mean(model.link),
        fidelity=fidelity,
    )
    # Classes of averaged probabilities are not those of the highest scores.
    classifies = classes is not None and not is_mean(model.link)
    answers, copy = _allowed_answers(
        hidden, answers, model, features, inputs=x.shape[1], classifies=classifies
    )
    ring = _ring(model, low, high, error, answers=answers, under=under)
    plan = kind(
        inputs=x.shape[1],
        names=names,
        steps=model.steps,
        ring=ring,
        classes=classes,
        link=model.link,
        calibration=model.calibration,
        fidelity=fidelity,
        copy=copy,
    )
    if classes is None:
        return plan
    rows, places = typical(features, low, high)
    errors = plan.errors_of(model.weights, rows)
    scores = rows @ model.weights.T + model.intercepts
    # A row that was clipped may have another class before any error.
    if is_mean(plan.link):
        return replace(plan, agreement=_drawn(plan, scores, errors, clear[places]))
    return replace(plan, agreement=kept(scores, errors, clear[places]))


def _drawn(plan: LinearPlan, scores: Array, errors: Array, clear: Array) -> float:
    """The share of rows whose class stays the same under errors that are drawn, as runs draw them.

    Args:
        plan: what makes classes of scores.
        scores: a row of outputs for each sample, without errors.
        errors: the deviations of their errors.
        clear: scores of the same samples, not clipped.

    """
    rng = np.random.default_rng(0)
    expected = plan.predictions(plan.scores(clear))
    found = [
        plan.predictions(plan.scores(scores + errors * rng.standard_normal(scores.shape)))
        for _ in range(_DRAWS)
    ]
    return float(np.mean([own == expected for own in found]))


def check_agrees(estimator: Any, form: Linear, rows: Rows, clear: Array) -> None:
    """Refuses an estimator of no class that is listed, whose scores are not those of its weights.

    Args:
        estimator: as it was fitted.
        form: transforms and weights as they were read.
        rows: samples before the transforms.
        clear: scikit-learn's scores of them.

    Raises:
        ParameterError: by how much they differ.

    """
    if extraction.is_listed(estimator):
        return
    features = Features.of(form.steps, rows)
    found = features.reduced(lambda part: part @ form.weights.T + form.intercepts)
    simple.check_agrees(extraction.parts_of(estimator)[-1], found, clear)


class Grounds(NamedTuple):
    """What any plan of a linear form is made of."""

    features: Features
    """Rows after the transforms."""
    low: Array
    """The least value of each that is encrypted."""
    high: Array
    """The greatest."""
    error: float
    """The root mean square of a score's error that is wanted."""


def grounds(
    model: Linear,
    x: Rows,
    clear: Array,
    *,
    names: list[str],
    ranges: Ranges | None,
    max_error: float | None,
    margins: bool,
    fidelity: Fidelity | None,
) -> Grounds:
    """Ranges and error of a plan, and whether the linear form gives the model's scores.

    Args:
        model: transforms and weights.
        x: rows of features before the transforms.
        clear: scores of them.
        names: of the columns of these rows, or none.
        ranges: as `make` takes them.
        max_error: as `make` takes it.
        margins: whether errors are taken from margins between classes.
        fidelity: how near the linear form comes to the scores, if it does not give them.

    Raises:
        ParameterError: forms that disagree, options that cannot be.

    """
    features = Features.of(model.steps, x)
    low, high = ranges_of(
        features,
        ranges,
        steps=model.steps,
        inputs=x.shape[1],
        names=names,
        computed=bool(model.steps),
    )
    if not (low != high).any():
        raise ParameterError(
            "no feature varies in the rows given, so that no ranges follow from them: give the "
            "rows that the model was trained on, or ranges="
        )
    error = _error(clear, max_error, margins=margins)
    _check_cancelling(model, low, high, error)
    found = features.reduced(lambda rows: rows @ model.weights.T + model.intercepts)
    apart = np.abs(found - clear).max()
    if fidelity is None and not apart <= error / 100:
        raise ParameterError(
            f"the model as transforms and weights gives scores that are {apart:.2g} apart from "
            f"scikit-learn's, too much beside an error of {error:.2g}: put a StandardScaler first, "
            f"or take a larger max_error{_NONE if isinstance(x, SampleTable) else ''}"
        )
    return Grounds(features, low, high, error)


def _check_cancelling(model: Linear, low: Array, high: Array, error: float) -> None:
    """Refuses a model whose weights times features cancel beyond what doubles hold.

    What is computed on encrypted features is exact but for the error that a plan states, and what
    scikit-learn and numpy compute is not: a sum of `n` products is off by up to `n` roundings of
    the sum of absolute values (Higham 2002, "Accuracy and Stability of Numerical Algorithms", 3.1).

    Raises:
        ParameterError: that may be beside the error, whichever of both is right.

    """
    largest = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(over="ignore", invalid="ignore"):
        size = (np.abs(model.weights) @ largest + np.abs(model.intercepts)).max()
    lost = (len(largest) + 2) * 2.0**-53 * float(size)
    if not lost <= error / 100:
        raise ParameterError(
            f"weights times features go up to {size:.2g} before they cancel, so that scikit-learn "
            f"itself, in double precision, loses up to {lost:.2g} of a score: too much beside an "
            f"error of {error:.2g}. Centre and scale features (StandardScaler), drop columns that "
            f"are constant or sums of others (VarianceThreshold; of a PCA fewer n_components), or "
            f"take a larger max_error"
        )


def typical(features: Features, low: Array, high: Array) -> tuple[Array, NDArray[np.intp]]:
    """Rows that agreement is predicted of, within their ranges, and their places."""
    places = spread_out(features.shape[0])
    return np.clip(features.at(places), low, high), places


def _allowed_answers(
    hidden: object,
    answers: int | None,
    model: Linear,
    computed: Features,
    *,
    inputs: int,
    classifies: bool,
) -> tuple[int | None, Copy | None]:
    """How many numbers a model gives, if it is hidden, and how good a copy they give.

    At most as many as linear algebra needs more than: a sample's score is one equation for each
    output, and the unknowns are as many as directions in which features vary, constant ones not
    counted, nor an intercept, which may be known.

    Raises:
        ParameterError: more than that, which would give the scores away whatever hides weights; no
            number is asked for, and a copy made from one sample is a good one.

    """
    if not isinstance(hidden, bool):
        raise ParameterError(f"hidden is True or False; got {hidden!r}")
    outputs, features = model.weights.shape
    if not hidden:
        if answers is not None:
            raise ParameterError("answers are counted where weights are hidden: hidden=True")
        return None, None
    rows = computed.at(_some(computed.shape))
    directions = directions_of(rows)
    # Further components of a linear kernel are roundings, which vary in any number of directions.
    kernels = (step for step in model.steps if isinstance(step, transforms.Kernel))
    if any(step.kernel == "linear" for step in kernels):
        directions = min(directions, inputs)
    most: int = outputs * (directions - 1)
    if most < 1:
        raise ParameterError(
            "hidden=True hides nothing of features that vary in one direction: one score gives "
            "them away; write hidden=False"
        )
    if answers is not None and whole(answers, "answers", 1) > most:
        raise ParameterError(
            f"hidden=True with {answers} answers is refused: features vary in {directions} "
            f"directions, and as many samples with their {outputs} scores give the model to a "
            f"linear solver, or {features + 1} at most, whatever encrypts them. Up to {most} "
            f"numbers are fewer, over everyone who may put answers together; otherwise write "
            f"hidden=False, which is what they would learn"
        )
    copies = Copies(model.weights, model.intercepts, rows, classifies=classifies)
    if answers is not None:
        return answers, copies.best(max(1, answers // outputs))
    copy = copies.most(most // outputs)
    if copy is None:
        raise ParameterError(
            f"hidden=True hides too little of this model: {copies.best(1)}. Write hidden=False, "
            f"and give answers to whom the model may be known; or say how many by answers=, and "
            f"read in the plan what they give away"
        )
    return outputs * copy.samples, copy


def _some(shape: tuple[int, int]) -> NDArray[np.intp]:
    """Places of the rows that copies are tried on, and whose directions are counted: few enough.

    Rows that are left out could only vary in more directions.
    """
    rows, features = shape
    most = max(_TRIED, _NUMBERS // features)
    make_room(3 * 8 * min(rows, most) * features, f"hidden weights of {features} features")
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).permutation(rows)[:most])


def directions_of(rows: Array) -> int:
    """In how many directions rows vary: the rank of what is left without their mean."""
    apart = rows - rows.mean(axis=0)
    deviations = apart.std(axis=0)
    return int(np.linalg.matrix_rank(apart / np.where(deviations > 0, deviations, 1)))


def _error(clear: Array, max_error: float | None, *, margins: bool) -> float:
    if max_error is not None:
        error = real_array(max_error, "max_error")
        if error.shape or isinstance(max_error, bool) or not 0 < error < np.inf:
            raise ParameterError("max_error is a number above zero, in units of the scores")
        return float(error)
    beside = typical_of(clear, margins=margins)
    # A power of two, so that it says little of the data.
    return float(2.0 ** np.floor(np.log2(beside / 100)))


def _ring(
    model: Linear, low: Array, high: Array, error: float, *, answers: int | None, under: str | None
) -> Ring:
    """Sizes and scales, from the weights themselves where the client may know them."""
    weights, intercepts, shape = model.weights, model.intercepts, model.weights.shape
    if answers is None and under is None and weights.size > PLACES:
        return RingProductParts.of_model(weights, intercepts, low=low, high=high, error=error)
    if answers is None and under is None:
        return RingProductPlan.of_model(weights, intercepts, low=low, high=high, error=error)
    bounds = Bounds.of_model(weights, intercepts, low=low, high=high)._asdict()
    if answers is not None:
        return RingProductPlan.hiding(
            shape, low=low, high=high, error=error, answers=answers, **bounds
        )
    return RingProductPlan.encrypted(
        shape, low=low, high=high, error=error, under=str(under), **bounds
    )
