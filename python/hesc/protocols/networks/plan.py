"""What client and server of a network agree upon, who holds what, and who learns what."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import hypot, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import OutOfRangeError, WireError
from hesc._support import documents
from hesc._support.inputs import whole
from hesc.models import samples, transforms
from hesc.models.conclusions import LINKS, Concluding
from hesc.models.samples import Clipped, are_ranges
from hesc.params.parameter_set import Params
from hesc.protocols import frames, labels
from hesc.protocols.disclosure import TIES, Disclosing, Disclosure, model_kind, secure, units
from hesc.protocols.networks.packing import Packing
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams

    Array = NDArray[np.float64]

RINGS: Final = (8192, 16384, 32768)
DEVIATIONS: Final = 14
"""Standard deviations of an error of CKKS that its stated bound covers."""
_DEEPEST: Final = 16
KEYS: Final = 1 << 29
"""Bytes of a client's public keys, at most: making them takes seven times as much memory."""
_KEYS: Final = {
    8192: (167_006, 872_542),
    16384: (667_742, 3_489_886),
    32768: (2_900_062, 17_571_934),
}
"""Bytes of the key to encrypt by, and of one to multiply, or to rotate by one step."""
_HEADS: Final = 58
"""Bytes of a head, which are among those of each key."""
_HEAD: Final = 1 << 12
"""Bytes of a message about its ciphertext, at most."""
_COUNT: Final = 4
"""Bytes of its number of samples."""
_LARGEST: Final = 1e30


