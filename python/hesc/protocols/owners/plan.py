"""Plans of models on features of several owners: who holds what, and who learns what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support import documents
from hesc._support.inputs import whole
from hesc.models import samples
from hesc.models.conclusions import Concluding
from hesc.protocols import folders
from hesc.protocols.disclosure import TIES, Disclosing, Disclosure, model_kind, secure, shown
from hesc.protocols.linear import fields as linear_fields
from hesc.protocols.owners import columns, pieces
from hesc.protocols.owners.sets import SETS, SLOTS, noise_of, params_of
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.models.fidelity import Fidelity
    from hesc.models.samples import Clipped
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams

    Array = NDArray[np.float64]

MOST_FEATURES: Final = 4096
"""Encrypted features, and scores of a sample: as many ciphertexts."""
SHARE: Final = 32.0
"""An error is at most one part in so many of the scale: the noise of scores stays within it."""
ROOM: Final = 8.0
"""An error is at least so many times that of encryption."""
_CELLS: Final = 1 << 20


class Side:
    """One party's part of a plan; `PartiesPlan.side` gives it."""

    def __init__(self, plan: PartiesPlan, name: str) -> None:
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
        self._ranges = tuple(ends[self.features] for ends in plan.ranges)

    def prepared(self, given: ArrayLike, *, clip: bool = False) -> Clipped:
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
            inputs=self.inputs,
            names=self.names,
            steps=self.steps,
            ranges=(low, high),
            clip=clip,
        )


