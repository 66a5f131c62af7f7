"""What client and server of a network agree upon, who holds what, and who learns what."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import OutOfRangeError, WireError
from hesc._support.callers import usual_floats
from hesc._support.inputs import whole
from hesc.models import transforms
from hesc.models.conclusions import Concluding
from hesc.models.samples import Clipped
from hesc.params.parameter_set import Params
from hesc.params.vectors import VectorParams
from hesc.protocols import labels, wire
from hesc.protocols.disclosure import TIES, Disclosure, model_kind, secure, units
from hesc.protocols.message import message_size
from hesc.protocols.networks.packing import Packing
from hesc.protocols.plan import ModelPlan
from hesc.ring_products.plans import Sizes
from hesc.vectors.encrypted_vectors import EncryptedVector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams

    Array = NDArray[np.float64]

RINGS: Final = (8192, 16384, 32768)
DEVIATIONS: Final = 14
"""Standard deviations of an error of CKKS that its stated bound covers."""
_DEEPEST: Final = 16
KEYS: Final = 1 << 29
"""Bytes of a client's public keys, at most: making them takes seven times as much memory."""
_LARGEST: Final = 1e30


@dataclass(frozen=True, eq=False)
class NetworkPlan(ModelPlan, Concluding):
    """Public, and the same on both sides. `PrivateMLPClassifier.plan` makes one; print it.

    A client may encrypt what lies within the ranges **and** within a ball: with each range brought
    to [-1, 1], at most `radius` away from `centre`. The ball bounds what a sum of the network can
    be much closer than ranges do, so that polynomials need be close to activations on a shorter
    interval; what they are beyond it no sample that is accepted can reach.
    """

    protocol: ClassVar[str] = "networks"
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a sample before the client's transforms."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """What the client does with features before it encrypts them."""
    classes: NDArray[Any] | None = field(metadata=wire.SCORED_CLASSES)
    """A classifier's classes; None of regressors."""
    link: str = field(metadata=wire.LINK)
    """One of `hesc.models.conclusions.LINKS`."""
    ring_degree: int = field(metadata=wire.whole(min(RINGS), max(RINGS)))
    """One of `RINGS`, of CKKS's recommended sets."""
    widths: tuple[int, ...] = field(metadata=wire.wholes(1, max(RINGS) // 2, count=(3, _DEEPEST)))
    """Features that are encrypted, units of each hidden layer, outputs."""
    ranges: tuple[Array, Array] = field(metadata=wire.RANGES)
    """The least and the greatest value of each encrypted feature."""
    centre: Array = field(metadata=wire.array(1))
    """The centre of the ball, in ranges that are [-1, 1]."""
    radius: float = field(metadata=wire.number(0, _LARGEST))
    """The radius of the ball, in ranges that are [-1, 1]."""
    unit: float = field(metadata=wire.number(0, _LARGEST))
    """A power of two that no score exceeds."""
    noise: float = field(metadata=wire.number(0, _LARGEST))
    """The deviation of a score's error by encryption, at most."""
    fit: float = field(metadata=wire.number(0, _LARGEST))
    """The root mean square of what polynomials did to the scores of the rows planned with."""
    worst: float = field(metadata=wire.number(0, _LARGEST))
    """What polynomials do to the score of any sample that a client may encrypt, at most."""
    vectors: tuple[int, ...] = field(metadata=wire.wholes(1, 1 << 25, count=(2, 2)))
    """Bytes of a ciphertext up and down."""
    agreement: float | None = None
    """The share of the rows planned with whose class the polynomials kept; only a classifier's
    maker knows it."""

    def check(self) -> None:
        """Refuses layers, ranges, classes and keys that do not fit together.

        Raises:
            WireError: naming which.

        """
        if self.ring_degree not in RINGS:
            raise WireError(f"the ring degree of a network's plan is one of {RINGS}")
        if max(self.widths) > self.ring_degree // 2:
            raise WireError("the layers of a network's plan do not fit its ring")
        alike = len(self.ranges[0]) == len(self.centre) == self.widths[0]
        if not alike or (np.abs(self.centre) > 1).any():
            raise WireError("ranges and centre of a network's plan do not go together")
        if not self.unit > 0 or np.frexp(self.unit)[0] != 0.5:
            raise WireError("the unit of a network's plan is a power of two")
        if transforms.width(self.steps, self.inputs) != self.widths[0]:
            raise WireError("the transforms of a network's plan give another number of features")
        labels.check_scores(self.classes, self.widths[-1], self.link)
        if self.key_bytes > KEYS:
            raise WireError(
                f"a network's plan wants {self.key_bytes} bytes of keys, of {KEYS} at most"
            )

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
    def needs_keys(self) -> bool:
        """Whether the server is given the client's public keys before it answers: always."""
        return True

    @property
    def rows(self) -> int:
        """Samples of one query, at most: those of one ciphertext."""
        return self.packing.samples

    @property
    def key_parts(self) -> tuple[str, ...]:
        """Parts of the public keys that the server multiplies and rotates with."""
        # A network whose layers are one unit wide has nothing to rotate.
        turning = ["rotations"] if self.packing.rotations() else []
        return ("relinearisation", *turning)

    @property
    def key_options(self) -> dict[str, Any]:
        """Options of key generation: the steps of all rotations."""
        return {"rotations": self.packing.rotations()}

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        queries = -(-whole(samples, "samples", 0) // self.rows)
        up, down = (queries * message_size([size]) for size in self.vectors)
        return Sizes(up, down)

    def vector(self, data: bytes) -> EncryptedVector:
        """The ciphertext of a query or an answer, without keys.

        Raises:
            WireError, ParameterError: damaged bytes, another set's; more of them than any
                ciphertext of this plan has, which is something else than samples.
            ShapeError: other numbers than all slots hold.

        """
        most = max(self.vectors)
        if len(data) > most:
            raise WireError(
                f"a ciphertext of this plan has up to {most} bytes; this one has {len(data)}"
            )
        return EncryptedVector.from_bytes(self.params, data, self.params.slot_count)

    @usual_floats
    def prepared(self, given: Samples, *, clip: bool = False) -> Clipped:
        """Samples as they are encrypted: features with each range brought to [-1, 1].

        Args:
            given: a row of features for each, as the model's owner has them.
            clip: bring values beyond the ranges to their ends, and samples beyond the ball
                straight towards its centre, instead of refusing them. Of such a sample all
                features count as values.

        Raises:
            OutOfRangeError: a value beyond its range, a sample beyond the ball, or no number.
            ShapeError: rows of another length, columns of other names.

        """
        ready = super().prepared(given, clip=clip)
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
        values = ready.values + int(beyond.sum()) * len(self.centre)
        return Clipped(u, values, ready.which | beyond)

    def scaled(self, features: Array) -> Array:
        """Features within their ranges as numbers in [-1, 1]."""
        middle, half = middle_and_half(*self.ranges)
        return np.clip((features - middle) / half, -1, 1)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        return _table(self)

    def __repr__(self) -> str:
        what = "regressor" if self.classes is None else f"{len(self.classes)} classes"
        layers = " x ".join(map(str, self.widths))
        return f"<hesc.protocols.networks.NetworkPlan: {what}, {layers}, N = {self.ring_degree}>"


def middle_and_half(low: Array, high: Array) -> tuple[Array, Array]:
    """The middle of each range, and half its width, or 1 of a feature that is constant."""
    half = (high - low) / 2
    return (low + high) / 2, np.where(half > 0, half, 1.0)


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
        "client is given": "; ".join([*given, *transforms.disclosed(plan.steps)]),
        "weights": "NOT HIDDEN FROM THE CLIENT: an answer's noise tells of them, and none is added",
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
