"""scikit-learn's nearest neighbours, whose classes can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hesc._native import ParameterError
from hesc.ml.classifying import Classifying
from hesc.ml.deployable import SAMPLE, spread_out
from hesc.ml.extraction import NEIGHBORS
from hesc.ml.neighbors import extraction, planning
from hesc.ml.neighbors.runs import NeighborsSession, simulate
from hesc.ml.neighbors.server import NeighborsServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.modes import Mode
    from hesc.ml.neighbors.client import NeighborsClient
    from hesc.ml.neighbors.extraction import Records
    from hesc.ml.neighbors.plans import NeighborsPlan
    from hesc.ml.neighbors.runs import NeighborsRun
    from hesc.planner import Decision

_SETTINGS = {
    "outsourced": "records of the client's own, encrypted at a server that reads none, are "
    "hesc.codes.EncryptedGallery",
    "one_side_clear": "records that are nobody's secret are best compared by the client itself, in "
    "the clear",
    "many_parties": "hesc.linkage matches records of two owners by a third party",
}
_DISCLOSURES = {
    "class": "the client decrypts distances, so it sees them, and learns more than a class. "
    "hesc.ml.decisions.offers.offer answers the class alone, of linear models and trees",
    "scores": "shares of votes are counted by the client, from distances that it sees",
    "products": "products are for models that are linear",
}


class PrivateNeighbors(Classifying):
    """A classifier by k nearest neighbours, for encrypted samples.

    Samples and records become binary codes, whose distances tell angles; the server has the
    records' codes, and the client learns **estimated distances to all records**, whose classes it
    is given.

    Args:
        estimator: KNeighborsClassifier with metric "minkowski" (p=2), "euclidean" or "cosine" and
            weights "uniform" or "distance", alone or behind the transforms that
            `PrivateClassifier` names in a Pipeline, which the client computes. `fit` fits a clone
            of it; `from_fitted` takes a fitted one as it is. Keys are no parameters, and are
            never pickled.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> private = PrivateNeighbors(KNeighborsClassifier()).fit(X, y)
    >>> plan = private.plan(X)
    >>> private.predict(X[[0, 60, 120]], fhe="execute", progress=False).tolist()
    [0, 1, 2]

    """

    _finals = NEIGHBORS
    # Of codes: another plan and session than those of ring products.
    _plan: Any
    _session: Any
    _read: Any
    _codes: Any

    @classmethod
    def _check(cls, estimator: Any) -> None:
        extraction.check(estimator)

    def _changed(self) -> bool:
        before: Records = self._read
        return not before.same_as(extraction.records_of(self.estimator_))

    def plan(  # type: ignore[override]  # codes have no errors, ranges or bins
        self,
        X: ArrayLike,
        *,
        setting: str = "client_server",
        disclose: str = "distances",
        bits: int | None = None,
        min_agreement: float = 0.9,
        hidden: bool = False,
        answers: int | None = None,
        names: Sequence[str] = (),
        random_state: int = 0,
    ) -> NeighborsPlan:
        """Codes the records, counts what that changes and says who learns what: print the plan.

        Args:
            X: rows that classes by codes are compared with classes by exact neighbours on, a
                thousand of them spread over it: training data, of which no row is its own
                neighbour, or better rows that were kept from training.
            setting: "client_server": the server knows the records, the client has samples and key.
            disclose: "distances": what the client learns, to **every record**, and classes.
            bits: of a code, a multiple of 64: up to 960, and 512 where codes are hidden. None takes
                as many. Bytes up are proportional to it, and more bits tell angles more finely.
            min_agreement: the least share of the rows tried that have the class of exact
                neighbours; less is refused.
            hidden: hide the records' codes from the client, who otherwise reads them from the
                noise of an answer. It takes larger rings and works for few answers, since
                distances locate a record.
            answers: how many samples a hidden model answers in all its life: each tells a number
                about every record. At most and by default one less than directions in which
                records vary.
            names: of the features, where the model was fitted without.
            random_state: what the public projections are drawn from.

        Raises:
            ParameterError: a wish that this cannot keep, with the reason and what would do.
            OutOfRangeError: where cosines count, a record of zeros.

        Cost: codes of the records, and distances of a thousand rows to all of them, in the clear.

        """
        _check_wishes(setting, disclose)
        rows = self._rows(X)
        if len(self.classes_) < 2:
            raise ParameterError("a model of one class needs no votes, encrypted or not")
        model = extraction.records_of(self.estimator_)
        plan, codes = planning.make(
            model,
            self.estimator_,
            rows,
            names=[str(name) for name in getattr(self, "feature_names_in_", names)],
            wishes=planning.Wishes(bits, min_agreement, hidden, answers, random_state),
        )
        self._read, self._plan, self._codes = model, plan, codes
        self._sample = spread_out(rows, SAMPLE)
        self.__dict__.pop("_session", None)
        return plan

    def _planned(self) -> tuple[NeighborsPlan, NDArray[np.uint64]]:  # type: ignore[override]
        return self._current_plan(), self._codes

    def client(self) -> NeighborsClient:  # type: ignore[override]
        """A client of the plan with a new key pair. Elsewhere: `NeighborsClient(plan)`.

        Raises:
            ParameterError: there is no plan.

        """
        from hesc.ml.neighbors.client import NeighborsClient

        return NeighborsClient(self._planned()[0])

    def server(self, *, keys: bytes | None = None) -> NeighborsServer:  # type: ignore[override]
        """A server of the plan, which cannot decrypt. Elsewhere: `NeighborsServer.from_bytes`.

        Args:
            keys: where codes are hidden, the client's `public_keys()`.

        Raises:
            ParameterError: there is no plan; keys missing or too many.

        """
        plan, codes = self._planned()
        return NeighborsServer(plan, codes, keys=keys)

    def run(  # type: ignore[override]  # neighbours have more to tell, and no errors
        self,
        X: ArrayLike,
        *,
        fhe: Mode = "execute",
        clip: bool = False,
        random_state: int | None = None,
        progress: bool | Callable[[int, int], object] = True,
    ) -> NeighborsRun:
        """Classes with votes, the nearest records, estimated angles to these, and bytes both ways.

        Both parties run in this process, with keys that stay for the plan's next runs.

        Args:
            X: samples.
            fhe: "execute" encrypts, compares and decrypts; "simulate" compares the same codes in
                the clear, and finds exactly the same.
            clip: changes nothing, since codes have no ranges.
            random_state: changes nothing, since nothing is drawn.
            progress: a bar on the terminal, or a function that is called with numbers of samples.

        Raises:
            OutOfRangeError: where cosines count, a sample of zeros.
            ParameterError: there is no plan; more answers than a hidden model has left.

        """
        found: NeighborsRun = super().run(  # type: ignore[assignment]
            X, fhe=fhe, clip=clip, random_state=random_state, progress=progress
        )
        return found

    def _opened(self, client: Any, server: Any) -> NeighborsSession:
        return NeighborsSession(client, server)

    def _simulated(
        self,
        rows: NDArray[np.float64],
        *,
        clip: bool,  # noqa: ARG002 - codes have no ranges
        random_state: int | None,  # noqa: ARG002 - nothing is drawn
        progress: bool | Callable[[int, int], object],  # noqa: ARG002 - it takes no time
    ) -> Any:
        return simulate(self._plan, self._codes, rows)

    def contenders(
        self, samples: int = 1, *, objective: str = "latency", bandwidth: float = 1e7
    ) -> Decision:
        """The ways to compute the same distances, as `PrivateClassifier.contenders` has them.

        Raises:
            ParameterError: there is no plan, or it hides codes, which no other way here does.

        """
        from hesc.planner import Distances, Task, decide

        plan, codes = self._planned()
        if plan.hidden:
            raise ParameterError(
                "this plan hides its codes, which one way alone does here: there is nothing to "
                "compare it with"
            )
        return decide(
            Task(
                Distances(codes),
                disclose="distances",
                samples=samples,
                objective=objective,
                bandwidth=bandwidth,
            )
        )


def _check_wishes(setting: str, disclose: str) -> None:
    """Refuses a setting that is not this one, and a disclosure that would not be kept.

    Raises:
        ParameterError: with the reason, and what would do.

    """
    if setting != "client_server":
        known = _SETTINGS.get(str(setting), f"known are client_server, {', '.join(_SETTINGS)}")
        raise ParameterError(
            f"setting={setting!r} is not what codes in the clear at a server do: {known}; here, "
            f"take setting='client_server'"
        )
    if disclose != "distances":
        known = _DISCLOSURES.get(str(disclose), "there is no such disclosure")
        raise ParameterError(
            f"disclose={disclose!r} is refused: {known}; else disclose='distances'"
        )
