"""The secret key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind, real, whole
from hesc._support.new_files import new_file, path_of
from hesc._support.one_process import OneProcess
from hesc.params.parameter_set import Params
from hesc.params.stream_params import StreamParams, checked_params
from hesc.params.vectors import VectorParams
from hesc.secret.passphrases import text
from hesc.secret.results import SharedNumbers
from hesc.streams.arrays import Answer, SeededArray, row_length
from hesc.streams.encoding import EncodedArray
from hesc.streams.encryptor import resolve_layout, room_for_ciphertexts
from hesc.vectors.encrypted_vectors import EncryptedVector
from hesc.vectors.evaluation import Bindable
from hesc.vectors.keys import PublicKeys
from hesc.vectors.numbers import decoded, encode_for_encryption, plain_array

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray


class SecretKey:
    """A secret key with its parameters, of any set. Not printed, compared, copied or pickled.

    It encrypts and decrypts vectors itself. `hesc.Decryptor` and `hesc.SecretEncryptor` do so with
    streams; functions of `hesc.integers.secret`, `hesc.packing.secret`, `hesc.gates.secret`,
    `hesc.codes.secret`, `hesc.ring_products.secret` and `hesc.logarithms.secret` with the rest.
    """

    def __init__(self, params: Params, native: Any) -> None:
        self.params: Any = params
        self._native = native
        self._counts = OneProcess(
            "a secret key that counts what it shows",
            "Show numbers in one process, or load the key in each, with `shared=` what others show",
        )

    def __reduce__(self) -> Never:
        raise TypeError("a secret key is not pickled or copied; write it with save")

    @property
    def native(self) -> Any:
        """The compiled object, for this package's own modules."""
        return self._native

    # Vectors

    def encrypt_to_bytes(
        self, values: ArrayLike, *, bound: float | None = None, wrap: bool = False
    ) -> bytes:
        """Encrypts numbers: half the size of a public-key encryption, less noise.

        `EncryptedVector.from_bytes` makes a vector of it; `bound` and `wrap` as for
        `PublicKeys.encrypt`.
        """
        array = plain_array(values)
        plaintext, declared = encode_for_encryption(for_vectors(self), array, bound, wrap=wrap)
        is_complex = array.dtype.kind == "c"
        found: bytes = self._native.encrypt_to_bytes(
            plaintext, len(array), is_complex, declared.most
        )
        return found

    def decrypt(self, vector: EncryptedVector) -> NDArray[Any]:
        """The numbers of a vector, for the owner's eyes.

        CKKS: with an error that depends on the secret key. Show it to nobody.

        Raises:
            DecryptionError: noise that fills the modulus; numbers beyond what the vector claims.
                Tell nobody who made it.

        """
        for_vectors(self)
        of_kind(vector, "vector", EncryptedVector, "EncryptedVector.from_bytes reads one")
        plaintext = self._native.decrypt(vector.native)
        return decoded(plaintext, len(vector), vector.claimed, complex_values=vector.complex_values)

    def decrypt_shared(
        self,
        vector: EncryptedVector,
        *,
        expected: EncryptedVector,
        answers: int,
        statistical_bits: int = 40,
    ) -> SharedNumbers:
        """The numbers of CKKS hidden by flooding noise, for others than the key's owner.

        An error of CKKS is a linear function of the secret key: who sees enough of them solves for
        it. Gaussian noise of `sqrt(12 * answers) * 2**(statistical_bits / 2)` error bounds hides
        that (Li, Micciancio, Schultz and Sorrell 2022, game IND-CPA-D) **for ciphertexts that
        honest parties made from honest ones**. Ciphertexts that somebody crafted decrypt to what
        he likes of the secret; the noise does not hide that. Take `vector` from whom you trust to
        have run your program, over an authenticated channel, and show nothing to who chose it.

        Args:
            vector: what to decrypt.
            expected: the same program's result on any data, computed by you: its level, scale and
                bounds count. What `vector` says of itself is compared with it and not believed.
            answers: numbers that this key will show in all its life; more of them need more noise.
            statistical_bits: `s`, at least 40: with and without what it hides, noise differs by a
                divergence of `2**-s / 24` over all answers, a statistical distance of
                `2**-(s / 2 + 3)`: `2**-23` for 40.

        Returns:
            The numbers, and the deviation of the noise in their real and imaginary parts.

        Raises:
            ParameterError: another program's result; no room for the noise; a key that has shown
                as many numbers as it may (`shared`); a process that was forked since the key was
                made or loaded.
            DecryptionError: numbers that the program cannot give. They count as shown; tell
                nobody that this happened.

        """
        for given in (vector, expected):
            if not isinstance(given, EncryptedVector):
                raise TypeError(f"EncryptedVectors are decrypted, not {type(given).__name__}")
        for_vectors(self)
        answers = whole(answers, "answers", 0)
        statistical_bits = whole(statistical_bits, "statistical_bits", 0, 1024)
        if expected is vector or expected.native is vector.native:
            raise ParameterError(
                "expected is what you compute yourself by the same program, not the vector "
                "that is to be decrypted"
            )
        if (len(vector), vector.complex_values) != (len(expected), expected.complex_values):
            kind = "complex" if expected.complex_values else "real"
            raise ParameterError(
                f"the expected result has {len(expected)} {kind} numbers; this one says otherwise "
                "of itself, so that it is another program's"
            )
        self._counts.check()
        numbers, deviation = self._native.decrypt_shared(
            vector.native, expected.native, len(vector), answers, statistical_bits
        )
        values = numbers if vector.complex_values else numbers.real.copy()
        return SharedNumbers(values, deviation)

    @property
    def shared(self) -> float:
        """What `decrypt_shared` has used of what this key may show, between 0 and 1.

        It is counted in this object. `save` does not write it: note it down and give it to `load`.
        """
        for_vectors(self)
        found: float = self._native.shared
        return found

    def noise_budget(self, ciphertext: Bindable) -> float:
        """Bits of room that are really left in a vector, or in slots, their digits among them."""
        native: Any = getattr(ciphertext, "native", None)
        if not isinstance(ciphertext, Bindable) or native is None:
            raise ParameterError(f"this is no ciphertext but a {type(ciphertext).__name__}")
        for_vectors(self)
        found: float = native_in(self, ciphertext.params).noise_budget(native)
        return found

    # Streams and bits

    def encrypt_streams(self, encoded: EncodedArray, layout: str) -> SeededArray:
        """Encrypts streams. `SecretEncryptor` is the comfortable way."""
        of_kind(encoded, "encoded", EncodedArray, "Encoder.encode returns streams")
        params = for_streams(self)
        layout = resolve_layout(layout, encoded.streams.stream_length, params)
        room_for_ciphertexts(params, layout, encoded.streams.stream_length, encoded.shape)
        native = self._native.encrypt(encoded.streams, layout, row_length(encoded.shape))
        return SeededArray(params, native, encoded.shape)

    def counts(self, answer: Answer) -> _native.Counts:
        """The counts of an answer of streams. `Decryptor` is the comfortable way."""
        for_streams(self)
        of_kind(answer, "answer", Answer, "EncryptedArray.answer makes one")
        found: _native.Counts = self._native.decrypt(answer)
        return found

    def with_bootstrapping(self, public: PublicKeys) -> PublicKeys:
        """Public keys of this pair with what servers run gate circuits with; scheme "tfhe" only.

        Cost: 0.4 s of one core at a ring degree of 2048, on all cores.
        """
        of_kind(public, "public", PublicKeys, "hesc.keygen gives them beside the secret key")
        for_streams(self)
        made = _native.evaluation_key(self._native)
        return PublicKeys(self.params, {"public": public.public, "bootstrapping": made})

    # Files

    def save(self, path: str | PathLike[str], *, passphrase: str | None = None) -> None:
        """Writes a new file with mode 0600, whole or not at all. None is ever overwritten.

        With a passphrase the file is of no use without it: Argon2id with 64 MiB,
        XChaCha20-Poly1305.
        """
        with new_file(path) as part:
            self.write(part, passphrase=passphrase)

    def write(self, part: Path, *, passphrase: str | None = None) -> None:
        """Writes the key as `save` does, without its care: an error may leave a part of it behind.

        For a name that `hesc._support.new_files` gave, when other files belong to the key's.
        """
        self._native.save(part, text(passphrase))

    @classmethod
    def load(
        cls,
        params: Params,
        path: str | PathLike[str],
        *,
        passphrase: str | None = None,
        shared: float = 0.0,
    ) -> SecretKey:
        """Reads what `save` wrote.

        Args:
            params: the set that the key is of.
            path: the file; one that others than its owner may read or write is refused.
            passphrase: what it was saved with.
            shared: what that property was when the key was last in use. Files do not hold it: a
                key that is loaded without it may show everything again, which is then more than
                was promised.

        Raises:
            DecryptionError: the passphrase is wrong, missing or one too many.
            ParameterError, WireError: the key of another set, or no key.
            PermissionError: others than the file's owner may read or write it.

        """
        of_kind(params, "params", Params, "hesc.Params.preset makes a set")
        shared = real(shared, "shared")
        file, words = path_of(path), text(passphrase)
        if isinstance(params, VectorParams):
            return cls(params, _native.VectorSecretKey.from_file(params, file, words, shared))
        if shared:
            raise ParameterError(f"{params.name} shows no vectors, of which shared= is a count")
        return cls(params, _native.StreamSecretKey.from_file(checked_params(params), file, words))


