"""The server of several parties: a model in the clear on encrypted columns. It cannot decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc.protocols.owners import masks, pieces
from hesc.protocols.owners.column_sets import SLOTS, noise_of
from hesc.protocols.owners.plan import OwnersPlan
from hesc.protocols.server import Server
from hesc.protocols.weights import FIELDS, Weights
from hesc.vectors.encrypted_vectors import EncryptedVector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.protocols.wire import Codec
    from hesc.vectors.keys import PublicKeys


class OwnersServer(Server[OwnersPlan]):
    """Weights in the clear that answer the pieces of all parties, for one client.

    Args:
        plan: what everybody agreed upon.
        weights: a row for each output, on features after the plan's transforms.
        intercepts: one for each output.
        keys: what the client's `public_keys` gave. Without them it answers nothing yet, and
            `to_bytes` is what there is for.

    Raises:
        OutOfRangeError: weights beyond the plan's scale.
        ShapeError, ParameterError, WireError: weights of another shape; keys that are damaged, or
            of other parameters.

    """

    plan_type: ClassVar[type[OwnersPlan]] = OwnersPlan
    fields: ClassVar[Mapping[str, Mapping[str, Codec]]] = FIELDS

    def __init__(
        self,
        plan: OwnersPlan,
        weights: ArrayLike,
        intercepts: ArrayLike,
        *,
        keys: bytes | None = None,
    ) -> None:
        super().__init__(plan, keys=keys)
        self._weights = Weights.of(weights, intercepts, plan.shape)
        self._scaled, self._added = scaled(plan, self._weights)

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return self._weights._asdict()

    @property
    def query_parts(self) -> int:
        """A ciphertext for each encrypted feature."""
        return self.plan.shape[1]

    def answer(self, query: bytes | Sequence[bytes]) -> bytes:
        """The encrypted scores of rows, with fresh noise, for the client.

        Args:
            query: a piece of each party, in any order, or what `pieces.joined` made of them.

        Cost: a product with a number for each feature and score, an encryption for each score.

        Raises:
            WireError: damaged bytes, another plan's, or ciphertexts that are not fresh.
            ParameterError: a party's piece is missing or there twice; a server without keys.
            ShapeError: pieces of different rows.
            KeyMismatchError: a piece under another key.

        """
        return super().answer(
            query if isinstance(query, bytes) else pieces.joined(self.plan, query)
        )

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """A ciphertext for each score.

        Raises:
            WireError, KeyMismatchError: as `answer`.

        """
        keys = self.keys
        if keys is None:
            raise ParameterError("the server has no keys: give keys=, client.public_keys()")
        fresh = keys.encrypt(np.zeros(SLOTS))
        columns = [_read(part, fresh).native for part in parts]
        return [
            self._score(keys, columns, row, float(added), samples)
            for row, added in zip(self._scaled, self._added, strict=True)
        ]

    def _score(
        self,
        keys: PublicKeys,
        columns: list[Any],
        weights: NDArray[np.float64],
        added: float,
        rows: int,
    ) -> bytes:
        """One output of all rows: a sum with noise of its own, rescaled once.

        Unrescaled it is an integer, which who knows two weights splits into columns modulo them.
        """
        plan = self.plan
        encryption = noise_of(plan.set) * np.sqrt(1 + np.square(weights).sum())
        noise = np.sqrt((plan.error / plan.scale) ** 2 - encryption**2)
        mask = noise * masks.normal(SLOTS)
        mask[:rows] += added
        total = keys.encrypt(mask).native
        scale = total.operand_scale
        total = total.multiply_real(1.0, scale)
        for column, weight in zip(columns, weights, strict=True):
            total = total.add(column.multiply_real(float(weight), scale))
        return EncryptedVector(plan.params, total.rescale(), SLOTS, complex_values=True).to_bytes()


def scaled(plan: OwnersPlan, weights: Weights) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights and intercepts for features from -1 to 1 and scores in units of the plan's scale.

    Raises:
        OutOfRangeError: scores may be beyond half of it.

    """
    low, high = plan.ranges
    with np.errstate(over="ignore", invalid="ignore"):
        found = weights.weights * (high - low) / 2 / plan.scale
        added = (weights.weights @ ((low + high) / 2) + weights.intercepts) / plan.scale
    if not (np.abs(found).sum(axis=1) + np.abs(added) <= 0.5).all():
        raise OutOfRangeError(
            "weights that give scores beyond what the plan declares, or no numbers; plan the model "
            "again"
        )
    return found, added


def _read(data: bytes, fresh: EncryptedVector) -> EncryptedVector:
    """A column that was freshly encrypted under the plan's set, as far as it says itself."""
    found = EncryptedVector.from_bytes(fresh.params, data)
    if (len(found), found.level, found.native.size, found.native.scale) != (
        len(fresh),
        fresh.level,
        fresh.native.size,
        fresh.native.scale,
    ) or found.error_bound != fresh.error_bound:
        raise WireError(
            "a party's column is no fresh encryption of this plan's; ask it to encrypt again"
        )
    return found
