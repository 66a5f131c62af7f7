"""What is read from an ONNX file, against what onnxruntime computes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError
from hesc.models import transforms
from hesc.models.conclusions import predictions, probabilities
from hesc.models.layers import steepest
from hesc.models.transforms import Scaler
from hesc.models.trees import NEVER, TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.described import Described
    from hesc.models.onnx.onnx_files import Graph

    Array = NDArray[np.float64]

_ROWS: Final = 200
_HALF: Final = 2.0**-24
"""The rounding of a float32, relative."""
_LINKS: Final = 1e-5
"""What probabilities may differ by beside scores: onnxruntime's exponentials are short ones."""


def check(graph: Graph, model: Described) -> None:
    """Compares scores or probabilities, and labels, of random rows.

    Rows are float32, so that both sides see the same numbers: normal ones of deviation 0.1, 1 and
    10, about the centres and in the units of a first scaler if there is one, and for trees each
    with one feature at a threshold. onnxruntime computes in float32, so that results may differ by
    what rounding every product and sum of a row can do (`2^-24` of their absolute values, for
    each), probabilities by another `1e-5`. Labels have to be equal where no score is that close
    to another one. Trees behind a scaler may send rows another way whose features come that close
    to a threshold: these are not compared.

    Raises:
        ParameterError: results that differ by more, or onnxruntime refuses the file.

    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    rows = _rows(model)
    try:
        session = onnxruntime.InferenceSession(
            graph.data, options, providers=["CPUExecutionProvider"]
        )
        found = _run(session, graph, rows)
    # Its errors have no common class but this one.
    except Exception as error:
        raise ParameterError("onnxruntime does not run this file; export it again") from error
    # Numbers that overflow are no agreement.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scores, doubt, clear = _expected(model, rows)
        outputs = [_array(value, model) for value in found]
        same = all(_is_of_rows(out, model, scores) for out in outputs)
        if same and model.classes is None:
            same = _close(outputs[0], scores, doubt, clear)
        elif same:
            same = all(_same_classes(out, model, scores, doubt, clear) for out in outputs)
    if not same:
        raise ParameterError(
            "onnxruntime computes something else from this file than is read here; it is not "
            "loaded. Please report the file's operators"
        )


def _rows(model: Described) -> Array:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((_ROWS, model.inputs)) * rng.choice([0.1, 1, 10], (_ROWS, 1))
    scaler = model.steps[0] if model.steps else None
    if isinstance(scaler, Scaler):
        rows = rows / np.where(scaler.factor == 0, 1, scaler.factor) + scaler.centre
    elif isinstance(model.model, TreeEnsemble):
        nodes = np.flatnonzero(~model.model.leaves & (model.model.thresholds < NEVER))
        for row, node in zip(rows, rng.choice(nodes, _ROWS) if len(nodes) else (), strict=False):
            row[model.model.features[node]] = model.model.thresholds[node]
    rounded: Array = rows.astype(np.float32).astype(np.float64)
    return rounded


def _run(session: Any, graph: Graph, rows: Array) -> list[Any]:
    """Outputs of all rows, one by one where a graph takes batches of one."""
    if not any(given.one_row for given in graph.inputs):
        found: list[Any] = session.run(None, _feeds(graph, rows))
        return found
    singles = [session.run(None, _feeds(graph, row)) for row in rows[:, None]]
    return [_together(parts) for parts in zip(*singles, strict=True)]


def _together(parts: tuple[Any, ...]) -> Any:
    if isinstance(parts[0], list):
        return [one for part in parts for one in part]
    return np.concatenate([np.atleast_1d(part) for part in parts])


def _feeds(graph: Graph, rows: Array) -> dict[str, NDArray[Any]]:
    feeds, first = {}, 0
    for given in graph.inputs:
        part = rows[:, first : first + given.width]
        feeds[given.name] = part.astype(np.float32 if given.single else np.float64)
        first += given.width
    return feeds


def _expected(model: Described, rows: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Scores, what they may differ by, and which rows are compared."""
    size, count = np.abs(rows), 1
    for step in model.steps:
        if isinstance(step, Scaler):
            size = (size + np.abs(step.centre)) * np.abs(step.factor)
        rows, count = transforms.transformed([step], rows), count + 2
    compared = np.ones(len(rows), dtype=bool)
    if isinstance(model.model, TreeEnsemble):
        trees = model.model
        if model.steps:
            inside = ~trees.leaves
            apart = np.abs(rows[:, trees.features[inside]] - trees.thresholds[inside])
            near = 4 * count * _HALF * size[:, trees.features[inside]]
            compared = np.asarray((apart > near).all(axis=1))
        most = np.abs(trees.values).max() * len(trees.roots) + np.abs(trees.offset).max() + 1
        doubt = np.full((len(rows), trees.outputs), 2 * (len(trees.roots) + 2) * _HALF * most)
        return trees.scores(rows), doubt, compared
    for layer in model.model.layers:
        size = size @ np.abs(layer.weights).T + np.abs(layer.intercepts)
        count += layer.weights.shape[1] + 4
        if layer.activation == "square":
            size, count = size * size, 2 * count
        else:
            plain = layer.activation == "identity"
            size = size * (1.0 if plain else max(1.0, steepest(layer.activation)))
    return model.model.scores(rows), 2 * count * _HALF * size, compared


