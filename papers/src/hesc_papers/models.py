"""Models of scikit-learn, whole pipelines too, scored without showing samples, over many splits."""

from __future__ import annotations

import statistics
import time
import warnings
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from hesc.models import extraction
from hesc_papers import concrete_ml_peer, pipelines
from hesc_papers.concrete_ml_peer import MIXED
from hesc_papers.report import Report
from hesc_papers.splits import split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:models"
TITLE: Final = "private models beside their clear ones"
PEERS: Final = ("concrete-ml",)
SPLITS: Final = 10
QUICK_SPLITS: Final = 2
RUNS: Final = 15
"""Runs of one sample, whose median is its time; fewer of what takes over a second."""
QUICK_RUNS: Final = 1
QUICK_FILES: Final = 2
"""One in so many of the files that texts are read from: 700 test rows and more are left."""
LONGEST: Final = 3.0
"""Seconds of all runs of one sample."""


class Case(NamedTuple):
    """A set, a model and how it is planned."""

    data: str
    make: Callable[[], Any]
    """A private estimator that is not fitted."""
    options: Any
    """Options of `plan`; None for those by default."""
    rows: int = 10_000
    """Rows of the test split that are encrypted, at most."""
    quick_splits: int = QUICK_SPLITS
    """One where a split takes seconds: enough test rows, or classes without errors by chance."""
    quick_rows: int = 10_000


def cases() -> dict[str, Case]:
    """Those of rows of numbers, then pipelines on tables and texts, by name."""
    return _of_numbers() | _of_tables()


def _of_numbers() -> dict[str, Case]:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    from hesc.ml import (
        Classes,
        Outsourced,
        PrivateClassifier,
        PrivateMLPClassifier,
        PrivateNeighbours,
        PrivateRegressor,
        Scores,
        Search,
    )

    def scaled(model: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: PrivateClassifier(make_pipeline(StandardScaler(), model()))

    def network() -> Any:
        layers = MLPClassifier((32,), alpha=0.1, max_iter=1000, random_state=0)
        return PrivateMLPClassifier(make_pipeline(MinMaxScaler(), layers))

    logistic = scaled(lambda: LogisticRegression(max_iter=2000))
    return {
        "iris, QDA": Case("iris", lambda: PrivateClassifier(QuadraticDiscriminantAnalysis()), None),
        "wine, linear SVM": Case("wine", scaled(lambda: LinearSVC(random_state=0)), None),
        "breast cancer, logistic": Case("breast_cancer", logistic, None),
        "digits, ridge": Case("digits", scaled(RidgeClassifier), None),
        "diabetes, ridge": Case(
            "diabetes", lambda: PrivateRegressor(make_pipeline(StandardScaler(), Ridge())), None
        ),
        "breast cancer, stumps": Case(
            "breast_cancer",
            lambda: PrivateClassifier(GradientBoostingClassifier(max_depth=1, random_state=0)),
            Scores(bins="thresholds"),
        ),
        "breast cancer, forest fitted again": Case(
            "breast_cancer",
            lambda: PrivateClassifier(RandomForestClassifier(random_state=0)),
            Scores(refit="additive"),
        ),
        "digits, network 64-32-10": Case("digits", network, None, quick_splits=1),
        "breast cancer, logistic, outsourced": Case("breast_cancer", logistic, Outsourced()),
        "iris, tree: class alone": Case(
            "iris",
            lambda: PrivateClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)),
            Classes(min_agreement=0.95),
            quick_splits=1,
            quick_rows=15,
        ),
        "iris, 5 neighbours": Case(
            "iris",
            lambda: PrivateNeighbours(make_pipeline(StandardScaler(), KNeighborsClassifier())),
            Search(records="public"),
        ),
    }


def _of_tables() -> dict[str, Case]:
    """Whole pipelines on tables and texts."""
    from hesc.ml import PrivateClassifier, PrivateRegressor, Scores

    # Errors that no class of a test row changes by: margins of some are small.
    exact = Scores(max_error=0.002)
    return {
        MIXED: Case("penguins", lambda: PrivateClassifier(pipelines.words_and_numbers()), None),
        "penguins, imputed, ridge": Case(
            "masses", lambda: PrivateRegressor(pipelines.imputed()), None
        ),
        "functions, target encoding, logistic": Case(
            "functions", lambda: PrivateClassifier(pipelines.target_encoded()), exact, rows=1000
        ),
        "docstrings, TF-IDF, logistic": Case(
            "docstrings",
            lambda: PrivateClassifier(pipelines.texts()),
            exact,
            rows=1000,
            quick_splits=1,
        ),
        "breast cancer, calibrated SVM": Case(
            "breast_cancer", lambda: PrivateClassifier(pipelines.calibrated()), exact
        ),
    }


def reproduce(options: Options) -> Report:
    """Fits, plans, encrypts and scores, on one thread."""
    # Numpy's products of matrices have threads of their own.
    with threadpool_limits(1), warnings.catch_warnings():
        # Of networks that stop before they converge, and of values that are clipped: both count.
        warnings.simplefilter("ignore")
        return _reproduced(options)


