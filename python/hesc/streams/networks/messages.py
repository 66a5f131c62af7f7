"""What client, model owner and server send each other, with a label that says what it is.

A model and a query are both arrays of encrypted streams, and either multiplies with the other:
without the label a server that is given the files in the wrong order answers nonsense, and nobody
learns of it.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from hesc._native import WireError

_MAGIC: Final = b"HESCNET"
LABEL_BYTES: Final = len(_MAGIC) + 1
"""Length of the label, which comes first."""


class Message(Enum):
    """A message between the parties; the value is the last byte of its label."""

    MODEL = 1
    QUERY = 2
    ANSWER = 3
    SAMPLES = 4
    SCORES = 5

    @property
    def description(self) -> str:
        """What it is, in an error."""
        return _DESCRIPTIONS[self]

    @property
    def label(self) -> bytes:
        """The bytes that come before its content."""
        return _MAGIC + bytes([self.value])

    def check(self, head: bytes) -> None:
        """Refuses data whose first `LABEL_BYTES` bytes are not this message's label.

        Raises:
            WireError: another message, or none; it names both.

        """
        if head[:LABEL_BYTES] == self.label:
            return
        found = [other for other in Message if head[:LABEL_BYTES] == other.label]
        is_what = found[0].description if found else "no message between the parties"
        raise WireError(
            f"this is {is_what}, where {self.description} belongs; check the order of the files"
        )

    def open(self, data: bytes) -> bytes:
        """The content behind the label; see `check`."""
        self.check(data)
        return data[LABEL_BYTES:]


_DESCRIPTIONS: Final = {
    Message.MODEL: "an encrypted model",
    Message.QUERY: "an encrypted query",
    Message.ANSWER: "an answer",
    Message.SAMPLES: "an encrypted query to a deployment",
    Message.SCORES: "a deployment's answer",
}
