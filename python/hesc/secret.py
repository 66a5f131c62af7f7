"""Everything that holds a secret key or can decrypt. No module that a server needs imports this."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Never, Unpack, overload

import numpy as np

from hesc import _native
from hesc._native import ParameterError, ShapeError
from hesc.arrays import Answer, EncryptedArray, SeededArray, expanded
from hesc.codes.encrypted import EncryptedDistances
from hesc.codes.galleries import GalleryPlan
from hesc.codes.rows import checked
from hesc.encoding import EncodedArray, Encoder, EncoderOptions, Estimates
from hesc.encryptor import LAYOUTS, PublicKey, repeated, resolve_layout, row_length
from hesc.gates.answers import BitAnswer
from hesc.gates.encrypted import EncryptedBits, EvaluationKey
from hesc.inputs import of_kind, one_name, real_array, whole, wire_bytes
from hesc.integers.arrays import EncryptedIntegers, described
from hesc.integers.bits import bits_of, numbers_in, numbers_of
from hesc.integers.bootstrapped import BootstrappedIntegers, IntegerAnswer
from hesc.integers.layouts import PackedIntegers, SlotwiseArray, plaintexts
from hesc.integers.slotwise import SlotwiseIntegers, SlotwiseTruths
from hesc.leveled.keys import PublicKeys
from hesc.leveled.numbers import decoded, encode_for_encryption, plain_array
from hesc.leveled.params import LeveledParams
from hesc.leveled.vectors import EncryptedVector
from hesc.logarithms.plans import Plan as LogarithmPlan
from hesc.logarithms.plans import numbers_of as factor_numbers
from hesc.new_files import new_file, read_whole
from hesc.packing.messages import NORMAL, NUMBERS, encoded
from hesc.packing.messages import decoded as decoded_slots
from hesc.packing.moves import spreading_elements
from hesc.packing.slots import EncryptedSlots
from hesc.parameter_set import explained
from hesc.params import Params
from hesc.ring_products.models import model_arrays
from hesc.ring_products.plans import Plan
from hesc.transciphering.messages import Message, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from hesc.integers.kinds import Kind


# As the reader of keys has it.
_KEY_FILE: Final = 1 << 20


class CipherKey:
    """A key of the stream cipher Kreyvium, for `hesc.transciphering`.

    It cannot be printed, compared, copied or pickled; `secret_bytes` are for its owner to keep.
    """

    def __init__(self, native: _native.CipherKey) -> None:
        self._native = of_kind(native, "native", _native.CipherKey, "CipherKey.generate makes it")

    @classmethod
    def generate(cls) -> CipherKey:
        """A new key, from the system's generator."""
        return cls(_native.CipherKey.generate())

    @classmethod
    def from_bytes(cls, data: bytes) -> CipherKey:
        """A key from its 16 secret bytes."""
        return cls(_native.CipherKey.from_bytes(wire_bytes(data)))

    def __reduce__(self) -> Never:
        raise TypeError("a cipher's key is not pickled or copied; keep its secret_bytes yourself")

    def secret_bytes(self) -> bytes:
        """Its 16 bytes: whoever has them reads every message."""
        return self._native.secret_bytes()

    def encrypt_to_bytes(self, secret: LeveledSecretKey) -> bytes:
        """The key under another one, bit by bit, for a server: once. `hesc.integers.read` reads it.

        Size: 128 ciphertexts under the secret key.
        """
        _leveled(secret, LeveledSecretKey, "leveled_keygen(plan.params) makes it")
        return self._native.encrypt_to_bytes(secret._native)  # noqa: SLF001 - of this module

    def encrypt(
        self, numbers: ArrayLike, dtype: DTypeLike | Kind | None = None, *, shape: Shape
    ) -> Message:
        """Numbers under the cipher, as many bits as they have, with a nonce of their own.

        Args:
            numbers: a row of integers, within the type.
            dtype: "uint8", numpy.int16 ...; that of the array by default.
            shape: how they are cut into streams: that of the server's `Plan`.

        Raises:
            OutOfRangeError, ShapeError: numbers beyond the type, or no row.
            ParameterError: more numbers than a nonce has streams for, streams beyond 4096 bits.

        """
        kind, array = numbers_in(numbers, dtype)
        of_kind(shape, "shape", Shape, "plan.shape, or hesc.transciphering.Shape(slots, blocks)")
        slots = whole(shape.slots, "shape.slots", 1, 1 << 16)
        blocks = whole(shape.blocks, "shape.blocks", 1, 1 << 12)
        packed = [
            np.packbits(bits_of(array[at : at + slots], kind).astype(bool), 1, bitorder="little")
            for at in range(0, array.size, slots)
        ]
        rows = b"".join(block.tobytes() for block in packed)
        flags = kind.width, kind.signed, kind.boolean
        native = self._native.encrypt(rows, array.size, *flags, (slots, blocks))
        return Message(native)

    def decrypt(self, message: Message) -> NDArray[Any]:
        """The numbers of a message that this key made; others give numbers without meaning."""
        of_kind(message, "message", Message, "Message.from_bytes reads one")
        rows = np.frombuffer(self._native.decrypt(message.native), dtype=np.uint8)
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


