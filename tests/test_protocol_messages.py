"""Messages between parties: what is written is read, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hesc import ParameterError, WireError
from hesc.protocols.message import (
    HEAD_BYTES,
    Kind,
    Message,
    MessageWriter,
    message_size,
    name_of,
    read_messages,
)
from tests.lying_messages import refitted

if TYPE_CHECKING:
    from pathlib import Path

PLAN = bytes(range(32))
KINDS = st.sampled_from([Kind.QUERY, Kind.ANSWER, Kind.PIECE])
PARTS = st.lists(st.binary(max_size=40), min_size=1, max_size=5).map(tuple)


def message(
    kind: Kind = Kind.QUERY, samples: int = 3, parts: tuple[bytes, ...] = (b"ab", b"c")
) -> Message:
    query = bytes(16) if kind is Kind.QUERY else name_of(b"a query")
    return Message(kind, PLAN[:16], samples, parts, query)


@given(KINDS, st.integers(1, 2**32 - 1), PARTS)
def test_messages_come_back_as_they_were(
    kind: Kind, samples: int, parts: tuple[bytes, ...]
) -> None:
    sent = message(kind, samples, parts)
    data = sent.to_bytes()
    assert len(data) == message_size(map(len, parts))
    assert Message.from_bytes(data, kind, plan=PLAN, parts=len(parts)) == sent


@given(KINDS, PARTS, st.data())
def test_every_changed_byte_is_noticed(
    kind: Kind, parts: tuple[bytes, ...], data: st.DataObject
) -> None:
    sent = bytearray(message(kind, 3, parts).to_bytes())
    place = data.draw(st.integers(0, len(sent) - 1))
    sent[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(WireError):
        Message.from_bytes(bytes(sent), kind, plan=PLAN)


@given(KINDS, PARTS, st.data())
def test_cut_and_continued_messages_are_refused(
    kind: Kind, parts: tuple[bytes, ...], data: st.DataObject
) -> None:
    sent = message(kind, 3, parts).to_bytes()
    cut = sent[: data.draw(st.integers(0, len(sent) - 1))]
    for other in (cut, sent + data.draw(st.binary(min_size=1, max_size=9))):
        with pytest.raises(WireError):
            Message.from_bytes(other, kind, plan=PLAN)


@given(st.binary(max_size=200))
def test_other_bytes_are_no_message(data: bytes) -> None:
    with pytest.raises(WireError):
        Message.from_bytes(data, Kind.QUERY, plan=PLAN)


@pytest.mark.parametrize("asked", [Kind.QUERY, Kind.ANSWER, Kind.PIECE])
@pytest.mark.parametrize("sent", [Kind.QUERY, Kind.ANSWER, Kind.PIECE])
def test_errors_name_both_kinds(asked: Kind, sent: Kind) -> None:
    data = message(sent).to_bytes()
    if asked is sent:
        assert Message.from_bytes(data, asked, plan=PLAN).kind is sent
        return
    with pytest.raises(WireError) as error:
        Message.from_bytes(data, asked, plan=PLAN)
    assert sent.description in str(error.value)
    assert asked.description in str(error.value)


def test_messages_of_another_plan_are_refused() -> None:
    with pytest.raises(WireError, match="another plan"):
        Message.from_bytes(message().to_bytes(), Kind.QUERY, plan=PLAN[::-1])


def test_another_number_of_parts_is_refused() -> None:
    data = message(parts=(b"ab", b"c")).to_bytes()
    assert Message.from_bytes(data, Kind.QUERY, plan=PLAN).parts == (b"ab", b"c")
    for parts in (1, 3):
        with pytest.raises(WireError, match="other parts"):
            Message.from_bytes(data, Kind.QUERY, plan=PLAN, parts=parts)


@pytest.mark.parametrize(
    "lying",
    [
        message(samples=0),
        message(parts=()),
        message()._replace(query=name_of(b"something")),
    ],
    ids=["no sample", "no part", "a query that names a query"],
)
def test_messages_that_lie_are_refused(lying: Message) -> None:
    with pytest.raises(WireError):
        Message.from_bytes(lying.to_bytes(), Kind.QUERY, plan=PLAN)


def test_lengths_are_those_of_the_parts_whatever_the_checksum() -> None:
    """A byte behind the last part, one too few, and a length that is not there."""
    sent = message().to_bytes()
    for data in (sent + b"x", sent[:-1], sent[:-3], sent[:-4]):
        with pytest.raises(WireError, match=r"follows|ends before"):
            Message.from_bytes(refitted(data), Kind.QUERY, plan=PLAN)


@pytest.mark.parametrize("samples", [-1, 2**32])
def test_what_no_message_holds_is_not_written(samples: int) -> None:
    with pytest.raises(ParameterError, match="send several"):
        message(samples=samples).to_bytes()
    with pytest.raises(ParameterError, match="send several"):
        message(parts=(b"",) * 2**16).to_bytes()


def written(path: Path, messages: list[bytes]) -> Path:
    with path.open("xb") as file:
        writer = MessageWriter(file, PLAN[:16])
        for each in messages:
            writer.write(each)
        writer.finish()
    return path


def read(path: Path, kind: Kind = Kind.QUERY, longest: int = 1 << 20) -> list[bytes]:
    with path.open("rb") as file:
        return list(read_messages(file, kind, PLAN, longest=longest))


def test_files_hold_messages_in_their_order(tmp_path: Path) -> None:
    sent = [message(samples=count).to_bytes() for count in (1, 2, 5)]
    assert read(written(tmp_path / "query", sent)) == sent


def test_every_cut_of_a_file_is_noticed(tmp_path: Path) -> None:
    sent = [message(samples=count).to_bytes() for count in (1, 2)]
    whole = written(tmp_path / "query", sent).read_bytes()
    path = tmp_path / "cut"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(WireError, match="cut"):
            read(path)


def test_files_that_lost_a_message_are_refused(tmp_path: Path) -> None:
    sent = [message(samples=count).to_bytes() for count in (1, 2)]
    whole = written(tmp_path / "query", sent).read_bytes()
    path = tmp_path / "lost"
    for other in (
        whole[len(sent[0]) :],
        whole[: len(sent[0])] + whole[-HEAD_BYTES:],
        sent[0] + whole,
        whole + b"x",
        whole + whole,
        whole[-HEAD_BYTES:],
    ):
        path.write_bytes(other)
        with pytest.raises(WireError):
            read(path)


def test_lengths_are_checked_before_anything_is_read_for_them(tmp_path: Path) -> None:
    data = bytearray(message(parts=(b"abcd",)).to_bytes())
    data[HEAD_BYTES : HEAD_BYTES + 4] = (2**32 - 1).to_bytes(4, "little")
    path = tmp_path / "query"
    path.write_bytes(bytes(data))
    with pytest.raises(WireError, match="longer than one ever is"):
        read(path)
    long = written(tmp_path / "long", [message(parts=(bytes(1000),)).to_bytes()])
    with pytest.raises(WireError, match="longer than one ever is"):
        read(long, longest=999)
