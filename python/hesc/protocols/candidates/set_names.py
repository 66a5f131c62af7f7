"""How sets without a name are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hesc.params.vectors import VectorParams


def set_of(params: VectorParams) -> str:
    """Ring degree and bits of the modulus."""
    return f"N={params.ring_degree}/{round(params.level_bits[0])}"
