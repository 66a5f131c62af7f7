"""The server of nearest neighbours: codes in the clear. Nothing that it imports can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc._native import ShapeError, WireError
from hesc._support import documents
from hesc.codes import EncryptedCodes
from hesc.codes.rows import checked
from hesc.protocols import wire
from hesc.protocols.neighbours.plan import NeighboursPlan
from hesc.protocols.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray


def _write_codes(codes: NDArray[np.uint64]) -> str:
    return documents.base64_of(codes.astype("<u8").tobytes())


def _read_codes(value: Any, what: str, earlier: wire.Earlier) -> NDArray[np.uint64]:
    data = documents.bytes_of(value, what)
    plan: NeighboursPlan = earlier["plan"]
    words = plan.coding.bits // 64
    if len(data) != 8 * plan.records * words:
        raise WireError(f"{what} are not as many as its plan says")
    rows = np.frombuffer(data, dtype="<u8").astype(np.uint64)
    return rows.reshape(plan.records, words)


class NeighboursServer(Server[NeighboursPlan]):
    """Codes of records in the clear that answer encrypted codes with distances.

    Args:
        plan: what both sides agreed upon.
        codes: of the records, a row for each, in the order of the plan's labels.
        keys: of no use here, where nothing is hidden from the client.

    Raises:
        ShapeError: codes that are not the plan's in number or bits.
        ParameterError: keys are given.

    """

    plan_type: ClassVar[type[NeighboursPlan]] = NeighboursPlan
    fields: ClassVar[Mapping[str, Mapping[str, wire.Codec]]] = {
        "codes": wire.declared(wire.Codec(_write_codes, _read_codes))
    }

    def __init__(
        self, plan: NeighboursPlan, codes: ArrayLike, *, keys: bytes | None = None
    ) -> None:
        super().__init__(plan, keys=keys)
        self._codes = checked(codes)
        if self._codes.shape != (plan.records, plan.coding.bits // 64):
            raise ShapeError("codes of a server are as many, and as long, as its plan says")

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return {"codes": self._codes}

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """Encrypted distances of every record to every sample.

        Cost: for each record a quarter as many additions of ciphertexts as codes have bits,
        however many samples there are; its time depends on the codes.

        Raises:
            WireError, ParameterError: damaged bytes, other codes than the plan's, or another
                number of them than the query says.

        """
        asked = EncryptedCodes.from_bytes(self.plan.params, parts[0])
        if asked.bits != self.plan.coding.bits or len(asked) != samples:
            raise WireError(
                f"a query has codes of {self.plan.coding.bits} bits, one for each of its samples"
            )
        return [asked.distances(self._codes).to_bytes()]
