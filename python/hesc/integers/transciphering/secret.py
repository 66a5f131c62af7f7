"""Keys of the ciphers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

import numpy as np

from hesc import _native
from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, unmasked, whole, wire_bytes
from hesc.integers.bits import bits_of, numbers_in, numbers_of
from hesc.integers.kinds import kind_of
from hesc.integers.transciphering.aes import BLOCK, ROUNDS, AesDecipherer
from hesc.integers.transciphering.stream_cipher_messages import Shape, StreamCipherMessage
from hesc.secret.secret_key import SecretKey, for_vectors

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


class AesKey(_native.AesKey):
    """A key of AES-128, for `hesc.integers.transciphering.aes_plan`.

    It cannot be printed, compared, copied or pickled; `secret_bytes` are for its owner to keep.
    Messages are those of every other implementation of AES in counter mode.
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

    def encrypt_to_parts(self, secret: SecretKey, plan: AesDecipherer) -> list[bytes]:
        """The keys of all rounds under another key, for a server: once.

        `EncryptedSlots.from_bytes` reads each. Size: `plan.key_bytes`, 16 ciphertexts for each
        round but the last, at the level where it is added, and 128 small ones.
        """
        of_kind(plan, "plan", AesDecipherer, "hesc.integers.transciphering.aes_plan makes it")
        for_vectors(secret)
        return plan.encrypt_key(self, secret.native)

    def encrypt(
        self,
        rows: ArrayLike,
        dtype: DTypeLike | IntegerKind | None = None,
        *,
        rounds: int = ROUNDS,
    ) -> tuple[bytes, bytes]:
        """A nonce that is drawn, and rows of numbers under the cipher in counter mode.

        Args:
            rows: a table of integers within the type, of 16 bytes a row.
            dtype: "uint8", numpy.int16 ...; that of the array by default.
            rounds: those of the plan.

        Raises:
            OutOfRangeError, ShapeError: numbers beyond the type, or no such rows.

        """
        table = unmasked(rows, "rows")
        kind = kind_of(table.dtype if dtype is None else dtype)
        columns = 8 * BLOCK // kind.width
        if table.ndim != 2 or not table.size or columns * kind.width != 8 * BLOCK:
            raise ShapeError(_no_rows(kind, table.shape))
        if table.shape[1] != columns:
            raise ShapeError(_no_rows(kind, table.shape))
        kind, flat = numbers_in(table.reshape(-1), kind)
        bits = bits_of(flat, kind).T.reshape(len(table), 8 * BLOCK).astype(np.uint8)
        data = np.packbits(bits, axis=1, bitorder="little").tobytes()
        nonce = self.draw_nonce()
        return nonce, self.with_keystream(nonce, data, rounds)

    def with_keystream(self, nonce: bytes, data: bytes, rounds: int) -> bytes:
        """Bytes plus the keystream of a nonce: encryption and decryption in counter mode.

        Args:
            nonce: 12 bytes, never used twice to encrypt.
            data: bytes.
            rounds: 10, or fewer in what is measured.

        Raises:
            ParameterError: a nonce of another length, more than 2^32 blocks.
            OutOfRangeError: other rounds.

        """
        rounds = whole(rounds, "rounds", 1, ROUNDS)
        return super().with_keystream(wire_bytes(nonce), wire_bytes(data), rounds)

    def decrypt(
        self, nonce: bytes, data: bytes, dtype: DTypeLike | IntegerKind, *, rounds: int = ROUNDS
    ) -> NDArray[Any]:
        """The rows of a message that this key made; others give numbers without meaning."""
        kind = kind_of(dtype)
        if 8 * BLOCK % kind.width:
            raise ParameterError(f"rows of {BLOCK} bytes hold no whole number of {kind}")
        if not data or len(data) % BLOCK:
            raise ShapeError(f"a message is rows of {BLOCK} bytes; got {len(data)} bytes")
        clear = self.with_keystream(nonce, data, rounds)
        bits = np.unpackbits(np.frombuffer(clear, dtype=np.uint8), bitorder="little")
        numbers = numbers_of(bits.reshape(-1, kind.width).T.astype(np.int64), kind)
        return numbers.reshape(-1, 8 * BLOCK // kind.width)


def _no_rows(kind: IntegerKind, shape: tuple[int, ...]) -> str:
    return (
        f"rows are a table of {8 * BLOCK // kind.width} {kind} each, {BLOCK} bytes; got shape "
        f"{shape}: fill up with zeros, or take a type of 1, 2, 4, ... 128 bits"
    )
