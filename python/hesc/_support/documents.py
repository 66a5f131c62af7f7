"""What travels between the parties of `hesc.ml`: JSON of a fixed schema, arrays exactly.

A reader takes what its schema has and nothing else. It holds no code and names no classes to load.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import DOCUMENT_BYTES, NAME_LETTERS, ParameterError, WireError
from hesc._support.strict_json import VALUES, parsed, parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VERSION: Final = 1
NAME: Final = NAME_LETTERS
"""Letters of a feature's or class's name."""
LARGEST: Final = DOCUMENT_BYTES
"""Bytes of a document."""


def write(kind: str, fields: dict[str, Any]) -> bytes:
    """A document of some kind.

    Raises:
        ParameterError: it is longer than any reader takes, or has more parts.

    """
    head = {"format": _format(kind)}
    data = json.dumps(head | fields, allow_nan=False, separators=(",", ":")).encode()
    if len(data) > LARGEST:
        raise ParameterError(
            f"this {kind} would have {len(data)} bytes, of {LARGEST} that are read at most: take a "
            f"model of fewer numbers (components, features, classes)"
        )
    if parts(data) > VALUES:
        raise ParameterError(
            f"this {kind} would have more than {VALUES} parts, which no reader takes: give fewer "
            f"names of features or classes, or some without commas, colons and brackets"
        )
    return data


def read(data: bytes, kind: str, names: set[str]) -> dict[str, Any]:
    """The fields of a document, which are those named.

    Raises:
        WireError: damaged bytes, another kind or version, fields missing or too many.

    """
    found = _parsed(data, kind)
    if not isinstance(found, dict) or found.pop("format", None) != _format(kind):
        raise WireError(f"this is no {kind} of hesc.ml, version {_VERSION}; check what was sent")
    return exactly(found, names, kind)


def kind_of(data: bytes) -> str:
    """The kind that a document of this version says it is; its fields are not looked at.

    Raises:
        WireError: damaged bytes, another version, or no document.

    """
    found = _parsed(data, "document")
    text = found.get("format") if isinstance(found, dict) else None
    head, tail = "hesc.ml ", f" {_VERSION}"
    if not isinstance(text, str) or not text.startswith(head) or not text.endswith(tail):
        raise WireError(f"this is no document of hesc.ml, version {_VERSION}; check what was sent")
    return text[len(head) : -len(tail)]


def protocol_of(data: bytes, kind: str) -> object:
    """The protocol that a document of some kind names; its other fields are not looked at.

    Raises:
        WireError: damaged bytes, another kind or version, or no document.

    """
    found = _parsed(data, kind)
    if not isinstance(found, dict) or found.get("format") != _format(kind):
        raise WireError(f"this is no {kind} of hesc, version {_VERSION}; check what was sent")
    return found.get("protocol")


def _parsed(data: bytes, kind: str) -> object:
    if not isinstance(data, bytes) or len(data) > LARGEST:
        raise WireError(f"a {kind} is bytes, up to {LARGEST} of them")
    # Other letters are escaped in what is written here. One of them makes all letters of a text
    # that has it four bytes wide in memory.
    if not data.isascii():
        raise WireError(f"this is no {kind} of hesc.ml: it has other letters than those of ASCII")
    try:
        return parsed(data)
    except ValueError as error:
        raise WireError(
            f"this is no {kind} of hesc.ml: it is damaged, or something else"
        ) from error


def exactly(value: object, names: set[str], what: str) -> dict[str, Any]:
    """A mapping that has these names and no others.

    Raises:
        WireError: anything else.

    """
    if not isinstance(value, dict) or set(value) != names:
        raise WireError(f"a {what} of hesc.ml has the fields {', '.join(sorted(names))}")
    return value


def packed(array: NDArray[np.float64]) -> dict[str, Any]:
    """Numbers as their bytes."""
    data = np.ascontiguousarray(array, dtype="<f8").tobytes()
    return {"shape": list(array.shape), "f8": base64.b64encode(data).decode()}


def unpacked(value: object, axes: int, what: str) -> NDArray[np.float64]:
    """Finite numbers of so many axes, none of them empty.

    Raises:
        WireError: anything else.

    """
    fields = exactly(value, {"shape", "f8"}, what)
    shape, text = fields["shape"], fields["f8"]
    sizes = isinstance(shape, list) and all(type(n) is int and 0 < n < 1 << 32 for n in shape)
    if not sizes or len(shape) != axes or not isinstance(text, str):
        raise WireError(f"{what}: an array of {axes} axes was expected")
    data = bytes_of(text, what)
    if len(data) != 8 * math.prod(shape):
        raise WireError(f"{what}: as many numbers as its shape says were expected")
    array = np.frombuffer(data, dtype="<f8").astype(np.float64).reshape(shape)
    if not np.isfinite(array).all():
        raise WireError(f"{what}: finite numbers were expected")
    return array


def base64_of(data: bytes) -> str:
    """Bytes as a text."""
    return base64.b64encode(data).decode()


def bytes_of(value: object, what: str) -> bytes:
    """Bytes that `base64_of` wrote.

    Raises:
        WireError: anything else.

    """
    if not isinstance(value, str):
        raise WireError(f"{what}: bytes in base64 were expected")
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError(f"{what}: damaged bytes") from error
    # Bits behind the last byte may be anything, and a document has one form.
    if base64_of(data) != value:
        raise WireError(f"{what}: damaged bytes, a form that nothing here writes")
    return data


def inner(value: object, what: str) -> bytes:
    """A document inside another one, as its bytes.

    Raises:
        WireError: no text.

    """
    if not isinstance(value, str):
        raise WireError(f"{what} of hesc.ml is a text")
    return value.encode(errors="surrogatepass")


def text_list(value: object, what: str) -> list[str]:
    """Texts.

    Raises:
        WireError: anything else.

    """
    if not isinstance(value, list) or not all(is_name(text) for text in value):
        raise WireError(f"{what}: a list of texts of {NAME} printable letters at most was expected")
    return value


def is_name(text: object) -> bool:
    """Whether a text may name a feature, a class or a party: printable, of a name's length.

    Plans are printed to be read before anybody encrypts. A line feed or an escape sequence in a
    name could forge lines of that table, or hide some.
    """
    return isinstance(text, str) and len(text) <= NAME and text.isprintable()


def feature_names(names: object, inputs: int) -> list[str]:
    """Names of features as a plan has them: one for each and each another, or none.

    Raises:
        ParameterError: anything else.

    """
    given = [] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else None
    if given is None or isinstance(names, str):
        raise ParameterError("names of features are a list of texts, or an empty one")
    named = all(is_name(name) for name in given)
    if given and (len(given) != inputs or (named and len(set(given)) != len(given))):
        raise ParameterError(f"names are {inputs}, one for each feature and each another")
    if not named:
        raise ParameterError(
            f"names of features are texts of {NAME} printable letters at most, without line feeds, "
            "tabs and control characters: rename the columns, or give names="
        )
    return given


def read_names(value: object, inputs: object) -> list[str]:
    """Names of so many features from a document.

    Raises:
        WireError: another number of them, a name twice, or what is no number of features.

    """
    names = text_list(value, "names")
    if type(inputs) is not int or inputs < 1 or len(names) not in {0, inputs}:
        raise WireError("a plan of hesc.ml has a number of features, and as many names or none")
    if len(set(names)) != len(names):
        raise WireError("a plan of hesc.ml has one name for several features")
    return names


def one_of(value: object, allowed: tuple[str, ...], what: str) -> str:
    """One of some texts.

    Raises:
        WireError: anything else.

    """
    if not isinstance(value, str) or value not in allowed:
        raise WireError(f"{what} is one of {', '.join(allowed)}")
    return value


def _format(kind: str) -> str:
    return f"hesc.ml {kind} {_VERSION}"
