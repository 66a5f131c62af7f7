"""Sizes of the module of `web/`, and what a client takes in Node beside Python.

Run: python -m scripts.web_times
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import time
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hesc.ml import LinearClient, PrivateClassifier
from hesc.protocols.linear.plan import LinearPlan
from scripts.web import BUILT

if TYPE_CHECKING:
    from collections.abc import Callable

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


def _times(x: Any, y: Any, samples: int) -> dict[str, dict[str, float]]:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    private = PrivateClassifier(model).fit(x, y)
    private.plan(x, table=False)
    data = private.client().plan.to_bytes()
    plan = LinearPlan.from_bytes(data)
    client = LinearClient(plan)
    query = client.encrypt(x[:samples]).data
    answer = private.server().answer(query)
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
            "plan": _least(lambda: LinearPlan.from_bytes(data), 3),
            "key": _least(lambda: LinearClient(plan), 10),
            "encrypt": _least(lambda: client.encrypt(x[:samples]), 20),
            "decrypt": _least(lambda: client.decrypt(answer, query=query), 20),
            "seal": _least(lambda: client.secret.save(next(kept), passphrase=_PASSPHRASE), 1),
        }
    return {"Node": there, "Python": here}


def main() -> None:
    """Prints both."""
    _sizes()
    for load in (load_iris, load_breast_cancer, load_digits):
        x, y = load(return_X_y=True)
        for samples in (1, 20):
            for where, times in _times(x, y, samples).items():
                told = ", ".join(f"{name} {each:.3g}" for name, each in times.items())
                print(f"{load.__name__[5:]}, {samples} samples, {where}, ms: {told}")


if __name__ == "__main__":
    main()
