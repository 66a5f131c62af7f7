"""A model's owner with a plan for classes alone: both parties, simulated or in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hesc._native import ParameterError
from hesc.inputs import real_array, unmasked
from hesc.ml import documents, extraction
from hesc.ml.decisions import planning
from hesc.ml.decisions.client import ClassClient
from hesc.ml.decisions.models import classify
from hesc.ml.decisions.server import ClassServer
from hesc.ml.samples import check_names
from hesc.ml.trees import TreeEnsemble
from hesc.progress import Bar
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.decisions.models import Scores
    from hesc.ml.decisions.plans import ClassPlan

    Progress = bool | Callable[[int, int], object]


def offer(
    estimator: Any,
    X: ArrayLike,
    *,
    ranges: tuple[ArrayLike, ArrayLike] | None = None,
    names: Sequence[str] = (),
    min_agreement: float = 0.99,
    bits: int | None = None,
    engine: str | None = None,
    batch: int = 1,
) -> ClassOffer:
    """Plans a fitted classifier whose client learns classes and no scores: print its `plan`.

    Args:
        estimator: a fitted linear classifier that `hesc.ml.PrivateClassifier` takes, or a
            DecisionTree-, RandomForest-, ExtraTrees-, GradientBoosting- or
            HistGradientBoostingClassifier.
        X: training data, **whose least and greatest values become public ranges** unless `ranges`
            are given.
        ranges: a pair: the least and the greatest values of what is encrypted, each one number or
            one for each feature after the client's transforms.
        names: of the features, where the estimator was fitted without.
        min_agreement: the share of a thousand rows of `X` whose class quantisation must keep.
        bits: of an encrypted feature; None takes those of the cheapest model that keeps them.
        engine: one of `hesc.integers.ENGINES`; by default that of the least predicted time, with
            bytes at 100 Mbit/s.
        batch: samples that are to go together.

    Raises:
        ParameterError: an estimator or a wish that this cannot keep.
        CircuitError: no set has room for the model.

    """
    *before, final = extraction.parts_of(estimator)
    check_is_fitted(estimator)
    grown = type(final).__name__ in _TREES
    if grown and before:
        raise ParameterError(
            "trees need no transforms before them to be compared here: fit the tree on the "
            "features themselves"
        )
    if not grown:
        extraction.check(estimator, extraction.CLASSIFIERS)
    classes = final.classes_
    if len(classes) < 2:
        raise ParameterError("a model of one class needs no comparisons, encrypted or not")
    form = TreeEnsemble.from_sklearn(final) if grown else extraction.linear_form(estimator)
    # A table's columns are those that the estimator was fitted on, in their order.
    own = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    named = own or documents.feature_names(names, estimator.n_features_in_)
    check_names(X, named)
    rows = real_array(unmasked(X, "X"), "X")
    places = {label: place for place, label in enumerate(classes.tolist())}
    given = X if own and hasattr(X, "columns") else rows
    clear = np.array([places[label] for label in estimator.predict(given).tolist()])
    wishes = planning.Wishes(min_agreement, bits, engine, batch)
    plan, model = planning.make(
        form, rows, clear, names=named, classes=classes, ranges=ranges, wishes=wishes
    )
    return ClassOffer(plan, model)


_TREES = frozenset(
    f"{name}Classifier"
    for name in (
        "DecisionTree",
        "RandomForest",
        "ExtraTrees",
        "GradientBoosting",
        "HistGradientBoosting",
    )
)


class ClassRun(NamedTuple):
    """What came out of it."""

    predictions: NDArray[Any]
    """Classes."""
    sizes: Sizes
    """Bytes up and down, without keys; predicted where it was simulated."""
    clipped: int
    """Values that were brought within their ranges."""
    clipped_samples: int
    """Samples that had such values."""


class ClassOffer:
    """A plan and the model in whole numbers that the server has."""

    def __init__(self, plan: ClassPlan, model: Scores) -> None:
        self.plan = plan
        self._model = model
        self._parties: tuple[ClassClient, ClassServer] | None = None

    def client(self) -> ClassClient:
        """A client with a new key pair."""
        return ClassClient(self.plan)

    def server(self, *, keys: bytes | None = None) -> ClassServer:
        """A server, of one client if it is given its keys."""
        return ClassServer(self.plan, self._model, keys=keys)

    def simulate(self, samples: ArrayLike, *, clip: bool = False) -> ClassRun:
        """Classes by the model in whole numbers: exactly what encrypted ones give."""
        ready = self.plan.prepared(samples, clip=clip)
        places = classify(self._model, self.plan.quantised(ready.features))
        sizes = self.plan.sizes(len(ready.features))
        predictions = self.plan.predictions(places)
        return ClassRun(predictions, sizes, ready.values, ready.samples)

    def execute(
        self, samples: ArrayLike, *, clip: bool = False, progress: Progress = True
    ) -> ClassRun:
        """Samples encrypted, compared and decrypted, with keys that stay for the next runs."""
        # Before keys are made, and on all samples: refusals name places among them.
        ready = self.plan.prepared(samples, clip=clip)
        if self._parties is None:
            client = self.client()
            self._parties = client, self.server(keys=client.public_keys())
        client, server = self._parties
        given = np.asarray(samples)
        up = down = 0
        found = []
        with Bar("samples classified", progress) as bar:
            for first in range(0, len(given), self.plan.rows):
                rows = given[first : first + self.plan.rows]
                query = client.encrypt(rows, clip=clip).data
                answer = server.answer(query)
                found.append(client.decrypt(answer).predictions)
                up, down = up + len(query), down + len(answer)
                bar.show(first + len(rows), len(given))
        sizes = Sizes(up, down)
        return ClassRun(np.concatenate(found), sizes, ready.values, ready.samples)
