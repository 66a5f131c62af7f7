"""Plans, both parties and runs of a fitted model: what its estimator has once it is planned."""

from __future__ import annotations

import inspect
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hesc._native import ParameterError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.progress import waiting
from hesc.ml.deployable import Deployable
from hesc.models.samples import check_names, warn_of_clipped
from hesc.protocols import labels
from hesc.protocols.backend import PlanRequest, backend_for, stray
from hesc.protocols.linear.options import Scores
from hesc.protocols.outsourced.options import Outsourced
from hesc.protocols.owners.options import Parties

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc._support.callers import CallT
    from hesc.models.tables.forms import Rows
    from hesc.planner import TaskDecision
    from hesc.protocols.backend import Backend, Table
    from hesc.protocols.candidates.served import Choice
    from hesc.protocols.runs import Run

NOT_FITTED: Final = (
    "this %(name)s is not fitted: call fit, or make it by %(name)s.from_fitted(estimator) of an "
    "estimator that is"
)
Mode = Literal["clear", "simulate", "execute"]


def _hinting(plan: CallT) -> CallT:
    """Has `plan` say of an argument that it has not which options have it."""
    known = inspect.signature(plan).parameters

    @wraps(plan)
    def called(estimator: Any, *args: Any, **given: Any) -> Any:
        others = [name for name in given if name not in known]
        if others:
            raise TypeError(stray(estimator._backends, others))  # noqa: SLF001 - its own method
        return plan(estimator, *args, **given)

    return cast("CallT", called)


