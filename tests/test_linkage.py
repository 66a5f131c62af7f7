"""Private record linkage: the same matches as in the clear, and messages of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hesc
from hesc.codes import EncryptedCodes, HashKey, RecordCoder, hamming
from hesc.codes.secret import decrypt_distances
from hesc.protocols.linkage import (
    Comparer,
    LinkagePlan,
    Matcher,
    Sender,
    choose_threshold,
    febrl,
    quality,
)
from hesc.protocols.linkage.demonstration import link
from hesc.protocols.linkage.matching import MutualNearest

SENT, COMPARED = 70, 530
Party = tuple[LinkagePlan, hesc.SecretKey, hesc.PublicKeys]


@pytest.fixture(scope="module")
def party() -> Party:
    plan = LinkagePlan(SENT, COMPARED, 128)
    return plan, *hesc.keygen(plan.params())


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Codes of which 40 are the other side's with a few other bits."""
    rng = np.random.default_rng(4)
    sent, compared = (
        rng.integers(0, 2**64, (count, 2), dtype=np.uint64) for count in (SENT, COMPARED)
    )
    compared[100:140] = sent[20:60] ^ np.uint64(0b1011)
    return sent, compared


def in_the_clear(distances: np.ndarray[Any, Any], threshold: int) -> set[tuple[int, int]]:
    """Mutual nearest, one pair after the other; ties there are none."""
    return {
        (int(i), j)
        for j, i in enumerate(distances.argmin(1))
        if distances[:, i].argmin() == j and distances[j, i] <= threshold
    }


def test_matches_are_those_in_the_clear(party: Party, rows: Any) -> None:
    plan, secret, public = party
    assert plan.preset == "bfv_4096_distances"
    sender, comparer = Sender(plan, public, rows[0]), Comparer(plan, public, rows[1])
    matcher = Matcher(plan, secret)
    seen: list[tuple[int, int]] = []
    message = sender.message()
    for answer in comparer.answers(message, progress=lambda *done: seen.append(done)):
        with pytest.raises(hesc.ShapeError, match="read every answer"):
            matcher.matches(10)
        matcher.read(answer)
    assert seen == [(512, 530), (530, 530)]
    matches = matcher.matches(10)
    pairs = set(
        zip(sender.matched(matches).tolist(), comparer.matched(matches).tolist(), strict=True)
    )
    assert pairs == {(20 + i, 100 + i) for i in range(40)}
    assert pairs == in_the_clear(hamming(rows[1], rows[0]), 10)
    assert len(matcher.matches(2)) == 0
    # Positions on the wire are not rows: both parties shuffled.
    assert set(map(tuple, matches.tolist())) != pairs
    with pytest.raises(hesc.WireError, match="in the order"):
        matcher.read(answer)
    for damaged in (b"", answer[:3], answer[:4], answer[4:], answer[:-1]):
        with pytest.raises(hesc.WireError):
            Matcher(plan, secret).read(damaged)
    with pytest.raises(hesc.WireError, match="in the order"):
        Matcher(plan, secret).read(answer)
    # A second time would show more than the noise hides.
    with pytest.raises(hesc.ParameterError, match="compared already"):
        comparer.answers(message)
    with pytest.raises(hesc.ShapeError, match="not there"):
        sender.matched([[SENT, 0]])
    with pytest.raises(hesc.ShapeError, match="two positions"):
        sender.matched([1, 2])


def test_messages_of_other_plans_are_refused(party: Party, rows: Any) -> None:
    plan, _, public = party
    with pytest.raises(hesc.ShapeError, match="70 codes of 128 bits"):
        Sender(plan, public, rows[1])
    small = EncryptedCodes.encrypt(public, rows[0][:3]).to_bytes()
    with pytest.raises(hesc.ShapeError, match="3 codes of 128 bits, the plan 70"):
        Comparer(plan, public, rows[1]).answers(small)
    _, other = hesc.keygen(hesc.Params.preset("bfv_1024_distances"))
    with pytest.raises(hesc.ParameterError, match="bfv_4096_distances"):
        Sender(plan, other, rows[0])


def test_plans_choose_parameters_by_what_is_shown() -> None:
    assert LinkagePlan(5000, 5000).preset == "bfv_4096_distances"
    assert LinkagePlan(5000, 5000).coefficients == 8192 * 5000
    assert LinkagePlan(100_000, 100_000).preset == "bfv_4096_distances_large"
    with pytest.raises(hesc.OutOfRangeError, match="512 bits at most"):
        LinkagePlan(10, 10, 576)
    with pytest.raises(hesc.OutOfRangeError, match="parts"):
        LinkagePlan(1 << 24, 1 << 24)
    with pytest.raises(hesc.ParameterError, match="multiple of 64"):
        LinkagePlan(10, 10, 100)


