"""What client and server of a model agree upon, who holds what, and who learns what."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hesc._native import ClientPlan, query_rows
from hesc._support.inputs import whole
from hesc.models import transforms
from hesc.models.conclusions import Concluding, Isotonic
from hesc.models.fidelity import Fidelity
from hesc.protocols import wire
from hesc.protocols.disclosure import Disclosure, table
from hesc.protocols.message import message_size
from hesc.protocols.plan import ModelPlan
from hesc.ring_products.parts import Ring, RingProductParts, parts_of, written
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc._native import Steps
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams
    from hesc.protocols.copies import Copy


@dataclass(frozen=True, eq=False)
class LinearPlan(ModelPlan, Concluding):
    """Public, and the same on both sides: ranges, transforms, names, and the ring product's plan.

    `PrivateClassifier.plan` and `PrivateRegressor.plan` make one; print it to read who holds and
    learns what. Its wire form is what a client is given.
    """

    protocol: ClassVar[str] = "linear"
    compiled: ClassVar[tuple[str, ...]] = ("_computed", "_read", "core")
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a sample before the client's transforms."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """What the client does with features before it encrypts them."""
    ring: Ring = field(metadata=wire.declared(wire.Written(written)))
    """Sizes and scales, of one ring product or of several that add up."""
    classes: NDArray[Any] | None = field(metadata=wire.SCORED_CLASSES)
    """A classifier's classes; None of regressors."""
    link: str = field(metadata=wire.LINK)
    """One of `hesc.models.conclusions.LINKS`."""
    calibration: Isotonic | None = field(metadata=wire.CALIBRATION)
    """Functions of scores whose values are shares of classes, where the link is isotonic."""
    fidelity: Fidelity | None = field(metadata=wire.FIDELITY)
    """Where what is computed is not the model that was fitted: how near it comes."""
    agreement: float | None = None
    """The least share of rows that is expected to keep its class; only a classifier's maker knows
    it."""
    copy: Copy | None = None
    """How good a copy the answers give of hidden weights; only the plan's maker knows it."""
    _read: ClientPlan | None = field(default=None, init=False, repr=False)
    """The plan as the compiled part read it, where it came as bytes."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads what `to_bytes` wrote; strict: no more than clients in other languages read.

        Raises:
            WireError: damaged bytes, another document's or protocol's, fields that do not fit.

        """
        core = ClientPlan(data, cls.protocol)
        rings = core.rings
        found = cls(
            inputs=core.inputs,
            names=core.names,
            steps=transforms.made(json.loads(data)["steps"]),
            ring=rings[0] if len(rings) == 1 else RingProductParts(core.features, rings),
            classes=None if core.classes is None else np.array(core.classes),
            link=core.link,
            calibration=None if core.calibration is None else Isotonic(*core.calibration),
            fidelity=None if core.fidelity is None else Fidelity(*core.fidelity),
        )
        object.__setattr__(found, "_read", core)
        return found

    @cached_property
    def core(self) -> ClientPlan:
        """The plan as the compiled part has it: what encrypts and decrypts by it."""
        read = self._read
        # JSON in another form, with spaces, has another digest.
        if read is not None and read.digest == self.digest:
            return read
        return ClientPlan(self.to_bytes(), self.protocol)

    @cached_property
    def _computed(self) -> Steps:
        return super()._computed if self._read is None else self._read.steps

    @property
    def params(self) -> VectorParams:
        """The parameter set of the client's keys."""
        return self.ring.params

    @property
    def key_options(self) -> dict[str, Any]:
        """Options of key generation: nothing is relinearised."""
        return {"products": False}

    @cached_property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each encrypted feature; nobody writes into them."""
        low, high = self.ring.ranges
        low.flags.writeable = high.flags.writeable = False
        return low, high

    @property
    def error(self) -> float:
        """The root mean square of a score's error, at most, over servers that round the weights."""
        return self.ring.error

    @property
    def deployment_error(self) -> float:
        """What the root mean square of one server's errors stays within with 99 % probability."""
        return self.ring.deployment_error

    @property
    def hidden(self) -> bool:
        """Whether weights are hidden from the client, as far as scores leave them hidden."""
        return self.ring.answers is not None

    @property
    def samples_in_all(self) -> int | None:
        """Samples that the server answers in all its life; None where nothing is counted."""
        return None if self.ring.answers is None else self.ring.answers // self.ring.shape[0]

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given the client's public keys before it answers."""
        return self.hidden

    @cached_property
    def rows(self) -> int:
        """Samples of one query, at most; more of them go as several."""
        rings = parts_of(self.ring)
        return query_rows(rings[0], len(rings))

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        full, rest = divmod(whole(samples, "samples", 0), self.rows)
        parts = [(full, self.rows)] * (full > 0) + [(1, rest)] * (rest > 0)
        rings = parts_of(self.ring)
        found = [(times, [ring.sizes(count) for ring in rings]) for times, count in parts]
        up = sum(times * message_size([size.up for size in each]) for times, each in found)
        down = sum(times * message_size([size.down for size in each]) for times, each in found)
        return Sizes(up, down)

    def errors_of(
        self, weights: NDArray[np.float64], features: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The root mean square errors of scores, of prepared rows that fill ciphertexts in order.

        Args:
            weights: those of the model.
            features: what `prepared` gave.

        """
        size = self.ring.capacity
        firsts = range(0, len(features), size)
        return np.concatenate(
            [self.ring.errors_of(weights, features[first : first + size]) for first in firsts]
        )

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        most = 100 if self.samples_in_all is None else self.samples_in_all
        counts = sorted({1, min(100, max(1, most))})
        return table(
            self.ring,
            {samples: self.sizes(samples) for samples in counts},
            steps=self.steps,
            named=bool(self.names),
            classes=None if self.classes is None else len(self.classes),
            link=self.link,
            calibrated=self.calibration is not None,
            agreement=self.agreement,
            fidelity=self.fidelity,
            copy=self.copy,
        )

    def __repr__(self) -> str:
        what = "regressor" if self.classes is None else f"{len(self.classes)} classes"
        return f"<hesc.ml.{type(self).__name__}: {what}, {self.ring!r}>"
