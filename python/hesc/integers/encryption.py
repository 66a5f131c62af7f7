"""Integers on their way in: encrypted, or read from their wire form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from hesc._native import ParameterError
from hesc._support.inputs import of_kind
from hesc.integers.bootstrapped import BootstrappedIntegers
from hesc.integers.layouts import (
    SLICED,
    Encrypted,
    check_layout,
    made,
    plaintexts,
    read_layout,
)
from hesc.params.stream_params import StreamParams
from hesc.params.vectors import VectorParams
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from hesc.integers.encrypted_integers import EncryptedIntegers
    from hesc.integers.kinds import IntegerKind


@overload
def read(
    params: VectorParams, data: bytes, *, layout: Literal["sliced"] = "sliced"
) -> EncryptedIntegers: ...
@overload
def read(params: VectorParams, data: bytes, *, layout: str) -> Encrypted: ...
@overload
def read(params: StreamParams, data: bytes, *, layout: str = "sliced") -> BootstrappedIntegers: ...
def read(
    params: VectorParams | StreamParams, data: bytes, *, layout: str = SLICED
) -> Encrypted | BootstrappedIntegers:
    """Integers from their wire form; strict, and without keys.

    Those in slots are computed with under public keys: `x.with_keys(public)` for one of a plan's
    inputs is enough. Bits that bootstrap take `server=` instead. That slots hold bits is the
    sender's word: others give results that decrypt to nonsense, or to an error.

    Args:
        params: the plan's parameters.
        data: what `to_bytes`, or `hesc.integers.secret.encrypt_integers`, made.
        layout: `plan.upload` for inputs, `plan.answer` for results.

    Raises:
        WireError: damaged bytes, or another object's.
        ParameterError, NoiseBudgetError: of other parameters or another layout, or without room.

    """
    _check_layout(layout, bits=isinstance(params, StreamParams))
    if isinstance(params, StreamParams):
        return BootstrappedIntegers.from_bytes(params, data)
    of_kind(params, "params", VectorParams, "give plan.params: integers are read without keys")
    return read_layout(params, data, layout)


@overload
def encrypt(
    keys: PublicKeys,
    numbers: ArrayLike,
    dtype: DTypeLike | IntegerKind | None = None,
    *,
    layout: Literal["sliced"] = "sliced",
) -> EncryptedIntegers: ...
@overload
def encrypt(
    keys: PublicKeys,
    numbers: ArrayLike,
    dtype: DTypeLike | IntegerKind | None = None,
    *,
    layout: str,
) -> Encrypted: ...
@overload
def encrypt(
    keys: PublicKeys,
    numbers: ArrayLike,
    dtype: DTypeLike | IntegerKind | None = None,
    *,
    layout: str = "sliced",
) -> BootstrappedIntegers: ...
def encrypt(
    keys: PublicKeys,
    numbers: ArrayLike,
    dtype: DTypeLike | IntegerKind | None = None,
    *,
    layout: str = SLICED,
) -> Encrypted | BootstrappedIntegers:
    """Encrypts a row of integers.

    Args:
        keys: the public keys of `plan.params`: of `hesc.keygen` for a set of BGV, or of
            `hesc.keygen` for one of "tfhe", whose bits bootstrap.
        numbers: one or more; within the type, nothing wraps.
        dtype: "uint24", numpy.int8, "bool" ...; that of the array by default.
        layout: what the plan takes, `plan.upload`: "sliced", a ciphertext for each bit with a
            number in each slot; "slotwise", all bits of a number along the slots of one; "packed",
            the bits of "sliced", as many in a ciphertext as slots have coordinates.

    Raises:
        OutOfRangeError: numbers beyond the type, or none.
        ShapeError: no row, or an empty one.
        ParameterError: a layout that the parameters have not.

    """
    keys = _checked(keys)
    _check_layout(layout, bits=isinstance(keys.params, StreamParams))
    if isinstance(keys.params, StreamParams):
        return BootstrappedIntegers.encrypt(keys, numbers, dtype)
    kind, count, plain = plaintexts(keys.params, numbers, dtype, layout)
    ciphertexts = [keys.public.encrypt(x) for x in plain]
    return made(keys.params, kind, count, ciphertexts, layout).with_keys(keys)


def _check_layout(layout: object, *, bits: bool) -> None:
    check_layout(layout)
    if bits and layout != SLICED:
        raise ParameterError(
            f"bits that bootstrap lie one by one: there is no layout {layout!r} of them"
        )


def _checked(keys: object) -> PublicKeys:
    if not isinstance(keys, PublicKeys):
        raise ParameterError(
            f"keys is {type(keys).__name__}; integers take the public keys of "
            "hesc.keygen(plan.params), or of hesc.keygen for bits that bootstrap"
        )
    return keys
