"""Gate circuits: what they compute, how large they are, how few bootstraps they take."""

from hesc.gates.circuit import Builder, Circuit, Precision, Program
from hesc.gates.library import (
    array_multiplier,
    comparator,
    popcount,
    ripple_carry_adder,
    scaled_adder,
    stream_multiplier,
    weighted_adder,
)

__all__ = [
    "Builder",
    "Circuit",
    "Precision",
    "Program",
    "array_multiplier",
    "comparator",
    "popcount",
    "ripple_carry_adder",
    "scaled_adder",
    "stream_multiplier",
    "weighted_adder",
]
