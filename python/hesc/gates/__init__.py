"""Gate circuits: what they compute, how few bootstraps they take, and running them encrypted."""

from hesc.gates import ciphers, integers
from hesc.gates.circuit import Builder, Circuit, Precision, Program
from hesc.gates.encrypted import (
    BitAnswer,
    EncryptedBits,
    EvaluationKey,
    Evaluator,
    concatenate,
    encrypt_bits,
    encrypt_numbers,
    to_bits,
    to_numbers,
)
from hesc.gates.library import (
    array_multiplier,
    at_least,
    comparator,
    popcount,
    relu,
    ripple_carry_adder,
    scaled_adder,
    sign,
    stream,
    stream_multiplier,
    weighted_adder,
)

__all__ = [
    "BitAnswer",
    "Builder",
    "Circuit",
    "EncryptedBits",
    "EvaluationKey",
    "Evaluator",
    "Precision",
    "Program",
    "array_multiplier",
    "at_least",
    "ciphers",
    "comparator",
    "concatenate",
    "encrypt_bits",
    "encrypt_numbers",
    "integers",
    "popcount",
    "relu",
    "ripple_carry_adder",
    "scaled_adder",
    "sign",
    "stream",
    "stream_multiplier",
    "to_bits",
    "to_numbers",
    "weighted_adder",
]
