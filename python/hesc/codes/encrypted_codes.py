"""Encrypted codes, and their distances to clear ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc import _native
from hesc._support.inputs import WORD, whole, wire_bytes
from hesc._support.memory import make_room
from hesc._support.opaque import Opaque
from hesc._support.pickling import ByWireForm
from hesc.codes.rows import checked
from hesc.params.stream_params import StreamParams, checked_params
from hesc.streams.encryptor import stream_keys

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hesc.vectors.keys import PublicKeys


def room_for_codes(params: StreamParams, codes: NDArray[np.uint64]) -> None:
    """Refuses codes whose ciphertexts, one for each bit of many, there is no memory for.

    Raises:
        MemoryError: naming what they take.

    """
    blocks = -(-len(codes) // params.block_length) * 64 * codes.shape[1]
    make_room(blocks * params.block_bytes, f"{len(codes):,} encrypted codes")


class EncryptedCodes(_native.EncryptedCodes, ByWireForm, Opaque):
    """Codes of records, a ciphertext for each bit of as many records as a ring has coefficients.

    `hesc.codes.secret.encrypt_codes` makes their bytes at half the size; `encrypt` encrypts under a
    public key. Their number and their bits are public.
    """

    params: StreamParams

    def __new__(cls, params: StreamParams, native: _native.EncryptedCodes) -> Self:
        """Compiled codes and their set."""
        made = super().__new__(cls, native)
        made.params = params
        return made

    @classmethod
    def encrypt(cls, public: PublicKeys, codes: ArrayLike) -> EncryptedCodes:
        """Encrypts codes under a public key.

        Cost: for each bit of each ring degree of records three transforms.

        Raises:
            ShapeError: what are no codes.
            ParameterError: parameters that do not hold distances of codes so long.

        """
        key = stream_keys(public)
        rows = checked(codes)
        room_for_codes(key.params, rows)
        return cls(key.params, _native.EncryptedCodes.of_rows(key.public, rows))

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> EncryptedCodes:
        """Reads the wire form, under whichever key they are; strict."""
        return cls(params, super().read(checked_params(params), wire_bytes(data)))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def bits(self) -> int:
        """Bits of a code."""
        return self.shape[1]

    def coefficients(self, codes: int) -> int:
        """Coefficients that show the distances to so many codes: what hiding them counts."""
        return super().coefficients(whole(codes, "codes", 1, 1 << 24))

    def distances(self, codes: ArrayLike) -> EncryptedDistances:
        """Distances to clear codes that **the owner of the secret key may know**.

        The noise of the answer tells who encrypted and decrypts it the clear codes, bit by bit;
        `hidden_distances` keeps them. Time depends on the clear codes. Cost: a quarter as many
        additions of ciphertexts as codes have bits, for each code and ring degree of records.

        Raises:
            ShapeError: what are no codes, or of another length.

        """
        return EncryptedDistances(self.params, super().distances(checked(codes)))

    def hidden_distances(
        self,
        public: PublicKeys,
        codes: ArrayLike,
        *,
        coefficients: int,
        statistical_bits: int = 40,
    ) -> EncryptedDistances:
        """Distances to clear codes, and nothing else for who decrypts them.

        An encryption of zero and wide noise are added: see SECURITY.md for whom that holds.
        Distances themselves tell much: some `2 L / log2 L` of them, to codes that were chosen for
        it, tell a code of `L` bits exactly (Lindström 1965; Cantor and Mills 1966), 159 one of 512.
        Behind the records that these codes say they are, what comes back is random.

        Args:
            public: the key that these codes are under.
            codes: clear ones.
            coefficients: those of all answers that this party will ever give about these clear
                codes, see `coefficients`.
            statistical_bits: `s`, at least 40: with and without what it hides, noise differs by a
                divergence of `2**-s / 24` over all answers, a statistical distance of
                `2**-(s / 2 + 3)`: `2**-23` for 40.

        Raises:
            NoiseBudgetError: parameters without room for the noise.
            ParameterError: fewer coefficients than this answer has.
            KeyMismatchError: another pair's key.
            ShapeError: what are no codes, or of another length.

        """
        key = stream_keys(public)
        native = self.distances_hidden(
            key.public,
            checked(codes),
            whole(coefficients, "coefficients", 1, WORD),
            whole(statistical_bits, "statistical_bits", 1, 1 << 10),
        )
        return EncryptedDistances(self.params, native)


class EncryptedDistances(_native.EncryptedDistances, ByWireForm, Opaque):
    """Distances of clear codes (rows) to encrypted ones, for `hesc.SecretKey.distances`."""

    params: StreamParams

    def __new__(cls, params: StreamParams, native: _native.EncryptedDistances) -> Self:
        """Compiled distances and their set."""
        made = super().__new__(cls, native)
        made.params = params
        return made

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> EncryptedDistances:
        """Reads the wire form; strict."""
        return cls(params, super().read(checked_params(params), wire_bytes(data)))