class SecretKey:
    """A secret key with its parameters. It cannot be printed, compared, copied or pickled."""

    def __init__(self, params: Params, native: _native.SecretKey) -> None:
        self.params = params
        self._native = native

    def __reduce__(self) -> Never:
        raise TypeError("a secret key is not pickled or copied; write it with hesc.save_secret_key")

    def encrypt_streams(self, encoded: EncodedArray, layout: str) -> SeededArray:
        """Encrypts streams. `SecretEncryptor` is the comfortable way."""
        layout = resolve_layout(layout, encoded.streams.stream_length, self.params)
        native = self._native.encrypt(encoded.streams, layout, row_length(encoded.shape))
        return SeededArray(self.params, native, encoded.shape)

    def decrypt(self, answer: Answer) -> _native.Counts:
        """Decrypts to counts. `Decryptor` is the comfortable way."""
        return self._native.decrypt(answer.native)

    def encrypt_codes(self, codes: ArrayLike) -> bytes:
        """Binary codes for who compares them: `hesc.codes.EncryptedCodes.from_bytes` reads them.

        Half the size of an encryption under the public key. Cost: a transform for each bit of each
        ring degree of records.

        Raises:
            ShapeError: what are no codes.
            ParameterError: parameters that do not hold distances of codes so long.

        """
        return _native.SeededCodes.encrypt(self._native, checked(codes)).to_bytes()

    def distances(self, encrypted: EncryptedDistances) -> NDArray[np.uint16]:
        """Distances of clear codes (rows) to encrypted ones (columns).

        Raises:
            KeyMismatchError: distances under another key.
            DecryptionError: what are no distances, as altered bytes are.

        """
        kind, remedy = EncryptedDistances, "hesc.codes.EncryptedDistances.from_bytes reads one"
        return of_kind(encrypted, "encrypted", kind, remedy).native.decrypt(self._native)

    def evaluation_key(self) -> EvaluationKey:
        """What a server needs to run gate circuits on this key's bits; scheme "tfhe" only.

        Cost: 0.4 s of one core at a ring degree of 2048, on all cores.
        """
        return EvaluationKey(self.params, _native.evaluation_key(self._native))

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
        return _native.bit_noise(self._native, bits.native)

    def save(self, path: str | PathLike[str], *, passphrase: str | None = None) -> None:
        """Writes a new file with mode 0600. `save_secret_key` says more."""
        with new_file(path) as part:
            self.write(part, passphrase=passphrase)

    def write(self, part: Path, *, passphrase: str | None = None) -> None:
        """As `save`, without its care: an error may leave a part of the key behind.

        For a name that `hesc.new_files` gave, when other files belong to the key's.
        """
        self._native.save(part, _text(passphrase))


