"""Transforms of clients beside scikit-learn's: every kind, dtype and layout, also on edges.

What only adds, multiplies and compares is the same to the last bit; sums of products (PCA and
kernels) may differ by roundings. Nothing is drawn but by seeds: false alarms there are none.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from hesc._support.inputs import real_array
from hesc.ml import PrivateClassifier, Scores
from hesc.models import extraction, transforms
from hesc.models.steps import transforms_of
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

DTYPES = ["float64", "float32", "float16", "longdouble", "int64", "int8", "uint8", "bool", ">f8"]
EXACT: dict[str, Callable[[], Any]] = {
    "standard": StandardScaler,
    "standard, in place": lambda: StandardScaler(copy=False),
    "standard, no mean": lambda: StandardScaler(with_mean=False),
    "standard, no deviation": lambda: StandardScaler(with_std=False),
    "least and greatest": MinMaxScaler,
    "least and greatest, in place": lambda: MinMaxScaler((-0.3, 1.7), copy=False),
    "least and greatest, clipped": lambda: MinMaxScaler((0.1, 0.3), clip=True),
    "greatest size": lambda: MaxAbsScaler(copy=False),
    "robust": lambda: RobustScaler(copy=False),
    "robust, other quantiles": lambda: RobustScaler(quantile_range=(10.0, 70.0)),
    "robust, no centre": lambda: RobustScaler(with_centering=False, unit_variance=True),
    "monomials": lambda: PolynomialFeatures(3),
    "monomials by columns": lambda: PolynomialFeatures(3, order="F"),
    "monomials, some degrees": lambda: PolynomialFeatures((2, 3), include_bias=False),
    "products": lambda: PolynomialFeatures(3, interaction_only=True, order="F"),
    **{
        f"bins, {strategy}, {encode}, {getattr(dtype, '__name__', 'own')}": partial(
            KBinsDiscretizer,
            5,
            strategy=strategy,
            encode=encode,
            dtype=dtype,
            random_state=0,
            quantile_method="linear",
        )
        for strategy in ("uniform", "quantile", "kmeans")
        for encode, dtype in (
            ("onehot", None),
            ("onehot-dense", np.float32),
            ("onehot", np.float32),
            ("onehot-dense", np.float64),
        )
    },
}
NEAR: dict[str, Callable[[], Any]] = {
    "axes": lambda: PCA(2),
    "axes, whitened": lambda: PCA(2, whiten=True, copy=False),
    "all axes, whitened": lambda: PCA(whiten=True),
    **{
        f"kernel, {kernel}": partial(Nystroem, kernel, n_components=6, random_state=0)
        for kernel in transforms.KERNELS
    },
    "kernel, options": lambda: Nystroem(
        "polynomial", gamma=0.3, coef0=0.5, degree=2, n_components=6, random_state=0
    ),
}


def grid(dtype: str, rows: int = 60) -> Array:
    """Rows of a coarse grid, as other programs hand out measurements and counts."""
    rng = np.random.default_rng(0)
    tenths = np.round(rng.normal(size=(rows, 3)), 1)
    if np.dtype(dtype).kind in "iub":
        tenths = np.abs(np.round(10 * tenths)) % 100
    return tenths.astype(dtype)


def on_edges(part: Any, given: Array) -> NDArray[np.float64]:
    """The same rows, values that somebody else rounded, and both neighbours of every edge."""
    x = given.astype(np.float64)
    found = [x, x.astype(np.float32).astype(np.float64)]
    for column, edges in enumerate(getattr(part, "bin_edges_", [])):
        marked = edges.astype(np.float64)
        single = marked.astype(np.float32).astype(np.float64)
        # Halfway between a float32 and the next is where rounding to one goes over.
        half = (single + np.nextafter(single.astype(np.float32), np.float32(np.inf))) / 2
        beside = np.concatenate([marked, single, half])
        beside = np.concatenate([beside, np.nextafter(beside, 9), np.nextafter(beside, -9)])
        rows = np.repeat(x[:1], len(beside), axis=0)
        rows[:, column] = beside
        found.append(rows)
    return np.concatenate(found)


def both(part: Any, x: NDArray[np.float64]) -> tuple[Array, Array]:
    """What hesc makes of rows, and scikit-learn of a copy of them as doubles."""
    expected = part.transform(x.copy())
    expected = expected.toarray() if hasattr(expected, "toarray") else expected
    return transforms.transformed(transforms_of(part), x), np.asarray(expected, dtype=np.float64)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in EXACT
        for dtype in DTYPES
        # Of truth values scikit-learn has no quantiles, and no means of clusters.
        if not (dtype == "bool" and name.startswith(("bins, quantile", "bins, kmeans")))
    ],
)
def test_features_are_scikit_learns_to_the_last_bit(name: str, dtype: str) -> None:
    given = grid(dtype)
    part = EXACT[name]().fit(given.copy())
    found, expected = both(part, on_edges(part, given))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NEAR)
def test_sums_of_products_are_scikit_learns_but_for_roundings(name: str, dtype: str) -> None:
    given = grid(dtype)
    part = NEAR[name]().fit(given.copy())
    found, expected = both(part, on_edges(part, given))
    # What was fitted in float32 is in part computed in float32, too.
    room = 1e-5 if dtype == "float32" else 1e-9
    assert np.abs(found - expected).max() <= room * np.abs(expected).max()


def test_edges_that_float32_does_not_tell_apart_leave_a_bin_empty() -> None:
    base = 2.0**25
    given = np.array([[base], [base + 0.75], [base + 1.25], [base + 6], [base + 9]])
    part = KBinsDiscretizer(5, encode="onehot-dense", strategy="quantile", dtype=np.float32)
    part.set_params(quantile_method="linear").fit(given)
    steps = transforms_of(part)
    found, expected = both(part, on_edges(part, given))
    assert np.array_equal(found, expected)
    again, _ = transforms.read(transforms.described(steps), 1)
    assert np.array_equal(transforms.transformed(again, given), part.transform(given))


def unaligned(rows: Array) -> Array:
    """The same numbers, a byte away from where doubles lie."""
    found = np.zeros(len(rows), dtype=[("a", "i1"), ("x", rows.dtype, rows.shape[1])])
    found["x"] = rows
    return found["x"]


def frozen(rows: Array) -> Array:
    found = rows.copy()
    found.flags.writeable = False
    return found


LAYOUTS: dict[str, Callable[[Array], Any]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every second row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "read only": frozen,
    "unaligned": unaligned,
    "a frame": lambda x: pytest.importorskip("pandas").DataFrame(x),
    "a frame of two blocks": lambda x: (
        pytest.importorskip("pandas")
        .DataFrame(x.astype(x.dtype.newbyteorder("=")))
        .assign(a=1)
        .iloc[:, :-1]
    ),
    "lists": lambda x: x.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", ">f8"])
def test_samples_of_any_layout_are_the_same_samples(layout: str, dtype: str) -> None:
    x = grid(dtype, 80)
    y = (x[:, 0] > np.median(x[:, 0])).astype(int)
    model = make_pipeline(
        StandardScaler(copy=False),
        KBinsDiscretizer(4, dtype=np.float32, strategy="uniform"),
        LogisticRegression(C=100),
    ).fit(x.astype(np.float64), y)
    private = PrivateClassifier.from_fitted(model)
    given = LAYOUTS[layout](x)
    plan = private.plan(given, Scores(max_error=1e-3))
    same = PrivateClassifier.from_fitted(model)
    assert plan.to_bytes() == same.plan(x.astype(np.float64), Scores(max_error=1e-3)).to_bytes()
    expected = model.decision_function(x.astype(np.float64))
    found = private.run(given, progress=False)
    assert np.abs(found.scores - expected).max() <= 7 * found.error
    sure = np.abs(expected) > 7 * found.error
    assert np.array_equal(found.predictions[sure], model.predict(x.astype(np.float64))[sure])
    assert np.array_equal(real_array(given) if layout != "lists" else given, x)


def test_both_features_of_a_pair_have_values_on_edges_in_the_bin_below() -> None:
    """Cells of pairs: the one of `e_(i-1) < x <= e_i` for the first and for the second feature."""
    edges, others = np.array([0.1, 0.6]), np.array([-1.0, 0.0, 0.3])
    step = transforms.Bins(
        2, np.array([[1.0, 0.0]]), np.array([[2.0, 3.0]]), np.concatenate([edges, others])
    )
    beside = [np.array([-2.0, 2.0]), edges, np.nextafter(edges, 9), np.nextafter(edges, -9)]
    second = np.concatenate(
        [[-5.0, 5.0], others, np.nextafter(others, 9), np.nextafter(others, -9)]
    )
    first = np.concatenate(beside)
    rows = np.array([[b, a] for a in first for b in second])
    # By counting edges below, one feature after the other.
    cells = [4 * sum(a > e for e in edges) + sum(b > e for e in others) for b, a in rows]
    assert np.array_equal(transforms.transformed([step], rows), np.eye(12)[cells])


def test_trees_behind_any_scaler_compare_what_scikit_learns_trees_compare() -> None:
    """Rows on thresholds behind scalers that were fitted in single precision."""
    for dtype in ("float64", "float32"):
        x = grid(dtype, 200)
        y = (x[:, 0] + x[:, 1] > 0).astype(int)
        for scaler in (StandardScaler(), MinMaxScaler(), RobustScaler()):
            model = make_pipeline(scaler, DecisionTreeClassifier(random_state=0)).fit(x, y)
            steps, trees = extraction.form_of(model)
            assert isinstance(trees, TreeEnsemble)
            scores = trees.scores(transforms.transformed(steps, x.astype(np.float64)))
            assert np.array_equal(scores[:, 0] > 0, model.predict(x.astype(np.float64)))
