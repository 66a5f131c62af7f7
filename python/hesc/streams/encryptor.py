"""Encryption under the public key."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol, Unpack

import numpy as np

from hesc._native import ShapeError
from hesc._support.inputs import of_kind, one_name, real_array, several, whole
from hesc._support.memory import make_room
from hesc.params.stream_params import StreamParams, checked_params
from hesc.streams.arrays import EncryptedArray, SeededArray, row_length
from hesc.streams.encoding import EncodedArray, Encoder, EncoderOptions
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray


LAYOUTS: Final = ("auto", "side_by_side", "one_per_block")
"""Where streams lie."""


def resolve_layout(layout: str, stream_length: int, params: StreamParams) -> str:
    """The layout that "auto" stands for: side by side where a stream fits a block."""
    if one_name(layout, "layout", LAYOUTS) != "auto":
        return layout
    return "side_by_side" if stream_length <= params.block_length else "one_per_block"


def repeated(values: ArrayLike, copies: int) -> NDArray[np.float64]:
    """The same values for every factor."""
    count = whole(copies, "copies", 1)
    array = real_array(values)
    make_room(8 * count * array.size, f"{count:,} copies of {array.size:,} values")
    return np.ascontiguousarray(np.broadcast_to(array, (count, *array.shape)))


def room_for_ciphertexts(
    params: StreamParams, layout: str, stream_length: int, shape: tuple[int, ...], arrays: int = 1
) -> None:
    """Refuses arrays of streams whose ciphertexts there is no memory for.

    Raises:
        MemoryError: naming what they take.

    """
    row = max(1, row_length(shape))
    if layout == "side_by_side":
        in_row = -(-row // max(1, params.block_length // stream_length))
    else:
        in_row = row * -(-stream_length // params.block_length)
    blocks = arrays * math.prod(shape[:-1]) * in_row
    make_room(blocks * params.block_bytes, f"{blocks:,} ciphertexts")


def stream_keys(public: object) -> PublicKeys:
    """Public keys of a set for streams.

    Raises:
        ParameterError: what are no public keys, or those of another kind of set.

    """
    keys = of_kind(public, "public", PublicKeys, "hesc.keygen makes public keys")
    checked_params(keys.params)
    return keys


def encrypt_streams(
    public: PublicKeys, encoded: Sequence[EncodedArray], layout: str
) -> list[EncryptedArray]:
    """Encrypts arrays of streams of one shape. `Encryptor` is the comfortable way."""
    params = stream_keys(public).params
    remedy = "give a list of what Encoder.encode returns"
    for array in several(encoded, "encoded", remedy):
        of_kind(array, "an array of streams", EncodedArray, remedy)
    shapes = {array.shape for array in encoded}
    if len(shapes) != 1:
        raise ShapeError(f"give arrays of one shape, at least one; these have {shapes}")
    (shape,) = shapes
    streams = [array.streams for array in encoded]
    layout = resolve_layout(layout, streams[0].stream_length, params)
    length = streams[0].stream_length
    room_for_ciphertexts(params, layout, length, shape, len(streams))
    arrays = public.public.encrypt(streams, layout, row_length(shape))
    return [EncryptedArray(params, native, shape) for native in arrays]


class AnyEncryptor(Protocol):
    """What `Encryptor` and `hesc.SecretEncryptor` share."""

    def encrypt(self, values: ArrayLike) -> EncryptedArray | SeededArray:
        """Encrypts an array."""

    def encrypt_copies(
        self, values: ArrayLike, copies: int
    ) -> Sequence[EncryptedArray | SeededArray]:
        """Independent encryptions of the same values."""


class Encryptor:
    """Encodes and encrypts arrays under a public key.

    Args:
        public: the public keys, of a set for streams.
        stream_length: bits of a stream.
        layout: "side_by_side" packs the streams of the last axis into shared ciphertexts,
            "one_per_block" gives each its own (the layout of koseki2022hesc), "auto" chooses the
            first where a stream fits.
        **options: generator, representation, first_dimension, factors and random_state, see
            `hesc.Encoder`.

    """

    def __init__(
        self,
        public: PublicKeys,
        stream_length: int = 256,
        *,
        layout: str = "auto",
        **options: Unpack[EncoderOptions],
    ) -> None:
        if not isinstance(public, PublicKeys):
            raise TypeError(
                f"an Encryptor takes public keys, not {type(public).__name__}; a secret key "
                f"encrypts with hesc.SecretEncryptor"
            )
        self.public = stream_keys(public)
        self.layout = one_name(layout, "layout", LAYOUTS)
        self.encoder = Encoder(stream_length, **options)

    def encrypt(self, values: ArrayLike) -> EncryptedArray:
        """Encrypts an array. Its streams are independent of those of every other call.

        Raises:
            OutOfRangeError: a value outside the range, or NaN.
            ShapeError: an empty array, or streams that do not fit side by side.
            MemoryError: streams or ciphertexts that there is no memory for; see `encrypt_batches`.

        """
        return encrypt_streams(self.public, [self.encoder.encode(values)], self.layout)[0]

    def encrypt_factors(self, values: ArrayLike) -> list[EncryptedArray]:
        """Encrypts the factors of products, `values[k]` the k-th; see `Encoder.encode_factors`."""
        return encrypt_streams(self.public, self.encoder.encode_factors(values), self.layout)

    def encrypt_copies(self, values: ArrayLike, copies: int) -> list[EncryptedArray]:
        """Independent encryptions of the same values, for `hesc.powers` and `hesc.Polynomial`.

        By default, and with the generator "joint", every power of them is right to about a bit.
        """
        return self.encrypt_factors(repeated(values, copies))

    def encrypt_batches(self, values: ArrayLike, batch_size: int) -> Iterator[EncryptedArray]:
        """Encrypts along the first axis, `batch_size` entries at a time, in bounded memory.

        Each batch is a draw of its own: elements of different batches may be multiplied.
        """
        array, size = real_array(values), whole(batch_size, "batch_size", 1)
        if array.ndim == 0:
            raise ShapeError("a single number has no batches; give an array, or use encrypt")
        return (self.encrypt(array[start : start + size]) for start in range(0, len(array), size))
