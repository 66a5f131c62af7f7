"""Fields of plans and models, declared once: what a document says of each, and its strict reader.

A dataclass declares a field of its wire form by `field(metadata=wire.whole(1, 100))`; from these
follow `to_bytes` and `from_bytes` of `Documented`. Fields without metadata are their maker's own
and do not travel: they need a default. Readers get the fields that stand before theirs, so that a
list can be held against the count that it has to have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from hesc._native import MOST_INPUTS, OutOfRangeError, ParameterError, ShapeError, WireError
from hesc._support import documents
from hesc.models import conclusions, fidelity, samples, transforms
from hesc.protocols import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

Earlier = Mapping[str, Any]
"""Fields that were read before, by name."""


class Codec(NamedTuple):
    """How a field stands in a document."""

    write: Callable[[Any], Any]
    """Takes the value, gives what JSON holds."""
    read: Callable[[Any, str, Earlier], Any]
    """Takes what JSON holds, what the field is called in errors, and the fields before it."""


class Written(NamedTuple):
    """How a field is written into a document that the compiled part reads."""

    write: Callable[[Any], Any]
    """Takes the value, gives what JSON holds."""


def declared(codec: Codec | Written) -> dict[str, Any]:
    """Metadata of a field with this codec."""
    return {"wire": codec}


def whole(least: int, most: int) -> dict[str, Any]:
    """A whole number within bounds."""

    def read(value: Any, what: str, _: Earlier) -> int:
        if type(value) is not int or not least <= value <= most:
            raise WireError(f"{what} is a whole number from {least} to {most}")
        return value

    return declared(Codec(int, read))


def wholes(least: int, most: int, *, count: tuple[int, int]) -> dict[str, Any]:
    """A tuple of whole numbers within bounds, of which there are so many."""
    fewest, longest = count

    def read(value: Any, what: str, _: Earlier) -> tuple[int, ...]:
        if not isinstance(value, list) or not fewest <= len(value) <= longest:
            raise WireError(f"{what} are from {fewest} to {longest} whole numbers")
        if not all(type(each) is int and least <= each <= most for each in value):
            raise WireError(f"{what} are whole numbers from {least} to {most}")
        return tuple(value)

    return declared(Codec(list, read))


def truth() -> dict[str, Any]:
    """A truth value."""

    def read(value: Any, what: str, _: Earlier) -> bool:
        if type(value) is not bool:
            raise WireError(f"{what} is true or false")
        return value

    return declared(Codec(bool, read))


def number(least: float, most: float) -> dict[str, Any]:
    """A finite number within bounds."""

    def read(value: Any, what: str, _: Earlier) -> float:
        if type(value) is not float or not math.isfinite(value) or not least <= value <= most:
            raise WireError(f"{what} is a number from {least:g} to {most:g}")
        return value

    return declared(Codec(float, read))


def one_of(allowed: Callable[[Earlier], tuple[str, ...]] | tuple[str, ...]) -> dict[str, Any]:
    """One of some texts, which may follow from the fields before it."""

    def read(value: Any, what: str, earlier: Earlier) -> str:
        names = allowed(earlier) if callable(allowed) else allowed
        return documents.one_of(value, names, what)

    return declared(Codec(str, read))


def counts(*names: str, most: int) -> dict[str, Any]:
    """A mapping of these names to whole numbers from 1 on."""

    def read(value: Any, what: str, _: Earlier) -> dict[str, int]:
        given = documents.exactly(value, set(names), what)
        if not all(type(count) is int and 1 <= count <= most for count in given.values()):
            raise WireError(f"{what} are whole numbers from 1 to {most}")
        return given

    return declared(Codec(dict, read))


def array(axes: int) -> dict[str, Any]:
    """Finite doubles, exactly."""

    def read(value: Any, what: str, _: Earlier) -> NDArray[np.float64]:
        return documents.unpacked(value, axes, what)

    return declared(Codec(documents.packed, read))


def numbers(
    dtype: str, read: Callable[[NDArray[Any] | None, str, Earlier], Any] | None = None
) -> dict[str, Any]:
    """Numbers of one type, little-endian, in base64.

    Args:
        dtype: of a number, as numpy names it.
        read: takes the numbers (or None, which is refused without it), what the field is called in
            errors and the fields before it; gives the value. Without it the numbers are that.

    """
    kind = np.dtype(dtype)

    def write(values: NDArray[Any] | None) -> str | None:
        return None if values is None else documents.base64_of(values.astype(kind).tobytes())

    def inner(value: Any, what: str, earlier: Earlier) -> Any:
        found = None
        if value is not None or read is None:
            data = documents.bytes_of(value, what)
            if len(data) % kind.itemsize:
                raise WireError(f"{what} are numbers of {kind.itemsize} bytes each")
            found = np.frombuffer(data, dtype=kind)
        return found if read is None else read(found, what, earlier)

    return declared(Codec(write, inner))


def _write_ranges(ranges: tuple[NDArray[np.float64], NDArray[np.float64]]) -> dict[str, Any]:
    return {"low": documents.packed(ranges[0]), "high": documents.packed(ranges[1])}


def _read_ranges(
    value: Any, what: str, _: Earlier
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    given = documents.exactly(value, {"low", "high"}, what)
    low, high = (documents.unpacked(given[name], 1, what) for name in ("low", "high"))
    if len(low) != len(high) or not samples.are_ranges(low, high):
        raise WireError(f"{what} are a least and a greatest value for each feature")
    return low, high


def encoded(write: Callable[[Any], bytes], read: Callable[[bytes], Any]) -> dict[str, Any]:
    """An object with a wire form of its own, in base64."""

    def inner(value: Any, what: str, _: Earlier) -> Any:
        return read(documents.bytes_of(value, what))

    return declared(Codec(lambda value: documents.base64_of(write(value)), inner))


INPUTS = whole(1, MOST_INPUTS)
"""Features of a sample."""
NAMES = declared(
    Codec(list, lambda value, _, earlier: documents.read_names(value, earlier["inputs"]))
)
"""Names of `inputs` features, or none."""
STEPS = declared(
    Codec(
        transforms.described,
        lambda value, _, earlier: transforms.read(value, earlier["inputs"])[0],
    )
)
"""The client's transforms of `inputs` features."""
CLASSES = declared(Codec(labels.described, lambda value, *_: labels.read(value)))
"""Names of classes."""
SCORED_CLASSES = declared(
    Codec(
        labels.described_or_none,
        lambda value, *_: None if value is None else labels.read(value),
    )
)
"""Names of a classifier's classes; None of regressors. `labels.check_scores` holds their number."""
LINK = one_of(conclusions.LINKS)
"""How scores become probabilities, or predictions."""
CALIBRATION = declared(
    Codec(
        lambda value: None if value is None else value.described(),
        lambda value, *_: None if value is None else conclusions.read_calibration(value),
    )
)
"""Functions of scores whose values are shares of classes, or None."""
FIDELITY = declared(
    Codec(
        lambda value: None if value is None else value.described(),
        lambda value, *_: None if value is None else fidelity.read(value),
    )
)
"""How near what is computed comes to the fitted model, or None."""
RANGES = declared(Codec(_write_ranges, _read_ranges))
"""The least and the greatest value of each encrypted feature."""


