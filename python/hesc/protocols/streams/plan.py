"""What all sides of a network on streams know, and what each learns, in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import WireError
from hesc._support.inputs import whole
from hesc.models import transforms
from hesc.models.conclusions import Concluding
from hesc.params import Params, StreamParams
from hesc.protocols import wire
from hesc.protocols.disclosure import TIES, Disclosure, model_kind, secure, units
from hesc.protocols.message import message_size
from hesc.protocols.plan import ModelPlan
from hesc.ring_products.plans import Sizes
from hesc.streams.encoding import Encoder
from hesc.streams.networks.monomial import MODEL_DIMENSION, QUERY_DIMENSION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.transforms import Transform

SCHEMES: Final = ("bfv", "ckks", "gm", "elgamal", "ec_elgamal")
"""Schemes whose bits multiply by one addition, and that a model's owner encrypts under."""
ASSURANCES: Final = ("guidelines2024", "classical128")
"""Security that a set of parameters has."""
LAYOUTS: Final = ("side_by_side", "one_per_block")
"""How streams lie in ciphertexts."""
COSTS: Final = ("query", "query_sample", "answer", "answer_sample")
"""Bytes of ciphertexts, beside samples and for each of them."""
_ROWS: Final = 64
"""Samples of a query, at most: enough for all threads."""
_MODEL: Final = 1 << 22
"""Bits of a model's streams, at most, and so of a sample's: a plan of few bytes must not fill
memory."""
_BITS: Final = 1 << 17
"""Bits of a query's streams, roughly, which bound memory."""
_LARGEST: Final = 1e100
_GRID: Final = np.linspace(-1, 1, 65)
"""Values of products on which the law of errors is read."""


@dataclass(frozen=True, eq=False)
class StreamPlan(ModelPlan, Concluding):
    """Public, and the same for client, model's owner and server of a network on streams.

    `PrivateSquareNetwork.plan` makes one; print it to read who holds and learns what.
    """

    protocol: ClassVar[str] = "streams"
    needs_keys: ClassVar[bool] = True
    inputs: int = field(metadata=wire.INPUTS)
    """Features of a sample."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """What the client does with them: centre, axes, scale and clip, then products of two."""
    classes: NDArray[Any] = field(metadata=wire.CLASSES)
    """A name for each output."""
    scales: NDArray[np.float64] = field(metadata=wire.array(1))
    """The largest size of each monomial's coefficients, which scales it in all answers."""
    preset: str = field(metadata=wire.one_of(tuple(Params.presets().names)))
    """Name of the parameters."""
    stream_length: int = field(metadata=wire.whole(1, 1 << 16))
    """Bits of a stream."""
    layout: str = field(metadata=wire.one_of(LAYOUTS))
    """How streams lie in ciphertexts."""
    costs: dict[str, int] = field(metadata=wire.counts(*COSTS, most=1 << 40))
    """Bytes of ciphertexts, as they were when it was planned."""
    agreement: float | None = None
    """Share of the rows planned with that keep their class; only the plan's maker knows it."""

    def check(self) -> None:
        """Refuses parameters that are weak or serve no such network, and scales of others.

        Raises:
            WireError: naming which.

        """
        params = self.params
        if params.scheme not in SCHEMES or params.assurance not in ASSURANCES:
            raise WireError(
                f"{self.preset} does not keep the security guidelines of 2024, or is for other "
                f"computations; choose a set of {', '.join(SCHEMES)} with 128 bits"
            )
        width = self.steps[-1].widths[1] if self.steps else self.inputs
        if len(self.scales) != width:
            raise WireError("a plan of streams has a scale for each product of features")
        if not ((self.scales > 0) & (self.scales <= _LARGEST)).all():
            raise WireError("the scales of a plan of streams are positive numbers")
        one = self.stream_length
        if self.layout == "one_per_block":
            one = -(-one // params.block_length) * params.block_length
        bits = self.outputs * width * one
        if bits > _MODEL:
            raise WireError(
                f"a plan of streams has {_MODEL} bits in its model at most, and this one {bits}; "
                f"choose shorter streams, or a network of fewer products of features"
            )
        if self.layout == "side_by_side" and self.stream_length > params.block_length:
            raise WireError(
                f"streams of {self.stream_length} bits do not lie side by side in the blocks of "
                f"{self.preset}, which have {params.block_length}"
            )

    @cached_property
    def params(self) -> StreamParams:
        """The parameters of the client's keys.

        Raises:
            WireError: a set whose numbers are no streams.

        """
        found = Params.preset(self.preset)
        if not isinstance(found, StreamParams):
            raise WireError(f"{self.preset} is a set for vectors, and this plan is of streams")
        return found

    @property
    def outputs(self) -> int:
        """Scores of a sample: one for each class, of two as well."""
        return len(self.classes)

    @property
    def rows(self) -> int:
        """Samples of one query, at most."""
        return min(_ROWS, max(1, _BITS // (self.stream_length * len(self.scales))))

    @property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What products of features lie within: from -1 to 1, as streams hold."""
        ends = np.ones(len(self.scales))
        return -ends, ends

    @cached_property
    def error(self) -> float:
        """The root mean square of an output's statistical error, at most.

        Streams of one dimension times those of another err by the generator's law, most where the
        product is near zero. Each monomial has a stream of its own; errors add up in squares.
        """
        law = Encoder(self.stream_length, first_dimension=min(QUERY_DIMENSION, MODEL_DIMENSION))
        worst = float(law.predicted_error(_GRID, 2).max())
        return worst * float(np.sqrt(np.sum(self.scales**2)))

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take.

        Bitwise schemes may be off by a few bytes for each ciphertext.
        """
        count = whole(samples, "samples", 1)
        queries = -(-count // self.rows)
        up, down = (
            queries * message_size([self.costs[name]]) + count * self.costs[f"{name}_sample"]
            for name in ("query", "answer")
        )
        return Sizes(up, down)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with the statistical error and bytes."""
        outputs, monomials = self.outputs, len(self.scales)
        given = [f"the largest coefficient of each of {monomials} products of features"]
        given += ["their names"] * bool(self.names) + ["names of classes"]
        sizes = {count: self.sizes(count) for count in (1, 100)}
        rows = {
            "setting": "outsourced: the client holds samples and key, an owner the model; the "
            "server holds neither",
            "server": "sees how many samples there are, the plan, the key's name; no sample, no "
            "weight, no score",
            "client": f"sees its samples, {outputs} scores for each, and its class",
            "owner": "encrypts them under the client's public key, sees the plan; no sample, no "
            "score",
            "client is given": "; ".join([*given, *transforms.disclosed(self.steps)]),
            "weights": "hidden from the server alone: THE CLIENT CAN COMPUTE products of them with "
            "its samples, and after a few answers all that the scores depend on",
            "error": f"{self.error:.3g}, the root mean square of a score's error, at most, in "
            f"units of {units(outputs)}: of streams of {self.stream_length} bits, drawn anew for "
            f"each query",
            "bytes": "; ".join(
                f"{size.up} up, {size.down} down for {count} sample{'s' * (count > 1)}"
                for count, size in sizes.items()
            ),
            "streams": f"{self.stream_length} bits, {self.layout.replace('_', ' ')}, under "
            f"{self.preset}, {secure(self.params.assurance)}",
        }
        if self.agreement is not None:
            rows["agreement"] = (
                f"{100 * self.agreement:.2f} % of the rows planned with keep their class{TIES}"
            )
        what = model_kind(outputs)
        return Disclosure(
            f"Private {what}: {self.inputs} features as {monomials} encrypted products, "
            f"{outputs} scores a sample",
            rows,
        )
