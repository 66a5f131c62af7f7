"""Models of XGBoost, LightGBM and CatBoost as arrays, fitted or saved.

A saved model is read as numbers: nothing in it runs, and its library is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc.models.boosters import fitted, saved_models, verifying

if TYPE_CHECKING:
    from pathlib import Path

    from hesc.models.described import Described

__all__ = ["read"]


@usual_floats
def read(source: str | Path | bytes | Any, *, verify: bool | None = None) -> Described:
    """What a saved model, or a booster of one of these libraries, computes.

    Thresholds become the doubles that send every double the way that the library sends it. Leaves
    are added in double precision, also where XGBoost adds in float32. Features may not be missing,
    so that the way of missing values is left out.

    Args:
        source: a path, or bytes: `.json` and `.ubj` of XGBoost, text of LightGBM, `.json` of
            CatBoost, 64 MiB at most; or an xgboost.Booster, a lightgbm.Booster or a model of
            CatBoost.
        verify: compare with the library on random rows, see `verifying.check`. None does so where
            it is installed.

    Raises:
        WireError: damaged or hostile bytes.
        ParameterError: what is not computed here, with what would do; what the library computes
            otherwise; the library is wanted and missing.
        OutOfRangeError: numbers that are not finite.

    """
    if verify not in {None, True, False}:
        raise ParameterError(f"verify is True, False or None; got {verify!r}")
    data = fitted.saved(source)
    found = saved_models.read(data)
    if verify is not False:
        verifying.check(data, found, wanted=bool(verify))
    return found.model
