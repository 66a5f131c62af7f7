"""Keys of the stream cipher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

import numpy as np

from hesc import _native
from hesc._support.inputs import of_kind, whole, wire_bytes
from hesc.integers.bits import bits_of, numbers_in, numbers_of
from hesc.integers.transciphering.stream_cipher_messages import Shape, StreamCipherMessage
from hesc.secret.keys import SecretKey, for_vectors

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from hesc.integers.kinds import IntegerKind


class CipherKey(_native.CipherKey):
    """A key of the stream cipher Kreyvium, for `hesc.integers.transciphering`.

    It cannot be printed, compared, copied or pickled; `secret_bytes` are for its owner to keep.
    """

    @classmethod
    def generate(cls) -> Self:
        """A new key, from the system's generator."""
        return cls(super().generate())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A key from its 16 secret bytes."""
        return cls(super().from_bytes(wire_bytes(data)))

    def __reduce__(self) -> Never:
        raise TypeError("a cipher's key is not pickled or copied; keep its secret_bytes yourself")

    def encrypt_to_bytes(self, secret: SecretKey) -> bytes:
        """The key under another one, bit by bit, for a server: once. `hesc.integers.read` reads it.

        Size: 128 ciphertexts under the secret key.
        """
        for_vectors(secret)
        return self.encrypted_under(secret.native)

    def encrypt(
        self, numbers: ArrayLike, dtype: DTypeLike | IntegerKind | None = None, *, shape: Shape
    ) -> StreamCipherMessage:
        """Numbers under the cipher, as many bits as they have, with a nonce of their own.

        Args:
            numbers: a row of integers, within the type.
            dtype: "uint8", numpy.int16 ...; that of the array by default.
            shape: how they are cut into streams: that of the server's `Decipherer`.

        Raises:
            OutOfRangeError, ShapeError: numbers beyond the type, or no row.
            ParameterError: more numbers than a nonce has streams for, streams beyond 4096 bits.

        """
        kind, array = numbers_in(numbers, dtype)
        of_kind(
            shape,
            "shape",
            Shape,
            "plan.shape, or hesc.integers.transciphering.Shape(slots, blocks)",
        )
        slots = whole(shape.slots, "shape.slots", 1, 1 << 16)
        blocks = whole(shape.blocks, "shape.blocks", 1, 1 << 12)
        packed = [
            np.packbits(bits_of(array[at : at + slots], kind).astype(bool), 1, bitorder="little")
            for at in range(0, array.size, slots)
        ]
        rows = b"".join(block.tobytes() for block in packed)
        flags = kind.width, kind.signed, kind.boolean
        native = self.encrypt_rows(rows, array.size, *flags, (slots, blocks))
        return StreamCipherMessage(native)

    def decrypt(self, message: StreamCipherMessage) -> NDArray[Any]:
        """The numbers of a message that this key made; others give numbers without meaning."""
        of_kind(message, "message", StreamCipherMessage, "StreamCipherMessage.from_bytes reads one")
        rows = np.frombuffer(self.decrypt_rows(message), dtype=np.uint8)
        kind, slots = message.kind, message.shape.slots
        numbers, at = [], 0
        for first in range(0, len(message), slots):
            count = min(slots, len(message) - first)
            size = -(-count // 8)
            block = rows[at : at + kind.width * size].reshape(kind.width, size)
            bits = np.unpackbits(block, 1, count=count, bitorder="little")
            numbers.append(numbers_of(bits.astype(np.int64), kind))
            at += block.size
        return np.concatenate(numbers)
