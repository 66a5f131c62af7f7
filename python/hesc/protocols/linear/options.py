"""What may be asked of a plan whose client learns scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hesc.models.additive import Binning
    from hesc.protocols.linear.ranges import Ranges


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreOptions:
    """Options of all plans of linear models and of trees in bins whose client learns scores."""

    ranges: Ranges | None = None
    """A pair: the least and the greatest values of what is encrypted, each one number or one for
    each; of features after the client's transforms. Of columns that are encrypted one by one they
    may be a mapping, {"age": (0, 120)}. **They are public**; None takes those of the training
    data. What transforms alone decide, as ones for categories, is within limits anyway."""
    max_error: float | None = None
    """The root mean square of a score's error that is wanted, in units of `decision_function` or
    of a regressor's target. None takes a power of two below a hundredth of the median margin
    between classes over the training data, or of the deviation of a regressor's predictions, of
    several outputs the least."""
    bins: Binning | None = None
    """Bins of models of trees, whose features are encrypted as one-hot **public bins**: how many to
    a feature, 16 by default, of as many rows of the training data each as nearly as may be;
    "thresholds" for those that the model has; or a list of edges for each feature. A threshold
    moves to the nearest edge."""
    refit: Literal["additive"] | None = None
    """What trees that compare several features each become: "additive" computes a sum of functions
    of single features instead, fitted to the model's scores of the training data, of which a
    quarter is kept to measure its fidelity."""
    min_fidelity: float | None = None
    """Models of trees: the least share of rows of the fitted model's class, or of the variance
    of a regressor's predictions, 0.9 by default; less is refused."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores(ScoreOptions):
    """The client learns scores, and the server knows the model."""

    hidden: bool = False
    """Hide the weights from the client, who otherwise reads them from an answer. It takes larger
    rings and works for few answers, since scores give a model away: the plan says how good a copy
    they give."""
    answers: int | None = None
    """How many numbers a hidden model gives in all its life, under all its plans: samples times
    outputs. None takes the most whose best copy, of those that are tried on half of the training
    data, explains less than half of the variance of the scores and has fewer classes alike than
    half way between the most frequent class's share and all; where one sample gives a better one
    `hidden` is refused. At most one less for each output than directions in which features vary,
    which is linear algebra's limit."""
