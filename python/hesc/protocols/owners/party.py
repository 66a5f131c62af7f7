"""One owner of columns, who encrypts them for the server. It cannot decrypt, not its own either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

import numpy as np

from hesc._native import ShapeError
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind
from hesc.models.samples import Query
from hesc.protocols.owners import pieces
from hesc.protocols.owners.column_sets import SLOTS
from hesc.protocols.owners.plan import OwnersPlan
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Samples


class Party:
    """A plan, a party's name and the client's public key.

    Args:
        plan: what the model's owner sent, see `OwnersPlan.from_bytes`. Print it before you use it.
        name: which of its parties.
        keys: the client's `public_keys()`, from the client itself: **whoever puts a key of his own
            in its place can decrypt the columns**.

    Raises:
        ParameterError, WireError: no such party; keys that are damaged, or of other parameters.

    """

    def __init__(self, plan: OwnersPlan, name: str, keys: bytes) -> None:
        self.plan = of_kind(plan, "plan", OwnersPlan, "OwnersPlan.from_bytes reads one")
        self.side = plan.side(name)
        self._keys = PublicKeys.from_bytes(plan.params, keys, parts=plan.key_parts)

    def __repr__(self) -> str:
        return f"<hesc.protocols.owners.Party: {self.side.name!r}, {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError("a Party is not pickled or copied; make one from plan, name and keys")

    @usual_floats
    def encrypt(self, samples: Samples, *, clip: bool = False, first: int = 0) -> Query:
        """Encrypts rows of this party's own columns, `plan.rows` of them at most.

        Args:
            samples: as `Side.prepared` takes them, in the order that all parties agreed upon.
            clip: bring values beyond the declared ranges to their ends, and count them.
            first: the number of the first of these rows, where a table goes as several pieces:
                pieces are matched by it.

        Cost: two milliseconds for each column. Size: as many ciphertexts, whatever the rows.

        Raises:
            OutOfRangeError, ShapeError: as `Side.prepared`; too many rows.

        """
        ready = self.side.prepared(samples, clip=clip)
        data = self.encrypted(ready.features, pieces.checked_first(first))
        return Query(data, ready.values, ready.samples)

    @usual_floats
    def encrypted(self, features: NDArray[np.float64], first: int = 0) -> bytes:
        """A piece of features that `Side.prepared` gave, `plan.rows` at most.

        Raises:
            ShapeError: too many rows.

        """
        rows = len(features)
        if rows > self.plan.rows:
            raise ShapeError(
                f"{rows} rows in a piece of {self.plan.rows} at most; send them as several"
            )
        columns = self.encrypt_parts(features)
        return pieces.write(self.plan, pieces.Piece(self.side.name, rows, first, columns))

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """A ciphertext for each of this party's features, of no more rows than fit."""
        scaled = np.zeros((SLOTS, features.shape[1]))
        scaled[: len(features)] = self.plan.scaled(features, self.side.features)
        return [self._keys.encrypt(column).to_bytes() for column in scaled.T]
