"""Vectors of encrypted numbers, and the keys that anyone may have. Nothing here can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc.leveled.numbers import (
    encode_for_encryption,
    encode_operand,
    integers,
    negated,
    plain_array,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.leveled.params import LeveledParams


class PublicKeys:
    """What everyone may have: to encrypt, to relinearise and to rotate."""

    def __init__(
        self,
        params: LeveledParams,
        public: _native.LeveledPublicKey,
        relin: _native.RelinKey | None,
        galois: _native.GaloisKeys | None,
    ) -> None:
        self.params = params
        self.public = public
        self.relin = relin
        self.galois = galois

    def encrypt(
        self, values: ArrayLike, *, repeat: bool = False, bound: float | None = None
    ) -> EncryptedVector:
        """Encrypts up to `params.slot_count` numbers into one ciphertext.

        With `repeat` copies of them fill a row of slots, as products with matrices need it; their
        number is a power of two.

        CKKS: absolute values stay within `bound`, by default that of the parameter set. The bound
        is public, for the ciphertext carries it: choose it before you look at the numbers.
        """
        array = plain_array(values)
        filled = array
        if repeat:
            row = self.params.ring_degree // 2
            if len(array) == 0 or row % len(array):
                raise ShapeError(f"{len(array)} numbers do not fill a row of {row} slots evenly")
            filled = np.tile(array, row // len(array))
        native = self.public.encrypt(encode_for_encryption(self.params, filled, bound))
        return EncryptedVector(self, native, len(array), complex_values=array.dtype.kind == "c")

    def read(self, data: bytes, length: int, *, complex_values: bool = False) -> EncryptedVector:
        """A vector from its wire form, or from `LeveledSecretKey.encrypt_to_bytes`."""
        if not 0 <= length <= self.params.slot_count:
            raise ShapeError(f"length {length} is not in 0..{self.params.slot_count}")
        native = self.params.native.ciphertext_from_bytes(data)
        return EncryptedVector(self, native, length, complex_values=complex_values)

    def to_bytes(self) -> dict[str, bytes]:
        """Wire forms by name: what a server is given."""
        forms = {"public": self.public.to_bytes()}
        if self.relin is not None:
            forms["relin"] = self.relin.to_bytes()
        if self.galois is not None:
            forms["galois"] = self.galois.to_bytes()
        return forms

    @classmethod
    def from_bytes(cls, params: LeveledParams, forms: dict[str, bytes]) -> PublicKeys:
        """Reads what `to_bytes` gave."""
        if "public" not in forms:
            raise ParameterError("there is no public key among these; give what to_bytes returned")
        native = params.native
        relin, galois = forms.get("relin"), forms.get("galois")
        return cls(
            params,
            native.public_key_from_bytes(forms["public"]),
            None if relin is None else native.relin_key_from_bytes(relin),
            None if galois is None else native.galois_keys_from_bytes(galois),
        )


class EncryptedVector:
    """Encrypted numbers in the slots of one ciphertext.

    `+`, `-` and `*` act slot by slot, with vectors, numbers and arrays in the clear. Products are
    relinearised, and CKKS's rescaled; operands of different levels meet at the lower one, where
    CKKS's also takes the scale. Different scales at one level are refused.
    """

    # So that numpy leaves the operators to us.
    __array_ufunc__ = None

    def __init__(
        self,
        keys: PublicKeys,
        native: _native.LeveledCiphertext,
        length: int,
        *,
        complex_values: bool = False,
    ) -> None:
        self.keys = keys
        self.native = native
        self.complex_values = complex_values
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return (
            f"EncryptedVector(length={len(self)}, {self.keys.params.name}, level={self.level}, "
            f"noise_budget={self.noise_budget:.1f} bits)"
        )

    @property
    def params(self) -> LeveledParams:
        """The parameter set."""
        return self.keys.params

    @property
    def level(self) -> int:
        """Primes left; each CKKS product takes one."""
        return self.native.level

    @property
    def noise_budget(self) -> float:
        """Bits of room before an operation is refused, from public data."""
        return self.native.noise_budget

    @property
    def error_bound(self) -> float:
        """The error of CKKS numbers, at most; 0 for exact schemes."""
        return self.native.error_bound

    def _with(
        self, native: _native.LeveledCiphertext, other: EncryptedVector | None = None
    ) -> EncryptedVector:
        length = len(self) if other is None else max(len(self), len(other))
        complex_values = self.complex_values or (other is not None and other.complex_values)
        return EncryptedVector(self.keys, native, length, complex_values=complex_values)

    def _aligned(
        self, other: EncryptedVector
    ) -> tuple[_native.LeveledCiphertext, _native.LeveledCiphertext]:
        return self.native.matched(other.native), other.native.matched(self.native)

    def _plain(self, values: Any, scale: float) -> _native.LeveledPlaintext:
        """Values in the clear at this vector's level; a number stands for as many as there are."""
        array = plain_array(values)
        if array.ndim == 0:
            array = np.full(len(self), array)
        if len(array) > len(self):
            raise ShapeError(f"{len(array)} values meet a vector of {len(self)}; give no more")
        return encode_operand(self.params, array, scale=scale, level=self.level)

    def __add__(self, other: object) -> EncryptedVector:
        if isinstance(other, EncryptedVector):
            a, b = self._aligned(other)
            return self._with(a.add(b), other)
        return self._with(self.native.add_plain(self._plain(other, self.native.scale)))

    __radd__ = __add__

    def __neg__(self) -> EncryptedVector:
        return self._with(self.native.negate())

    def __sub__(self, other: object) -> EncryptedVector:
        if isinstance(other, EncryptedVector):
            a, b = self._aligned(other)
            return self._with(a.sub(b), other)
        operand = self._plain(negated(self.params, other), self.native.scale)
        return self._with(self.native.add_plain(operand))

    def __rsub__(self, other: object) -> EncryptedVector:
        return (-self) + other

    def __mul__(self, other: object) -> EncryptedVector:
        if isinstance(other, EncryptedVector):
            a, b = self._aligned(other)
            return self._with(self._two_parts(a.multiply(b)), other)
        ckks = self.params.scheme == "ckks"
        if not ckks and isinstance(other, (int, np.integer)):
            return self._with(self.native.multiply_scalar(int(integers(self.params, other))))
        # Encoded with the prime that the rescaling takes: the scale stays what it was.
        scale = float(self.params.coeff_moduli[self.level - 1]) if ckks else 1.0
        product = self.native.multiply_plain(self._plain(other, scale))
        return self._with(product.rescale() if ckks else product)

    __rmul__ = __mul__

    def _two_parts(self, product: _native.LeveledCiphertext) -> _native.LeveledCiphertext:
        product = product.relinearise(self._relin())
        return product.rescale() if self.params.scheme == "ckks" else product

    def square(self) -> EncryptedVector:
        """`self * self`, cheaper."""
        return self._with(self._two_parts(self.native.square()))

    def times(self, matrix: _native.LeveledMatrix) -> EncryptedVector:
        """An encoded matrix times this vector; `matrix @ vector` is the comfortable way."""
        return self._with(matrix.multiply(self.native, self._galois()))

    def _galois(self) -> _native.GaloisKeys:
        if self.keys.galois is None:
            raise ParameterError("rotations need keys; make them with rotations=[...]")
        return self.keys.galois

    def rotate(self, steps: int) -> EncryptedVector:
        """Slots moved to the left, cyclically over `slot_count` (CKKS) or half of it (rows)."""
        return self._full(self.native.rotate(steps, self._galois()))

    def rotate_many(self, steps: Sequence[int]) -> list[EncryptedVector]:
        """Several rotations at once: most of the work is shared."""
        rotated = self.native.rotate_many(list(steps), self._galois())
        return [self._full(native) for native in rotated]

    def _full(self, native: _native.LeveledCiphertext) -> EncryptedVector:
        # Any slot may hold something now.
        return EncryptedVector(
            self.keys, native, self.params.slot_count, complex_values=self.complex_values
        )

    def conjugate(self) -> EncryptedVector:
        """Complex conjugates (CKKS)."""
        if self.params.scheme != "ckks":
            raise ParameterError("integers have no conjugates; swap_rows exchanges the rows")
        return self._with(self.native.swap_or_conjugate(self._galois()))

    def swap_rows(self) -> EncryptedVector:
        """The two rows of slots exchanged (BFV and BGV)."""
        if self.params.scheme == "ckks":
            raise ParameterError("CKKS has one row of slots; conjugate is what it has instead")
        return self._full(self.native.swap_or_conjugate(self._galois()))

    def polynomial(self, coefficients: ArrayLike) -> EncryptedVector:
        """`sum coefficients[i] * self**i` in every slot, by about `2 sqrt(degree)` products.

        Integers for BFV and BGV. Depth: up to two more than the degree's logarithm.
        """
        array = real_numbers(self.params, coefficients, 1)
        return self._with(self.native.polynomial(self._relin(), array))

    def dot(self, other: EncryptedVector) -> EncryptedVector:
        """The inner product, a vector of one number.

        Rotation keys are needed for `hesc.leveled.dot_rotations(len(self))`.
        """
        length = max(len(self), len(other))
        native = self.native.inner_product(other.native, length, self._relin(), self._galois())
        complex_values = self.complex_values or other.complex_values
        return EncryptedVector(self.keys, native, 1, complex_values=complex_values)

    def __rmatmul__(self, matrix: ArrayLike) -> EncryptedVector:
        """A square matrix in the clear times this vector; `Matrix` keeps it for many products."""
        return Matrix(self.params, matrix, level=self.level) @ self

    def _relin(self) -> _native.RelinKey:
        if self.keys.relin is None:
            raise ParameterError(
                "products need the relinearisation key; make the keys with products=True"
            )
        return self.keys.relin

    def mod_switch_to(self, level: int) -> EncryptedVector:
        """The same numbers with fewer primes: smaller and faster."""
        return self._with(self.native.mod_switch_to(level))

    def to_bytes(self) -> bytes:
        """The wire form."""
        return self.native.to_bytes()


