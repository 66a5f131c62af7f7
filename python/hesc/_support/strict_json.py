"""JSON from others: each name once, numbers that are numbers."""

from __future__ import annotations

import json
import math
from typing import Any, Final, Never

from hesc._native import DOCUMENT_PARTS

VALUES: Final = DOCUMENT_PARTS
"""Parts of a text, as `parts` counts them, at most.

Lists and objects of nothing take three bytes each and fifty in memory: of the longest texts that
are read they would fill a gigabyte before anything was refused. What is written here has numbers
in base64, and of parts a few for each name of up to 2^16 features and classes.
"""


def parsed(data: str | bytes, *, most: int = VALUES) -> object:
    """What a text in JSON says.

    Args:
        data: of bounded length, which the caller has checked; bytes are UTF-8.
        most: parts of it at most, where others than hesc write numbers one by one.

    Raises:
        ValueError: it is none, has more than `most` parts, nests too deeply, has a name twice in
            one object, or numbers that are not finite, by name or by their size. Whole numbers have
            as many digits as Python reads.

    """
    if parts(data) > most:
        raise ValueError(f"it has more than {most} parts")
    # Left to itself json guesses at encodings, and asks Python for every half of a surrogate pair.
    text = data if isinstance(data, str) else data.decode()
    try:
        found: object = json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    return found


def parts(data: str | bytes) -> int:
    """No fewer than a text has values, and names of them: what stands between and before these.

    Those inside texts are counted too.
    """
    if isinstance(data, str):
        return 1 + sum(data.count(mark) for mark in ",:[{")
    return 1 + sum(data.count(mark) for mark in (b",", b":", b"[", b"{"))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


def _finite(text: str) -> float:
    """1e999 is JSON, and no number of ours."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number


def _no_number(_: str) -> Never:
    raise ValueError("no finite number")