def checked_secret(secret: SecretKey) -> SecretKey:
    """The key; refuses what is none."""
    if not isinstance(secret, SecretKey):
        raise TypeError(
            f"a secret key is needed, not {type(secret).__name__}: the first of the two that "
            f"hesc.keygen returns"
        )
    return secret


def native_in(secret: SecretKey, params: Params) -> Any:
    """The native key for a ciphertext's set: digits of slots are of a set of their own."""
    of_digits = (
        isinstance(params, VectorParams)
        and params.plain_modulus != for_vectors(secret).plain_modulus
    )
    return secret.native.in_set(params) if of_digits else secret.native


def for_vectors(secret: SecretKey) -> VectorParams:
    """The set of a key for vectors, slots, integers in slots and products.

    Raises:
        TypeError: no secret key.
        ParameterError: one of a set for streams.

    """
    params: Params = checked_secret(secret).params
    if not isinstance(params, VectorParams):
        raise ParameterError(
            f"{params.name} is a set for streams: hesc.SecretEncryptor encrypts with its key, and "
            "hesc.Decryptor decrypts"
        )
    return params


def for_streams(secret: SecretKey) -> StreamParams:
    """The set of a key for streams, bits and codes.

    Raises:
        TypeError: no secret key.
        ParameterError: one of a set for vectors.

    """
    params: Params = checked_secret(secret).params
    if not isinstance(params, StreamParams):
        raise ParameterError(
            f"{params.name} is a set for vectors: its key encrypts and decrypts them itself, and "
            "the rest in the files secret.py of hesc's packages"
        )
    return params
