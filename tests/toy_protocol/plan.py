"""What client and server of a score in whole numbers agree upon."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc import OutOfRangeError, Params, WireError
from hesc.models.conclusions import Concluding
from hesc.protocols import wire
from hesc.protocols.disclosure import Disclosure
from hesc.protocols.message import message_size
from hesc.protocols.plan import ModelPlan
from hesc.ring_products.plans import Sizes
from hesc.vectors.encrypted_vectors import EncryptedVector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform
    from hesc.params.vectors import VectorParams

LARGEST: Final = 516_096
"""The largest whole number of the set."""
_UP: Final = 36_030
_DOWN: Final = 36_007


@dataclass(frozen=True, eq=False)
class ToyPlan(ModelPlan, Concluding):
    """Public, and the same on both sides: how large features and scores are."""

    protocol: ClassVar[str] = "toy"
    inputs: int = field(metadata=wire.whole(1, 64))
    """Features of a sample."""
    names: list[str] = field(metadata=wire.NAMES)
    """Names of the features, or none."""
    steps: list[Transform] = field(metadata=wire.STEPS)
    """No transforms: features are whole numbers as they are."""
    classes: NDArray[Any] | None = field(metadata=wire.SCORED_CLASSES)
    """None: the score is a number."""
    bound: int = field(metadata=wire.whole(1, LARGEST))
    """What features stay within."""
    most: int = field(metadata=wire.whole(1, LARGEST))
    """What scores stay within."""

    def check(self) -> None:
        """Refuses transforms and classes.

        Raises:
            WireError: there are some.

        """
        if self.steps or self.classes is not None:
            raise WireError("a plan in whole numbers has no transforms and no classes")

    @cached_property
    def params(self) -> VectorParams:
        """The parameter set."""
        found: VectorParams = Params.preset("bfv_4096")
        return found

    @property
    def key_options(self) -> dict[str, Any]:
        """Options of key generation: nothing is relinearised."""
        return {"products": False}

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given public keys: it only adds, and needs none."""
        return False

    @property
    def error(self) -> None:
        """None: whole numbers are exact."""

    @property
    def rows(self) -> int:
        """Samples of one query, at most: a slot each."""
        return self.params.slot_count

    @property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each encrypted feature."""
        ends = np.full(self.inputs, float(self.bound))
        return -ends, ends

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        queries = -(-samples // self.rows)
        up, down = message_size([_UP] * self.inputs), message_size([_DOWN])
        return Sizes(queries * up, queries * down)

    def prepared(self, given: Samples, *, clip: bool = False) -> Clipped:
        """Samples as they are encrypted: within the bound, and whole.

        Raises:
            OutOfRangeError: beyond the bound, or not whole.
            ShapeError: rows of another length, columns of other names.

        """
        found = super().prepared(given, clip=clip)
        if (found.features != np.round(found.features)).any():
            raise OutOfRangeError("features of this plan are whole numbers")
        return found

    def vector(self, data: bytes, samples: int) -> EncryptedVector:
        """A ciphertext of a message of so many samples.

        Raises:
            WireError, ParameterError, ShapeError: damaged bytes, another set's, other numbers.

        """
        return EncryptedVector.from_bytes(self.params, data, samples)

    def disclosure(self) -> Disclosure:
        """Who holds and learns what."""
        size = self.sizes()
        rows = {
            "setting": "client_server: the server holds the weights, the client samples and key",
            "server": "sees how many samples there are, the plan; no sample, no score",
            "client": "sees its samples, and a score for each",
            "weights": f"THE CLIENT CAN COMPUTE ALL OF THEM from {self.inputs + 1} samples",
            "error": "none",
            "bytes": f"{size.up} up, {size.down} down for 1 sample",
        }
        return Disclosure(f"A score of {self.inputs} features in whole numbers", rows)

    def __repr__(self) -> str:
        return f"<ToyPlan: {self.inputs} features within {self.bound}>"
