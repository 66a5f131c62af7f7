"""The ways to compute what a private model computes, one beside the other, by the planner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hesc._native import HescError
from hesc._support.inputs import one_name, whole
from hesc.models import extraction
from hesc.planner import OBJECTIVES, Task, decide
from hesc.planner.problems import PredictionProblem
from hesc.protocols.backend import backend_for
from hesc.protocols.candidates.served import Servable, choose, question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from hesc.planner import TaskDecision
    from hesc.protocols.backend import Backend, PlanRequest, Table
    from hesc.protocols.candidates.served import Choice

    Array = NDArray[np.float64]

_MOST: Final = 1 << 16
"""Samples that go together."""


def candidates(backend: Backend, *, samples: int, objective: str, bandwidth: float) -> TaskDecision:
    """The table of ways to compute the same; see `Serving.candidates`.

    Raises:
        ParameterError: other ways are not compared with this one.

    """
    found = decide(question_of(backend, samples=samples, objective=objective, bandwidth=bandwidth))
    kind = type(backend.options).__name__
    for at, estimate in enumerate(found.estimates):
        served = f"served by {kind}()" if estimate.way in backend.candidates else "compared only"
        found.estimates[at] = replace(estimate, parameters=f"{estimate.parameters}, {served}")
    return found


def table(backend: Backend) -> str:
    """The candidates for so many samples as were planned for, or why there are none."""
    try:
        found = candidates(backend, samples=backend.batch, objective="latency", bandwidth=1e7)
    except HescError as error:
        return f"no candidates: {error}"
    return str(found)


def chosen(
    served: Table,
    request: PlanRequest,
    objective: str,
    *,
    scores: Callable[[Array], Array],
    by_default: bool,
) -> Choice:
    """The best plan by an objective, of those that keep options.

    Args:
        served: the estimator's table of backends.
        request: model, rows and options.
        objective: one of `hesc.planner.OBJECTIVES`.
        scores: the model's, in the clear.
        by_default: whether nobody gave these options: others of the same roles then compete.

    Raises:
        ParameterError: no objective of the planner.
        HescError: no plan is feasible; as the first was refused.

    """
    one_name(objective, "objective", tuple(OBJECTIVES))
    options = request.options
    kind, _ = backend_for(served, options)
    roles = kind.roles(options)
    asked = [(kind, options)]
    if by_default:
        asked += [pair for pair in _others(served, options) if pair[0].roles(pair[1]) == roles]

    def maker(kind: type[Backend]) -> Callable[[Any], Backend]:
        return lambda options: kind.planned(request._replace(options=options))

    scored = roles.disclose == "scores"
    problem = PredictionProblem(
        scores if scored else lambda rows: extraction.predicted(request.estimator, rows),
        request.rows.shape[1],
        shares=not scored,
    )
    samples = whole(getattr(options, "batch", 1), "batch", 1, _MOST)
    task = Task(problem, samples=samples, objective=objective, **roles._asdict())
    return choose(
        task,
        [
            Servable(alternative, maker(kind))
            for kind, options in asked
            for alternative in kind.alternatives(options)
        ],
    )


def _others(served: Table, options: Any) -> Iterator[tuple[type[Backend], Any]]:
    """Backends of other options that can be made of nothing, with these."""
    for other in served:
        if other is type(options):
            continue
        try:
            found = other()
        except TypeError:
            # What nobody said, such as whose columns these are.
            continue
        yield backend_for(served, found)