@dataclass(frozen=True, eq=False)
class PartiesPlan(Disclosing, Concluding):
    """Public, and the same for all parties, the server and the client, who owns the key.

    `PrivateClassifier.plan(X, setting="many_parties", parties=...)` makes one; print it to read who
    holds and learns what.
    """

    kind: ClassVar[str] = "parties plan"
    """The kind of the plan's document."""
    needs_keys: ClassVar[bool] = True
    encrypts_publicly: ClassVar[bool] = False
    rows: ClassVar[int] = SLOTS
    """Samples of one query, at most; a query has all slots, used or not."""
    parties: dict[str, list[int]]
    """Columns of each party, by its name."""
    ranges: tuple[Array, Array]
    """The least and greatest value of each encrypted feature."""
    outputs: int
    """Scores of a sample."""
    scale: float
    """A power of two that no score, doubled, is beyond."""
    error: float
    """The root mean square of a score's error, at most; the server adds noise up to it."""
    set: str
    """One of `hesc.protocols.owners.sets.SETS`."""
    costs: dict[str, int]
    """Bytes: "keys" once, "column" for each encrypted feature, "score" for each output."""
    inputs: int
    """Features of a sample, of all parties."""
    names: list[str]
    """Names of the features, or none."""
    steps: list[Transform]
    """What parties do with their columns before they encrypt them, each column by itself."""
    classes: NDArray[Any] | None
    """A classifier's classes; None of regressors."""
    link: str
    """One of `hesc.models.conclusions.LINKS`."""
    fidelity: Fidelity | None = None
    """Where what is computed is not the model that was fitted: how near it comes."""
    transformer: bool = False
    """Whether outputs are transformed samples."""
    agreement: float | None = None
    """The least share of rows that is expected to keep its class; only a classifier's maker knows
    it."""

    @property
    def params(self) -> VectorParams:
        """The parameter set."""
        return params_of(self.set)

    @property
    def shape(self) -> tuple[int, int]:
        """Scores of a sample and encrypted features, as weights have them."""
        return self.outputs, len(self.ranges[0])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan's bytes, which names it in pieces and answers."""
        return folders.digest(self.to_bytes())

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
        """Bytes that all parties send, and of the answers, over as many queries as they take."""
        full, rest = divmod(whole(samples, "samples", 1), self.rows)
        up = down = 0
        for turn, count in enumerate([self.rows] * full + [rest] * (rest > 0)):
            first = turn * self.rows
            up += pieces.joined_size(self, count, first)
            down += pieces.answer_size(self, count)
        return Sizes(up, down)

    def prepared(self, given: ArrayLike, *, clip: bool = False) -> Clipped:
        """Rows of all columns, as all parties together encrypt them: for who has them all.

        Raises:
            OutOfRangeError, ShapeError: as `Side.prepared`.

        """
        return samples.prepared(
            given,
            inputs=self.inputs,
            names=self.names,
            steps=self.steps,
            ranges=self.ranges,
            clip=clip,
        )

    def scaled(self, features: Array, chosen: list[int]) -> Array:
        """Prepared features as numbers from -1 to 1, zero in the middle of their ranges."""
        low, high = self.ranges[0][chosen], self.ranges[1][chosen]
        half = np.where(high > low, (high - low) / 2, 1.0)
        return np.clip((features - (low + high) / 2) / half, -1, 1)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        return _table(self)

    def __repr__(self) -> str:
        return f"<hesc.ml.PartiesPlan: {len(self.parties)} parties, {self.shape[1]} features>"

    def to_bytes(self) -> bytes:
        """The wire form, for everybody."""
        fields = {
            "parties": columns.described(self.parties),
            "low": documents.packed(self.ranges[0]),
            "high": documents.packed(self.ranges[1]),
            "outputs": self.outputs,
            "scale": self.scale,
            "error": self.error,
            "set": self.set,
            "costs": self.costs,
        }
        return documents.write(self.kind, fields | linear_fields.described(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> PartiesPlan:
        """A plan from its wire form.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        own = {"parties", "low", "high", "outputs", "scale", "error", "set", "costs"}
        given = documents.read(data, cls.kind, own | linear_fields.FIELDS)
        low = documents.unpacked(given["low"], 1, "least values")
        high = documents.unpacked(given["high"], 1, "greatest values")
        if len(low) != len(high) or not samples.are_ranges(low, high):
            raise WireError("a parties plan has a range for each feature")
        outputs = given["outputs"]
        if type(outputs) is not int or not 1 <= outputs <= MOST_FEATURES >= len(low):
            raise WireError(f"a parties plan has up to {MOST_FEATURES} features and scores")
        fields = linear_fields.read(given, (outputs, len(low)))
        name = documents.one_of(given["set"], SETS, "a parameter set")
        costs = documents.exactly(given["costs"], {"keys", "column", "score"}, "costs of a plan")
        if not all(type(count) is int and 0 < count < 1 << 30 for count in costs.values()):
            raise WireError("the costs of a parties plan are numbers of bytes")
        scale, error = given["scale"], given["error"]
        if not all(type(x) is float and 2.0**-500 < x < 2.0**500 for x in (scale, error)):
            raise WireError("a parties plan has a scale and an error, as numbers above zero")
        problem = beyond(scale, error, name)
        if np.log2(scale) % 1 or problem:
            raise WireError(f"the scale and error of a parties plan: {problem or 'no power of 2'}")
        parties = columns.read(given["parties"], fields["inputs"])
        plan = cls(parties, (low, high), outputs, scale, error, name, costs, **fields)
        try:
            owned = [len(plan.side(party).features) for party in parties]
        except ParameterError as problem_of:
            raise WireError(f"the transforms of a parties plan: {problem_of}") from problem_of
        if not all(owned):
            raise WireError("a party of a plan has nothing to encrypt")
        return plan


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


def _table(plan: PartiesPlan) -> Disclosure:
    """Roles, disclosure, error and bytes, a line for each."""
    outputs, features = plan.shape
    score = "transformed number" if plan.transformer else "score"
    each = f"a {score}" if outputs == 1 else f"{outputs} {score}s"
    learns = f"{each} for each row, with the server's noise"
    if plan.classes is not None:
        learns += ", and its class" + (" and probabilities" if plan.link != "none" else "")
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
        "is given": "; ".join([*given, *(step.discloses for step in plan.steps)]),
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
    what = model_kind(classes, transformer=plan.transformer)
    title = f"Private {what}: {features} features of {len(plan.parties)} parties, {each} a row"
    return Disclosure(title, rows)
