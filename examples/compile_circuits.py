"""Gate circuits and the bootstraps they take: gate by gate, and compiled.

Run: python examples/compile_circuits.py [--width 8]
"""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

import hesc
from hesc import gates


def main() -> None:
    """A row for each circuit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=8, help="bits of a number")
    width = parser.parse_args().width
    length = 2**width
    circuits = {
        f"adder, {width} bits": gates.integers.adder(width, adder="ripple"),
        f"multiplier, {width} bits": gates.integers.multiplier(width),
        f"comparator, {width} bits": gates.less(width),
        f"AND product, {length} bits": gates.stream_multiplier("AND", length),
        f"XOR product, {length} bits": gates.stream_multiplier("XOR", length),
        f"ones of {length} bits": gates.popcount(length),
    }
    precision = gates.Precision.of(hesc.Params.recommended("tfhe"))
    table = Table("circuit", "gates", "depth", "bootstraps", "compiled", "layers", "log2 failure")
    for name, circuit in circuits.items():
        program = circuit.compile(precision)
        table.add_row(
            name,
            str(sum(circuit.counts.values()) - circuit.counts.get("CONSTANT", 0)),
            str(circuit.depth),
            str(circuit.bootstraps),
            str(program.bootstraps),
            str(len(program.layers)),
            f"{program.log2_failure:.0f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
