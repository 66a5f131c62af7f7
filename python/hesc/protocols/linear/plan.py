"""What client and server of a model agree upon, who holds what, and who learns what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from hesc._native import WireError
from hesc._support import documents
from hesc._support.inputs import whole
from hesc.models.conclusions import Concluding
from hesc.models.samples import Clipped, prepared
from hesc.protocols.disclosure import Disclosing, Disclosure, table
from hesc.protocols.linear import fields as linear_fields
from hesc.ring_products.plans import Plan, Sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.models.fidelity import Fidelity
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams
    from hesc.protocols.copies import Copy

_CIPHERTEXTS: Final = 64
"""Ciphertexts of a query: enough that seeds and heads do not count, few enough to show progress."""


@dataclass(frozen=True, eq=False)
class PrivatePlan(Disclosing, Concluding):
    """Public, and the same on both sides: ranges, transforms, names, and the ring product's plan.

    `PrivateClassifier.plan` and `PrivateRegressor.plan` make one; print it to read who holds and
    learns what. Its wire form is what a client is given.
    """

    encrypts_publicly: ClassVar[bool] = False
    kind: ClassVar[str] = "plan"
    """The kind of the plan's document."""
    ring: Plan
    """Sizes and scales."""
    steps: list[Transform]
    """What the client does with features before it encrypts them."""
    inputs: int
    """Features of a sample before that."""
    names: list[str]
    """Names of the features, or none."""
    classes: NDArray[Any] | None
    """A classifier's classes; None of regressors."""
    link: str
    """One of `LINKS`."""
    agreement: float | None = None
    """The least share of rows that is expected to keep its class; only a classifier's maker knows
    it."""
    fidelity: Fidelity | None = None
    """Where what is computed is not the model that was fitted: how near it comes."""
    transformer: bool = False
    """Whether outputs are transformed samples."""
    copy: Copy | None = None
    """How good a copy the answers give of hidden weights; only the plan's maker knows it."""

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

    @property
    def rows(self) -> int:
        """Samples of one query, at most; more of them go as several."""
        return min(self.ring.most_samples, _CIPHERTEXTS * self.ring.capacity)

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        full, rest = divmod(whole(samples, "samples", 0), self.rows)
        parts = [(full, self.rows)] * (full > 0) + [(1, rest)] * (rest > 0)
        found = [(times, self.ring.sizes(count)) for times, count in parts]
        return Sizes(sum(t * s.up for t, s in found), sum(t * s.down for t, s in found))

    def prepared(self, samples: ArrayLike, *, clip: bool = False) -> Clipped:
        """Samples as they are encrypted.

        Args:
            samples: a row of features for each, as the model's owner has them; the columns of a
                DataFrame have the plan's names.
            clip: bring values beyond the ranges to their ends instead of refusing them.

        Raises:
            OutOfRangeError: a value beyond its range, or one that is no number.
            ShapeError: rows of another length, columns of other names.

        """
        return prepared(
            samples,
            inputs=self.inputs,
            names=self.names,
            steps=self.steps,
            ranges=self.ring.ranges,
            clip=clip,
        )

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
            probabilities=self.link != "none",
            agreement=self.agreement,
            fidelity=self.fidelity,
            transformer=self.transformer,
            copy=self.copy,
        )

    def __repr__(self) -> str:
        what = "transformer" if self.transformer else "regressor"
        what = what if self.classes is None else f"{len(self.classes)} classes"
        return f"<hesc.ml.{type(self).__name__}: {what}, {self.ring!r}>"

    def to_bytes(self) -> bytes:
        """The wire form, for a client."""
        ring = {"ring": documents.base64_of(self.ring.to_bytes())}
        return documents.write(self.kind, ring | linear_fields.described(self))

    @property
    def params(self) -> VectorParams:
        """The parameter set of the client's key."""
        return self.ring.params

    @classmethod
    def _check_ring(cls, ring: Plan) -> None:
        """Refuses sizes of another setting.

        Raises:
            WireError: naming it.

        """
        if ring.encrypted_under is not None:
            raise WireError("a plan of hesc.ml for weights in the clear has encrypted ones")

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A plan from its wire form.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        given = documents.read(data, cls.kind, {"ring", *linear_fields.FIELDS})
        ring = Plan.from_bytes(documents.bytes_of(given["ring"], "the ring product of a plan"))
        cls._check_ring(ring)
        return cls(ring, **linear_fields.read(given, ring.shape))
