"""How vectors become codes, the same way on both sides: public numbers and a seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support import documents
from hesc.codes import SignProjection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LARGEST: Final = 1 << 24
"""Numbers of the projections: features by bits."""
BITS: Final = 4096
"""Bits of a code, at most, whatever the set of parameters."""
_SEEDS: Final = 1 << 32
_FINEST: Final = 2.0**-60
"""The finest step of a number: steps so fine round no double, and finer ones might have no
quotient."""


@dataclass(frozen=True, eq=False)
class Coding:
    """Vectors less a centre, with one constant number more, by signs of random projections.

    The constant turns lengths into angles: vectors `u` and `v` of it and of the centre have the
    angle whose cosine is `(u v + lift^2) / (|(u, lift)| |(v, lift)|)`, which grows with their
    distance where lengths are about `lift`. Codes of cosines have no centre and no constant.
    """

    features: int
    """Numbers of a vector."""
    centre: Array | None
    """What is taken off a vector, or None where angles themselves are wanted."""
    lift: float
    """The constant, a power of two; 0 where angles themselves are wanted."""
    bits: int
    """Bits of a code."""
    seed: int
    """What the projections are drawn from."""
    digest: str
    """The digest of the projections, as `SignProjection.digest` has it."""

    @classmethod
    def of_records(cls, records: Array, *, lengths: bool, bits: int, seed: int) -> Coding:
        """The coding for records.

        Args:
            records: vectors, whose rounded mean and typical length become public.
            lengths: whether distances count, or angles alone.
            bits: of a code.
            seed: what projections are drawn from.

        """
        features = records.shape[1]
        centre, lift = _rounded(records) if lengths else (None, 0.0)
        drawn = SignProjection(features + (lift > 0), bits=bits, random_state=seed)
        return cls(features, centre, lift, bits, seed, drawn.digest)

    @cached_property
    def projection(self) -> SignProjection:
        """The projections, drawn when they are first wanted.

        Raises:
            ParameterError: this numpy draws others than the maker's did.

        """
        width = self.features + (self.lift > 0)
        found = SignProjection(width, bits=self.bits, random_state=self.seed)
        if found.digest != self.digest:
            raise ParameterError(
                "numpy draws other projections here than where the plan was made, so that codes "
                "would not compare: use the version of numpy that made the plan, or have it made "
                "again with this one"
            )
        return found

    def encode(self, vectors: Array) -> NDArray[np.uint64]:
        """Codes, a row for each vector.

        Raises:
            OutOfRangeError: a vector of zeros, of which there is no angle; numbers near the largest
                that there are.
            ParameterError: as `projection`.

        """
        if self.centre is None:
            return self.projection.encode(vectors)
        with np.errstate(over="ignore"):
            apart = vectors - self.centre
        return self.projection.encode(np.column_stack([apart, np.full(len(apart), self.lift)]))

    def described(self) -> dict[str, Any]:
        """For a document."""
        return {
            "features": self.features,
            "centre": None if self.centre is None else documents.packed(self.centre),
            "lift": self.lift,
            "bits": self.bits,
            "seed": self.seed,
            "digest": self.digest,
        }


def _rounded(records: Array) -> tuple[Array, float]:
    """The mean to an eighth of about a deviation, and a power of two near the typical length.

    Neither has to be exact, and the less is said of the records.

    Raises:
        OutOfRangeError: squares of distances beyond the largest number that there is.

    """
    with np.errstate(over="ignore", invalid="ignore"):
        centre, length = _centred(records)
    if not (np.isfinite(length) and np.isfinite(centre).all()):
        raise OutOfRangeError(
            "records lie so far apart that squares of their distances are beyond the largest "
            "number: scale features, as StandardScaler does"
        )
    return centre, float(2.0 ** np.round(np.log2(length))) if length > 0 else 1.0


def _centred(records: Array) -> tuple[Array, np.float64]:
    """The rounded mean, and how long records are without it, as root mean square."""
    mean, deviation = records.mean(axis=0), records.std(axis=0)
    constant = (records.min(axis=0) == records.max(axis=0)) | (deviation == 0)
    # What is left of features that are alike in all records lengthens every vector: together they
    # have to be known as well as all others vary. Where nothing does, as well as they are small.
    together = np.sqrt(np.square(deviation[~constant]).sum() / max(1, constant.sum()))
    if not together > 0:
        together = np.maximum(np.abs(mean), 1.0)
    scale = np.where(constant, together, deviation)
    # Sums of many large numbers are rounded.
    mean[constant] = records[0, constant]
    scale = np.maximum(scale, np.abs(mean) * _FINEST)
    step = 2.0 ** (np.round(np.log2(scale)) - 3)
    centre = np.round(mean / step) * step
    return centre, np.sqrt(np.square(records - centre).sum(axis=1).mean())


def read(value: object) -> Coding:
    """A coding from a document; its projections are drawn and compared when they are wanted.

    Raises:
        WireError: anything else.

    """
    names = {"features", "centre", "lift", "bits", "seed", "digest"}
    given = documents.exactly(value, names, "coding")
    features, bits, seed = (given[name] for name in ("features", "bits", "seed"))
    wholes = all(type(number) is int for number in (features, bits, seed))
    if not wholes or not 0 < features <= LARGEST or not 0 <= seed < _SEEDS:
        raise WireError("a coding has whole numbers of features and bits, and a seed below 2^32")
    if bits % 64 or not 0 < bits <= BITS or (features + 1) * bits > LARGEST:
        raise WireError(f"codes have a multiple of 64 bits, up to {BITS}, and few enough features")
    centre, lift = given["centre"], given["lift"]
    if centre is not None:
        centre = documents.unpacked(centre, 1, "centre of a coding")
    lengths = centre is not None and len(centre) == features
    if type(lift) is not float or (lift > 0) != lengths or (centre is None) == lengths:
        raise WireError("a coding has a centre of all features and a number beside it, or neither")
    if not (lift == 0 or np.frexp(lift)[0] == 0.5):
        raise WireError("the number beside the features of a coding is a power of two")
    digest = given["digest"]
    if not isinstance(digest, str) or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise WireError("the digest of a coding is 64 hexadecimal digits")
    return Coding(features, centre, lift, bits, seed, digest)
