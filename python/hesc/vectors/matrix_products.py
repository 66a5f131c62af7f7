"""Products of matrices, one of them encrypted or both: planned before anything is encrypted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, one_name, real, several, whole
from hesc._support.memory import make_room
from hesc.params import wire_sizes
from hesc.params.vectors import VectorParams
from hesc.vectors.bounds import Bound
from hesc.vectors.diagonals import ClearDiagonals
from hesc.vectors.encrypted_vectors import EncryptedVector
from hesc.vectors.evaluation import galois_of, keys_of, relin_of
from hesc.vectors.grids import BlankOperations, MatrixGrids, MatrixOperations, MatrixShape
from hesc.vectors.numbers import coefficients_of, plain_array, vectors_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc import _native

OBJECTIVES: Final = ("latency", "bytes")
"""What a plan makes least: time, or bytes of a product's ciphertexts."""

_LONGEST: Final = 1 << 16
_ENTRIES: Final = 1 << 24
# Times in key switches at ring degree 8192, measured to a factor of about two: layouts are compared
# by them. A ciphertext is encrypted, decrypted and sent at a gigabit a second.
_HOISTED: Final = 0.75
_CIPHERTEXT: Final = 2.0
_PRODUCT: Final = {"bfv": 2.0, "bgv": 0.1, "ckks": 0.1}
_SCALING: Final = {"bfv": 0.7, "bgv": 0.2, "ckks": 0.3}


