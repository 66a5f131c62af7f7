"""A plan of nearest neighbours: codes of the records, and how often votes stay what they were."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError
from hesc._support import documents
from hesc._support.inputs import real_array, whole
from hesc.codes import hamming, sets
from hesc.models import extraction, transforms
from hesc.models.samples import on_copies, spread_out
from hesc.protocols import message
from hesc.protocols.neighbours import voting
from hesc.protocols.neighbours.coding import LARGEST, Coding
from hesc.protocols.neighbours.plan import RECORDS, NeighboursPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.neighbours import Records
    from hesc.models.tables.forms import Rows
    from hesc.protocols.neighbours.options import Neighbours

    Array = NDArray[np.float64]

_MOST_BITS: Final = sets.PLAIN.bits
BITS: Final = (_MOST_BITS, 512, 256, 128)
"""Bits of codes that an objective chooses among, the finest first."""
_CLOSE: Final = 1e-9
"""The share of rows' typical length below which a row and a record are the same one."""
_FAR: Final = np.iinfo(np.uint32).max


def make(
    model: Records, estimator: Any, x: Rows, *, names: list[str], options: Neighbours
) -> tuple[NeighboursPlan, NDArray[np.uint64]]:
    """The plan, and the codes of the records.

    Args:
        model: what the estimator knows.
        estimator: fitted, to hold classes against.
        x: rows of features before the transforms, of which a thousand are tried.
        names: of the features, or none.
        options: what is asked.

    Raises:
        ParameterError: options that cannot be, and codes that change too many classes.

    """
    if model.neighbours >= len(model.labels):
        raise ParameterError(
            f"n_neighbors={model.neighbours} of {len(model.labels)} records: all of them vote, so "
            f"that none is nearer than others; take fewer"
        )
    bits = _bits(options.bits, model.vectors)
    least = _share(options.min_agreement)
    seed = whole(options.random_state, "random_state", 0, (1 << 32) - 1)
    lengths = model.metric == "euclidean"
    coding = Coding.of_records(model.vectors, lengths=lengths, bits=bits, seed=seed)
    plan = NeighboursPlan(
        inputs=x.shape[1],
        names=names,
        steps=model.steps,
        classes=model.classes,
        labels=model.labels,
        coding=coding,
        neighbours=model.neighbours,
        weights=model.weights,
        metric=model.metric,
    )
    _check_room(plan)
    codes = coding.encode(model.vectors)
    rows = x[spread_out(len(x))]
    same = _same(plan, model, codes, rows, estimator)
    agreement = float(np.mean(same))
    if agreement < least:
        raise ParameterError(
            f"with codes of {bits} bits {100 * agreement:.2f} % of {len(rows)} rows have the class "
            f"of exact nearest neighbours, fewer than min_agreement={least:g}: "
            f"{'' if plan.steps else 'put a StandardScaler first, '}"
            f"{_more_bits(bits)}take more neighbours, or a smaller "
            f"min_agreement="
        )
    return replace(plan, agreement=agreement, tried=len(rows)), codes


def _more_bits(bits: int) -> str:
    return "" if bits == _MOST_BITS else f"ask for more bits= ({_MOST_BITS} at most), "


def _bits(bits: int | None, records: Array) -> int:
    found = _MOST_BITS if bits is None else whole(bits, "bits", 64, _MOST_BITS)
    if found % 64:
        raise ParameterError(f"bits is {found}; codes have a multiple of 64")
    if (records.shape[1] + 1) * found > LARGEST:
        raise ParameterError(
            f"{records.shape[1]} features by {found} bits are more projections than {LARGEST}; "
            f"put PCA before the neighbours, or ask for fewer bits="
        )
    return found


def _share(least: object) -> float:
    share = real_array(least, "min_agreement")  # type: ignore[arg-type]
    if share.shape or isinstance(least, bool) or not 0 <= share <= 1:
        raise ParameterError("min_agreement is a share of rows, from 0 to 1")
    return float(share)


def _check_room(plan: NeighboursPlan) -> None:
    """Refuses more records than a plan, or a message, holds."""
    few = (
        "keep fewer of them: a sample of each class, or the centres of sklearn.cluster.KMeans "
        "within each"
    )
    if plan.records > RECORDS:
        raise ParameterError(f"{plan.records} records are more than {RECORDS}; {few}")
    if plan.sizes().down > message.LARGEST:
        raise ParameterError(
            f"an answer about {plan.records} records would take {plan.sizes().down} bytes, more "
            f"than {message.LARGEST}; {few}"
        )
    if len(plan.to_bytes()) > documents.LARGEST:
        raise ParameterError("this plan is longer than a document of hesc.ml; use fewer features")


def _same(
    plan: NeighboursPlan, model: Records, codes: NDArray[np.uint64], rows: Rows, estimator: Any
) -> NDArray[np.bool_]:
    """Which rows have the class of exact neighbours. No row is its own neighbour.

    Raises:
        ParameterError: scikit-learn concludes something else from the same records.

    """
    features = transforms.transformed(plan.steps, rows)
    *before, final = extraction.parts_of(estimator)
    expected = extraction.transformed(before, rows)
    if not np.allclose(features, expected, rtol=1e-9, atol=1e-12):
        raise ParameterError(
            "the transforms before the neighbours give other features than scikit-learn's; put "
            "a StandardScaler first"
        )
    distances, indices = on_copies(final.kneighbors, expected, n_neighbors=model.neighbours + 1)
    _check_votes(plan, distances, indices, on_copies(estimator.predict, rows))
    own = _own(model.vectors, features, indices[:, 0])
    start = own.astype(np.intp)[:, None] + np.arange(model.neighbours)
    exact = _votes(
        plan,
        np.take_along_axis(distances, start, axis=1),
        np.take_along_axis(indices, start, axis=1),
    )
    estimated = hamming(plan.coding.encode(features), codes)
    estimated[own, indices[own, 0]] = _FAR
    found = plan.concluded(estimated).predictions
    same: NDArray[np.bool_] = found == voting.predicted(exact, plan.classes)
    return same


def _own(records: Array, features: Array, nearest: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows are their nearest records themselves."""
    size = np.sqrt(np.square(records - records.mean(axis=0)).sum(axis=1).mean())
    return np.asarray(np.abs(records[nearest] - features).max(axis=1) <= _CLOSE * size)


def _votes(plan: NeighboursPlan, distances: Array, indices: NDArray[np.intp]) -> Array:
    return voting.shares(
        indices,
        distances,
        labels=plan.labels,
        classes=len(plan.classes),
        weights=plan.weights,
    )


def _check_votes(
    plan: NeighboursPlan, distances: Array, indices: NDArray[np.intp], expected: NDArray[Any]
) -> None:
    """Votes of exact neighbours are counted as scikit-learn counts them, where none are tied."""
    count = plan.neighbours
    votes = _votes(plan, distances[:, :count], indices[:, :count])
    ordered = np.sort(votes, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > _CLOSE
    clear &= distances[:, count] > distances[:, count - 1]
    if not (voting.predicted(votes, plan.classes) == expected)[clear].all():
        raise ParameterError(
            "scikit-learn concludes something else from this model's nearest records; fit a "
            "KNeighborsClassifier of one target as it comes"
        )