@pytest.mark.parametrize("plan", [LinkagePlan(4096, 10_253), LinkagePlan(1 << 18, 1 << 18)])
def test_the_most_that_a_plan_allows_is_hidden(plan: LinkagePlan) -> None:
    """Noise for as many coefficients as a set is chosen for has room in it."""
    assert plan.coefficients in {41_996_288, 1 << 36}
    secret, public = hesc.keygen(plan.params())
    zeros = np.zeros((1, 8), np.uint64)
    hidden = EncryptedCodes.encrypt(public, zeros).hidden_distances(
        public, ~zeros, coefficients=plan.coefficients
    )
    assert decrypt_distances(secret, hidden).tolist() == [[512]]


def test_nearest_pairs_come_in_parts() -> None:
    """However rows of distances are cut."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        shape = rng.integers(1, 30, 2)
        distances = rng.permutation(shape[0] * shape[1]).reshape(shape).astype(np.uint32)
        nearest, at = MutualNearest(int(shape[1])), 0
        while at < shape[0]:
            step = int(rng.integers(1, 9))
            nearest.add(distances[at : at + step])
            at += step
        pairs, found = nearest.pairs()
        assert set(map(tuple, pairs.tolist())) == in_the_clear(distances, 1 << 16)
        # Of equal distances the first counts, in whichever part it came.
        tied, whole = (MutualNearest(int(shape[1])) for _ in range(2))
        equal = distances % 3
        whole.add(equal)
        for row in range(len(equal)):
            tied.add(equal[row : row + 1])
        assert tied.pairs()[0].tolist() == whole.pairs()[0].tolist()
        assert set(map(tuple, whole.pairs()[0].tolist())) == in_the_clear(equal, 3)
        assert np.array_equal(found, distances[pairs[:, 1], pairs[:, 0]])


def test_the_longest_codes_match_at_every_distance() -> None:
    """Opposite codes of 65,536 bits are nearest to each other where none are nearer."""
    longest = 1 << 16
    for far in ([[longest]], [[longest - 1, longest], [longest, longest]]):
        nearest = MutualNearest(len(far))
        nearest.add(np.array(far, dtype=np.uint32))
        pairs, found = nearest.pairs()
        assert (pairs.tolist(), found.tolist()) == ([[0, 0]], [far[0][0]])
    opposite = np.array([[0] * 1024, [2**64 - 1] * 1024], dtype=np.uint64)
    assert hamming(opposite, opposite).tolist() == [[0, longest], [longest, 0]]


def test_quality_counts_pairs() -> None:
    true = [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert quality([[0, 0], [1, 2]], true) == pytest.approx((0.5, 0.25, 1 / 3))
    assert quality(np.zeros((0, 2), int), true) == (0, 0, 0)
    with pytest.raises(hesc.ShapeError, match="nothing to find"):
        quality(true, np.zeros((0, 2), int))


def test_the_threshold_parts_matches_from_others() -> None:
    """All true pairs are 3 apart, all others 10 at least: the middle of where F1 is 1."""
    codes = np.array([[0], [0xFFFF], [0xFF << 32]], dtype=np.uint64)
    threshold = choose_threshold(codes, codes ^ np.uint64(7 << 60), [[0, 0], [1, 1], [2, 2]])
    assert threshold.distance == 3
    assert threshold.training == (1, 1, 1)
    wrong = choose_threshold(codes[:2], codes[[2, 0]] ^ np.uint64(1), [[0, 1]])
    assert 1 <= wrong.distance < 8 + 16
    # Each side has rows of its own number.
    assert choose_threshold(codes, codes[:2], [[2, 0]]).distance >= 0
    for pair in ([0, 3], [3, 0], [-1, 0], [0, 2]):
        with pytest.raises(hesc.OutOfRangeError, match="not there"):
            choose_threshold(codes, codes[:2], [pair])


def test_people_of_febrl_are_found() -> None:
    """A tenth of them, end to end.

    In the clear F1 is 0.993 over keys, with a deviation of 0.003 (324 keys): six of 400 are missed
    in the mean, and 24 once in 10^8 runs. Of 1,000 keys none gave a false pair; four would fail.
    """
    run = link(hesc.keygen, 500)
    assert run.found.f1 >= 0.97
    assert run.found.precision >= 0.99
    people = febrl.load()
    assert len(people.true) == len(set(people.true[:, 0])) == 5000
    coder = RecordCoder(HashKey.generate(), febrl.FIELDS)
    left, right = (
        coder.encode(
            {
                name: [column[row] for row in people.true[:50, side]]
                for name, column in table.items()
            }
        )
        for side, table in enumerate(people[:2])
    )
    assert (hamming(left, right).argmin(0) == np.arange(50)).mean() > 0.9
