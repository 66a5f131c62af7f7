"""Plans of models on features of several owners: who holds what, and who learns what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support.inputs import whole
from hesc.models import samples, transforms
from hesc.models.conclusions import INVERSES, PROBABILITIES, Concluding
from hesc.protocols import labels, wire
from hesc.protocols.disclosure import TIES, Disclosure, model_kind, secure, shown
from hesc.protocols.message import message_size
from hesc.protocols.owners import columns
from hesc.protocols.owners.column_sets import SETS, SLOTS, noise_of, params_of
from hesc.protocols.plan import ModelPlan
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.fidelity import Fidelity
    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams

    Array = NDArray[np.float64]

MOST_FEATURES: Final = 4096
"""Encrypted features, and scores of a sample: as many ciphertexts."""
SHARE: Final = 32.0
"""An error is at most one part in so many of the scale: the noise of scores stays within it."""
ROOM: Final = 8.0
"""An error is at least so many times that of encryption."""
_REACH: Final = 2.0**500
"""Scales and errors are within it, and their inverses."""
_BYTES: Final = (1 << 30) - 1


class Side:
    """One party's part of a plan; `OwnersPlan.side` gives it."""

    def __init__(self, plan: OwnersPlan, name: str) -> None:
        own = plan.parties[name]
        self.name = name
        self.inputs = len(own)
        """Columns that the party holds."""
        self.names = [plan.names[column] for column in own] if plan.names else []
        """Names of the features, or none."""
        self.rows = plan.rows
        """Samples of one piece, at most."""
        self.steps, self.features = columns.restricted(plan.steps, own)
        """Transforms of these columns, and which of all features come out of them."""
        self._computed = transforms.compiled(self.steps, self.inputs)
        self._ranges = tuple(ends[self.features] for ends in plan.ranges)

    def prepared(self, given: Samples, *, clip: bool = False) -> Clipped:
        """The party's rows as they are encrypted.

        Args:
            given: a row for each sample, of the party's own columns in the plan's order; the
                columns of a DataFrame have their names.
            clip: bring values beyond the ranges to their ends instead of refusing them.

        Raises:
            OutOfRangeError: a value beyond its range, or one that is no number.
            ShapeError: rows of another length, columns of other names.

        """
        low, high = self._ranges
        return samples.prepared(
            given,
            names=self.names,
            steps=self._computed,
            ranges=(low, high),
            clip=clip,
        )


