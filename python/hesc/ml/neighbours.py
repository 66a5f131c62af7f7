"""scikit-learn's nearest neighbours, whose classes can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc.ml.classifying import Classifying
from hesc.models import neighbours as extraction
from hesc.models.extraction import NEIGHBORS
from hesc.protocols.neighbours.options import Neighbours

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from hesc.ml.serving import Mode
    from hesc.protocols.backend import Table
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
    _backends: ClassVar[Table] = {Neighbours: "hesc.protocols.neighbours.backend:NeighboursBackend"}

    @classmethod
    def _check(cls, estimator: Any) -> None:
        extraction.check(estimator)

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
