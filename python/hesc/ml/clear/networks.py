"""Networks that are nobody's secret: the client is given the layers and computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc.ml.clear.service import ClearService
from hesc.protocols.networks import backend

if TYPE_CHECKING:
    from hesc.models.described import Described
    from hesc.protocols.services import Asked


class ClearNetworkService(ClearService):
    """A network that its client computes, activations as they are."""

    @staticmethod
    def described(asked: Asked) -> Described:
        """What a fitted network computes."""
        return backend.described(asked.estimator, asked.names)
