"""What both sides of nearest neighbours know, and what each learns, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, WireError
from hesc._support.inputs import whole
from hesc.codes import sets
from hesc.models import transforms
from hesc.params import Params
from hesc.protocols import wire
from hesc.protocols.disclosure import Disclosure, secure
from hesc.protocols.message import message_size
from hesc.protocols.neighbours import coding, voting
from hesc.protocols.plan import ModelPlan
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.codes.sets import DistanceSet
    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform
    from hesc.params.streams import StreamParams
    from hesc.protocols.neighbours.coding import Coding

RECORDS: Final = 1 << 16
"""Records of a plan, at most."""


class Voted(NamedTuple):
    """What follows from distances."""

    predictions: NDArray[Any]
    """Classes."""
    scores: NDArray[np.float64]
    """Shares of votes; of two classes that of the second less a half."""
    indices: NDArray[np.intp]
    """The nearest records, the nearest first."""
    angles: NDArray[np.float64]
    """Estimated angles to these, in radians."""


def _read_labels(value: Any, what: str, earlier: wire.Earlier) -> NDArray[np.intp]:
    if not isinstance(value, list) or not 1 < len(value) <= RECORDS:
        raise WireError(f"{what} are from 2 to {RECORDS} labels")
    classes = len(earlier["classes"])
    if not all(type(place) is int and 0 <= place < classes for place in value):
        raise WireError(f"{what} are places of classes")
    return np.array(value, dtype=np.intp)


_LABELS: Final = wire.declared(wire.Codec(lambda labels: labels.tolist(), _read_labels))
_CODING: Final = wire.declared(
    wire.Codec(coding.Coding.described, lambda value, *_: coding.read(value))
)


@dataclass(frozen=True, eq=False)
class NeighboursPlan(ModelPlan):
    """Public, and the same on both sides: the records' classes, how samples become codes, votes.

    `PrivateNeighbours.plan` makes one; print it to read who holds and learns what.
    """

    protocol: ClassVar[str] = "neighbours"
    link = "shares"
    distance_set: ClassVar[DistanceSet] = sets.PLAIN
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a sample before the client's transforms."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """What the client does with features before it codes them."""
    classes: NDArray[Any] = field(metadata=wire.CLASSES)
    """All that there are."""
    labels: NDArray[np.intp] = field(metadata=_LABELS)
    """The place of each record's class among these."""
    coding: Coding = field(metadata=_CODING)
    """How features after the steps become codes."""
    neighbours: int = field(metadata=wire.whole(1, RECORDS))
    """Records that vote."""
    weights: str = field(metadata=wire.one_of(voting.WEIGHTS))
    """How votes count: one of `voting.WEIGHTS`."""
    metric: str = field(metadata=wire.one_of(voting.METRICS))
    """Which distance is estimated: one of `voting.METRICS`."""
    agreement: float | None = None
    """The share of rows that have the class of exact nearest neighbours; only the plan's maker
    knows it."""
    tried: int | None = None
    """Rows on which the agreement was measured; only the plan's maker knows it."""

    def check(self) -> None:
        """Refuses transforms, votes and codes that do not fit together.

        Raises:
            WireError: naming which.

        """
        if transforms.width(self.steps, self.inputs) != self.coding.features:
            raise WireError("the transforms of a plan give another number of features than it has")
        if self.neighbours >= self.records:
            raise WireError("fewer records vote than there are, and one at least")
        if (self.metric == "cosine") != (self.coding.centre is None):
            raise WireError("codes of cosines have no centre, and those of distances have one")
        if self.coding.bits > self.distance_set.bits:
            raise WireError(f"codes that are compared have {self.distance_set.bits} bits at most")

    @property
    def error(self) -> None:
        """None: distances of codes are exact."""

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given the client's public keys: never."""
        return False

    @property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """All numbers: codes have no ranges."""
        ends = np.full(self.coding.features, np.inf)
        return -ends, ends

    @property
    def records(self) -> int:
        """How many the server has."""
        return len(self.labels)

    @property
    def params(self) -> StreamParams:
        """The parameters of the client's keys."""
        found: StreamParams = Params.preset(self.distance_set.name)
        return found

    @property
    def rows(self) -> int:
        """Samples of one query, at most; one costs as much as all of them."""
        return self.distance_set.block

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        queries = -(-whole(samples, "samples", 1) // self.rows)
        up, down = self.distance_set.up(self.coding.bits), self.distance_set.down(self.records)
        return Sizes(queries * message_size([up]), queries * message_size([down]))

    def prepared(self, given: Samples, *, clip: bool = False) -> Clipped:
        """Samples as they are coded: after transforms. Codes have no ranges, nothing is clipped.

        Args:
            given: a row of features for each, as the records' owner has them; the columns of a
                DataFrame have the plan's names.
            clip: changes nothing.

        Raises:
            OutOfRangeError: what is no number; where angles count, a sample of zeros.
            ShapeError: rows of another length, columns of other names.

        """
        ready = super().prepared(given, clip=clip)
        if self.metric == "cosine" and not ready.features.any(axis=1).all():
            place = int(np.flatnonzero(~ready.features.any(axis=1))[0])
            raise OutOfRangeError(
                f"sample {place} is all zeros, which have no direction and no cosine; leave it out"
            )
        return ready

    def concluded(self, distances: NDArray[np.uint32]) -> Voted:
        """Nearest records, votes and classes.

        Args:
            distances: of codes, a row for each sample and a column for each record.

        """
        found = voting.nearest_of(distances, self.neighbours, self.coding.bits)
        votes = voting.shares(
            found.indices,
            voting.apart(found.angles, self.metric),
            labels=self.labels,
            classes=len(self.classes),
            weights=self.weights,
        )
        predictions = voting.predicted(votes, self.classes)
        return Voted(predictions, voting.scores_of(votes), *found)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        return _table(self)

    def __repr__(self) -> str:
        return (
            f"<hesc.protocols.neighbours.NeighboursPlan: {self.neighbours} of {self.records} "
            f"records, {len(self.classes)} classes, codes of {self.coding.bits} bits>"
        )


def _table(plan: NeighboursPlan) -> Disclosure:
    """Roles, disclosure, agreement and bytes of a plan, a line for each."""
    bits, features = plan.coding.bits, plan.coding.features
    given = [f"the class of each of {plan.records} records, in their order", "names of classes"]
    given += ["the seed of the projections", *[_ROUNDED] * (plan.coding.centre is not None)]
    given += ["names of features"] * bool(plan.names)
    rows = {
        "setting": "client_server: the server holds the records' codes, the client samples and key",
        "server": "sees how many samples there are, the plan, the key's name; no sample, no "
        "distance, no class",
        "client": "sees its samples, the estimated distance of each to EVERY record, and from "
        "these the nearest records, shares of votes and a class",
        "is given": "; ".join([*given, *transforms.disclosed(plan.steps)]),
        "records": _records(plan),
        "queries": f"distances of {features + 1} samples locate every record, whatever encrypts "
        "them",
        "votes": f"the {plan.neighbours} nearest of {plan.records}, {_WEIGHTS[plan.weights]}; of "
        "equal distances the earlier record counts as nearer",
        "error": f"none beside codes: their distances are exact, and tell {_METRICS[plan.metric]} "
        f"to {math.pi / (2 * math.sqrt(bits)):.2g} radian at most (one deviation)",
    }
    if plan.agreement is not None:
        rows["agreement"] = (
            f"{100 * plan.agreement:.2f} % of {plan.tried} rows have the class of exact nearest "
            "neighbours; a row that is itself a record was not its own neighbour, copies of it were"
        )
    size = plan.sizes()
    rows["bytes"] = f"{size.up} up, {size.down} down for up to {plan.rows} samples"
    rows["ring"] = (
        f"N = {plan.distance_set.block}, {plan.distance_set.name}, "
        f"{secure(plan.params.assurance)}; a distance decrypts wrongly with a "
        "probability below 2^-128"
    )
    title = (
        f"Private nearest neighbours, classifier of {len(plan.classes)} classes: {features} "
        f"features in codes of {bits} bits"
    )
    return Disclosure(title, rows)


_ROUNDED: Final = (
    "the records' mean to an eighth of a deviation, their typical length to a power of two"
)
_WEIGHTS: Final = {
    "uniform": "each with one vote",
    "distance": "each with the inverse of its estimated distance as its vote",
}
_METRICS: Final = {
    "euclidean": "the angle that stands for a distance",
    "cosine": "the angle between two samples",
}


def _records(plan: NeighboursPlan) -> str:
    each = plan.coding.bits / plan.coding.features
    return (
        "NOT HIDDEN: THE CLIENT CAN COMPUTE EVERY RECORD'S CODE from the noise of the first "
        f"answer, and from {each:.3g} bits to a feature the record itself, roughly"
    )