def real_numbers(params: LeveledParams, values: ArrayLike, axes: int) -> NDArray[np.float64]:
    """Finite numbers in the clear; whole ones for exact schemes."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != axes:
        raise ShapeError(f"{axes} dimensions were expected; got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise OutOfRangeError("a number is not finite; give finite ones")
    if params.scheme != "ckks":
        if np.any(array != np.round(array)):
            raise OutOfRangeError(
                f"{params.scheme.upper()} computes with integers; scale and round first"
            )
        integers(params, [int(value) for value in array.flat])
    return array


class Matrix:
    """A square matrix in the clear, encoded for products with vectors of one level.

    Its side is a power of two; `matrix @ vector` takes vectors encrypted with `repeat=True` and
    rotation keys for `hesc.leveled.matrix_rotations(side)`.
    """

    def __init__(
        self, params: LeveledParams, values: ArrayLike, *, level: int | None = None
    ) -> None:
        array = real_numbers(params, values, 2)
        if array.shape[0] != array.shape[1]:
            raise ShapeError(f"a square matrix was expected; got shape {array.shape}")
        self.side = len(array)
        self._native = _native.LeveledMatrix(
            params.native,
            np.ascontiguousarray(array.ravel()),
            self.side,
            len(params.coeff_moduli) if level is None else level,
        )

    def __matmul__(self, vector: EncryptedVector) -> EncryptedVector:
        if len(vector) != self.side:
            raise ShapeError(f"a matrix of side {self.side} meets a vector of {len(vector)}")
        return vector.times(self._native)


def decoded(
    plaintext: _native.LeveledPlaintext, scheme: str, length: int, *, complex_values: bool
) -> NDArray[Any]:
    """The first numbers of a plaintext."""
    if scheme != "ckks":
        return plaintext.decode_integers(False)[:length]
    numbers = plaintext.decode_complex()[:length]
    return numbers if complex_values else numbers.real.copy()
