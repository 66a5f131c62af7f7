"""Encrypted codes that encrypted codes are compared to, by who can read neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hesc import _native
from hesc._native import GalleryPlan
from hesc._support.inputs import of_kind, whole, wire_bytes
from hesc._support.opaque import Opaque

if TYPE_CHECKING:
    from collections.abc import Iterator

# Records of a gallery, whatever their bits, at most.
_MOST_RECORDS = 1 << 20


class GallerySizes(NamedTuple):
    """Bytes on the wire, the same whatever the codes are."""

    gallery: int
    """Bytes of an encrypted gallery."""
    probes: int
    """Bytes of a message of probes."""
    distances: int
    """Bytes of the distances of one probe to the gallery, in one part."""


class EncryptedGallery(Opaque):
    """Codes under the secret key of who asks, as a server keeps them: it can read none.

    `hesc.codes.secret.encrypt_gallery` makes the bytes of one. In memory it takes sixteen bytes
    for each coefficient: `2 * bits / piece` polynomials of words to a block. Galleries are
    up to 1.7 gigabytes; of a larger one make several.
    """

    def __init__(self, plan: GalleryPlan, native: _native.EncryptedGallery) -> None:
        remedy = "EncryptedGallery.from_bytes makes it"
        self.plan = plan
        self._native = of_kind(native, "native", _native.EncryptedGallery, remedy)

    @classmethod
    def from_bytes(cls, plan: GalleryPlan, data: bytes) -> EncryptedGallery:
        """Reads the wire form; strict.

        Raises:
            WireError, ParameterError: damaged bytes, another object's, or another plan's.

        """
        of_kind(plan, "plan", GalleryPlan, "GalleryPlan(bits) makes it")
        return cls(plan, _native.EncryptedGallery.from_bytes(plan, wire_bytes(data)))

    def __len__(self) -> int:
        return len(self._native)

    def answers(self, probes: bytes, *, records: int = 8192) -> Iterator[bytes]:
        """Encrypted distances of every probe to every record, for who sent the probes.

        Parts of bounded size, made one after the other, in any order for
        `hesc.codes.secret.gallery_distances`. Cost for each block of `plan.capacity` records:
        a product of ciphertexts for each piece, and two transforms; on all cores.

        Args:
            probes: what `hesc.codes.secret.encrypt_probes` made.
            records: of a part, at most (a block at least).

        Raises:
            WireError, ParameterError: damaged bytes, or probes of another plan.
            KeyMismatchError: probes under another key pair.

        """
        blocks = max(1, whole(records, "records", 1, _MOST_RECORDS) // self.plan.capacity)
        read = _native.GalleryProbes.from_bytes(
            self.plan, of_kind(probes, "probes", bytes, "encrypt_probes makes the bytes of some")
        )
        # Whatever is wrong is said before the first part is asked for.
        self._native.compare(read, 0, 0, 1)
        return self._parts(read, blocks)

    def _parts(self, probes: _native.GalleryProbes, blocks: int) -> Iterator[bytes]:
        for probe in range(len(probes)):
            for first in range(0, self._native.blocks, blocks):
                count = min(blocks, self._native.blocks - first)
                yield self._native.compare(probes, probe, first, count)
