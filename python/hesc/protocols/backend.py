"""What serves a planned model: chosen by the class of options.

An estimator has a table of backends by classes of options, such as `Scores`. Options of
another class are refused with what would do instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Never

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc._support.progress import waiting
from hesc.models import extraction
from hesc.models.conclusions import PROBABILITIES, decisive
from hesc.models.fidelity import margins_of
from hesc.models.samples import MISSING, on_copies
from hesc.protocols import registry
from hesc.protocols.folders import PLAN, SERVER
from hesc.protocols.measuring import SAMPLE, measure, spread_out
from hesc.protocols.runs import Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hesc.models.known import Known
    from hesc.models.tables.forms import Rows
    from hesc.planner.problems import Problem
    from hesc.protocols.measuring import MeasuredRun
    from hesc.protocols.runs import Progress, Run

    Array = NDArray[np.float64]
    Table = Mapping[type, str]

_REASONS: Final = {
    "Scores": "the client of nearest neighbours decrypts distances, and counts votes itself; "
    "networks have options of their own, and outliers are told by trees as they are, Trees()",
    "Classes": "classes alone take comparisons on the server, which PrivateClassifier has for "
    "linear models and trees whose server knows its model; whoever decrypts scores, or has the "
    "model, learns more than a class",
    "Outsourced": "linear models and trees in bins have encrypted weights, in PrivateClassifier "
    "and PrivateRegressor, networks of one square layer in PrivateSquareNetwork; for encrypted "
    "records of the client's own see hesc.codes.EncryptedGallery",
    "Parties": "linear models and trees in bins are served on features of several owners, in "
    "PrivateClassifier and PrivateRegressor; hesc.logarithms multiplies what several owners "
    "encrypt, hesc.protocols.linkage matches records of two",
    "Streams": "networks of one square layer are on streams, in PrivateSquareNetwork",
    "Network": "networks are those of PrivateMLPClassifier and PrivateMLPRegressor",
    "Search": "distances to all records are PrivateNeighbours', and an index of any vectors is "
    "hesc.search's",
}
"""Classes of options by name, and what does instead where an estimator has no backend for them."""
_TIES: Final = 1e-9
"""Margins within which roundings choose a class."""


class PlanRequest(NamedTuple):
    """A fitted model, the rows that it is planned with, and options."""

    estimator: Any
    """The estimator as it was fitted."""
    rows: Rows
    """Samples before all transforms."""
    clear: Array
    """The model's scores of them, a row of outputs each."""
    names: list[str]
    """Names of the features, or none."""
    classes: NDArray[Any] | None
    """A classifier's classes; None of other models."""
    options: Any
    """What is asked of the plan: of a class that the estimator's table has."""


class Roles(NamedTuple):
    """Who owns what and who learns what, in the planner's words: see `hesc.planner.Task`.

    Plans of the same roles compete where an objective chooses.
    """

    setting: str = "client_server"
    """One of `hesc.planner.SETTINGS`."""
    disclose: str = "scores"
    """What the client learns: one of `hesc.planner.DISCLOSURES`."""
    own_model: bool = False
    """Whether the model is the client's own."""
    hide_model: bool = False
    """Whether the model is hidden from the client."""


class Alternative(NamedTuple):
    """A plan that keeps some options, before it is made."""

    way: str
    """The plan's name in tables."""
    options: Any
    """Those that make it."""
    candidate: str | None = None
    """The planner's candidate that computes the same, by name; None where there is none."""


