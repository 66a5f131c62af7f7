"""How a plan computes: in slots, along them, or on bits that bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc._native import CircuitError, ParameterError
from hesc._support.progress import Bar
from hesc.integers import bootstrapped
from hesc.integers.along import AlongSlots
from hesc.integers.bits import bits_of
from hesc.integers.bootstrapped import BootstrappedIntegers
from hesc.integers.encrypted_integers import EncryptedIntegers
from hesc.integers.layouts import PACKED, SLICED, PackedIntegers, packed
from hesc.vectors.evaluation import keys_of, relin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from hesc import _native
    from hesc.gates.circuit import Circuit
    from hesc.gates.encrypted import Evaluator
    from hesc.integers.circuits import Given
    from hesc.integers.expressions import Integers, PublicIntegers
    from hesc.params.stream_params import StreamParams
    from hesc.params.vectors import VectorParams


@dataclass(frozen=True, eq=False)
class OnSlots:
    """A computation on blocks of as many numbers as there are slots."""

    layout: ClassVar = SLICED
    steps: ClassVar = "products"
    params: VectorParams
    native: _native.SlotPlan
    upload: str = SLICED
    answer: str = SLICED

    @property
    def engine(self) -> str:
        """Which of `ENGINES` it runs on."""
        return "binary" if self.params.plain_modulus == 2 else "prime"

    @property
    def takes(self) -> type:
        """The class of its inputs."""
        return PackedIntegers if self.upload == PACKED else EncryptedIntegers

    @property
    def keys(self) -> dict[str, Any]:
        """What `hesc.keygen(params, **keys)` has to make beside the usual."""
        return {"unpacking": True} if self.upload == PACKED else {}

    @property
    def levels(self) -> list[int]:
        """The level before each product, and that of the results."""
        return self.native.levels

    def run(
        self,
        given: Given,
        _server: Evaluator | None,
        progress: bool | Callable[[int, int], object],
    ) -> Sequence[Integers | PackedIntegers]:
        """The results, encrypted; what is packed is taken apart before, and put together after."""
        numbers = given.numbers
        if self.upload == PACKED:
            level = self.native.input_level
            if any(slots.level < level for x in numbers for slots in x.packed):
                raise CircuitError(
                    f"packed inputs come from level {level} or above, as they are encrypted; these "
                    "are answers, or were brought down: encrypt again, or plan the whole function"
                )
            numbers = [x.unpack(level) for x in numbers]
        results = _run(self.native, given.roots, numbers, given.publics, progress)
        return results if self.answer == SLICED else [packed(result) for result in results]


@dataclass(frozen=True, eq=False)
class OnBits:
    """A computation number by number, on bits that bootstrap."""

    engine: ClassVar = "bootstrapped"
    steps: ClassVar = "bootstraps"
    layout: ClassVar = SLICED
    upload: ClassVar = SLICED
    answer: ClassVar = SLICED
    takes: ClassVar = BootstrappedIntegers
    params: StreamParams
    circuit: Circuit

    @property
    def keys(self) -> dict[str, Any]:
        """Nothing beside the usual: who bootstraps has keys of a size of its own."""
        return {}

    @property
    def levels(self) -> list[int]:
        """None: bits that bootstrap have no levels."""
        return []

    def run(
        self,
        given: Given,
        server: Evaluator | None,
        progress: bool | Callable[[int, int], object],
    ) -> Sequence[Integers]:
        """The results, encrypted; `server` bootstraps."""
        roots, numbers, publics = given.roots, given.numbers, given.publics
        return bootstrapped.run(self.circuit, roots, numbers, publics, server, progress)


Computation = OnSlots | OnBits | AlongSlots


def _run(
    native: _native.SlotPlan,
    roots: Sequence[Integers],
    numbers: Sequence[EncryptedIntegers],
    publics: Sequence[PublicIntegers],
    progress: bool | Callable[[int, int], object],
) -> list[EncryptedIntegers]:
    """Computes block after block; memory is that of one."""
    params, keys, relin = numbers[0].params, keys_of(*numbers), relin_of(numbers)
    if any(given.params.fingerprint != params.fingerprint for given in numbers):
        raise ParameterError(
            "the inputs are of several parameter sets; encrypt all with the keys of one"
        )
    widths = [root.kind.width for root in roots]
    results: list[list[list[_native.Ciphertext]]] = [[] for _ in roots]
    blocks = [
        [bit for bits in block for bit in bits]
        for block in zip(*(given.blocks for given in numbers), strict=True)
    ]
    # All of them before any is computed: blocks of others may differ.
    for block in blocks:
        native.check(relin, block)
    with Bar("products", progress) as bar:
        for at, inputs in enumerate(blocks):

            def report(done: int, total: int, before: int = at) -> None:
                bar.show(before * total + done, len(blocks) * total)

            rows = _rows(publics, at * params.slot_count, params.slot_count)
            bits = iter(native.evaluate(relin, inputs, report, rows))
            for result, width in zip(results, widths, strict=True):
                result.append([next(bits) for _ in range(width)])
    return [
        EncryptedIntegers(params, root.kind, len(numbers[0]), blocks_of, keys)
        for root, blocks_of in zip(roots, results, strict=True)
    ]


def _rows(publics: Sequence[PublicIntegers], first: int, slots: int) -> NDArray[np.uint8] | None:
    """The bits of a block of public numbers, a row for each wire; zeros behind the last."""
    if not publics:
        return None
    wires = []
    for public in publics:
        bits = bits_of(public.numbers[first : first + slots], public.kind)
        wires.append(np.pad(bits.astype(np.uint8), ((0, 0), (0, slots - bits.shape[1]))))
    return np.concatenate(wires)
