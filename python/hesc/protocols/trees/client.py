"""The client of a model of trees: it encrypts bits and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hesc import _native
from hesc.models.samples import Result
from hesc.protocols.client import PartsClient
from hesc.protocols.trees.plan import TreesPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.secret import SecretKey


class TreesClient(PartsClient[Result]):
    """Encrypts which edges features exceed, and reads scores."""

    plan_type: ClassVar[type[TreesPlan]] = TreesPlan
    answer_parts: ClassVar[int | None] = None
    plan: TreesPlan
    secret: SecretKey

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """The bits of each sample, a part for each."""
        key = self.secret.native
        rows = np.ascontiguousarray(features != 0)
        return [_native.encrypt_edges(self.plan.forest, key, row) for row in rows]

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """The scores of each sample.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        self.plan.check_parts(len(parts), samples)
        key = self.secret.native
        sums = [_native.decrypt_sums(self.plan.forest, key, part) for part in parts]
        scores = self.plan.scored(np.array(sums))
        return Result(self.plan.predictions(scores), scores, self.plan.error)
