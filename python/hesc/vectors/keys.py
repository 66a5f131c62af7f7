"""The keys that anyone may have. Nothing here can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, whole, wire_bytes
from hesc._support.pickling import ByWireForm
from hesc.params.parameter_set import explained
from hesc.params.vectors import LeveledParams
from hesc.vectors.numbers import encode_for_encryption, plain_array, vectors_only
from hesc.vectors.vectors import EncryptedVector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hesc import _native


class PublicKeys(ByWireForm):
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
        self, values: ArrayLike, *, bound: float | None = None, wrap: bool = False
    ) -> EncryptedVector:
        """Encrypts from one to `params.slot_count` numbers into one ciphertext.

        Args:
            values: integers of `params.integer_range` for BFV and BGV; real or complex for CKKS.
            bound: what their absolute values stay within. It is public, for vectors carry it:
                choose it before you look at the numbers. By default in CKKS that of the set, in
                BFV and BGV that of the array's type (255 for uint8, 1 for truth values), which for
                lists and numpy's int64 is the whole range.
            wrap: BFV and BGV: compute modulo `params.plain_modulus`. Otherwise what could leave the
                range is refused before it is computed.

        Raises:
            OutOfRangeError: numbers outside their range or bound; a bound of integers that is.
            ShapeError: no vector, an empty one, or more numbers than there are slots; a bound of
                integers that is no whole number.
            ParameterError: a bound that is not positive, or with `wrap`; `wrap` in CKKS, or neither
                True nor False.

        >>> import hesc, numpy as np
        >>> params = hesc.LeveledParams.recommended("bfv")
        >>> secret, public = hesc.leveled_keygen(params)
        >>> x = public.encrypt(np.array([200, 7], dtype=np.uint8))
        >>> (x + x).bound, secret.decrypt(x + x).tolist()
        (510, [400, 14])

        """
        array = plain_array(values)
        plaintext, declared = encode_for_encryption(self.params, array, bound, wrap=wrap)
        return EncryptedVector(
            self,
            self.public.encrypt(plaintext),
            len(array),
            complex_values=array.dtype.kind == "c",
            bound=declared.most,
        )

    def read(self, data: bytes, length: int | None = None) -> EncryptedVector:
        """A vector from its wire form, or from `LeveledSecretKey.encrypt_to_bytes`.

        How many numbers there are, what lies behind them, whether they are complex and what
        integers stay within stands in the bytes. That is the sender's word, as the numbers are: a
        false one gives other results.

        Raises:
            WireError: damaged bytes, or another object's.
            ShapeError: another length than `length`, where that is given.

        """
        vectors_only(self.params)
        wanted = None if length is None else whole(length, "length", 0)
        read = self.params.native.vector_from_bytes
        native, found, zeros_behind, complex_values, bound = read(wire_bytes(data))
        if wanted not in (None, found):
            raise ShapeError(f"a vector of {length} numbers was expected; these bytes hold {found}")
        return EncryptedVector(
            self,
            native,
            found,
            complex_values=complex_values,
            zeros_behind=zeros_behind,
            bound=bound,
        )

    def to_bytes(self) -> dict[str, bytes]:
        """Wire forms by name: what a server is given."""
        forms = {"public": self.public.to_bytes()}
        if self.relin is not None:
            forms["relin"] = self.relin.to_bytes()
        if self.galois is not None:
            forms["galois"] = self.galois.to_bytes()
        return forms

    @classmethod
    @explained
    def from_bytes(cls, params: LeveledParams, forms: dict[str, bytes]) -> PublicKeys:
        """Reads what `to_bytes` gave."""
        of_kind(params, "params", LeveledParams, "hesc.LeveledParams.preset makes a set")
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
