"""A plan of nearest neighbours: how finely features are rounded, and how often classes stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import NoiseBudgetError, OutOfRangeError, ParameterError
from hesc._support import documents
from hesc._support.inputs import real_array, whole
from hesc.models import extraction, transforms
from hesc.models.samples import on_copies, spread_out
from hesc.models.transforms import Affine
from hesc.protocols import message
from hesc.protocols.search import rounding, voting
from hesc.protocols.search.agreed import MOST_RECORDS, PUBLIC
from hesc.protocols.search.nearest import concluded
from hesc.protocols.search.plan import WHY_PUBLIC, SearchPlan
from hesc.protocols.search.runs import values_in_clear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.fitted_neighbours import Records
    from hesc.models.tables.forms import Rows
    from hesc.models.transforms import Transform
    from hesc.protocols.search.options import Search

    Array = NDArray[np.float64]

BITS: Final = (4, 6, 8, 10)
"""Bits of entries that an objective chooses among."""
_TRIED: Final = range(4, 15)
"""Bits that are tried where none are asked for, the fewest first."""
_PARTS: Final = (0.75, 0.5, 0.25)
"""What is tried less than as many bits as are enough."""
_ENOUGH: Final = 0.98
"""The share of classes that no more bits are tried for."""
_FARTHER: Final = 1.1
"""How much farther from the centre samples may be than all rows that are known."""
_CLOSE: Final = 1e-9
"""The share of rows' typical length below which a row and a record are the same one."""
_CELLS: Final = 1 << 24
"""Distances that are in memory at once."""


def make(
    model: Records, estimator: Any, x: Rows, *, names: list[str], options: Search
) -> tuple[SearchPlan, NDArray[np.int16]]:
    """The plan, and the records as whole numbers.

    Args:
        model: what the estimator knows.
        estimator: fitted, to hold classes against.
        x: rows of features before the transforms, of which a thousand are tried.
        names: of the features, or none.
        options: what is asked.

    Raises:
        ParameterError: options that cannot be, and roundings that change too many classes.

    """
    if options.records != PUBLIC:
        raise ParameterError(f"{WHY_PUBLIC}: plan(X, Search(records='public'))")
    if model.neighbours >= len(model.labels):
        raise ParameterError(
            f"n_neighbors={model.neighbours} of {len(model.labels)} records: all of them vote, so "
            f"that none is nearer than others; take fewer"
        )
    if len(model.labels) > MOST_RECORDS:
        raise ParameterError(f"{len(model.labels)} records are more than {MOST_RECORDS}")
    least = _share(options.min_agreement)
    asked = None if options.bits is None else whole(options.bits, "bits", 2, 14)
    trial = _Trial.of(model, estimator, x, names)
    best = trial.best(options.keys) if asked is None else trial.plan(asked, options.keys)
    if (best.agreement or 0) < least:
        raise ParameterError(
            f"{100 * (best.agreement or 0):.2f} % of {best.tried} rows have the class of exact "
            f"nearest neighbours, fewer than min_agreement={least:g}: "
            f"{'' if model.steps else 'put a StandardScaler first, '}ask for more bits=, take more "
            f"neighbours, or a smaller min_agreement="
        )
    _check_room(best)
    return best, best.rounded(trial.records)


def _share(least: object) -> float:
    share = real_array(least, "min_agreement")  # type: ignore[arg-type]
    if share.shape or isinstance(least, bool) or not 0 <= share <= 1:
        raise ParameterError("min_agreement is a share of rows, from 0 to 1")
    return float(share)


