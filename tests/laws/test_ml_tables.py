"""Steps of tables give what scikit-learn gives, on random tables and random nests of transformers.

Where scikit-learn refuses a sample so does a client; a client may refuse more, by name.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

import hesc
from hesc.models import steps as steps_of
from hesc.models import transforms
from hesc.models.steps.walking import parts_of
from hesc.models.tables import forms
from hesc.models.transforms import folded
from hesc.protocols.linear import features

if TYPE_CHECKING:
    from collections.abc import Callable

Rng = np.random.Generator
ROWS = 80
WORDS = ["clerk", "nurse", "smith", "baker", "Zoë", "o'neil", "", "a b"]


def columns(rng: Rng, rows: int, *, fresh: bool) -> dict[str, Any]:
    """A column of each kind; fresh ones have words and numbers that no training data had."""
    words = WORDS + ["unheard of"] * fresh
    found: dict[str, Any] = {
        "real": rng.normal(3, 2, rows),
        "positive": rng.lognormal(1, 1, rows),
        "gaps": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
        "few": rng.integers(0, 4 + fresh, rows),
        "flag": rng.random(rows) < 0.3,
        "word": rng.choice(words, rows),
        "other": rng.choice(words[:3] + words[8:], rows, p=None),
        "holes": np.where(rng.random(rows) < 0.2, np.nan, rng.choice(words, rows).astype(object)),
    }
    return found


def table(rng: Rng, *, rows: int = ROWS, fresh: bool = False) -> Any:
    frame = pd.DataFrame(columns(rng, rows, fresh=fresh))
    frame["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], rows))
    frame["text"] = [" ".join(rng.choice(WORDS, 4)) for _ in range(rows)]
    return frame


NUMBERS = ["real", "positive", "few", "flag"]


def of_numbers(rng: Rng) -> Any:
    """A transformer of numbers without gaps."""
    makers: list[Callable[[], Any]] = [
        StandardScaler,
        MinMaxScaler,
        MaxAbsScaler,
        RobustScaler,
        lambda: MinMaxScaler(clip=True),
        lambda: KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
        lambda: KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf"),
        lambda: Binarizer(threshold=1.5),
        lambda: Normalizer(norm=str(rng.choice(["l1", "l2", "max"]))),
        lambda: FunctionTransformer(np.square),
        lambda: FunctionTransformer(np.abs),
        FunctionTransformer,
        lambda: PolynomialFeatures(2),
        lambda: PowerTransformer(standardize=bool(rng.integers(2))),
        lambda: QuantileTransformer(
            n_quantiles=20, output_distribution=str(rng.choice(["uniform", "normal"]))
        ),
        lambda: OneHotEncoder(handle_unknown="ignore"),
        lambda: VarianceThreshold(0.1),
        lambda: make_union(StandardScaler(), FunctionTransformer(np.cbrt)),
        lambda: make_pipeline(PolynomialFeatures(2), SelectKBest(k=2), StandardScaler()),
    ]
    return makers[rng.integers(len(makers))]()


def one_hot(rng: Rng) -> OneHotEncoder:
    rare: dict[str, Any] = [{}, {"min_frequency": 9}, {"max_categories": 3}][rng.integers(3)]
    return OneHotEncoder(
        handle_unknown=str(rng.choice(["error", "ignore", "infrequent_if_exist"])),
        drop=[None, "first", "if_binary"][rng.integers(3)],
        sparse_output=bool(rng.integers(2)),
        **rare,
    )


def ordinal(rng: Rng) -> OrdinalEncoder:
    unknown: dict[str, Any] = [
        {},
        {"handle_unknown": "use_encoded_value", "unknown_value": -1},
    ][rng.integers(2)]
    rare: dict[str, Any] = [{}, {"min_frequency": 9}][rng.integers(2)]
    return OrdinalEncoder(encoded_missing_value=-2, **unknown, **rare)


def of_words(rng: Rng) -> Any:
    """A transformer of words, with gaps or without."""
    fill = SimpleImputer(strategy="constant", fill_value="none")
    makers: list[Callable[[], Any]] = [
        lambda: one_hot(rng),
        lambda: ordinal(rng),
        lambda: TargetEncoder(random_state=0),
        lambda: make_pipeline(fill, one_hot(rng)),
        lambda: make_pipeline(SimpleImputer(strategy="most_frequent"), ordinal(rng)),
        lambda: MissingIndicator(features="all"),
        lambda: make_pipeline(ordinal(rng), StandardScaler()),
    ]
    return makers[rng.integers(len(makers))]()


def of_gaps(rng: Rng) -> Any:
    """A transformer of numbers with gaps."""
    strategy = str(rng.choice(["mean", "median", "most_frequent", "constant"]))
    imputer = SimpleImputer(strategy=strategy, add_indicator=bool(rng.integers(2)))
    makers: list[Callable[[], Any]] = [
        lambda: imputer,
        lambda: make_pipeline(StandardScaler(), imputer),
        lambda: make_pipeline(imputer, StandardScaler(), PCA()),
        lambda: MissingIndicator(features="all"),
        lambda: FeatureUnion([("a", imputer), ("b", MissingIndicator(features="all"))]),
        lambda: make_pipeline(FunctionTransformer(np.cbrt), imputer),
    ]
    return makers[rng.integers(len(makers))]()


def some(rng: Rng, names: list[str]) -> list[str]:
    return [str(name) for name in rng.permutation(names)[: rng.integers(1, len(names) + 1)]]


def of_columns(rng: Rng, depth: int = 0) -> ColumnTransformer:
    """A transformer of a table, with others of the same kind inside."""
    parts = [
        ("numbers", of_numbers(rng), some(rng, NUMBERS)),
        ("gaps", of_gaps(rng), ["gaps"]),
        ("words", of_words(rng), some(rng, ["word", "other", "kind"])),
        ("holes", of_words(rng), ["holes"]),
        ("pass", "passthrough", ["few"]),
        ("drop", "drop", ["real"]),
        ("text", CountVectorizer(), "text"),
    ]
    taken = [part for part in parts if rng.random() < 0.6] or parts[:1]
    if depth < 2 and rng.random() < 0.5:
        names = [*NUMBERS, "gaps", "word", "other", "holes", "kind", "text"]
        taken.append(("inner", of_columns(rng, depth + 1), names))
    return ColumnTransformer([taken[at] for at in rng.permutation(len(taken))])


def expected_of(part: Any, samples: Any) -> Any:
    """What scikit-learn gives, or None where it refuses."""
    try:
        found = part.transform(samples)
    except (ValueError, TypeError):
        return None
    found = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
    return np.asarray(found, dtype=np.float64)


def found_of(part: Any, samples: Any) -> Any:
    """What a client gives, or None where it refuses."""
    steps = [step for each in parts_of(part) for step in steps_of.transforms_of(each)]
    try:
        return transforms.transformed(steps, forms.read(samples))
    except hesc.HescError:
        return None


def check(part: Any, samples: Any) -> bool:
    """Both give the same of all samples, or of each alone; whether both gave something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = expected_of(part, samples), found_of(part, samples)
    if expected is None or not np.isfinite(expected).all():
        assert found is None
        return False
    assert found is not None
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    return True


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore")
def test_random_nests_of_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    train = table(rng)
    part = of_columns(rng).fit(train, rng.integers(0, 2, ROWS))
    check(part, train)
    for fresh in (False, True):
        samples = table(rng, rows=20, fresh=fresh)
        check(part, samples)
        for at in range(5):
            check(part, samples.iloc[at : at + 1])


