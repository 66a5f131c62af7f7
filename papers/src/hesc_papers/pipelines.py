"""Pipelines as people have them, of `hesc:models`: words beside numbers, missing cells, texts."""

from __future__ import annotations

from typing import Any


def columns_of_words_and_numbers() -> Any:
    """Words as ones and zeros, numbers filled and scaled: what stands before a model."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return _by_kind(OneHotEncoder(handle_unknown="ignore"), numbers)


def words_and_numbers() -> Any:
    """A classifier of rows with words and numbers."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(columns_of_words_and_numbers(), LogisticRegression())


def imputed() -> Any:
    """A regressor of rows with missing words and numbers, which also says which are missing."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    numbers = SimpleImputer(strategy="median", add_indicator=True)
    return make_pipeline(_by_kind(words, numbers), StandardScaler(), Ridge())


def target_encoded() -> Any:
    """A classifier of rows with words of many kinds, each a mean of the targets that it had."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler, TargetEncoder

    columns = _by_kind(TargetEncoder(random_state=0), StandardScaler())
    return make_pipeline(columns, LogisticRegression(max_iter=2000))


def texts() -> Any:
    """A classifier of texts by the frequencies of their words."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(
        TfidfVectorizer(max_features=2000, sublinear_tf=True), LogisticRegression(C=10)
    )


def calibrated() -> Any:
    """A classifier whose probabilities are calibrated by folds."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    return make_pipeline(StandardScaler(), CalibratedClassifierCV(LinearSVC(random_state=0)))


def _by_kind(words: Any, numbers: Any) -> Any:
    """One transformer for columns of words, another for columns of numbers."""
    from sklearn.compose import make_column_selector, make_column_transformer

    return make_column_transformer(
        (words, make_column_selector(dtype_exclude="number")),
        (numbers, make_column_selector(dtype_include="number")),
    )
