"""Random circuits, in the clear and on encrypted bits, against Python's integers."""

from __future__ import annotations

import operator
import pickle
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc import gates
from hesc.gates.secret import decrypt_bits, decrypt_outputs
from tests.laws.netlists import Netlist, random_netlist
from tests.laws.programs import (
    FLAG,
    OPERAND,
    Programs,
    between,
    drive,
    long_share,
    one_of,
    operation,
    search,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Kept(NamedTuple):
    """A circuit, and the netlist that it was made of."""

    circuit: gates.Circuit
    netlist: Netlist


# Noise of a secure set, and of none: programs of many shapes.
PRECISIONS = tuple(
    gates.Precision.of(hesc.Params.preset(name), log2_failure)
    for name, log2_failure in (("tfhe_2048", -128.0), ("tfhe_2048_40", -40.0))
)


class Circuits(Programs[Kept]):
    """Circuits, however they were rewritten, compute what their netlists do: always."""

    name = "circuits in the clear"

    def start(self) -> None:
        self.build(3)

    def agree(self, circuit: gates.Circuit, netlist: Netlist) -> None:
        """The circuit on random numbers, in lanes of any shape, beyond 64 of them too."""
        shapes: tuple[tuple[int, ...], ...] = ((), (3,), (2, 33), (65,))
        shape = shapes[self.rng.integers(len(shapes))]
        inputs = [self.rng.integers(0, 2**width, shape) for width in netlist.widths]
        outputs = circuit(*inputs)
        expected = netlist.evaluate([np.reshape(numbers, -1).tolist() for numbers in inputs])
        for output, numbers in zip(outputs, expected, strict=True):
            assert output.shape == shape
            assert output.dtype == np.uint64
            assert output.reshape(-1).tolist() == numbers

    def build(self, size: int) -> None:
        circuit, netlist = random_netlist(self.rng, size)
        assert circuit.inputs == netlist.widths
        assert circuit.outputs == [len(group) for group in netlist.outputs]
        self.agree(circuit, netlist)
        self.keep(Kept(circuit, netlist))

    @operation(size=between(0, 60))
    def netlist(self, size: int) -> None:
        self.build(size)

    @operation(a=OPERAND, how=one_of("bristol", "pickle", "simplified", "again"))
    def rewritten(self, a: int, how: str) -> None:
        circuit, netlist = self.pick(a)
        ways: dict[str, Callable[[], gates.Circuit]] = {
            "bristol": lambda: gates.Circuit.from_bristol(circuit.to_bristol()),
            "pickle": lambda: pickle.loads(pickle.dumps(circuit)),  # noqa: S301 - our own
            "simplified": circuit.simplified,
            "again": lambda: circuit,
        }
        other = ways[how]()
        self.agree(other, netlist)
        if how == "simplified":
            assert set(other.counts) <= {"AND", "XOR", "MUX", "NOT", "CONSTANT"}, other.counts
        self.keep(Kept(other, netlist))

    @operation(a=OPERAND, which=one_of(0, 1), gate_by_gate=FLAG)
    def compiled(self, a: int, which: int, gate_by_gate: bool) -> None:
        """Compilation keeps its promise, takes no more than gate by gate, and changes nothing."""
        circuit, netlist = self.pick(a)
        program = circuit.compile(PRECISIONS[which], gate_by_gate=gate_by_gate)
        assert program.inputs == circuit.inputs
        assert program.log2_failure <= PRECISIONS[which].log2_failure
        assert sum(program.layers) == program.bootstraps
        if gate_by_gate:
            assert program.bootstraps <= circuit.bootstraps
        self.agree(circuit, netlist)
        self.agreed()

    @operation(kind=between(0, 10), width=between(1, 20))
    def library(self, kind: int, width: int) -> None:
        """The circuits that are there, of any width, against integers."""
        circuit, expected, widths = library(kind, width)
        inputs = [self.rng.integers(0, 2**w, 70, dtype=np.uint64) for w in widths]
        (found,) = circuit(*inputs)
        assert found.tolist() == [
            expected(*(int(n) for n in lane)) for lane in zip(*inputs, strict=True)
        ]
        self.agreed()

    @operation(a=OPERAND, kind=one_of("wide", "negative", "fraction", "fewer", "lanes", "text"))
    def no_inputs(self, a: int, kind: str) -> None:
        circuit, netlist = self.pick(a)
        first, *others = [np.zeros(2, int) for _ in netlist.widths]
        bad: dict[str, tuple[list[Any], type[Exception]]] = {
            "wide": ([first + 2 ** netlist.widths[0], *others], hesc.OutOfRangeError),
            "negative": ([first - 1, *others], hesc.OutOfRangeError),
            "fraction": ([first + 0.5, *others], hesc.OutOfRangeError),
            "fewer": ([*others], hesc.ShapeError),
            "lanes": ([first, *others, np.zeros(3, int)], hesc.ShapeError),
            "text": (["0", *others], hesc.OutOfRangeError),
        }
        inputs, error = bad[kind]
        self.refused(lambda: circuit(*inputs), error)
        self.agree(circuit, netlist)

    @operation(a=OPERAND, kind=one_of("wire", "gate", "loop", "cut", "width"))
    def no_circuits(self, a: int, kind: str) -> None:
        circuit, netlist = self.pick(a)
        builder = gates.Builder(1)
        text = circuit.to_bristol()
        calls: dict[str, tuple[Callable[[], Any], tuple[type[Exception], ...]]] = {
            "wire": (lambda: builder.finish([99]), (hesc.CircuitError,)),
            "gate": (lambda: builder.gate("AN", 0, 0), (hesc.HescError,)),
            "loop": (
                lambda: gates.Circuit.from_bristol("1 2\n1 1\n1 1\n\n2 1 1 0 1 AND\n"),
                (hesc.CircuitError, hesc.WireError),
            ),
            "cut": (lambda: gates.Circuit.from_bristol(text[: len(text) // 2]), (hesc.HescError,)),
            "width": (lambda: gates.integers.adder(0, adder="ripple"), (hesc.ParameterError,)),
        }
        call, errors = calls[kind]
        self.refused(call, errors)
        self.agree(circuit, netlist)


def library(kind: int, width: int) -> tuple[gates.Circuit, Callable[..., int], list[int]]:
    """A circuit of the library, the function of integers that it is, and its inputs' widths."""
    low, small, power = min(width, 10), min(width, 6), 2 << (width % 5)

    def ones(number: int) -> int:
        return number.bit_count()

    def spread(count: int, length: int) -> int:
        # Position i shows the bit of the count whose weight falls with the zeros that i ends in.
        top = length.bit_length() - 2
        zeros = [(i & -i).bit_length() - 1 for i in range(length)]
        return sum((count >> (top - zeros[i]) & 1) << i for i in range(1, length))

    half, mask = (width + 1) // 2, 2**width - 1
    table: list[tuple[Callable[[], gates.Circuit], Callable[..., int], list[int]]] = [
        (lambda: gates.integers.adder(width, adder="ripple"), lambda a, b: a + b, [width] * 2),
        (lambda: gates.integers.multiplier(low), lambda a, b: a * b, [low] * 2),
        (lambda: gates.less(width), lambda a, b: int(a < b), [width] * 2),
        (lambda: gates.stream_multiplier("AND", width), lambda a, b: a & b, [width] * 2),
        (lambda: gates.stream_multiplier("XOR", width), lambda a, b: a ^ b, [width] * 2),
        (lambda: gates.popcount(width), ones, [width]),
        (lambda: gates.weighted_adder(width), lambda a, b, w: a & w | b & ~w & mask, [width] * 3),
        (lambda: gates.at_least(width, half), lambda a: int(ones(a) >= half), [width]),
        (lambda: gates.sign(width), lambda a: int(2 * ones(a) >= width), [width]),
        (lambda: gates.relu(power), lambda a: spread(min(ones(a), power // 2), power), [power]),
        (lambda: gates.stream(small), lambda a: spread(a, 2**small), [small]),
    ]
    make, expected, widths = table[kind]
    return make(), expected, widths


class Parties(NamedTuple):
    """A key owner and a server of the insecure set, whose bootstraps take a quarter of a ms."""

    secret: hesc.SecretKey
    public: hesc.PublicKeys
    server: gates.Evaluator


@cache
def parties(number: int) -> Parties:
    """Keys of one of two owners."""
    assert number < 2
    secret, public = hesc.keygen(hesc.Params.preset("insecure_tfhe_512"), bootstrapping=True)
    return Parties(secret, public, gates.Evaluator(public))


class Bits(NamedTuple):
    """Encrypted bits, and the bits."""

    encrypted: gates.EncryptedBits
    bits: NDArray[np.uint8]


class EncryptedPrograms(Programs[Bits]):
    """Bits are right after any program: wrong ones have the probability 2^-128 that is stated."""

    name = "encrypted bits"

    def start(self) -> None:
        self.fresh((2, 4))

    def fresh(self, shape: tuple[int, ...]) -> None:
        bits = self.rng.integers(0, 2, shape, dtype=np.uint8)
        self.compared(lambda: gates.encrypt_bits(parties(0).public, bits), bits)

    def compared(self, compute: Callable[[], gates.EncryptedBits], bits: Any) -> None:
        try:
            encrypted = compute()
        except hesc.NoiseBudgetError:
            self.counts["no room"] += 1
            return
        self.check(encrypted, bits)
        self.keep(Bits(encrypted, np.asarray(bits, dtype=np.uint8)))

    def check(self, encrypted: gates.EncryptedBits | gates.BitAnswer, bits: Any) -> None:
        assert encrypted.shape == np.shape(bits)
        found = decrypt_bits(parties(0).secret, encrypted)
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, bits)

    @operation(rows=between(1, 3), wires=between(1, 6))
    def encrypt(self, rows: int, wires: int) -> None:
        self.fresh((rows, wires))

    @operation(a=OPERAND, b=OPERAND, public=FLAG)
    def exclusive_or(self, a: int, b: int, public: bool) -> None:
        x, y = self.pick(a), self.pick(b)
        if public:
            mask = self.rng.integers(0, 2, x.bits.shape[-1:], dtype=np.uint8)
            self.compared(lambda: mask ^ x.encrypted, mask ^ x.bits)
        elif x.bits.shape == y.bits.shape:
            self.compared(lambda: x.encrypted ^ y.encrypted, x.bits ^ y.bits)
        else:
            self.refused(lambda: x.encrypted ^ y.encrypted, hesc.ShapeError)

    @operation(a=OPERAND, b=OPERAND, times=between(2, 14))
    def doubled(self, a: int, b: int, times: int) -> None:
        """Sums of what depends on itself as much as it can, right until they are refused."""
        x, y = self.pick(a), self.pick(b)
        for _ in range(times):
            before = self.counts["no room"]
            self.compared(partial(operator.xor, x.encrypted, x.encrypted), x.bits ^ x.bits)
            if self.counts["no room"] > before:
                return
            x = self.pick(0)
        if x.bits.shape == y.bits.shape:
            self.compared(lambda: x.encrypted ^ y.encrypted, x.bits ^ y.bits)

    @operation(a=OPERAND, how=one_of("not", "row", "turn", "join", "flat", "pack", "refresh"))
    def moved(self, a: int, how: str) -> None:
        x, bits = self.pick(a)
        if bits.size > 24:
            return
        server = parties(0).server
        ways: dict[str, tuple[Callable[[], gates.EncryptedBits], Callable[[], Any]]] = {
            "not": (lambda: ~x, lambda: 1 - bits),
            "row": (lambda: x[:1], lambda: bits[:1]),
            "turn": (lambda: x[::-1], lambda: bits[::-1]),
            "join": (lambda: gates.concatenate([x, ~x]), lambda: np.concatenate([bits, 1 - bits])),
            "flat": (lambda: x.reshape(1, -1), lambda: bits.reshape(1, -1)),
            "pack": (lambda: server.pack(x), lambda: bits),
            "refresh": (lambda: server.refresh(x, progress=False), lambda: bits),
        }
        compute, expect = ways[how]
        self.compared(compute, expect())

    @operation(a=OPERAND, b=OPERAND, name=one_of("AND", "OR", "XOR", "NAND", "NOR", "XNOR"))
    def gate(self, a: int, b: int, name: str) -> None:
        x, y = self.pick(a), self.pick(b)
        if x.bits.shape != y.bits.shape:
            self.refused(
                lambda: parties(0).server.gate(name, x.encrypted, y.encrypted), hesc.ShapeError
            )
            return
        (table,) = _gate(name)(x.bits, y.bits)
        self.compared(lambda: parties(0).server.gate(name, x.encrypted, y.encrypted), table)

    @operation(size=between(1, 30))
    def circuit(self, size: int) -> None:
        circuit, netlist = random_netlist(self.rng, size)
        numbers = [self.rng.integers(0, 2**width, 2) for width in netlist.widths]
        inputs = [
            gates.encrypt_numbers(parties(0).public, values, width)
            for values, width in zip(numbers, netlist.widths, strict=True)
        ]
        outputs = parties(0).server(circuit, *inputs, progress=False)
        expected = netlist.evaluate([values.tolist() for values in numbers])
        for output, found, group in zip(outputs, expected, netlist.outputs, strict=True):
            bits = gates.to_bits(found, len(group))
            self.compared(lambda output=output: output, bits)  # type: ignore[misc]

    @operation(a=OPERAND, answer=FLAG)
    def travel(self, a: int, answer: bool) -> None:
        x, bits = self.pick(a)
        params, server = x.params, parties(0).server
        if answer:
            sent = server.answer(x).to_bytes()
            self.check(gates.BitAnswer.from_bytes(params, sent), bits)
            self.agreed()
            return
        if not x.native.is_packed:
            self.refused(x.to_bytes, hesc.ParameterError)
            return
        self.compared(lambda: gates.EncryptedBits.from_bytes(params, x.to_bytes()), bits)

    @operation(a=OPERAND, b=OPERAND, count=between(1, 4))
    def outputs(self, a: int, b: int, count: int) -> None:
        """Any bits, the same again among them, in one answer."""
        kept = [self.pick(a), self.pick(b), self.pick(a), self.pick(0)][:count]
        sent = parties(0).server.answer(*(x for x, _ in kept)).to_bytes()
        read = gates.BitAnswer.from_bytes(kept[0][0].params, sent)
        found = decrypt_outputs(parties(0).secret, read)
        assert len(found) == count
        for own, (_, bits) in zip(found, kept, strict=True):
            np.testing.assert_array_equal(own, bits)
            assert own.shape == np.shape(bits)
        with pytest.raises(hesc.KeyMismatchError):
            decrypt_outputs(parties(1).secret, read)
        self.agreed()

    @operation(a=OPERAND, how=one_of("^", "gate", "decrypt", "pack", "refresh", "join", "answer"))
    def other_keys(self, a: int, how: str) -> None:
        x, bits = self.pick(a)
        other, own = parties(1), parties(0)
        y = gates.encrypt_bits(other.public, bits)
        calls: dict[str, Callable[[], Any]] = {
            "^": lambda: x ^ y,
            "gate": lambda: own.server.gate("AND", x, y),
            "decrypt": lambda: decrypt_bits(other.secret, x),
            "pack": lambda: other.server.pack(x),
            "refresh": lambda: other.server.refresh(x, progress=False),
            "join": lambda: gates.concatenate([x, y]),
            "answer": lambda: decrypt_bits(other.secret, own.server.answer(x)),
        }
        self.refused(calls[how], hesc.KeyMismatchError)
        self.check(x, bits)


@cache
def _gate(name: str) -> gates.Circuit:
    builder = gates.Builder(1, 1)
    ((a,), (b,)) = builder.inputs
    return builder.finish([builder.gate(name, a, b)])


def test_random_circuits_in_the_clear() -> None:
    drive(Circuits, 1500, seed=1)


def test_shortest_circuits_in_the_clear() -> None:
    search(Circuits, examples=30, steps=15)


def test_random_programs_on_encrypted_bits() -> None:
    drive(EncryptedPrograms, 400, seed=1)


def test_shortest_programs_on_encrypted_bits() -> None:
    search(EncryptedPrograms, examples=5, steps=10)


@pytest.mark.long
@pytest.mark.parametrize(("machine", "share"), [(Circuits, 0.1), (EncryptedPrograms, 0.01)])
def test_many_random_programs(machine: type[Programs[Any]], share: float) -> None:
    drive(machine, long_share(share), seed=1_000_000)
