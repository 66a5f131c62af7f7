"""The server of nearest neighbours: codes in the clear. Nothing that it imports can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Never

import numpy as np

from hesc._native import ParameterError, ShapeError, WireError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind
from hesc.codes import EncryptedCodes
from hesc.codes.rows import checked
from hesc.protocols import frames
from hesc.protocols.neighbours.plan import ANSWER, QUERY, NeighborsPlan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_KIND: Final = "neighbors server"


class NeighborsServer:
    """Codes of records in the clear that answer encrypted codes with distances.

    Args:
        plan: what both sides agreed upon.
        codes: of the records, a row for each, in the order of the plan's labels.
        keys: of no use here, where nothing is hidden from the client.

    Raises:
        ShapeError: codes that are not the plan's in number or bits.
        ParameterError: keys are given.

    """

    def __init__(self, plan: NeighborsPlan, codes: ArrayLike, *, keys: bytes | None = None) -> None:
        self.plan = of_kind(plan, "plan", NeighborsPlan, "PrivateNeighbors.plan makes it")
        self._codes = checked(codes)
        if self._codes.shape != (plan.records, plan.coding.bits // 64):
            raise ShapeError("codes of a server are as many, and as long, as its plan says")
        if keys is not None:
            raise ParameterError("this plan hides nothing and needs no keys: leave out keys=")

    def __repr__(self) -> str:
        return f"<hesc.protocols.neighbours.NeighborsServer: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError("a NeighborsServer is not pickled or copied; write to_bytes()")

    @usual_floats
    def answer(self, query: bytes) -> bytes:
        """Encrypted distances of every record to every sample, for whoever sent the query.

        Cost: for each record a quarter as many additions of ciphertexts as codes have bits,
        however many samples there are; its time depends on the codes.

        Raises:
            WireError, ParameterError: damaged bytes, or a query for another plan.

        """
        name, data = frames.split(query, QUERY, 2)
        if name != self.plan.name:
            raise WireError("this query is for another plan; make it with the server's own")
        asked = EncryptedCodes.from_bytes(self.plan.params, data)
        if asked.bits != self.plan.coding.bits or not 1 <= len(asked) <= self.plan.rows:
            raise WireError(
                f"a query has codes of {self.plan.coding.bits} bits, {self.plan.rows} at most"
            )
        return frames.join(ANSWER, [name, asked.distances(self._codes).to_bytes()])

    def to_bytes(self) -> bytes:
        """Plan and **codes in the clear**: for who runs the server, and for no client."""
        codes = self._codes.astype("<u8").tobytes()
        fields = {"plan": self.plan.to_bytes().decode(), "codes": documents.base64_of(codes)}
        return documents.write(_KIND, fields)

    @classmethod
    def from_bytes(cls, data: bytes, *, keys: bytes | None = None) -> NeighborsServer:
        """What `to_bytes` wrote.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        given = documents.read(data, _KIND, {"plan", "codes"})
        plan = NeighborsPlan.from_bytes(documents.inner(given["plan"], "the plan of a server"))
        codes = documents.bytes_of(given["codes"], "codes of a server")
        words = plan.coding.bits // 64
        if len(codes) != 8 * plan.records * words:
            raise WireError("the codes of a server are not as many as its plan says")
        rows = np.frombuffer(codes, dtype="<u8").astype(np.uint64)
        return cls(plan, rows.reshape(plan.records, words), keys=keys)
