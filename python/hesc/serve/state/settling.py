"""Answers and what they cost, in one transaction for several, and answers that go for others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from hesc.serve.responses import RefusedError
from hesc.serve.state.database import AnotherStateError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from hesc.serve.state.database import SqlRows

_AT_ONCE: Final = 64
"""Answers that go are looked for by so many."""


class Charge(NamedTuple):
    """What an answer takes of a budget."""

    kind: str
    """Whose: of a "token", of a "model", or of its "weights"."""
    name: str
    """Which of them."""
    amount: int
    most: int | None
    """What may be given in all; None where it is counted alone."""


class Entry(NamedTuple):
    """An answer that waits to be kept and counted."""

    name: bytes
    answer: bytes
    charges: Sequence[Charge]
    outcome: Future[tuple[bytes, bool]]


class Counters(NamedTuple):
    """The one row of `state`."""

    serial: int
    kept: int
    arrived: int


def counters(rows: SqlRows, least: int = 0) -> Counters:
    """The counters, which are this transaction's until it ends: all that writes begins here.

    Raises:
        AnotherStateError: fewer answers than `least` were settled ever.

    """
    found = Counters(*rows.locked("SELECT serial, kept, arrived FROM state"))
    if found.serial < least:
        raise AnotherStateError(
            "the state has fewer answers than it had: an old one is in its place"
        )
    return found


def settled(
    rows: SqlRows, entries: Sequence[Entry], most: int, least: int
) -> tuple[list[tuple[bytes, bool] | RefusedError], int]:
    """What becomes of each entry, in their order, and answers settled ever.

    Args:
        rows: a transaction.
        entries: answers; nothing is written of one that is refused.
        most: bytes of answers that are kept.
        least: answers that were settled when somebody looked last.

    Raises:
        AnotherStateError: there are fewer.

    """
    serial, kept, _ = counters(rows, least)
    outcomes, fresh, taken = _decided(rows, entries)
    if fresh:
        named = in_jobs(rows, list(fresh))
        places = {name: serial + at for at, name in enumerate(fresh, 1)}
        rows.many(
            "INSERT INTO given (kind, name, given) VALUES (?, ?, ?) "
            "ON CONFLICT (kind, name) DO UPDATE SET given = given.given + excluded.given",
            [(*budget, amount) for budget, amount in taken.items()],
        )
        rows.many(
            "INSERT INTO answers (place, name, bytes, answer) VALUES (?, ?, ?, ?)",
            [(places[name], name, len(answer), answer) for name, answer in fresh.items()],
        )
        spare = [(places[name], len(fresh[name])) for name in fresh if name not in named]
        rows.many("INSERT INTO spare (place, bytes) VALUES (?, ?)", spare)
        for name in named:
            rows.do(
                "DELETE FROM queries WHERE place IN (SELECT place FROM jobs WHERE name = ?)", name
            )
            rows.do("UPDATE jobs SET waits = 0 WHERE name = ?", name)
        kept = evicted(rows, kept + sum(size for _, size in spare), most)
        serial += len(fresh)
        rows.do("UPDATE state SET serial = ?, kept = ?", serial, kept)
    return outcomes, serial


def _decided(
    rows: SqlRows, entries: Sequence[Entry]
) -> tuple[list[tuple[bytes, bool] | RefusedError], dict[bytes, bytes], Counter[tuple[str, str]]]:
    """What becomes of entries, answers that are new, and what these take."""
    names = list({entry.name for entry in entries})
    answers = dict(rows.among("SELECT name, answer FROM answers WHERE name IN", names))
    budgets = sorted({charge[:2] for entry in entries for charge in entry.charges})
    given = {budget: given_so_far(rows, *budget) for budget in budgets}
    outcomes: list[tuple[bytes, bool] | RefusedError] = []
    fresh: dict[bytes, bytes] = {}
    taken: Counter[tuple[str, str]] = Counter()
    for name, answer, charges, _ in entries:
        if name in answers:
            outcomes.append((answers[name], True))
            continue
        own: Counter[tuple[str, str]] = Counter()
        for charge in charges:
            own[charge[:2]] += charge.amount
        if any(
            most is not None and given[kind, of] + taken[kind, of] + own[kind, of] > most
            for kind, of, _, most in charges
        ):
            outcomes.append(RefusedError("budget"))
            continue
        taken.update(own)
        answers[name] = fresh[name] = answer
        outcomes.append((answer, False))
    return outcomes, fresh, taken


def given_so_far(rows: SqlRows, kind: str, name: str) -> int:
    """What was given on a budget."""
    return rows.one("SELECT given FROM given WHERE kind = ? AND name = ?", kind, name) or 0


def evicted(rows: SqlRows, kept: int, most: int) -> int:
    """Bytes of answers that are kept when the oldest have gone, down to the most there may be."""
    while kept > most:
        gone = []
        for place, size in rows.all(
            f"SELECT place, bytes FROM spare ORDER BY place LIMIT {_AT_ONCE}"  # noqa: S608
        ):
            gone.append((place,))
            kept -= size
            if kept <= most:
                break
        if not gone:
            break
        rows.many("DELETE FROM answers WHERE place = ?", gone)
        rows.many("DELETE FROM spare WHERE place = ?", gone)
    return kept


def in_jobs(rows: SqlRows, names: list[bytes]) -> set[bytes]:
    """Those of some names that jobs have."""
    found = rows.among("SELECT DISTINCT name FROM jobs WHERE name IN", names)
    return {name for (name,) in found}
