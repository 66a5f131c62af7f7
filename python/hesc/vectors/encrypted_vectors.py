"""Vectors of encrypted numbers. Nothing here can decrypt."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from hesc import _native
from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, several, whole, wire_bytes
from hesc._support.opaque import Opaque
from hesc.params.vectors import VectorParams
from hesc.vectors.bounds import Bound, size_of
from hesc.vectors.evaluation import EvaluationKeys, OneCiphertext, galois_of, relin_of
from hesc.vectors.matrices import Matrix
from hesc.vectors.numbers import (
    coefficients_of,
    encode_operand,
    integers,
    negated,
    one_axis,
    period_of,
    plain_array,
    vectors_only,
)
from hesc.vectors.powers import only_axis, power, reciprocals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike


class EncryptedVector(OneCiphertext, Opaque):
    """Encrypted numbers in the slots of one ciphertext.

    `+`, `-` and `*` act number by number, with vectors, numbers and arrays in the clear, and by
    numpy's rules: lengths are equal, or one of them is 1; `x ** 3`, `x / 2`, `x.sum()`, `x.mean()`
    and `x @ y` are there too, what integers cannot do being refused. Products are relinearised, and
    CKKS's rescaled; operands of different levels meet at the lower one, and different scales of
    CKKS are brought together, at the price of a level where there is no other way.

    Integers have a public `bound`, which every operation carries on; what could leave the range of
    the parameter set is refused (`OutOfRangeError`) before it is computed. Without a bound
    (`wrap=True` at encryption) numbers are meant modulo the plaintext modulus, and so are results
    with such an operand.

    Copies of the numbers fill the slots, with a period of the next power of two from the length on:
    number `i` is in every slot that is `i` modulo the period, in both rows of BFV and BGV alike
    (vectors longer than a row have both rows). Behind the numbers there are zeros, or, after a sum
    with a vector of one number, something else, which the vector knows and removes where it
    matters. That is why rotations go round and matrices need no preparation.
    """

    def __init__(
        self,
        params: VectorParams,
        native: _native.Ciphertext,
        length: int,
        *,
        keys: EvaluationKeys | None = None,
        complex_values: bool = False,
        zeros_behind: bool = True,
        bound: int | None = None,
        layout: tuple[object, ...] | None = None,
    ) -> None:
        super().__init__(params, native, keys)
        #: How a matrix lies in it, as a product of matrices left it; None of all other vectors,
        #: those that were read from bytes among them. Sums of vectors that agree keep it.
        self.layout = layout
        #: The error of CKKS numbers, at most; 0 for exact schemes.
        self.error_bound = native.error_bound
        self.complex_values = complex_values
        self.claimed = Bound(bound, params)
        #: BFV and BGV: what absolute values stay within, public. None for integers modulo
        #: `params.plain_modulus` (`wrap=True`), and for CKKS.
        self.bound = bound
        self.zeros_behind = zeros_behind or length == period_of(length)
        self._length = length

    def __len__(self) -> int:
        return self._length

    @property
    def shape(self) -> tuple[int]:
        """The vector's shape, as numpy has it: one axis."""
        return (self._length,)

    @property
    def size(self) -> int:
        """How many numbers."""
        return self._length

    @property
    def ndim(self) -> int:
        """Number of axes: 1."""
        return 1

    def __repr__(self) -> str:
        within = "" if self.bound is None else f"bound={self.bound}, "
        return (
            f"EncryptedVector(length={len(self)}, {self.params.name}, {within}"
            f"level={self.level}, noise_budget={self.noise_budget:.1f} bits)"
        )

    def _with(
        self,
        native: _native.Ciphertext,
        length: int | None = None,
        *,
        complex_values: bool = False,
        zeros_behind: bool | None = None,
        claimed: Bound | None = None,
        other: EncryptedVector | None = None,
        layout: tuple[object, ...] | None = None,
    ) -> EncryptedVector:
        """A result, bound to keys if an operand is; complex if asked for or if this one is."""
        bound = self.claimed if claimed is None else claimed
        return EncryptedVector(
            self.params,
            native,
            len(self) if length is None else length,
            keys=self.keys if self.keys or other is None else other.keys,
            complex_values=self.complex_values or complex_values,
            zeros_behind=self.zeros_behind if zeros_behind is None else zeros_behind,
            bound=bound.most,
            layout=layout,
        )

    # Sums and products

    def _operand(self, values: ArrayLike, scale: float) -> tuple[_native.Plaintext, int, bool]:
        """Values in the clear at this vector's level, the result's length, whether complex."""
        array = plain_array(values)
        if array.ndim == 0:
            array = array[np.newaxis]
        one_axis(array)
        length = _broadcast(len(self), len(array))
        plaintext = encode_operand(self.params, array, length, scale=scale, level=self.level)
        return plaintext, length, array.dtype.kind == "c"

    def _size(self, values: ArrayLike) -> int:
        """The largest of integers in the clear."""
        return 0 if self.params.is_approximate else size_of(integers(self.params, values))

    def _plus_plain(self, values: ArrayLike) -> EncryptedVector:
        plaintext, length, complex_values = self._operand(values, self.native.scale)
        claimed = self.claimed.polynomial([self._size(values), 1])
        # One number fills the slots behind more numbers too.
        zeros = self.zeros_behind and (len(self) == length)
        native = self.native.add_plain(plaintext)
        return self._with(
            native,
            length,
            complex_values=complex_values,
            zeros_behind=zeros,
            claimed=claimed,
        )

    def _plus(self, other: EncryptedVector, *, subtract: bool) -> EncryptedVector:
        length = _broadcast(len(self), len(other))
        zeros = self.zeros_behind and other.zeros_behind and len(self) == len(other)
        claimed = self.claimed.plus(other.claimed)
        return self._with(
            self.native.sum(other.native, subtract),
            length,
            other=other,
            complex_values=other.complex_values,
            zeros_behind=zeros,
            claimed=claimed,
            layout=self.layout if self.layout == other.layout else None,
        )

    def __add__(self, other: EncryptedVector | ArrayLike) -> EncryptedVector:
        if isinstance(other, EncryptedVector):
            return self._plus(other, subtract=False)
        return self._plus_plain(other)

    __radd__ = __add__

    def __neg__(self) -> EncryptedVector:
        return self._with(self.native.negate())

    def __sub__(self, other: EncryptedVector | ArrayLike) -> EncryptedVector:
        if isinstance(other, EncryptedVector):
            return self._plus(other, subtract=True)
        return self._plus_plain(negated(self.params, other))

    def __rsub__(self, other: ArrayLike) -> EncryptedVector:
        return (-self) + other

    def __mul__(self, other: EncryptedVector | ArrayLike) -> EncryptedVector:
        if isinstance(other, EncryptedVector):
            length = _broadcast(len(self), len(other))
            factor = None if other is self else other.native
            # Zeros behind the longer one stay zeros; the shorter one has no end there.
            zeros = any(v.zeros_behind for v in (self, other) if len(v) == length)
            claimed = self.claimed.times(other.claimed)
            return self._with(
                self.native.product(factor, relin_of([self, other])),
                length,
                other=other,
                complex_values=other.complex_values,
                zeros_behind=zeros,
                claimed=claimed,
            )
        array = plain_array(other)
        if array.ndim == 0 and not self.params.is_approximate:
            number = int(integers(self.params, array))
            claimed = self.claimed.polynomial([0, abs(number)])
            return self._with(self.native.multiply_scalar(number), claimed=claimed)
        plaintext, length, complex_values = self._operand(array, self.native.operand_scale)
        claimed = self.claimed.polynomial([0, self._size(array)])
        native = self.native.product_with_plain(plaintext)
        return self._with(
            native,
            length,
            complex_values=complex_values,
            zeros_behind=True,
            claimed=claimed,
        )

    __rmul__ = __mul__

    def __truediv__(self, other: ArrayLike) -> EncryptedVector:
        """Division by numbers in the clear (CKKS): a product, which takes a level."""
        if isinstance(other, Opaque):
            raise TypeError(
                "encrypted numbers have no quotient here: multiply by a polynomial that is close "
                "to the inverse (`polynomial`), or divide after decryption"
            )
        return self * reciprocals(self.params, other)

    def __rtruediv__(self, other: object) -> Never:
        raise TypeError(
            "nothing is divided by encrypted numbers here: take a polynomial that is close to the "
            "inverse (`polynomial`), or divide after decryption"
        )

    def __pow__(self, exponent: int) -> EncryptedVector:
        """Powers of at least 1, by about `log2` to `2 log2` of it products, in the least depth."""
        # What could leave the range is refused before the first product.
        power(self.claimed, exponent, Bound.times)
        return power(self, exponent, lambda a, b: a * b)

    def square(self) -> EncryptedVector:
        """`self * self`."""
        return self * self

    def polynomial(self, coefficients: ArrayLike) -> EncryptedVector:
        """`sum coefficients[i] * self**i` of each number, by about `2 sqrt(degree)` products.

        Whole numbers for BFV and BGV, real or complex ones for CKKS. Depth: up to two more than the
        degree's logarithm. Products take levels as `*` does.
        """
        array = coefficients_of(self.params, coefficients)
        one_axis(array)
        if len(array) == 0:
            raise ShapeError("a polynomial has at least one coefficient, the constant one")
        sizes = [] if self.params.is_approximate else np.abs(array).tolist()
        claimed = self.claimed.polynomial(sizes)
        native = self.native.polynomial(relin_of([self]), array, len(self))
        is_complex = plain_array(coefficients).dtype.kind == "c"
        return self._with(native, complex_values=is_complex, claimed=claimed)

    # Rotations

    def _rotation_keys(
        self, steps: Sequence[int], remedy: str, other: EncryptedVector | None = None
    ) -> _native.GaloisKeys:
        galois = galois_of([self] if other is None else [self, other], remedy)
        missing = sorted({step for step in steps if not galois.rotates(step)})
        if missing:
            raise ParameterError(
                f"there is no key for rotations by {', '.join(map(str, missing))}, which this "
                f"needs; make the keys with {remedy}"
            )
        return galois

    @property
    def _has_both_rows(self) -> bool:
        return not self.params.is_approximate and len(self) > self.params.ring_degree // 2

    def rotate(self, steps: int) -> EncryptedVector:
        """The numbers moved `steps` places to the left, round the vector: `numpy.roll(x, -steps)`.

        Lengths that are powers of two need a key for `steps` (or for what is the same modulo the
        length) and keep their level. Other lengths need keys for `steps % length` and for that less
        the length, and take two products with masks, in CKKS a level.
        """
        return self.rotate_many([steps])[0]

    def rotate_many(self, steps: Sequence[int]) -> list[EncryptedVector]:
        """Several rotations at once: most of the work is shared."""
        given = several(steps, "steps", "give a list of whole numbers")
        steps = [whole(step, "steps", -(2**31), 2**31 - 1) for step in given]
        if self._has_both_rows:
            raise ShapeError(
                f"{len(self)} numbers lie in both rows of slots, which rotate apart; "
                "rotate_rows and swap_rows move them"
            )
        length, period = len(self), period_of(len(self))
        full = length == period
        # Left by `turn`, and right by what is left of the vector.
        turns = [step % length for step in steps]
        pairs = [(turn,) if full or turn == 0 else (turn, turn - length) for turn in turns]
        wanted = [self._step(turn, period) for pair in pairs for turn in pair]
        if not any(turns):
            return [self._with(self.native) for _ in turns]
        literal = sorted({turn for pair in pairs for turn in pair if turn})
        galois = self._rotation_keys(wanted, f"rotations={literal}")
        rotated = iter(self.native.rotate_many(wanted, galois))
        results = []
        for pair in pairs:
            parts = [next(rotated) for _ in pair]
            if len(parts) == 1:
                results.append(self._with(parts[0]))
            else:
                end = length - pair[0]
                results.append(self._masked([(parts[0], 0, end), (parts[1], end, length)]))
        return results

    def _step(self, turn: int, period: int) -> int:
        """A rotation that has a key and moves vectors of this period as `turn` does."""
        galois = None if self.keys is None else self.keys.galois
        alike = [turn, turn % period, turn % period - period]
        return next((s for s in alike if galois is not None and galois.rotates(s)), turn)

    def _masked(self, pieces: Sequence[tuple[_native.Ciphertext, int, int]]) -> EncryptedVector:
        """The sum of ciphertexts, of each the numbers from a first to before a last place."""
        places = np.arange(len(self))

        def piece(native: _native.Ciphertext, first: int, last: int) -> Any:
            mask = ((places >= first) & (places < last)).astype(np.int64)
            plaintext = encode_operand(
                self.params, mask, len(self), scale=native.operand_scale, level=native.level
            )
            return native.multiply_plain(plaintext)

        total = reduce(lambda a, b: a.add(b), (piece(*each) for each in pieces))
        return self._with(total.settled(), zeros_behind=True)

    def _with_zeros_behind(self) -> EncryptedVector:
        """The same numbers with zeros behind them: a product with a mask unless they are there."""
        return self if self.zeros_behind else self._masked([(self.native, 0, len(self))])

    def rotate_rows(self, steps: int) -> EncryptedVector:
        """Both rows of BFV's and BGV's slots, each rotated to the left by `steps`.

        For vectors longer than a row; the result has `slot_count` numbers, zeros filling it up.
        """
        self._require_both_rows("rotate_rows", "rotate moves its numbers round")
        galois = self._rotation_keys([steps], f"rotations=[{steps}]")
        return self._both_rows(lambda native: native.rotate(steps, galois))

    def swap_rows(self) -> EncryptedVector:
        """The two rows of BFV's and BGV's slots exchanged.

        For vectors longer than a row; the result has `slot_count` numbers, zeros filling it up.
        """
        self._require_both_rows("swap_rows", "both rows hold the same copies of it")
        galois = galois_of([self], "conjugate=True")
        return self._both_rows(lambda native: native.swap_or_conjugate(galois))

    def _require_both_rows(self, name: str, instead: str) -> None:
        if self.params.is_approximate:
            raise ParameterError(
                "CKKS has one row of slots: rotate moves numbers, conjugate is what it has instead "
                "of swap_rows"
            )
        if not self._has_both_rows:
            raise ShapeError(
                f"{name} is for vectors longer than a row of {self.params.ring_degree // 2} slots; "
                f"this one has {len(self)} numbers, and {instead}"
            )

    def _both_rows(
        self, move: Callable[[_native.Ciphertext], _native.Ciphertext]
    ) -> EncryptedVector:
        return self._with(move(self._with_zeros_behind().native), self.params.slot_count)

    def conjugate(self) -> EncryptedVector:
        """Complex conjugates (CKKS)."""
        if not self.params.is_approximate:
            raise ParameterError("integers have no conjugates; swap_rows exchanges the rows")
        return self._with(self.native.swap_or_conjugate(galois_of([self], "conjugate=True")))

    # Sums over numbers

    def dot(self, other: EncryptedVector) -> EncryptedVector:
        """The inner product of two vectors of one length, a vector of one number.

        Rotation keys are needed for `hesc.vectors.dot_rotations(len(self))`; beyond a row of BFV's
        and BGV's slots also `conjugate=True`. Nothing is conjugated.
        """
        of_kind(
            other, "other", EncryptedVector, "matrices and vectors in the clear stand left of @"
        )
        length = len(self)
        if length != len(other):
            raise ShapeError(f"inner products are of equal lengths; got {length} and {len(other)}")
        if length == 1:
            return self * other
        claimed = self.claimed.times(other.claimed).summed(length)
        a, b = self, other
        if not (a.zeros_behind or b.zeros_behind):
            a = a._with_zeros_behind()
        _, galois = self._folding_keys(other)
        native = a.native.inner_product(b.native, length, relin_of([self, other]), galois)
        return self._with(
            native, 1, complex_values=other.complex_values, claimed=claimed, other=other
        )

    def sum(self, axis: int | tuple[int, ...] | None = None) -> EncryptedVector:
        """The sum of all numbers, a vector of one number; `axis` is 0, the only one, if given.

        Rotation keys are needed for `hesc.vectors.dot_rotations(len(self))`; beyond a row of BFV's
        and BGV's slots also `conjugate=True`. Cost: a rotation for each of them; no product, unless
        something else than zeros lies behind the numbers.

        >>> import hesc
        >>> params = hesc.Params.recommended("ckks", encoding="vectors")
        >>> secret, public = hesc.keygen(params, rotations=hesc.vectors.dot_rotations(3))
        >>> x = public.encrypt([0.5, -1.0, 0.25])
        >>> round(float(secret.decrypt((x**2 / 2).sum())[0]), 3)
        0.656
        """
        only_axis(axis)
        if axis == () or len(self) == 1:
            return self._with(self.native)
        claimed = self.claimed.summed(len(self))
        steps, galois = self._folding_keys()
        native = self._with_zeros_behind().native
        for step in steps:
            native = native.sum(native.rotate(step, galois), False)
        if self._has_both_rows:
            native = native.sum(native.swap_or_conjugate(galois), False)
        return self._with(native, 1, claimed=claimed)

    def mean(self, axis: int | tuple[int, ...] | None = None) -> EncryptedVector:
        """The mean of all numbers (CKKS): `sum` and a product, which takes a level."""
        only_axis(axis)
        if not self.params.is_approximate:
            raise ParameterError(
                f"{self.params.scheme.upper()} has no fractions: take `sum()`, and divide by "
                f"{len(self)} after decryption"
            )
        return self._with(self.native) if axis == () else self.sum() / len(self)

    def ravel(self) -> EncryptedVector:
        """The same vector: it has one axis."""
        return self._with(self.native)

    def _folding_keys(
        self, other: EncryptedVector | None = None
    ) -> tuple[list[int], _native.GaloisKeys]:
        """Rotations that bring all numbers together, and their keys."""
        length = min(len(self), self.params.ring_degree // 2)
        steps = _native.dot_rotations(length)
        remedy = f"rotations=hesc.vectors.dot_rotations({length})"
        if self._has_both_rows:
            remedy += " and conjugate=True"
        return steps, self._rotation_keys(steps, remedy, other)

    def __matmul__(self, other: EncryptedVector | Matrix | ArrayLike) -> EncryptedVector:
        """The inner product with a vector, or the product with a matrix in the clear, as in numpy.

        Needs the keys of `dot`, or of the matrix's transpose times this vector.
        """
        if isinstance(other, EncryptedVector):
            return self.dot(other)
        if isinstance(other, Matrix):
            raise TypeError(
                "a Matrix stands left of the vector; encode the transpose to have it on the right"
            )
        array = plain_array(other)
        if array.ndim not in {1, 2}:
            raise ShapeError(f"a matrix has two dimensions, a vector one; got shape {array.shape}")
        return self.__rmatmul__(array.T)

    def __rmatmul__(self, matrix: Matrix | ArrayLike) -> EncryptedVector:
        """A matrix, or a vector, in the clear times this vector; `Matrix` keeps it for many."""
        if isinstance(matrix, Matrix):
            return self._times(matrix)
        array = plain_array(matrix)
        if array.ndim == 1:
            array = array[np.newaxis]
        # Before the work of encoding it.
        if array.ndim == 2:
            self._require_columns(array.shape[1])
        return self._times(Matrix(self.params, array, level=self.level))

    def _require_columns(self, columns: int) -> None:
        if len(self) != columns:
            raise ShapeError(f"a matrix of {columns} columns meets a vector of {len(self)} numbers")

    def _times(self, matrix: Matrix) -> EncryptedVector:
        if matrix.params != self.params:
            raise ParameterError("the matrix was encoded for another parameter set")
        rows, columns = matrix.shape
        self._require_columns(columns)
        if matrix.level is not None and self.level < matrix.level:
            raise ShapeError(
                f"the matrix was encoded for level {matrix.level} and the vector has level "
                f"{self.level}; encode it with Matrix(params, values, level={self.level})"
            )
        if matrix.column is not None:
            return self * matrix.column
        claimed = self.claimed.polynomial([0, matrix.row_sum])
        remedy = f"rotations=hesc.vectors.matrix_rotations({rows}, {columns})"
        galois = self._rotation_keys(_native.matrix_rotations(rows, columns), remedy)
        native = matrix.native.multiply(self.native, galois)
        return self._with(
            native,
            rows,
            complex_values=matrix.complex_values,
            zeros_behind=True,
            claimed=claimed,
        )

    # Levels and bytes

    def mod_switch_to(self, level: int) -> EncryptedVector:
        """The same numbers at a lower level, at least 1: smaller and faster."""
        if not 1 <= whole(level, "level", -(2**63)) <= self.level:
            raise ShapeError(f"a vector of level {self.level} comes down to 1..{self.level}")
        return self._with(self.native.mod_switch_to(level))

    @classmethod
    def from_bytes(
        cls, params: VectorParams, data: bytes, length: int | None = None
    ) -> EncryptedVector:
        """A vector from its wire form, or from `SecretKey.encrypt_to_bytes`; without keys.

        How many numbers there are, what lies behind them, whether they are complex and what
        integers stay within stands in the bytes. That is the sender's word, as the numbers are: a
        false one gives other results.

        Args:
            params: the set that it was encrypted under.
            data: the bytes.
            length: how many numbers there are to be, if that is known.

        Raises:
            WireError: damaged bytes, or another object's.
            ParameterError: bytes of another set.
            ShapeError: another length than `length`.

        """
        of_kind(params, "params", VectorParams, "hesc.Params.preset makes a set for vectors")
        vectors_only(params)
        wanted = None if length is None else whole(length, "length", 0)
        read = _native.Ciphertext.vector_from_bytes(params, wire_bytes(data))
        native, found, zeros_behind, complex_values, bound = read
        if wanted not in (None, found):
            raise ShapeError(f"a vector of {length} numbers was expected; these bytes hold {found}")
        return cls(
            params,
            native,
            found,
            complex_values=complex_values,
            zeros_behind=zeros_behind,
            bound=bound,
        )

    def to_bytes(self) -> bytes:
        """The wire form: the ciphertext, the length, and what is known of the numbers."""
        return self.native.vector_to_bytes(
            len(self), self.zeros_behind, self.complex_values, self.bound
        )


def _broadcast(one: int, other: int) -> int:
    """The length of a result, by numpy's rule."""
    if one != other and 1 not in (one, other):
        raise ShapeError(
            f"vectors of {one} and {other} numbers do not go together; give equal lengths, or one "
            "number for all"
        )
    if 0 in (one, other):
        raise ShapeError("a vector has at least one number")
    return max(one, other)
