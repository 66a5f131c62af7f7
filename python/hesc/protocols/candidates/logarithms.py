"""Products of factors as sums of logarithms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc import logarithms
from hesc.logarithms import Factor, LogarithmPlan
from hesc.logarithms.secret import decrypt_logarithms
from hesc.planner import probes
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import StageCount, counted, parts_of
from hesc.protocols.candidates.factors import FACTORS
from hesc.protocols.candidates.for_problems import ForProducts
from hesc.protocols.candidates.set_names import set_of
from hesc.secret import keygen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.planner.probes import Probe
    from hesc.planner.tasks import ProductProblem, Task


class Logarithms(ForProducts):
    """Each owner encrypts logarithms under the public key; the server adds."""

    name = "logarithms"

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for factors, samples in FACTORS:
            for error in (0.1, 0.01, 0.001, 1e-5):
                yield probes.products(rng, factors, samples, error)

    def products(self, task: Task, problem: ProductProblem) -> Estimate | Infeasible:
        """See `ForProducts`."""
        factors = [Factor(source="public") for _ in range(problem.factors)]
        plan = LogarithmPlan.elementwise(factors, error=task.max_error)
        parts = parts_of(task.samples, plan.most_samples)
        sizes = [plan.sizes(count) for count in parts]
        ciphertexts = sum(-(-count // plan.capacity) for count in parts)
        size = set_of(plan.params)
        numbers = task.samples * problem.factors
        return Estimate(
            way=self.name,
            parameters=size,
            work=counted(
                f"logarithms.{size}",
                encrypt=StageCount(
                    len(parts) * problem.factors, ciphertexts * problem.factors, numbers
                ),
                answer=StageCount(len(parts), ciphertexts * problem.factors, 0),
                decrypt=StageCount(len(parts), ciphertexts, task.samples),
            ),
            up=sum(sum(size.up) for size in sizes),
            down=sum(size.down for size in sizes),
            held=0,
            error=plan.error,
            failure=task.samples * LATTICE,
            sees=Sees(
                "scores", besides="of a product with zeros how many and what the others make"
            ),
            prepare=partial(_LogarithmSides, plan, problem.factors),
        )


class _LogarithmSides:
    def __init__(self, plan: LogarithmPlan, factors: int) -> None:
        self._plan, self._factors = plan, factors
        self._secret, self._keys = keygen(plan.params, products=False)
        self._server = logarithms.LogarithmEvaluator(plan)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All factors of some samples, then of the next."""
        most = self._plan.most_samples
        return [
            logarithms.encrypt(self._plan, at, self._keys, row[first : first + most])
            for first in range(0, x.shape[1], most)
            for at, row in enumerate(x)
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """The server's part: sums of the factors' logarithms."""
        size = self._factors
        return [self._server.evaluate(up[at : at + size]) for at in range(0, len(up), size)]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """The products."""
        found = [decrypt_logarithms(self._secret, self._plan, answer).values for answer in down]
        return np.concatenate([values.reshape(-1) for values in found])

    def held(self) -> int:
        """Nothing beyond what travels."""
        return 0
