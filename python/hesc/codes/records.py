"""Keyed codes of records: who has not the key can neither make them nor try names on them."""

from __future__ import annotations

import hmac
import math
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Never, Protocol

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, one_name, whole, wire_bytes, written
from hesc.codes.rows import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_KEY_BYTES: Final = 32
# Positions that one HMAC of SHA-512 gives, of 32 bits each.
_MOST_HASHES: Final = 16
_DIGEST_BITS: Final = 512
# Records whose sums are in memory.
_AT_ONCE: Final = 1 << 14


class HashKey:
    """A key for codes of records, which both parties have and nobody else.

    It cannot be printed, compared, copied or pickled; `secret_bytes` are for its owners to keep.
    """

    def __init__(self, data: bytes) -> None:
        if not isinstance(data, bytes) or len(data) != _KEY_BYTES:
            raise ParameterError(
                f"a key for codes has {_KEY_BYTES} bytes; HashKey.generate() makes one"
            )
        self._data = data

    @classmethod
    def generate(cls) -> HashKey:
        """A new key, from the system's generator."""
        return cls(secrets.token_bytes(_KEY_BYTES))

    def __reduce__(self) -> Never:
        raise TypeError("a key for codes is not pickled or copied; keep its secret_bytes yourself")

    def secret_bytes(self) -> bytes:
        """The 32 secret bytes of the hashes: whoever has them can try names on codes."""
        return self._data

    def digest(self, message: bytes) -> bytes:
        """HMAC-SHA512 of a message."""
        return hmac.digest(self._data, wire_bytes(message), "sha512")


@dataclass(frozen=True)
class Field:
    """A column of records, and how it counts.

    Attributes:
        name: of the column.
        grams: letters of the pieces that values are cut into.
        positional: whether pieces count with their places, as digits of dates do; others are
            taken with a blank before and after the value.
        hashes: bits that a piece sets, or its weight in a sketch of signs: 1 to 16.

    """

    name: str
    grams: int = 2
    positional: bool = False
    hashes: int = 6

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("a field has the name of a column")
        written(self.name, "the name of a field")
        of_kind(self.positional, "positional", bool, "it is True or False")
        whole(self.grams, "grams", 1, 8)
        whole(self.hashes, "hashes", 1, _MOST_HASHES)

    def text(self, value: str) -> str:
        """A value as it counts, in one of the ways to write it; see `pieces`."""
        text = of_kind(value, "a value", str, "make it text, or None where it is missing")
        return _alike(written(text, "a value")).strip()

    def pieces(self, value: str) -> list[str]:
        """The pieces of a value.

        Alike are upper and lower case, all ways to write a letter in Unicode (composed or not, of
        another width or font), and blanks around the value.
        """
        text = self.text(value)
        if not text:
            return []
        if not self.positional:
            text = f" {text} "
        size = self.grams
        cut = [text[i : i + size] for i in range(max(1, len(text) - size + 1))]
        return [f"{place}:{piece}" for place, piece in enumerate(cut)] if self.positional else cut


def _alike(text: str) -> str:
    """What all ways to write a text have in common.

    Compatibility caseless matching of the Unicode Standard (section 3.13, D146), for which texts
    are decomposed before their case is folded, since marks hide letters from it.
    """
    if text.isascii():
        return text.casefold()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", folded.casefold())


def _hashed_name(field: Field) -> str:
    """The name of a field, however Unicode writes it."""
    return unicodedata.normalize("NFC", field.name)


