"""Models that are nobody's secret: the client is given the model and computes it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, Never

import numpy as np

from hesc._native import ParameterError, WireError
from hesc.ml.clear.client import ClearClient
from hesc.ml.clear.plans import ClearPlan
from hesc.models import extraction
from hesc.models.described import Described
from hesc.models.layers import Layer, Network
from hesc.models.trees import TreeEnsemble
from hesc.protocols import ways
from hesc.protocols.folders import PLAN
from hesc.protocols.measuring import Measured
from hesc.protocols.runs import Run
from hesc.protocols.services import WISHES, Asked, Service, check_concluded
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.protocols.runs import Progress

    Array = NDArray[np.float64]

_APART = 1e-6
"""How far scores may differ for sums in another order, beside the largest score."""


def _are_close(found: Array, clear: Array) -> bool:
    """Whether classes and probabilities are those of the scores in the clear, row by row.

    They depend on how far the best score is ahead, which may be little beside the scores.
    """
    behind, expected = (
        scores - scores.max(axis=1, keepdims=True) if scores.shape[1] > 1 else scores
        for scores in (found, clear)
    )
    return bool((np.abs(behind - expected) <= _APART * (1 + np.abs(expected))).all())


class ClearService(Service):
    """A client, and nobody else."""

    takes: ClassVar[frozenset[str]] = frozenset()
    refuses: ClassVar[dict[str, str]] = dict.fromkeys(
        WISHES, "nothing is encrypted, and the model is computed as it is; leave it out"
    )

    def __init__(self, plan: ClearPlan, asked: Asked) -> None:
        super().__init__(plan, asked)
        self._asked = asked._replace(rows=self.sample, clear=asked.clear[:1])

    @classmethod
    def make(cls, asked: Asked) -> ClearService:
        """The model as numbers, compared with the fitted one's scores of all rows.

        Raises:
            ParameterError: a model that is no linear one, sum of trees or network, or whose scores
                come out otherwise.

        """
        plan = ClearPlan(cls.described(asked), transformer=asked.transformer)
        try:
            # As its clients read it.
            plan = ClearPlan.from_bytes(plan.to_bytes())
        except WireError as error:
            raise ParameterError(f"no client's file holds this model: {error}") from error
        found = plan.raw(plan.prepared(asked.rows).features)
        apart = np.abs(found - asked.clear).max()
        same = apart <= _APART * (1 + np.abs(asked.clear).max())
        if not same or (asked.classes is not None and not _are_close(found, asked.clear)):
            raise ParameterError(
                f"the model as numbers gives scores that are {apart:.2g} apart from its own: put a "
                f"StandardScaler first"
            )
        if not asked.transformer:
            check_concluded(plan, asked)
        return cls(plan, asked)

    @staticmethod
    def described(asked: Asked) -> Described:
        """What a fitted linear model, transformer or model of trees computes."""
        estimator = asked.estimator
        steps, form = extraction.form_of(estimator, exact=True)
        model: Network | TreeEnsemble = (
            form
            if isinstance(form, TreeEnsemble)
            else Network((Layer(form.weights, form.intercepts),))
        )
        link = extraction.link_of(extraction.parts_of(estimator)[-1])
        return Described(
            extraction.features_of(estimator), asked.names, steps, model, asked.classes, link
        )

    def is_of(self, estimator: Any) -> bool:
        """Whether a fitted model is the one that was planned: the same numbers."""
        now = self.described(self._asked._replace(estimator=estimator))
        plan = ClearPlan(now, transformer=self.plan.transformer)
        found: bool = plan.to_bytes() == self.plan.to_bytes()
        return found

    def server(self, *, keys: bytes | None = None) -> Never:
        """There is none: always a ParameterError."""
        del keys
        raise ParameterError(f"there is no server: {ways.NOTHING_ENCRYPTED}")

    def parties(self) -> tuple[ClearClient, None]:
        """A client, and no server."""
        return ClearClient(self.plan), None

    def simulated(
        self,
        rows: Array,
        *,
        clip: bool,
        random_state: int | None,  # noqa: ARG002 - nothing is drawn
        progress: Progress,
    ) -> Run:
        """What the client computes."""
        return self.executed(rows, clip=clip, progress=progress)

    def executed(
        self,
        rows: Array,
        *,
        clip: bool,  # noqa: ARG002 - there are no ranges
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Run:
        """What the client computes."""
        found = ClearClient(self.plan).results(rows)
        return Run(found.predictions, found.scores, None, Sizes(0, 0), 0, 0)

    def check_compared(self) -> Never:
        """Refused: always a ParameterError."""
        raise ParameterError(
            "the client computes this model itself and nothing travels: no other way takes less"
        )

    def sides(self, _server: Any) -> dict[str, dict[str, bytes]]:
        """The client's folder alone."""
        return {"client": {PLAN: self.plan.to_bytes()}}

    def measured(
        self, client: Any, _server: Any, rows: Array, _scores: Array, predictions: NDArray[Any]
    ) -> Measured:
        """A run of the client, beside what the fitted model predicts."""
        start = time.perf_counter()
        found = client.predict(rows)
        seconds = {"compute": time.perf_counter() - start}
        same = None
        if self.plan.classes is not None:
            same = int(sum((found == predictions).tolist()))
        return Measured(len(rows), 0, same, None, Sizes(0, 0), seconds)
