"""The planner's tasks made of their names: models fitted, samples drawn, errors in units."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.codes import SignProjection
from hesc.planner import ClassProblem, DistanceProblem, ProductProblem, ScoreProblem, Task
from hesc_papers.planner_tasks import wish

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc_papers.planner_tasks import Wish


_WHOLE: Final = 0.1
"""An error that whole numbers cannot have: distances are exact or wrong."""


def made(name: str) -> tuple[Task, NDArray[Any]]:
    """A task and its data."""
    wished = wish(name)
    rng = np.random.default_rng(sum(name.encode()))
    if wished.problem == "scores":
        problem, rows = _scores(wished.data)
        x = rows[rng.integers(0, len(rows), wished.samples)]
        deviation = float(problem.exact(rows).std(axis=0).min())
        return _task(wished, problem, wished.error * deviation), x
    if wished.problem == "class":
        problem, rows = _scores(wished.data)
        classes = ClassProblem(
            problem.weights, problem.intercepts, low=problem.low, high=problem.high, rows=rows
        )
        # An error is a share of samples here, and nothing is relative to.
        return _task(wished, classes, wished.error), rows[
            rng.integers(0, len(rows), wished.samples)
        ]
    if wished.problem == "products":
        factors = int(wished.data)
        x = rng.uniform(-1, 1, (factors, wished.samples))
        return _task(wished, ProductProblem(factors), wished.error), x
    bits, records = map(int, wished.data.split("x"))
    coder = SignProjection(64, bits=bits, random_state=1)
    codes = coder.encode(rng.normal(size=(records, 64)))
    probes = coder.encode(rng.normal(size=(wished.samples, 64)))
    # Galleries are their owner's own.
    own = wished.setting == "outsourced"
    return _task(wished, DistanceProblem(codes), _WHOLE, own=own), probes


def _task(wished: Wish, problem: Any, error: float, *, own: bool = False) -> Task:
    return Task(
        problem,
        setting=wished.setting,
        disclose=wished.disclose,
        max_error=error,
        samples=wished.samples,
        objective=wished.objective,
        bandwidth=wished.bandwidth,
        own_model=own,
    )


@cache
def _scores(name: str) -> tuple[ScoreProblem, NDArray[np.float64]]:
    """Weights on what is encrypted, and rows of it."""
    if name.startswith("synthetic"):
        features, outputs = map(int, name.split("-")[1].split("x"))
        rng = np.random.default_rng(features * 1000 + outputs)
        weights = rng.normal(size=(outputs, features))
        return ScoreProblem(weights, low=-1.0, high=1.0), rng.uniform(-1, 1, (1000, features))
    model, x = _fitted(name)
    from hesc.models import transforms
    from hesc.models.extraction import linear_form

    form = linear_form(model)
    rows = transforms.transformed(form.steps, x)
    low, high = rows.min(axis=0), rows.max(axis=0)
    return ScoreProblem(form.weights, form.intercepts, low=low, high=high), rows


def _fitted(name: str) -> tuple[Any, NDArray[np.float64]]:
    from sklearn import datasets
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler
    from sklearn.svm import LinearSVC

    data, kind = name.split("-")
    x, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    logistic = LogisticRegression(max_iter=2000)
    models = {
        "logistic": (StandardScaler(), logistic),
        "naive_bayes": (GaussianNB(),),
        "qda": (QuadraticDiscriminantAnalysis(),),
        "svm": (StandardScaler(), LinearSVC()),
        "pca": (StandardScaler(), PCA(5, random_state=0), logistic),
        "ridge": (StandardScaler(), Ridge() if data == "diabetes" else RidgeClassifier()),
        "nystroem": (StandardScaler(), Nystroem(n_components=50, random_state=0), logistic),
        "polynomial": (StandardScaler(), PolynomialFeatures(2), Ridge()),
        "linear": (StandardScaler(), LinearRegression()),
    }
    return make_pipeline(*models[kind]).fit(x, y), np.asarray(x, dtype=np.float64)
