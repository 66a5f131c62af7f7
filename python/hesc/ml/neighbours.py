"""scikit-learn's nearest neighbours, whose classes can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc.ml.classifying import Classifying
from hesc.models import fitted_neighbours as extraction
from hesc.models.extraction import NEIGHBORS
from hesc.protocols.search.options import Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from hesc.ml.serving import Mode
    from hesc.protocols.backend import Table
    from hesc.protocols.search.runs import SearchRun


class PrivateNeighbours(Classifying):
    """A classifier by k nearest neighbours, for encrypted samples.

    Features are rounded, and distances of what is rounded are exact. The server has the records;
    the client learns **distances to all of them**, whose classes it is given, and can compute the
    records from enough samples: `plan` wants that said, `Search(records="public")`.

    Args:
        estimator: KNeighborsClassifier with metric "minkowski" (p=2), "euclidean" or "cosine" and
            weights "uniform" or "distance", alone or behind the transforms that
            `PrivateClassifier` names in a Pipeline, which the client computes. `fit` fits a clone
            of it; `from_fitted` takes a fitted one as it is. Keys are no parameters, and are
            never pickled.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from hesc.ml import Search
    >>> X, y = load_iris(return_X_y=True)
    >>> private = PrivateNeighbours(KNeighborsClassifier()).fit(X, y)
    >>> plan = private.plan(X, Search(records="public"))
    >>> private.predict(X[[0, 60, 120]], fhe="execute", progress=False).tolist()
    [0, 1, 2]

    """

    _finals = NEIGHBORS
    _backends: ClassVar[Table] = {Search: "hesc.protocols.search.backend:SearchBackend"}

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
    ) -> SearchRun:
        """Classes with votes, the nearest records, distances to these, and bytes both ways.

        Both parties run in this process, with keys that stay for the plan's next runs.

        Args:
            X: samples.
            fhe: "execute" encrypts, compares and decrypts; "simulate" compares the same rounded
                features in the clear, and finds exactly the same.
            clip: shorten samples that are farther from the records' centre than the plan declares,
                in their own direction.
            random_state: changes nothing, since nothing is drawn.
            progress: a bar on the terminal, or a function that is called with numbers of samples.

        Raises:
            OutOfRangeError: a sample that is farther from the records' centre than the plan
                declares; where cosines count, one of zeros.
            ParameterError: there is no plan.

        """
        found: SearchRun = super().run(  # type: ignore[assignment]
            X, fhe=fhe, clip=clip, random_state=random_state, progress=progress
        )
        return found
