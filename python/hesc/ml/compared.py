"""The ways to compute what a private model computes, one beside the other, by the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import HescError
from hesc._support import shares
from hesc.models import transforms
from hesc.models.extraction import Linear
from hesc.planner import Classes, Distances, Scores, Task, decide
from hesc.protocols.classes.backend import ClassBackend
from hesc.protocols.classes.models import classify
from hesc.protocols.classes.quantisation import MODELS
from hesc.protocols.linear.backend import LinearBackend
from hesc.protocols.neighbours.backend import NeighboursBackend

if TYPE_CHECKING:
    from hesc.planner import TaskDecision
    from hesc.protocols.backend import Backend


def candidates(backend: Backend, *, samples: int, objective: str, bandwidth: float) -> TaskDecision:
    """The table of ways to compute the same; see `Serving.candidates`.

    Raises:
        ParameterError: other ways are not compared with this one.

    """
    backend.check_compared()
    options: dict[str, Any] = {"samples": samples, "objective": objective, "bandwidth": bandwidth}
    if isinstance(backend, LinearBackend):
        return decide(_scores(backend, options))
    if isinstance(backend, ClassBackend) and isinstance(backend.form, Linear):
        return decide(_classes(backend, backend.form, options))
    if isinstance(backend, NeighboursBackend):
        return decide(Task(Distances(backend.codes), disclose="distances", **options))
    raise TypeError(f"{type(backend).__name__} is compared by no task of the planner")


def table(backend: Backend) -> str:
    """The candidates for so many samples as were planned for, or why there are none."""
    try:
        found = candidates(backend, samples=backend.batch, objective="latency", bandwidth=1e7)
    except HescError as error:
        return f"no candidates: {error}"
    return str(found)


def _scores(backend: LinearBackend, options: dict[str, Any]) -> Task:
    low, high = backend.plan.ring.ranges
    weights, intercepts = backend.linear.weights, backend.linear.intercepts
    return Task(
        Scores(weights, intercepts, low=low, high=high),
        max_error=backend.plan.error,
        **options,
        **backend.roles(),
    )


def _classes(backend: ClassBackend, form: Linear, options: dict[str, Any]) -> Task:
    """The task of a plan of classes: as many rows may change their class as it changes."""
    plan = backend.plan
    low, high = plan.ranges
    rows = np.clip(transforms.transformed(plan.steps, backend.rows), low, high)
    problem = Classes(form.weights, form.intercepts, low=low, high=high, rows=rows)
    found = classify(backend.model, plan.quantised(rows))
    changed = int((found != problem.exact(rows)).sum())
    return Task(
        problem,
        disclose="class",
        max_error=shares.most(changed, len(rows), tried=MODELS),
        **options,
    )
