"""Ciphertexts read and bound to keys in one step, as servers do; keys of their stored parts."""

from __future__ import annotations

from typing import Any

import hesc
from hesc import _native, packing


def vector(public: hesc.PublicKeys, data: bytes, length: int | None = None) -> hesc.EncryptedVector:
    """A vector to compute with under these keys."""
    return hesc.EncryptedVector.from_bytes(public.params, data, length).with_keys(public)


def slots(public: hesc.PublicKeys, data: bytes) -> packing.EncryptedSlots:
    """Slots to compute with under these keys."""
    return packing.EncryptedSlots.from_bytes(public.params, data).with_keys(public)


def public_keys(params: Any, **parts: bytes) -> hesc.PublicKeys:
    """Public keys of the wire forms of their parts, which vectors/ stores one by one."""
    return hesc.PublicKeys.from_bytes(params, _native.join_keys(list(parts.items())))
