"""The keys that anyone may have. Nothing here can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hesc import _native
from hesc._native import ParameterError, WireError
from hesc._support.inputs import of_kind, one_name, several, wire_bytes
from hesc.params.parameter_set import Params
from hesc.params.vectors import VectorParams
from hesc.vectors.encrypted_vectors import EncryptedVector
from hesc.vectors.evaluation import EvaluationKeys
from hesc.vectors.numbers import encode_for_encryption, plain_array

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

PARTS = ("public", "relinearisation", "rotations", "bootstrapping")
"""What public keys may consist of, in the order of their wire form."""


class PublicKeys(EvaluationKeys):
    """What everyone may have: to encrypt, and to multiply, rotate or bootstrap with.

    `hesc.keygen` makes them beside the secret key. One wire form holds all parts that there are, by
    name: "public" always, "relinearisation", "rotations" and "bootstrapping" if they were made.

    Args:
        params: the parameter set.
        keys: compiled keys by the names of their parts.

    """

    def __init__(self, params: Params, keys: Mapping[str, Any]) -> None:
        self.params: Any = params
        self._keys = {name: keys[name] for name in PARTS if name in keys}
        self.relin = keys.get("relinearisation")
        self.galois = keys.get("rotations")

    @property
    def parts(self) -> tuple[str, ...]:
        """Which keys there are, by name."""
        return tuple(self._keys)

    def __repr__(self) -> str:
        return f"<hesc.PublicKeys {self.params.name}: {', '.join(self.parts)}>"

    @property
    def public(self) -> Any:
        """The compiled key to encrypt with, for this package's own modules."""
        return self._keys["public"]

    @property
    def bootstrapping(self) -> _native.EvaluationKey:
        """The compiled key to bootstrap with.

        Raises:
            ParameterError: there is none.

        """
        found: _native.EvaluationKey | None = self._keys.get("bootstrapping")
        if found is None:
            raise ParameterError(
                "gate circuits need the key to bootstrap with: make the keys with "
                "keygen(params, bootstrapping=True)"
            )
        return found

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
                True nor False; a set whose numbers are streams, which `hesc.Encryptor` encrypts.

        >>> import hesc, numpy as np
        >>> params = hesc.Params.recommended("bfv", encoding="vectors")
        >>> secret, public = hesc.keygen(params)
        >>> x = public.encrypt(np.array([200, 7], dtype=np.uint8))
        >>> (x + x).bound, secret.decrypt(x + x).tolist()
        (510, [400, 14])

        """
        params = of_kind(
            self.params, "the set of these keys", VectorParams, "Encryptor encrypts streams"
        )
        array = plain_array(values)
        plaintext, declared = encode_for_encryption(params, array, bound, wrap=wrap)
        return EncryptedVector(
            params,
            self.public.encrypt(plaintext),
            len(array),
            keys=self,
            complex_values=array.dtype.kind == "c",
            bound=declared.most,
        )

    def only(self, *parts: str) -> PublicKeys:
        """These parts alone: `public.only("public")` is what somebody needs who only encrypts.

        Raises:
            ParameterError: a part that is not there, or without "public".

        """
        wanted = {one_name(part, "a part", PARTS) for part in parts} | {"public"}
        self.require(*wanted)
        return PublicKeys(self.params, {name: self._keys[name] for name in wanted})

    def require(self, *parts: str) -> None:
        """Refuses keys that lack a part.

        Raises:
            ParameterError: naming what is missing.

        """
        missing = [part for part in PARTS if part in parts and part not in self._keys]
        if missing:
            raise ParameterError(
                f"these public keys have {', '.join(self.parts)}, and {', '.join(missing)} is "
                "needed: make them anew with keygen, which has an option for each"
            )

    def to_bytes(self) -> bytes:
        """The wire form of all parts, one frame; see `only` for fewer."""
        return _native.join_keys([(name, key.to_bytes()) for name, key in self._keys.items()])

    @classmethod
    def from_bytes(
        cls, params: Params, data: bytes, *, parts: Sequence[str] | None = None
    ) -> PublicKeys:
        """Reads what `to_bytes` wrote; strict.

        Args:
            params: the set that they are for.
            data: the bytes.
            parts: what the reader needs: these have to be there, and others are not opened. By
                default all are read that are there.

        Raises:
            WireError: damaged bytes, another object's, parts that are unknown or there twice.
            ParameterError: keys of another set; parts that are missing, or that the set has not.
            KeyMismatchError: parts of several key pairs.

        """
        of_kind(params, "params", Params, "hesc.Params.preset makes a set")
        wanted = None
        if parts is not None:
            given = several(parts, "parts", "give a list of names")
            wanted = ["public", *(one_name(part, "a part", PARTS) for part in given)]
        readers = params.key_readers()
        keys = {}
        for name, key in _native.split_keys(wire_bytes(data), wanted):
            if name not in readers:
                raise WireError(f"{params.name} has no keys for {name}; these are another set's")
            keys[name] = readers[name](key)
        found = cls(params, keys)
        found.require(*(wanted or ()))
        return found
