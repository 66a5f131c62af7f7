"""Linkages of blocks: what plans say, who is compared; parties that disagree or lie, odd data."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

import hesc
from hesc.codes import HashKey, RecordCoder, hamming
from hesc.protocols.linkage import Comparer, LinkagePlan, Sender, febrl, quality
from hesc.protocols.linkage.block_runs import ClearBlocks, LinkBlocks, link_blocks, tables_of
from hesc.protocols.linkage.blocking import Blocking, Pass, noise_shift, place_of, stray_matches
from hesc.protocols.linkage.blocks import (
    BlockedRecords,
    choose_passes,
    keys_of,
    laplace,
    soundex,
)
from hesc.protocols.linkage.client import Matcher
from tests import lying_messages

KEY: Final = HashKey(bytes(32))
BITS: Final = 64
THRESHOLD: Final = 4
NAMES: Final = ("Ada", "Bob", "Cyd", "Dan", "Eva", "Fay")
Codes = np.ndarray[Any, Any]
Table = dict[str, list[str | None]]


def random_codes(count: int, seed: int = 1) -> Codes:
    return np.random.default_rng(seed).integers(0, 2**64, (count, 1), dtype=np.uint64)


def some_table(count: int, seed: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    years = [None if each % 9 == 0 else str(1900 + each) for each in rng.integers(0, 99, count)]
    return {"name": [NAMES[each] for each in rng.integers(0, 6, count)], "born": years}


def two_parties(
    passes: list[Pass], count: int = 60, table: Table | None = None
) -> tuple[BlockedRecords, BlockedRecords]:
    """Both with the same people, whose codes differ in two bits; some lack a year on one side."""
    own = some_table(count) if table is None else table
    codes = random_codes(count)
    theirs = own | {"born": [None if at % 7 == 0 else each for at, each in enumerate(own["born"])]}
    return (
        BlockedRecords(KEY, own, codes, passes, role="sender"),
        BlockedRecords(KEY, theirs, codes ^ np.uint64(0b101), passes, role="comparer"),
    )


def plan_of(
    sender: BlockedRecords, comparer: BlockedRecords, sizes: str = "told", bits: int = BITS
) -> LinkagePlan:
    told = [party.told_sizes(sizes) for party in (sender, comparer)]
    return LinkagePlan.of_blocks(sender.passes, sizes, *told, bits=bits)


@pytest.mark.parametrize(
    ("name", "sound"),
    [
        ("Robert", "R163"),
        ("Rupert", "R163"),
        ("Rubin", "R150"),
        ("Ashcraft", "A261"),
        ("Tymczak", "T522"),
        ("Pfister", "P236"),
        ("Honeyman", "H555"),
        ("Lee", "L000"),
        ("Mu\u0308ller", "M460"),
        ("M\u00fcller", "M460"),
        ("\u738b", "\u738b"),
    ],
)
def test_names_sound_as_the_census_has_them(name: str, sound: str) -> None:
    """The National Archives' examples; marks do not count, other alphabets sound as they are."""
    assert soundex(name) == sound


def test_keys_are_values_as_codes_take_them() -> None:
    table: Table = {
        "a": ["Zoe\u0308", "ZO\u00cb", None, " zo\u00eb ", "", "ab", "a"],
        "b": ["1970", "1970", "1970", None, "1971", "c", "bc"],
    }
    whole = keys_of(table, "a")
    assert whole[0] == whole[1] == whole[3] != ""
    assert whole[2] == whole[4] == ""
    both = keys_of(table, "a+b")
    assert both[0] == both[1]
    assert both[2] == both[3] == both[4] == ""
    # Two values are no other two whose letters are the same.
    assert both[5] != both[6]
    assert keys_of(table, "b:4")[5:] == ["", ""]
    assert len(set(keys_of(table, "b:3")) - {""}) == 1
    with pytest.raises(hesc.ParameterError, match="no column 'c'"):
        keys_of(table, "c")
    years: Any = {"b": [1970]}
    with pytest.raises(hesc.OutOfRangeError, match="holds a int"):
        keys_of(years, "b")
    with pytest.raises(hesc.ShapeError, match="different lengths"):
        keys_of({"a": ["x"], "b": ["x", "y"]}, "a+b")
    for key in ("", "a:sounds", "a:0", "a:\u0663", ":4", "a+", "a:999"):
        with pytest.raises(hesc.ParameterError, match="no key of a pass"):
            Pass(key, 1)


