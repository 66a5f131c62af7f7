"""All sides of a plan for integers in one process, as the planner times and measures them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc.gates.encrypted import Evaluator
from hesc.integers.bootstrapped import BootstrappedIntegers, IntegerAnswer
from hesc.integers.circuits import Given
from hesc.integers.computations import OnBits
from hesc.integers.encryption import read
from hesc.integers.secret import decrypt_integers, encrypt_integers
from hesc.params import Params
from hesc.secret import keygen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.integers.candidates import IntegerRequest
    from hesc.integers.computations import Computation
    from hesc.secret import SecretKey
    from hesc.vectors.keys import PublicKeys


class IntegerParties:
    """Both sides of a computation: a message for each input, and one for each result."""

    def __init__(self, computation: Computation, request: IntegerRequest) -> None:
        self._computation, self._request = computation, request
        if computation.engine == "bootstrapped":
            self._keys = _bootstrapping(computation.params.name)
        else:
            secret, public = keygen(computation.params, **computation.keys)
            self._keys = _Keys(secret, public, None)

    def encrypt(self, x: Any) -> list[bytes]:
        """A row of numbers for each input, encrypted by the key owner."""
        pairs = zip(self._request.leaves, x, strict=True)
        if self._keys.server is not None:
            public = self._keys.public
            return [
                BootstrappedIntegers.encrypt(public, row, x.kind).to_bytes() for x, row in pairs
            ]
        layout = self._computation.upload
        return [encrypt_integers(self._keys.secret, row, x.kind, layout=layout) for x, row in pairs]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """The results."""
        of, request, server = self._computation, self._request, self._keys.server
        numbers: list[Any] = [read(of.params, data, layout=of.upload) for data in up]
        if server is None:
            numbers = [each.with_keys(self._keys.public) for each in numbers]
        given = Given(request.roots, request.leaves, numbers, request.publics)
        results: Any = of.run(given, server, False)
        return [(x if server is None else x.answer(server)).to_bytes() for x in results]

    def decrypt(self, down: list[bytes]) -> NDArray[Any]:
        """A row of numbers for each result."""
        of = self._computation
        results: list[Any] = [
            IntegerAnswer.from_bytes(of.params, data)
            if isinstance(of, OnBits)
            else read(of.params, data, layout=of.answer)
            for data in down
        ]
        return np.array([decrypt_integers(self._keys.secret, x) for x in results])

    def held(self) -> int:
        """Bytes of the keys."""
        return len(self._keys.public.to_bytes())


class _Keys(NamedTuple):
    """What the sides have."""

    secret: SecretKey
    public: PublicKeys
    server: Evaluator | None
    """Where bits bootstrap."""


@cache
def _bootstrapping(preset: str) -> _Keys:
    """Keys for all runs of this process, which has both sides anyway: they are 200 MB."""
    secret, public = keygen(Params.preset(preset), bootstrapping=True)
    return _Keys(secret, public, Evaluator(public))
