"""Bytes of queries, answers and keys of comparisons, by engine."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from hesc import integers
from hesc.integers import EncryptedIntegers
from hesc.integers.secret import encrypt_integers
from hesc.params.parameter_set import Params
from hesc.protocols.classes.circuits import BLOCK
from hesc.secret import keygen

if TYPE_CHECKING:
    from hesc.integers import Kind
    from hesc.vectors.keys import PublicKeys

_HEAD: Final = 185
"""Bytes of a query of bits that bootstrap, before its blocks."""
DOWN: Final = 5_802
"""Bytes of an answer, one block of such bits."""


def bits_up(bits: int) -> int:
    """Bits of a query on its way up: sixteen for each place of its blocks."""
    return _HEAD + -(-bits // BLOCK) * 16 * BLOCK


@cache
def keys(preset: str, upload: str) -> int:
    """Bytes of the public keys that a server is given.

    Large sets have hundreds of megabytes of them: what a key for each power of Frobenius takes is
    the relinearisation key's size, and heads are those of the smallest set.
    """
    params = Params.preset(preset)
    public = keygen(params)[1]
    size = len(public.to_bytes())
    if upload != "packed":
        return size
    small = Params.preset("bgv_13107_shallow")
    made = keygen(small, unpacking=True)[1]
    few, turns = made.only("relinearisation"), (small.slot_degree or 1) - 1
    heads = turns * _relinearisation(few) - len(made.to_bytes()) + len(few.to_bytes())
    return size + ((params.slot_degree or 1) - 1) * _relinearisation(public) - heads


def _relinearisation(public: PublicKeys) -> int:
    return len(public.to_bytes()) - len(public.only().to_bytes())


@cache
def sizes(
    preset: str, upload: str, kinds: tuple[Kind, ...], answer: Kind, level: int
) -> tuple[int, int]:
    """Bytes of a query and its answer, of zeros under a key that is thrown away."""
    params = Params.preset(preset)
    secret, public = keygen(params, products=False)
    up = sum(len(encrypt_integers(secret, [0], str(kind), layout=upload)) for kind in kinds)
    fresh = integers.encrypt(public, [0], answer)
    blocks = [[bit.mod_switch_to(level) for bit in block] for block in fresh.blocks]
    return up, len(EncryptedIntegers(params, answer, 1, blocks).to_bytes())
