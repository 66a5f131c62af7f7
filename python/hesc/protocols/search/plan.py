"""What client and server of a search agree upon: vectors, their scores, and who learns what."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from hesc import _native
from hesc._native import NoiseBudgetError, OutOfRangeError, ParameterError, WireError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind, real_array, whole
from hesc.models import samples, transforms
from hesc.models.tables import forms
from hesc.protocols import wire
from hesc.protocols.disclosure import Disclosure, secure
from hesc.protocols.message import LARGEST, message_size
from hesc.protocols.plan import ModelPlan
from hesc.protocols.search import vectors, voting
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams
    from hesc.protocols.search.vectors import ScoreError

PUBLIC: Final = "public"
"""What records have to be called: such as every client may have."""
MOST_RECORDS: Final = 1 << 26
"""Records of an index, at most."""
WHY_PUBLIC: Final = (
    "clients of a search can compute every record from scores that they ask for, whatever encrypts "
    "them: if they may have all records, say so by records='public'"
)
_SEEDS: Final = 32
_ROWS: Final = 16
"""Queries of a message, at most: one pass over the records answers them."""
_CONSTANTS: Final = 1 << 28
"""Bytes of the constants of a message's queries, but of one query at least."""
_SHARES: Final = (1, 2, 4, 8)
"""Blocks of records that may share a part of an answer."""
_LABEL: Final = np.dtype("<u4")


def _write_labels(labels: NDArray[np.intp] | None) -> str | None:
    return None if labels is None else documents.base64_of(labels.astype(_LABEL).tobytes())


def _read_labels(value: Any, what: str, earlier: wire.Earlier) -> NDArray[np.intp] | None:
    if (value is None) != (earlier["classes"] is None):
        raise WireError(f"{what} are there where there are classes")
    if value is None:
        return None
    data = documents.bytes_of(value, what)
    if len(data) != _LABEL.itemsize * earlier["most_records"]:
        raise WireError(f"{what} are one for each record")
    labels = np.frombuffer(data, dtype=_LABEL).astype(np.intp)
    if (labels >= len(earlier["classes"])).any():
        raise WireError(f"{what} are places of classes")
    return labels


_LABELS: Final = wire.declared(wire.Codec(_write_labels, _read_labels))


