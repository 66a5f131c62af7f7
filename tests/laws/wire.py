"""Which bytes of a message are the same each time, and whether they depend on the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RUNS: Final = 16
"""Messages that are made of each data set."""


def messages(make: Callable[[], bytes], runs: int = RUNS) -> NDArray[np.uint8]:
    """A message again and again, in rows; all have one length."""
    sent = [make() for _ in range(runs)]
    assert len({len(data) for data in sent}) == 1
    return np.array([np.frombuffer(data, dtype=np.uint8) for data in sent])


def check_ciphertexts_only(
    name: str, one: Callable[[], bytes], other: Callable[[], bytes], *, head: int = 4096
) -> None:
    """Messages of two data sets differ in the words of ciphertexts alone.

    Bytes that stay as they are from one encryption of some data to the next are no ciphertext; they
    must be the same for other data. A byte of a ciphertext with two values, each with a half, stays
    for both and differs with probability 2^-31, and other bytes do so less often: there are at most
    a few hundred such in a message and fewer than 200 messages in all laws, so that a run raises a
    false alarm once in 30,000.

    Args:
        name: the message.
        one: makes it of some data.
        other: makes it of others, of the same shape and range.
        head: how many bytes may stay besides half of them.

    """
    first, second = messages(one), messages(other)
    assert first.shape == second.shape, name
    constant = [np.all(runs == runs[0], axis=0) for runs in (first, second)]
    told = constant[0] & constant[1] & (first[0] != second[0])
    assert not told.any(), (name, np.flatnonzero(told))
    # Headers are there, and ciphertexts are most of it: none is sent twice.
    assert 20 < np.count_nonzero(constant[0]) < first.shape[1] / 2 + head, name


def check_no_word_repeats(name: str, make: Callable[[], bytes], *, head: int) -> None:
    """Nothing but a head stays from one message to the next: each is made of fresh randomness."""
    runs = messages(make, 6)
    stays = np.all(runs == runs[0], axis=0)
    assert 0 < np.count_nonzero(stays) < head, (name, np.count_nonzero(stays))
