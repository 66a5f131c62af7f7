"""The secret key of schemes with multiplication."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, real, real_array, whole
from hesc._support.new_files import new_file, path_of
from hesc._support.one_process import OneProcess
from hesc.codes.galleries import GalleryPlan
from hesc.codes.rows import checked
from hesc.integers.arrays import EncryptedIntegers, described
from hesc.integers.bits import numbers_of
from hesc.integers.layouts import PackedIntegers, SlotwiseArray, check_layout, plaintexts
from hesc.integers.slotwise import SlotwiseIntegers, SlotwiseTruths
from hesc.logarithms.plans import Plan as LogarithmPlan
from hesc.logarithms.plans import numbers_of as factor_numbers
from hesc.packing.messages import NORMAL, NUMBERS, encoded
from hesc.packing.messages import decoded as decoded_slots
from hesc.packing.slots import EncryptedSlots
from hesc.params.vectors import LeveledParams
from hesc.ring_products.models import model_arrays
from hesc.ring_products.plans import Plan
from hesc.secret.files import text
from hesc.secret.results import Products, Scores, SharedNumbers
from hesc.vectors.numbers import decoded, encode_for_encryption, plain_array
from hesc.vectors.vectors import EncryptedVector

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from hesc import _native
    from hesc.integers.kinds import Kind


def _leveled(value: object, kind: type, remedy: str) -> None:
    if not isinstance(value, kind):
        raise ParameterError(f"{remedy}; got {type(value).__name__}")


def _check_answer(answer: object) -> None:
    if not isinstance(answer, bytes):
        raise ParameterError(f"an answer is bytes, not {type(answer).__name__}")


class LeveledSecretKey:
    """The secret key of a scheme with multiplication. Not printed, compared, copied or pickled."""

    def __init__(self, params: LeveledParams, native: _native.LeveledSecretKey) -> None:
        self.params = params
        self._native = native
        self._counts = OneProcess(
            "a secret key that counts what it shows",
            "Show numbers in one process, or load the key in each, with `shared=` what others show",
        )

    def __reduce__(self) -> Never:
        raise TypeError("a secret key is not pickled or copied; write it with save")

    def encrypt_to_bytes(
        self, values: ArrayLike, *, bound: float | None = None, wrap: bool = False
    ) -> bytes:
        """Encrypts under the secret key: half the size of a public-key encryption, less noise.

        `EncryptedVector.from_bytes` makes a vector of it; `bound` and `wrap` as for
        `PublicKeys.encrypt`.
        """
        array = plain_array(values)
        plaintext, declared = encode_for_encryption(self.params, array, bound, wrap=wrap)
        is_complex = array.dtype.kind == "c"
        return self._native.encrypt_to_bytes(plaintext, len(array), is_complex, declared.most)

    def pack(
        self, messages: ArrayLike, *, content: str = NORMAL, level: int | None = None
    ) -> bytes:
        """Messages into the slots of an odd ring, encrypted: the seeded wire form.

        `EncryptedSlots.from_bytes` reads it.

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
        _check_answer(answer)
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

    def gallery_distances(self, plan: GalleryPlan, parts: Iterable[bytes]) -> NDArray[np.uint32]:
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
        rows = there = np.empty((0, 0), dtype=np.uint32)
        for part in parts:
            if not isinstance(part, bytes):
                raise ParameterError(f"a part is bytes, not {type(part).__name__}")
            records, probes, probe, first, found = plan.native.decrypt(self._native, part)
            if not rows.size:
                rows = np.zeros((probes, records), dtype=np.uint32)
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
        _check_answer(answer)
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
        _leveled(slots, EncryptedSlots, "EncryptedSlots.from_bytes reads what decrypt_slots takes")
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
        check_layout(layout)
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
            row = self.decrypt_slots(EncryptedSlots(integers.params, block, NUMBERS))
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
            DecryptionError: noise that fills the modulus; numbers beyond what the vector claims.
                Tell nobody who made it.

        """
        _leveled(vector, EncryptedVector, "EncryptedVector.from_bytes reads what decrypt takes")
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
        return self._native.shared

    def noise_budget(self, vector: EncryptedVector | EncryptedSlots) -> float:
        """Bits of room that are really left."""
        if not isinstance(vector, EncryptedVector | EncryptedSlots):
            raise ParameterError(f"this is no ciphertext but a {type(vector).__name__}")
        return self._native.noise_budget(vector.native)

    def save(self, path: str | PathLike[str], *, passphrase: str | None = None) -> None:
        """Writes a new file with mode 0600, whole or not at all; sealed by a passphrase."""
        with new_file(path) as part:
            self._native.save(part, text(passphrase))

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
        of_kind(params, "params", LeveledParams, "hesc.LeveledParams.preset makes a set")
        shared = real(shared, "shared")
        native = params.native.secret_key_from_file(path_of(path), text(passphrase), shared)
        return cls(params, native)
