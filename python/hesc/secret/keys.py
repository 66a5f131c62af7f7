"""The secret key of streams and of encrypted bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

import numpy as np

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind
from hesc._support.new_files import new_file, path_of
from hesc.codes.encrypted import EncryptedDistances, room_for_codes
from hesc.codes.rows import checked
from hesc.gates.answers import BitAnswer
from hesc.gates.encrypted import EncryptedBits
from hesc.integers.bits import numbers_of
from hesc.integers.bootstrapped import BootstrappedIntegers, IntegerAnswer
from hesc.params.streams import checked_params
from hesc.secret.files import text
from hesc.streams.arrays import Answer, SeededArray
from hesc.streams.encoding import EncodedArray
from hesc.streams.encryptor import resolve_layout, room_for_ciphertexts, row_length
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from hesc.params.streams import Params


class SecretKey:
    """A secret key with its parameters. It cannot be printed, compared, copied or pickled."""

    def __init__(self, params: Params, native: _native.SecretKey) -> None:
        self.params = params
        self._native = native

    def __reduce__(self) -> Never:
        raise TypeError("a secret key is not pickled or copied; write it with hesc.save_secret_key")

    def encrypt_streams(self, encoded: EncodedArray, layout: str) -> SeededArray:
        """Encrypts streams. `SecretEncryptor` is the comfortable way."""
        of_kind(encoded, "encoded", EncodedArray, "Encoder.encode returns streams")
        layout = resolve_layout(layout, encoded.streams.stream_length, self.params)
        room_for_ciphertexts(self.params, layout, encoded.streams.stream_length, encoded.shape)
        native = self._native.encrypt(encoded.streams, layout, row_length(encoded.shape))
        return SeededArray(self.params, native, encoded.shape)

    def decrypt(self, answer: Answer) -> _native.Counts:
        """Decrypts to counts. `Decryptor` is the comfortable way."""
        of_kind(answer, "answer", Answer, "EncryptedArray.answer makes one")
        return self._native.decrypt(answer.native)

    def encrypt_codes(self, codes: ArrayLike) -> bytes:
        """Binary codes for who compares them: `hesc.codes.EncryptedCodes.from_bytes` reads them.

        Half the size of an encryption under the public key. Cost: a transform for each bit of each
        ring degree of records.

        Raises:
            ShapeError: what are no codes.
            ParameterError: parameters that do not hold distances of codes so long.

        """
        rows = checked(codes)
        room_for_codes(self.params, rows)
        return _native.SeededCodes.encrypt(self._native, rows).to_bytes()

    def distances(self, encrypted: EncryptedDistances) -> NDArray[np.uint32]:
        """Distances of clear codes (rows) to encrypted ones (columns).

        Raises:
            KeyMismatchError: distances under another key.
            DecryptionError: what are no distances, as altered bytes are.

        """
        kind, remedy = EncryptedDistances, "hesc.codes.EncryptedDistances.from_bytes reads one"
        return of_kind(encrypted, "encrypted", kind, remedy).native.decrypt(self._native)

    def with_bootstrapping(self, public: PublicKeys) -> PublicKeys:
        """Public keys of this pair with what servers run gate circuits with; scheme "tfhe" only.

        Cost: 0.4 s of one core at a ring degree of 2048, on all cores.
        """
        of_kind(public, "public", PublicKeys, "hesc.keygen gives them beside the secret key")
        made = _native.evaluation_key(self._native)
        return PublicKeys(self.params, {"public": public.public, "bootstrapping": made})

    def decrypt_bits(self, bits: EncryptedBits | BitAnswer) -> NDArray[np.uint8]:
        """Zeros and ones, in the shape of `bits`; `hesc.gates.to_numbers` reads numbers of them.

        Raises:
            KeyMismatchError, ParameterError: bits of another key or parameter set.
            DecryptionError: altered ciphertexts.

        """
        if isinstance(bits, BitAnswer):
            # Refuses several outputs before the work.
            shape = bits.shape
            return _native.decrypt_bit_answer(self._native, bits.native).reshape(shape)
        of_kind(bits, "bits", EncryptedBits, "EncryptedBits or BitAnswer.from_bytes reads them")
        found = _native.decrypt_bits(self._native, bits.native)
        return found.reshape(bits.shape)

    def decrypt_outputs(self, answer: BitAnswer) -> tuple[NDArray[np.uint8], ...]:
        """The bits of each output of an answer, in its shape.

        Raises:
            KeyMismatchError, ParameterError: an answer of another key or parameter set.
            DecryptionError: altered ciphertexts.

        """
        of_kind(answer, "answer", BitAnswer, "Evaluator.answer and BitAnswer.from_bytes make one")
        found = _native.decrypt_bit_answer(self._native, answer.native).reshape(-1)
        ends = np.cumsum([int(np.prod(shape)) for shape in answer.shapes])
        parts = np.split(found, ends[:-1])
        return tuple(part.reshape(shape) for part, shape in zip(parts, answer.shapes, strict=True))

    def decrypt_integers(self, integers: BootstrappedIntegers | IntegerAnswer) -> NDArray[Any]:
        """The numbers, in numpy's type of the same name or the next wider one.

        Raises:
            KeyMismatchError, ParameterError: integers of another key or parameter set.
            DecryptionError: altered ciphertexts.

        """
        if not isinstance(integers, BootstrappedIntegers | IntegerAnswer):
            raise ParameterError(
                f"integers is {type(integers).__name__}; those in slots take the key of "
                "leveled_keygen, and expressions are evaluated first: hesc.integers.evaluate"
            )
        rows = self.decrypt_bits(integers.bits).T.astype(np.int64)
        return numbers_of(rows, integers.kind)

    def bit_noise(self, bits: EncryptedBits) -> tuple[float, float]:
        """The mean square of the bits' noise, and what the model expects at most; torus units."""
        of_kind(bits, "bits", EncryptedBits, "EncryptedBits.from_bytes reads them")
        return _native.bit_noise(self._native, bits.native)

    def save(self, path: str | PathLike[str], *, passphrase: str | None = None) -> None:
        """Writes a new file with mode 0600. `save_secret_key` says more."""
        with new_file(path) as part:
            self.write(part, passphrase=passphrase)

    def write(self, part: Path, *, passphrase: str | None = None) -> None:
        """Writes the key as `save` does, without its care: an error may leave a part of it behind.

        For a name that `hesc._support.new_files` gave, when other files belong to the key's.
        """
        self._native.save(part, text(passphrase))


def save_secret_key(
    secret: SecretKey, path: str | PathLike[str], *, passphrase: str | None = None
) -> None:
    """Writes a new file with mode 0600, whole or not at all. An existing file is never overwritten.

    With a passphrase the file is of no use without it: Argon2id with 64 MiB, XChaCha20-Poly1305.
    """
    checked_secret(secret).save(path, passphrase=passphrase)


def load_secret_key(
    params: Params, path: str | PathLike[str], *, passphrase: str | None = None
) -> SecretKey:
    """Reads a file that `save_secret_key` wrote.

    Raises:
        DecryptionError: the passphrase is wrong, missing or one too many.
        ParameterError, WireError: the key of another set, or no key.
        PermissionError: others than the file's owner may read or write it.

    """
    native = checked_params(params).native
    return SecretKey(params, native.load_secret_key(path_of(path), text(passphrase)))


def checked_secret(secret: SecretKey) -> SecretKey:
    """The key; refuses what is none."""
    if not isinstance(secret, SecretKey):
        raise TypeError(
            f"a secret key is needed, not {type(secret).__name__}: the first of the two that "
            f"hesc.keygen returns"
        )
    return secret
