"""Products of encrypted bit streams."""

from __future__ import annotations

from functools import cache, partial, reduce
from operator import mul
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc.params import wire_sizes
from hesc.params.parameter_set import Params
from hesc.planner import probes
from hesc.planner.estimates import Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import CACHE, StageCount, counted
from hesc.protocols.candidates.for_problems import ForProducts
from hesc.secret import Decryptor, SecretEncryptor, keygen
from hesc.streams.arrays import Answer, EncryptedArray
from hesc.streams.encryptor import Encryptor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.params.stream_params import StreamParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import ProductProblem, Task
    from hesc.secret import SecretKey
    from hesc.vectors.keys import PublicKeys

_MOST_BITS: Final = 1 << 22
"""Bits of all streams of one factor or sample, at most."""
_PARITY: Final = {"bfv_1024", "gm_3072", "pad_1024"}
"""Parameter sets of whose sums the parity alone is left."""
_MOST_LENGTH: Final = 1 << 16


def _length(error: float) -> int:
    """Bits of streams whose values have a deviation of `error` at most: `1 / error**2`."""
    # Of errors that no length has, one that is refused.
    bits = -2 * np.log2(min(max(error, 2.0**-40), 1.0))
    return max(64, 1 << int(np.ceil(bits)))


_BIT_BY_BIT: Final = frozenset({"streams gm", "streams ec_elgamal"})
"""Ways with a ciphertext for each bit, which take too long for more than two factors."""
_PROBES: Final = ((2, 1), (3, 16), (2, 64), (2, 256), (2, 1000))
"""Factors and samples that others are timed on."""


class StreamFactors(ForProducts):
    """Each factor a stream of independent bits; products are exclusive ors."""

    def __init__(self, preset: str) -> None:
        self.name = f"streams {preset.rsplit('_', 1)[0]}"
        self._preset = preset
        self._parity = preset in _PARITY

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        if _BIT_BY_BIT.isdisjoint({self.name}):
            for factors, samples in _PROBES:
                yield probes.products(rng, factors, samples, 0.03)
            return
        for error in (0.12, 0.06):
            yield probes.products(rng, 2, 1, error)

    def products(self, task: Task, problem: ProductProblem) -> Estimate | Infeasible:
        """See `ForProducts`."""
        length = _length(task.max_error)
        if length > _MOST_LENGTH or length * task.samples > _MOST_BITS:
            return Infeasible(
                self.name,
                f"streams of {length:,} bits for each of {task.samples} numbers are more than is "
                f"tried: their error falls with the root of their length",
            )
        params = Params.preset(self._preset)
        own = params.scheme == "pad"
        blocks = -(-length * task.samples // params.block_length)
        up, down = (each.of(blocks, task.samples) for each in linear(params, problem.factors))
        # Of whole blocks: what is encrypted bit by bit has blocks of one.
        bits = float(blocks * params.block_length)
        # Where a bit takes nanoseconds memory counts; where it takes big numbers it does not.
        cache = CACHE if params.scheme in {"bfv", "pad"} else np.inf
        spilled = max(0.0, up - cache)
        return Estimate(
            way=self.name,
            parameters=f"{self._preset}, {length} bits a stream",
            work=counted(
                f"streams.{self._preset}",
                encrypt=StageCount(problem.factors, 0, bits * problem.factors, 0, spilled),
                answer=StageCount(problem.factors, 0, bits * problem.factors, 0, spilled),
                decrypt=StageCount(1, 0, bits, 0, max(0.0, down - cache)),
            ),
            up=up,
            down=down,
            held=0,
            error=length**-0.5,
            # A block that decrypts wrongly, one in 10^8, changes bits, each by 2 / length.
            failure=0.0,
            # Counts of ones tell more of factors than their product; parity alone does not.
            sees=Sees("scores" if self._parity else "products", one_encryptor=own),
            prepare=partial(_Factors, params, length, problem.factors),
        )


class _Sizes(NamedTuple):
    """Bytes of one direction."""

    base: int
    block: int
    stream: int

    def of(self, blocks: int, streams: int) -> int:
        """Bytes of so many blocks with so many streams."""
        return self.base + blocks * self.block + streams * self.stream


@cache
def linear(params: StreamParams, factors: int) -> tuple[_Sizes, _Sizes]:
    """Bytes up and down, by simulations of few blocks and streams."""
    simulated, block = params.simulated(), params.block_length
    keys = keygen(simulated)
    under = "secret" if params.scheme == "pad" else "public"
    runs = []
    for length, streams in ((block, 1), (2 * block, 1), (block, 2)):
        parties = _Factors(simulated, length, factors, keys)
        arrays = parties.arrays(np.zeros((factors, streams)))
        up = sum(wire_sizes.streams(params, array, **{under: 1}) for array in arrays)
        down = wire_sizes.streams(params, parties.product(arrays), **{under: factors})
        runs.append((up, down))
    found = []
    for one, longer, two in zip(*runs, strict=True):
        each = longer - one
        stream = two - one - each
        found.append(_Sizes(one - each - stream, each, stream))
    return found[0], found[1]


@cache
def _keys(preset: str) -> tuple[SecretKey, PublicKeys]:
    """For all runs of this process, which has both sides anyway: large primes take a moment."""
    return keygen(Params.preset(preset))


class _Factors:
    def __init__(
        self,
        params: StreamParams,
        length: int,
        factors: int,
        keys: tuple[SecretKey, PublicKeys] | None = None,
    ) -> None:
        self._params, self._length, self._factors = params, length, factors
        self._secret, self._public = keys or _keys(params.name)
        self._decryptor = Decryptor(self._secret)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """An array for each factor."""
        return [array.to_bytes() for array in self.arrays(x)]

    def arrays(self, x: NDArray[Any]) -> list[EncryptedArray]:
        """The factors as they travel."""
        options: Any = {"generator": "bernoulli"}
        found = []
        for at, row in enumerate(x):
            encryptor: Any = (
                SecretEncryptor(self._secret, self._length, first_dimension=at, **options)
                if self._params.scheme == "pad"
                else Encryptor(self._public, self._length, first_dimension=at, **options)
            )
            encrypted = encryptor.encrypt(row)
            found.append(encrypted if isinstance(encrypted, EncryptedArray) else encrypted.expand())
        return found

    def answer(self, up: list[bytes]) -> list[bytes]:
        """The server's part: the product of the factors."""
        return [
            self.product([EncryptedArray.from_bytes(self._params, data) for data in up]).to_bytes()
        ]

    def product(self, factors: Sequence[EncryptedArray]) -> Answer:
        """It as it travels."""
        return reduce(mul, factors).answer()

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """The products."""
        return self._decryptor.decrypt(Answer.from_bytes(self._params, down[0]))

    def held(self) -> int:
        """Nothing beyond what travels."""
        return 0
