"""docs/estimators.md is what the lists of models say: `python -m scripts.estimators_table`."""

from __future__ import annotations

import re

import pytest
from scripts import estimators_table
from sklearn.utils import all_estimators

IS_OF_THIS = f"scikit-learn {estimators_table.version()}," in estimators_table.PAGE.read_text()
pytestmark = pytest.mark.skipif(not IS_OF_THIS, reason="the page is of another scikit-learn")


# What scikit-learn is about to drop warns if it is made.
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_page_is_what_the_lists_say() -> None:
    assert estimators_table.PAGE.read_text() == estimators_table.page(), (
        "run python -m scripts.estimators_table"
    )


def test_every_estimator_is_on_the_page() -> None:
    """Those that are taken as another, or are made of parts, are in words or in ml.md."""
    words = set(re.findall(r"\w+", estimators_table.PAGE.read_text()))
    apart = {"Pipeline", "FeatureUnion", "ColumnTransformer"}
    names = {name for name, _ in all_estimators() if not name.endswith("SearchCV")}
    assert names - apart <= words
