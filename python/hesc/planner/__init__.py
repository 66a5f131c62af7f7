"""Which way to compute a task: all of them beside each other, the cheapest that is admissible.

decision = decide(Task(Scores(weights, intercepts, low=0, high=16), max_error=0.1))
print(decision.explain())          # every way: time, bytes, error, who sees what, why not
decision.measure(samples)          # and what happened
"""

from hesc.planner.calibration import Calibration
from hesc.planner.decision import Decision, decide
from hesc.planner.estimates import Estimate, Infeasible, Measured, measure
from hesc.planner.roles import DISCLOSURES, SETTINGS, Sees
from hesc.planner.tasks import OBJECTIVES, Classes, Distances, Products, Scores, Task

__all__ = [
    "DISCLOSURES",
    "OBJECTIVES",
    "SETTINGS",
    "Calibration",
    "Classes",
    "Decision",
    "Distances",
    "Estimate",
    "Infeasible",
    "Measured",
    "Products",
    "Scores",
    "Sees",
    "Task",
    "decide",
    "measure",
]
