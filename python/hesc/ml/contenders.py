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
    from hesc.planner import Decision
    from hesc.protocols.services import Service


def contenders(service: Service, *, samples: int, objective: str, bandwidth: float) -> Decision:
    """The table of ways to compute the same; see `Serving.contenders`.

    Raises:
        ParameterError: other ways are not compared with this one.

    """
    service.check_compared()
    wishes: dict[str, Any] = {"samples": samples, "objective": objective, "bandwidth": bandwidth}
    if isinstance(service, LinearBackend):
        return decide(_scores(service, wishes))
    if isinstance(service, ClassBackend) and isinstance(service.form, Linear):
        return decide(_classes(service, service.form, wishes))
    if isinstance(service, NeighboursBackend):
        return decide(Task(Distances(service.codes), disclose="distances", **wishes))
    raise TypeError(f"{type(service).__name__} is compared by no task of the planner")


def table(service: Service) -> str:
    """The contenders for so many samples as were planned for, or why there are none."""
    try:
        found = contenders(service, samples=service.batch, objective="latency", bandwidth=1e7)
    except HescError as error:
        return f"no contenders: {error}"
    return str(found)


def _scores(service: LinearBackend, wishes: dict[str, Any]) -> Task:
    low, high = service.plan.ring.ranges
    weights, intercepts = service.linear.weights, service.linear.intercepts
    return Task(
        Scores(weights, intercepts, low=low, high=high),
        max_error=service.plan.error,
        **wishes,
        **service.roles(),
    )


def _classes(service: ClassBackend, form: Linear, wishes: dict[str, Any]) -> Task:
    """The task of a plan of classes: as many rows may change their class as it changes."""
    plan = service.plan
    low, high = plan.ranges
    rows = np.clip(transforms.transformed(plan.steps, service.rows), low, high)
    problem = Classes(form.weights, form.intercepts, low=low, high=high, rows=rows)
    found = classify(service.model, plan.quantised(rows))
    changed = int((found != problem.exact(rows)).sum())
    return Task(
        problem,
        disclose="class",
        max_error=shares.most(changed, len(rows), tried=MODELS),
        **wishes,
    )