class MatrixProduct:
    """A plan of products of two matrices of these shapes, of which one may be in the clear.

    The plan lays matrices out (`left`, `right`), `PublicKeys.encrypt` or
    `SecretKey.encrypt_to_bytes` encrypts each vector of these, `multiply` computes, and `matrix`
    puts decrypted vectors together. Nothing else than the product is in the slots of results.

    Both encrypted: entries that meet lie in the same slot, copied by whoever encrypts, so that a
    product takes one product of ciphertexts and few rotations; where bytes count more, diagonals
    rotate instead (Jiang, Kim, Lauter and Song 2018). One in the clear: its diagonals by small
    steps and large ones (Halevi and Shoup 2014), for all columns at once.

    Args:
        params: a set for vectors of numbers, with special primes.
        left: rows and columns of the left matrix, of any shape: up to 65536 a side and 2^24
            entries of each matrix.
        right: rows and columns of the right one.
        clear: "left" or "right", the matrix that the server has in the clear; by default none.
        bounds: what absolute values of the left and of the right matrix stay within. BFV and BGV:
            what of the product could leave the set's integers is refused. CKKS: encrypted numbers
            stay within `params.bound`, those in the clear within what is said here, by default 1.
        objective: one of "latency" and "bytes".

    Attributes:
        shape: rows and columns of the product.
        keys: arguments for `hesc.keygen`, beside the set: no other keys are needed.
        ciphertexts: how many the left matrix, the right one and the product have.
        lengths: numbers in each vector of the left matrix, the right one and the product.
        products: products of ciphertexts, or of ciphertexts and plaintexts.
        masks: products with masks beside these, which take a level of CKKS.
        rotations: rotations and exchanges of rows in one product of matrices.
        depth: products of ciphertexts in sequence: 1, or 0 with a matrix in the clear.
        levels: how many levels of CKKS a product takes; 0 for integers.
        level: that of the result of fresh operands, at most: whoever encrypts by public keys has
            more noise, and of BGV the result may have less.
        noise_budget: bits of room that are left then, at least; of integers in the clear, on which
            it depends, to about a bit.
        bound: BFV and BGV: what the product stays within, exactly; None without `bounds`.
        error_bound: CKKS: the error of each entry, at most, but for a chance of 7e-13.
        bytes_up: those of encrypted operands, as the owner of the secret key sends them.
        bytes_down: those of the product, at most.
        key_bytes: those of public keys.

    Raises:
        ShapeError: matrices whose product is none; sides that are no whole numbers.
        OutOfRangeError: sides beyond 65536, more than 2^24 entries; a product that could leave the
            set's integers; bounds that are none.
        ParameterError: other sets; a scheme without room for the product; a bound of encrypted
            numbers in CKKS.

    >>> import hesc, numpy as np
    >>> params = hesc.Params.recommended("bfv", encoding="vectors")
    >>> plan = hesc.vectors.MatrixProduct(params, (2, 3), (3, 2), bounds=(9, 9))
    >>> secret, public = hesc.keygen(params, **plan.keys)
    >>> a, b = np.arange(6).reshape(2, 3), np.eye(3, 2, dtype=int)
    >>> x = [public.encrypt(vector, bound=9) for vector in plan.left(a)]
    >>> y = [public.encrypt(vector, bound=9) for vector in plan.right(b)]
    >>> product = plan.multiply(x, y)
    >>> plan.matrix([secret.decrypt(vector) for vector in product]).tolist(), plan.bound
    ([[0, 1], [3, 4]], 243)

    """

    def __init__(
        self,
        params: VectorParams,
        left: tuple[int, int],
        right: tuple[int, int],
        *,
        clear: str | None = None,
        bounds: tuple[float, float] | None = None,
        objective: str = "latency",
    ) -> None:
        self.params = of_kind(params, "params", VectorParams, "hesc.Params.preset makes a set")
        vectors_only(params)
        if not params.special_moduli:
            raise ParameterError(
                f"{params.name} has no special primes, which keys for products and rotations need; "
                "take one of hesc.Params.recommended(scheme, encoding='vectors')"
            )
        self.clear = None if clear is None else one_name(clear, "clear", ("left", "right"))
        rows, inner = _sides(left, "left")
        also, columns = _sides(right, "right")
        if inner != also:
            raise ShapeError(
                f"a matrix of {inner} columns has no product with one of {also} rows; give "
                "shapes as numpy's @ takes them"
            )
        if max(rows * inner, inner * columns, rows * columns) > _ENTRIES:
            raise OutOfRangeError(
                f"a matrix has at most {_ENTRIES} entries here, and so has the product; plan "
                "blocks of it one by one, and add the products that belong together"
            )
        self.shape = rows, columns
        self._sides = {"left": (rows, inner), "right": (inner, columns)}
        self._inner = inner
        self._bounds = self._checked(bounds)
        self.bound = self._bound()
        self._layout = self._best(one_name(objective, "objective", OBJECTIVES))
        layout, work = self._layout, self._layout.work
        self.keys: dict[str, Any] = {
            "products": self.clear is None,
            "rotations": layout.rotations,
            "conjugate": layout.swaps,
        }
        first, second = layout.lengths
        counts = work.left, work.right
        # What is encrypted lies right in the layout of a matrix in the clear.
        if self.clear == "right":
            first, second, counts = second, first, counts[::-1]
        self.ciphertexts = (*counts, work.results)
        self.lengths = first, second, layout.result_length
        self.products, self.rotations = work.products, work.hoisted + work.rotations
        self.masks = work.masks
        self.depth = 1 if self.clear is None else 0
        # Of operands by public keys, and of those by the secret one, which have less noise: CKKS's
        # levels do not depend on it.
        ways = (False,) if params.is_approximate else (False, True)
        blanks = [self._blank_product(seeded=seeded) for seeded in ways]
        self.level = max(blank.level for blank in blanks)
        self.noise_budget = min(blank.noise_budget for blank in blanks)
        self.error_bound = max(blank.error_bound for blank in blanks)
        self.levels = len(params.levels) - self.level if params.is_approximate else 0
        self.bytes_up = sum(counts) * wire_sizes.vector(params, seeded=True)
        self.bytes_down = work.results * wire_sizes.vector(params, level=self.level)
        moves = len(layout.rotations) + layout.swaps
        self.key_bytes = wire_sizes.keys(params, products=self.clear is None, moves=moves)

    def __repr__(self) -> str:
        (rows, inner), columns = self._sides["left"], self.shape[1]
        what = "both encrypted" if self.clear is None else f"{self.clear} in the clear"
        up = " + ".join(str(count) for count in self.ciphertexts[:2] if count)
        return (
            f"<hesc.vectors.MatrixProduct: {rows} x {inner} times {inner} x {columns}, {what}, "
            f"{self.params.name}: {up} ciphertexts to {self.ciphertexts[2]}, {self.products} "
            f"products, {self.rotations} rotations, {len(self.keys['rotations'])} keys for them>"
        )

    # What is stated

    def _checked(self, bounds: tuple[float, float] | None) -> dict[str, Any]:
        """What absolute values stay within, by side; None where the plan says nothing of them."""
        approximate = self.params.is_approximate
        most = self.params.bound if approximate else None
        if bounds is None:
            return {side: 1.0 if most and side == self.clear else most for side in self._sides}
        given = several(bounds, "bounds", "give one for each matrix")
        if len(given) != 2:
            raise ShapeError(f"bounds are two, of the left matrix and the right; got {len(given)}")
        found: dict[str, Any] = {}
        for side, bound in zip(self._sides, given, strict=True):
            if not approximate:
                found[side] = whole(bound, "a bound", 1, -self.params.integer_range[0])
                continue
            found[side] = real(bound, "a bound", sys.float_info.min)
            if side != self.clear and found[side] != most:
                raise ParameterError(
                    f"encrypted numbers of {self.params.name} stay within {most:g}; give that for "
                    f"the {side} matrix, or make a set with bound={bound:g}"
                )
        return found

    def _bound(self) -> int | None:
        if self.params.is_approximate or self._bounds["left"] is None:
            return None
        left, right = (Bound(bound, self.params) for bound in self._bounds.values())
        return left.times(right).summed(self._inner).most

    def _best(self, objective: str) -> MatrixGrids | ClearDiagonals:
        row, slots = self.params.ring_degree // 2, self.params.slot_count
        rows, columns = self.shape
        # A right matrix in the clear is the left one of the transposes' product.
        sides = (columns, rows) if self.clear == "right" else (rows, columns)
        shape = MatrixShape(sides[0], self._inner, sides[1])
        candidates: list[MatrixGrids | ClearDiagonals] = [
            *MatrixGrids.all(shape, row, slots, plain=self.clear is not None)
        ]
        if self.clear is not None:
            candidates += ClearDiagonals.all(self.params, shape)
        return min(candidates, key=lambda layout: self._cost(layout, objective))

    def _cost(self, layout: MatrixGrids | ClearDiagonals, objective: str) -> tuple[float, ...]:
        work, scheme = layout.work, self.params.scheme
        size = float(work.left + work.right + work.results)
        time = (
            _HOISTED * work.hoisted
            + work.rotations
            + (_SCALING if layout.plain else _PRODUCT)[scheme] * work.products
            + _SCALING[scheme] * work.masks
            + work.relinearisations
            + _CIPHERTEXT * size
        )
        order = (size, time) if objective == "bytes" else (time, size)
        return (*order, len(layout.rotations), sum(layout.lengths))

    def follows(self, first: MatrixProduct) -> bool:
        """Whether a product of another plan is the encrypted matrix of this one as it is.

        That is: with a matrix in the clear on the same side in both, and blocks that lie alike. Of
        other plans the product is decrypted, and encrypted anew.
        """
        of_kind(first, "first", MatrixProduct, "the plan whose product this one takes")
        return first.params == self.params and self._encrypted == first._result

    @property
    def _encrypted(self) -> tuple[object, ...] | None:
        """How the encrypted matrix lies in slots; None where no product lies so."""
        own = self._layout.right_layout
        return None if own is None else (self.clear, own)

    @property
    def _result(self) -> tuple[object, ...]:
        """How the product does."""
        return self.clear, self._layout.result_layout

    def _blank_product(self, *, seeded: bool) -> _native.Ciphertext:
        """A block of the product of blanks, which claims what one of ciphertexts will."""
        blank, work = self.params.blank(seeded), self._layout.work
        operations = BlankOperations(self.params)
        count, length = self._layout.vectors
        left: list[Any] = [blank] * count
        if self.clear is not None and self.params.is_approximate:
            bound = self._bounds[self.clear]
            left = [np.full(length, bound, dtype=np.complex128)] * count
        elif self.clear is not None:
            # As large as plaintexts are, whatever the numbers.
            largest = -self.params.integer_range[0]
            left = [np.random.default_rng(0).integers(-largest, largest, length)] * count
        return next(self._layout.product(left, [blank] * work.right, operations))

    # Matrices to vectors and back

    def left(self, values: ArrayLike) -> list[NDArray[Any]]:
        """The vectors to encrypt for a left matrix.

        Args:
            values: a matrix of the planned shape: integers, or for CKKS real or complex numbers.

        Raises:
            ShapeError: another shape.
            OutOfRangeError: numbers beyond the bounds, or that the set has not.
            ParameterError: a matrix in the clear, which `multiply` takes as it is.

        """
        return self._laid(values, "left")

    def right(self, values: ArrayLike) -> list[NDArray[Any]]:
        """The vectors to encrypt for a right matrix; arguments and errors are those of `left`."""
        return self._laid(values, "right")

    def _laid(self, values: ArrayLike, side: str) -> list[NDArray[Any]]:
        if side == self.clear:
            raise ParameterError(
                f"the {side} matrix of this plan is in the clear: give it to multiply as it is"
            )
        array = self._array(values, side)
        length = self.lengths[0 if side == "left" else 1]
        count = self.ciphertexts[0 if side == "left" else 1]
        make_room(array.dtype.itemsize * length * count, f"{count} vectors of {length} numbers")
        if self.clear == "right":
            return self._layout.right(array.T)
        return self._layout.left(array) if side == "left" else self._layout.right(array)

    def _array(self, values: ArrayLike, side: str) -> NDArray[Any]:
        """A matrix of the planned shape, within the planned bounds, of its own type."""
        array = plain_array(values)
        if array.shape != self._sides[side]:
            raise ShapeError(
                f"the {side} matrix of this plan has shape {self._sides[side]}; got {array.shape}"
            )
        numbers = coefficients_of(self.params, array)
        bound = self._bounds[side]
        # Numbers on the unit circle are rounded to either side of it.
        slack = 1 + 1e-12 if self.params.is_approximate else 1
        beyond = bound is not None and np.max(np.abs(numbers)) > bound * slack
        if beyond:
            raise OutOfRangeError(
                f"the {side} matrix has numbers beyond {bound}, which this plan is for; make one "
                "with larger bounds, chosen before you look at the numbers"
            )
        if self.params.is_approximate:
            return numbers if array.dtype.kind == "c" else numbers.real
        # Small types say what their numbers stay within.
        return array if array.dtype.kind in "biu" else numbers

    def matrix(self, vectors: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The product, of the decrypted vectors of `multiply`.

        Raises:
            ShapeError: another number of vectors, or vectors of other lengths.

        """
        given = several(vectors, "decrypted vectors", "give what the secret key decrypted")
        arrays = [plain_array(vector) for vector in given]
        length = self.lengths[2]
        if [array.shape for array in arrays] != [(length,)] * self.ciphertexts[2]:
            raise ShapeError(
                f"a product has {self.ciphertexts[2]} vectors of {length} numbers; these are not: "
                "decrypt all that multiply returned, in its order"
            )
        found = self._layout.matrix(arrays)
        return found.T if self.clear == "right" else found

    # The server's part

    def multiply(
        self,
        left: Sequence[EncryptedVector] | ArrayLike,
        right: Sequence[EncryptedVector] | ArrayLike,
    ) -> list[EncryptedVector]:
        """The encrypted product.

        Args:
            left: the encrypted vectors of the left matrix, or the matrix itself in the clear. Sums
                of such vectors are those of matrices. With a number that was added to them they
                are of no matrix any more: it is in all their slots.
            right: the same of the right one.

        Raises:
            ShapeError: another number of vectors, other lengths, a matrix of another shape.
            ParameterError: operands of another set, keys that lack what `keys` says, or the product
                of a plan that this one does not follow (`follows`).
            OutOfRangeError: integers that could leave those of the set, or the plan's bounds.
            MemoryError: more ciphertexts at once than there is memory for.

        """
        operands: dict[str, Any] = {}
        for side, given in (("left", left), ("right", right)):
            encrypted = side != self.clear
            operands[side] = self._vectors(given, side) if encrypted else self._array(given, side)  # type: ignore[arg-type]
        vectors = [v for each in operands.values() if isinstance(each, list) for v in each]
        claimed = self._claimed(operands)
        operations, layout = self._operations(vectors), self._layout
        held = layout.work.held
        size = 16 * self.params.ring_degree * len(self.params.coeff_moduli)
        make_room(held * size, f"a product that has {held:,} ciphertexts at once")
        first, second = operands.values()
        if self.clear == "right":
            first, second = second.T, first
        natives = [vector.native for vector in second]
        if self.clear is None:
            blocks = layout.product([vector.native for vector in first], natives, operations)
        else:
            count, length = layout.vectors
            make_room(8 * count * length, f"{count} diagonals of {length} numbers")
            blocks = layout.product(layout.left(first), natives, operations)
        is_complex = any(v.complex_values for v in vectors) or any(
            isinstance(each, np.ndarray) and each.dtype.kind == "c" for each in operands.values()
        )
        return [
            EncryptedVector(
                self.params,
                native,
                self.lengths[2],
                keys=keys_of(*vectors),
                complex_values=is_complex,
                bound=claimed.most,
                layout=self._result,
            )
            for native in blocks
        ]

    def _vectors(self, given: Any, side: str) -> list[EncryptedVector]:
        at = 0 if side == "left" else 1
        remedy = f"encrypt what plan.{side}(matrix) returns"
        if isinstance(given, EncryptedVector):
            given = [given]
        vectors = [
            of_kind(vector, "an operand", EncryptedVector, remedy)
            for vector in several(given, "operands", remedy)
        ]
        shape = self.ciphertexts[at], self.lengths[at]
        if [len(v) for v in vectors] != [shape[1]] * shape[0]:
            raise ShapeError(
                f"the {side} matrix of this plan is {shape[0]} vectors of {shape[1]} numbers, and "
                f"these are not; {remedy}, with the same plan on both sides"
            )
        for vector in vectors:
            if vector.params != self.params:
                raise ParameterError(
                    f"an operand is of {vector.params.name} and the plan of {self.params.name}; "
                    "make both of one set"
                )
            if vector.layout not in (None, self._encrypted):
                raise ParameterError(
                    f"the {side} matrix is the product of a plan that this one does not follow: "
                    "its entries lie in other slots; decrypt it, and encrypt it as this plan lays "
                    f"it out ({side}), or choose plans where plan.follows(first) is true"
                )
            bound = self._bounds[side]
            if self.params.is_approximate or bound is None:
                continue
            if vector.bound is None:
                raise ParameterError(
                    f"a vector of the {side} matrix was encrypted with wrap=True, and the plan "
                    f"is for numbers within {bound}: encrypt it with bound={bound}, or make a plan "
                    "without bounds"
                )
            if vector.bound > bound:
                raise OutOfRangeError(
                    f"a vector of the {side} matrix says that its numbers stay within "
                    f"{vector.bound}, and the plan is for {bound}: encrypt it with bound={bound}, "
                    "or make a plan with larger bounds"
                )
        return vectors

    def _claimed(self, operands: dict[str, Any]) -> Bound:
        """What the integers of the product stay within; refuses what could leave the set's."""
        if self.params.is_approximate:
            return Bound(None, self.params)
        claims = [
            Bound(
                None if any(v.bound is None for v in each) else max(v.bound for v in each),
                self.params,
            )
            for each in operands.values()
            if isinstance(each, list)
        ]
        if self.clear is None:
            first, second = claims
            return first.times(second).summed(self._inner)
        (encrypted,) = claims
        declared = self._bounds[self.clear]
        if declared is not None:
            # Tells nothing of the matrix that the plan does not.
            return encrypted.times(Bound(declared, self.params)).summed(self._inner)
        matrix = np.abs(coefficients_of(self.params, operands[self.clear])).astype(object)
        sums = matrix.sum(axis=1 if self.clear == "left" else 0)
        return encrypted.polynomial([0, int(sums.max())])

    def _operations(self, vectors: list[EncryptedVector]) -> MatrixOperations:
        remedy = "hesc.keygen(params, **plan.keys)"
        relin = relin_of(vectors) if self.clear is None else None
        galois = None
        if self.keys["rotations"] or self.keys["conjugate"]:
            galois = galois_of(vectors, remedy)
            missing = [step for step in self.keys["rotations"] if not galois.rotates(step)]
            if self.keys["conjugate"] and self.params.ring_index - 1 not in galois.elements:
                missing.append("the exchange of rows")
            if missing:
                raise ParameterError(
                    f"there is no key for rotations by {', '.join(map(str, missing))}, which this "
                    f"product needs; make the keys with {remedy}"
                )
        return MatrixOperations(self.params, relin, galois)


def _sides(shape: tuple[int, int], side: str) -> tuple[int, int]:
    given = several(shape, f"the shape of the {side} matrix", "give rows and columns")
    if len(given) != 2:
        raise ShapeError(f"a matrix has rows and columns; the {side} one has {len(given)} sides")
    rows, columns = (whole(length, "a side of a matrix", 1, _LONGEST) for length in given)
    return rows, columns
