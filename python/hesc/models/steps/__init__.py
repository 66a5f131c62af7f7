"""What fitted scikit-learn transformers do to samples, as data that a client applies itself.

Transformers are taken by their exact class, for a subclass may compute something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import (
    RFE,
    RFECV,
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    TargetEncoder,
)

from hesc.models.steps import compose, encoders, functions, missing, scaling, texts
from hesc.models.steps.scaling import SCALERS
from hesc.models.steps.walking import all_parts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc.models.transforms import Transform

_VECTORIZERS: Final = (CountVectorizer, HashingVectorizer, TfidfVectorizer)
_SELECTORS: Final = (
    GenericUnivariateSelect,
    RFE,
    RFECV,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
)
_READERS: Final[dict[type, Callable[[Any], list[Any]]]] = {
    **dict.fromkeys(SCALERS, scaling.scaler),
    **dict.fromkeys(_SELECTORS, compose.selection),
    KBinsDiscretizer: scaling.discretised,
    PolynomialFeatures: scaling.monomials,
    PCA: scaling.principal,
    TruncatedSVD: scaling.uncentred,
    Nystroem: scaling.kernel,
    OneHotEncoder: encoders.one_hot,
    OrdinalEncoder: encoders.ordinal,
    TargetEncoder: encoders.targets,
    SimpleImputer: missing.imputer,
    MissingIndicator: missing.indicator,
    FunctionTransformer: functions.function,
    PowerTransformer: functions.power,
    QuantileTransformer: functions.quantiles,
    Normalizer: functions.normalise,
    Binarizer: functions.binarise,
    CountVectorizer: texts.counts,
    TfidfVectorizer: texts.weighed,
    TfidfTransformer: texts.weights,
    HashingVectorizer: texts.hashes,
}
TRANSFORMS: Final = (*_READERS, ColumnTransformer, FeatureUnion)
"""Classes of what a client computes before a model."""
_OF_TABLES: Final = (
    ColumnTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
    SimpleImputer,
    MissingIndicator,
    *_VECTORIZERS,
)
"""Those that take words, or cells without a value, or know columns by their names."""


def transforms_of(part: Any) -> list[Transform]:
    """What a fitted transformer does to features.

    Raises:
        ParameterError: options that are not computed here.

    """
    if type(part) is ColumnTransformer:
        return compose.columns(part, transforms_of)
    if type(part) is FeatureUnion:
        return compose.union(part, inputs_of(part), transforms_of)
    return _READERS[type(part)](part)


def inputs_of(part: Any) -> int:
    """Columns that a fitted transformer or model takes. Texts are one."""
    first = next(each for each in all_parts_of(part) if type(each) is not FeatureUnion)
    return 1 if type(first) in _VECTORIZERS else int(first.n_features_in_)


def takes_tables(estimator: Any) -> bool:
    """Whether a pipeline, fitted or not, is given tables as they are.

    All others are given numbers, in double precision and without a missing one.
    """
    return any(type(part) in _OF_TABLES for part in all_parts_of(estimator))


def skips_zeros(estimator: Any) -> str | None:
    """The part that treats zeros which a sparse matrix leaves out otherwise, by name, if any."""
    kinds = [type(part) for part in all_parts_of(estimator)]
    found = (
        kind.__name__
        for kind in kinds
        if kind is QuantileTransformer or kind.__module__.startswith("xgboost.")
    )
    return next(found, None)


def begins_with_texts(estimator: Any) -> bool:
    """Whether samples of a pipeline, fitted or not, are texts instead of rows."""
    kinds = [type(part) for part in all_parts_of(estimator)]
    return next(kind for kind in kinds if kind is not FeatureUnion) in _VECTORIZERS


def check_options(part: Any) -> None:
    """Refuses options of a transformer, fitted or not, that are never computed here.

    Raises:
        ParameterError: naming the option, and what would do.

    """
    if type(part) is FunctionTransformer:
        functions.check_function(part)
    if type(part) in _VECTORIZERS:
        texts.check_vectorizer(part)
