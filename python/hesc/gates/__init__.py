"""Gate circuits: what they compute, how few bootstraps they take, and running them encrypted."""

from hesc._native import Program
from hesc.gates import ciphers, integers
from hesc.gates.answers import BitAnswer
from hesc.gates.circuit import Builder, Circuit, Precision
from hesc.gates.encrypted import (
    EncryptedBits,
    Evaluator,
    concatenate,
    encrypt_bits,
    encrypt_numbers,
)
from hesc.gates.integers import (
    absolute,
    equal,
    largest,
    less,
    maximum,
    minimum,
    negation,
    subtractor,
)
from hesc.gates.library import (
    at_least,
    popcount,
    relu,
    scaled_adder,
    sign,
    stream,
    stream_multiplier,
    weighted_adder,
)
from hesc.gates.words import to_bits, to_numbers

__all__ = [
    "BitAnswer",
    "Builder",
    "Circuit",
    "EncryptedBits",
    "Evaluator",
    "Precision",
    "Program",
    "absolute",
    "at_least",
    "ciphers",
    "concatenate",
    "encrypt_bits",
    "encrypt_numbers",
    "equal",
    "integers",
    "largest",
    "less",
    "maximum",
    "minimum",
    "negation",
    "popcount",
    "relu",
    "scaled_adder",
    "sign",
    "stream",
    "stream_multiplier",
    "subtractor",
    "to_bits",
    "to_numbers",
    "weighted_adder",
]
