"""What serves a planned model: chosen by setting and disclosure, and by options.

An estimator has a table of backends. Each takes some options of `plan` and refuses the others
by name, with what would do instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Never

import numpy as np

from hesc._native import ParameterError
from hesc._support.inputs import one_name
from hesc.models.agreement import margins_of
from hesc.models.samples import on_copies
from hesc.protocols import registry
from hesc.protocols.folders import PLAN, SERVER
from hesc.protocols.measuring import SAMPLE, measure, spread_out
from hesc.protocols.runs import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hesc.protocols.measuring import Measured
    from hesc.protocols.runs import Progress, Run

    Array = NDArray[np.float64]
    Table = Mapping[tuple[str, str], str]

_SETTINGS: Final = {
    "client_server": "",
    "outsourced": "linear models and trees in bins have encrypted weights, in PrivateClassifier "
    "and PrivateRegressor, networks of one square layer in PrivateSquareNetwork; for encrypted "
    "records of the client's own see hesc.codes.EncryptedGallery",
    "one_side_clear": "a model that is nobody's secret is given to the client, who computes by "
    "itself; nothing is encrypted",
    "many_parties": "linear models and trees in bins are served on features of several owners, in "
    "PrivateClassifier and PrivateRegressor; hesc.logarithms multiplies what several owners "
    "encrypt, hesc.protocols.linkage matches records of two",
}
"""Who holds what, and what does instead where an estimator has no backend for it."""
_DISCLOSURES: Final = {
    "scores": "the client of nearest neighbours decrypts distances, and counts votes itself",
    "class": "classes alone take comparisons on the server, which PrivateClassifier has for linear "
    "models and trees whose server knows its model; whoever decrypts scores, or has the model, "
    "learns more than a class",
    "products": "the server adds up products before it answers, and only scores come back",
    "distances": "distances of codes are PrivateNeighbours' and hesc.codes'",
}
"""What the client learns, and the reason where an estimator has no backend for it."""
_TIES: Final = 1e-9
"""Margins within which roundings choose a class."""

OPTIONS: Final = {
    "ranges": "features that are encrypted",
    "max_error": "scores that err",
    "hidden": "scores of a server that has its weights in the clear",
    "answers": "hidden weights",
    "parties": "features of several owners, setting='many_parties'",
    "own_model": "models that are encrypted for their server, setting='outsourced'",
    "bins": "trees whose scores are computed",
    "refit": "trees whose scores are computed",
    "min_fidelity": "trees whose scores are computed",
    "min_agreement": "classes alone, and of nearest neighbours",
    "feature_bits": "classes alone",
    "engine": "classes alone",
    "batch": "classes alone",
    "bits": "codes, which nearest neighbours are compared by",
    "random_state": "codes, which nearest neighbours are compared by",
    "preset": "networks on streams",
    "stream_length": "networks on streams",
    "layout": "networks on streams",
}
"""Options of a plan, beside setting, disclosure and names, and what each is an option of."""
_LEFT_OUT: Final[dict[str, object]] = {"hidden": False, "own_model": False}
"""What stands for an option that is left out, where that is not None."""


class PlanRequest(NamedTuple):
    """A fitted model, the rows that it is planned with, and options."""

    estimator: Any
    """The estimator as it was fitted."""
    rows: Array
    """Samples before all transforms."""
    clear: Array
    """The model's scores of them, a row of outputs each."""
    names: list[str]
    """Names of the features, or none."""
    classes: NDArray[Any] | None
    """A classifier's classes; None of other models."""
    options: dict[str, Any]
    """Those that were given, of `OPTIONS`."""


