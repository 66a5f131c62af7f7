"""Linear classifiers and trees that compare on the server: the client learns classes alone."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import ParameterError
from hesc._support import shares
from hesc.models import extraction, transforms
from hesc.models.conclusions import is_mean
from hesc.models.known import Known
from hesc.models.linear.simple import Linear
from hesc.models.samples import spread_out
from hesc.planner.problems import ClassProblem
from hesc.protocols.backend import Alternative, Backend, PlanRequest, Roles
from hesc.protocols.classes import planning
from hesc.protocols.classes.quantisation import MODELS
from hesc.protocols.classes.server import ClassServer
from hesc.protocols.classes.whole_models import classify
from hesc.protocols.linear.planning import check_agrees
from hesc.protocols.runs import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.models.trees import TreeEnsemble
    from hesc.planner.problems import Problem
    from hesc.protocols.classes.plan import ClassPlan
    from hesc.protocols.classes.whole_models import WholeModel
    from hesc.protocols.runs import Progress

    Array = NDArray[np.float64]


_WAYS: Final = {
    "binary": ("integers binary", "integers"),
    "prime": ("integers prime", "integers"),
    "bootstrapped": ("gates", "gates"),
}
"""What compares, by engine: its name in tables, and the planner's candidate."""


class ClassBackend(Backend):
    """A model in whole numbers at the server, classes for the client."""

    has_scores: ClassVar[bool] = False
    candidates: ClassVar[tuple[str, ...]] = ("integers", "gates")

    def __init__(
        self, plan: ClassPlan, request: PlanRequest, model: WholeModel, form: Linear | TreeEnsemble
    ) -> None:
        super().__init__(plan, request, Known(request.estimator, request.rows, request.clear))
        self.model = model
        """What the server computes."""
        self.form = form
        """The model before it was quantised."""
        self.rows = request.rows[spread_out(len(request.rows))]
        """Samples that candidates are compared on, before all transforms."""

    @classmethod
    def make(cls, request: PlanRequest) -> ClassBackend:
        """Plans comparisons: see `hesc.protocols.classes.planning.make`."""
        steps, form = extraction.form_of(request.estimator)
        if isinstance(form, Linear):
            _check_form(request, form)
        plan, model = planning.make(
            form,
            request.rows,
            _places(request),
            steps=steps,
            names=request.names,
            classes=np.asarray(request.classes),
            options=request.options,
        )
        return cls(plan, request, model, form)

    def server(self, *, keys: bytes | None = None) -> ClassServer:
        """A server, which cannot decrypt and answers nothing without keys."""
        return ClassServer(self.plan, self.model, keys=keys)

    def simulated(
        self,
        rows: Rows,
        *,
        clip: bool,
        random_state: int | None,  # noqa: ARG002 - nothing is drawn
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Run:
        """Classes by the model in whole numbers: exactly what encrypted ones give."""
        ready = self.plan.prepared(rows, clip=clip)
        places = classify(self.model, self.plan.quantised(ready.features))
        sizes = self.plan.sizes(len(rows))
        found = self.plan.predictions(places)
        return Run(found, None, None, sizes, ready.values, ready.samples)

    @classmethod
    def roles(cls, options: Any) -> Roles:  # noqa: ARG003 - all are alike
        """A class and no score."""
        return Roles(disclose="class")

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """An engine each, or that which is asked for."""
        engines = [name for name in _WAYS if options.engine in {None, name}]
        if not engines:
            # Planning says what there is.
            return super().alternatives(options)
        return [
            Alternative(way, replace(options, engine=engine), candidate)
            for engine, (way, candidate) in _WAYS.items()
            if engine in engines
        ]

    def seconds(self, samples: int) -> float | None:
        """Those of whole queries; on bits that bootstrap each sample takes its own."""
        if self.plan.engine != "bootstrapped":
            return super().seconds(samples)
        each: float = self.plan.seconds / self.plan.rows
        return each * samples

    def held(self) -> int:
        """Keys, and the model in whole numbers."""
        keys: int = self.plan.costs["keys"]
        arrays: list[Array] = [getattr(self.model, part.name) for part in fields(self.model)]
        return keys + sum(array.nbytes for array in arrays)

    def question(self) -> tuple[Problem, float]:
        """Classes, of which as many rows may have another one as the plan changes.

        Raises:
            ParameterError: trees.

        """
        if not isinstance(self.form, Linear):
            raise ParameterError(
                "classes of trees are computed in one way here, by comparisons in whole numbers: "
                "there is nothing to compare it with"
            )
        plan, form = self.plan, self.form
        low, high = plan.ranges
        rows = np.clip(transforms.transformed(plan.steps, self.rows), low, high)
        problem = ClassProblem(form.weights, form.intercepts, low=low, high=high, rows=rows)
        found = classify(self.model, plan.quantised(rows))
        changed = int((found != problem.exact(rows)).sum())
        return problem, shares.most(changed, len(rows), tried=MODELS)

    def most_measured(self, _server: Any) -> int | None:
        """Rows that a report's run may take: those of one query, each of which takes its time."""
        most: int = self.plan.rows
        return most


def _check_form(request: PlanRequest, form: Linear) -> None:
    """Refuses what no comparison of scores tells, and scores that are not those of the weights."""
    if is_mean(form.link):
        raise ParameterError(
            "this model averages probabilities of several, and its class is not that of the "
            "highest score: plan(X, Scores()) serves it, and so is one model, as of "
            "CalibratedClassifierCV(ensemble=False)"
        )
    check_agrees(request.estimator, form, request.rows, request.clear)


def _places(request: PlanRequest) -> NDArray[np.int64]:
    """The place of each row's class by the fitted model."""
    predicted = extraction.predicted(request.estimator, request.rows)
    if predicted.ndim != 1 or request.classes is None:
        raise ParameterError(
            "a class alone is one label to a sample; this model gives several: fit one for each"
        )
    places = {label: place for place, label in enumerate(request.classes.tolist())}
    return np.array([places[label] for label in predicted.tolist()])
