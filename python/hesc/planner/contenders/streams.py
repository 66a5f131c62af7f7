"""Products of encrypted bit streams."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.arrays import Answer, EncryptedArray
from hesc.encryptor import Encryptor
from hesc.params import Params
from hesc.planner.offers import Offer, Refusal
from hesc.planner.roles import Sees
from hesc.planner.tasks import Products
from hesc.planner.work import Count, counted
from hesc.secret import Decryptor, SecretEncryptor, keygen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.planner.tasks import Task

_MOST_BITS: Final = 1 << 24
"""Bits of all streams of one factor or sample, at most."""
_MOST_LENGTH: Final = 1 << 16


def _length(error: float) -> int:
    """Bits of streams whose values have a deviation of `error` at most: `1 / error**2`."""
    return max(64, 1 << int(np.ceil(np.log2(1 / error**2))))


class StreamFactors:
    """Each factor a stream of independent bits; products are exclusive ors."""

    def __init__(self, preset: str) -> None:
        self.name = f"streams {preset.rsplit('_', 1)[0]}"
        self._preset = preset

    def consider(self, task: Task) -> Offer | Refusal:
        """See `Contender`."""
        problem = task.problem
        if not isinstance(problem, Products):
            return Refusal(
                self.name,
                f"streams multiply what is encrypted; {problem.name} as sums of streams would show "
                f"the client every summand",
            )
        length = _length(task.max_error)
        if length > _MOST_LENGTH or length * task.samples > _MOST_BITS:
            return Refusal(
                self.name,
                f"streams of {length:,} bits for each of {task.samples} numbers are more than is "
                f"tried: their error falls with the root of their length",
            )
        params = Params.preset(self._preset)
        own = params.scheme == "pad"
        up, down, more_up, more_down = sizes(self._preset, problem.factors)
        bits = float(length * task.samples)
        more = -(-length * task.samples // params.block_length) - 1
        return Offer(
            way=self.name,
            parameters=f"{self._preset}, {length} bits a stream",
            work=counted(
                f"streams.{self._preset}",
                encrypt=Count(1, 0, bits * problem.factors),
                answer=Count(problem.factors, 0, bits * problem.factors),
                decrypt=Count(1, 0, bits),
            ),
            up=up + more_up * more,
            down=down + more_down * more,
            held=0,
            error=length**-0.5,
            sees=Sees("scores", one_encryptor=own),
            prepare=partial(_Factors, params, length, problem.factors),
        )


@cache
def sizes(preset: str, factors: int) -> tuple[int, int, int, int]:
    """Bytes up and down of a block of bits, and of each further one.

    By runs on zeros under a key that is thrown away: sizes are public.
    """
    params = Params.preset(preset)
    block = params.block_length
    found = []
    for blocks in (1, 2):
        parties = _Factors(params, block, factors)
        up = parties.encrypt(np.zeros((factors, blocks)))
        found.append((sum(map(len, up)), sum(map(len, parties.answer(up)))))
    (up_one, down_one), (up_two, down_two) = found
    return up_one, down_one, up_two - up_one, down_two - down_one


class _Factors:
    def __init__(self, params: Params, length: int, factors: int) -> None:
        self._params, self._length, self._factors = params, length, factors
        self._secret, self._public = keygen(params)
        self._decryptor = Decryptor(self._secret)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """An array for each factor."""
        options: Any = {"generator": "bernoulli"}
        found = []
        for at, row in enumerate(x):
            encryptor: Any = (
                SecretEncryptor(self._secret, self._length, first_dimension=at, **options)
                if self._params.scheme == "pad"
                else Encryptor(self._public, self._length, first_dimension=at, **options)
            )
            encrypted = encryptor.encrypt(row)
            full = encrypted if isinstance(encrypted, EncryptedArray) else encrypted.expand()
            found.append(full.to_bytes())
        return found

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Their product."""
        first, *rest = (EncryptedArray.from_bytes(self._params, data) for data in up)
        for factor in rest:
            first = first * factor
        return [first.answer().to_bytes()]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """The products."""
        return self._decryptor.decrypt(Answer.from_bytes(self._params, down[0]))

    def held(self) -> int:
        """Nothing beyond what travels."""
        return 0
