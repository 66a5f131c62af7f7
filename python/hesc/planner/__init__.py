"""Which way to compute a task: all of them beside each other, the cheapest that is admissible.

decision = decide(Task(ScoreProblem(weights, intercepts, low=0, high=16), max_error=0.1))
print(decision.explain())          # every way: time, bytes, error, who sees what, why not
decision.measure(samples)          # and what happened

Names are loaded on first use: what measures plays both sides, and plans of servers load what
compares candidates alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hesc.planner.calibration import Calibration
    from hesc.planner.deciding import TaskDecision, decide
    from hesc.planner.decision import Decision
    from hesc.planner.estimates import Estimate, Infeasible, Measured
    from hesc.planner.roles import DISCLOSURES, SETTINGS, Sees
    from hesc.planner.tasks import (
        OBJECTIVES,
        ClassProblem,
        DistanceProblem,
        ProductProblem,
        ScoreProblem,
        Task,
    )
    from hesc.planner.timing import measure

_MODULES: Final = {
    "calibration": ("Calibration",),
    "deciding": ("TaskDecision", "decide"),
    "decision": ("Decision",),
    "estimates": ("Estimate", "Infeasible", "Measured"),
    "roles": ("DISCLOSURES", "SETTINGS", "Sees"),
    "tasks": (
        "OBJECTIVES",
        "ClassProblem",
        "DistanceProblem",
        "ProductProblem",
        "ScoreProblem",
        "Task",
    ),
    "timing": ("measure",),
}

__all__ = [
    "DISCLOSURES",
    "OBJECTIVES",
    "SETTINGS",
    "Calibration",
    "ClassProblem",
    "Decision",
    "DistanceProblem",
    "Estimate",
    "Infeasible",
    "Measured",
    "ProductProblem",
    "ScoreProblem",
    "Sees",
    "Task",
    "TaskDecision",
    "decide",
    "measure",
]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"hesc.planner.{module}"), name)
    raise AttributeError(f"module 'hesc.planner' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, which are loaded on first use."""
    return list(__all__)