def _array(value: Any, model: Described) -> NDArray[Any]:
    """An output; ZipMap gives a mapping for each row."""
    mappings = isinstance(value, list) and all(isinstance(row, dict) for row in value)
    if mappings and model.classes is not None:
        labels = model.classes.tolist()
        # Of other labels nothing agrees.
        return np.array([[row.get(label, np.nan) for label in labels] for row in value])
    return np.asarray(value)


def _is_of_rows(found: NDArray[Any], model: Described, scores: Array) -> bool:
    """Whether an output has a row for each: of labels, of scores, or of numbers for all classes."""
    if found.ndim not in {1, 2} or len(found) != len(scores):
        return False
    wide = {1, scores.shape[1]} | (set() if model.classes is None else {len(model.classes)})
    columns = 1 if found.ndim == 1 else found.shape[1]
    return columns in wide and (columns == 1 or found.dtype.kind == "f")


def _close(found: NDArray[Any], expected: Array, doubt: Array, rows: NDArray[np.bool_]) -> bool:
    found = found.reshape(len(expected), -1)
    if found.shape != expected.shape or found.dtype.kind not in "fiu":
        return False
    found = found.astype(np.float64)
    return bool((np.abs(found - expected) <= doubt)[rows].all())


def _same_classes(
    found: NDArray[Any], model: Described, scores: Array, doubt: Array, rows: NDArray[np.bool_]
) -> bool:
    """Whether what ONNX gives (labels, probabilities or scores) says the same classes."""
    flat = scores[:, 0] if scores.shape[1] == 1 else scores
    if found.ndim == 1 or (found.shape[1] == 1 and found.dtype.kind in "iUSO"):
        if found.dtype.kind == "f":
            return _close(found, scores, doubt, rows)
        if scores.shape[1] == 1:
            sure = np.abs(flat) > doubt[:, 0]
        else:
            second, first = np.partition(scores, -2, axis=1)[:, -2:].T
            sure = first - second > 2 * doubt.max(axis=1)
        expected = predictions(model.classes, flat)
        return bool((found.reshape(-1) == expected)[sure & rows].all())
    most = doubt.max(axis=1, keepdims=True)
    if model.link != "none":
        expected = probabilities(model.link, flat)
        apart = np.abs(found / found.sum(axis=1, keepdims=True) - expected) - 2 * most - _LINKS
        return bool((apart <= 0)[rows].all())
    if scores.shape[1] == 1 and found.shape[1] == 2:
        # Scores and their negatives, or shares of trees that add up to one.
        shares = np.allclose(found.sum(axis=1), 1, atol=1e-4)
        given = found[:, 1:] - 0.5 if shares else found[:, 1:]
        half = not shares and np.allclose(found[:, 0] + found[:, 1], 0, atol=1e-3)
        difference = found[:, 1:] - found[:, :1]
        return (
            _close(given, scores, 2 * most + _LINKS, rows)
            or _close(difference, scores, 4 * most + _LINKS, rows)
            or (half and _close(difference / 2, scores, 2 * most + _LINKS, rows))
        )
    return _close(found, scores, most, rows)
