"""Both sides of a decision: samples as words of quantised features up, places of classes down."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import gates, integers
from hesc.integers import BootstrappedIntegers, IntegerAnswer, Kind
from hesc.integers.secret import decrypt_integers, encrypt_integers
from hesc.params import Params
from hesc.protocols.classes.circuits import Words
from hesc.protocols.classes.quantisation import quantised
from hesc.secret import keygen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.planner.tasks import Classes
    from hesc.protocols.classes.models import LinearScores
    from hesc.protocols.classes.quantisation import Quantised
    from hesc.secret import SecretKey
    from hesc.vectors.keys import PublicKeys

TOGETHER: Final = 64
"""Samples of a query whose bits bootstrap: each takes memory."""


def words_of(found: Quantised[LinearScores]) -> Words:
    """How a sample's features lie in encrypted words."""
    return Words(found.model.weights.shape[1], found.bits)


class _Sides:
    """What both kinds of parties have: quantised words, and a model at the server."""

    def __init__(
        self, problem: Classes, found: Quantised[LinearScores], circuit: integers.Plan
    ) -> None:
        self._ranges = problem.scores.low, problem.scores.high
        self._bits, self._circuit = found.bits, circuit
        self._words = words_of(found)
        self._model = found.model.weights.nbytes + found.model.offsets.nbytes

    def _queries(self, x: NDArray[np.float64], most: int) -> list[tuple[NDArray[Any], Kind]]:
        """Words of as many samples as go together, and their types."""
        found = []
        for first in range(0, len(x), most):
            steps = quantised(x[first : first + most], self._ranges, self._bits)
            found += list(zip(self._words.numbers(steps), self._words.kinds, strict=True))
        return found


class Slots(_Sides):
    """In slots."""

    def __init__(
        self, problem: Classes, found: Quantised[LinearScores], circuit: integers.Plan
    ) -> None:
        super().__init__(problem, found, circuit)
        self._secret, self._public = keygen(circuit.params, **circuit.keys)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All words of some samples, then of the next."""
        return [
            encrypt_integers(self._secret, word, str(kind), layout=self._circuit.upload)
            for word, kind in self._queries(x, self._circuit.chosen.slots)
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Places of classes."""
        count, layout = len(self._words.kinds), self._circuit.upload
        params = self._circuit.params
        return [
            self._circuit(
                *(
                    integers.read(params, word, layout=layout).with_keys(self._public)
                    for word in up[at : at + count]
                ),
                progress=False,
            ).to_bytes()
            for at in range(0, len(up), count)
        ]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Classes."""
        read = [integers.read(self._secret.params, data) for data in down]
        found = [decrypt_integers(self._secret, places) for places in read]
        return np.concatenate(found).astype(np.float64)

    def held(self) -> int:
        """Keys and model."""
        return len(self._public.to_bytes()) + self._model


class Bits(_Sides):
    """On bits that bootstrap."""

    def __init__(
        self, problem: Classes, found: Quantised[LinearScores], circuit: integers.Plan
    ) -> None:
        super().__init__(problem, found, circuit)
        self._params = circuit.params
        self._keys = _bootstrapping(self._params.name)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All words of some samples, then of the next."""
        return [
            BootstrappedIntegers.encrypt(self._keys.public, word, kind).to_bytes()
            for word, kind in self._queries(x, TOGETHER)
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Places of classes."""
        count = len(self._words.kinds)
        found = []
        for at in range(0, len(up), count):
            words = [
                BootstrappedIntegers.from_bytes(self._params, word) for word in up[at : at + count]
            ]
            places = self._circuit(*words, server=self._keys.server, progress=False)
            found.append(places.answer(self._keys.server).to_bytes())
        return found

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Classes."""
        read = [IntegerAnswer.from_bytes(self._params, data) for data in down]
        found = [decrypt_integers(self._keys.secret, places) for places in read]
        return np.concatenate(found).astype(np.float64)

    def held(self) -> int:
        """Keys and model."""
        return self._keys.size + self._model


class _Keys(NamedTuple):
    """The keys of bits that bootstrap."""

    secret: SecretKey
    public: PublicKeys
    server: gates.Evaluator
    size: int
    """Bytes of the public ones."""


@cache
def _bootstrapping(preset: str) -> _Keys:
    """Keys for all runs of this process, which has both sides anyway: they are 200 MB."""
    secret, public = keygen(Params.preset(preset), bootstrapping=True)
    return _Keys(secret, public, gates.Evaluator(public), len(public.to_bytes()))
