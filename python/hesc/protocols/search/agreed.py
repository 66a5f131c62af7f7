"""What client and server of a search agree upon: fields, and sizes that follow from them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc import _native
from hesc._native import ParameterError, WireError
from hesc._support.inputs import whole
from hesc.models import transforms
from hesc.protocols import wire
from hesc.protocols.message import LARGEST, message_size
from hesc.protocols.plan import ModelPlan
from hesc.protocols.search import rounding, voting
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams
    from hesc.protocols.search.rounding import ScoreError

PUBLIC: Final = "public"
"""What records have to be called: such as every client may have."""
MOST_RECORDS: Final = 1 << 26
"""Records of an index, at most."""
_SEEDS: Final = 32
_ROWS: Final = 16
"""Queries of a message, at most: one pass over the records answers them."""
_CONSTANTS: Final = 1 << 28
"""Bytes of the constants of a message's queries, but of one query at least."""
SHARES: Final = (1, 2, 4, 8)
"""Blocks of records that may share a part of an answer."""


def _read_labels(labels: NDArray[Any] | None, what: str, earlier: wire.Earlier) -> Any:
    if (labels is None) != (earlier["classes"] is None):
        raise WireError(f"{what} are there where there are classes")
    if labels is None:
        return None
    if len(labels) != earlier["most_records"]:
        raise WireError(f"{what} are one for each record")
    if (labels >= len(earlier["classes"])).any():
        raise WireError(f"{what} are places of classes")
    return labels.astype(np.intp)


def drawn_signs() -> bytes:
    """The public signs of a plan, drawn anew."""
    return secrets.token_bytes(_SEEDS)


@dataclass(frozen=True, eq=False, kw_only=True)
class Agreed(ModelPlan):
    """Fields of a plan of a search, public and the same on both sides, and what follows."""

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
    metric: str = field(metadata=wire.one_of(rounding.METRICS))
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
    shared: int = field(default=1, metadata=wire.whole(1, SHARES[-1]))
    """Blocks of records that share a part of an answer."""
    signs: bytes = field(default_factory=drawn_signs, metadata=wire.encoded(bytes, bytes))
    """What the public signs come from that records are multiplied with: random, and drawn before
    records are known."""
    classes: NDArray[Any] | None = field(default=None, metadata=wire.SCORED_CLASSES)
    """Classes of the records, where nearest ones vote; None of a search."""
    labels: NDArray[np.intp] | None = field(
        default=None, metadata=wire.numbers("<u4", _read_labels)
    )
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

    @cached_property
    def native(self) -> _native.SearchPlan:
        """The compiled plan: parameters and sizes."""
        entries = None
        if self.metric != "hamming":
            asked = rounding.square_of(self.query_norm, self.query_step, self.dimensions)
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
        return self.metric in rounding.DISTANCES

    @property
    def score_error(self) -> ScoreError:
        """What roundings do to a score of vectors of the greatest length."""
        rms, bound = rounding.score_error(
            self.metric,
            steps=(self.step, self.query_step),
            norms=(self.norm, self.query_norm),
            dimensions=self.dimensions,
        )
        return rounding.ScoreError(min(rms * self.dependence, bound), bound)

    @property
    def error(self) -> float | None:
        """The root mean square of a score's error, of vectors like those planned with.

        None where nothing errs: distances of codes are exact, and so are votes of what was rounded.
        """
        exact = self.classes is not None or self.metric == "hamming"
        return None if exact else self.score_error.rms

    @property
    def error_in_words(self) -> str | None:
        """What `error` says of one answer; None where nothing errs."""
        if self.error is None:
            return None
        return (
            f"scores err by {self.error:.3g}, as a root mean square of vectors like those planned "
            f"with, and never by more than {self.score_error.bound:.3g}"
        )

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
        return rounding.square_of(self.norm, self.step, self.dimensions)

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
