"""What client and server of a model of trees agree upon, and who learns what."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import ForestPlan, WireError
from hesc._support.inputs import whole
from hesc.models import transforms
from hesc.models.conclusions import INVERSES, PROBABILITIES, Concluding, are_outliers
from hesc.models.tables.table_steps import Branches, Fill
from hesc.models.transforms import Bins, Exceeds, Inside
from hesc.models.trees import LARGEST_SINGLE, NEVER
from hesc.protocols import labels, wire
from hesc.protocols.disclosure import Disclosure, model_kind, secure, units
from hesc.protocols.message import LARGEST, message_size
from hesc.protocols.plan import ModelPlan
from hesc.protocols.trees import singles
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc._native import Steps
    from hesc.models.fidelity import Fidelity
    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams
    from hesc.protocols.copies import Copy

ROWS: Final = 64
"""Samples of a query, at most: each is a part of its own."""
_ON_EDGES: Final = (
    "; behind transforms a feature may fall on the other side of an edge that it is within a "
    "rounding of, which no row planned with does"
)
_LISTED: Final = 8
"""Columns that a plan's text names."""
STRUCTURES: Final = ("hidden", "public")
"""What a client may know of trees beside edges: their numbers, or all but what leaves say."""
_DOUBLINGS: Final = "doublings of the anomaly score from the threshold on (above zero: an outlier)"
"""What scores of outliers count."""
FINEST: Final = 1000
"""The unit of scores is from `2**-FINEST` to `2**FINEST`."""


def listed(columns: list[str]) -> str:
    """Columns in words, the first few of many."""
    shown = ", ".join(columns[:_LISTED])
    return shown if len(columns) <= _LISTED else f"{shown} and {len(columns) - _LISTED} more"


def in_units(sums: NDArray[np.int64], finer: int) -> NDArray[np.float64]:
    """Scores of sums of leaves in units of `2**-finer`, exactly."""
    return np.ldexp(sums.astype(np.float64), -finer)


class _Told(NamedTuple):
    """What the last transforms of a plan say of columns, by their names or numbers."""

    categories: list[str]
    """Those whose categories are told apart."""
    missing: list[str]
    """Those in which cells may be missing."""

    @classmethod
    def of(cls, steps: list[Transform], inputs: int, names: list[str]) -> _Told:
        *before, last = steps
        called = singles.naming(before, inputs, names)
        if isinstance(last, Branches):
            parts = [(branch.columns, branch.steps) for branch in last.branches]
        else:
            parts = [(tuple(range(last.widths[0])), (last,))]
        categories: list[int] = []
        missing: list[int] = []
        for columns, own in parts:
            for step in own[:1]:
                if isinstance(step, Exceeds):
                    missing += [columns[int(at)] for at in step.features[step.missing != 0]]
                elif isinstance(step, Fill):
                    missing += columns
            if any(isinstance(step, Bins) for step in own):
                categories += columns

        return cls(
            *([called(place) for place in sorted(set(each))] for each in (categories, missing))
        )


