"""Parameter sets of streams: named presets and checked sets of one's own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from hesc import _native
from hesc._support.inputs import of_kind
from hesc.params.parameter_set import Params

if TYPE_CHECKING:
    from collections.abc import Callable


def checked_params(params: object) -> StreamParams:
    """Parameters that bytes are read with.

    Raises:
        ParameterError: anything else.

    """
    return of_kind(params, "params", StreamParams, "hesc.Params.preset makes a set for streams")


class StreamParams(Params[_native.Params], kind="streams"):
    """A set for streams of bits; with the scheme "tfhe" for bits that bootstrap, too."""

    @property
    def encodings(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the set encrypts."""
        return ("streams", "bits") if self.scheme == "tfhe" else ("streams",)

    def simulated(self) -> StreamParams:
        """A set of the same layout that encrypts nothing and keeps bits only: fast.

        `hesc.keygen(params, mode="simulate")` is the comfortable way.
        """
        return StreamParams(self._native.simulated())

    def counted(self) -> StreamParams:
        """A set of the same layout that keeps counts in the clear, so that answers can be fused."""
        found: StreamParams = Params.insecure_plain(
            block_length=self.block_length, plain_modulus=self._native.capacity + 1
        )
        return found

    def key_readers(self) -> dict[str, Callable[[bytes], Any]]:
        """What reads the parts of public keys."""
        native = self._native
        readers: dict[str, Callable[[bytes], Any]] = {"public": native.read_public_key}
        if self.scheme == "tfhe":
            readers["bootstrapping"] = partial(_native.EvaluationKey.from_bytes, native)
        return readers

    @property
    def ring_degree(self) -> int | None:
        """Coefficients of a polynomial, `N`; None without a ring."""
        return self._native.ring_degree

    @property
    def packing(self) -> str:
        """Where the bits of a block sit in the plaintext polynomial."""
        return self._native.packing

    @property
    def block_length(self) -> int:
        """Bits in one block: a ciphertext of the lattice schemes, 64 of the others."""
        return self._native.block_length

    @property
    def block_bytes(self) -> int:
        """Bytes of memory that a block takes at least, whoever has encrypted it."""
        if self.ring_degree is None:
            return self.block_length // 8
        return 2 * self.ring_degree * max(1, len(self.coeff_moduli)) * 4

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that tell sets apart."""
        return self._native.fingerprint

    def __repr__(self) -> str:
        ring = ""
        if self.ring_degree is not None:
            modulus = " * ".join(map(str, self.coeff_moduli))
            ring = f"ring_degree={self.ring_degree}, q={modulus}, packing={self.packing}, "
        return f"<hesc.Params {self.name}: {self.scheme}, {ring}{self.assurance}>"
