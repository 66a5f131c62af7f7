"""The keys that anyone may have. Nothing here can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc._native import ParameterError, ShapeError
from hesc.inputs import of_kind, whole, wire_bytes
from hesc.leveled.numbers import encode_for_encryption, plain_array, vectors_only
from hesc.leveled.params import LeveledParams
from hesc.leveled.vectors import EncryptedVector
from hesc.parameter_set import explained
from hesc.pickling import ByWireForm

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

    def encrypt(self, values: ArrayLike, *, bound: float | None = None) -> EncryptedVector:
        """Encrypts from one to `params.slot_count` numbers into one ciphertext.

        CKKS: absolute values stay within `bound`, by default that of the parameter set. The bound
        is public, for the ciphertext carries it: choose it before you look at the numbers.
        """
        array = plain_array(values)
        native = self.public.encrypt(encode_for_encryption(self.params, array, bound))
        return EncryptedVector(self, native, len(array), complex_values=array.dtype.kind == "c")

    def read(self, data: bytes, length: int | None = None) -> EncryptedVector:
        """A vector from its wire form, or from `LeveledSecretKey.encrypt_to_bytes`.

        How many numbers there are, what lies behind them and whether they are complex stands in the
        bytes. That is the sender's word, as the numbers are: a false one gives other results.

        Raises:
            WireError: damaged bytes, or another object's.
            ShapeError: another length than `length`, where that is given.

        """
        vectors_only(self.params)
        wanted = None if length is None else whole(length, "length", 0)
        native, found, zeros_behind, complex_values = self.params.native.vector_from_bytes(
            wire_bytes(data)
        )
        if wanted not in (None, found):
            raise ShapeError(f"a vector of {length} numbers was expected; these bytes hold {found}")
        return EncryptedVector(
            self, native, found, complex_values=complex_values, zeros_behind=zeros_behind
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