def keygen(
    params: Params, *, mode: Literal["encrypt", "simulate"] = "encrypt"
) -> tuple[SecretKey, PublicKey]:
    """A new key pair from the operating system's randomness.

    Args:
        params: the parameter set.
        mode: "simulate" gives keys that encrypt nothing: the same program then runs on bits in the
            clear with the layout of these parameters, many times faster, and answers have the
            errors that encrypted ones have. What the scheme itself cannot do is not simulated:
            masks (multiplexed and allocated sums) on sets without slots, products beyond its
            number, noise that runs out. Encryption refuses these, always before an answer. Fusion
            as digits needs counts: `Params.insecure_plain` simulates that.

    """
    if not isinstance(params, Params):
        raise TypeError(
            f"keygen takes a parameter set, not {params!r}: hesc.Params.preset(name) or "
            f"hesc.Params.recommended(scheme); a leveled set goes to hesc.leveled_keygen"
        )
    if mode == "simulate":
        params = params.simulated()
    elif mode != "encrypt":
        raise ParameterError(f"unknown mode {mode!r}; choose encrypt or simulate")
    secret, public = params.native.generate_keys()
    return SecretKey(params, secret), PublicKey(params, public)


def _text(passphrase: str | None) -> str | None:
    """A passphrase that has bytes. Without it the error would hold the passphrase."""
    if passphrase is not None and any("\ud800" <= letter <= "\udfff" for letter in passphrase):
        raise ParameterError("the passphrase holds half a character, which no keyboard types")
    return passphrase


def save_secret_key(
    secret: SecretKey, path: str | PathLike[str], *, passphrase: str | None = None
) -> None:
    """Writes a new file with mode 0600, whole or not at all. An existing file is never overwritten.

    With a passphrase the file is of no use without it: Argon2id with 64 MiB, XChaCha20-Poly1305.
    """
    secret.save(path, passphrase=passphrase)


def load_secret_key(
    params: Params, path: str | PathLike[str], *, passphrase: str | None = None
) -> SecretKey:
    """Reads a file that `save_secret_key` wrote.

    Raises:
        DecryptionError: the passphrase is wrong, missing or one too many.
        ParameterError, WireError: the key of another set, or no key.
        PermissionError: others than the file's owner may read or write it.

    """
    return SecretKey(params, params.native.load_secret_key(Path(path), _text(passphrase)))


def wants_passphrase(path: str | PathLike[str]) -> bool:
    """Whether a key file was saved with a passphrase."""
    return _native.is_sealed(read_whole(path, _KEY_FILE, "a secret key"))


def checked_secret(secret: SecretKey) -> SecretKey:
    """The key; refuses what is none."""
    if not isinstance(secret, SecretKey):
        raise TypeError(
            f"a secret key is needed, not {type(secret).__name__}: the first of the two that "
            f"hesc.keygen returns"
        )
    return secret


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
        answer = encrypted
        if not isinstance(answer, Answer):
            # Nothing travels: a smaller modulus would only take its time.
            answer = expanded(answer).answer(compact=False)
        readout = self._secret.decrypt(answer).separate()
        if not return_std:
            return readout.values().reshape(answer.shape)
        values, errors = readout.estimates()
        return Estimates(values.reshape(answer.shape), errors.reshape(answer.shape))


class SharedNumbers(NamedTuple):
    """Numbers for others than the key's owner."""

    values: NDArray[Any]
    """With noise."""
    deviation: float
    """Of the noise, in the real and in the imaginary part."""


class Scores(NamedTuple):
    """What a ring product gives, for the key owner's eyes."""

    values: NDArray[np.float64]
    """A row of outputs for each sample."""
    error: float
    """The root mean square of their errors, at most: `Plan.error`."""


class Products(NamedTuple):
    """What products by logarithms give, for the key owner's eyes."""

    values: NDArray[np.float64]
    """The outputs of each sample: of the plan's shape, samples before it."""
    products: NDArray[np.float64]
    """A row of all products for each sample, without public weights."""
    error: float
    """The root mean square of the values' errors, at most: `Plan.error`."""


def _leveled(value: object, kind: type, remedy: str) -> None:
    if not isinstance(value, kind):
        raise ParameterError(f"{remedy}; got {type(value).__name__}")


