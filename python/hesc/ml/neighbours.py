"""scikit-learn's nearest neighbours, whose classes can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc.ml.classifying import Classifying
from hesc.models import neighbours as extraction
from hesc.models.extraction import NEIGHBORS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from hesc.ml.serving import Mode
    from hesc.protocols.backend import Table
    from hesc.protocols.neighbours.plan import NeighboursPlan
    from hesc.protocols.neighbours.runs import NeighboursRun


class PrivateNeighbours(Classifying):
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
    >>> private = PrivateNeighbours(KNeighborsClassifier()).fit(X, y)
    >>> plan = private.plan(X)
    >>> private.predict(X[[0, 60, 120]], fhe="execute", progress=False).tolist()
    [0, 1, 2]

    """

    _finals = NEIGHBORS
    _backends: ClassVar[Table] = {
        ("client_server", "distances"): "hesc.protocols.neighbours.backend:NeighboursBackend"
    }

    @classmethod
    def _check(cls, estimator: Any) -> None:
        extraction.check(estimator)

    def plan(  # type: ignore[override]  # codes have no errors, ranges or bins
        self,
        X: ArrayLike,
        *,
        setting: str = "client_server",
        disclose: str = "distances",
        bits: int | None = None,
        min_agreement: float = 0.9,
        hidden: bool = False,
        names: Sequence[str] = (),
        random_state: int = 0,
        table: bool | None = None,
    ) -> NeighboursPlan:
        """Codes the records, counts what that changes and says who learns what: print the plan.

        Args:
            X: rows that classes by codes are compared with classes by exact neighbours on, a
                thousand of them spread over it: training data, of which no row is its own
                neighbour, or better rows that were kept from training.
            setting: "client_server": the server knows the records, the client has samples and key.
            disclose: "distances": what the client learns, to **every record**, and classes.
            bits: of a code, a multiple of 64, up to 960. None takes as many. Bytes up are
                proportional to it, and more bits tell angles more finely.
            min_agreement: the least share of the rows tried that have the class of exact
                neighbours; less is refused.
            hidden: refused, with the reason.
            names: of the features, where the model was fitted without.
            random_state: what the public projections are drawn from.
            table: whether to print the table of contenders; None prints it where Python is
                interactive or standard output is a terminal.

        Raises:
            ParameterError: an option that this cannot keep, with the reason and what would do.
            OutOfRangeError: where cosines count, a record of zeros.

        Cost: codes of the records, and distances of a thousand rows to all of them, in the clear.

        """
        found: NeighboursPlan = self._planned_by(
            X,
            setting,
            disclose,
            names,
            table=table,
            bits=bits,
            min_agreement=min_agreement,
            hidden=hidden,
            random_state=random_state,
        )
        return found

    def run(  # type: ignore[override]  # neighbours have more to tell, and no errors
        self,
        X: ArrayLike,
        *,
        fhe: Mode = "execute",
        clip: bool = False,
        random_state: int | None = None,
        progress: bool | Callable[[int, int], object] = True,
    ) -> NeighboursRun:
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
            ParameterError: there is no plan.

        """
        found: NeighboursRun = super().run(  # type: ignore[assignment]
            X, fhe=fhe, clip=clip, random_state=random_state, progress=progress
        )
        return found