class Documented:
    """A dataclass whose declared fields are its wire form: a document of one kind and protocol."""

    document: ClassVar[str]
    """Kind of the document: "plan", "server", "owner"."""
    protocol: ClassVar[str]
    """Name of the protocol, as in `hesc.protocols.registry`."""

    def check(self) -> None:
        """Refuses fields that do not fit together, as they come from a document.

        Raises:
            WireError: naming which.

        """

    def to_bytes(self) -> bytes:
        """The wire form."""
        own: Any = self
        found = {
            field.name: field.metadata["wire"].write(getattr(self, field.name))
            for field in fields(own)
            if "wire" in field.metadata
        }
        return documents.write(self.document, {"protocol": self.protocol} | found)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads what `to_bytes` wrote; strict.

        Raises:
            WireError: damaged bytes, another document's or protocol's, fields that do not fit.

        """
        own: Any = cls
        codecs = {
            field.name: field.metadata["wire"] for field in fields(own) if "wire" in field.metadata
        }
        given = documents.read(data, cls.document, {"protocol", *codecs})
        if given["protocol"] != cls.protocol:
            raise WireError(
                f"this {cls.document} is of another protocol than {cls.protocol}; check what was "
                f"sent"
            )
        read: dict[str, Any] = {}
        for name, codec in codecs.items():
            read[name] = codec.read(given[name], f"{name} of a {cls.document}", read)
        try:
            found = cls(**read)
        except (ParameterError, ShapeError, OutOfRangeError) as error:
            raise WireError(f"the fields of this {cls.document} do not fit: {error}") from error
        found.check()
        return found
