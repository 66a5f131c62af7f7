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


class StreamParams(_native.StreamParams, Params, kind="streams"):
    """A set for streams of bits; with the scheme "tfhe" for bits that bootstrap, too."""

    @property
    def encodings(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the set encrypts."""
        return ("streams", "bits") if self.scheme == "tfhe" else ("streams",)

    def simulated(self) -> StreamParams:
        """A set of the same layout that encrypts nothing and keeps bits only: fast.

        `hesc.keygen(params, mode="simulate")` is the comfortable way.
        """
        return StreamParams(super().simulated())

    def counted(self) -> StreamParams:
        """A set of the same layout that keeps counts in the clear, so that answers can be fused."""
        found: StreamParams = Params.insecure_plain(
            block_length=self.block_length, plain_modulus=self.capacity + 1
        )
        return found

    def key_readers(self) -> dict[str, Callable[[bytes], Any]]:
        """What reads the parts of public keys."""
        readers: dict[str, Callable[[bytes], Any]] = {
            "public": partial(_native.StreamPublicKey.from_bytes, self)
        }
        if self.scheme == "tfhe":
            readers["bootstrapping"] = partial(_native.EvaluationKey.from_bytes, self)
        return readers

    @property
    def block_bytes(self) -> int:
        """Bytes of memory that a block takes at least, whoever has encrypted it."""
        if self.ring_degree is None:
            return self.block_length // 8
        return 2 * self.ring_degree * max(1, len(self.coeff_moduli)) * 4

    def __repr__(self) -> str:
        ring = ""
        if self.ring_degree is not None:
            modulus = " * ".join(map(str, self.coeff_moduli))
            ring = f"ring_degree={self.ring_degree}, q={modulus}, packing={self.packing}, "
        return f"<hesc.Params {self.name}: {self.scheme}, {ring}{self.assurance}>"
