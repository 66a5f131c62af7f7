"""JSON from others: each name once, numbers that are numbers."""

from __future__ import annotations

import json
import math
from typing import Any, Never


def parsed(data: str | bytes) -> object:
    """What a text in JSON says.

    Args:
        data: of bounded length, which the caller has checked.

    Raises:
        ValueError: it is none, nests too deeply, has a name twice in one object, or numbers that
            are not finite, by name or by their size. Whole numbers have any size.

    """
    try:
        found: object = json.loads(
            data, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    return found


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
    raise ValueError("no number")
