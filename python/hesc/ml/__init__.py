"""Fitted scikit-learn models whose scores are linear, for samples that the server never sees.

    private = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    print(private.plan(X, ranges=(0, 16)))            # who holds and learns what, error, bytes
    private.predict(samples, fhe="execute")           # both parties in this process

Apart: `private.client()` and `private.server()`, or their wire forms, exchange bytes. Clients and
servers need no scikit-learn; what a server imports (`hesc.ml.server`) cannot decrypt.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from hesc.ml.plans import PrivatePlan
from hesc.ml.server import Server

if TYPE_CHECKING:
    from hesc.ml.client import Client
    from hesc.ml.estimators import ClippedWarning, PrivateClassifier, PrivateRegressor
    from hesc.ml.transformers import PrivateTransformer

__all__ = [
    "Client",
    "ClippedWarning",
    "PrivateClassifier",
    "PrivatePlan",
    "PrivateRegressor",
    "PrivateTransformer",
    "Server",
]

# Loaded on first use: the first holds secret keys, the others need scikit-learn.
_LATER: Final = {
    "Client": "hesc.ml.client",
    "ClippedWarning": "hesc.ml.estimators",
    "PrivateClassifier": "hesc.ml.estimators",
    "PrivateRegressor": "hesc.ml.estimators",
    "PrivateTransformer": "hesc.ml.transformers",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'hesc.ml' has no attribute {name!r}")
    try:
        return getattr(import_module(_LATER[name]), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "sklearn":
            raise
        raise ImportError(
            f"hesc.ml.{name} is made around scikit-learn, which is not installed: "
            f"pip install 'hesc[ml]'"
        ) from error
