"""The third party of a linkage: it holds the secret key, and has no records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc._native import ShapeError, WireError
from hesc._support.inputs import whole
from hesc.codes.encrypted_codes import EncryptedDistances
from hesc.codes.secret import decrypt_distances
from hesc.protocols.client import PlanClient
from hesc.protocols.linkage import pieces
from hesc.protocols.linkage.matching import MutualNearest
from hesc.protocols.linkage.plan import LinkagePlan
from hesc.protocols.message import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Matcher(PlanClient):
    """The third party: it decrypts distances, and tells matches and nothing else.

    Both parties with records are given its `public_keys()`, from itself. With a plan of blocks it
    makes the keys of all, and `block` gives the matcher of each.

    Args:
        plan: what all agree on. Print it before you use it.
        secret: a key of the plan's parameters that was kept (`SecretKey.load`); without it a new
            pair is made.
        keys: what `public_keys` gave when that key was made.

    Raises:
        ParameterError, WireError: keys of other parameters, or damaged.
        KeyMismatchError: public keys of another pair.

    """

    plan_type: ClassVar[type[LinkagePlan]] = LinkagePlan
    plan: LinkagePlan

    def __init__(self, plan: LinkagePlan, *, secret: Any = None, keys: bytes | None = None) -> None:
        super().__init__(plan, secret=secret, keys=keys)
        self._nearest = MutualNearest(plan.sent if plan.blocking is None else 0)
        self._query: bytes | None = None

    def block(self, number: int) -> Matcher:
        """The matcher of one block, with the keys of the whole plan.

        Raises:
            ParameterError, OutOfRangeError: as `LinkagePlan.block`.

        """
        return Matcher(self.plan.block(number), secret=self.secret, keys=self.public_keys())

    def read(self, piece: bytes) -> None:
        """A piece of the comparer's, in the order in which they were made.

        Raises:
            WireError: what is no piece of this linkage, another than the next, one of other
                queries than those before it.
            DecryptionError, KeyMismatchError: what does not decrypt.
            ParameterError: a plan of blocks, which `block` gives matchers for.

        """
        self.plan.check_undivided()
        found = pieces.read(self.plan, piece, Kind.PIECE, self._nearest.rows)
        if found.query != (self._query or found.query):
            raise WireError(
                "this piece is of other queries than those before it; take those of one"
            )
        parts = []
        for data, columns in zip(found.ciphertexts, self.plan.batches, strict=True):
            distances = EncryptedDistances.from_bytes(self.plan.params, data)
            if distances.shape != (found.records, columns):
                raise WireError(
                    f"{distances.shape[0]} by {distances.shape[1]} distances, where the plan has "
                    f"{found.records} by {columns}: they are of another linkage"
                )
            parts.append(decrypt_distances(self.secret, distances))
        self._nearest.add(np.concatenate(parts, axis=1))
        self._query = found.query

    def matches(self, threshold: int) -> NDArray[np.int64]:
        """Pairs of positions, the sender's and the comparer's, up to this distance.

        Each is the other's nearest. Positions are those of the orders that only the parties know.

        Raises:
            ShapeError: pieces are missing.

        """
        most = whole(threshold, "threshold", 0, self.plan.bits)
        if self._nearest.rows != self.plan.compared:
            raise ShapeError(
                f"distances of {self._nearest.rows} of {self.plan.compared} records were read; "
                f"read every piece first"
            )
        pairs, distances = self._nearest.pairs()
        return pairs[distances <= most]

    def answer(self, threshold: int) -> bytes:
        """The matches up to this distance as a message, for the sender and the comparer.

        Raises:
            ShapeError: pieces are missing.

        """
        return pieces.write_matches(self.plan, self.matches(threshold), self._query or b"")
