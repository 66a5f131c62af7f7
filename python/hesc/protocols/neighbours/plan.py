"""What both sides of nearest neighbours know, and what each learns, in words."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, WireError
from hesc._support import documents
from hesc._support.inputs import whole
from hesc.codes import sets
from hesc.models import conclusions, samples, transforms
from hesc.params import Params
from hesc.protocols import frames, labels
from hesc.protocols.disclosure import Disclosing, Disclosure, secure
from hesc.protocols.neighbours import coding, voting
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.codes.sets import DistanceSet
    from hesc.models.samples import Clipped
    from hesc.models.transforms import Transform
    from hesc.params.streams import StreamParams
    from hesc.protocols.neighbours.coding import Coding

QUERY: Final = "neighbors query"
ANSWER: Final = "neighbors answer"
RECORDS: Final = 1 << 16
"""Records of a plan, at most."""


class Concluded(NamedTuple):
    """What follows from distances."""

    predictions: NDArray[Any]
    """Classes."""
    scores: NDArray[np.float64]
    """Shares of votes; of two classes that of the second less a half."""
    indices: NDArray[np.intp]
    """The nearest records, the nearest first."""
    angles: NDArray[np.float64]
    """Estimated angles to these, in radians."""


@dataclass(frozen=True, eq=False)
class NeighborsPlan(Disclosing):
    """Public, and the same on both sides: the records' classes, how samples become codes, votes.

    `PrivateNeighbors.plan` makes one; print it to read who holds and learns what.
    """

    kind: ClassVar[str] = "neighbors plan"
    error: ClassVar[float | None] = None
    encrypts_publicly: ClassVar[bool] = False
    needs_keys: ClassVar[bool] = False
    distance_set: ClassVar[DistanceSet] = sets.PLAIN
    steps: list[Transform]
    """What the client does with features before it codes them."""
    inputs: int
    """Features of a sample before that."""
    names: list[str]
    """Names of the features, or none."""
    classes: NDArray[Any]
    """All that there are."""
    labels: NDArray[np.intp]
    """The place of each record's class among these."""
    coding: Coding
    """How features after the steps become codes."""
    neighbors: int
    """Records that vote."""
    weights: str
    """How votes count: one of `voting.WEIGHTS`."""
    metric: str
    """Which distance is estimated: one of `voting.METRICS`."""
    agreement: float | None = None
    """The share of rows that have the class of exact nearest neighbours; only the plan's maker
    knows it."""
    tried: int | None = None
    """Rows on which the agreement was measured; only the plan's maker knows it."""

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

    @cached_property
    def name(self) -> bytes:
        """What queries and answers name the plan by: SHA-256 of its wire form."""
        return hashlib.sha256(self.to_bytes()).digest()

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        queries = -(-whole(samples, "samples", 1) // self.rows)
        up, down = (len(frames.join(kind, [self.name, b""])) for kind in (QUERY, ANSWER))
        up += self.distance_set.up(self.coding.bits)
        down += self.distance_set.down(self.records)
        return Sizes(queries * up, queries * down)

    def prepared(self, given: ArrayLike, *, clip: bool = False) -> Clipped:
        """Samples as they are coded: after transforms. Codes have no ranges, nothing is clipped.

        Args:
            given: a row of features for each, as the records' owner has them; the columns of a
                DataFrame have the plan's names.
            clip: changes nothing.

        Raises:
            OutOfRangeError: what is no number; where angles count, a sample of zeros.
            ShapeError: rows of another length, columns of other names.

        """
        ends = np.full(self.coding.features, np.inf)
        ready = samples.prepared(
            given,
            inputs=self.inputs,
            names=self.names,
            steps=self.steps,
            ranges=(-ends, ends),
            clip=clip,
        )
        if self.metric == "cosine" and not ready.features.any(axis=1).all():
            place = int(np.flatnonzero(~ready.features.any(axis=1))[0])
            raise OutOfRangeError(
                f"sample {place} is all zeros, which have no direction and no cosine; leave it out"
            )
        return ready

    def concluded(self, distances: NDArray[np.uint32]) -> Concluded:
        """Nearest records, votes and classes.

        Args:
            distances: of codes, a row for each sample and a column for each record.

        """
        found = voting.nearest_of(distances, self.neighbors, self.coding.bits)
        votes = voting.shares(
            found.indices,
            voting.apart(found.angles, self.metric),
            labels=self.labels,
            classes=len(self.classes),
            weights=self.weights,
        )
        predictions = voting.predicted(votes, self.classes)
        return Concluded(predictions, voting.scores_of(votes), *found)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of votes for all classes."""
        return conclusions.probabilities("shares", scores)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        return _table(self)

    def __repr__(self) -> str:
        return (
            f"<hesc.ml.NeighborsPlan: {self.neighbors} of {self.records} records, "
            f"{len(self.classes)} classes, codes of {self.coding.bits} bits>"
        )

    def to_bytes(self) -> bytes:
        """The wire form, for a client."""
        fields = {
            "inputs": self.inputs,
            "names": self.names,
            "steps": transforms.described(self.steps),
            "classes": labels.described(self.classes),
            "labels": self.labels.tolist(),
            "coding": self.coding.described(),
            "neighbors": self.neighbors,
            "weights": self.weights,
            "metric": self.metric,
        }
        return documents.write(self.kind, fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> NeighborsPlan:
        """A plan from its wire form.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        names = {"inputs", "names", "steps", "classes", "labels", "coding", "neighbors"}
        given = documents.read(data, cls.kind, names | {"weights", "metric"})
        inputs = given["inputs"]
        named = documents.read_names(given["names"], inputs)
        steps, width = transforms.read(given["steps"], inputs)
        how = coding.read(given["coding"])
        if width != how.features:
            raise WireError("the transforms of a plan give another number of features than it has")
        classes = labels.read(given["classes"])
        places = given["labels"]
        if not isinstance(places, list) or not 1 < len(places) <= RECORDS:
            raise WireError(f"a plan of nearest neighbours has from 2 to {RECORDS} labels")
        if not all(type(place) is int and 0 <= place < len(classes) for place in places):
            raise WireError("labels of records are places of classes")
        neighbors = given["neighbors"]
        if type(neighbors) is not int or not 0 < neighbors < len(places):
            raise WireError("fewer records vote than there are, and one at least")
        weights = documents.one_of(given["weights"], voting.WEIGHTS, "weights")
        metric = documents.one_of(given["metric"], voting.METRICS, "a metric")
        if (metric == "cosine") != (how.centre is None):
            raise WireError("codes of cosines have no centre, and those of distances have one")
        if how.bits > cls.distance_set.bits:
            raise WireError(f"codes that are compared have {cls.distance_set.bits} bits at most")
        return cls(
            steps,
            inputs,
            named,
            classes,
            np.array(places, dtype=np.intp),
            how,
            neighbors,
            weights,
            metric,
        )


def _table(plan: NeighborsPlan) -> Disclosure:
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
        "is given": "; ".join([*given, *(step.discloses for step in plan.steps)]),
        "records": _records(plan),
        "queries": f"distances of {features + 1} samples locate every record, whatever encrypts "
        "them",
        "votes": f"the {plan.neighbors} nearest of {plan.records}, {_WEIGHTS[plan.weights]}; of "
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


def _records(plan: NeighborsPlan) -> str:
    each = plan.coding.bits / plan.coding.features
    return (
        "NOT HIDDEN: THE CLIENT CAN COMPUTE EVERY RECORD'S CODE from the noise of the first "
        f"answer, and from {each:.3g} bits to a feature the record itself, roughly"
    )