TEXTS = [
    "the nurse and the clerk",
    "Zoë's CAFÉ, Café; café 42 x",
    "a  b\tc\n d",
    "smith smith SMITH",
    "",
    "\u0661\u0662\u0663 números \ufb01ne naïve",
    "the the the and",
    "\U0001d518nicode 🙂 words_and_more under_score",
]


@pytest.mark.parametrize(
    "part",
    [
        CountVectorizer(),
        CountVectorizer(binary=True, ngram_range=(1, 3), stop_words="english"),
        CountVectorizer(analyzer="char", ngram_range=(1, 2), lowercase=False),
        CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), strip_accents="ascii"),
        CountVectorizer(token_pattern=r"(?u)\b\w+\b", strip_accents="unicode"),
        CountVectorizer(vocabulary=["nurse", "clerk", "a"], stop_words=["the"]),
        CountVectorizer(min_df=2, max_features=4),
        HashingVectorizer(n_features=32),
        HashingVectorizer(n_features=16, norm=None, alternate_sign=False, ngram_range=(1, 2)),
        HashingVectorizer(n_features=64, norm="l1", analyzer="char", binary=True),
        TfidfVectorizer(),
        TfidfVectorizer(sublinear_tf=True, norm="l1", smooth_idf=False),
        TfidfVectorizer(use_idf=False, norm=None, binary=True),
        make_pipeline(CountVectorizer(), TfidfTransformer(sublinear_tf=True)),
        make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0), Normalizer()),
        make_union(CountVectorizer(), HashingVectorizer(n_features=8)),
    ],
    ids=lambda part: str(part).replace("\n", "")[:50],
)
def test_texts(part: Any) -> None:
    part.fit(TEXTS, [0, 1] * 4)
    fresh = [*TEXTS, "a nurse whom nobody knows", "ﬀ İstanbul ß", " ", "l'œuvre — naïveté…"]
    assert check(part, fresh)


