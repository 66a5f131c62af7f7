"""Fitted models, trees, networks and neighbours too, for samples that the server never sees.

    private = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    print(private.plan(X, ranges=(0, 16)))            # who holds and learns what, error, bytes
    private.predict(samples, fhe="execute")           # both parties in this process

Apart: `private.client()` and `private.server()`, or their wire forms, exchange bytes. Clients and
servers need no scikit-learn; what a server imports (`hesc.ml.server`) cannot decrypt.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from hesc.ml.deployment import ClientFolder, Deployment, ServerFolder
from hesc.ml.mlp.plans import NetworkPlan
from hesc.ml.mlp.server import NetworkServer
from hesc.ml.neighbors.plans import NeighborsPlan
from hesc.ml.neighbors.server import NeighborsServer
from hesc.ml.plans import PrivatePlan
from hesc.ml.server import Server

if TYPE_CHECKING:
    from hesc.ml.base import ClippedWarning
    from hesc.ml.client import Client
    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor
    from hesc.ml.mlp.client import NetworkClient
    from hesc.ml.mlp.estimators import PrivateMLPClassifier, PrivateMLPRegressor
    from hesc.ml.neighbors.client import NeighborsClient
    from hesc.ml.neighbors.estimators import PrivateNeighbors
    from hesc.ml.onnx import load_onnx
    from hesc.ml.transformers import PrivateTransformer

__all__ = [
    "Client",
    "ClientFolder",
    "ClippedWarning",
    "Deployment",
    "NeighborsClient",
    "NeighborsPlan",
    "NeighborsServer",
    "NetworkClient",
    "NetworkPlan",
    "NetworkServer",
    "PrivateClassifier",
    "PrivateMLPClassifier",
    "PrivateMLPRegressor",
    "PrivateNeighbors",
    "PrivatePlan",
    "PrivateRegressor",
    "PrivateTransformer",
    "Server",
    "ServerFolder",
    "load_onnx",
]

# Loaded on first use: the first holds secret keys, the others need scikit-learn.
_LATER: Final = {
    "Client": "hesc.ml.client",
    "ClippedWarning": "hesc.ml.base",
    "NeighborsClient": "hesc.ml.neighbors.client",
    "NetworkClient": "hesc.ml.mlp.client",
    "PrivateClassifier": "hesc.ml.estimators",
    "PrivateMLPClassifier": "hesc.ml.mlp.estimators",
    "PrivateMLPRegressor": "hesc.ml.mlp.estimators",
    "PrivateNeighbors": "hesc.ml.neighbors.estimators",
    "PrivateRegressor": "hesc.ml.estimators",
    "PrivateTransformer": "hesc.ml.transformers",
    "load_onnx": "hesc.ml.onnx",
}

_EXTRAS: Final = {"sklearn": ("ml", "scikit-learn"), "onnx": ("onnx", "onnx")}
"""What brings a missing package, and its name."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'hesc.ml' has no attribute {name!r}")
    try:
        return getattr(import_module(_LATER[name]), name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in _EXTRAS:
            raise
        extra, what = _EXTRAS[missing]
        raise ImportError(
            f"hesc.ml.{name} is made around {what}, which is not installed: "
            f"pip install 'hesc[{extra}]'"
        ) from error
