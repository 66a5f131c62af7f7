"""The client of a model that is nobody's secret: it computes, and encrypts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

import numpy as np

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind
from hesc.ml.clear.plans import ClearPlan
from hesc.models.samples import Result
from hesc.protocols.ways import NOTHING_ENCRYPTED

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class ClearClient:
    """A model in the clear, computed by numpy alone; needs no scikit-learn, and has no key.

    Args:
        plan: what the model's owner published, see `ClearPlan.from_bytes`.
        secret: there is none.

    Raises:
        ParameterError: a secret key.

    """

    def __init__(self, plan: ClearPlan, *, secret: object = None) -> None:
        self.plan = of_kind(plan, "plan", ClearPlan, "ClearPlan.from_bytes reads one")
        if secret is not None:
            raise ParameterError(NOTHING_ENCRYPTED)

    def __repr__(self) -> str:
        return f"<hesc.ml.clear.ClearClient: {self.plan!r}>"

    @usual_floats
    def results(self, samples: ArrayLike) -> Result:
        """Predictions and scores of rows of features, in double precision.

        Args:
            samples: a row of features for each; the columns of a DataFrame have the plan's names.

        Raises:
            OutOfRangeError: what is no finite number.
            ShapeError: rows of another length, columns of other names.

        """
        features = self.plan.prepared(samples).features
        turns = range(0, len(features), self.plan.rows)
        parts = [self.plan.raw(features[first : first + self.plan.rows]) for first in turns]
        scores = self.plan.scores(np.concatenate(parts))
        return Result(self.plan.predictions(scores), scores, None)

    def predict(self, samples: ArrayLike) -> NDArray[Any]:
        """Classes, a regressor's numbers, or transformed samples; as `results`."""
        return self.results(samples).predictions

    def probabilities(self, samples: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of all classes; as `results`.

        Raises:
            ParameterError: a model whose scores give none.

        """
        return self.plan.probabilities(self.results(samples).scores)

    @property
    def secret(self) -> Never:
        """Not there: always a ParameterError."""
        raise ParameterError(NOTHING_ENCRYPTED)

    def public_keys(self) -> Never:
        """Not there: always a ParameterError."""
        raise ParameterError(NOTHING_ENCRYPTED)

    def encrypt(self, samples: ArrayLike, *, clip: bool = False) -> Never:
        """Not there: always a ParameterError."""
        del samples, clip
        raise ParameterError(NOTHING_ENCRYPTED)

    def encrypted(self, features: object) -> Never:
        """Not there: always a ParameterError."""
        del features
        raise ParameterError(NOTHING_ENCRYPTED)

    def decrypt(self, answer: bytes, *, samples: int | None = None) -> Never:
        """Not there: always a ParameterError."""
        del answer, samples
        raise ParameterError(NOTHING_ENCRYPTED)
