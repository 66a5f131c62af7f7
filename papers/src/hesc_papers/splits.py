"""Sets of data that come with packages, split for training and tests."""

from __future__ import annotations

import ast
from collections import deque
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc_papers.syntax_trees import parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_LIBRARIES: Final = ("numpy", "sklearn", "pandas")
"""Whose functions are told apart."""
_SHORTEST: Final = 80
"""Letters of a docstring that is taken."""
_REGRESSIONS: Final = ("diabetes", "masses")
_BLOCKS: Final = ("body", "handlers", "orelse", "finalbody", "cases")
"""Fields of statements that hold statements, in the order of Python's syntax trees."""


def split(data: str, seed: int, every: int = 1) -> tuple[Any, Any, NDArray[Any], NDArray[Any]]:
    """Training rows, test rows, and their targets.

    Args:
        data: one of scikit-learn's bundled sets, or of `_OWN` or `_READ`.
        seed: which split.
        every: of files that a set of `_READ` is read from, one in so many.

    """
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    if data in _READ:
        x, y = _READ[data](every)
    elif data in _OWN:
        x, y = _OWN[data]()
    else:
        x, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    kept = None if data in _REGRESSIONS else y
    found: tuple[Any, Any, NDArray[Any], NDArray[Any]] = tuple(
        train_test_split(x, y, test_size=0.3, random_state=seed, stratify=kept)
    )
    return found


def _penguins() -> Any:
    """Penguins of three kinds with words, numbers and missing cells (palmerpenguins, CC0)."""
    import pandas as pd

    path = files("palmerpenguins") / "data" / "penguins.csv"
    return pd.read_csv(path)


def _kinds() -> tuple[Any, NDArray[Any]]:
    table = _penguins()
    return table.drop(columns="species"), table["species"].to_numpy(dtype=str)


def _masses() -> tuple[Any, NDArray[Any]]:
    table = _penguins()
    table = table[table["body_mass_g"].notna()]
    return table.drop(columns="body_mass_g"), table["body_mass_g"].to_numpy(dtype=np.float64)


@cache
def _docstrings(every: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Texts that document functions, and which library each is of."""
    found = [
        (function.docstring, library)
        for library, function in _all_functions(every)
        if len(function.docstring) >= _SHORTEST
    ]
    texts, names = zip(*found, strict=True)
    return np.array(texts, dtype=object), np.array(names)


@cache
def _functions(every: int) -> tuple[Any, NDArray[Any]]:
    """Functions by the names of their arguments, which are words and many, and by their sizes."""
    import pandas as pd

    libraries, rows = [], []
    for library, function in _all_functions(every):
        names = function.arguments
        rows.append((*_ends(names), float(len(names)), float(function.lines)))
        libraries.append(library)
    columns = ["first argument", "last argument", "arguments", "lines"]
    return pd.DataFrame(rows, columns=columns), np.array(libraries)


def _ends(names: list[str]) -> tuple[str | None, str | None]:
    """The first name and the last one, where there is one, and a second."""
    return names[0] if names else None, names[-1] if names[1:] else None


class _Function(NamedTuple):
    """What is taken of a function: whole trees of files are much to keep."""

    docstring: str
    arguments: list[str]
    lines: int


@cache
def _all_functions(every: int) -> list[tuple[str, _Function]]:
    """Functions of some libraries with their names, read from their files: nothing is run.

    Files are parsed once for both sets of data, which takes seconds.
    """
    return [each for library in _LIBRARIES for each in _functions_of(library, every)]


def _functions_of(library: str, every: int) -> Iterator[tuple[str, _Function]]:
    for path in sorted(Path(str(files(library))).rglob("*.py"))[::every]:
        if "tests" not in path.parts:
            for node in _statements(parsed(path)):
                if isinstance(node, ast.FunctionDef):
                    text = ast.get_docstring(node) or ""
                    yield library, _Function(text, _arguments(node), _lines(node))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Statements of a file as `ast.walk` orders them; expressions, which are most, hold none."""
    todo: deque[ast.AST] = deque([tree])
    while todo:
        node = todo.popleft()
        for block in _BLOCKS:
            todo.extend(getattr(node, block, ()))
        yield node


def _arguments(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in function.args.args if each.arg != "self"]


def _lines(function: ast.FunctionDef) -> int:
    return 1 + (function.end_lineno or function.lineno) - function.lineno


_OWN: Final[dict[str, Callable[[], tuple[Any, NDArray[Any]]]]] = {
    "penguins": _kinds,
    "masses": _masses,
}
"""Sets that scikit-learn does not bundle."""
_READ: Final[dict[str, Callable[[int], tuple[Any, NDArray[Any]]]]] = {
    "docstrings": _docstrings,
    "functions": _functions,
}
"""Sets that are read from files of libraries."""
