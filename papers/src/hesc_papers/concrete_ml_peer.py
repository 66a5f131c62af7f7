"""Concrete ML, in an interpreter of its own: it wants another numpy and another scikit-learn."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import HescError
from hesc_papers.pipelines import columns_of_words_and_numbers
from hesc_papers.splits import split

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON: Final = "HESC_CONCRETE_ML"
NOTE: Final = (
    "Concrete ML: its models with the settings that they have by default, fitted on the training "
    "rows of the first split behind the transforms of ours, which scikit-learn fits for it; each "
    "sample through its client and server; one thread"
)
MIXED: Final = "penguins, words and numbers, logistic"
"""What ours and theirs call the pipeline on a table with words."""
_RUNS: Final = 5


class Model(NamedTuple):
    """One of ours, and the peer's."""

    data: str
    ours: str
    theirs: str


MODELS: Final = (
    Model("wine", "wine, linear SVM", "svm"),
    Model("breast_cancer", "breast cancer, logistic", "logistic"),
    Model("diabetes", "diabetes, ridge", "ridge"),
    Model("iris", "iris, tree: class alone", "tree"),
    Model("penguins", MIXED, "logistic"),
)


def rows(*, quick: bool) -> Iterator[dict[str, Any]]:
    """A row of the report for each model.

    Raises:
        HescError: there is no such interpreter, or it failed; the message has what it said.

    """
    yield from map(row, MODELS[: 2 if quick else None])


def row(model: Model) -> dict[str, Any]:
    """A row of a report for a model of the peer.

    Raises:
        HescError: as `rows`.

    """
    found = _run(model)
    predicted, right = np.array(found["found"]), np.array(found["right"])
    if model.theirs == "ridge":
        score = 1 - np.square(right - predicted).mean() / right.var()
    else:
        score = (predicted == right).mean()
    return {
        "model": f"Concrete ML: {model.ours}",
        "private": float(score),
        "one sample, ms": 1e3 * found["seconds"],
        "up": found["up"],
        "down": found["down"],
        "keys": found["keys"],
        "samples of a query": 1,
        "peer": f"concrete-ml {found['version']}, concrete-python {found['python']}",
    }


def _run(model: Model) -> dict[str, Any]:
    from sklearn.preprocessing import StandardScaler

    python = os.environ.get(PYTHON, "")
    if not Path(python).is_file():
        raise HescError(
            f"{PYTHON} names the interpreter that has Concrete ML: python3.11 -m venv cml && "
            f"cml/bin/pip install concrete-ml==1.9.0 && export {PYTHON}=cml/bin/python"
        )
    train, test, learnt, right = split(model.data, 0)
    if learnt.dtype.kind == "U":
        # It takes no words for classes.
        names = np.unique(learnt)
        learnt, right = np.searchsorted(names, learnt), np.searchsorted(names, right)
    before = columns_of_words_and_numbers() if model.ours == MIXED else StandardScaler()
    train, test = before.fit_transform(train), before.transform(test)
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/split.npz"
        np.savez(file, train=train, test=test, learnt=learnt, right=right)
        script = Path(__file__).with_name("concrete_ml_run.py")
        done = subprocess.run(  # noqa: S603 - our own script
            [Path(python).absolute(), script, model.theirs, file, str(_RUNS)],
            capture_output=True,
            text=True,
            check=False,
            # Where it leaves what it could not compile.
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""},
        )
    if done.returncode:
        raise HescError(f"Concrete ML failed: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
