"""Trees and sums of trees as arrays: what scikit-learn and ONNX files have in common.

    ensemble = TreeEnsemble.from_sklearn(RandomForestClassifier().fit(X, y))
    ensemble.scores(X)

numpy alone, but for `from_sklearn`. Thresholds are those on features in double precision, whatever
precision the trees were made for: what is compared in float32 has, for each threshold, exactly one
double that sends every double the same way (`double_thresholds`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import real_array, unmasked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

_AT_ONCE: Final = 1 << 20
"""Places in trees that are kept at once."""
_EXACT: Final = 2.0**52
"""Sums of its whole parts are exact, up to one."""
_BEYOND: Final = 2.0**128
"""What would follow upon the largest float32."""
LARGEST_SINGLE: Final = float(np.nextafter(2.0**128 - 2.0**103, 0))
"""The largest double that rounds to a number of single precision: the next one is infinite."""
NEVER: Final = float(np.finfo(np.float64).max)
"""A threshold that no number exceeds: all that have a value go left."""
_PARTS: Final = 1 << 24
"""Parts of the sets of all nodes."""
EXPONENTIALS: Final = frozenset({"poisson", "gamma"})
"""Losses of HistGradientBoostingRegressor whose predictions are exponentials of sums of trees."""


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Scores that are an offset plus a leaf's values of every tree, divided by one number.

    Nodes of all trees stand one after the other, children behind their parents. A sample goes left
    where `x[features[node]] <= thresholds[node]`. A node with a set compares categories: a sample
    goes left where its feature is in one of the set's ranges, `low < x <= high`.

    Raises:
        ShapeError: arrays of lengths that do not go together.
        ParameterError: children before their parents or of two, nodes that no tree has, leaves with
            sets, sets that are too large.
        OutOfRangeError: thresholds, values or ranges that are not finite, features beyond
            `inputs`.

    """

    inputs: int
    """Features of a sample."""
    roots: Places
    """Where each tree begins."""
    features: Places
    """The feature that each node compares, or -1 of a leaf."""
    thresholds: Array
    """The threshold of each node; 0 of a leaf, and of a node with a set."""
    left: Places
    """The node where smaller and equal features go, or those of a set, or -1 of a leaf."""
    right: Places
    """The node where all other features go, or -1 of a leaf."""
    values: Array
    """A row of outputs for each node; zeros where it is no leaf."""
    offset: Array
    """What all leaves are added to, one number for each output."""
    missing_left: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))
    """Where samples go that have no value of the feature, for each node whether left; none where
    all features have values."""
    set_sizes: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The ranges of each node's set, how many, or -1 of a node that has no set; none where no node
    has one."""
    set_low: Array = field(default_factory=lambda: np.empty(0))
    """What the numbers of each range are above, node by node."""
    set_high: Array = field(default_factory=lambda: np.empty(0))
    """The greatest number of each range."""

    def __post_init__(self) -> None:
        nodes = len(self.features)
        alike = (self.thresholds, self.left, self.right, self.values)
        if any(len(part) != nodes for part in alike) or self.values.ndim != 2:
            raise ShapeError("the arrays of a tree ensemble have an entry for each node")
        if len(self.missing_left) not in (0, nodes):
            raise ShapeError("where missing cells go is said of each node, or of none")
        if len(self.set_sizes) not in (0, nodes):
            raise ShapeError("sets are said of each node, or of none")
        ranges = int(self.set_sizes.clip(min=0).sum())
        if not len(self.set_low) == len(self.set_high) == ranges:
            raise ShapeError("a range of a set has two ends")
        if not len(self.roots) or self.values.shape[1] != len(self.offset) or not len(self.offset):
            raise ShapeError("a tree ensemble has a tree and an output, and an offset for each")
        numbers = (self.thresholds, self.values, self.offset, self.set_low, self.set_high)
        if not all(np.isfinite(part).all() for part in numbers):
            raise OutOfRangeError("thresholds and values of trees are finite numbers")
        if not (self.set_low < self.set_high).all():
            raise OutOfRangeError("a range of a set ends above where it begins")
        inside = self.features >= 0
        if len(self.set_sizes) and (self.set_sizes[~inside] >= 0).any():
            raise ParameterError("a leaf of a tree has no set")
        if ((self.features < -1) | (self.features >= self.inputs)).any():
            raise OutOfRangeError(f"a tree compares a feature beyond the {self.inputs} there are")
        children = np.concatenate([self.left[inside], self.right[inside]])
        parents = np.tile(np.flatnonzero(inside), 2)
        if (children <= parents).any() or (children >= nodes).any():
            raise ParameterError("a child of a tree stands behind its parent, and is a node")
        named = np.sort(np.concatenate([children, self.roots]))
        if not np.array_equal(named, np.arange(nodes)):
            raise ParameterError("every node of a tree is a root or the child of one other node")

    @property
    def outputs(self) -> int:
        """Numbers of a score."""
        return len(self.offset)

    @property
    def leaves(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.features < 0

    @property
    def takes_missing(self) -> bool:
        """Whether features may be missing."""
        return bool(len(self.missing_left))

    @property
    def has_sets(self) -> bool:
        """Whether some nodes compare categories."""
        return bool((self.set_sizes >= 0).any())

    @property
    def compares(self) -> NDArray[np.bool_]:
        """Which nodes compare a feature with a threshold."""
        inside = ~self.leaves
        return inside & (self.set_sizes < 0) if len(self.set_sizes) else inside

    @cached_property
    def sets(self) -> NodeSets:
        """The sets of all nodes, as parts of features."""
        return NodeSets(self)

    def check_numbers(self) -> None:
        """Refuses trees that compare categories, where thresholds alone are computed.

        Raises:
            ParameterError: with what would do.

        """
        if self.has_sets:
            raise ParameterError(CATEGORIES)

    def depths(self) -> Places:
        """Comparisons before each node is reached; 0 of a root."""
        found = np.zeros(len(self.features), dtype=np.int64)
        # Children stand behind their parents.
        for node in np.flatnonzero(~self.leaves):
            found[[self.left[node], self.right[node]]] = found[node] + 1
        return found

    def scores(self, samples: ArrayLike) -> Array:
        """A row of outputs for each sample, in double precision.

        Every leaf is the one that the model itself reaches, and leaves are added to the offset in
        the order of the trees. Cost: as many comparisons for each sample and tree as the deepest
        tree has levels.

        Args:
            samples: a row of `inputs` finite numbers for each; NaN where one is missing.

        Raises:
            ShapeError: rows of another length.
            OutOfRangeError: an infinite number, or one that is missing where trees do not say where
                it goes.

        """
        x = real_array(unmasked(samples, "samples"), "samples")
        if x.ndim != 2 or x.shape[1] != self.inputs:
            raise ShapeError(f"samples are rows of {self.inputs} features; got the shape {x.shape}")
        if not np.isfinite(x).all() and (not self.takes_missing or np.isinf(x).any()):
            raise OutOfRangeError("trees compare finite numbers; remove or impute others first")
        found = np.empty((len(x), self.outputs))
        turn = max(1, _AT_ONCE // max(len(self.roots), self.inputs * self.has_sets))
        for first in range(0, len(x), turn):
            rows = x[first : first + turn]
            total = np.tile(self.offset, (len(rows), 1))
            # One after the other: sums in another order have other last bits.
            for leaves in self.reached(rows).T:
                total += self.values[leaves]
            found[first : first + turn] = total
        return found

    def reached(self, x: Array) -> Places:
        """The leaf of each tree by its node, a row for each sample.

        Args:
            x: a row of `inputs` numbers for each, as `scores` takes them.

        """
        nodes = np.broadcast_to(self.roots, (len(x), len(self.roots))).copy()
        rows, trees = np.nonzero(~self.leaves[nodes])
        parts = self.sets.parts_of(x) if self.has_sets else None
        while len(rows):
            at = nodes[rows, trees]
            cells = x[rows, self.features[at]]
            smaller = cells <= self.thresholds[at]
            if parts is not None:
                named = np.flatnonzero(self.set_sizes[at] >= 0)
                own = at[named]
                smaller[named] = self.sets.hold(own, parts[rows[named], self.features[own]])
            if self.takes_missing:
                smaller |= np.isnan(cells) & self.missing_left[at]
            below = np.where(smaller, self.left[at], self.right[at])
            nodes[rows, trees] = below
            further = ~self.leaves[below]
            rows, trees = rows[further], trees[further]
        return nodes

    @classmethod
    def from_sklearn(cls, model: Any, *, codes: bool = False) -> TreeEnsemble:
        """The trees of a fitted model of scikit-learn.

        Scores are those of `PrivateClassifier`: of two classes one output, which is above zero
        where the second one is predicted. Of DecisionTree, RandomForest and ExtraTrees classifiers
        they are probabilities, of two classes the second one's less 1/2; of boosted classifiers
        `decision_function`; of regressors predictions, or their logarithms under a loss of
        `EXPONENTIALS`; of IsolationForest how many doublings the anomaly score is above that from
        which on samples are outliers. Sums of votes that tie are equal.

        Args:
            model: one of `FAMILIES`, by exact class.
            codes: of a model that encodes categories itself, whether features are those behind its
                own encoder, which come first, and categories their codes.

        Raises:
            ParameterError: another class, several targets, categories that are words, a boosted
                model's own first estimator, a loss that is not known.
            sklearn.exceptions.NotFittedError: a model that is not fitted.

        """
        from sklearn.utils.validation import check_is_fitted

        name = type(model).__name__
        if not type(model).__module__.startswith("sklearn.") or name not in FAMILIES:
            raise ParameterError(
                f"{name} is not read as a sum of trees; these are, by exact class: "
                f"{', '.join(FAMILIES)}"
            )
        check_is_fitted(model)
        if getattr(model, "n_outputs_", 1) != 1:
            raise ParameterError(f"this {name} has several targets; fit a model of each")
        if name.startswith("Hist"):
            return cls._histograms(model, codes=codes)
        if name.startswith("Gradient"):
            return cls._boosted(model)
        if name.startswith("Ada"):
            return cls._voting(model)
        if name.startswith("Isolation"):
            return cls._isolating(model)
        trees = [model] if name.startswith("Decision") else model.estimators_
        shares = name.endswith("Classifier")
        grown = []
        for tree in trees:
            given = tree.tree_.value[:, 0, :]
            values = _tied(given, len(trees)) if shares else given / len(trees)
            grown.append(_grown(tree.tree_, values, missing=True))
        return cls.joined(model.n_features_in_, grown, np.zeros(grown[0].values.shape[1]))

    @classmethod
    def _boosted(cls, model: Any) -> TreeEnsemble:
        if model.init is not None and model.init != "zero":
            raise ParameterError(
                "this boosted model begins with an estimator of its own; fit it with init=None"
            )
        stages, outputs = model.estimators_.shape
        nothing = np.zeros((1, model.n_features_in_), dtype=np.float32)
        # The same of all samples: a prior, or zeros.
        offset = np.asarray(model._raw_predict_init(nothing), dtype=np.float64).reshape(-1)  # noqa: SLF001 - no public name
        grown = []
        for stage in range(stages):
            for output in range(outputs):
                tree = model.estimators_[stage, output].tree_
                values = np.zeros((tree.node_count, outputs))
                values[:, output] = model.learning_rate * tree.value[:, 0, 0]
                grown.append(_grown(tree, values))
        return cls.joined(model.n_features_in_, grown, offset)

    @classmethod
    def _voting(cls, model: Any) -> TreeEnsemble:
        """AdaBoost: each tree votes for the class of its leaf, and a little against the others."""
        from sklearn.tree import DecisionTreeClassifier

        if any(type(tree) is not DecisionTreeClassifier for tree in model.estimators_):
            raise ParameterError(
                "this AdaBoostClassifier boosts other models than trees; give it "
                "estimator=DecisionTreeClassifier(max_depth=1)"
            )
        classes, total = len(model.classes_), model.estimator_weights_.sum()
        grown = []
        for tree, weight in zip(model.estimators_, model.estimator_weights_, strict=False):
            named = tree.classes_[tree.tree_.value[:, 0, :].argmax(axis=1)]
            votes = np.where(named[:, None] == model.classes_, 1.0, -1 / (classes - 1))
            votes = votes[:, 1:] - votes[:, :1] if classes == 2 else votes
            grown.append(_grown(tree.tree_, weight * votes / total))
        return cls.joined(model.n_features_in_, grown, np.zeros(1 if classes == 2 else classes))

    @classmethod
    def _isolating(cls, model: Any) -> TreeEnsemble:
        """IsolationForest: the shorter paths are, the more its anomaly score doubles."""
        samples = model._max_samples  # noqa: SLF001 - no public name
        longest = len(model.estimators_) * _path_lengths([samples])[0]
        grown = []
        for estimator, columns in zip(model.estimators_, model.estimators_features_, strict=True):
            tree = estimator.tree_
            paths = tree.compute_node_depths() - 1 + _path_lengths(tree.n_node_samples)
            # Of one sample nothing is isolated, and its score is a half.
            values = -paths / longest if longest else np.zeros(tree.node_count)
            own = _grown(tree, values[:, None], missing=True)
            own.features = np.where(own.features < 0, -1, columns[own.features])
            grown.append(own)
        threshold = -np.log2(-model.offset_)
        return cls.joined(model.n_features_in_, grown, np.array([threshold - (not longest)]))

    @classmethod
    def _histograms(cls, model: Any, *, codes: bool) -> TreeEnsemble:
        losses = {"log_loss", "squared_error", "absolute_error", "quantile", *EXPONENTIALS}
        if model.loss not in losses:
            raise ParameterError(
                f"what predictions of loss={model.loss!r} are of sums of trees is not known; fit "
                f"it with one of {', '.join(sorted(losses))}"
            )
        offset = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)  # noqa: SLF001 - no public name
        columns, categories = _encoded(model)
        if codes:
            columns = np.arange(model.n_features_in_)
            categories = {place: np.arange(len(own)) for place, own in categories.items()}
        elif any(own.dtype == object for own in categories.values()):
            raise ParameterError(
                f"{type(model).__name__} encodes a column of words itself, and is given numbers "
                f"here: put an encoder in front, make_column_transformer((OrdinalEncoder(), [...]),"
                f" remainder='passthrough'), whose columns come first, and fit the model with "
                f"categorical_features=[0, ...]"
            )
        grown = []
        for stage in model._predictors:  # noqa: SLF001 - no public name
            for output, tree in enumerate(stage):
                values = np.zeros((len(tree.nodes), len(offset)))
                values[:, output] = tree.nodes["value"]
                grown.append(_histogram(tree, values, columns, categories))
        return cls.joined(model.n_features_in_, grown, offset)

    @classmethod
    def summed(cls, parts: Sequence[TreeEnsemble]) -> TreeEnsemble:
        """The trees of all ensembles, whose scores add up.

        Args:
            parts: of the same features and outputs.

        """
        starts = np.cumsum([0, *(len(part.features) for part in parts)]).tolist()

        def moved(name: str) -> Places:
            shifted = [
                np.where(getattr(part, name) < 0, -1, getattr(part, name) + start)
                for part, start in zip(parts, starts, strict=False)
            ]
            return np.concatenate(shifted)

        features, thresholds, values = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("features", "thresholds", "values")
        )
        offset = np.sum([part.offset for part in parts], axis=0)
        left, right = moved("left"), moved("right")
        return cls(
            parts[0].inputs,
            moved("roots"),
            features,
            thresholds,
            left,
            right,
            values,
            offset,
            _of_all([part.missing_left for part in parts]),
            *_joined_sets([(len(p.features), p.set_sizes, p.set_low, p.set_high) for p in parts]),
        )

    @classmethod
    def joined(cls, inputs: int, grown: list[GrownTree], offset: Array) -> TreeEnsemble:
        """Trees one after the other, each numbered from its own root.

        Args:
            inputs: features of a sample.
            grown: the trees.
            offset: what their leaves are added to.

        """
        roots = np.cumsum([0, *(len(tree.features) for tree in grown[:-1])]).astype(np.int64)
        features = np.concatenate([tree.features for tree in grown])
        leaf = features < 0

        def moved(parts: list[Places]) -> Places:
            shifted = [part + root for part, root in zip(parts, roots, strict=True)]
            return np.where(leaf, -1, np.concatenate(shifted))

        return cls(
            int(inputs),
            roots,
            features,
            np.where(leaf, 0.0, np.concatenate([tree.thresholds for tree in grown])),
            moved([tree.left for tree in grown]),
            moved([tree.right for tree in grown]),
            np.where(leaf[:, None], np.concatenate([tree.values for tree in grown]), 0.0),
            offset,
            _of_all([tree.missing_left for tree in grown]),
            *_joined_sets([(len(tree.features), *tree.sets) for tree in grown]),
        )


def _of_all(parts: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Where missing cells go in several ensembles, if all of them say it."""
    told = all(len(part) for part in parts)
    return np.concatenate(parts) if told else np.empty(0, dtype=bool)