@dataclass(frozen=True, eq=False)
class OwnersPlan(ModelPlan, Concluding):
    """Public, and the same for all parties, the server and the client, who owns the key.

    `PrivateClassifier.plan(X, Parties(...))` makes one; print it to read who
    holds and learns what.
    """

    protocol: ClassVar[str] = "owners"
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a sample, of all parties."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """What parties do with their columns before they encrypt them, each column by itself."""
    parties: dict[str, list[int]] = field(
        metadata=wire.declared(
            wire.Codec(
                columns.described, lambda value, _, earlier: columns.read(value, earlier["inputs"])
            )
        )
    )
    """Columns of each party, by its name."""
    ranges: tuple[Array, Array] = field(metadata=wire.RANGES)
    """The least and greatest value of each encrypted feature."""
    outputs: int = field(metadata=wire.whole(1, MOST_FEATURES))
    """Scores of a sample."""
    scale: float = field(metadata=wire.number(1 / _REACH, _REACH))
    """A power of two that no score, doubled, is beyond."""
    error: float = field(metadata=wire.number(1 / _REACH, _REACH))
    """The root mean square of a score's error, at most; the server adds noise up to it."""
    set: str = field(metadata=wire.one_of(SETS))
    """One of `hesc.protocols.owners.column_sets.SETS`."""
    costs: dict[str, int] = field(metadata=wire.counts("keys", "column", "score", most=_BYTES))
    """Bytes: "keys" once, "column" for each encrypted feature, "score" for each output."""
    classes: NDArray[Any] | None = field(metadata=wire.SCORED_CLASSES)
    """A classifier's classes; None of regressors."""
    link: str = field(metadata=wire.LINK)
    """One of `hesc.models.conclusions.LINKS`."""
    fidelity: Fidelity | None = field(metadata=wire.FIDELITY)
    """Where what is computed is not the model that was fitted: how near it comes."""
    agreement: float | None = None
    """The least share of rows that is expected to keep its class; only a classifier's maker knows
    it."""

    def check(self) -> None:
        """Refuses a scale, an error, transforms or parties that do not fit together.

        Raises:
            WireError: naming which.

        """
        outputs, features = self.shape
        if transforms.width(self.steps, self.inputs) != features:
            raise WireError("the transforms of a plan give another number of features than it has")
        labels.check_scores(self.classes, outputs, self.link, self.calibration)
        if features > MOST_FEATURES:
            raise WireError(f"a plan of several owners has up to {MOST_FEATURES} features")
        problem = beyond(self.scale, self.error, self.set)
        if np.log2(self.scale) % 1 or problem:
            raise WireError(f"the scale and error of a plan: {problem or 'no power of 2'}")
        try:
            owned = [len(self.side(party).features) for party in self.parties]
        except ParameterError as mixed:
            raise WireError(f"the transforms of a plan of several owners: {mixed}") from mixed
        if not all(owned):
            raise WireError("a party of a plan has nothing to encrypt")

    @property
    def params(self) -> VectorParams:
        """The parameter set of the client's keys."""
        return params_of(self.set)

    @property
    def key_options(self) -> dict[str, Any]:
        """Options of key generation: nothing is relinearised."""
        return {"products": False}

    @property
    def needs_keys(self) -> bool:
        """True: all parties and the server are given the client's public key."""
        return True

    @property
    def rows(self) -> int:
        """Samples of one query, at most; a query has all slots, used or not."""
        return SLOTS

    @property
    def shape(self) -> tuple[int, int]:
        """Scores of a sample and encrypted features, as weights have them."""
        return self.outputs, len(self.ranges[0])

    def side(self, name: str) -> Side:
        """One party's part.

        Raises:
            ParameterError: there is no such party.

        """
        if not isinstance(name, str) or name not in self.parties:
            raise ParameterError(
                f"this plan has no party of that name; it has {', '.join(map(repr, self.parties))}"
            )
        return Side(self, name)

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes of joined queries and of the answers, over as many queries as samples take."""
        queries = -(-whole(samples, "samples", 1) // self.rows)
        outputs, features = self.shape
        up = message_size([self.costs["column"]] * features)
        return Sizes(queries * up, queries * message_size([self.costs["score"]] * outputs))

    def scaled(self, features: Array, chosen: list[int]) -> Array:
        """Prepared features as numbers from -1 to 1, zero in the middle of their ranges."""
        low, high = self.ranges[0][chosen], self.ranges[1][chosen]
        half = np.where(high > low, (high - low) / 2, 1.0)
        return np.clip((features - (low + high) / 2) / half, -1, 1)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        return _table(self)

    def __repr__(self) -> str:
        return f"<hesc.ml.OwnersPlan: {len(self.parties)} parties, {self.shape[1]} features>"


def beyond(scale: float, error: float, name: str) -> str:
    """Why an error is not one of scores on this scale; empty where it is.

    Args:
        scale: what no score, doubled, is beyond.
        error: a root mean square.
        name: of the parameter set.

    """
    if error > scale / SHARE:
        return f"an error of {error:.3g} is as large as scores, which stay within {scale / 2:.3g}"
    if error < ROOM * noise_of(name) * scale:
        return f"an error of {error:.3g} is less than the noise of encryption has room for"
    return ""


def _table(plan: OwnersPlan) -> Disclosure:
    """Roles, disclosure, error and bytes, a line for each."""
    outputs, features = plan.shape
    each = "a score" if outputs == 1 else f"{outputs} scores"
    learns = f"{each} for each row, with the server's noise"
    if plan.classes is not None:
        learns += ", and its class" + (" and probabilities" if plan.link in PROBABILITIES else "")
    elif plan.link in INVERSES:
        learns += f", and its prediction, which is {plan.link} of that"
    holders = "; ".join(
        f"{shown(name)} holds "
        + ", ".join(shown(plan.names[c]) if plan.names else f"column {c}" for c in own[:4])
        + f" and {len(own) - 4} more" * (len(own) > 4)
        for name, own in plan.parties.items()
    )
    given = [f"names of parties, ranges of {features} features, the scale of scores"]
    given += ["names of features"] * bool(plan.names)
    given += ["names of classes"] * (plan.classes is not None)
    equations = "one linear equation" if outputs == 1 else f"{outputs} linear equations"
    says = (
        f"{equations} in the {features} features of a row, to within the error: features of few "
        "values (yes or no, small whole numbers) may follow from it for who knows the weights"
    )
    if outputs >= features:
        says = (
            f"{equations} in {features} features: WHO KNOWS THE WEIGHTS SOLVES THEM FOR ALL "
            "FEATURES of a row, to within the error"
        )
    rows = {
        "setting": f"many_parties: {holders}; the server holds the weights, the client the key",
        "parties": "encrypt their own columns under the client's public key; each sees the plan, "
        "and nothing of another's columns",
        "server": "sees how many rows there are, the plan, the key's name; no feature, no score",
        "client": f"has no samples and sees {learns}",
        "a score says": says,
        "noise": "the server draws normal noise for every score, up to the error: but for "
        "roundings what the client decrypts depends on features by score and noise alone. Answers "
        "to the same rows again average it away",
        "together": "client and server read every feature; the client and all parties but one, "
        "with the weights, what that one's columns add to each score, and single features if they "
        "get hold of its pieces: these are for the server alone",
        "rows": "are matched by position: row i of all parties is of the same one, as they agreed",
        "client is given": "; ".join([*given, *transforms.disclosed(plan.steps)]),
        "weights": "in the clear at the server; a client that learns of rows finds them from "
        f"{features + 1} scores, and nothing promises to hide them",
        "error": f"{plan.error:.3g}, the root mean square of a score's error, at most",
    }
    if plan.fidelity is not None:
        rows["fidelity"] = str(plan.fidelity)
    if plan.agreement is not None:
        rows["agreement"] = (
            f"{100 * plan.agreement:.2f} % of the rows planned with keep their class{TIES}"
        )
    size = plan.sizes(1)
    rows["bytes"] = (
        f"{size.up} up from all parties, {size.down} down, for 1 to {plan.rows} rows alike; public "
        f"key {plan.costs['keys']}, once"
    )
    rows["set"] = (
        f"CKKS, N = {plan.params.ring_degree}, {plan.set}, {secure(plan.params.assurance)}; a "
        "score decrypts wrongly with a probability below 2^-128"
    )
    classes = None if plan.classes is None else len(plan.classes)
    what = model_kind(classes)
    title = f"Private {what}: {features} features of {len(plan.parties)} parties, {each} a row"
    return Disclosure(title, rows)
