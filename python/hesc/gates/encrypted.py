"""Encrypted bits and circuits on them: what a server does; nothing here can decrypt."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Never, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from hesc import _native
from hesc._native import ParameterError, Program, ShapeError
from hesc._support.inputs import of_kind, several, wire_bytes
from hesc._support.memory import make_room
from hesc._support.opaque import Opaque
from hesc._support.pickling import ByWireForm
from hesc._support.progress import Bar
from hesc.gates.answers import MOST_OUTPUTS, BitAnswer
from hesc.gates.circuit import Builder, Circuit, Precision
from hesc.gates.words import bit_array, to_bits
from hesc.params.stream_params import StreamParams, checked_params
from hesc.streams.encryptor import stream_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from hesc.streams.arrays import EncryptedArray
    from hesc.vectors.keys import PublicKeys

T = TypeVar("T")


class EncryptedBits(ByWireForm, Opaque):
    """An array of encrypted bits; the last axis is what circuits have as wires.

    `encrypt_bits`, `encrypt_numbers` and `EncryptedBits.of_streams` make them; `Evaluator` runs
    circuits on them. `a ^ b` and `~a` are sums of ciphertexts, without a bootstrap; what comes of
    `^` is a *parity*, which circuits refresh first, with one bootstrap a bit. With public zeros and
    ones, `a ^ array`, bits stay bits. Operands may be the same or depend on each other, because
    deviations of noise are added: there is room for millions of fresh encryptions, and for 30
    bits from circuits.

    They lie in blocks, as they travel (16 bytes a bit), or, once a circuit or indexing has taken
    them apart, one by one (16 kB a bit at a ring degree of 2048). `Evaluator.pack` packs them.
    """

    def __init__(self, params: StreamParams, native: _native.EncryptedBits) -> None:
        self.params = params
        self._native = native

    @classmethod
    def of_streams(cls, array: EncryptedArray) -> EncryptedBits:
        """The bits of encrypted streams: the array's axes, and one with all bits of an element.

        A sum of streams, which is their concatenation, has the bits of all. Products become
        parities. Refused for arrays with constants added or with unequal weights.
        """
        native = _native.EncryptedBits.from_array(array.native)
        shape = [*array.shape, native.shape[-1]]
        return cls(array.params, native.reshape(shape))

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> EncryptedBits:
        """Reads what `to_bytes` wrote; strict."""
        found = _native.EncryptedBits.from_bytes(checked_params(params), wire_bytes(data))
        return cls(params, found)

    def to_bytes(self) -> bytes:
        """The wire form of packed bits: 16 bytes a bit, in whole blocks."""
        data = self._native.to_bytes()
        if data is None:
            raise ParameterError(
                "these bits lie one by one, 16 kB each; pack them with Evaluator.pack, or send "
                "Evaluator.answer to the key owner"
            )
        return data

    @property
    def native(self) -> _native.EncryptedBits:
        """The compiled object, for this package's own modules."""
        return self._native

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's shape."""
        return tuple(self._native.shape)

    @property
    def are_parities(self) -> bool:
        """Whether circuits refresh them first."""
        return not self._native.are_bits

    def reshape(self, *shape: int) -> EncryptedBits:
        """The same bits in another shape; one axis may be -1, no axis is a single bit."""
        try:
            single = shape[0] if len(shape) == 1 else shape
            wanted = np.empty(self.shape, dtype=np.uint8).reshape(single).shape
        except (TypeError, ValueError, OverflowError) as error:
            raise ShapeError(f"bits of shape {self.shape} have no such shape: {error}") from error
        return EncryptedBits(self.params, self._native.reshape(list(wanted)))

    def __getitem__(self, index: Any) -> EncryptedBits:
        all_places = np.arange(math.prod(self.shape), dtype=np.uint64).reshape(self.shape)
        try:
            places = all_places[index]
        except ValueError as error:  # An index out of range is Python's own error, as of lists.
            raise ShapeError(f"nothing is chosen from shape {self.shape}: {error}") from error
        chosen = np.asarray(places, dtype=np.uint64)
        native = self._native.select(chosen.reshape(-1), list(chosen.shape))
        return EncryptedBits(self.params, native)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single bit has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[EncryptedBits]:
        """The entries along the first axis."""
        return (self[index] for index in range(len(self)))

    def __xor__(self, other: EncryptedBits | ArrayLike) -> EncryptedBits:
        if isinstance(other, EncryptedBits):
            return EncryptedBits(self.params, self._native.exclusive_or(other.native))
        mask = bit_array(other)
        try:
            mask = np.broadcast_to(mask, self.shape)
        except ValueError as error:
            raise ShapeError(f"{mask.shape} zeros and ones do not fit {self.shape} bits") from error
        native = self._native.invert_where(np.ascontiguousarray(mask).reshape(-1))
        return EncryptedBits(self.params, native)

    __rxor__ = __xor__

    def __invert__(self) -> EncryptedBits:
        return EncryptedBits(self.params, self._native.invert())

    def __repr__(self) -> str:
        kind = "parities" if self.are_parities else "bits"
        where = "in blocks" if self._native.is_packed else "one by one"
        return f"<hesc.gates.EncryptedBits: {kind} of shape {self.shape}, {where}>"


