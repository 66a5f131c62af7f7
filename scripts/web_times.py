"""Sizes of the module of `web/`, and what a client takes in Node beside Python.

Run: python -m scripts.web_times [--sizes]
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hesc.ml import PrivateClassifier, Trees
from hesc.protocols import registry
from hesc.search import Index, SearchClient, SearchPlan, SearchServer
from scripts.web import BUILT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PASSPHRASE = "of a measurement"  # noqa: S105 - of nothing
_BROTLI = (
    "const z=require('zlib');const d=require('fs').readFileSync(process.argv[1]);"
    "console.log(z.brotliCompressSync(d,{params:{[z.constants.BROTLI_PARAM_SIZE_HINT]:d.length}}).length)"
)


def _least(call: Callable[[], object], rounds: int) -> float:
    """Milliseconds, the least of twelve groups."""
    found = []
    for _ in range(12):
        start = time.perf_counter()
        for _ in range(rounds):
            call()
        found.append((time.perf_counter() - start) / rounds * 1e3)
    return min(found)


def _node(*arguments: str) -> str:
    node = shutil.which("node") or "node"
    command = [node, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return done.stdout


def _sizes() -> None:
    for file in sorted(BUILT.glob("*.wasm")) + sorted(BUILT.glob("*.js")):
        data = file.read_bytes()
        brotli = int(_node("-e", _BROTLI, str(file)))
        print(
            f"{file.name}: {len(data)} bytes, gzip {len(zlib.compress(data, 9))}, brotli {brotli}"
        )


class _Case(NamedTuple):
    """A client, what answers it, and rows of its samples."""

    name: str
    client: Any
    server: Any
    rows: Any


def _cases() -> Iterator[_Case]:
    """Scores of three tables, trees and a search."""
    for load in (load_iris, load_breast_cancer, load_digits):
        x, y = load(return_X_y=True)
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
        private = PrivateClassifier(model).fit(x, y)
        private.plan(x, table=False)
        yield _Case(load.__name__[5:], private.client(), private.server(), x)
    x, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=100, max_depth=4, random_state=0)
    trees = PrivateClassifier(forest).fit(x, y)
    trees.plan(x, Trees(structure="public"), table=False)
    client = trees.client()
    yield _Case("100 trees", client, trees.server(keys=client.public_keys()), x)
    vectors = np.random.default_rng(0).normal(size=(10_000, 64))
    plan = SearchPlan.of_vectors(vectors, records="public", keys=False)
    yield _Case("search", SearchClient(plan), SearchServer.of(Index(plan, vectors)), vectors)


def _times(case: _Case, samples: int) -> dict[str, dict[str, float]]:
    _, client, server, x = case
    data = client.plan.to_bytes()
    plan = registry.read_plan(data)
    query = client.encrypt(x[:samples]).data
    answer = server.answer(query)
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "plan.json").write_bytes(data)
        (folder / "query").write_bytes(query)
        (folder / "answer").write_bytes(answer)
        (folder / "rows.json").write_text(json.dumps({"rows": x[:samples].tolist()}))
        client.secret.save(folder / "secret.key", passphrase=_PASSPHRASE)
        there = json.loads(_node(str(Path(__file__).with_suffix(".mjs")), place))
        kept = (folder / f"{count}.key" for count in itertools.count())
        here = {
            "plan": _least(lambda: registry.read_plan(data), 3),
            "key": _least(lambda: registry.client_of(plan), 10),
            "encrypt": _least(lambda: client.encrypt(x[:samples]), 20),
            "decrypt": _least(lambda: client.decrypt(answer, query=query), 20),
            "seal": _least(lambda: client.secret.save(next(kept), passphrase=_PASSPHRASE), 1),
        }
    return {"Node": there, "Python": here}


def main() -> None:
    """Prints sizes, and times of both unless sizes alone are asked for."""
    _sizes()
    if sys.argv[1:] == ["--sizes"]:
        return
    for case in _cases():
        for samples in (1, min(20, case.client.plan.rows)):
            for where, times in _times(case, samples).items():
                told = ", ".join(f"{name} {each:.3g}" for name, each in times.items())
                print(f"{case.name}, {samples} samples, {where}, ms: {told}")


if __name__ == "__main__":
    main()
