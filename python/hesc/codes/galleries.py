"""Encrypted codes that encrypted codes are compared to, by who can read neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind, whole, wire_bytes
from hesc._support.opaque import Opaque
from hesc.params.parameter_set import explained
from hesc.params.vectors import VectorParams

if TYPE_CHECKING:
    from collections.abc import Iterator

# Records of a gallery and probes of a message, whatever their bits, at most.
_MOST_RECORDS = 1 << 20
_MOST_PROBES = 1 << 12


class GallerySizes(NamedTuple):
    """Bytes on the wire, the same whatever the codes are."""

    gallery: int
    """Bytes of an encrypted gallery."""
    probes: int
    """Bytes of a message of probes."""
    distances: int
    """Bytes of the distances of one probe to the gallery, in one part."""


class GalleryPlan:
    """Bits of codes, how they lie in ciphertexts, and with it sizes: public, on both sides.

    Args:
        bits: of a code: a multiple of 64, up to 4096.
        piece: bits of a code that lie side by side in one ciphertext; they make up a code. All of
            them (`piece=bits`) for one comparison: a probe is one ciphertext. Fewer for a search:
            a ciphertext of the gallery then has `capacity` codes' pieces, so that answers and the
            time for a record shrink, and a probe has `bits / piece` ciphertexts.

    Raises:
        ParameterError: bits that no set has room for, or pieces that do not make up a code.

    """

    @explained
    def __init__(self, bits: int, *, piece: int = 64) -> None:
        self.native = _native.GalleryPlan(whole(bits, "bits", 0), whole(piece, "piece", 0))

    @classmethod
    def from_bytes(cls, data: bytes) -> GalleryPlan:
        """A plan from its wire form. What it says beyond bits must follow from them.

        Raises:
            WireError, ParameterError: damaged bytes, another object's, or bits that cannot be.

        """
        plan = cls.__new__(cls)
        plan.native = _native.GalleryPlan.from_bytes(wire_bytes(data))
        return plan

    def to_bytes(self) -> bytes:
        """The wire form."""
        return self.native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return GalleryPlan.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return (
            f"<hesc.codes.GalleryPlan: codes of {self.bits} bits in pieces of {self.piece}, "
            f"N = {self.params.ring_degree}, {self.capacity} codes to a block>"
        )

    @property
    def params(self) -> VectorParams:
        """The set that keys are made for; plans of one set share keys."""
        return VectorParams(self.native.params)

    @property
    def bits(self) -> int:
        """Bits of a code."""
        return self.native.numbers[0]

    @property
    def piece(self) -> int:
        """Bits of a code that lie side by side."""
        return self.native.numbers[1]

    @property
    def answer_bits(self) -> int:
        """Bits of each coefficient of an answer."""
        return self.native.numbers[2]

    @property
    def capacity(self) -> int:
        """Codes of a gallery that share ciphertexts: a block."""
        return self.native.numbers[3]

    def sizes(self, records: int = 1, probes: int = 1) -> GallerySizes:
        """Bytes of a gallery of so many records, of probes, and of one probe's distances."""
        records = whole(records, "records", 1, _MOST_RECORDS)
        return GallerySizes(
            *self.native.bytes_of(records, whole(probes, "probes", 1, _MOST_PROBES))
        )


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
        native = of_kind(plan, "plan", GalleryPlan, "GalleryPlan(bits)").native
        return cls(plan, _native.EncryptedGallery.from_bytes(native, _bytes(data, "a gallery")))

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
        read = _native.GalleryProbes.from_bytes(self.plan.native, _bytes(probes, "probes"))
        # Whatever is wrong is said before the first part is asked for.
        self._native.compare(read, 0, 0, 1)
        return self._parts(read, blocks)

    def _parts(self, probes: _native.GalleryProbes, blocks: int) -> Iterator[bytes]:
        for probe in range(len(probes)):
            for first in range(0, self._native.blocks, blocks):
                count = min(blocks, self._native.blocks - first)
                yield self._native.compare(probes, probe, first, count)


def _bytes(data: bytes, name: str) -> bytes:
    if not isinstance(data, bytes):
        raise ParameterError(f"{name} are bytes, not {type(data).__name__}")
    return data