class Serving(Deployable):
    """Plans a fitted model and plays both parties. A class that has it is an estimator."""

    _backends: ClassVar[Table] = {
        Scores: "hesc.protocols.linear.backend:LinearBackend",
        Outsourced: "hesc.protocols.outsourced.backend:OutsourcedBackend",
        Parties: "hesc.protocols.owners.backend:OwnersBackend",
    }
    """What serves which options; the first are those by default."""

    if TYPE_CHECKING:
        estimator_: Any
        n_features_in_: int
        _backend: Any

        def _rows(self, X: ArrayLike) -> Rows: ...
        def _clear_scores(self, rows: Rows) -> NDArray[np.float64]: ...

    def _default_options(self) -> Any:
        """Options of a plan where none are given; None for the first of the table."""
        return None

    @staticmethod
    def _classes_of(fitted: Any) -> NDArray[Any] | None:
        """Classes that a fitted estimator chooses among; None of one that chooses none."""
        # A copy: a plan's classes are not the model's to change.
        return np.array(fitted.classes_) if hasattr(fitted, "classes_") else None

    @_hinting
    @usual_floats
    def plan(
        self,
        X: ArrayLike,
        options: Any = None,
        *,
        names: Sequence[str] = (),
        table: bool | None = None,
        objective: str | None = None,
    ) -> Any:
        """Chooses sizes for a fitted model and says who learns what: print what it returns.

        In a notebook and on a terminal it prints what `candidates` returns, too: the other ways to
        compute the same, and what speaks against each.

        Args:
            X: training data, **whose least and greatest values become public ranges** of what is
                encrypted, unless options say otherwise. Predicted agreement is that of a thousand
                rows spread over it. Networks tell roughly its mean, and its largest distance from
                that, too. Of nearest neighbours no row is its own neighbour; rows that were kept
                from training are better.
            options: who holds and who learns what, with what is wanted of it. Of linear models
                `Scores()`, by default, and of trees `Trees()`; `Classes()`, of classifiers;
                `Outsourced()`; `Parties({...})`. Of networks `Network()`, of those on streams
                `Streams()`, of nearest neighbours
                `Search(records="public")`, which has to be said.
            names: of the features, where the model was fitted without.
            table: whether to print the table of candidates; None prints it where Python is
                interactive or standard output is a terminal.
            objective: what is to be least: "latency", "throughput", "bytes" or "memory", as
                predicted for the samples of a batch, or for one. Of all plans that keep the
                options the best one is made; without options, of all whose roles are those by
                default. `decision_` then says why not the others. None makes the plan that the
                options say.

        Returns:
            The plan, which is public: `hesc.ml` has a class for those of each kind of options.

        Raises:
            ParameterError: options that this cannot keep, with the reason and what would do.
            NoiseBudgetError: an error that no set reaches; of networks without `max_error`,
                polynomials under which more than one class in ten, or a tenth of the variance,
                would be another.
            CircuitError: a model whose comparisons no set has room for.

        """
        wanted = self._default_options() if options is None else options
        kind, chosen = backend_for(self._backends, wanted)
        rows = self._rows(X)
        named = self._named(names)
        # Names that are given here: scikit-learn does not know them, and ranges are by column.
        check_names(X, named)
        with waiting("the model's own scores"):
            clear = self._clear_scores(rows)
        classes = self._classes_of(self)
        if classes is not None and len(classes) < 2:
            raise ParameterError("a model of one class needs no scores, encrypted or not")
        # Whoever serves the model, its client is told the classes.
        labels.described_or_none(classes)
        request = PlanRequest(self.estimator_, rows, clear, named, classes, chosen)
        shown = table or (table is None and _somebody_looks())
        if objective is None:
            self._backend = kind.planned(request)
            self.__dict__.pop("_decision", None)
        else:
            from hesc.ml.compared import chosen as choice

            self._decision = choice(
                self._backends,
                request,
                objective,
                scores=self._clear_scores,
                by_default=options is None,
            )
            self._backend = self._decision.backend
        if shown:
            from hesc.ml import compared

            print(compared.table(self._backend) if objective is None else self._decision)
        return self._backend.plan

    @property
    def decision_(self) -> Choice:
        """The decision of the last `plan(objective=...)`: what was chosen, and why not the others.

        Raises:
            AttributeError: nothing was planned yet, or without an objective.

        """
        found: Choice | None = self.__dict__.get("_decision")
        if found is None:
            raise AttributeError(
                "decision_ is there once an objective was asked for: call "
                "plan(X, objective='latency'), or another of hesc.planner.OBJECTIVES"
            )
        return found

    def _named(self, names: Sequence[str]) -> list[str]:
        """Names of features: the model's, or those given where it has none."""
        own = [str(name) for name in getattr(self, "feature_names_in_", [])]
        chosen = documents.feature_names(names, self.n_features_in_)
        if own and chosen and chosen != own:
            raise ParameterError(
                "the model was fitted on features of other names than names= says; leave names= out"
            )
        return documents.feature_names(own, self.n_features_in_) or chosen

    @usual_floats
    def _served(self) -> Any:
        """What serves the model as it is now: a `Backend`, of the plan's protocol."""
        check_is_fitted(self, "estimator_", msg=NOT_FITTED)
        backend: Backend | None = self.__dict__.get("_backend")
        if backend is None:
            raise ParameterError(
                "there is no plan, or the model was fitted again since, or unpickled: "
                "plan(X_train) makes one"
            )
        named = all(backend.has_classes(self._classes_of(of)) for of in (self, self.estimator_))
        if not named or not backend.is_of(self.estimator_):
            raise ParameterError("the model has changed since it was planned; plan it again")
        return backend

    @usual_floats
    def client(self) -> Any:
        """A client of the plan with new keys: a `LinearClient`, or as its plan says.

        Elsewhere it is made of the plan's bytes: `LinearClient(LinearPlan.from_bytes(data))`, or of
        any protocol `hesc.protocols.registry.client_of(registry.read_plan(data))`.

        Raises:
            ParameterError: there is no plan.

        """
        return self._served().client()

    @usual_floats
    def server(self, *, keys: bytes | None = None) -> Any:
        """A server of the plan, which cannot decrypt. Elsewhere: `registry.read_server`.

        Args:
            keys: where the plan needs them, the client's `public_keys()`: to hide weights, or to
                encrypt them.

        Raises:
            ParameterError: there is no plan; keys missing or too many.

        """
        return self._served().server(keys=keys)

    @usual_floats
    def owner(self) -> Any:
        """The model's owner, who encrypts it under `Outsourced()` or `Streams()`.

        Raises:
            ParameterError: there is no plan, or its server has the model in the clear.

        """
        return self._served().owner()

    @usual_floats
    def run(
        self,
        X: ArrayLike,
        *,
        fhe: Mode = "execute",
        clip: bool = False,
        random_state: int | None = None,
        progress: bool | Callable[[int, int], object] = True,
    ) -> Run:
        """Predictions with scores, the stated error, bytes both ways and what was clipped.

        Both parties run in this process, with keys that stay for the plan's next runs.

        Args:
            X: samples, within the plan's ranges, and within the ball of a network's plan.
            fhe: "execute" encrypts, evaluates and decrypts; "simulate" computes in the clear, a
                network by its polynomials, and adds errors drawn from the plan's law.
            clip: bring values beyond ranges to their ends, and samples beyond a ball into it,
                counted in the result and in a `ClippedWarning`.
            random_state: of "simulate", where errors are drawn.
            progress: a bar on the terminal, or a function that is called with numbers of samples.

        Raises:
            OutOfRangeError: values beyond their ranges, samples beyond a ball.
            ParameterError: there is no plan; more answers than a hidden model has left.

        """
        if fhe not in ("simulate", "execute"):
            raise ParameterError(f"fhe={fhe!r} is not simulate or execute; predict has clear too")
        backend = self._served()
        rows = self._rows(X)
        backend.check_rows(rows)
        # Names that were given to the plan alone: scikit-learn does not know them.
        check_names(X, backend.plan.names)
        if fhe == "simulate":
            found: Run = backend.simulated(
                rows, clip=clip, random_state=random_state, progress=progress
            )
        else:
            found = backend.executed(rows, clip=clip, progress=progress)
        warn_of_clipped(found.clipped, found.clipped_samples, len(rows))
        return found

    @usual_floats
    def candidates(
        self, samples: int = 1, *, objective: str = "latency", bandwidth: float = 1e7
    ) -> TaskDecision:
        """The table of candidates: time, bytes, error and disclosure of every way, and why not.

        Print it; `measure(x)` of what it returns runs all of them, on features as they are
        encrypted. What is served is what was planned, whichever is cheapest; `plan(objective=)`
        serves the best of what is served at all.

        Args:
            samples: how many are scored at once.
            objective: what is to be least: "latency", "throughput", "bytes" or "memory".
            bandwidth: bytes a second between the sides.

        Raises:
            ParameterError: there is no plan, or it hides weights, which no other way here does; or
                it is no plan of linear scores.

        """
        from hesc.ml.compared import candidates

        backend = self._served()
        return candidates(backend, samples=samples, objective=objective, bandwidth=bandwidth)


def _somebody_looks() -> bool:
    """Whether what is printed is read at once: in a notebook, at a prompt, on a terminal."""
    if hasattr(sys, "ps1"):
        return True
    try:
        return bool(sys.stdout.isatty())
    except (AttributeError, ValueError):
        # Programs without a window or in the background have none, or a closed one.
        return False
