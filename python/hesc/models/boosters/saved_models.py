"""Saved models of XGBoost, LightGBM and CatBoost as what they compute.

A file is read as numbers, without the library that wrote it: nothing in it runs, and reading takes
memory in proportion to its bytes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from hesc._native import ParameterError, WireError
from hesc._support.new_files import read_whole
from hesc._support.strict_json import parsed
from hesc.models.boosters import catboost, lightgbm, ubjson, xgboost

if TYPE_CHECKING:
    from hesc.models.described import Described

LARGEST: Final = 1 << 26
"""Bytes of a file."""
_PARTS: Final = 1 << 22
"""Values of a file in JSON; in UBJSON there may be more, since its lists are as long in memory."""
_STRANGERS: Final = {
    b"\x80": "a pickle runs what it holds, and is never loaded: ",
    b"binf": "XGBoost's old binary format is not read: ",
    b"CBM1": "CatBoost's binary format is not read: ",
}
"""What other files begin with, and why they are refused."""
_NAMES: Final = re.compile(rb'\s*\{\s*"(learner|version|features_info|model_info)"\s*:')
"""Beginnings of saved models in JSON."""
HOW: Final = (
    "save the model by save_model as .json or .ubj (XGBoost), .txt (LightGBM), or with "
    "format='json' (CatBoost)"
)


class Saved(NamedTuple):
    """A saved model."""

    library: str
    """The module that wrote it."""
    model: Described
    """What it computes."""


def bytes_of(source: str | Path | bytes) -> bytes:
    """The bytes of a saved model, from a path or as they are.

    Raises:
        ParameterError: neither.
        WireError: more than `LARGEST`.
        OSError: a path that cannot be read.

    """
    if isinstance(source, str | Path):
        return read_whole(source, LARGEST, "a saved model")
    if not isinstance(source, bytes):
        raise ParameterError(
            f"a saved model is a path or bytes, or a Booster of XGBoost or LightGBM; this is a "
            f"{type(source).__name__}"
        )
    if len(source) > LARGEST:
        raise WireError(f"a saved model has {LARGEST} bytes at most here; this has {len(source)}")
    return source


def read(data: bytes, *, rounds: int | None = None) -> Saved:
    """The model of a saved file, of whichever of the three libraries.

    Args:
        data: of `bytes_of`.
        rounds: of boosting that count, of XGBoost alone: see `xgboost.described`.

    Raises:
        WireError: a damaged or hostile file, or none of these.
        ParameterError: another format, or what is not computed here, with what would do.
        OutOfRangeError: numbers that are not finite.

    """
    if data.startswith(lightgbm.BEGIN):
        return Saved("lightgbm", lightgbm.described(data))
    document = _document(data)
    if isinstance(document, dict) and "learner" in document:
        return Saved("xgboost", xgboost.described(document, rounds=rounds))
    if isinstance(document, dict) and "features_info" in document:
        return Saved("catboost", catboost.described(document))
    raise ParameterError(
        f"this file is no saved model of XGBoost, LightGBM or CatBoost that can be read back: {HOW}"
    )


def begins_as_json(head: bytes) -> bool:
    """Whether a text in JSON begins with a name as XGBoost and CatBoost save models."""
    return _NAMES.match(head) is not None


def _document(data: bytes) -> object:
    for begin, why in _STRANGERS.items():
        if data.startswith(begin):
            raise ParameterError(f"{why}{HOW}")
    try:
        # In UBJSON the first name has its length in binary, in JSON its quotation marks.
        if data[:1] == b"{" and data[1:2] in {b"L", b"l", b"I", b"i", b"U"}:
            return ubjson.parsed(data)
        return parsed(data, most=_PARTS)
    except ValueError as error:
        raise WireError(
            f"this is no saved model, or it is damaged, or has more than {_PARTS} values: {HOW}"
        ) from error