class Backend(ABC):
    """A planned model in one process: its plan, the model, and both parties.

    Holds keys once it has run; is neither pickled nor copied.
    """

    takes: ClassVar[frozenset[str]]
    """The names in `OPTIONS` that the backend takes."""
    refuses: ClassVar[Mapping[str, str]] = {}
    """Other options, and what would do instead, where that is not plain from `OPTIONS`."""
    has_scores: ClassVar[bool] = True
    """Whether the client learns scores."""

    def __init__(self, plan: Any, request: PlanRequest) -> None:
        self.plan = plan
        self.batch: int = request.options.get("batch", 1)
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

    @abstractmethod
    def is_of(self, estimator: Any) -> bool:
        """Whether a fitted model computes what was planned; see `has_classes` for their names."""

    def has_classes(self, holder: Any) -> bool:
        """Whether classes have the names that were planned, in their order."""
        if self._classes is None:
            return True
        return np.array_equal(getattr(holder, "classes_", ()), self._classes)

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
            "plan(X, setting='outsourced') makes a plan whose owner does"
        )

    @abstractmethod
    def simulated(
        self, rows: Array, *, clip: bool, random_state: int | None, progress: Progress
    ) -> Run:
        """Samples as a run would have them; nothing is encrypted."""

    def parties(self) -> tuple[Any, Any]:
        """A client with new keys, and a server that answers it."""
        client = self.client()
        return client, self.server(keys=client.public_keys() if self.plan.needs_keys else None)

    def executed(self, rows: Array, *, clip: bool, progress: Progress) -> Run:
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
                "predict() gives classes, plan(X, disclose='scores') a plan with scores"
            )

    def truth(self, _rows: Array, scores: Array) -> Array:
        """What decrypted scores are held against, where that is not the model's own scores."""
        return scores

    def sides(self, server: Any) -> dict[str, dict[str, bytes]]:
        """Files of a deployment by name, by folder: see `hesc.ml.deployment`."""
        plan = self.plan.to_bytes()
        return {"client": {PLAN: plan}, "server": {PLAN: plan, SERVER: server.to_bytes()}}

    def measured(
        self, client: Any, server: Any, rows: Array, scores: Array, predictions: NDArray[Any]
    ) -> Measured | None:
        """A run for the report: see `hesc.protocols.measuring.measure`."""
        return measure(client, server, rows, scores, predictions)

    def most_measured(self, _server: Any) -> int | None:
        """Rows that a report's run may take; None for any number."""
        return None

    def check_compared(self) -> None:
        """Refuses plans that no other way is compared with; see `Serving.contenders`.

        Raises:
            ParameterError: with the reason.

        """
        raise ParameterError(
            "ways are compared for scores and classes of linear models, for scores of trees in "
            "bins, and for distances of nearest neighbours; this plan is of another kind. "
            "hesc.planner compares any task: docs/planner.md"
        )


def options_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some options that are not left out."""
    return {name: value for name, value in options.items() if value is not _LEFT_OUT.get(name)}


def backend_for(
    table: Table, setting: str, disclose: str, options: Mapping[str, Any]
) -> type[Backend]:
    """What serves a setting and a disclosure, by an estimator's table.

    Args:
        table: `module:class` by setting and disclosure.
        setting: who holds what.
        disclose: what the client learns.
        options: those that were given.

    Raises:
        ParameterError: nothing does, or an option is of something else; with what would do.

    """
    _check_spelt(setting, "setting", _SETTINGS, [each for each, _ in table])
    learned = [learns for at, learns in table if at == setting] or [learns for _, learns in table]
    _check_spelt(disclose, "disclose", _DISCLOSURES, learned)
    place = table.get((setting, disclose))
    if place is None:
        raise ParameterError(_refusal(table, setting, disclose))
    module, name = place.split(":")
    found: type[Backend] = getattr(import_module(module), name)
    for option in options:
        if option not in found.takes:
            reason = found.refuses.get(option, f"it is of {OPTIONS[option]}; leave it out")
            raise ParameterError(
                f"{option}= is no option of setting={setting!r} with disclose={disclose!r}: "
                f"{reason}"
            )
    return found


def _check_spelt(value: object, name: str, known: Mapping[str, str], served: list[str]) -> None:
    """Refuses what is no name at all and lists those served here.

    Known names that are not served have reasons of their own: see `_refusal`.

    Raises:
        ParameterError: naming what is served.

    """
    if not isinstance(value, str) or value not in known:
        one_name(value, name, tuple(dict.fromkeys(served)))


def _refusal(table: Table, setting: str, disclose: str) -> str:
    """Why nothing serves a setting and a disclosure, and what is served."""
    settings = dict.fromkeys(each for each, _ in table)
    known = setting in settings
    what = f"setting={setting!r}" + f" with disclose={disclose!r}" * known
    reason = _DISCLOSURES[disclose] if known else _SETTINGS[setting]
    served = [
        f"setting={each!r} with disclose="
        + " or ".join(repr(learns) for at, learns in table if at == each)
        for each in settings
    ]
    return f"{what} is not served here: {reason}. Served are {'; '.join(served)}"


def check_concluded(plan: Any, request: PlanRequest) -> None:
    """Compares what a client concludes from scores with what the model concludes.

    Raises:
        ParameterError: they differ by more than roundings.

    """
    scores = plan.scores(request.clear)
    found = plan.predictions(scores)
    expected = np.asarray(on_copies(request.estimator.predict, request.rows))
    if request.classes is None:
        # A target that was a column stays one in scikit-learn.
        same = found.size == expected.size and bool(
            np.allclose(found, expected.reshape(found.shape), rtol=1e-6, atol=_TIES)
        )
    else:
        same = found.shape == expected.shape and bool(
            (found == expected)[margins_of(request.clear) > _TIES].all()
        )
    if same and plan.link != "none":
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
