"""What both sides of a decision know, and what each learns, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import WireError
from hesc._support.inputs import whole
from hesc.integers import ENGINES
from hesc.models import transforms
from hesc.params.parameter_set import Params
from hesc.protocols import wire
from hesc.protocols.classes.comparisons import UPLOADS, Words, names_of
from hesc.protocols.classes.quantisation import quantised
from hesc.protocols.classes.whole_models import BITS
from hesc.protocols.disclosure import Disclosure, secure
from hesc.protocols.plan import ModelPlan
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.transforms import Transform
    from hesc.params.stream_params import StreamParams
    from hesc.params.vectors import VectorParams

_MOST: Final = 1 << 16
"""Samples of a query, at most."""
_MANY: Final = 100
"""Samples from which on slots are worth a look."""


class Counted(NamedTuple):
    """How many classes quantisation keeps."""

    agreement: float
    """The share of the rows."""
    rows: int | None
    """Rows that bits were not chosen on; None where there were too few to keep some apart."""
    least: float | None
    """The share of other rows like these that keeps its class, at least: wrong once in a hundred
    plans."""

    def __str__(self) -> str:
        share = f"{100 * self.agreement:.2f} %"
        if self.rows is None or self.least is None:
            return (
                f"the quantised model gives the clear model's class for {share} of the rows "
                "planned with; bits were chosen on these rows, and of others fewer may agree: plan "
                "with more rows to know"
            )
        # Rounded down: it says at least.
        least = math.floor(1000 * self.least) / 10
        return (
            f"the quantised model gives the clear model's class for {share} of {self.rows} rows "
            f"that bits were not chosen on; for {least:.1f} % or more of rows like them, with 99 % "
            "confidence; of rows that the model was not trained on fewer may agree"
        )


@dataclass(frozen=True, eq=False)
class ClassPlan(ModelPlan):
    """Public, and the same on both sides, for a client that learns classes and no scores.

    `PrivateClassifier.plan(X, Classes())` makes one; print it to read who holds and learns
    what. It says nothing of weights, thresholds or their number, but what its sizes do: a set of
    parameters with room for the model's circuit.
    """

    protocol: ClassVar[str] = "classes"
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a sample before the client's transforms."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """What the client does with features before it encrypts them."""
    classes: NDArray[Any] = field(metadata=wire.CLASSES)
    """What an answer is one of."""
    ranges: tuple[NDArray[np.float64], NDArray[np.float64]] = field(metadata=wire.RANGES)
    """The least and greatest value of each encrypted feature."""
    bits: int = field(metadata=wire.whole(1, BITS))
    """Bits of an encrypted feature, a whole number of equal steps in its range."""
    engine: str = field(metadata=wire.one_of(tuple(ENGINES)))
    """One of `hesc.integers.ENGINES`."""
    preset: str = field(metadata=wire.one_of(lambda plan: tuple(names_of(plan["engine"]))))
    """The name of the parameter set."""
    rows: int = field(metadata=wire.whole(1, _MOST))
    """Samples of one query, at most."""
    costs: dict[str, int] = field(metadata=wire.counts("keys", "up", "down", most=1 << 40))
    """Bytes that were counted when it was made: "keys" once, "up" and "down" of a full query."""
    counted: Counted | None = None
    """How many classes are the clear model's; only the plan's maker knows it."""
    seconds: float | None = None
    """Seconds of a full query on one thread, by operations counted; only the plan's maker knows
    them."""

    def check(self) -> None:
        """Refuses transforms that give another number of features than there are ranges.

        Raises:
            WireError: they do.

        """
        if transforms.width(self.steps, self.inputs) != len(self.ranges[0]):
            raise WireError("a class plan has a range for each feature after its transforms")

    @property
    def agreement(self) -> float | None:
        """The share of rows counted whose class is the clear model's; None in a plan read."""
        return None if self.counted is None else self.counted.agreement

    @property
    def error(self) -> None:
        """None: beside quantisation nothing errs."""

    @property
    def needs_keys(self) -> bool:
        """Whether the server computes with the client's public keys: always."""
        return True

    @property
    def encrypts_publicly(self) -> bool:
        """Whether a client encrypts under its public keys, and keeps them beside the secret one."""
        return self.engine == "bootstrapped"

    @property
    def params(self) -> VectorParams | StreamParams:
        """The parameter set."""
        found: VectorParams | StreamParams = Params.preset(self.preset)
        return found

    @property
    def key_parts(self) -> tuple[str, ...]:
        """Parts of the public keys that the engine computes with."""
        if self.engine == "bootstrapped":
            return ("bootstrapping",)
        return ("relinearisation", "rotations") if self._unpacks else ("relinearisation",)

    @property
    def key_options(self) -> dict[str, Any]:
        """Options of key generation that make these parts."""
        if self.engine == "bootstrapped":
            return {"bootstrapping": True}
        return {"unpacking": self._unpacks}

    @property
    def _unpacks(self) -> bool:
        """Whether the server takes words apart, for which it needs a key of each rotation."""
        return self.upload == "packed"

    @property
    def words(self) -> Words:
        """How a sample's features lie in encrypted words."""
        return Words(len(self.ranges[0]), self.bits)

    @property
    def upload(self) -> str:
        """The layout of encrypted words."""
        return UPLOADS[self.engine]

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take.

        A query in slots has all of its slots, however few samples it has.
        """
        queries = -(-whole(samples, "samples", 1) // self.rows)
        return Sizes(queries * self.costs["up"], queries * self.costs["down"])

    def quantised(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Features within their ranges as whole numbers of steps, from zero on.

        The nearest of `2**bits` values from the least to the greatest, of which two halfway the
        even one: off by half a step at most.
        """
        return quantised(features, self.ranges, self.bits)

    def predictions(self, places: NDArray[Any]) -> NDArray[Any]:
        """Classes by their places."""
        chosen: NDArray[Any] = self.classes[np.asarray(places, dtype=np.int64)]
        return chosen

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        slots = "" if self.engine == "bootstrapped" else " (a query has all slots, used or not)"
        time = "" if self.seconds is None else f"; {self.seconds:.2g} s a query on one thread"
        if self.seconds is not None and self.engine == "bootstrapped":
            time += ", as its samples take their time one by one"
            time += f"; batch={_MANY} or more may find an engine for many at once"
        given = [f"ranges of {len(self.ranges[0])} features", f"{self.bits} bits for each"]
        given += ["their names"] * bool(self.names) + ["names of classes"]
        rows = {
            "setting": "client_server: the server holds the model, the client samples and key",
            "server": "sees sizes, the plan, the key's name; no sample, no score, no class",
            "client": "sees its samples, a class for each, and no score",
            "client is given": "; ".join([*given, *transforms.disclosed(self.steps)]),
            "model": "the answer's level and stated noise follow from the model's circuit, and so "
            "does the noise itself: NOT HIDDEN from a client that studies ciphertexts, who can "
            "also check a guess of the whole model by computing the answer again",
            "queries": f"a query has {_samples(self.rows)}, and nothing counts queries: with the "
            "classes of enough samples of its choice a client can fit a model that decides alike, "
            "whatever encrypts them; whoever runs the server has to limit queries",
            "sizes": "bits of a feature and parameter set were chosen for the model: they tell how "
            "fine its boundaries and how large its circuit are",
            "error": "none beside quantisation: the class is that of the model on "
            f"{1 << self.bits} steps of each range, exactly",
        }
        if self.counted is not None:
            rows["agreement"] = str(self.counted)
        rows["bytes"] = (
            f"{self.costs['up']} up, {self.costs['down']} down for {_samples(self.rows)}"
            f"{slots}; keys once: {self.costs['keys']}"
        )
        rows["engine"] = (
            f"{self.engine}, {self.preset} ({secure(self.params.assurance)}){time}; a class "
            "decrypts wrongly with a probability below 2^-128"
        )
        title = (
            f"Private classifier of {len(self.classes)} classes: the class alone, by comparisons"
        )
        return Disclosure(title, rows)

    def __repr__(self) -> str:
        return f"<hesc.protocols.classes.ClassPlan: {len(self.classes)} classes, {self.preset}>"


def _samples(rows: int) -> str:
    return "1 sample" if rows == 1 else f"up to {rows} samples"
