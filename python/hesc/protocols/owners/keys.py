"""The client's public key, as parties and the server are given it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc._native import ParameterError
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from hesc.protocols.owners.plan import PartiesPlan


def public_of(plan: PartiesPlan, keys: bytes) -> PublicKeys:
    """The key that `PartiesClient.public_keys` gave.

    Raises:
        ParameterError, WireError: no bytes, damaged ones, the key of another set.

    """
    if not isinstance(keys, bytes):
        raise ParameterError(f"keys are bytes, not {type(keys).__name__}")
    return PublicKeys.from_bytes(plan.params, keys, parts=["public"])