def test_sparse_rows_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are made dense a few at a time give what all together give."""
    rng = np.random.default_rng(0)
    rows = csr_array(np.where(rng.random((50, 30)) < 0.1, rng.normal(size=(50, 30)), 0))
    part = make_pipeline(MaxAbsScaler(), TruncatedSVD(3, random_state=0)).fit(rows)
    expected = part.transform(rows)
    monkeypatch.setattr(forms, "_AT_ONCE", 100)
    np.testing.assert_allclose(found_of(part, rows), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_features_of_plans_by_parts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What plans ask of features does not depend on how many rows are taken at once."""
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((60, 5)) < rng.random(), rng.normal(size=(60, 5)), 0)
    steps = steps_of.transforms_of(PolynomialFeatures(2).fit(rows))
    whole = transforms.transformed(steps, rows)
    monkeypatch.setattr(features, "_AT_ONCE", 7 * whole.shape[1])
    found = features.Features.of(steps, rows)
    assert len(found.parts) == 9
    np.testing.assert_array_equal(found.whole(), whole)
    np.testing.assert_array_equal(found.ends(), (whole.min(axis=0), whole.max(axis=0)))
    places = rng.choice(60, 20, replace=False)
    np.testing.assert_array_equal(found.at(places), whole[places])
    np.testing.assert_array_equal(found.reduced(lambda part: part.max(axis=1)), whole.max(axis=1))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.filterwarnings("ignore")
def test_documents_of_steps_are_read_as_they_were(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    part = of_columns(rng).fit(table(rng), rng.integers(0, 2, ROWS))
    steps = steps_of.transforms_of(part)
    written = transforms.described(steps)
    inputs = steps_of.inputs_of(part)
    again, width = transforms.read(json.loads(json.dumps(written)), inputs)
    assert transforms.described(again) == written
    assert width == transforms.width(steps, inputs)
    assert transforms.disclosed(again) == transforms.disclosed(steps)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.filterwarnings("ignore")
def test_scalers_that_end_branches_are_weights(seed: int) -> None:
    """Folded steps and weights give the scores of all of them."""
    rng = np.random.default_rng(2000 + seed)
    train = table(rng)
    part = of_columns(rng).fit(train, rng.integers(0, 2, ROWS))
    steps = steps_of.transforms_of(part)
    try:
        features_ = transforms.transformed(steps, forms.read(train))
    except hesc.HescError:
        return
    weights, intercepts = rng.normal(size=(2, features_.shape[1])), rng.normal(size=2)
    found = folded(steps, weights, intercepts)
    fewer = transforms.transformed(found.steps, forms.read(train))
    np.testing.assert_allclose(
        fewer @ found.weights.T + found.intercepts,
        features_ @ weights.T + intercepts,
        rtol=1e-8,
        atol=1e-8,
    )


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("indicator", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_columns_that_training_data_leave_empty(strategy: str, keep: bool, indicator: bool) -> None:
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((40, 4)) < 0.2, np.nan, rng.normal(size=(40, 4)))
    rows[:, 1] = np.nan
    imputer = SimpleImputer(
        strategy=strategy, keep_empty_features=keep, add_indicator=indicator
    ).fit(rows)
    assert check(imputer, rows)
    fresh = rng.normal(size=(5, 4))
    assert check(imputer, fresh)


@pytest.mark.parametrize("marker", [-1, "?"], ids=str)
@pytest.mark.parametrize("indicator", [False, True])
def test_other_marks_of_missing_cells(marker: Any, indicator: bool) -> None:
    kind = type(marker)
    column = [marker, kind("3"), kind("3"), kind("4"), marker]
    frame = pd.DataFrame({"a": column, "b": column[::-1]})
    imputer = SimpleImputer(
        missing_values=marker, strategy="most_frequent", add_indicator=indicator
    )
    encoder = OneHotEncoder(handle_unknown="ignore")
    part = make_pipeline(imputer, encoder) if kind is int or not indicator else imputer
    if part is imputer:
        part = make_pipeline(MissingIndicator(missing_values=marker))
    assert check(part.fit(frame), frame)
