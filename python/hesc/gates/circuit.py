"""A circuit of gates as data."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind, several, whole, written
from hesc.gates.words import signed_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from hesc.params.stream_params import StreamParams


@dataclass(frozen=True)
class Precision:
    """What encrypted bits and bootstraps do to noise; variances in units of the torus.

    Attributes:
        bit: of a bit, fresh or from a bootstrap, whichever is larger.
        lookup: what a bootstrap adds before it looks up one table, and two.
        log2_failure: of the probability of a wrong output that a whole circuit may have.

    """

    bit: float
    lookup: tuple[float, float]
    log2_failure: float = -128.0

    @classmethod
    def of(cls, params: StreamParams, log2_failure: float = -128.0) -> Precision:
        """The noise of a parameter set of the scheme "tfhe".

        Raises:
            ParameterError: for a set of another scheme.

        """
        found = params.bit_precision()
        if found is None:
            raise ParameterError(
                f"{params.scheme} has no single bits; take Params.recommended('tfhe')"
            )
        return cls(*found, log2_failure)


class Signs(NamedTuple):
    """Which inputs and outputs of a circuit on signed numbers are in two's complement."""

    inputs: Sequence[bool]
    outputs: Sequence[bool]


def unsigned(native: _native.Circuit) -> Circuit:
    """A circuit on numbers that are not negative."""
    return Circuit(native, signs=Signs([False] * len(native.inputs), [False] * len(native.outputs)))


def _restored(text: str, signs: Signs | None) -> Circuit:
    return Circuit(_native.Circuit.from_bristol(text), signs=signs)


class Circuit(_native.Circuit):
    """Gates, groups of inputs and of outputs. Immutable; call it on numbers.

    Make one with `Builder`, with a function of `hesc.gates`, or from a file in Bristol fashion.
    """

    _signs: Signs | None

    def __new__(cls, native: _native.Circuit, *, signs: Signs | None = None) -> Self:
        """A compiled circuit, and which of its numbers have signs."""
        made = super().__new__(cls, native)
        made._signs = signs
        return made

    @classmethod
    def from_bristol(cls, text: str) -> Circuit:
        """Reads a circuit in Bristol fashion.

        Raises:
            WireError: if the text is no circuit.
            CircuitError: for loops, wires that nothing drives, and unknown gates.

        """
        return cls(_native.Circuit.from_bristol(written(text, "text")))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_bristol(), self._signs)

    def simplified(self) -> Circuit:
        """The same outputs with fewer gates: AND, XOR, MUX and NOT remain."""
        return Circuit(super().simplified(), signs=self._signs)

    def __call__(self, *inputs: ArrayLike, signed: bool = False) -> tuple[NDArray[Any], ...]:
        """What it computes in the clear: an array for each output, shaped as the inputs.

        Inputs are integers, one array for each input of the circuit, all of one shape; a bit stream
        of up to 64 bits is one number. 64 lanes are computed at once. They are not negative, nor
        are results (uint64); where `signed`, numbers are in two's complement (int64), and single
        bits, places and amounts are 0 and more. Circuits that `hesc.gates` has for numbers that
        are not negative refuse that; of others, built or read from a file, all inputs and outputs
        of more than one wire are taken for signed.

        >>> from hesc import gates
        >>> gates.subtractor(8)([3, 5], [5, 3], signed=True)[0].tolist()
        [-2, 2]

        Raises:
            ShapeError: for another number of inputs or different shapes.
            OutOfRangeError: for numbers that are no integers, too wide, or negative and not
                `signed`.
            ParameterError: `signed` for a circuit on numbers that are not negative.

        """
        signs = self._signs or Signs([True] * len(self.inputs), [True] * len(self.outputs))
        if signed and not any([*signs.inputs, *signs.outputs]):
            raise ParameterError(
                "this circuit is for numbers that are not negative; subtractor, negation, absolute "
                "and equal take signed ones, and less, maximum, minimum, largest, sorter, "
                "right_shifter and multiplier do where they are made with signed=True"
            )
        widths = [
            width if signed and of and width > 1 else None
            for width, of in zip(self.inputs, signs.inputs, strict=True)
        ]
        widths += [None] * (len(inputs) - len(widths))
        arrays = [
            words_of(values, width, signed=width is not None) & _mask(width)
            for values, width in zip(inputs, widths, strict=False)
        ]
        shape = arrays[0].shape if arrays else ()
        found = self.evaluate([array.reshape(-1) for array in arrays])
        outputs = [output.reshape(shape) for output in found]
        if not signed:
            return tuple(outputs)
        return tuple(
            signed_of(output, width) if of and 1 < width <= 64 else output
            for output, width, of in zip(outputs, self.outputs, signs.outputs, strict=True)
        )

    def __repr__(self) -> str:
        gates = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        widths = f"{self.inputs} to {self.outputs} wires"
        return f"<hesc.gates.Circuit: {widths}, {gates or 'no gates'}, depth {self.depth}>"


def _mask(width: int | None) -> np.uint64:
    """Words of which these bits count, all of them without a width."""
    return np.uint64((1 << (64 if width is None else min(width, 64))) - 1)


# Wires, at most: as many as memory holds.
_MOST_WIRES = 1 << 24


def _wire(wire: int) -> int:
    return whole(wire, "a wire", 0, _MOST_WIRES)


def _wires(wires: Sequence[int]) -> list[int]:
    return [_wire(wire) for wire in several(wires, "wires", "give a list of their numbers")]


class Builder:
    """Builds a circuit gate by gate; wires are their numbers.

    Args:
        *inputs: wires of each input; `Builder.inputs` has their numbers, lowest bits first.

    """

    def __init__(self, *inputs: int) -> None:
        widths = [whole(width, "the width of an input", 0, _MOST_WIRES) for width in inputs]
        self._native = _native.Builder(widths)
        ends = itertools.accumulate(widths, initial=0)
        self.inputs = [list(range(first, end)) for first, end in itertools.pairwise(ends)]

    def gate(self, name: str, a: int, b: int) -> int:
        """Adds "AND", "OR", "XOR", "NAND", "NOR" or "XNOR"; its wire."""
        return self._native.binary(written(name, "name"), _wire(a), _wire(b))

    def invert(self, a: int) -> int:
        """Adds an inverter; its wire."""
        return self._native.inverter(_wire(a))

    def mux(self, choice: int, one: int, zero: int) -> int:
        """Adds a multiplexer, `one` where `choice` is set; its wire."""
        return self._native.mux(_wire(choice), _wire(one), _wire(zero))

    def constant(self, bit: bool) -> int:
        """Adds a constant; its wire."""
        if not isinstance(bit, bool | np.bool_):
            bit = whole(bit, "bit", 0, 1) == 1
        return self._native.constant(bool(bit))

    def append(self, circuit: Circuit, inputs: Sequence[int]) -> list[list[int]]:
        """Adds another circuit's gates on these wires; its output wires."""
        of_kind(circuit, "the circuit", Circuit, "append a hesc.gates.Circuit")
        return self._native.append(circuit, _wires(inputs))

    def finish(self, *outputs: Sequence[int]) -> Circuit:
        """The circuit with these groups of output wires.

        Raises:
            CircuitError: for a wire that does not exist.

        """
        return Circuit(self._native.finish([_wires(group) for group in outputs]))