class LeveledSecretKey:
    """The secret key of a scheme with multiplication. Not printed, compared, copied or pickled."""

    def __init__(self, params: LeveledParams, native: _native.LeveledSecretKey) -> None:
        self.params = params
        self._native = native

    def __reduce__(self) -> Never:
        raise TypeError("a secret key is not pickled or copied; write it with save")

    def encrypt_to_bytes(self, values: ArrayLike, *, bound: float | None = None) -> bytes:
        """Encrypts under the secret key: half the size of a public-key encryption, less noise.

        `PublicKeys.read` makes a vector of it; `bound` as for `PublicKeys.encrypt`.
        """
        array = plain_array(values)
        plaintext = encode_for_encryption(self.params, array, bound)
        return self._native.encrypt_to_bytes(plaintext, len(array), array.dtype.kind == "c")

    def pack(
        self, messages: ArrayLike, *, content: str = NORMAL, level: int | None = None
    ) -> bytes:
        """Messages into the slots of an odd ring, encrypted: the seeded wire form.

        `hesc.packing.read` makes `EncryptedSlots` of it.

        Args:
            messages: whole numbers from 0 to below the plaintext modulus: up to `phi(m)` of them
                one
                after the other, message `k` becoming coordinate `k % d` of slot `k // d`; or rows
                of up to `d`, one for a slot; with `content="numbers"` a number for each slot.
            content: "normal" or "powers" for coordinates, "numbers" for numbers.
            level: which of `params.levels`; a lower one takes fewer bytes and leaves room for fewer
                products. The highest by default.

        """
        plaintext = encoded(self.params, messages, content)
        highest = len(self.params.levels)
        level = highest if level is None else whole(level, "level", 1, highest)
        return self._native.encrypt_slots_to_bytes(plaintext, content, level)

    def encrypt_features(self, plan: Plan, samples: ArrayLike) -> bytes:
        """Encrypts samples for a server that scores them; `ring_products.Model.evaluate` reads it.

        Args:
            plan: what both sides agreed upon, of this key's parameters.
            samples: a row of features for each, or one row, within the plan's ranges.

        Size: `plan.sizes(samples)`. Cost: a transform for each `plan.capacity` samples.

        Raises:
            OutOfRangeError: a feature beyond its range, or one that is no number.
            ShapeError: rows of another length, none, or more than `plan.most_samples`.
            ParameterError: a plan of other parameters.

        """
        _leveled(plan, Plan, "encrypt_features takes a ring_products.Plan first")
        rows = real_array(samples, "samples")
        features = plan.native.features
        if rows.ndim not in {1, 2} or rows.shape[-1] != features:
            raise ShapeError(f"samples are rows of {features} features; got the shape {rows.shape}")
        return plan.native.encrypt(self._native, rows.reshape(-1))

    def encrypt_model(self, plan: Plan, weights: ArrayLike, intercepts: ArrayLike = 0.0) -> bytes:
        """Encrypts this key owner's own model for a server that must not see it.

        `ring_products.EncryptedModel.from_bytes` reads it.

        Args:
            plan: of `ring_products.Plan.encrypted`, for weights under the secret key.
            weights: a row for each output, or one row.
            intercepts: what is added to each output, or one number for all.

        Size: `plan.model_size`. Cost: two transforms.

        Raises:
            OutOfRangeError: weights beyond what the plan declares.
            ParameterError: a plan of other weights or parameters.
            ShapeError: another shape.

        """
        _leveled(plan, Plan, "encrypt_model takes a ring_products.Plan first")
        rows, added = model_arrays(plan, weights, intercepts)
        return plan.native.encrypt_model(self._native, rows, added)

    def decrypt_scores(self, plan: Plan, answer: bytes) -> Scores:
        """The scores of an answer. Their errors depend on the secret key: show them to nobody.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, and answers for another plan
                or key pair.
            DecryptionError: scores that no declared features have. Tell nobody who made it.

        """
        _leveled(plan, Plan, "decrypt_scores takes a ring_products.Plan first")
        if not isinstance(answer, bytes):
            raise ParameterError(f"an answer is bytes, not {type(answer).__name__}")
        native = plan.native
        values = native.decrypt(self._native, answer)
        return Scores(values.reshape(-1, native.outputs), native.error)

    def encrypt_gallery(self, plan: GalleryPlan, codes: ArrayLike) -> bytes:
        """Encrypts codes for a server that compares others to them and can read none.

        `hesc.codes.EncryptedGallery.from_bytes` reads them.

        Size: `plan.sizes(records).gallery`. Cost: a transform for each of `bits / piece` pieces of
        each `plan.capacity` codes.

        Raises:
            ShapeError: what are no codes of the plan's bits.
            ParameterError: more than one gallery takes, or a plan of other parameters.

        """
        _leveled(plan, GalleryPlan, "encrypt_gallery takes a hesc.codes.GalleryPlan first")
        return plan.native.encrypt_gallery(self._native, checked(codes))

    def encrypt_probes(self, plan: GalleryPlan, codes: ArrayLike) -> bytes:
        """Encrypts codes to be compared to a gallery under the same key.

        `hesc.codes.EncryptedGallery.answers` takes them. Size: `plan.sizes(1, probes).probes`.
        Cost: `bits / piece` transforms for each.

        Raises:
            ShapeError: what are no codes of the plan's bits.
            ParameterError: more than one message takes, or a plan of other parameters.

        """
        _leveled(plan, GalleryPlan, "encrypt_probes takes a hesc.codes.GalleryPlan first")
        return plan.native.encrypt_probes(self._native, checked(codes))

    def gallery_distances(self, plan: GalleryPlan, parts: Iterable[bytes]) -> NDArray[np.uint16]:
        """Hamming distances of probes (rows) to a gallery (columns), exact.

        Args:
            plan: of both.
            parts: all parts of an answer, in any order.

        Cost for each block of a gallery: two transforms, and `bits / piece` uniform polynomials.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, and answers for another plan
                or key pair.
            DecryptionError: what are no distances. Tell nobody who made it.
            ShapeError: parts of several answers, one given twice, or some missing.

        """
        _leveled(plan, GalleryPlan, "gallery_distances takes a hesc.codes.GalleryPlan first")
        if isinstance(parts, bytes) or not isinstance(parts, Iterable):
            raise ParameterError(
                f"parts are several answers, not {type(parts).__name__}; give a list of them"
            )
        rows = there = np.empty((0, 0), dtype=np.uint16)
        for part in parts:
            if not isinstance(part, bytes):
                raise ParameterError(f"a part is bytes, not {type(part).__name__}")
            records, probes, probe, first, found = plan.native.decrypt(self._native, part)
            if not rows.size:
                rows = np.zeros((probes, records), dtype=np.uint16)
                there = np.zeros((probes, records), dtype=bool)
            if rows.shape != (probes, records):
                raise ShapeError("these are parts of several answers; give those of one")
            place = probe, slice(first, first + len(found))
            if there[place].any():
                raise ShapeError("a part was given twice; give each once")
            rows[place], there[place] = found, True
        if not rows.size or not there.all():
            raise ShapeError("parts are missing; give all that EncryptedGallery.answers makes")
        return rows

    def encrypt_logarithms(self, plan: LogarithmPlan, factor: int, values: ArrayLike) -> bytes:
        """Encrypts the key owner's own factor; `logarithms.Evaluator` reads it.

        Args:
            plan: what all sides agreed upon, of this key's parameters.
            factor: which of its factors, one with `source="secret"`.
            values: of the factor's shape, or of samples before it, within its bounds.

        Every product has a rounding of its own. Size: `plan.sizes(samples).up[factor]`. Cost: a
        transform for each `plan.capacity` samples.

        Raises:
            OutOfRangeError: numbers beyond their bounds, or none.
            ShapeError: another shape, or more samples than `plan.most_samples`.
            ParameterError: a factor that comes otherwise, or a plan of other parameters.

        """
        _leveled(plan, LogarithmPlan, "encrypt_logarithms takes a logarithms.Plan first")
        return plan.native.encrypt(factor, self._native, factor_numbers(plan, factor, values))

    def decrypt_logarithms(self, plan: LogarithmPlan, answer: bytes) -> Products:
        """Every product of an answer, and the sums of those that belong together.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, and answers for another plan
                or key pair.
            DecryptionError: products that no declared numbers have. Tell nobody who made it.

        """
        _leveled(plan, LogarithmPlan, "decrypt_logarithms takes a logarithms.Plan first")
        if not isinstance(answer, bytes):
            raise ParameterError(f"an answer is bytes, not {type(answer).__name__}")
        products, values = plan.native.decrypt(self._native, answer)
        return Products(
            values.reshape(-1, *plan.shape), products.reshape(-1, plan.products), plan.error
        )

    def decrypt_slots(self, slots: EncryptedSlots) -> NDArray[Any]:
        """What slots hold, from 0 to below the plaintext modulus: a number or coordinates each.

        Raises:
            DecryptionError: noise that fills the modulus. Tell nobody who made it.
            ParameterError: slots that are said to hold numbers and do not.

        """
        _leveled(
            slots, EncryptedSlots, "decrypt_slots takes EncryptedSlots; packing.read makes them"
        )
        plaintext = self._native.decrypt(slots.native)
        return np.asarray(decoded_slots(self.params, plaintext, slots.content))

    def encrypt_integers_to_bytes(
        self,
        numbers: ArrayLike,
        dtype: DTypeLike | Kind | None = None,
        *,
        layout: str = "sliced",
    ) -> bytes:
        """Encrypts a row of integers for the way up: half the bytes of `integers.encrypt`.

        `hesc.integers.read` is what the other side calls. `layout` as for `integers.encrypt`.
        """
        kind, count, plain = plaintexts(self.params, numbers, dtype, layout)
        return self._native.encrypt_integers_to_bytes(plain, described(count, kind), layout)

    def decrypt_integers(
        self, integers: EncryptedIntegers | SlotwiseArray | PackedIntegers
    ) -> NDArray[Any]:
        """The numbers, in numpy's type of the same name or the next wider one.

        Raises:
            KeyMismatchError, ParameterError: integers of another key or parameter set.
            DecryptionError: slots that hold other numbers than bits: damaged, or made of such.

        """
        if isinstance(integers, SlotwiseArray):
            return self._decrypt_blocks(integers)
        if isinstance(integers, PackedIntegers):
            rows = self._unpacked_rows(integers)
        else:
            remedy = "evaluate expressions first: hesc.integers.evaluate"
            _leveled(integers, EncryptedIntegers, remedy)
            rows = [self._native.decrypt(bit).decode_integers(False) for bit in integers.bits()]
        width, count = integers.kind.width, len(integers)
        blocks = [np.stack(rows[at : at + width]) for at in range(0, len(rows), width)]
        return numbers_of(np.concatenate(blocks, axis=1)[:, :count], integers.kind)

    def _decrypt_blocks(self, integers: SlotwiseArray) -> NDArray[Any]:
        numbers = []
        for block, count in zip(integers.blocks, integers.counts(), strict=True):
            row = self.decrypt_slots(EncryptedSlots(integers.keys, block, NUMBERS))
            lying, truths = integers.lying, integers.kind.boolean
            numbers.append((lying.truths_of if truths else lying.numbers_of)(row, count))
        return np.concatenate(numbers)

    def _unpacked_rows(self, integers: PackedIntegers) -> list[NDArray[np.int64]]:
        wanted = integers.kind.width * -(-len(integers) // self.params.slot_count)
        columns = [column for slots in integers.packed for column in self.decrypt_slots(slots).T]
        return [np.asarray(column, dtype=np.int64) for column in columns[:wanted]]

    def decrypt_slotwise(self, integers: SlotwiseIntegers | SlotwiseTruths) -> NDArray[Any]:
        """The numbers, or truth values, that lie along the slots of one ciphertext.

        Raises:
            KeyMismatchError, ParameterError: integers of another key or parameter set.

        """
        if isinstance(integers, SlotwiseTruths):
            return integers.layout.truths_of(self.decrypt_slots(integers.slots), len(integers))
        _leveled(integers, SlotwiseIntegers, "these are integers of hesc.integers.Slotwise")
        return integers.layout.numbers_of(self.decrypt_slots(integers.slots), len(integers))

    def decrypt(self, vector: EncryptedVector) -> NDArray[Any]:
        """The numbers, for the owner's eyes.

        CKKS: with an error that depends on the secret key. Show it to nobody.

        Raises:
            DecryptionError: noise that fills the modulus; in CKKS numbers beyond what the vector
                claims. Tell nobody who made it.

        """
        _leveled(
            vector, EncryptedVector, "decrypt takes an EncryptedVector; PublicKeys.read makes one"
        )
        plaintext = self._native.decrypt(vector.native)
        return decoded(
            plaintext,
            len(vector),
            approximate=self.params.is_approximate,
            complex_values=vector.complex_values,
        )

    def decrypt_shared(
        self,
        vector: EncryptedVector,
        *,
        expected: EncryptedVector,
        answers: int,
        statistical_bits: int = 40,
    ) -> SharedNumbers:
        """The numbers of CKKS drowned in noise, for others than the key's owner.

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
            statistical_bits: at least 40.

        Returns:
            The numbers, and the deviation of the noise in their real and imaginary parts.

        Raises:
            ParameterError: another program's result; no room for the noise; a key that has shown
                as many numbers as it may (`shared`).
            DecryptionError: numbers that the program cannot give. They count as shown; tell
                nobody that this happened.

        """
        for given in (vector, expected):
            if not isinstance(given, EncryptedVector):
                raise TypeError(f"EncryptedVectors are decrypted, not {type(given).__name__}")
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
        return self._native.shared

    def noise_budget(self, vector: EncryptedVector | EncryptedSlots) -> float:
        """Bits of room that are really left."""
        if not isinstance(vector, EncryptedVector | EncryptedSlots):
            raise ParameterError(f"this is no ciphertext but a {type(vector).__name__}")
        return self._native.noise_budget(vector.native)

    def save(self, path: str | PathLike[str], *, passphrase: str | None = None) -> None:
        """Writes a new file with mode 0600, whole or not at all; sealed by a passphrase."""
        with new_file(path) as part:
            self._native.save(part, _text(passphrase))

    @classmethod
    def load(
        cls,
        params: LeveledParams,
        path: str | PathLike[str],
        *,
        passphrase: str | None = None,
        shared: float = 0.0,
    ) -> LeveledSecretKey:
        """Reads what `save` wrote; refuses a file that others than its owner may read or write.

        `shared` is what that property was when the key was last in use. Files do not hold it: a key
        that is loaded without it may show everything again, which is then more than was promised.
        """
        return cls(
            params, params.native.secret_key_from_file(Path(path), _text(passphrase), shared)
        )


@explained
def leveled_keygen(
    params: LeveledParams,
    *,
    products: bool = True,
    rotations: Sequence[int] = (),
    conjugate: bool = False,
    slot_rotations: Sequence[tuple[int, int]] = (),
    unpacking: bool | Literal["extract"] = False,
    spreading: bool = False,
) -> tuple[LeveledSecretKey, PublicKeys]:
    """New keys of a scheme with multiplication, from the operating system's randomness.

    Args:
        params: the parameter set.
        products: make the relinearisation key.
        rotations: steps to make keys for; each is as large as the relinearisation key.
        conjugate: make the key for complex conjugates (CKKS) or for swapping rows.
        slot_rotations: odd rings: pairs of a dimension and steps along it.
        unpacking: odd rings: make the keys of all Frobenius maps; "extract" makes the few that
            `EncryptedSlots.extract` needs.
        spreading: odd rings: make the keys for one message to a ciphertext (`packing.Spread`).

    """
    _leveled(
        params,
        LeveledParams,
        "leveled_keygen takes a set that hesc.LeveledParams.recommended or preset makes "
        "(keygen is for hesc.Params)",
    )
    flags = {"products": products, "conjugate": conjugate, "spreading": spreading}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise ParameterError(f"{name} is True or False; got {flag!r}")
    secret, public = params.native.generate_keys()
    relin = secret.relin_key() if products else None
    steps = [whole(step, "rotations", -(2**31), 2**31 - 1) for step in rotations]
    along = list(slot_rotations)
    if any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in along):
        raise ParameterError("slot_rotations are pairs of a dimension and steps along it")
    elements = [
        params.native.dimension_element(
            whole(dimension, "a dimension", 0), whole(step, "steps", -(2**31), 2**31 - 1)
        )
        for dimension, step in along
    ]
    if conjugate and params.ring_index % 2:
        raise ParameterError("rings of odd index have no rows to swap; leave out conjugate")
    if not isinstance(unpacking, bool) and unpacking != "extract":
        raise ParameterError(f'unpacking is True, False or "extract"; got {unpacking!r}')
    if unpacking == "extract":
        elements += params.native.extraction_elements()
    elif unpacking:
        elements += params.native.unpacking_elements()
    if spreading:
        elements += spreading_elements(params)
    wanted = sorted(set(elements) - {1})
    some = bool(steps or wanted or unpacking or spreading) or conjugate
    galois = secret.galois_keys(steps, conjugate, wanted) if some else None
    return LeveledSecretKey(params, secret), PublicKeys(params, public, relin, galois)
