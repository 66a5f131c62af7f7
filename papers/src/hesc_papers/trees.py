"""Models of trees, scored exactly: bytes, the server's time, sums that are right, accuracy."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from hesc.models import extraction
from hesc.protocols.trees.preparations import Preparations
from hesc_papers import concrete_ml_peer, plots
from hesc_papers.clock import Clock
from hesc_papers.report import Report
from hesc_papers.splits import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:trees"
TITLE: Final = "models of trees, scored exactly"
PEERS: Final = ("concrete-ml",)
SUMS: Final = 10_000
"""Sums that are decrypted and compared."""
SPLITS: Final = 10
TARGETS: Final = {
    "trees.lightgbm300x31.server_T": 750.0,
    "trees.lightgbm300x31.up_bytes": 520_000.0,
    "trees.lightgbm300x31.down_bytes": 460_000.0,
    "trees.histgb100x3.server_T": 160.0,
    "trees.histgb100x3.up_bytes": 172_000.0,
    "trees.histgb100x3.down_bytes": 136_000.0,
    "trees.forest100x6.server_T": 640.0,
    "trees.forest100x6.up_bytes": 451_000.0,
    "trees.forest100x6.down_bytes": 405_000.0,
} | {
    f"trees.{name}.{key}": most
    for name in ("lightgbm300x31", "histgb100x3", "forest100x6")
    for key, most in (
        ("online_T", 10.0),
        ("online_up_bytes", 2400.0),
        ("online_down_bytes", 9100.0),
    )
}
"""What was asked for, at most: of a query at once, and of one that was prepared."""


FIGURES: Final = (
    "server_T",
    "up_bytes",
    "down_bytes",
    "online_T",
    "online_up_bytes",
    "online_down_bytes",
)
"""What is measured of a model."""
PREPARED: Final = 32
"""Prepared queries of a model."""


class Family(NamedTuple):
    """A kind of model, and the package that fits it."""

    name: str
    package: str
    make: Callable[[], Any]
    """A model of few trees, since every class of the digits has its own."""


def families() -> list[Family]:
    """Nine families of four packages."""
    from sklearn import ensemble, tree

    def of(package: str, name: str, **options: Any) -> Callable[[], Any]:
        def make() -> Any:
            module = __import__(package, fromlist=[name])
            return getattr(module, name)(**options)

        return make

    few = {"n_estimators": 12, "max_depth": 4, "random_state": 0}
    return [
        Family("decision tree", "sklearn", lambda: tree.DecisionTreeClassifier(random_state=0)),
        Family("random forest", "sklearn", lambda: ensemble.RandomForestClassifier(**few)),
        Family("extra trees", "sklearn", lambda: ensemble.ExtraTreesClassifier(**few)),
        Family("gradient boosting", "sklearn", lambda: ensemble.GradientBoostingClassifier(**few)),
        Family(
            "histogram boosting",
            "sklearn",
            lambda: ensemble.HistGradientBoostingClassifier(
                max_iter=12, max_depth=4, random_state=0
            ),
        ),
        Family(
            "AdaBoost",
            "sklearn",
            lambda: ensemble.AdaBoostClassifier(
                tree.DecisionTreeClassifier(max_depth=3), n_estimators=12, random_state=0
            ),
        ),
        Family("XGBoost", "xgboost", of("xgboost", "XGBClassifier", **few, n_jobs=1)),
        Family("LightGBM", "lightgbm", of("lightgbm", "LGBMClassifier", **few, verbose=-1)),
        Family(
            "CatBoost",
            "catboost",
            of(
                "catboost",
                "CatBoostClassifier",
                iterations=12,
                depth=4,
                random_seed=0,
                verbose=False,
                allow_writing_files=False,
            ),
        ),
    ]


def sized() -> dict[str, Callable[[], Any]]:
    """Models whose bytes and time are measured, by name."""
    from sklearn import ensemble

    def lightgbm() -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            n_estimators=300,
            num_leaves=31,
            max_bin=31,
            min_child_samples=2,
            verbose=-1,
            n_jobs=1,
            random_state=0,
        )

    return {
        "lightgbm300x31": lightgbm,
        "histgb100x3": lambda: ensemble.HistGradientBoostingClassifier(
            max_iter=100, max_depth=3, random_state=0
        ),
        "forest100x6": lambda: ensemble.RandomForestClassifier(100, max_depth=6, random_state=0),
    }


def reproduce(options: Options) -> Report:
    """Fits, plans, encrypts and scores, on one thread."""
    with threadpool_limits(1), warnings.catch_warnings():
        # Of names of features that some packages make up.
        warnings.simplefilter("ignore")
        return _reproduced(options)


def _reproduced(options: Options) -> Report:
    clock = Clock(quick=options.quick)
    rows, ratios = [], {}
    models = list(sized().items())
    for name, make in options.track(models[1:2] if options.quick else models, "models"):
        row = _sized(name, make, clock)
        rows.append(row)
        for key in FIGURES:
            ratios[f"trees.{name}.{key}"] = float(row[key])
        row = _sized(name, make, clock, "public")
        rows.append(row | {"model": f"{name}, public"})
        for key in FIGURES:
            ratios[f"trees.{name}.public.{key}"] = float(row[key])
    kinds = families()[: 2 if options.quick else None]
    wanted = -(-SUMS // len(kinds)) if not options.quick else 60
    checked, wrong, lost = 0, 0, 0.0
    splits = 1 if options.quick else SPLITS
    for family in options.track(kinds, "families"):
        # In this order the first split's model is planned once for both.
        row = _checked(family, wanted)
        own, ours = _accuracies(family, splits)
        row |= {"accuracy": own, "private accuracy": ours}
        rows.append(row)
        checked, wrong = checked + row["sums"], wrong + row["wrong"]
        lost = max(lost, own - ours)
    ratios |= {
        "trees.sums": float(checked),
        "trees.wrong": float(wrong),
        "trees.accuracy_lost": lost,
    }
    notes = [
        "server_T: the server's time for one sample in transforms of 8192 points modulo 50 bits "
        "in the same run (see hesc:rings), medians, one thread; bytes are of one sample's messages",
        f"sums: decrypted sums of leaves; one is wrong if it is not the sum of the leaves that the "
        f"sample reaches, or its score further from the package's own than the plan states. "
        f"accuracy: means over {splits} splits, of the package and decrypted",
        "edges are the trees' thresholds, which are public; scores have 17 bits",
    ]
    if "concrete-ml" in options.peers:
        peers = options.track(list(_beside(clock)), "models of the peer")
        for row, name, ratio in peers:
            rows.append(row)
            if ratio is not None:
                ratios[f"trees.vs_concrete_ml.{name}"] = ratio
        notes.append(concrete_ml_peer.NOTE)
        notes.append(
            "Concrete ML's client sends features that are compared under encryption: it learns "
            "no threshold and no number of trees, and the server's model is as it was quantised. "
            "Ours compares with public edges itself, and is told numbers of trees and leaves"
        )
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="one sample",
        rows=rows,
        ratios=ratios,
        parameters={"targets": TARGETS},
        notes=notes,
    )


def _private(model: Any, train: Any, learnt: Any, structure: Any = "hidden") -> Any:
    from hesc.ml import PrivateClassifier, Trees

    private = PrivateClassifier(model).fit(train, learnt)
    private.plan(train, Trees(structure=structure), table=False)
    return private


@lru_cache(maxsize=2)
def _of_split(family: Family, data: str, seed: int) -> Any:
    """A model of the training rows; the last two are kept."""
    train, _, learnt, _ = split(data, seed)
    return _private(family.make(), train, learnt)


def _sized(
    name: str, make: Callable[[], Any], clock: Clock, structure: str = "hidden"
) -> dict[str, Any]:
    """Bytes and times of one sample, at once and prepared."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    train, test, learnt, _ = train_test_split(
        *load_breast_cancer(return_X_y=True), test_size=0.5, random_state=0
    )
    private = _private(make(), train, learnt, structure)
    plan = private._served().plan  # noqa: SLF001 - what was planned
    client = private.client()
    server = private.server(keys=client.public_keys())
    server.preparations = Preparations()
    query = client.encrypt(test[:1]).data
    answer = server.answer(query)
    answered = clock.time(lambda: server.answer(query))
    encrypted = clock.time(lambda: client.encrypt(test[:1]))
    read = clock.time(lambda: client.decrypt(answer))
    queries = _prepared(client, server, test)
    online = clock.time(lambda: server.answer(next(queries)))
    told = server.answer(last := next(queries))
    off = client.decrypt(told, query=last).scores != client.decrypt(answer, query=query).scores
    if off.any():
        raise AssertionError("a prepared query has another score")
    return {
        "model": name,
        "trees": sum(plan.trees),
        "leaves": len(private._served().boxes.values),  # noqa: SLF001 - what was planned
        "bits": plan.forest.edges,
        "up_bytes": len(query),
        "down_bytes": len(answer),
        "server_T": answered.units,
        "server, ms": 1e3 * answered.seconds,
        "encrypt, ms": 1e3 * encrypted.seconds,
        "decrypt, ms": 1e3 * read.seconds,
        "online_T": online.units,
        "online, us": 1e6 * online.seconds,
        "online_up_bytes": len(last),
        "online_down_bytes": len(told),
    }


