"""A circuit of gates as data."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Never

import numpy as np

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind, several, whole, written
from hesc.gates.words import signed_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.params.streams import StreamParams


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
        found = params.native.bit_precision()
        if found is None:
            raise ParameterError(
                f"{params.scheme} has no single bits; take Params.recommended('tfhe')"
            )
        return cls(*found, log2_failure)


class Program:
    """A circuit as bootstraps and sums of ciphertexts; `Circuit.compile` makes one."""

    def __init__(self, native: _native.Program) -> None:
        self._native = native

    @property
    def native(self) -> _native.Program:
        """The compiled object, for this package's own modules."""
        return self._native

    @property
    def inputs(self) -> list[int]:
        """Wires of each input."""
        return self._native.inputs

    @property
    def bootstraps(self) -> int:
        """Bootstraps it takes."""
        return self._native.bootstraps

    @property
    def layers(self) -> list[int]:
        """Bootstraps that can run side by side, layer after layer."""
        return self._native.layers

    @property
    def log2_failure(self) -> float:
        """`log2` of the probability that any output is wrong, at most."""
        return self._native.log2_failure

    @property
    def widest_sum(self) -> int:
        """Most ciphertexts that an output adds."""
        return self._native.widest_sum

    def __reduce__(self) -> Never:
        raise TypeError("a Program is not pickled or copied; send the Circuit and compile it there")

    def __repr__(self) -> str:
        return (
            f"<hesc.gates.Program: {self.bootstraps} bootstraps in {len(self.layers)} layers, "
            f"wrong with probability below 2^{self.log2_failure:.0f}>"
        )


class Signs(NamedTuple):
    """Which inputs and outputs of a circuit on signed numbers are in two's complement."""

    inputs: Sequence[bool]
    outputs: Sequence[bool]


def unsigned(native: _native.Circuit) -> Circuit:
    """A circuit on numbers that are not negative."""
    return Circuit(native, signs=Signs([False] * len(native.inputs), [False] * len(native.outputs)))


def _restored(text: str, signs: Signs | None) -> Circuit:
    return Circuit(_native.Circuit.from_bristol(text), signs=signs)


class Circuit:
    """Gates, groups of inputs and of outputs. Immutable; call it on numbers.

    Make one with `Builder`, with a function of `hesc.gates`, or from a file in Bristol fashion.
    """

    def __init__(self, native: _native.Circuit, *, signs: Signs | None = None) -> None:
        self._native = native
        self._signs = signs

    @classmethod
    def from_bristol(cls, text: str) -> Circuit:
        """Reads a circuit in Bristol fashion.

        Raises:
            WireError: if the text is no circuit.
            CircuitError: for loops, wires that nothing drives, and unknown gates.

        """
        return cls(_native.Circuit.from_bristol(written(text, "text")))

    def to_bristol(self) -> str:
        """The circuit in Bristol fashion; gates that the format lacks become several."""
        return self._native.to_bristol()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_bristol(), self._signs)

    @property
    def native(self) -> _native.Circuit:
        """The compiled object, for this package's own modules."""
        return self._native

    @property
    def inputs(self) -> list[int]:
        """Wires of each input."""
        return self._native.inputs

    @property
    def outputs(self) -> list[int]:
        """Wires of each output."""
        return self._native.outputs

    @property
    def counts(self) -> dict[str, int]:
        """Gates by name, those that occur."""
        return {name: count for name, count in self._native.counts() if count}

    @property
    def depth(self) -> int:
        """Gates on the longest path; inverters and constants are free."""
        return self._native.depth

    @property
    def bootstraps(self) -> int:
        """Bootstraps gate by gate: one for each gate of two inputs, two for a multiplexer."""
        return self._native.bootstraps

    @property
    def products(self) -> int:
        """Products where exclusive ors are sums, as modulo 2: all gates but XOR, XNOR and NOT."""
        return self._native.products

    @property
    def product_depth(self) -> int:
        """Products that follow each other on the path with most of them."""
        return self._native.product_depth

    def simplified(self) -> Circuit:
        """The same outputs with fewer gates: AND, XOR, MUX and NOT remain."""
        return Circuit(self._native.simplified(), signs=self._signs)

    def compile(self, precision: Precision, *, gate_by_gate: bool = False) -> Program:
        """The circuit as bootstraps and sums of ciphertexts, as few bootstraps as there need be.

        Args:
            precision: the noise; `Precision.of` gives it for a parameter set.
            gate_by_gate: a bootstrap for each gate instead, as gate libraries have it, for
                comparison.

        Raises:
            NoiseBudgetError: if the noise leaves no room for a gate, or for all together.

        """
        return Program(
            self._native.compile(
                bit=precision.bit,
                lookup=precision.lookup,
                log2_failure=precision.log2_failure,
                gate_by_gate=gate_by_gate,
            )
        )

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
        found = self._native.evaluate([array.reshape(-1) for array in arrays])
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
        return self._native.append(circuit.native, _wires(inputs))

    def finish(self, *outputs: Sequence[int]) -> Circuit:
        """The circuit with these groups of output wires.

        Raises:
            CircuitError: for a wire that does not exist.

        """
        return Circuit(self._native.finish([_wires(group) for group in outputs]))
