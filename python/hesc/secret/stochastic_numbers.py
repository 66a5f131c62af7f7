"""Stochastic numbers under the secret key: encryption and decryption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, overload

from hesc._support.inputs import of_kind, one_name
from hesc.secret.secret_key import SecretKey, checked_secret
from hesc.streams.arrays import Answer, EncryptedArray, SeededArray, expanded
from hesc.streams.encoding import Encoder, EncoderOptions, Estimates
from hesc.streams.encryptor import LAYOUTS, repeated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class SecretEncryptor:
    """Encodes and encrypts under the secret key: for a client that owns it.

    Half the upload, a third of the noise and half the time of `hesc.Encryptor`, whose arguments
    it takes.
    """

    def __init__(
        self,
        secret: SecretKey,
        stream_length: int = 256,
        *,
        layout: str = "auto",
        **options: Unpack[EncoderOptions],
    ) -> None:
        self._secret = checked_secret(secret)
        self.layout = one_name(layout, "layout", LAYOUTS)
        self.encoder = Encoder(stream_length, **options)

    def encrypt(self, values: ArrayLike) -> SeededArray:
        """Encrypts an array; see `hesc.Encryptor.encrypt`."""
        return self._secret.encrypt_streams(self.encoder.encode(values), self.layout)

    def encrypt_factors(self, values: ArrayLike) -> list[SeededArray]:
        """Encrypts the factors of products; see `hesc.Encryptor.encrypt_factors`."""
        encoded = self.encoder.encode_factors(values)
        return [self._secret.encrypt_streams(factor, self.layout) for factor in encoded]

    def encrypt_copies(self, values: ArrayLike, copies: int) -> list[SeededArray]:
        """Independent encryptions of the same values; see `hesc.Encryptor.encrypt_copies`."""
        return self.encrypt_factors(repeated(values, copies))


class Decryptor:
    """Decrypts arrays and answers.

    The key owner sees more than the values: the streams or, above plaintext modulus 2, the counts
    of ones. SECURITY.md says what follows from that.
    """

    def __init__(self, secret: SecretKey) -> None:
        self._secret = checked_secret(secret)

    @overload
    def decrypt(
        self,
        encrypted: EncryptedArray | SeededArray | Answer,
        *,
        return_std: Literal[False] = False,
    ) -> NDArray[np.float64]: ...
    @overload
    def decrypt(
        self, encrypted: EncryptedArray | SeededArray | Answer, *, return_std: Literal[True]
    ) -> Estimates: ...

    def decrypt(
        self, encrypted: EncryptedArray | SeededArray | Answer, *, return_std: bool = False
    ) -> NDArray[np.float64] | Estimates:
        """The values, an array of the shape of `encrypted`.

        Args:
            encrypted: an array or an answer of this key.
            return_std: return the standard errors too: by the law of each product of streams,
                which is measured for the very dimensions that were multiplied (milliseconds, once
                a process), and the covariances of terms that share streams.

        Raises:
            KeyMismatchError, ParameterError: ciphertexts of another key or parameter set.
            DecryptionError: altered ciphertexts.

        """
        if isinstance(encrypted, bytes | bytearray | memoryview):
            raise TypeError(
                "these are bytes: read them with hesc.Answer.from_bytes or "
                "hesc.EncryptedArray.from_bytes first"
            )
        of_kind(return_std, "return_std", bool, "it is True or False")
        answer = encrypted
        if not isinstance(answer, Answer):
            # Nothing travels: a smaller modulus would only take its time.
            answer = expanded(answer).answer(compact=False)
        readout = self._secret.counts(answer).separate()
        if not return_std:
            return readout.values().reshape(answer.shape)
        values, errors = readout.estimates()
        return Estimates(values.reshape(answer.shape), errors.reshape(answer.shape))