def _check_room(plan: SearchPlan) -> None:
    """Refuses more records than a plan, its server's document or a message holds."""
    few = (
        "keep fewer of them: a sample of each class, or the centres of sklearn.cluster.KMeans "
        "within each; or make an hesc.search.Index of them, whose records stay in a file"
    )
    if plan.sizes().down > message.LARGEST:
        raise ParameterError(
            f"an answer about {plan.most_records} records would take {plan.sizes().down} bytes, "
            f"more than {message.LARGEST}; {few}"
        )
    if _TEXT * plan.most_records * plan.dimensions > documents.LARGEST:
        raise ParameterError(
            f"{plan.most_records} records of {plan.dimensions} features are longer than a document "
            f"of hesc.ml; {few}"
        )
    if len(plan.to_bytes()) > documents.LARGEST:
        raise ParameterError("this plan is longer than a document of hesc.ml; use fewer features")


_TEXT: Final = 2 * 4 / 3
"""Bytes of an entry of a record in a document."""


class _Trial(NamedTuple):
    """A model that is planned, and rows that classes are compared on."""

    model: Records
    names: list[str]
    steps: list[Transform]
    inputs: int
    records: Array
    """Behind these steps."""
    rows: Array
    """Rows that are tried, behind them too."""
    norms: tuple[float, float]
    """Lengths of records, and of samples."""
    exact: NDArray[Any]
    """The classes of exact neighbours."""
    own: NDArray[np.bool_]
    """Which rows are records themselves."""
    nearest: NDArray[np.intp]
    """The nearest record of each."""

    @classmethod
    def of(cls, model: Records, estimator: Any, x: Rows, names: list[str]) -> _Trial:
        centre = _centre(model.vectors) if model.metric == "euclidean" else None
        rows = x[spread_out(len(x))]
        features = transforms.transformed(model.steps, rows)
        *before, final = extraction.parts_of(estimator)
        expected = extraction.transformed(before, rows)
        if not np.allclose(features, expected, rtol=1e-9, atol=1e-12):
            raise ParameterError(
                "the transforms before the neighbours give other features than scikit-learn's; put "
                "a StandardScaler first"
            )
        count = model.neighbours
        distances, indices = on_copies(final.kneighbors, expected, n_neighbors=count + 1)
        _check_votes(model, distances, indices, on_copies(estimator.predict, rows))
        own = _own(model.vectors, features, indices[:, 0])
        start = own.astype(np.intp)[:, None] + np.arange(count)
        votes = _votes(
            model,
            np.take_along_axis(indices, start, axis=1),
            np.take_along_axis(distances, start, axis=1),
        )
        steps, records, norms = list(model.steps), model.vectors, (1.0, 1.0)
        if model.metric == "euclidean":
            if centre is not None:
                steps.append(Affine(centre, np.ones_like(centre)))
                records, features = records - centre, features - centre
            norms = _norms(records, features)
        elif not records.any(axis=1).all():
            raise OutOfRangeError(
                "a record is all zeros, which has no direction and no cosine; leave it out"
            )
        exact = voting.predicted(votes, model.classes)
        return cls(
            model, names, steps, x.shape[1], records, features, norms, exact, own, indices[:, 0]
        )

    def best(self, keys: bool | None) -> SearchPlan:
        """The plan with the fewest bits, or parts of one, that keeps enough classes; else the best.

        Raises:
            ParameterError, NoiseBudgetError: not even the fewest bits have room.

        """
        best: SearchPlan | None = None
        tried = [float(bits) for bits in _TRIED]
        while tried:
            bits = tried.pop(0)
            try:
                found = self.plan(bits, keys)
            except (ParameterError, NoiseBudgetError):
                if best is None:
                    raise
                break
            if best is None or (found.agreement or 0) > (best.agreement or 0):
                best = found
            if (found.agreement or 0) >= _ENOUGH:
                # Between whole bits there may be room in a smaller ring.
                finer = bits.is_integer() and bits > _TRIED[0]
                best, tried = found, [bits - part for part in _PARTS] if finer else []
        assert best is not None  # noqa: S101 - the first one is raised or kept
        return best

    def plan(self, bits: float, keys: bool | None) -> SearchPlan:
        """A plan with so many bits, with keys or without, and its agreement.

        Raises:
            ParameterError: steps that entries do not hold.

        """
        model, (own, asked) = self.model, self.norms
        step = rounding.step_for(own, self.records.shape[1], bits)
        found = SearchPlan.smallest(
            {
                "inputs": self.inputs,
                "names": self.names,
                "steps": self.steps,
                "records": PUBLIC,
                "metric": model.metric,
                "step": step,
                "query_step": step,
                "norm": own,
                "query_norm": asked,
                "most_records": len(model.labels),
                "classes": model.classes,
                "labels": model.labels,
                "neighbours": model.neighbours,
                "weights": model.weights,
            },
            keys=keys,
        )
        return replace(found, agreement=float(np.mean(self._same(found))), tried=len(self.rows))

    def _same(self, plan: SearchPlan) -> NDArray[np.bool_]:
        """Which rows have the class of exact neighbours. No row is its own neighbour."""
        entries = plan.rounded(self.records).astype(np.float64)
        rows = plan.rounded(self.rows, queries=True).astype(np.float64)
        each = max(1, _CELLS // len(entries))
        same = np.empty(len(rows), dtype=bool)
        for first in range(0, len(rows), each):
            part = slice(first, first + each)
            values = values_in_clear(plan, entries, rows[part])
            own = self.own[part]
            values[own, self.nearest[part][own]] = _far(plan)
            same[part] = concluded(plan, values).predictions == self.exact[part]
        return same


def _far(plan: SearchPlan) -> float:
    """A distance, or a cosine, that no record has."""
    return 4 * (plan.norm + plan.query_norm) if plan.nearest_first else -2.0


def _centre(records: Array) -> Array | None:
    """What is taken off records, so that they are short; None where that is next to nothing."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = records.mean(axis=0)
        # Sums of many large numbers are rounded.
        constant = records.min(axis=0) == records.max(axis=0)
        mean[constant] = records[0, constant]
        typical = np.sqrt(np.square(records - mean).sum(axis=1).mean())
        length = np.linalg.norm(mean)
    if not np.isfinite([typical, length]).all():
        raise OutOfRangeError(
            "records lie so far apart that squares of their distances are beyond the largest "
            "number: scale features, as StandardScaler does"
        )
    small = length <= _CLOSE * max(float(typical), 1e-100)
    return None if small else np.asarray(mean)


def _norms(records: Array, rows: Array) -> tuple[float, float]:
    """Lengths of records and samples: those of all that are known, and a little more."""
    own, asked = (float(np.sqrt(np.square(each).sum(axis=1).max())) for each in (records, rows))
    own = max(own * (1 + _CLOSE), 1e-90)
    return own, max(own, asked) * _FARTHER


def _own(records: Array, features: Array, nearest: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows are their nearest records themselves."""
    largest = np.abs(records).max() or 1.0
    scaled = records / largest
    size = largest * np.sqrt(np.square(scaled - scaled.mean(axis=0)).sum(axis=1).mean())
    return np.asarray(np.abs(records[nearest] - features).max(axis=1) <= _CLOSE * size)


def _votes(model: Records, indices: NDArray[np.intp], distances: Array) -> Array:
    return voting.shares(
        indices,
        distances,
        labels=model.labels,
        classes=len(model.classes),
        weights=model.weights,
    )


def _check_votes(
    model: Records, distances: Array, indices: NDArray[np.intp], expected: NDArray[Any]
) -> None:
    """Votes of exact neighbours are counted as scikit-learn counts them, where none are tied.

    Raises:
        ParameterError: scikit-learn concludes something else from the same records.

    """
    count = model.neighbours
    votes = _votes(model, indices[:, :count], distances[:, :count])
    ordered = np.sort(votes, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > _CLOSE
    clear &= distances[:, count] > distances[:, count - 1]
    if not (voting.predicted(votes, model.classes) == expected)[clear].all():
        raise ParameterError(
            "scikit-learn concludes something else from this model's nearest records; fit a "
            "KNeighborsClassifier of one target as it comes"
        )