def _signs() -> bytes:
    return secrets.token_bytes(_SEEDS)


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchPlan(ModelPlan):
    """Public, and the same on both sides: what vectors are, how they are compared, and sizes.

    `of_vectors` and `of_codes` make one. Print it to read who holds and learns what.
    """

    protocol: ClassVar[str] = "search"
    compiled: ClassVar[tuple[str, ...]] = ("_computed", "native")
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a vector before the client's transforms."""
    names: list[str] = field(default_factory=list, metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(default_factory=list, metadata=wire.STEPS)
    """What is done with features, of queries and of records, before they are compared."""
    records: str = field(metadata=wire.one_of((PUBLIC,)))
    """What records are: "public"."""
    metric: str = field(metadata=wire.one_of(vectors.METRICS))
    """What is told of two vectors: one of `vectors.METRICS`."""
    step: float = field(default=1.0, metadata=wire.number(1e-100, 1e100))
    """What an entry of a record is counted in."""
    query_step: float = field(default=1.0, metadata=wire.number(1e-100, 1e100))
    """What an entry of a query is counted in."""
    norm: float = field(default=1.0, metadata=wire.number(1e-100, 1e100))
    """The Euclidean length of a record, at most."""
    query_norm: float = field(default=1.0, metadata=wire.number(1e-100, 1e100))
    """The Euclidean length of a query, at most."""
    dependence: float = field(default=1.0, metadata=wire.number(1.0, 1e6))
    """How many times as large as those of spread roundings errors of scores were, among vectors
    planned with: more than 1 where roundings depend on each other, as of counts and of bits."""
    most_records: int = field(metadata=wire.whole(1, MOST_RECORDS))
    """Records of an index, at most."""
    expanded: bool = field(default=False, metadata=wire.truth())
    """Whether clients give keys once, by which short queries are expanded."""
    shared: int = field(default=1, metadata=wire.whole(1, _SHARES[-1]))
    """Blocks of records that share a part of an answer."""
    signs: bytes = field(default_factory=_signs, metadata=wire.encoded(bytes, bytes))
    """What the public signs come from that records are multiplied with: random, and drawn before
    records are known."""
    classes: NDArray[Any] | None = field(default=None, metadata=wire.SCORED_CLASSES)
    """Classes of the records, where nearest ones vote; None of a search."""
    labels: NDArray[np.intp] | None = field(default=None, metadata=_LABELS)
    """The place of each record's class among these."""
    neighbours: int = field(default=0, metadata=wire.whole(0, MOST_RECORDS))
    """Records that vote."""
    weights: str = field(default="uniform", metadata=wire.one_of(voting.WEIGHTS))
    """How votes count: one of `voting.WEIGHTS`."""
    agreement: float | None = None
    """The share of rows that have the class of exact nearest neighbours; only the plan's maker
    knows it."""
    tried: int | None = None
    """Rows on which the agreement was measured; only the plan's maker knows it."""

    def __post_init__(self) -> None:
        if self.metric == "euclidean" and self.step != self.query_step:
            raise ParameterError("distances are of records and queries of one step; give one")
        if self.metric == "cosine" and (self.norm, self.query_norm) != (1.0, 1.0):
            raise ParameterError("cosines are of vectors of length 1; leave norms out")
        if self.metric == "hamming" and self.step != 1:
            raise ParameterError("bits have no step; leave it out")
        for name in ("step", "query_step", "norm", "query_norm"):
            if not 1e-100 <= getattr(self, name) <= 1e100:
                raise ParameterError(f"{name} is from 1e-100 to 1e100; scale vectors")
        if len(self.signs) != _SEEDS:
            raise ParameterError(f"signs= are {_SEEDS} random bytes; leave them out")
        if (self.classes is None) != (self.neighbours == 0):
            raise ParameterError("records vote where they have classes, and one at least")
        if self.classes is not None and not self.neighbours < self.most_records:
            raise ParameterError("fewer records vote than there are")
        self.native  # noqa: B018 - it refuses what no set has room for

    def check(self) -> None:
        """Refuses transforms that do not fit.

        Raises:
            WireError: fields of no vectors.

        """
        if self.link == "shares" and self.metric not in voting.METRICS:
            raise WireError("votes are of distances and cosines")

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
        known = isinstance(metric, str) and metric in vectors.METRICS
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
        step = vectors.step_for(own, width, bits)
        query_step = step if metric == "euclidean" else vectors.step_for(asked, width, bits)
        most = len(rows) if most_records is None else most_records
        some = rows[samples.spread_out(len(rows))][:_COMPARED]
        steps, norms = (step, query_step), (own, asked)
        fields: dict[str, Any] = {
            "dependence": vectors.dependence(some, metric, steps=steps, norms=norms),
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
        if shared is not None and whole(shared, "shared", 1, _SHARES[-1]) > 1:
            if keys is False:
                raise ParameterError(f"shared={shared} takes keys; leave out keys=False")
            keys = True
        ways = [(False, 1)] * (keys is not True)
        if keys is not False:
            ways += [(True, each) for each in (_SHARES if shared is None else (shared,))]
        fields["signs"] = _signs()
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

    @cached_property
    def native(self) -> _native.SearchPlan:
        """The compiled plan: parameters and sizes."""
        entries = None
        if self.metric != "hamming":
            asked = vectors.square_of(self.query_norm, self.query_step, self.dimensions)
            own = self.most_square
            # Lengths bound entries, and nothing depends on these otherwise.
            entries = (16, 16, asked, own)
        return _native.SearchPlan(
            self.dimensions, entries, self.most_records, self.expanded, self.shared, self.signs
        )

    @cached_property
    def dimensions(self) -> int:
        """Features of a vector after the transforms."""
        return transforms.width(self.steps, self.inputs)

    @property
    def link(self) -> str:  # type: ignore[override]  # a field of others
        """How scores become probabilities: votes are shares, and others are none."""
        return "none" if self.classes is None else "shares"

    @property
    def needs_query(self) -> bool:  # type: ignore[override]  # a field of others
        """Whether an answer is read with its query: Euclidean distances are from what is in it."""
        return self.metric == "euclidean"

    @property
    def has_index(self) -> bool:  # type: ignore[override]  # a field of others
        """Whether records are a file of their own: those that vote travel with their server."""
        return self.classes is None

    @property
    def params(self) -> VectorParams:
        """The parameters of the client's keys."""
        return self.native.params

    @property
    def key_options(self) -> dict[str, Any]:
        """Keys of products are needed by nobody."""
        return {"products": False}

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given the client's keys."""
        return self.expanded

    @property
    def key_bytes(self) -> int:
        """Bytes of these keys, which a client gives once."""
        return self.native.sizes[0]

    @property
    def nearest_first(self) -> bool:
        """Whether less is nearer: of distances, and not of products."""
        return self.metric in vectors.DISTANCES

    @property
    def score_error(self) -> ScoreError:
        """What roundings do to a score of vectors of the greatest length."""
        rms, bound = vectors.score_error(
            self.metric,
            steps=(self.step, self.query_step),
            norms=(self.norm, self.query_norm),
            dimensions=self.dimensions,
        )
        return vectors.ScoreError(min(rms * self.dependence, bound), bound)

    @property
    def error(self) -> float | None:
        """The root mean square of a score's error, of vectors like those planned with.

        None where nothing errs: distances of codes are exact, and so are votes of what was rounded.
        """
        exact = self.classes is not None or self.metric == "hamming"
        return None if exact else self.score_error.rms

    @property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each feature: lengths bound them."""
        low, high = {"hamming": (0.0, 1.0), "cosine": (-np.inf, np.inf)}.get(
            self.metric, (-self.query_norm, self.query_norm)
        )
        return np.full(self.dimensions, low), np.full(self.dimensions, high)

    @property
    def rows(self) -> int:
        """Queries of a message, at most: one pass over the records answers them."""
        each = self.native.index_sizes(self.most_records)[0]
        return max(1, min(_ROWS, (LARGEST >> 2) // each, _CONSTANTS // self.constants))

    @property
    def constants(self) -> int:
        """Bytes that the constants of a query take in memory while it is answered."""
        return 2 * 8 * self.native.block * self.dimensions

    @property
    def most_square(self) -> int:
        """What no rounded record's sum of squares is above."""
        if self.metric == "hamming":
            return self.dimensions
        return vectors.square_of(self.norm, self.step, self.dimensions)

    @cached_property
    def squares(self) -> np.dtype[Any] | None:
        """How the records' sums of squares travel, beside scores; None where they do not.

        They make Euclidean distances of inner products.
        """
        if self.metric != "euclidean":
            return None
        kinds = map(np.dtype, ("<u2", "<u4"))
        return next(kind for kind in kinds if self.most_square <= np.iinfo(kind).max)

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many queries of a full index."""
        count = whole(samples, "samples", 1)
        one, records = self.native.sizes[1], self.most_records
        beside = [] if self.squares is None else [self.squares.itemsize * records]
        answer = self.native.index_sizes(records)[0]
        messages = [self.rows] * (count // self.rows) + [count % self.rows] * (
            count % self.rows > 0
        )
        up = sum(message_size([one] * each) for each in messages)
        return Sizes(up, sum(message_size([answer] * each + beside) for each in messages))

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
            vectors.directions(ready.features)
        if self.metric in {"cosine", "hamming"}:
            return ready
        lengths = vectors.lengths(ready.features)
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
        features[longer] = vectors.directions(features[longer]) * self.query_norm
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
        return vectors.entries(features, metric=self.metric, step=step, norm=norm)

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
        return _table(self)

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
    longest = float(vectors.lengths(rows).max())
    if not 1e-100 <= longest <= 1e99:
        raise OutOfRangeError(
            "vectors are finite, not all zeros, and from 1e-100 to 1e99 long: scale them"
        )
    return longest * vectors.LONGER


_TELLS: Final = {
    "inner": "the inner product",
    "cosine": "the cosine of the angle",
    "euclidean": "the Euclidean distance",
    "hamming": "the Hamming distance",
}
_WEIGHTS: Final = {
    "uniform": "each with one vote",
    "distance": "each with the inverse of its distance as its vote",
}


def _table(plan: SearchPlan) -> Disclosure:
    """Roles, disclosure, error and bytes of a plan, a line for each."""
    native, size = plan.native, plan.sizes()
    told = _TELLS[plan.metric]
    concludes = "which are nearest"
    given = ["lengths of vectors", "how many records there are"]
    if plan.labels is not None:
        concludes = "which are nearest, shares of their votes and a class"
        given = [f"the class of each of {plan.most_records} records", "names of classes", *given]
    given += ["names of features"] * bool(plan.names)
    rows = {
        "setting": "client_server: the server holds the records, the client samples and key",
        "server": "sees how many samples there are, the plan, the key's name; no sample, no "
        "score. IT LEARNS FROM WHAT IS FETCHED AFTERWARDS: who asks it for a record that was found "
        "shows what was looked for",
        "client": f"sees its samples, {told} of each to EVERY record, and so {concludes}",
        "is given": "; ".join([*given, *transforms.disclosed(plan.steps)]),
        "records": "PUBLIC, as whoever planned it said: every client can compute all of them",
        "queries": _queries(plan),
    }
    if plan.neighbours:
        rows["votes"] = (
            f"the {plan.neighbours} nearest of {plan.most_records}, {_WEIGHTS[plan.weights]}; of "
            "equally near ones the earlier record counts as nearer"
        )
    rows["error"] = _error(plan)
    if plan.agreement is not None:
        rows["agreement"] = (
            f"{100 * plan.agreement:.2f} % of {plan.tried} rows have the class of exact nearest "
            "neighbours; a row that is itself a record was not its own neighbour, copies of it were"
        )
    rows["bytes"] = f"{size.up} up, {size.down} down for a sample, of a full index"
    if plan.expanded:
        rows["keys"] = f"{plan.key_bytes} bytes, once, for the server"
    memory = native.index_sizes(plan.most_records)[1]
    rows["memory"] = (
        f"{memory} bytes at the server for a full index, and {plan.constants} for each query while "
        "it is answered"
    )
    rows["ring"] = (
        f"N = {native.block}, {secure(plan.params.assurance)}; a score decrypts wrongly with a "
        "probability below 2^-128"
    )
    what = "search" if plan.classes is None else f"classifier of {len(plan.classes)} classes"
    title = (
        f"Private nearest neighbours, {what}: up to {plan.most_records} records of "
        f"{plan.dimensions} features"
    )
    return Disclosure(title, rows)


def _queries(plan: SearchPlan) -> str:
    fewer = ", and of bits far fewer do (159 of 512)" if plan.metric == "hamming" else ""
    return (
        f"{plan.dimensions} samples with their scores give EVERY record away, whatever encrypts "
        f"them{fewer}; no count of answers hides anything, since clients put theirs together"
    )


def _error(plan: SearchPlan) -> str:
    if plan.metric == "hamming":
        return "none: distances of codes are exact"
    found = plan.score_error
    how = "where roundings are spread evenly"
    if plan.dependence > 1:
        how = "as measured among vectors planned with, whose roundings depend on each other"
    exact = (
        "none beside rounding: scores of rounded vectors are exact"
        if plan.classes is None
        else "none beside rounding: distances of rounded vectors are exact"
    )
    return (
        f"{exact}, and err by {found.rms:.3g} (root mean square, {how}), never by more than "
        f"{found.bound:.3g}"
    )
