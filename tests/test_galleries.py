"""Encrypted codes against encrypted codes: distances beside numpy, sizes, parts, refusals."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc.codes import EncryptedGallery, GalleryPlan, hamming, nearest, packed
from hesc.codes.secret import encrypt_gallery, encrypt_probes, gallery_distances

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(29)


def rows(count: int, bits: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return RNG.integers(0, 2**64, (count, bits // 64), dtype=np.uint64)


@pytest.mark.parametrize(
    ("bits", "piece", "records", "probes"),
    [(64, 64, 1, 1), (512, 512, 3, 1), (512, 64, 70, 3), (192, 24, 200, 2), (4096, 4096, 2, 1)],
)
def test_distances_are_numpys(bits: int, piece: int, records: int, probes: int) -> None:
    """Exact, with the same code and the opposite one among them, and in parts of any size."""
    plan = GalleryPlan(bits, piece=piece)
    secret, _ = hesc.keygen(plan.params, products=False)
    codes, asked = rows(records, bits), rows(probes, bits)
    codes[0], codes[-1] = asked[0], ~asked[0]
    sent, message = encrypt_gallery(secret, plan, codes), encrypt_probes(secret, plan, asked)
    assert plan.sizes(records, probes)[:2] == (len(sent), len(message))
    gallery = EncryptedGallery.from_bytes(plan, sent)
    assert len(gallery) == records
    expected = (hesc.codes.unpacked(asked)[:, None] != hesc.codes.unpacked(codes)).sum(axis=2)
    for size in (1, 40, 1 << 20):
        parts = list(gallery.answers(message, records=size))
        if len(parts) == probes:
            assert {len(part) for part in parts} == {plan.sizes(records).distances}
        found = gallery_distances(secret, plan, reversed(parts))
        assert found.dtype == np.uint32
        assert np.array_equal(found, expected)


def test_a_search_finds_the_nearest() -> None:
    plan = GalleryPlan(256, piece=32)
    secret, _ = hesc.keygen(plan.params, products=False)
    bits = RNG.integers(0, 2, (300, 256))
    probe = bits[[123]].copy()
    probe[0, :20] ^= 1
    gallery = EncryptedGallery.from_bytes(plan, encrypt_gallery(secret, plan, packed(bits)))
    answers = gallery.answers(encrypt_probes(secret, plan, packed(probe)))
    distances = gallery_distances(secret, plan, answers)
    assert distances[0, 123] == 20
    order = nearest(distances, 5)
    assert order[0, 0] == 123
    assert np.array_equal(order, nearest(hamming(packed(probe), packed(bits)), 5))


def test_plans_travel_and_name_their_set() -> None:
    plan = GalleryPlan(512)
    again = pickle.loads(pickle.dumps(plan))  # noqa: S301 - our own
    assert again.to_bytes() == plan.to_bytes()
    assert (again.bits, again.piece, again.capacity) == (512, 64, 32)
    assert again.params == plan.params
    assert plan.answer_bits <= 24
    assert "32 codes to a block" in repr(again)
    assert GalleryPlan(512, piece=512).params == plan.params


def test_bytes_tell_nothing_of_codes() -> None:
    """The heads are alike; seeds and residues are not, of equal codes either."""
    plan = GalleryPlan(64)
    secret, _ = hesc.keygen(plan.params, products=False)
    kinds = [np.zeros((2, 1), np.uint64), ~np.zeros((2, 1), np.uint64), rows(2, 64)]
    for act in (partial(encrypt_gallery, secret), partial(encrypt_probes, secret)):
        made = [act(plan, codes) for codes in (*kinds, kinds[0])]
        assert len({len(one) for one in made}) == 1
        assert len({one[:50] for one in made}) == 1
        assert len({one[50:82] for one in made}) == 4


def masked() -> Any:
    return np.ma.MaskedArray(np.zeros((1, 2), np.uint64), mask=[[False, True]])


class Party:
    """A gallery of 70 codes of 128 bits."""

    def __init__(self) -> None:
        self.plan = GalleryPlan(128)
        self.secret, _ = hesc.keygen(self.plan.params, products=False)
        self.codes = rows(70, 128)
        self.sent = encrypt_gallery(self.secret, self.plan, self.codes)
        self.gallery = EncryptedGallery.from_bytes(self.plan, self.sent)
        self.asked = encrypt_probes(self.secret, self.plan, self.codes[:2])
        self.parts = list(self.gallery.answers(self.asked, records=32))


@pytest.fixture(scope="module")
def party() -> Party:
    return Party()


WORD: Any = "x"


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda _: GalleryPlan(100), "Parameter", "multiple of 64"),
        (lambda _: GalleryPlan(8192), "Parameter", "up to 4096"),
        (lambda _: GalleryPlan(512, piece=96), "Parameter", "make up a code"),
        (lambda _: GalleryPlan(512, piece=4), "Parameter", "8 bits at least"),
        (lambda _: GalleryPlan(512, piece=1024), "Parameter", "make up a code"),
        (lambda _: GalleryPlan(WORD), "Shape", "bits"),
        (lambda _: GalleryPlan.from_bytes(b"plan"), "Wire", "plan"),
        (lambda p: encrypt_gallery(p.secret, p.plan, masked()), "Shape", "masked"),
        (lambda p: encrypt_gallery(p.secret, p.plan, np.zeros((1, 2))), "Shape", "uint64"),
        (lambda p: encrypt_gallery(p.secret, p.plan, rows(0, 128)), "Shape", "uint64"),
        (lambda p: encrypt_gallery(p.secret, p.plan, rows(1, 64)), "Shape", "64 bits; the plan"),
        (lambda p: encrypt_probes(p.secret, p.plan, rows(1, 192)), "Shape", "192 bits; the plan"),
        (lambda p: encrypt_probes(p.secret, p.plan, rows(5000, 128)), "Parameter", "several mess"),
        (
            lambda p: encrypt_probes(p.secret, None, rows(1, 128)),  # type: ignore[arg-type]
            "Parameter",
            "plan is of the type",
        ),
        (lambda p: EncryptedGallery.from_bytes(p.plan, WORD), "Parameter", "bytes"),
        (lambda p: EncryptedGallery.from_bytes(p.plan, p.asked), "Wire", "another kind"),
        (lambda p: EncryptedGallery.from_bytes(GalleryPlan(64), p.sent), "Parameter", "set"),
        (lambda p: EncryptedGallery(p.plan, p.sent), "Parameter", "from_bytes makes it"),
        (lambda p: p.gallery.answers(p.sent), "Wire", "another kind"),
        (lambda p: p.gallery.answers(WORD), "Parameter", "bytes"),
        (lambda p: p.gallery.answers(p.asked, records=0), "OutOfRange", "records"),
        (lambda p: gallery_distances(p.secret, p.plan, p.parts[0]), "Parameter", "list"),
        (lambda p: gallery_distances(p.secret, p.plan, [WORD]), "Parameter", "a part is bytes"),
        (lambda p: gallery_distances(p.secret, p.plan, []), "Shape", "missing"),
        (lambda p: gallery_distances(p.secret, p.plan, p.parts[:-1]), "Shape", "missing"),
        (lambda p: gallery_distances(p.secret, p.plan, p.parts + p.parts), "Shape", "twice"),
        (lambda p: gallery_distances(p.secret, p.plan, [p.sent]), "Wire", "another kind"),
        (lambda p: gallery_distances(p.secret, GalleryPlan(64), p.parts), "Parameter", "set"),
    ],
)
def test_refusals(party: Party, act: Callable[[Party], object], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act(party)


def test_keys_and_answers_of_others_are_refused(party: Party) -> None:
    other, _ = hesc.keygen(party.plan.params, products=False)
    with pytest.raises(hesc.KeyMismatchError):
        party.gallery.answers(encrypt_probes(other, party.plan, party.codes[:1]))
    with pytest.raises(hesc.KeyMismatchError):
        gallery_distances(other, party.plan, party.parts)
    fewer = list(party.gallery.answers(encrypt_probes(party.secret, party.plan, party.codes[:1])))
    with pytest.raises(hesc.ShapeError, match="several answers"):
        gallery_distances(party.secret, party.plan, [*party.parts, *fewer])
    damaged = bytearray(party.parts[0])
    damaged[200] ^= 1
    with pytest.raises(hesc.WireError, match="checksum"):
        gallery_distances(party.secret, party.plan, [bytes(damaged)])
    wider = GalleryPlan(4096)
    with pytest.raises(hesc.ParameterError):
        encrypt_gallery(party.secret, wider, rows(1, 4096))
    with pytest.raises(TypeError):
        bool(party.gallery)
