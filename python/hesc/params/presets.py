"""The named parameter sets as tables: what each holds, how large it is, what it is for."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, overload

from hesc import _native
from hesc._native import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

# Columns of a table in plain text.
_WIDTH: Final = 120


@dataclass(frozen=True)
class Preset:
    """A named set in numbers, which the set itself gives."""

    name: str
    """For `hesc.Params.preset`."""
    scheme: str
    ring_degree: int | None
    """Coefficients of a polynomial; None without a ring."""
    security: str
    """What it keeps: `assurance` of the set."""
    slots: int
    """Bits in a block, or numbers in a vector."""
    ciphertext_bytes: int
    """Bytes of a block of bits, or of a vector; the key owner's uploads of lattices take half."""
    switching_key_bytes: int | None
    """Bytes of the key for products, or of one rotation; None without such keys."""
    depth: int | None
    """Products in a row; None for streams, whose products are additions: `about` says how many."""
    about: str
    """What it is for."""


class Presets(Sequence[Preset]):
    """A table of named sets, printed as one; iterate over its rows, or take one by its name.

    >>> from hesc import Params
    >>> presets = Params.presets()
    >>> presets["bfv_1024"].ring_degree, "bfv_1024" in presets
    (1024, True)
    >>> [preset.name for preset in presets if preset.slots == 64][0]
    'gm_3072'
    """

    def __init__(self, rows: Sequence[Preset], contents: str) -> None:
        self._rows = tuple(rows)
        self._contents = contents

    @property
    def names(self) -> list[str]:
        """The names of all sets, in order."""
        return [row.name for row in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, key: int | str) -> Preset: ...
    @overload
    def __getitem__(self, key: slice) -> Presets: ...
    def __getitem__(self, key: int | str | slice) -> Preset | Presets:
        if isinstance(key, slice):
            return Presets(self._rows[key], self._contents)
        if isinstance(key, str):
            found = next((row for row in self._rows if row.name == key), None)
            if found is None:
                raise ParameterError(f"there is no set {key!r} in this table; `names` lists all")
            return found
        return self._rows[key]

    def __contains__(self, key: object) -> bool:
        return key in self._rows or any(row.name == key for row in self._rows)

    def __repr__(self) -> str:
        deep = any(row.depth is not None for row in self._rows)
        head = ("name", "ring", "security", self._contents, *["depth"] * deep, "bytes", "for")
        body = [
            (
                row.name,
                "-" if row.ring_degree is None else f"{row.ring_degree}",
                row.security,
                f"{row.slots}",
                *["-" if row.depth is None else f"{row.depth}"] * deep,
                f"{row.ciphertext_bytes:,}",
            )
            for row in self._rows
        ]
        widths = [max(map(len, column)) for column in zip(head[:-1], *body, strict=True)]
        left = (0, 2)
        wide = max(24, _WIDTH - sum(widths) - 2 * len(widths))

        def line(cells: Sequence[str], text: str) -> str:
            padded = (
                cell.ljust(width) if place in left else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            first, *rest = textwrap.wrap(text, wide) or [""]
            margin = " " * (sum(widths) + 2 * len(widths))
            return "\n".join(["  ".join([*padded, first]), *(margin + more for more in rest)])

        lines = [line(head[:-1], head[-1])]
        lines += [line(cells, row.about) for cells, row in zip(body, self._rows, strict=True)]
        return "\n".join(lines)


def table_of(
    contents: str,
    *,
    encoding: str | None,
    read: Callable[[str], tuple[str, int | None, str, int | None]],
) -> Presets:
    """The table of one kind of sets.

    Args:
        contents: what slots hold: "bits", "numbers", or for sets of both kinds "slots".
        encoding: which kind, "streams" or "vectors"; None for both.
        read: scheme, ring degree, assurance and depth of the set of a name.

    """
    rows = []
    for found in _native.presets():
        if encoding in (None, "vectors" if found.is_for_vectors else "streams"):
            scheme, ring_degree, security, depth = read(found.name)
            rows.append(
                Preset(
                    name=found.name,
                    scheme=scheme,
                    ring_degree=ring_degree,
                    security=security,
                    slots=found.slots,
                    ciphertext_bytes=found.ciphertext_bytes,
                    switching_key_bytes=found.switching_key_bytes,
                    depth=depth,
                    about=found.about,
                )
            )
    return Presets(rows, contents)