def _reproduced(options: Options) -> Report:
    splits, runs = (QUICK_SPLITS, QUICK_RUNS) if options.quick else (SPLITS, RUNS)
    rows: list[dict[str, Any]] = []
    for name, case in options.track(list(cases().items()), "models"):
        if options.quick:
            small = case._replace(rows=min(case.rows, case.quick_rows))
            found = _measured(small, case.quick_splits, runs, QUICK_FILES)
        else:
            found = _measured(case, SPLITS, runs)
        rows.append({"model": name} | found)
    whole = _of_tables()
    ratios = {
        "worst loss of a mean": max(float(row["clear"] - row["private"]) for row in rows),
        "largest error / stated": max(row["error / stated"] or 0.0 for row in rows),
        "least agreement of pipelines": min(
            row["same"] for row in rows if row["model"] in whole and row["same"] is not None
        ),
    }
    notes = [
        f"means over {'up to ' if options.quick else ''}{splits} splits, 30 % of the rows for the "
        "test; values beyond the ranges of the rows planned with are clipped. `clear` and "
        "`private` are accuracies, of regressors shares of variance explained; `same` is the "
        "share of test rows with the clear class",
        "error / stated: root mean square of all test scores' errors over what the plan states, "
        "the largest of all splits; of networks with what polynomials do to activations",
        f"one sample: median of up to {runs} round trips; keys: bytes, once, for the server",
    ]
    if "concrete-ml" in options.peers:
        theirs = concrete_ml_peer.rows(quick=options.quick)
        rows += list(options.track(theirs, "models of the peer"))
        notes.append(concrete_ml_peer.NOTE)
        ratios |= _beside(rows)
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="means over splits",
        rows=rows,
        ratios=ratios,
        notes=notes,
        repetitions=runs,
    )


def _beside(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The peer's times over ours, by model."""
    ours = {row["model"]: row for row in rows}
    found = {}
    for row in rows:
        mine = ours.get(str(row["model"]).removeprefix("Concrete ML: "))
        if mine is not None and mine is not row:
            found[f"Concrete ML / hesc: {mine['model']}, ms"] = (
                row["one sample, ms"] / mine["one sample, ms"]
            )
    return found


def _measured(case: Case, splits: int, runs: int, every: int = 1) -> dict[str, Any]:
    clear, private, same, errors = [], [], [], []
    row: dict[str, Any] = {}
    for seed in range(splits):
        train, test, learnt, right = split(case.data, seed, every)
        made = case.make().fit(train, learnt)
        plan = made.plan(train, case.options)
        test, right = test[: case.rows], right[: case.rows]
        run = made.run(test, clip=True, progress=False)
        expected = made.predict(test)
        clear.append(_score(right, expected, plan))
        private.append(_score(right, run.predictions, plan))
        if plan.classes is not None:
            same.append(float((run.predictions == expected).mean()))
        if plan.error:
            errors.append(_error(made, plan, test, run))
        if not seed:
            row = _one_sample(made, plan, test, runs)
    return {
        "clear": statistics.mean(clear),
        "private": statistics.mean(private),
        "same": statistics.mean(same) if same else None,
        "error / stated": max(errors) if errors else None,
        **row,
    }


def _score(right: NDArray[Any], found: NDArray[Any], plan: Any) -> float:
    """Accuracy, or the share of variance explained."""
    if plan.classes is not None:
        return float((found == right).mean())
    return float(1 - np.square(right - found).mean() / right.var())


def _error(made: Any, plan: Any, test: NDArray[Any], run: Any) -> float:
    """The error of scores over what the plan states, on the rows within their ranges."""
    inside = ~plan.prepared(test, clip=True).which
    if getattr(plan, "fidelity", None) is not None:
        truth = made.decision_function(test, fhe="simulate", clip=True, progress=False)
        # A simulation has errors of the same law, apart from the run's.
        return float(np.sqrt(np.square(run.scores - truth)[inside].mean() / 2) / plan.error)
    if plan.classes is not None and not hasattr(made, "decision_function"):
        # Calibrated models have probabilities alone.
        scores = extraction.clear_scores(made.estimator_, test)
    else:
        scores = getattr(made, "decision_function", made.predict)(test)
    return float(np.sqrt(np.square(run.scores - scores)[inside].mean()) / plan.error)


def _one_sample(made: Any, plan: Any, test: NDArray[Any], runs: int) -> dict[str, Any]:
    client = made.client()
    keys = client.public_keys() if plan.needs_keys else None
    server = made.server(keys=keys)
    times: list[float] = []
    up = down = 0
    first = time.perf_counter()
    while len(times) <= runs and (len(times) < 2 or time.perf_counter() - first < LONGEST):
        start = time.perf_counter()
        query = client.encrypt(test[:1], clip=True).data
        answer = server.answer(query)
        client.decrypt(answer, query=query)
        times.append(time.perf_counter() - start)
        up, down = len(query), len(answer)
    return {
        # Caches are cold in the first.
        "one sample, ms": 1e3 * statistics.median(times[1:]),
        "up": up,
        "down": down,
        "keys": 0 if keys is None else len(keys),
        "samples of a query": plan.rows,
    }


def plot(report: Report, path: Path) -> None:
    """What is lost against the clear model, and what one sample takes."""
    from matplotlib.figure import Figure

    rows = report.rows[::-1]
    figure = Figure(figsize=(10, 0.42 * len(rows) + 1.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(rows))
    # The peer's models are fitted by itself, and have none in the clear beside them.
    lost = [100 * (row["private"] - row.get("clear", row["private"])) for row in rows]
    left.barh(places, lost, color="C0")
    left.set_yticks(places, [row["model"] for row in rows])
    left.set_xlabel("private minus clear, points")
    left.axvline(0, color="0.3", linewidth=0.8)
    right.barh(places, [row["one sample, ms"] for row in rows], color="C1")
    right.set(xscale="log", xlabel="one sample, all sides, ms")
    for axis in (left, right):
        axis.grid(axis="x", alpha=0.3)
        axis.set_axisbelow(True)
    figure.suptitle(report.title)
    figure.savefig(path, dpi=120)
