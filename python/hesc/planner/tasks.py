"""What is to be computed, for whom, how exactly, and what is to be least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import Final

import numpy as np

from hesc._native import ParameterError
from hesc._support.inputs import one_name, whole
from hesc.planner.problems import (
    ClassProblem,
    DistanceProblem,
    PredictionProblem,
    Problem,
    ProductProblem,
    ScoreProblem,
)
from hesc.planner.roles import DISCLOSURES, SETTINGS

__all__ = [
    "OBJECTIVES",
    "ClassProblem",
    "DistanceProblem",
    "Problem",
    "ProductProblem",
    "ScoreProblem",
    "Task",
]

OBJECTIVES: Final = {
    "latency": "seconds of all samples, computing and transfer",
    "throughput": "seconds of computing for each sample, all sides together",
    "bytes": "bytes up and down",
    "memory": "bytes that the server holds: keys, model, query and answer as they travel",
}
_MOST_SAMPLES: Final = 1 << 20
_WIDEST: Final = 1000
"""Bits of a whole number that is a float, too."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be computed, and what counts.

    Example::

        Task(ScoreProblem(weights, intercepts, low=0, high=16), max_error=0.1, samples=100)

    Raises:
        ParameterError: wishes that cannot be; the message names them.

    """

    problem: Problem
    """The arithmetic."""
    setting: str = "client_server"
    """One of `hesc.planner.SETTINGS`."""
    disclose: str = "scores"
    """The most that the key owner may learn of results: one of `hesc.planner.DISCLOSURES`."""
    max_error: float = 0.01
    """The root mean square error that is allowed, in units of the results; of a `ClassProblem` the
    share of samples whose class may differ. Distances have none."""
    samples: int = 1
    """How many are computed at once."""
    objective: str = "latency"
    """One of `hesc.planner.OBJECTIVES`."""
    bandwidth: float = 1e7
    """Bytes a second between the sides."""
    own_model: bool = False
    """Whether the model, or the records, are the key owner's own, who encrypts them himself."""
    hide_model: bool = False
    """Whether the key owner must not find the model in the noise of answers. Many results give a
    linear model away in any case."""
    memory: float = math.inf
    """Bytes that the server may hold: keys, model, and what travels."""
    failure: float = 2.0**-40
    """The probability that is allowed of any result being wrong beyond its error: of a decryption
    that fails, or a bootstrap."""

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise ParameterError(
                "a task's problem is one of hesc.planner, such as ScoreProblem or ClassProblem, "
                f"not {type(self.problem).__name__}"
            )
        one_name(self.setting, "setting", tuple(SETTINGS))
        one_name(self.disclose, "disclose", DISCLOSURES)
        one_name(self.objective, "objective", tuple(OBJECTIVES))
        # Frozen, but for this: numbers of numpy repeat no lists.
        object.__setattr__(self, "samples", whole(self.samples, "samples", 1, _MOST_SAMPLES))
        for name in ("max_error", "bandwidth", "memory", "failure"):
            value = getattr(self, name)
            if not _is_number(value) or not value > 0:
                raise ParameterError(f"{name} is a number above zero")
            # Numbers of few bits overflow where their squares are taken.
            object.__setattr__(self, name, float(value))
        if self.failure > 1:
            raise ParameterError("failure is a probability")
        if not math.isfinite(self.max_error):
            raise ParameterError("max_error is finite: an error without a bound is no result")
        for name in ("own_model", "hide_model"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} is True or False; got {getattr(self, name)!r}")
        several = self.setting == "many_parties"
        # Of a fitted model the features may have several owners, too.
        free = isinstance(self.problem, PredictionProblem)
        if not free and isinstance(self.problem, ProductProblem) != several:
            raise ParameterError(
                "products are for setting='many_parties', and it is for products: scores, classes "
                "and distances have one owner of samples"
            )

    @property
    def title(self) -> str:
        """Problem, samples, setting and disclosure."""
        several = "s" if self.samples > 1 else ""
        return (
            f"{self.problem.name} of {self.samples} sample{several}, {self.setting} "
            f"({SETTINGS[self.setting]}), disclosing {self.disclose}"
        )

    @property
    def error_name(self) -> str:
        """What tables have in their column of errors."""
        return "agreement" if self.problem.shares else "error"

    def shown(self, error: float) -> str:
        """An error for a table, rounded against the way: of classes the share that stays."""
        if self.problem.shares:
            return f"{math.floor(1e4 * (1 - error)) / 100:.2f} %"
        return rounded_up(error)


def rounded_up(error: float, digits: int = 2) -> str:
    """An error or a limit of errors to so many digits, which are no less.

    Tables show both by this rule: what is within a limit never looks as if it were beyond it.
    """
    # Twelve digits: what is computed in doubles is no more exact.
    up = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(f"{error:.12g}")
    return f"{float(up):.{digits}g}"


def _is_number(value: object) -> bool:
    """Whether it is a real number that floats can be as large as."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return not isinstance(value, int) or value.bit_length() <= _WIDEST