def _is_missing(value: object) -> bool:
    """Whether a table has no value there: None, NaN, and pandas' NA and NaT."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    # By name: who has no pandas need not have it, and these are like nothing, themselves included.
    kind = type(value)
    return value is None or (
        kind.__module__.startswith("pandas.") and kind.__name__ in {"NAType", "NaTType"}
    )


class Table(Protocol):
    """Columns by name: a dict of lists, a data frame."""

    def __getitem__(self, name: str, /) -> Iterable[object]: ...


def values_of(table: Table, field: Field) -> list[str]:
    """A field of all records as texts, empty ones where a value is missing.

    Raises:
        ParameterError: a column that is not there, half a pair of surrogates.
        OutOfRangeError: a value that is neither text nor missing.

    """
    try:
        found = table[field.name]
    except (KeyError, IndexError, TypeError) as error:
        raise ParameterError(
            f"the table has no column {field.name!r}; give columns by name, as a dict of lists "
            "or a data frame does"
        ) from error
    # A text would be a column of its letters.
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise ParameterError(
            f"column {field.name!r} is of the type {type(found).__name__}; give a list with a "
            "value for each record"
        )
    values = list(found)
    column = []
    for value in values:
        if _is_missing(value):
            column.append("")
            continue
        if not isinstance(value, str):
            raise OutOfRangeError(
                f"column {field.name!r} holds a {type(value).__name__}; make it text as the "
                f"other party does, or None where it is missing"
            )
        column.append(written(str(value), f"column {field.name!r}"))
    return column


class RecordCoder:
    """Codes of records, from the pieces of their fields and a key.

    `"bloom"` sets a few bits for each piece (Schnell, Bachteler and Reiher 2009,
    "Privacy-preserving record linkage using Bloom filters"); `"simhash"` takes the signs of sums of
    pieces' random signs (Charikar 2002). Both by HMAC-SHA512 under the key. Values that differ in
    case, or in how Unicode writes their letters, have one code: see `Field.pieces`. Codes are
    pseudonyms, not encryptions: who has the key tries names on them, and who has many codes counts
    frequent bits.

    Args:
        key: `HashKey`, the same on both sides.
        fields: what counts.
        bits: of a code, a multiple of 64.
        kind: "bloom" or "simhash".

    """

    def __init__(
        self, key: HashKey, fields: Sequence[Field], *, bits: int = 512, kind: str = "bloom"
    ) -> None:
        self._key = of_kind(key, "key", HashKey, "HashKey.generate() makes one")
        if isinstance(fields, str) or not isinstance(fields, Iterable):
            raise ParameterError(
                f"fields are a list of hesc.codes.Field(name); got what is of the type "
                f"{type(fields).__name__}"
            )
        self.fields = tuple(
            of_kind(field, "a field", Field, "hesc.codes.Field(name)") for field in fields
        )
        # As they are hashed: pieces of two fields of one name would be the same.
        names = {_hashed_name(field) for field in self.fields}
        if not self.fields or len(names) != len(self.fields):
            raise ParameterError("fields are one at least, each with a name of its own")
        self.bits = whole(bits, "bits", 64, 1 << 16)
        if self.bits % 64:
            raise ShapeError(f"bits is {bits}; codes have a multiple of 64")
        self.kind = one_name(kind, "kind", ("bloom", "simhash"))

    def encode(self, table: Table) -> NDArray[np.uint64]:
        """The codes of a table's records, a row for each.

        Cost: an HMAC for each different piece, a step for each piece of the different values among
        some thousand records, and a step for each value.

        Raises:
            ParameterError: a column that is not there.
            ShapeError: columns of different lengths, or no record.
            ParameterError: a text that holds half a pair of surrogates.
            OutOfRangeError: a value that is neither text nor missing (None, NaN, pandas' NA).

        """
        columns = [values_of(table, field) for field in self.fields]
        lengths = {len(column) for column in columns}
        if len(lengths) != 1 or lengths == {0}:
            raise ShapeError(f"columns have one length, at least 1; these have {sorted(lengths)}")
        (records,) = lengths
        pieces: list[dict[str, NDArray[np.int32]]] = [{} for _ in self.fields]
        parts = []
        for first in range(0, records, _AT_ONCE):
            sums = np.zeros((1, self.bits), dtype=np.int32)
            ones = np.zeros((1, self.bits // 64), dtype=np.uint64)
            for field, column, known in zip(self.fields, columns, pieces, strict=True):
                # Most values are some other record's too.
                places: dict[str, int] = {}
                part = column[first : first + _AT_ONCE]
                at = [places.setdefault(value, len(places)) for value in part]
                added = np.stack([self._of_value(field, value, known) for value in places])
                if self.kind == "bloom":
                    ones = ones | packed(added > 0)[at]
                else:
                    sums = sums + added[at]
            parts.append(ones if self.kind == "bloom" else packed(sums > 0))
        return np.concatenate(parts)

    def _of_value(
        self, field: Field, value: str, known: dict[str, NDArray[np.int32]]
    ) -> NDArray[np.int32]:
        """What a value adds to each bit's sum; what its pieces add is kept."""
        added = np.zeros(self.bits, dtype=np.int32)
        for piece in field.pieces(value):
            if piece not in known:
                known[piece] = self._of_piece(field, piece)
            added += known[piece]
        return added

    def _of_piece(self, field: Field, piece: str) -> NDArray[np.int32]:
        """What a piece adds to each bit's sum."""
        # The length parts the field's name from the piece.
        name = _hashed_name(field)
        message = f"{self.kind} {self.bits} {len(name)} {name}{piece}".encode()
        if self.kind == "bloom":
            places = np.frombuffer(self._key.digest(message), dtype="<u4")[: field.hashes]
            added = np.zeros(self.bits, dtype=np.int32)
            added[places % self.bits] = 1
            return added
        blocks = range(-(-self.bits // _DIGEST_BITS))
        digests = b"".join(
            self._key.digest(block.to_bytes(4, "little") + message) for block in blocks
        )
        signs = np.unpackbits(np.frombuffer(digests, dtype=np.uint8))[: self.bits]
        return np.asarray(field.hashes * (2 * signs.astype(np.int32) - 1), dtype=np.int32)