@dataclass(frozen=True, eq=False)
class NetworkPlan(Disclosing, Concluding):
    """Public, and the same on both sides. `PrivateMLPClassifier.plan` makes one; print it.

    A client may encrypt what lies within the ranges **and** within a ball: with each range brought
    to [-1, 1], at most `radius` away from `centre`. The ball bounds what a sum of the network can
    be much closer than ranges do, so that polynomials need be close to activations on a shorter
    interval; what they are beyond it no sample that is accepted can reach.
    """

    encrypts_publicly: ClassVar[bool] = False
    transformer: ClassVar[bool] = False
    kind: ClassVar[str] = "network plan"
    ring_degree: int
    """One of `RINGS`, of CKKS's recommended sets."""
    widths: tuple[int, ...]
    """Features that are encrypted, units of each hidden layer, outputs."""
    low: Array
    """The least value of each encrypted feature."""
    high: Array
    """The greatest one."""
    centre: Array
    """The centre of the ball, in ranges that are [-1, 1]."""
    radius: float
    """The radius of the ball, in ranges that are [-1, 1]."""
    unit: float
    """A power of two that no score exceeds."""
    noise: float
    """The deviation of a score's error by encryption, at most."""
    fit: float
    """The root mean square of what polynomials did to the scores of the rows planned with."""
    worst: float
    """What polynomials do to the score of any sample that a client may encrypt, at most."""
    vectors: tuple[int, int]
    """Bytes of a ciphertext up and down."""
    steps: list[Transform]
    """What the client does with features before it encrypts them."""
    inputs: int
    """Features of a sample before that."""
    names: list[str]
    """Names of the features, or none."""
    classes: NDArray[Any] | None
    """A classifier's classes; None of regressors."""
    link: str
    """One of `hesc.ml.LINKS`."""
    agreement: float | None = None
    """The share of the rows planned with whose class the polynomials kept; only a classifier's
    maker knows it."""

    @property
    def error(self) -> float:
        """The root mean square of a score's error: by encryption, and by polynomials.

        The second part is that of the rows planned with; other samples may have more, up to
        `worst`.
        """
        return hypot(self.noise, self.fit)

    @cached_property
    def params(self) -> VectorParams:
        """The parameter set."""
        degree = self.ring_degree
        found: VectorParams
        found = Params.recommended("ckks", encoding="vectors", ring_degree=degree)
        return found

    @cached_property
    def packing(self) -> Packing:
        """How samples lie in slots."""
        return Packing(self.params.slot_count, self.widths)

    @property
    def keys(self) -> int:
        """Bytes of a client's public keys, within a hundred."""
        public, key = _KEYS[self.ring_degree]
        # Keys of rotations share a head.
        return public + key + len(self.packing.rotations()) * (key - _HEADS) + 3 * _HEADS

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given the client's public keys before it answers: always."""
        return True

    @property
    def rows(self) -> int:
        """Samples of one query, at most: those of one ciphertext."""
        return self.packing.samples

    @cached_property
    def digest(self) -> bytes:
        """What queries and answers call this plan by."""
        return hashlib.blake2b(self.to_bytes(), digest_size=16).digest()

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        queries = -(-whole(samples, "samples", 0) // self.rows)
        up, down = (
            len(self.message(kind, 1, b"")) + size
            for kind, size in zip(("query", "answer"), self.vectors, strict=True)
        )
        return Sizes(queries * up, queries * down)

    def message(self, kind: str, count: int, vector: bytes) -> bytes:
        """A query or an answer of so many samples."""
        parts = [self.digest, count.to_bytes(_COUNT, "little"), vector]
        return frames.join(f"network {kind}", parts)

    def read_message(self, kind: str, data: bytes) -> tuple[int, bytes]:
        """Samples and ciphertext of a query or an answer.

        Raises:
            WireError: damaged bytes, those of another plan, or of more samples than there may be.

        """
        # Whoever sends more has something else in mind than samples.
        most = _HEAD + max(self.vectors)
        if isinstance(data, bytes) and len(data) > most:
            raise WireError(f"a {kind} of this plan has up to {most} bytes; this has {len(data)}")
        plan, samples, vector = frames.split(data, f"network {kind}", 3)
        if plan != self.digest:
            raise WireError(f"this {kind} is of another plan; give both sides the same one")
        count = int.from_bytes(samples, "little")
        if len(samples) != _COUNT or not 0 < count <= self.rows:
            raise WireError(f"a {kind} of this plan has from 1 to {self.rows} samples")
        return count, vector

    def prepared(self, rows: ArrayLike, *, clip: bool = False) -> Clipped:
        """Samples as they are encrypted: features with each range brought to [-1, 1].

        Args:
            rows: a row of features for each, as the model's owner has them.
            clip: bring values beyond the ranges to their ends, and samples beyond the ball
                straight towards its centre, instead of refusing them. Of such a sample all
                features count as values.

        Raises:
            OutOfRangeError: a value beyond its range, a sample beyond the ball, or no number.
            ShapeError: rows of another length, columns of other names.

        """
        ready = samples.prepared(
            rows,
            inputs=self.inputs,
            names=self.names,
            steps=self.steps,
            ranges=(self.low, self.high),
            clip=clip,
        )
        u = self.scaled(ready.features)
        apart = u - self.centre
        distances = np.linalg.norm(apart, axis=1)
        beyond = distances > self.radius
        if beyond.any() and not clip:
            raise OutOfRangeError(
                f"sample {int(np.argmax(beyond))} is unlike the data that were planned with, as "
                f"{int(beyond.sum())} samples in all: each value is within its range, and together "
                f"they are farther from the centre than the plan's radius, where its polynomials "
                f"are not close to the network. Plan with data like these, or clip=True to bring "
                f"them nearer"
            )
        factor = np.where(beyond, self.radius / np.maximum(distances, self.radius), 1.0)
        u = np.clip(np.where(beyond[:, None], self.centre + apart * factor[:, None], u), -1, 1)
        values = ready.values + int(beyond.sum()) * len(self.low)
        return Clipped(u, values, ready.which | beyond)

    def scaled(self, features: Array) -> Array:
        """Features within their ranges as numbers in [-1, 1]."""
        middle, half = middle_and_half(self.low, self.high)
        return np.clip((features - middle) / half, -1, 1)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        return _table(self)

    def __repr__(self) -> str:
        what = "regressor" if self.classes is None else f"{len(self.classes)} classes"
        layers = " x ".join(map(str, self.widths))
        return f"<hesc.protocols.networks.NetworkPlan: {what}, {layers}, N = {self.ring_degree}>"

    def to_bytes(self) -> bytes:
        """The wire form, for a client."""
        numbers = [self.radius, self.unit, self.noise, self.fit, self.worst]
        fields = {
            "ring_degree": self.ring_degree,
            "widths": list(self.widths),
            "low": documents.packed(self.low),
            "high": documents.packed(self.high),
            "centre": documents.packed(self.centre),
            "numbers": documents.packed(np.array(numbers)),
            "vectors": list(self.vectors),
            "inputs": self.inputs,
            "names": self.names,
            "steps": transforms.described(self.steps),
            "classes": labels.described_or_none(self.classes),
            "link": self.link,
        }
        return documents.write(self.kind, fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> NetworkPlan:
        """A plan from its wire form.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        names = {"ring_degree", "widths", "low", "high", "centre", "numbers", "vectors"}
        names |= {"inputs", "names", "steps", "classes", "link"}
        given = documents.read(data, cls.kind, names)
        degree, widths = given["ring_degree"], _wholes(given["widths"], "widths", 1 << 14)
        if type(degree) is not int or degree not in RINGS:
            raise WireError(f"the ring degree of a network's plan is one of {RINGS}")
        if not 3 <= len(widths) <= _DEEPEST or max(widths) > degree // 2:
            raise WireError("the layers of a network's plan do not fit its ring")
        low, high, centre = (
            documents.unpacked(given[name], 1, name) for name in ("low", "high", "centre")
        )
        alike = len(low) == len(high) == len(centre) == widths[0]
        if not alike or not are_ranges(low, high) or (np.abs(centre) > 1).any():
            raise WireError("ranges and centre of a network's plan do not go together")
        numbers = documents.unpacked(given["numbers"], 1, "numbers").tolist()
        if len(numbers) != 5 or not all(0 <= n < _LARGEST and isfinite(n) for n in numbers):
            raise WireError("a network's plan has five numbers from zero on")
        radius, unit, noise, fit, worst = numbers
        if not unit > 0 or np.frexp(unit)[0] != 0.5:
            raise WireError("the unit of a network's plan is a power of two")
        vectors = _wholes(given["vectors"], "vectors", 1 << 25)
        inputs = given["inputs"]
        named = documents.read_names(given["names"], inputs)
        steps, width = transforms.read(given["steps"], inputs)
        if width != widths[0] or len(vectors) != 2:
            raise WireError("the transforms of a network's plan give another number of features")
        classes = labels.read_for_scores(given["classes"], widths[-1])
        link = documents.one_of(given["link"], LINKS, "a link")
        plan = cls(
            degree,
            tuple(widths),
            low,
            high,
            centre,
            radius,
            unit,
            noise,
            fit,
            worst,
            (vectors[0], vectors[1]),
            steps,
            inputs,
            named,
            classes,
            link,
        )
        if plan.keys > KEYS:
            raise WireError(f"a network's plan wants {plan.keys} bytes of keys, of {KEYS} at most")
        return plan


def middle_and_half(low: Array, high: Array) -> tuple[Array, Array]:
    """The middle of each range, and half its width, or 1 of a feature that is constant."""
    half = (high - low) / 2
    return (low + high) / 2, np.where(half > 0, half, 1.0)


def _wholes(value: object, what: str, most: int) -> list[int]:
    if not isinstance(value, list) or not all(type(n) is int and 0 < n <= most for n in value):
        raise WireError(f"{what} of a network's plan are whole numbers up to {most}")
    return value


def _table(plan: NetworkPlan) -> Disclosure:
    """Roles, disclosure, error and bytes of a plan, a line for each."""
    features, outputs = plan.widths[0], plan.widths[-1]
    each = "a score" if outputs == 1 else f"{outputs} scores"
    sees = f"sees its samples, {each} for each"
    if plan.classes is not None:
        sees += ", and its class" + (" and probabilities" if plan.link != "none" else "")
    given = [
        f"ranges of {features} features; a ball about the samples planned with (roughly their "
        "mean, and how far one may be from it)"
    ]
    given += ["their names"] * bool(plan.names) + ["names of classes"] * (plan.classes is not None)
    given += [f"widths of layers ({', '.join(map(str, plan.widths))})"]
    rows = {
        "setting": "client_server: the server holds the weights, the client samples and key",
        "server": "sees how many samples there are, the plan, keys to multiply and rotate; no "
        "sample, no score. Tell it none: errors of scores say something of the secret key",
        "client": sees,
        "is given": "; ".join([*given, *(step.discloses for step in plan.steps)]),
        "weights": "NOT HIDDEN FROM THE CLIENT: nothing drowns what an answer's noise says of them",
        "queries": "scores of enough samples give a network away, whatever encrypts them: about as "
        f"many as it has weights, {_weights(plan)}, and often fewer",
        "error": f"{plan.error:.3g}, the root mean square of a score's error in units of "
        f"{units(None if plan.classes is None else outputs)}: {plan.noise:.2g} at "
        f"most by encryption, {plan.fit:.3g} by polynomials on the rows planned with",
        "at worst": f"{plan.worst:.3g} by polynomials, for any sample within ranges and ball; "
        "others are refused",
    }
    if plan.agreement is not None:
        rows["agreement"] = (
            f"{100 * plan.agreement:.2f} % of the rows planned with keep their class{TIES}"
        )
    sizes = {count: plan.sizes(count) for count in sorted({1, plan.rows})}
    rows["bytes"] = "; ".join(
        f"{size.up} up, {size.down} down for {count} sample{'s' * (count > 1)}"
        for count, size in sizes.items()
    )
    rows["ring"] = (
        f"N = {plan.ring_degree}, {secure(plan.params.assurance)}, CKKS, "
        f"{plan.rows} samples a query"
    )
    what = model_kind(None if plan.classes is None else len(plan.classes))
    title = f"Private network, {what}: {features} encrypted features, {each} a sample"
    return Disclosure(title, rows)


def _weights(plan: NetworkPlan) -> int:
    """Weights and intercepts of all layers."""
    return sum((a + 1) * b for a, b in pairwise(plan.widths))