class Sets(NamedTuple):
    """Sets of nodes, as `TreeEnsemble` has them."""

    sizes: Places
    low: Array
    high: Array


NO_SETS: Final = Sets(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
"""Those of nodes that compare numbers alone."""


def _joined_sets(parts: list[tuple[int, Places, Array, Array]]) -> Sets:
    """Sets of so many nodes each, one after the other."""
    if not any(len(sizes) for _, sizes, *_ in parts):
        return NO_SETS
    sizes = [own if len(own) else np.full(nodes, -1) for nodes, own, *_ in parts]
    low, high = (np.concatenate([part[place] for part in parts]) for place in (2, 3))
    return Sets(np.concatenate(sizes), low, high)


class NodeSets:
    """Sets of nodes as parts of features.

    The ends of all ranges of a feature cut its numbers in parts: part `i` has those above the end
    before and up to end `i`. A set is some parts; numbers beyond all ends, and cells without a
    value, are in none.

    Raises:
        ParameterError: more parts of sets than memory is made for.

    """

    def __init__(self, trees: TreeEnsemble) -> None:
        nodes = np.flatnonzero(trees.set_sizes >= 0)
        owners = np.repeat(nodes, trees.set_sizes[nodes])
        first, last = np.empty(len(owners), np.int64), np.empty(len(owners), np.int64)
        self.ends: dict[int, Array] = {}
        """Ends of ranges by feature, ascending."""
        self._nodes_of: dict[int, Places] = {}
        for feature in np.unique(trees.features[nodes]).tolist():
            self._nodes_of[feature] = nodes[trees.features[nodes] == feature]
            own = trees.features[owners] == feature
            low, high = trees.set_low[own], trees.set_high[own]
            self.ends[feature] = np.unique([low, high])
            first[own] = np.searchsorted(self.ends[feature], low) + 1
            last[own] = np.searchsorted(self.ends[feature], high)
        lengths = last - first + 1
        if lengths.sum() > _PARTS:
            raise ParameterError(
                f"sets of the nodes of trees have {_PARTS} parts at most, all together; fit fewer "
                f"trees, or features of fewer categories"
            )
        starts = np.repeat(first - np.cumsum(lengths) + lengths, lengths)
        parts = starts + np.arange(len(starts))
        self._width = 1 + max((len(ends) for ends in self.ends.values()), default=0)
        self._keys = np.unique(np.repeat(owners, lengths) * self._width + parts)
        self._inputs = trees.inputs

    def parts_of(self, x: Array) -> Places:
        """The part of each number, of features that sets are of."""
        found = np.zeros((len(x), self._inputs), dtype=np.int64)
        for feature, ends in self.ends.items():
            found[:, feature] = np.searchsorted(ends, x[:, feature])
        return found

    def hold(self, nodes: Places, parts: Places) -> NDArray[np.bool_]:
        """Whether parts are in the sets of nodes, one of each."""
        if not len(self._keys):
            return np.zeros(len(nodes), dtype=bool)
        keys = nodes * self._width + parts
        places = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        return np.asarray(self._keys[places] == keys)

    def named(self, feature: int) -> list[int]:
        """The parts of a feature that some set has."""
        own = np.isin(self._keys // self._width, self._nodes_of[feature])
        found: list[int] = np.unique(self._keys[own] % self._width).tolist()
        return found

    def of(self, node: int) -> list[int]:
        """The parts in a node's set."""
        first, end = np.searchsorted(self._keys, np.array([node, node + 1]) * self._width)
        found: list[int] = (self._keys[first:end] - node * self._width).tolist()
        return found


CATEGORIES: Final = (
    "these trees compare categories, which plan(X, Trees()) computes; for other plans encode them "
    "as numbers before the model (sklearn.preprocessing.OneHotEncoder) and fit it without them"
)
"""Where thresholds alone are computed."""


FAMILIES: Final = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "AdaBoostClassifier",
    "IsolationForest",
)
"""Classes of scikit-learn that `TreeEnsemble.from_sklearn` reads."""


def double_thresholds(thresholds: ArrayLike) -> Array:
    """For each `t` the largest double `T` such that `float32(x) <= t` for all doubles `x <= T`.

    That is where rounding goes over to the next float32 above `t`: halfway, and there to the even
    one of both. So `x <= T` is what a tree decides that compares features in float32, for every
    double `x` that is finite and in its range. scikit-learn's trees do that with thresholds in
    double precision, ONNX with thresholds in float32.

    >>> float(double_thresholds([1.0])[0]) == 1 + 2**-24  # halfway from 1 to 1 + 2**-23
    True
    """
    given = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        near = given.astype(np.float32)
        less = np.nextafter(near, np.float32(-np.inf))
        # The largest float32 that is not above, and the one that follows upon it.
        below = np.where(near.astype(np.float64) > given, less, near)
        above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
    low = below.astype(np.float64)
    above = np.where(np.isposinf(above), _BEYOND, above)
    low = np.where(np.isneginf(low), -_BEYOND, low)
    middle = (low + above) / 2
    even = below.view(np.uint32) & 1 == 0
    return np.where(even, middle, np.nextafter(middle, -np.inf))


def _path_lengths(samples: ArrayLike) -> Array:
    """How long paths of so many samples are on average, where each is isolated."""
    count = np.asarray(samples, dtype=np.float64)
    more = np.maximum(count, 3)
    long = 2 * (np.log(more - 1) + np.euler_gamma) - 2 * (more - 1) / more
    return np.where(count > 2, long, np.where(count == 2, 1.0, 0.0))


def _tied(shares: Array, trees: int) -> Array:
    """Shares of classes over so many trees, such that votes that are tied have equal sums.

    Votes are often tied, and scikit-learn then takes the first class. Thirds and tenths add up to
    other numbers in another order; multiples of 2^-52 do not. Of two classes it is half of what the
    second is ahead by.
    """
    given = (shares[:, 1:] - shares[:, :1]) / 2 if shares.shape[1] == 2 else shares
    found: Array = np.rint(given / trees * _EXACT) / _EXACT
    return found


class GrownTree:
    """A tree whose nodes are numbered from its root on."""

    def __init__(
        self,
        features: Places,
        thresholds: Array,
        left: Places,
        right: Places,
        values: Array,
        missing_left: NDArray[np.bool_] | None = None,
        sets: Sets = NO_SETS,
    ) -> None:
        self.features = features
        self.thresholds = thresholds
        self.left = left
        self.right = right
        self.values = values
        self.missing_left = np.empty(0, dtype=bool) if missing_left is None else missing_left
        self.sets = sets


def _grown(tree: Any, values: Array, *, missing: bool = False) -> GrownTree:
    """A tree of scikit-learn, which compares features in float32, and may take missing ones."""
    leaf = tree.children_left < 0
    return GrownTree(
        np.where(leaf, -1, tree.feature).astype(np.int64),
        # Where only missing cells go right, it is infinite.
        np.minimum(double_thresholds(np.where(leaf, 0.0, tree.threshold)), NEVER),
        tree.children_left.astype(np.int64),
        tree.children_right.astype(np.int64),
        np.ascontiguousarray(values, dtype=np.float64),
        tree.missing_go_to_left.astype(bool) if missing else None,
    )


def _encoded(model: Any) -> tuple[Places, dict[int, NDArray[Any]]]:
    """The column that each feature of a boosted model's trees is, and categories by their codes.

    Those that are no numbers are objects.
    """
    inputs = model.n_features_in_
    if model.is_categorical_ is None:
        return np.arange(inputs), {}
    # Columns of categories come first.
    columns = np.argsort(~model.is_categorical_, kind="stable")
    encoder = model._preprocessor.named_transformers_["encoder"]  # noqa: SLF001 - no public name
    found: dict[int, NDArray[Any]] = {}
    for place, given in enumerate(encoder.categories_):
        kept = given.tolist()
        # NaN stands last, and is no category.
        if kept and isinstance(kept[-1], float) and np.isnan(kept[-1]):
            kept.pop()
        try:
            found[place] = np.array(kept, dtype=np.float64)
        except (TypeError, ValueError):
            # Words.
            found[place] = np.array(kept, dtype=object)
    return columns, found


def _histogram(
    tree: Any, values: Array, columns: Places, categories: dict[int, NDArray[Any]]
) -> GrownTree:
    """A tree of a boosted model on histograms.

    A category that is not known goes where missing cells go. So the set of a node has those that go
    the other way, and stands at its left.
    """
    nodes = tree.nodes
    leaf = nodes["is_leaf"].astype(bool)
    left, right = nodes["left"].astype(np.int64), nodes["right"].astype(np.int64)
    missing = nodes["missing_go_to_left"].astype(bool)
    features = nodes["feature_idx"].astype(np.int64)
    thresholds = np.minimum(nodes["num_threshold"], NEVER)
    named = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    sets = NO_SETS
    if len(named):
        sizes, members = np.full(len(nodes), -1), []
        for node in named.tolist():
            known = categories[int(features[node])]
            bits = tree.raw_left_cat_bitsets[nodes["bitset_idx"][node]].astype("<u4")
            to_left = np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(known)] == 1
            own = known[to_left != missing[node]]
            sizes[node] = len(own)
            members.append(own)
        high = np.concatenate(members).astype(np.float64)
        sets = Sets(sizes, np.nextafter(high, -np.inf), high)
        swapped = named[missing[named]]
        left[swapped], right[swapped] = right[swapped], left[swapped]
        missing[named] = False
        thresholds[named] = 0.0
    return GrownTree(
        np.where(leaf, -1, columns[features]),
        np.array(thresholds, dtype=np.float64),
        left,
        right,
        values,
        missing,
        sets,
    )