@pytest.mark.parametrize("sizes", ["told", "padded", "private"])
def test_blocks_are_linked_as_in_the_clear(sizes: str) -> None:
    """However sizes are told: the same matches, each record once, and no random code among them."""
    passes = [Pass("born", 2, 60), Pass("name:soundex", 3, 60)]
    found = []
    for linker in (LinkBlocks, ClearBlocks):
        parties = two_parties(passes)
        plan = plan_of(*parties, sizes)
        run = link_blocks(plan, *parties, partial(map, linker(plan.to_bytes(), THRESHOLD)))
        assert run.stray == 0
        assert run.blocks == len(plan.blocks)
        for side in range(2):
            assert len(np.unique(run.matches[:, side])) == len(run.matches)
        found.append(run)
    encrypted, clear = found
    # Who lacks a year is found by name.
    assert {(each, each) for each in range(60)} == set(map(tuple, clear.matches.tolist()))
    assert set(map(tuple, encrypted.matches.tolist())) == set(map(tuple, clear.matches.tolist()))
    if sizes != "private":
        told = plan.sizes()
        assert list(encrypted.bytes.values())[:2] == list(told[:2])


def test_bytes_tell_sizes_and_nothing_else() -> None:
    """Of other people with the same sizes every message has the same bytes, block by block."""
    seen = []
    alike: Table = {"name": ["Ada"] * 40, "born": ["1950"] * 40}
    for table in (some_table(40, 5), alike):
        parties = two_parties([Pass("name", 2, 40), Pass("born:3", 2, 40)], 40, table)
        plan = plan_of(*parties, "padded")
        linker = LinkBlocks(plan.to_bytes(), THRESHOLD)
        sizes = []
        for each in (0, 1):
            numbers = [number for number in plan.blocks if number // 2 == each]
            for blocks in tables_of(plan, numbers, *parties):
                row = linker(blocks).to_pylist()[0]
                sizes.append((row["block"], *row["bytes"][:2]))
                for party, side in zip(parties, ("sent", "compared"), strict=True):
                    party.found(row["block"], row[side])
        seen.append((plan.digest, sizes))
    assert seen[0] == seen[1]
    assert len(seen[0][1]) == 4


def test_degenerate_data() -> None:
    """One block for all, blocks without anybody, a key that everybody lacks, one record."""
    nobody: Table = {"name": [None] * 20, "born": [None] * 20}
    with pytest.raises(hesc.ParameterError, match="no block has records of both"):
        plan_of(*two_parties([Pass("name", 3)], 20, nobody))
    nameless = two_parties(
        [Pass("name", 3), Pass("born", 4)], 20, some_table(20) | {"name": [None] * 20}
    )
    plan = plan_of(*nameless)
    assert min(plan.blocks) >= 3
    assert sum(plan.agreed_blocks.sent[:3]) == 0
    empty = next(number for number in range(7) if number not in plan.blocks)
    with pytest.raises(hesc.ParameterError, match="nothing to compare"):
        plan.block(empty)
    for count, blocks in ((30, 1), (1, 5)):
        table: Table = {"name": ["\u017b\u00f3\u0142w"] * count, "born": ["1"] * count}
        parties = two_parties([Pass("name:soundex", blocks)], count, table)
        plan = plan_of(*parties)
        assert len(plan.blocks) == 1
        run = link_blocks(plan, *parties, partial(map, ClearBlocks(plan.to_bytes(), THRESHOLD)))
        assert len(run.matches) == count


def test_plans_of_blocks_are_read_strictly() -> None:
    parties = two_parties([Pass("born", 4, 40), Pass("name", 3, 40)])
    plan = plan_of(*parties, "private")
    assert LinkagePlan.from_bytes(plan.to_bytes()) == plan
    number = plan.blocks[1]
    block = plan.block(number)
    assert LinkagePlan.from_bytes(block.to_bytes()) == block
    assert block.within is not None
    assert (block.within.plan, block.within.number) == (plan.digest.hex(), number)
    digests = {plan.block(each).digest for each in plan.blocks}
    assert len(digests) == len(plan.blocks)
    # Noise is for what all blocks show together.
    assert (
        block.coefficients
        == plan.coefficients
        == sum(
            -(-a // 4096) * 4096 * b
            for a, b in zip(plan.agreed_blocks.sent, plan.agreed_blocks.compared, strict=True)
        )
    )
    many = LinkagePlan.of_blocks([Pass("a", 3000)], "told", [4096] * 3000, [4096] * 3000)
    assert many.block(0).params.name == "bfv_4096_distances_large"
    assert LinkagePlan(4096, 4096).params.name == "bfv_4096_distances"
    with pytest.raises(hesc.OutOfRangeError, match="no parameters"):
        LinkagePlan.of_blocks([Pass("a", 9000)], "told", [4096] * 9000, [4096] * 9000)
    text = plan.to_bytes()
    for old, new in (
        (b'"private"', b'"told"'),
        (b'"private"', b'"padded"'),
        (b'"private"', b'"secret"'),
        (b'["born",4,40]', b'["born",5,40]'),
        (b'["born",4,40]', b'["born",4.0,40]'),
        (b'["born",4,40]', b'["name",4,40]'),
        (b'["born",4,40]', b'["born:x",4,40]'),
        (b'["born",4,40]', b'["born",70000,40]'),
        (b'"epsilon":1.0', b'"epsilon":0.0'),
        (b'"epsilon":1.0', b'"epsilon":1'),
        (b'"delta":', b'"delta":-'),
        (b'"within":null', b'"within":["00",0,1]'),
        (b'"within":null', b'"within":7'),
        (b'"blocking":{', b'"blocking":{"more":1,'),
        (f'"sent":{plan.sent}'.encode(), f'"sent":{plan.sent + 1}'.encode()),
    ):
        assert old in text
        with pytest.raises(hesc.WireError):
            LinkagePlan.from_bytes(text.replace(old, new))
    with pytest.raises(hesc.ParameterError, match="more than all blocks"):
        dataclasses.replace(block, within=block.within._replace(coefficients=4095))


def test_disclosures_count_what_is_told() -> None:
    passes = [Pass("born", 4, 64), Pass("name:soundex", 3, 64)]
    told = str(plan_of(*two_parties(passes)))
    for words in ("QUASI-IDENTIFIERS", "EXACT", "born in 4 blocks"):
        assert words in told
    padded = str(plan_of(*two_parties(passes), "padded"))
    assert "EXACT" not in padded
    assert "equal in each pass" in padded
    private = str(plan_of(*two_parties(passes), "private"))
    assert "epsilon 1 and delta 9.1e-13 for all 2 passes together, 0.5 for each" in private
    # Two equal blocks tell a bit of a record, one tells none.
    for sizes, bits in (([8, 8], "1.0"), ([16, 0], "0.0")):
        plan = LinkagePlan.of_blocks([Pass("a", 2)], "told", sizes, sizes, bits=BITS)
        assert f"{bits} bits of each of the sender's records" in str(plan)
    few = LinkagePlan.of_blocks([Pass("a", 3)], "told", [4, 1, 0], [5, 1, 9], bits=BITS)
    assert "the smallest has 0, and 3 have from 1 to fewer than 5" in str(few)


def test_parties_that_disagree_are_refused() -> None:
    passes = [Pass("born", 2, 60), Pass("name", 2, 60)]
    sender, comparer = two_parties(passes)
    plan = plan_of(sender, comparer)
    number = plan.blocks[0]
    matcher = Matcher(plan)
    keys = matcher.public_keys()
    messages = list(Sender(plan.block(number), keys, sender.codes(plan, number)).messages())
    codes = comparer.codes(plan, number)
    # Another plan of the same block's sizes, another block, and all blocks at once.
    other = dataclasses.replace(
        plan,
        blocking=dataclasses.replace(plan.agreed_blocks, passes=(Pass("born:4", 2, 60), passes[1])),
    )
    assert other.block(number).sent == plan.block(number).sent
    with pytest.raises(hesc.WireError, match="another plan"):
        Comparer(other.block(number), keys, codes).pieces(messages)
    next_one = plan.block(plan.blocks[1])
    stranger = Comparer(next_one, keys, random_codes(next_one.compared))
    with pytest.raises(hesc.WireError, match="another plan"):
        stranger.pieces(messages)
    with pytest.raises(hesc.ParameterError, match="linked by itself"):
        Sender(plan, keys, codes)
    pieces = list(Comparer(plan.block(number), keys, codes).pieces(messages))
    with pytest.raises(hesc.ParameterError, match="linked by itself"):
        matcher.read(pieces[0])
    with pytest.raises(hesc.WireError, match="another plan"):
        matcher.block(plan.blocks[1]).read(pieces[0])
    matcher.block(number).read(pieces[0])
    with pytest.raises(hesc.ParameterError, match="other passes"):
        comparer.codes(other, number)
    with pytest.raises(hesc.ParameterError, match="compares all records"):
        comparer.codes(LinkagePlan(4, 4, BITS), 0)
    # Keys of codes that differ put nobody where the other has him.
    table = some_table(400)
    one, two = (
        BlockedRecords(key, table, random_codes(400), [Pass("born", 64)], role=role)
        for key, role in ((KEY, "sender"), (HashKey(bytes(31) + b"1"), "comparer"))
    )
    assert not np.array_equal(one.counts[0], two.counts[0])


def test_a_plan_says_what_was_told() -> None:
    """Other sizes, or made otherwise, by one error: who tries plans learns no size by it."""
    passes = [Pass("born", 2)]
    untold = two_parties(passes)[0]
    exact = [int(count) for count in untold.counts[0]]
    says = "does not say of these records what told_sizes told"
    with pytest.raises(hesc.ParameterError, match=says):
        untold.codes(LinkagePlan.of_blocks(passes, "told", exact, [9, 9], bits=BITS), 0)
    private = two_parties(passes)[0]
    sizes = private.told_sizes("private", epsilon=10.0).tolist()
    plans = [
        LinkagePlan.of_blocks(passes, "private", sizes, [9, 9], bits=BITS),
        LinkagePlan.of_blocks(passes, "told", sizes, [9, 9], bits=BITS),
        LinkagePlan.of_blocks(
            passes, "private", sizes, [9, 9], bits=BITS, epsilon=10.0, delta=1e-9
        ),
    ]
    for size in (1, exact[0], sizes[0] + 1):
        own = [size, sizes[1]]
        plans.append(LinkagePlan.of_blocks(passes, "private", own, [9, 9], bits=BITS, epsilon=10.0))
    for plan in plans:
        with pytest.raises(hesc.ParameterError, match=says):
            private.codes(plan, 0)
    right = LinkagePlan.of_blocks(passes, "private", sizes, [9, 9], bits=BITS, epsilon=10.0)
    assert len(private.codes(right, 0)) == sizes[0]
    for rows in ([sizes[0]], [[0]], [-1]):
        with pytest.raises((hesc.OutOfRangeError, hesc.ShapeError)):
            private.found(0, rows)
    assert private.found(0, []).size == 0


def test_keys_of_passes_are_printable() -> None:
    for key in ("born\n  matcher  sees nothing", "born\x1b[8m", "born\u202e"):
        with pytest.raises(hesc.ParameterError, match="printable letters"):
            Pass(key, 2)


def test_blocks_are_given_once_and_in_order() -> None:
    sender, comparer = two_parties([Pass("born", 2), Pass("name", 2)])
    plan = plan_of(sender, comparer)
    first, later = plan.blocks[0], next(number for number in plan.blocks if number >= 2)
    with pytest.raises(hesc.ParameterError, match="not known yet"):
        sender.codes(plan, later)
    with pytest.raises(hesc.ParameterError, match="was not given"):
        sender.found(first, [])
    codes = sender.codes(plan, first)
    with pytest.raises(hesc.ParameterError, match="given already"):
        sender.codes(plan, first)
    with pytest.raises(hesc.OutOfRangeError, match="from 0"):
        sender.found(first, [-1])
    own = sender.found(first, [0, len(codes) - 1])
    assert np.array_equal(sender._codes[own], codes[[0, -1]])
    with pytest.raises(hesc.ParameterError, match="known already"):
        sender.found(first, [0])
    with pytest.raises(hesc.ParameterError, match="told already"):
        sender.told_sizes("private")
    with pytest.raises(hesc.OutOfRangeError):
        sender.codes(plan, 99)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            attempt(sender)
    assert repr(sender) == "<BlockedRecords: 60 records, 2 passes>"


def test_who_matched_takes_no_part_again() -> None:
    """In the second pass random codes are in the places of records that matched in the first."""
    passes = [Pass("born", 1, 60), Pass("name", 1, 60)]
    sender, comparer = two_parties(passes)
    plan = plan_of(sender, comparer, "padded")
    before = sender.codes(plan, 0)
    assert len(before) == 60
    matched = sender.found(0, range(10))
    assert (matched >= 0).all()
    after = sender.codes(plan, 1)
    assert len(after) == 60
    rows = {int(each) for each in after[:, 0]}
    assert not rows & {int(each) for each in sender._codes[matched, 0]}
    named = {int(each) for each in sender._codes[:, 0]}
    assert len(rows & named) == 50
    # A random code that matched is nobody.
    assert sender.found(1, [59]).tolist() == [-1]


def test_capacities_are_kept() -> None:
    sender, _ = two_parties([Pass("name", 2, 20)])
    with pytest.raises(hesc.OutOfRangeError, match="more blocks or capacity"):
        sender.told_sizes("padded")
    # Nothing was told, and a choice is left.
    assert sender.told_sizes("told").sum() == 60


def test_noise_is_never_negative_and_as_private_as_it_says() -> None:
    """The divergence of two counts that differ by one, from the probabilities of their noise."""
    for passes, epsilon, delta in ((1, 1.0, 2.0**-40), (3, 0.5, 1e-9), (2, 4.0, 1e-3)):
        shift = noise_shift(passes, epsilon, delta)
        each = epsilon / passes

        def divergence(shift: int, each: float = each) -> float:
            span = np.arange(-4 * shift - 200, 4 * shift + 200)
            weights = np.exp(-each * np.abs(span))
            weights /= weights.sum()
            noise = np.bincount(np.maximum(0, span + shift), weights)
            one, other = np.append(noise, 0.0), np.insert(noise, 0, 0.0)
            ways = [(one, other), (other, one)]
            return max(float(np.maximum(0, p - math.exp(each + 1e-12) * q).sum()) for p, q in ways)

        assert passes * divergence(shift) <= delta * (1 + 1e-6)
        assert shift == 0 or passes * divergence(shift - 2) > delta / 50
    parties = two_parties([Pass("born", 16), Pass("name", 16)])
    told = parties[0].told_sizes("private")
    counts = np.concatenate(parties[0].counts)
    assert (told >= counts).all()
    assert len(set((told - counts).tolist())) > 4
    for wrong in ({"epsilon": 0.0}, {"delta": 0.0}, {"delta": 0.5}, {"epsilon": math.inf}):
        with pytest.raises(hesc.OutOfRangeError):
            parties[1].told_sizes("private", **wrong)


def test_noise_is_discrete_laplace() -> None:
    """Against its probabilities: a deviation of six would be chance once in 10^8 runs."""
    count = 20_000
    drawn = np.array(laplace(1.0, [Pass("a", 1), Pass("b", 1)], count))
    decay = math.exp(-0.5)
    for value in range(-5, 6):
        share = (1 - decay) / (1 + decay) * decay ** abs(value)
        assert abs((drawn == value).sum() - count * share) < 6 * math.sqrt(count * share)
    assert len(drawn) == count
    # Of an epsilon with more digits, which counts as it is: that is what delta is stated of.
    sizes = np.abs(laplace(0.0199, [Pass("a", 1)], count))
    decay = math.exp(-0.0199)
    mean = 2 * decay / (1 - decay**2)
    spread = math.sqrt(2 * decay / (1 - decay) ** 2 - mean**2)
    assert abs(sizes.mean() - mean) < 6 * spread / math.sqrt(count)


def test_random_codes_match_nobody() -> None:
    """The stated number is the binomial's, whatever the other code is, and as often as drawn."""
    assert stray_matches(2, 0) == 0.25
    assert stray_matches(2, 2, 12) == 12.0
    assert stray_matches(512, 160, 8 * 10**9) < 1e-7
    assert stray_matches(65_536, 20_480) < 1e-300 or stray_matches(65_536, 20_480) == 0.0
    other = random_codes(1, 3)
    sender, _ = two_parties([Pass("name", 1, 1 << 16)], 1)
    sizes = sender.told_sizes("padded")
    plan = LinkagePlan.of_blocks(sender.passes, "padded", sizes, sizes, bits=BITS)
    random = sender.codes(plan, 0)[1:]
    assert len(np.unique(random)) == len(random) == (1 << 16) - 1
    for threshold in (22, 26, 32):
        expected = stray_matches(BITS, threshold, len(random))
        assert abs((hamming(other, random) <= threshold).sum() - expected) < 6 * expected**0.5


def test_messages_of_blocks_that_lie_are_refused() -> None:
    parties = two_parties([Pass("born", 2)], 30)
    plan = plan_of(*parties)
    number = plan.blocks[0]
    matcher = Matcher(plan)
    block, keys = plan.block(number), matcher.public_keys()
    message = next(Sender(block, keys, parties[0].codes(plan, number)).messages())
    codes = parties[1].codes(plan, number)
    (piece,) = Comparer(block, keys, codes).pieces([message])
    lies = lying_messages.check_reader(piece, lambda data: matcher.block(number).read(data))
    assert lies > 150


def test_passes_are_chosen_by_ones_own_records() -> None:
    """The cheapest that reach the coverage; keys that are common cost more."""
    count = 9000
    rng = np.random.default_rng(2)
    table: Table = {
        "even": [str(each) for each in rng.integers(0, 5000, count)],
        "same": ["x"] * count,
        "half": [str(each) for each in rng.integers(0, 5000, count)],
    }
    known: Any = [{name: column[:100] for name, column in table.items()} for _ in range(2)]
    known[1]["half"][:50] = ["other"] * 50
    arguments: Any = {"others": count, "sizes": "told"}
    choice = choose_passes(KEY, table, (known[0], known[1]), ["same", "half", "even"], **arguments)
    assert [each.key for each in choice.passes] == ["even"]
    assert choice.coverage == 1.0
    own = BlockedRecords(KEY, table, random_codes(count), choice.passes, role="sender")
    assert own.counts[0].max() <= 4096
    plan = LinkagePlan.of_blocks(choice.passes, "told", own.counts[0], own.counts[0], bits=BITS)
    assert plan.coefficients == pytest.approx(choice.coefficients, rel=0.01)
    with pytest.raises(hesc.OutOfRangeError, match=r"reach 0\.5000"):
        choose_passes(KEY, table, (known[0], known[1]), ["half"], **arguments)
    cheap = choose_passes(
        KEY, table, (known[0], known[1]), ["same", "half"], coverage=0.4, **arguments
    )
    assert [each.key for each in cheap.passes] == ["half"]
    with pytest.raises(hesc.ShapeError, match="row by row"):
        choose_passes(KEY, table, (known[0], table), ["even"], **arguments)


def test_people_are_like_those_of_febrl() -> None:
    """Changed and missing values as often, in each field; six deviations are chance."""
    people, count = febrl.load(), 4000
    made = febrl.more(people, count, overlap=0.75, random_state=3)
    again = febrl.more(people, count, overlap=0.75, random_state=3)
    assert made.sent == again.sent
    assert made.compared == again.compared
    assert len(made.true) == 3000
    for side in range(2):
        assert len(np.unique(made.true[:, side])) == 3000
    other = {
        name: [
            made.compared[name][row] for row in set(range(count)) - set(made.true[:, 1].tolist())
        ]
        for name in made.sent
    }
    # Who is not shared has a birthday of his own.
    assert len({*other["date_of_birth"]} & {*made.sent["date_of_birth"]}) < 400
    for name in people.sent:
        shares = []
        for each in (people, made):
            pairs = [(each.sent[name][a], each.compared[name][b]) for a, b in each.true.tolist()]
            shares.append(
                [np.mean([a != b for a, b in pairs]), np.mean([b is None for _, b in pairs])]
            )
        for expected, share in zip(*shares, strict=True):
            spread = math.sqrt(expected * (1 - expected) * (1 / 3000 + 1 / 5000))
            assert abs(expected - share) < 6 * spread + 0.012
    with pytest.raises(hesc.OutOfRangeError, match="overlap"):
        febrl.more(people, 10, overlap=1.5)


def test_made_up_people_are_linked() -> None:
    """In the clear, with passes and threshold that were chosen by FEBRL's own pairs."""
    from hesc.protocols.linkage.demonstration import prepare_people

    prepared = prepare_people(3000, "told", overlap=0.5)
    linker = ClearBlocks(prepared.plan.to_bytes(), prepared.threshold.distance)
    run = link_blocks(prepared.plan, prepared.sender, prepared.comparer, partial(map, linker))
    found = quality(run.matches, prepared.true)
    assert found.f1 >= 0.97
    assert RecordCoder(KEY, febrl.FIELDS).bits == prepared.plan.bits


def test_blockings_that_do_not_fit_are_refused() -> None:
    passes = (Pass("a", 2, 8),)
    with pytest.raises(hesc.ParameterError, match="sizes of 1 blocks"):
        Blocking(passes, "told", (1,), (1, 1))
    with pytest.raises(hesc.ParameterError, match="capacity of their pass"):
        Blocking(passes, "padded", (8, 8), (8, 7))
    with pytest.raises(hesc.ParameterError, match="private sizes alone"):
        Blocking(passes, "told", (8, 8), (8, 8), 1.0)
    with pytest.raises(hesc.ParameterError, match="a key of its own"):
        Blocking(passes * 2, "told", (8,) * 4, (8,) * 4)
    with pytest.raises(hesc.OutOfRangeError):
        Blocking(passes, "told", (8, 1 << 25), (8, 8))
    with pytest.raises(hesc.OutOfRangeError, match="number"):
        place_of(passes, 2)