def _prepared(client: Any, server: Any, test: Any) -> Iterator[bytes]:
    """Queries of one sample that were prepared in time, more than are timed: each is used once."""
    while client.ready < PREPARED:
        message = client.prepare(min(PREPARED, client.plan.rows))
        client.complete(server.answer(message), query=message)
    return iter([client.encrypt(test[:1], prepared=True).data for _ in range(PREPARED)])


def _checked(family: Family, wanted: int) -> dict[str, Any]:
    """Decrypted sums beside those of the leaves that samples reach."""
    row: dict[str, Any] = {"model": family.name, "trees": 0, "leaves": 0, "sums": 0, "wrong": 0}
    worst = 0.0
    for data in ("breast_cancer", "digits"):
        test = split(data, 0)[1]
        private = _of_split(family, data, 0)
        plan = private._served().plan  # noqa: SLF001 - what was planned
        shapes = plan.forest.outputs
        # More samples than there are come again, under new randomness.
        count = -(-wanted // (2 * len(shapes)))
        rows = test[np.arange(count) % len(test)]
        scores = private.run(rows, progress=False).scores.reshape(count, -1)
        off = np.abs(scores - extraction.clear_scores(private.estimator_, rows)) / plan.error
        whole = np.rint(scores / plan.unit) == _reached(private.estimator_, plan.unit, rows)
        row["trees"] += sum(trees for trees, _ in shapes)
        row["leaves"] += sum(leaves for _, leaves in shapes)
        row["sums"] += scores.size
        row["wrong"] += int((~whole | (off > 1 + 1e-9)).sum())
        worst = max(worst, float(off.max()))
    return row | {"error / stated": worst}


def _reached(estimator: Any, unit: float, rows: Any) -> Any:
    """Sums of rounded leaves, tree by tree as samples go down: no box and no bit."""
    trees = extraction.trees_of(extraction.parts_of(estimator)[-1])
    nodes = trees.reached(np.asarray(rows, dtype=np.float64))
    ends = np.append(trees.roots[1:], len(trees.features))
    total = np.zeros((len(rows), trees.outputs))
    for output in range(trees.outputs):
        # A tree that says the same of all samples is part of the offset, which is rounded once.
        offset, others = float(trees.offset[output]), []
        for at, root, end in zip(nodes.T, trees.roots, ends, strict=True):
            said = trees.values[root:end, output][trees.leaves[root:end]]
            if (said == said[0]).all():
                offset += float(said[0])
            else:
                others.append(trees.values[at, output])
        first, *rest = others or [np.zeros(len(rows))]
        total[:, output] = np.rint((first + offset) / unit)
        total[:, output] += sum(np.rint(values / unit) for values in rest)
    return total


def _accuracies(family: Family, splits: int) -> tuple[float, float]:
    own, ours = [], []
    for seed in range(splits):
        _, test, _, right = split("breast_cancer", seed)
        private = _of_split(family, "breast_cancer", seed)
        own.append(float((private.predict(test) == right).mean()))
        ours.append(float((private.run(test, progress=False).predictions == right).mean()))
    return float(np.mean(own)), float(np.mean(ours))


def _beside(clock: Clock) -> Iterator[tuple[dict[str, Any], str, float | None]]:
    """Ours and the peer's, on the same rows: a row, what it is called, and their time over ours."""
    from sklearn.ensemble import RandomForestClassifier

    def boosted() -> Any:
        from xgboost import XGBClassifier

        return XGBClassifier(n_jobs=1, random_state=0)

    makes = {
        "forest": lambda: RandomForestClassifier(100, max_depth=6, random_state=0),
        "xgboost": boosted,
    }
    for name, make in makes.items():
        train, test, learnt, _ = split("breast_cancer", 0)
        private = _private(make(), train, learnt)
        client = private.client()
        server = private.server(keys=client.public_keys())

        def trip(client: Any = client, server: Any = server, row: Any = test[:1]) -> None:
            query = client.encrypt(row).data
            client.decrypt(server.answer(query), query=query)

        ours = clock.time(trip)
        yield (
            {
                "model": f"{name}, all sides",
                "all sides, ms": 1e3 * ours.seconds,
                "private accuracy": float(
                    (
                        private.run(test, progress=False).predictions
                        == split("breast_cancer", 0)[3]
                    ).mean()
                ),
            },
            name,
            None,
        )
        theirs = concrete_ml_peer.row(
            concrete_ml_peer.Model("breast_cancer", f"{name}, all sides", name)
        )
        milliseconds = float(theirs["one sample, ms"])
        yield (
            {
                "model": theirs["model"],
                "all sides, ms": milliseconds,
                "up_bytes": theirs["up"],
                "down_bytes": theirs["down"],
                "keys": theirs["keys"],
                "private accuracy": theirs["private"],
                "peer": theirs["peer"],
            },
            name,
            milliseconds / (1e3 * ours.seconds),
        )


def plot(report: Report, path: Path) -> None:
    """What was measured over what was asked for."""
    targets = [
        (name.removeprefix("trees."), report.ratios[name], asked)
        for name, asked in TARGETS.items()
        if name in report.ratios
    ]
    plots.shares(report, path, targets)