class Backend(ABC):
    """A planned model in one process: its plan, the model, and both parties.

    Holds keys once it has run; is neither pickled nor copied.
    """

    has_scores: ClassVar[bool] = True
    """Whether the client learns scores."""

    takes_missing: ClassVar[bool] = False
    """Whether cells of samples may be missing behind all transforms."""
    candidates: ClassVar[tuple[str, ...]] = ()
    """The planner's candidates that plans of this kind compute as, by name."""
    failure: ClassVar[float] = 2.0**-128
    """The probability that a result decrypts wrongly, beyond the plan's error."""

    def __init__(self, plan: Any, request: PlanRequest, known: Known | None = None) -> None:
        self.plan = plan
        self._known = known
        self.options = request.options
        """What was asked."""
        self.batch: int = getattr(request.options, "batch", 1)
        """Samples that are to go together."""
        self.sample = spread_out(request.rows, SAMPLE)
        self._classes = request.classes
        self._session: Session | None = None
        self._opening = Lock()

    def __reduce__(self) -> Never:
        raise TypeError("a planned model may hold keys: not pickled or copied; see save()")

    @classmethod
    @abstractmethod
    def make(cls, request: PlanRequest) -> Backend:
        """Plans a model.

        Raises:
            ParameterError: a model or options that this cannot serve, with what would do.

        """

    @classmethod
    def planned(cls, request: PlanRequest) -> Backend:
        """Plans a model, as `make`, of rows in which cells may be missing if this takes them.

        Raises:
            ParameterError: a model or options that this cannot serve, with what would do.
            ShapeError: rows in which cells are missing.

        """
        cls.check_rows(request.rows)
        with waiting("planning"):
            return cls.make(request)

    @classmethod
    def check_rows(cls, rows: Rows) -> None:
        """Refuses rows of numbers in which cells are missing, where these are not taken.

        Raises:
            ShapeError: there are some.

        """
        if not cls.takes_missing and isinstance(rows, np.ndarray) and np.isnan(rows).any():
            raise ShapeError(MISSING)

    def is_of(self, estimator: Any) -> bool:
        """Whether a fitted model computes what was planned; see `has_classes` for their names."""
        return self._known is not None and self._known.is_still(estimator)

    def has_classes(self, classes: NDArray[Any] | None) -> bool:
        """Whether classes have the names that were planned, in their order."""
        if self._classes is None:
            return True
        return classes is not None and np.array_equal(classes, self._classes)

    def client(self) -> Any:
        """A client with new keys."""
        return registry.client_of(self.plan)

    @abstractmethod
    def server(self, *, keys: bytes | None = None) -> Any:
        """A server, of one client if it is given its keys."""

    def owner(self) -> Any:
        """The model's owner, who encrypts it for a server.

        Raises:
            ParameterError: a server that has the model in the clear.

        """
        raise ParameterError(
            "the server of this plan has the model in the clear, and nobody encrypts it; "
            "plan(X, Outsourced()) makes a plan whose owner does"
        )

    @abstractmethod
    def simulated(
        self, rows: Rows, *, clip: bool, random_state: int | None, progress: Progress
    ) -> Run:
        """Samples as a run would have them; nothing is encrypted."""

    def parties(self) -> tuple[Any, Any]:
        """A client with new keys, and a server that answers it."""
        client = self.client()
        return client, self.server(keys=client.public_keys() if self.plan.needs_keys else None)

    def executed(self, rows: Rows, *, clip: bool, progress: Progress) -> Run:
        """Samples encrypted, evaluated and decrypted, under keys that stay."""
        # One pair of parties, and so one count of what a hidden model gives, whoever asks first.
        with self._opening:
            if self._session is None:
                self._session = self._opened(*self.parties())
        found: Run = self._session.run(rows, clip=clip, progress=progress)
        return found

    def _opened(self, client: Any, server: Any) -> Session:
        """Both parties, for runs in this process."""
        return Session(client, server)

    def check_scores(self) -> None:
        """Refuses scores where the client learns none.

        Raises:
            ParameterError: with the reason.

        """
        if not self.has_scores:
            raise ParameterError(
                "the client of this plan learns a class and no score, hence no probability: "
                "predict() gives classes, plan(X, Scores()) a plan with scores"
            )

    def truth(self, _rows: Rows, scores: Array) -> Array:
        """What decrypted scores are held against, where that is not the model's own scores."""
        return scores

    def sides(self, server: Any) -> dict[str, dict[str, bytes]]:
        """Files of a deployment by name, by folder: see `hesc.ml.deployment`."""
        plan = self.plan.to_bytes()
        return {"client": {PLAN: plan}, "server": {PLAN: plan, SERVER: server.to_bytes()}}

    def measured(
        self, client: Any, server: Any, rows: Rows, scores: Array, predictions: NDArray[Any]
    ) -> MeasuredRun | None:
        """A run for the report: see `hesc.protocols.measuring.measure`."""
        return measure(client, server, rows, scores, predictions)

    def most_measured(self, _server: Any) -> int | None:
        """Rows that a report's run may take; None for any number."""
        return None

    # What the planner asks.

    @classmethod
    def roles(cls, options: Any) -> Roles:
        """Who owns and who learns what under a plan of these options."""
        del options
        return Roles()

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """Plans that keep these options, for an objective to choose among; that by default first.

        By default the only one, under the name of the protocol's folder.
        """
        return [Alternative(cls.__module__.split(".")[-2], options)]

    def seconds(self, samples: int) -> float | None:
        """What so many samples take on one thread, where the plan's maker counted it."""
        each: float | None = self.plan.seconds
        return None if each is None else each * -(-samples // self.plan.rows)

    def held(self) -> int:
        """Bytes that a server holds: model and keys; by default those of its wire form."""
        return len(self.server().to_bytes())

    def question(self) -> tuple[Problem, float]:
        """What other candidates of the planner compute, too, and how much they may err.

        Raises:
            ParameterError: no other one does; with the reason.

        """
        raise ParameterError(
            "ways are compared for scores and classes of linear models, for scores of trees in "
            "bins, and for distances of nearest neighbours; this plan is of another kind. "
            "hesc.planner compares any task: docs/planner.md"
        )


def backend_for(table: Table, options: Any) -> tuple[type[Backend], Any]:
    """What serves these options by an estimator's table, and the options, or those by default.

    Args:
        table: `module:class` by classes of options, the default first.
        options: of one of these classes; None for the default.

    Raises:
        ParameterError: options of no class, or of one that is not served; with what would do.

    """
    chosen = next(iter(table))() if options is None else options
    place = table.get(type(chosen))
    if place is None:
        raise ParameterError(_refusal(table, chosen))
    module, name = place.split(":")
    found: type[Backend] = getattr(import_module(module), name)
    return found, chosen


def stray(table: Table, names: Sequence[str]) -> str:
    """What is said of arguments that `plan` has none of: which options have them.

    Args:
        table: `module:class` by classes of options.
        names: of the arguments.

    """
    has = {kind.__name__: {field.name for field in fields(kind)} for kind in table}
    told = []
    for name in names:
        holders = [f"{kind}({name}=...)" for kind, own in has.items() if name in own]
        if holders:
            ways = " or ".join(f"plan(X, {holder})" for holder in holders)
            told.append(f"plan() has no {name}=, which is an option: {ways}")
        else:
            told.append(f"plan() has no {name}=, and none of {', '.join(has)} has it")
    return "; ".join(told)


def _refusal(table: Table, options: Any) -> str:
    """Why nothing serves these options, and what is served."""
    served = ", ".join(f"{kind.__name__}()" for kind in table)
    name = options.__name__ if isinstance(options, type) else type(options).__name__
    known = {kind.__name__ for kind in table} if isinstance(options, type) else set()
    if name in known:
        return f"options are an object, not its class: {name}(), with what is asked inside"
    if name in _REASONS:
        return f"{name}() is not served here: {_REASONS[name]}. Served are {served}"
    return f"options of a plan are {served}, of hesc.ml; got {str(options)[:80]!r}"


def check_concluded(plan: Any, request: PlanRequest) -> None:
    """Compares what a client concludes from scores with what the model concludes.

    Raises:
        ParameterError: they differ by more than roundings.

    """
    scores = plan.scores(request.clear)
    found = plan.predictions(scores)
    expected = extraction.predicted(request.estimator, request.rows)
    if request.classes is None:
        # A target that was a column stays one in scikit-learn.
        same = found.size == expected.size and bool(
            np.allclose(found, expected.reshape(found.shape), rtol=1e-6, atol=_TIES)
        )
    else:
        same = found.shape == expected.shape and bool(
            (found == expected)[margins_of(_decisive(plan, request)) > _TIES].all()
        )
    if same and plan.link in PROBABILITIES:
        shares = on_copies(request.estimator.predict_proba, request.rows)
        probabilities = plan.probabilities(scores)
        same = probabilities.shape == shares.shape and bool(
            np.abs(probabilities - shares).max() < 1e-6
        )
    if not same:
        raise ParameterError(
            "this model concludes something else from its scores than its client would, as for "
            "several labels to a sample; fit a model of one target"
        )


def _decisive(plan: Any, request: PlanRequest) -> Array:
    """What a plan's client chooses classes by."""
    count = len(request.classes) if request.classes is not None else 0
    return decisive(request.clear, plan.link, count, plan.calibration)