def concatenate(parts: Sequence[EncryptedBits]) -> EncryptedBits:
    """Arrays one after the other along their first axis."""
    parts = [_encrypted(part) for part in several(parts, "parts", "give a list of encrypted bits")]
    shapes = [part.shape for part in parts]
    if len({shape[1:] for shape in shapes}) != 1 or not all(shapes):
        raise ShapeError("give arrays that differ in their first axis only, at least one")
    shape = [sum(part.shape[0] for part in parts), *parts[0].shape[1:]]
    native = _native.EncryptedBits.concatenate([part.native for part in parts], shape)
    return EncryptedBits(parts[0].params, native)


def _encrypted(bits: Any) -> EncryptedBits:
    remedy = "encrypt_bits, encrypt_numbers and EncryptedBits.of_streams make encrypted bits"
    return of_kind(bits, "the operand", EncryptedBits, remedy)


def encrypt_bits(public: PublicKeys, bits: ArrayLike) -> EncryptedBits:
    """Encrypts an array of zeros and ones.

    Raises:
        OutOfRangeError: for anything else.

    """
    array = bit_array(bits)
    stream_keys(public)
    blocks = -(-array.size // public.params.block_length)
    make_room(blocks * public.params.block_bytes, f"{array.size:,} encrypted bits")
    native = _native.encrypt_bits(public.public, array.reshape(-1), list(array.shape))
    return EncryptedBits(public.params, native)


def encrypt_numbers(
    public: PublicKeys, numbers: ArrayLike, width: int, *, signed: bool = False
) -> EncryptedBits:
    """Encrypts the bits of integers, along a new last axis of `width`.

    They are not negative, or, where `signed`, in two's complement: see `to_bits`.
    """
    return encrypt_bits(public, to_bits(numbers, width, signed=signed))


class Evaluator:
    """Runs circuits on encrypted bits, on all cores.

    Circuits are compiled once for each probability of failure. Evaluations of more than a second
    show a bar with the time that is left, on a terminal; an interrupt ends them within 0.1 s and
    leaves their inputs as they were.

    Args:
        public: keys of `hesc.keygen(params, bootstrapping=True)`: 42 MB on the wire and 150 MB in
            use, at a ring degree of 2048.

    """

    def __init__(self, public: PublicKeys) -> None:
        self.params = stream_keys(public).params
        self._native = _native.Evaluator(public.bootstrapping)
        self._programs: WeakKeyDictionary[Circuit, dict[float, Program]] = WeakKeyDictionary()
        self._seconds: float | None = None

    def __reduce__(self) -> Never:
        raise TypeError(
            "an Evaluator is not pickled or copied; send the public keys and make one of them there"
        )

    def program(self, circuit: Circuit, log2_failure: float = -128.0) -> Program:
        """The circuit as bootstraps, compiled for the noise of these parameters."""
        of_kind(circuit, "the circuit", Circuit, "hesc.gates has circuits, and Builder makes more")
        known = self._programs.setdefault(circuit, {})
        if log2_failure not in known:
            known[log2_failure] = circuit.compile(Precision.of(self.params, log2_failure))
        return known[log2_failure]

    def __call__(
        self,
        circuit: Circuit | Program,
        *inputs: EncryptedBits,
        log2_failure: float = -128.0,
        progress: bool | Callable[[int, int], object] = True,
    ) -> tuple[EncryptedBits, ...]:
        """The circuit's outputs, as parities.

        Args:
            circuit: the circuit, or what `Circuit.compile` made of it.
            *inputs: an array for each input; the last axis has its wires, the axes before are
                lanes, the same for all.
            log2_failure: of the probability, for each lane, that any output is wrong.
            progress: whether to show a bar, or what to call with the bootstraps done and all.

        Raises:
            ShapeError: for inputs that are not the circuit's.
            KeyMismatchError, ParameterError: for bits of another key or parameter set.
            NoiseBudgetError: if the noise leaves no room for that probability.

        """
        for bits in inputs:
            _encrypted(bits)
        program = circuit if isinstance(circuit, Program) else self.program(circuit, log2_failure)
        widths = [bits.shape[-1] if bits.shape else 0 for bits in inputs]
        if widths != program.inputs:
            raise ShapeError(
                f"the circuit has inputs of {program.inputs} wires, found last axes of {widths}"
            )
        lanes = {bits.shape[:-1] for bits in inputs}
        if len(lanes) > 1:
            raise ShapeError(f"inputs have different lanes, {lanes}; only the last axes may differ")
        shape = list(lanes.pop()) if lanes else []
        natives = [bits.native for bits in inputs]
        found = self._watched(
            progress, lambda report: self._native.evaluate(program, natives, shape, report)
        )
        return tuple(EncryptedBits(self.params, native) for native in found)

    def gate(self, name: str, a: EncryptedBits, b: EncryptedBits) -> EncryptedBits:
        """A gate on each pair of bits: one bootstrap each, none for "XOR" and "XNOR"."""
        if _encrypted(a).shape != _encrypted(b).shape:
            raise ShapeError(f"bits of shapes {a.shape} and {b.shape} do not pair")
        wires = [bits.reshape(*bits.shape, 1) for bits in (a, b)]
        (found,) = self(_gate(name), *wires)
        return found.reshape(*a.shape)

    def refresh(
        self,
        bits: EncryptedBits,
        *,
        log2_failure: float = -128.0,
        progress: bool | Callable[[int, int], object] = True,
    ) -> EncryptedBits:
        """Parities, or bits, as bits as good as new: one bootstrap each."""
        found = self._watched(
            progress,
            lambda report: self._native.refresh(_encrypted(bits).native, log2_failure, report),
        )
        return EncryptedBits(self.params, found)

    def pack(self, bits: EncryptedBits) -> EncryptedBits:
        """The bits in blocks, as parities: a quarter of a bootstrap each."""
        return EncryptedBits(self.params, self._native.pack(_encrypted(bits).native))

    def answer(self, *outputs: EncryptedBits) -> BitAnswer:
        """What goes to the key owner: packed and made compact, several outputs in shared blocks.

        `hesc.gates.secret.decrypt_bits` reads an answer of one, `decrypt_outputs` of any number.
        An interrupt ends it within a second.

        Raises:
            ShapeError: no output, or more than 255.
            KeyMismatchError, ParameterError: bits of different keys or parameter sets.

        """
        shapes = [_encrypted(bits).shape for bits in outputs]
        if not 1 <= len(outputs) <= MOST_OUTPUTS:
            raise ShapeError(
                f"an answer has 1 to {MOST_OUTPUTS} outputs, not {len(outputs)}; answer(*outputs)"
            )
        native = outputs[0].native
        if len(outputs) > 1:
            rows = [bits.native.reshape([math.prod(bits.shape)]) for bits in outputs]
            native = _native.EncryptedBits.concatenate(rows, [sum(map(math.prod, shapes))])
        return BitAnswer(self.params, self._native.answer(native), shapes)

    def seconds(self, circuit: Circuit | Program, lanes: int = 1) -> float | None:
        """How long an evaluation will take, by the last one's bootstraps; None before the first."""
        program = circuit if isinstance(circuit, Program) else self.program(circuit)
        return None if self._seconds is None else self._seconds * program.bootstraps * lanes

    def _watched(
        self,
        progress: bool | Callable[[int, int], object],
        work: Callable[[Callable[[int, int], object]], T],
    ) -> T:
        """Runs work that reports bootstraps; measures how long one takes."""
        with Bar("bootstraps", progress) as bar:
            found = work(bar.show)
        if bar.done:
            self._seconds = bar.seconds / bar.done
        return found


_GATES: dict[str, Circuit] = {}


def _gate(name: str) -> Circuit:
    """The circuit of one gate; the same object each time, so that it is compiled once."""
    if name not in _GATES:
        builder = Builder(1, 1)
        ((a,), (b,)) = builder.inputs
        _GATES[name] = builder.finish([builder.gate(name, a, b)])
    return _GATES[name]
