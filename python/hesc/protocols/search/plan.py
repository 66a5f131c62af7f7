"""What client and server of a search agree upon: vectors, their scores, and who learns what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from hesc._native import NoiseBudgetError, OutOfRangeError, ParameterError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind, real_array, whole
from hesc.models import samples
from hesc.models.tables import forms
from hesc.protocols.search import rounding, told
from hesc.protocols.search.agreed import MOST_RECORDS, PUBLIC, SHARES, Agreed, drawn_signs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Samples
    from hesc.protocols.disclosure import Disclosure

WHY_PUBLIC: Final = (
    "clients of a search can compute every record from scores that they ask for, whatever encrypts "
    "them: if they may have all records, say so by records='public'"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchPlan(Agreed):
    """Public, and the same on both sides: what vectors are, how they are compared, and sizes.

    `of_vectors` and `of_codes` make one. Print it to read who holds and learns what.
    """

    @classmethod
    @usual_floats
    def of_vectors(
        cls,
        sample: ArrayLike,
        *,
        records: str,
        metric: str = "cosine",
        bits: int = 6,
        most_records: int | None = None,
        norm: float | None = None,
        query_norm: float | None = None,
        keys: bool | None = None,
        shared: int | None = None,
        names: Sequence[str] = (),
    ) -> Self:
        """A plan for vectors such as these.

        Args:
            sample: a row for each vector: the records, or some of them. **Their greatest length
                becomes public**, unless `norm` says otherwise.
            records: "public": every client can compute all of them from enough scores.
            metric: "inner", "cosine" or "euclidean".
            bits: of an entry up to four times a vector's root mean square entry, from 2 on. Each
                takes a bit more of memory and of answers, and halves the error of scores.
            most_records: of the index, at most; None takes as many as the sample has.
            norm: the Euclidean length of a record, at most; longer ones are refused.
            query_norm: that of a query; None takes that of records.
            keys: whether clients give the server keys, once, by which queries are short. None
                takes what has fewer bytes for a client of a hundred queries.
            shared: blocks of records that share a part of an answer, with keys: answers are
                shorter, and keys longer. None takes what has fewer bytes.
            names: of the features, or none.

        Raises:
            ParameterError: records that are not said to be public, another metric.
            OutOfRangeError, ShapeError: what are no vectors.
            NoiseBudgetError: bits and lengths that no set has room for.

        """
        _check_public(records)
        rows = real_array(sample, "vectors")
        if rows.ndim != 2 or not rows.size:
            raise OutOfRangeError(f"vectors are rows of numbers; got the shape {rows.shape}")
        known = isinstance(metric, str) and metric in rounding.METRICS
        if not known or metric == "hamming":
            told = repr(str(metric)[:40])
            raise ParameterError(
                f"metric={told} is not inner, cosine or euclidean; codes are of_codes'"
            )
        whole(bits, "bits", 2, 16)
        width = rows.shape[1]
        if isinstance(names, tuple) and not names and forms.is_table(sample):
            names = forms.names_of(sample) or ()
        own = asked = 1.0
        if metric != "cosine":
            own = _length(norm, "norm") or _longest(rows)
            asked = _length(query_norm, "query_norm") or own
        elif (norm, query_norm) != (None, None):
            raise ParameterError("cosines are of vectors of length 1; leave norms out")
        step = rounding.step_for(own, width, bits)
        query_step = step if metric == "euclidean" else rounding.step_for(asked, width, bits)
        most = len(rows) if most_records is None else most_records
        some = rows[samples.spread_out(len(rows))][:_COMPARED]
        steps, norms = (step, query_step), (own, asked)
        fields: dict[str, Any] = {
            "dependence": rounding.dependence(some, metric, steps=steps, norms=norms),
            "inputs": width,
            "names": documents.feature_names(names, width),
            "records": records,
            "metric": metric,
            "step": step,
            "query_step": query_step,
            "norm": own,
            "query_norm": asked,
            "most_records": whole(most, "most_records", 1, MOST_RECORDS),
        }
        return cls.smallest(fields, keys=keys, shared=shared)

    @classmethod
    def of_codes(
        cls, bits: int, *, records: str, most_records: int, keys: bool | None = None
    ) -> Self:
        """A plan for binary codes, which are compared by Hamming distance.

        Args:
            bits: of a code.
            records: "public": every client can compute all codes from enough distances.
            most_records: of the index, at most.
            keys: as of `of_vectors`.

        Raises:
            ParameterError: codes that are not said to be public, another number of bits.

        """
        _check_public(records)
        fields = {
            "inputs": whole(bits, "bits", 1, 1 << 12),
            "records": records,
            "metric": "hamming",
            "most_records": whole(most_records, "most_records", 1, MOST_RECORDS),
        }
        return cls.smallest(fields, keys=keys)

    @classmethod
    def smallest(
        cls, fields: dict[str, Any], *, keys: bool | None = None, shared: int | None = None
    ) -> Self:
        """The plan of these fields with the fewest bytes of keys, and of a hundred queries.

        Args:
            fields: all others.
            keys: whether clients give keys, or None.
            shared: blocks that share a part, or None.

        Raises:
            ParameterError: fields that do not fit together.
            NoiseBudgetError: no set has room.

        """
        if keys is not None:
            of_kind(keys, "keys", bool, "True and False say whether, None takes the shorter")
        if shared is not None and whole(shared, "shared", 1, SHARES[-1]) > 1:
            if keys is False:
                raise ParameterError(f"shared={shared} takes keys; leave out keys=False")
            keys = True
        ways = [(False, 1)] * (keys is not True)
        if keys is not False:
            ways += [(True, each) for each in (SHARES if shared is None else (shared,))]
        fields["signs"] = drawn_signs()
        found: list[Self] = []
        refused: NoiseBudgetError | None = None
        for expanded, count in ways:
            try:
                found.append(cls(**fields, expanded=expanded, shared=count))
            except NoiseBudgetError as error:
                refused = error
        if not found:
            assert refused is not None  # noqa: S101 - there was a way, and no set for it
            raise refused
        return min(found, key=lambda plan: plan.key_bytes + _OFTEN * sum(plan.sizes()))

    @usual_floats
    def prepared(self, given: Samples, *, clip: bool = False) -> Clipped:
        """Queries as they are encrypted: after transforms, no longer than the plan declares.

        Args:
            given: a row of features for each; the columns of a DataFrame have the plan's names.
            clip: shorten queries that are longer, in their own direction.

        Raises:
            OutOfRangeError: a longer query; one of zeros, which has no cosine; what is no number.
            ShapeError: rows of another length, columns of other names.

        """
        ready = self._behind_steps(given, bits=self.metric == "hamming", clip=clip)
        if self.metric == "cosine":
            rounding.directions(ready.features)
        if self.metric in {"cosine", "hamming"}:
            return ready
        lengths = rounding.lengths(ready.features)
        longer = ~(lengths <= self.query_norm)
        if not longer.any():
            return ready
        if not clip:
            place = int(np.flatnonzero(longer)[0])
            raise OutOfRangeError(
                f"sample {place} is {lengths[place]:.12g} long after the transforms, and the plan "
                f"declares {self.query_norm:.12g}; clip=True, or --clip, shortens it, and a plan "
                f"for longer ones takes it as it is"
            )
        features = ready.features.copy()
        features[longer] = rounding.directions(features[longer]) * self.query_norm
        count = self.dimensions * int(np.count_nonzero(longer))
        return type(ready)(features, ready.values + count, ready.which | longer)

    @usual_floats
    def records_of(self, given: Samples) -> NDArray[np.int16]:
        """Records as they are compared: whole numbers, a row for each.

        Args:
            given: a row of features for each record, before the transforms.

        Raises:
            OutOfRangeError: a record that is longer than the plan declares; what is no number.
            ShapeError: rows of another length, columns of other names.

        """
        return self.rounded(self._behind_steps(given, bits=False, clip=False).features)

    def _behind_steps(self, given: Samples, *, bits: bool, clip: bool) -> Clipped:
        """Features behind the transforms: numbers of any size, unless they are bits."""
        unbounded = np.full(self.dimensions, np.inf)
        bounds = self.ranges if bits else (-unbounded, unbounded)
        return samples.prepared(
            given, names=self.names, steps=self._computed, ranges=bounds, clip=clip
        )

    def rounded(self, features: NDArray[np.float64], *, queries: bool = False) -> NDArray[np.int16]:
        """Whole numbers for features behind the transforms, of records or of queries.

        Raises:
            OutOfRangeError: as `vectors.entries`.

        """
        step, norm = (self.query_step, self.query_norm) if queries else (self.step, self.norm)
        return rounding.entries(features, metric=self.metric, step=step, norm=norm)

    def values_of(
        self,
        products: NDArray[np.int64],
        squares: NDArray[Any] | None = None,
        query_squares: NDArray[Any] | None = None,
    ) -> NDArray[np.float64]:
        """Scores of inner products of whole numbers: in units of vectors.

        Args:
            products: a row for each query, a column for each record.
            squares: of Euclidean distances, the sums of squares of records.
            query_squares: those of queries.

        Returns:
            Scores; NaN for Euclidean distances that no records have.

        """
        if self.metric == "hamming":
            return np.asarray((self.dimensions - products) / 2, dtype=np.float64)
        if squares is None or query_squares is None:
            return np.asarray(products * (self.step * self.query_step), dtype=np.float64)
        # Sums of whole numbers below 2^53, exactly.
        own = query_squares.astype(np.float64)[:, None] + squares.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(own - 2 * products) * self.step, dtype=np.float64)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        return told.table(self)

    def __repr__(self) -> str:
        return (
            f"<hesc.protocols.search.SearchPlan: {self.metric}, up to {self.most_records} records "
            f"of {self.dimensions} features, N = {self.native.block}>"
        )


_COMPARED: Final = 256
"""Vectors whose scores with each other are compared where a plan is made."""
_OFTEN: Final = 100
"""Queries for which a client's keys are weighed."""


def _check_public(records: object) -> None:
    if not isinstance(records, str) or records != PUBLIC:
        raise ParameterError(f"records={str(records)[:40]!r}: {WHY_PUBLIC}")


def _length(value: float | None, name: str) -> float | None:
    if value is None:
        return None
    found = real_array(value, name)
    if found.shape or not 1e-100 <= found <= 1e100:
        raise ParameterError(f"{name} is a length, from 1e-100 to 1e100")
    return float(found)


def _longest(rows: NDArray[np.float64]) -> float:
    """The length of the longest row, and a little more than rounding takes away."""
    longest = float(rounding.lengths(rows).max())
    if not 1e-100 <= longest <= 1e99:
        raise OutOfRangeError(
            "vectors are finite, not all zeros, and from 1e-100 to 1e99 long: scale them"
        )
    return longest * rounding.LONGER