@dataclass(frozen=True, eq=False)
class TreesPlan(ModelPlan, Concluding):
    """Public, and the same on both sides: edges, numbers of trees and leaves, the unit of scores.

    `PrivateClassifier.plan` and `PrivateRegressor.plan` make one with `Trees()`; print it to read
    who holds and learns what.
    """

    protocol: ClassVar[str] = "trees"
    compiled: ClassVar[tuple[str, ...]] = (*ModelPlan.compiled, "_compared")
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a sample before the client's transforms."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """What the client does with features; the last ones say which edges they exceed, by bits."""
    structure: str = field(metadata=wire.one_of(STRUCTURES))
    """"hidden", or "public": the last transform then says which leaves a sample reaches."""
    forest: ForestPlan = field(metadata=wire.encoded(ForestPlan.to_bytes, ForestPlan.from_bytes))
    """Numbers of edges, trees and leaves, and the ciphertexts that follow from them. Where the
    structure is public leaves are its edges, and an output is one leaf, a linear form of them."""
    trees: tuple[int, ...] = field(metadata=wire.wholes(1, 1 << 20, count=(1, 1 << 10)))
    """Trees of each output: leaves that are added up."""
    finer: int = field(metadata=wire.whole(-FINEST, FINEST))
    """The unit of scores is `2**-finer`."""
    farthest: float = field(metadata=wire.number(LARGEST_SINGLE, NEVER))
    """The largest absolute value of a feature that is compared: the model's library refuses others,
    where it compares float32."""
    classes: NDArray[Any] | None = field(metadata=wire.SCORED_CLASSES)
    """A classifier's classes; None of regressors."""
    link: str = field(metadata=wire.LINK)
    """One of `hesc.models.conclusions.LINKS`."""
    fidelity: Fidelity | None = field(metadata=wire.FIDELITY)
    """Where thresholds were moved: how near what is computed comes to the model."""
    agreement: float | None = None
    """The share of rows planned with that have the class of the model that is computed; only a
    classifier's maker knows it."""
    copy: Copy | None = None
    """How good a copy of the model samples give; only the plan's maker knows it."""
    otherwise: Sizes | None = None
    """Bytes of a sample under a plan of the other structure, where there is one; only the plan's
    maker knows it."""
    prepares: ClassVar[bool] = True

    def check(self) -> None:
        """Refuses bits, scores and classes that do not fit together.

        Raises:
            WireError: naming which.

        """
        outputs = len(self.forest.outputs)
        labels.check_scores(self.classes, outputs, self.link)
        if transforms.width(self.steps, self.inputs) != self.forest.edges:
            raise WireError("the transforms of a plan give another number of bits than its trees")
        low, high = transforms.limits(self.steps, self.inputs)
        if low.any() or (high != 1).any():
            raise WireError("the last transforms of a plan of trees give bits")
        if self.is_public != isinstance(self.steps[-1], Inside):
            raise WireError("the client of a plan finds leaves where their structure is public")
        trees = [1] * outputs if self.is_public else list(self.trees)
        if len(self.trees) != outputs or trees != [shape[0] for shape in self.forest.outputs]:
            raise WireError("a plan says how many trees it adds up, and has another number")
        if self.is_public and (self.forest.most_conditions or max(self.forest.outputs)[1] > 1):
            raise WireError("an output of trees of public structure is one leaf")

    @property
    def is_public(self) -> bool:
        """Whether the client is told the trees but for what their leaves say."""
        return self.structure == "public"

    @property
    def bits(self) -> int:
        """Bits that say which edges features exceed, and which categories they have."""
        return self.steps[-1].widths[0] if self.is_public else self.forest.edges

    @property
    def params(self) -> VectorParams:
        """The parameter set of the client's keys."""
        found: VectorParams = self.forest.params
        return found

    @property
    def key_options(self) -> dict[str, Any]:
        """Options of key generation: nothing is relinearised."""
        return {"products": False}

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given the client's public key: always, to hide the trees."""
        return True

    @property
    def unit(self) -> float:
        """What scores are multiples of."""
        return float(2.0**-self.finer)

    @property
    def error(self) -> float:
        """The largest error of a score: each leaf that is added up is rounded to a unit."""
        return max(self.trees) * self.unit / 2

    @property
    def error_in_words(self) -> str:
        """What `error` says of one answer."""
        return f"each score is off by {self.error:.3g} at most"

    @property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each encrypted feature, which is a bit."""
        return np.zeros(self.forest.edges), np.ones(self.forest.edges)

    @property
    def rows(self) -> int:
        """Samples of one query, at most; more of them go as several."""
        return max(1, min(ROWS, LARGEST // (2 * max(self.forest.sizes))))

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        full, rest = divmod(whole(samples, "samples", 0), self.rows)
        counts = [self.rows] * full + [rest] * (rest > 0)
        up, down = (
            sum(message_size([part] * count) for count in counts) for part in self.forest.sizes
        )
        return Sizes(up, down)

    def prepared(self, given: Samples, *, clip: bool = False) -> Clipped:
        """Samples as they are encrypted, bits of each; errors and arguments are those of any plan.

        Raises:
            OutOfRangeError: a feature that the model's library would refuse as too large, too;
                where values are clipped it is the largest one.

        """
        ready = super().prepared(given, clip=clip)
        steps = self._compared
        return ready if steps is None else singles.checked(self, steps, given, ready, clip=clip)

    @cached_property
    def _compared(self) -> Steps | None:
        """What makes the features that may be too large, if any may."""
        return singles.compared(self.steps, self.inputs, self.farthest)

    def check_parts(self, parts: int, samples: int) -> None:
        """Refuses a message with another number of ciphertexts than of samples.

        Raises:
            WireError: it has.

        """
        if parts != samples:
            raise WireError(
                f"a message of this plan has a part for each sample; this one has {parts} for "
                f"{samples}"
            )

    def scored(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of sums of leaves, a row for each sample."""
        return self.scores(in_units(sums, self.finer))

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        outputs = self.forest.outputs
        classes = None if self.classes is None else len(self.classes)
        each = "a score" if len(outputs) == 1 else f"{len(outputs)} scores"
        sees = f"sees its samples, {each} for each"
        if self.classes is not None:
            sees += ", its class" + (" and probabilities" * (self.link in PROBABILITIES))
        elif self.link in INVERSES:
            sees += f", and its prediction, which is {self.link} of that"
        of = "leaves that samples reach" if self.is_public else "features that are compared"
        given = [f"{self.forest.edges} bits, of {of}"]
        given += ["their names"] * bool(self.names)
        given += ["names of classes"] * (self.classes is not None)
        rows = {
            "setting": "client_server: the server holds the trees, the client samples and key",
            "server": "sees how many samples there are, the plan, the key's name; no sample, no "
            "score",
            "client": sees,
            "client is given": "; ".join([*given, *transforms.disclosed(self.steps)]),
        }
        rows |= self._of_leaves() if self.is_public else self._of_structure()
        unit = _DOUBLINGS if are_outliers(self.classes) else units(classes, self.link)
        if self.copy is not None:
            rows["copies"] = str(self.copy)
        rows["error"] = (
            f"{self.error:.3g} at most, in units of {unit}: leaves are "
            f"rounded to multiples of 2^{-self.finer}, of which {max(self.trees)} are added "
            "up, exactly" + _ON_EDGES * (len(self.steps) > 1 + self.is_public)
        )
        if self.fidelity is not None:
            rows["fidelity"] = str(self.fidelity)
        if self.agreement is not None:
            rows["agreement"] = (
                f"{100 * self.agreement:.2f} % of the rows planned with have the class of the "
                "trees in double precision"
            )
        size = self.sizes()
        rows["bytes"] = f"{size.up} up, {size.down} down for 1 sample"
        if self.otherwise is not None:
            (other,) = (name for name in STRUCTURES if name != self.structure)
            up, down = (message_size([part]) for part in self.otherwise)
            rows["otherwise"] = f"{up} up, {down} down with Trees(structure={other!r})"
        up, down = (message_size([part]) for part in self.forest.prepared_sizes)
        rows["prepared"] = (
            f"{up} up, {down} down for 1 sample that was prepared before its features are known, "
            "with as many bytes as above; each preparation is used once"
        )
        rows["ring"] = (
            f"N = {self.params.ring_degree}, {secure(self.params.assurance)}; a score decrypts "
            "wrongly with a probability below 2^-128 for each leaf"
        )
        bits = self.steps[:-1] if self.is_public else self.steps
        told = _Told.of(bits, self.inputs, self.names)
        if told.categories:
            rows["categories"] = (
                f"the client is told which categories trees name, in {listed(told.categories)}; a "
                f"bit says of each whether a sample has it"
            )
        if told.missing:
            rows["missing"] = (
                f"the client is told in which columns cells may be missing, as they are in the "
                f"rows planned with: {listed(told.missing)}; the server sees of no sample whether "
                f"they are, and where one is missing elsewhere the client refuses it"
            )
        kind = "outlier detector" if are_outliers(self.classes) else model_kind(classes)
        title = f"Private {kind}: {sum(self.trees)} trees, exactly, of {self.inputs} features"
        return Disclosure(title, rows)

    def _of_structure(self) -> dict[str, str]:
        """What a client learns of trees that are hidden."""
        outputs = self.forest.outputs
        counts = "; ".join(f"{trees} trees of {leaves} leaves" for trees, leaves in outputs[:4])
        counts += "; ..." * (len(outputs) > 4)
        return {
            "trees": f"of each score the client is told trees and leaves, {counts}, conditions of "
            f"a leaf ({self.forest.most_conditions} at most) and what sums stay within; which "
            "feature is compared where, with which edge, shapes and values are hidden from a "
            "client that follows the protocol, however many samples it asks for",
            "strangers": "A CLIENT THAT DOES NOT FOLLOW THE PROTOCOL CAN LEARN STRUCTURE, by bits "
            "that no sample has: give accounts to those who may know it",
            "queries": "scores of chosen samples give trees away, whatever encrypts them; whoever "
            "runs the server has to limit queries",
        }

    def _of_leaves(self) -> dict[str, str]:
        """What a client learns of trees whose structure it is told."""
        return {
            "trees": f"THE CLIENT IS TOLD THE TREES, {sum(self.trees)} in all: which feature "
            "each node compares with what, and their shapes; what leaves say is hidden, but for "
            "scores and what sums stay within",
            "strangers": "A CLIENT THAT DOES NOT FOLLOW THE PROTOCOL CAN LEARN SUMS OF VALUES OF "
            "ITS CHOICE, by leaves that no sample reaches together",
            "queries": f"scores are linear in {self.forest.edges} leaves: {self.forest.edges + 1} "
            "samples that reach them in enough ways give all values, by linear algebra; whoever "
            "runs the server has to limit queries",
        }

    def __repr__(self) -> str:
        what = "regressor" if self.classes is None else f"{len(self.classes)} classes"
        return f"<hesc.protocols.trees.TreesPlan: {what}, {self.forest!r}>"
