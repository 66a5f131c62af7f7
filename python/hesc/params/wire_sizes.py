"""Bytes of messages and keys before there are any, as those count them who write them.

Sizes are public: they follow from parameter sets, levels and counts, so that plans make no keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from hesc import _native
from hesc._native import ParameterError
from hesc.params.stream_params import StreamParams

if TYPE_CHECKING:
    from collections.abc import Sized

    from hesc.params.vectors import VectorParams


class _Kind(Protocol):
    """A type of integers: `hesc.integers.IntegerKind`."""

    @property
    def width(self) -> int: ...
    @property
    def signed(self) -> bool: ...
    @property
    def boolean(self) -> bool: ...


def vector(params: VectorParams, *, level: int | None = None, seeded: bool = False) -> int:
    """Bytes of a vector of numbers, however many.

    Args:
        params: the parameter set.
        level: where it is, by default the highest.
        seeded: as the owner of the secret key sends it.

    """
    return params.vector_length(_level(params, level), seeded)


def integers(
    params: VectorParams,
    kind: _Kind,
    count: int = 1,
    *,
    layout: str = "sliced",
    level: int | None = None,
    seeded: bool = False,
) -> int:
    """Bytes of so many integers of a type in slots; level and seeds as for `vector`."""
    of = count, kind.width, kind.signed, kind.boolean
    return params.integers_length(of, layout, _level(params, level), seeded)


def keys(params: VectorParams, *, products: bool = True, moves: int = 0) -> int:
    """Bytes of public keys: with the one for products or without, and with some that move slots."""
    return params.keys_length(products, moves)


def made_keys(
    params: VectorParams | StreamParams,
    *,
    products: bool = True,
    rotations: Sized = (),
    unpacking: bool = False,
    bootstrapping: bool = True,  # noqa: ARG001 - of streams, whose other keys nobody counts
) -> int:
    """Bytes of the public keys that `keygen` makes with these options.

    Raises:
        ParameterError: a set of streams whose bits do not bootstrap.

    """
    if isinstance(params, StreamParams):
        return bootstrapping_keys(params)
    # A key for each power of Frobenius unpacks.
    moves = (params.slot_degree or 1) - 1 if unpacking else 0
    return keys(params, products=products, moves=moves + len(rotations))


def bits(params: StreamParams, count: int, width: int) -> int:
    """Bytes of so many integers of `width` bits that bootstrap, on their way up."""
    return _of_bits(params, params.bit_integers_length(count, width))


def bit_answer(params: StreamParams, count: int, width: int) -> int:
    """Bytes of the same on their way back, each bit as a bootstrap gave it."""
    return _of_bits(params, params.bit_integers_length(count, width, 1))


def bootstrapping_keys(params: StreamParams) -> int:
    """Bytes of the public keys of bits that bootstrap."""
    return _of_bits(params, params.bootstrapping_keys_length())


def codes(params: StreamParams, count: int, bits: int, records: int) -> tuple[int, int]:
    """Bytes of so many codes from the owner of the secret key, and of distances to clear records.

    Raises:
        ParameterError: a set that has no room for codes so long.

    """
    return _native.codes_lengths(params, count, bits, records)


def streams(params: StreamParams, simulation: Any, *, secret: int = 0, public: int = 0) -> int:
    """Bytes that streams take under a set, by those of a simulation of it, which encrypts nothing.

    Args:
        params: the set.
        simulation: an array, seeded array or answer of `params.simulated()` or `params.counted()`.
        secret: how many encryptions under the secret key each of its ciphertexts is a product of.
        public: the same under the public key.

    """
    if isinstance(simulation, _native.Answer):
        native, frame = simulation, _native.Answer.to_bytes(simulation)
    else:
        native, frame = simulation.native, simulation.native.to_bytes()
    shape = len(simulation.to_bytes()) - len(frame)
    return int(shape + native.length_under(params, secret, public))


def _level(params: VectorParams, level: int | None) -> int:
    return len(params.levels) if level is None else level


def _of_bits(params: StreamParams, found: int | None) -> int:
    if found is None:
        raise ParameterError(f"{params.name} has no bits that bootstrap: take a set of tfhe")
    return found
