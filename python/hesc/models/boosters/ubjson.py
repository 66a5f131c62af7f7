"""UBJSON as XGBoost writes it, read strictly and in memory in proportion to its bytes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_TYPES: Final = {
    b"i": ">i1",
    b"U": ">u1",
    b"I": ">i2",
    b"l": ">i4",
    b"L": ">i8",
    b"d": ">f4",
    b"D": ">f8",
}
"""Numbers by their marks, and how they lie in a file."""
_WHOLE: Final = frozenset(b"iUIlL")
_WORDS: Final = {b"T": True, b"F": False, b"Z": None}
_DEEPEST: Final = 32
_VALUES: Final = 1 << 22
"""Values that are no entries of typed lists, at most: each takes more in memory than in a file."""


def parsed(data: bytes) -> object:
    """What bytes in UBJSON say: mappings, lists, arrays for typed lists, texts and numbers.

    Args:
        data: of bounded length, which the caller has checked.

    Raises:
        ValueError: it is none, nests too deeply, has a name twice in one mapping or too many
            values.

    """
    reader = _Bytes(data)
    found = reader.value(reader.take(1), 0)
    if reader.left:
        raise ValueError("something follows upon its end")
    return found


class _Bytes:
    """Bytes of a file, and how far they were read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self._values = _VALUES

    @property
    def left(self) -> int:
        return len(self._data) - self._place

    def take(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise ValueError("it ends too early")
        self._place += count
        return self._data[self._place - count : self._place]

    def value(self, mark: bytes, depth: int) -> Any:
        self._values -= 1
        if depth > _DEEPEST or self._values < 0:
            raise ValueError("it nests too deeply, or has too many values")
        if mark in _WORDS:
            return _WORDS[mark]
        if mark in _TYPES:
            return self._numbers(mark, 1)[0].item()
        if mark == b"S":
            return self._text()
        if mark == b"{":
            return self._mapping(depth)
        if mark == b"[":
            return self._list(depth)
        raise ValueError("it has a mark that is not read")

    def _numbers(self, mark: bytes, count: int) -> Any:
        kind = np.dtype(_TYPES[mark])
        return np.frombuffer(self.take(count * kind.itemsize), dtype=kind)

    def _length(self, mark: bytes) -> int:
        if mark[0] not in _WHOLE:
            raise ValueError("a length is no whole number")
        return int(self._numbers(mark, 1)[0])

    def _text(self) -> str:
        return self.take(self._length(self.take(1))).decode()

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (mark := self.take(1)) != b"}":
            name = self.take(self._length(mark)).decode()
            if name in found:
                raise ValueError("a name appears twice")
            found[name] = self.value(self.take(1), depth + 1)
        return found

    def _list(self, depth: int) -> Any:
        mark, kind = self.take(1), b""
        if mark == b"$":
            kind, mark = self.take(1), self.take(1)
            if kind not in _TYPES or mark != b"#":
                raise ValueError("a typed list is of numbers, and has a length")
        if mark == b"#":
            count = self._length(self.take(1))
            if kind:
                found = self._numbers(kind, count)
                return found.astype(found.dtype.newbyteorder("="))
            if not 0 <= count <= self.left:
                raise ValueError("a list says that it is longer than the file")
            return [self.value(self.take(1), depth + 1) for _ in range(count)]
        values = []
        while mark != b"]":
            values.append(self.value(mark, depth + 1))
            mark = self.take(1)
        return values
