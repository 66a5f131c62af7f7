"""Random circuits, and what they compute by Python's own integers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hesc import gates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

# Integers hold the bits of all lanes side by side; the last argument is one of ones.
_GATES: Final[dict[str, Callable[[int, int, int], int]]] = {
    "AND": lambda a, b, _: a & b,
    "OR": lambda a, b, _: a | b,
    "XOR": lambda a, b, _: a ^ b,
    "NAND": lambda a, b, ones: ones ^ (a & b),
    "NOR": lambda a, b, ones: ones ^ (a | b),
    "XNOR": lambda a, b, ones: ones ^ a ^ b,
}


@dataclass
class Netlist:
    """A circuit written down twice: for hesc's builder, and as functions of the wires before."""

    widths: list[int]
    builder: gates.Builder
    wires: list[int] = field(default_factory=list)
    """Numbers of the builder's wires, in the order of `steps` behind the inputs."""
    steps: list[Callable[[list[int], int], int]] = field(default_factory=list)
    outputs: list[list[int]] = field(default_factory=list)
    """Places in `wires`."""

    def evaluate(self, inputs: Sequence[Sequence[int]]) -> list[list[int]]:
        """The numbers of each output, for those of each input, lane by lane."""
        lanes = range(len(inputs[0]))
        ones = (1 << len(lanes)) - 1
        bits = [
            sum((int(number) >> place & 1) << lane for lane, number in enumerate(numbers))
            for numbers, width in zip(inputs, self.widths, strict=True)
            for place in range(width)
        ]
        for step in self.steps:
            bits.append(step(bits, ones))
        return [
            [sum((bits[w] >> lane & 1) << place for place, w in enumerate(group)) for lane in lanes]
            for group in self.outputs
        ]


def random_netlist(rng: np.random.Generator, size: int) -> tuple[gates.Circuit, Netlist]:
    """A circuit of some gates, with wires that nothing reads and gates of one wire twice."""
    widths = [int(width) for width in rng.integers(1, 6, rng.integers(1, 4))]
    netlist = Netlist(widths, gates.Builder(*widths))
    netlist.wires = [wire for group in netlist.builder.inputs for wire in group]
    for _ in range(size):
        _add(netlist, rng)
    groups = rng.integers(1, 4)
    netlist.outputs = [
        [int(w) for w in rng.integers(0, len(netlist.wires), rng.integers(1, 9))]
        for _ in range(groups)
    ]
    outputs = [[netlist.wires[w] for w in group] for group in netlist.outputs]
    return netlist.builder.finish(*outputs), netlist


def _add(netlist: Netlist, rng: np.random.Generator) -> None:
    builder, wires = netlist.builder, netlist.wires
    # Late wires more often: deep circuits.
    i, j, k = (len(wires) - 1 - int(len(wires) * rng.random() * rng.random()) for _ in range(3))
    kind = int(rng.integers(0, 11))
    if kind < 6:
        name, compute = list(_GATES.items())[kind]
        wires.append(builder.gate(name, wires[i], wires[j]))
        netlist.steps.append(lambda bits, ones: compute(bits[i], bits[j], ones))
    elif kind < 8:
        wires.append(builder.mux(wires[i], wires[j], wires[k]))
        netlist.steps.append(lambda bits, ones: bits[i] & bits[j] | (ones ^ bits[i]) & bits[k])
    elif kind == 8:
        wires.append(builder.invert(wires[i]))
        netlist.steps.append(lambda bits, ones: ones ^ bits[i])
    elif kind == 9:
        bit = int(rng.integers(0, 2))
        wires.append(builder.constant(bool(bit)))
        netlist.steps.append(lambda _, ones: ones * bit)
    else:
        # Another circuit's gates: two bits, added.
        (total,) = builder.append(gates.integers.adder(1, adder="ripple"), [wires[i], wires[j]])
        wires.extend(total)
        netlist.steps.append(lambda bits, _: bits[i] ^ bits[j])
        netlist.steps.append(lambda bits, _: bits[i] & bits[j])
