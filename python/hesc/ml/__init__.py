"""Fitted models, trees, networks and neighbours too, for samples that the server never sees.

    private = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    print(private.plan(X, ranges=(0, 16)))            # who holds and learns what, error, bytes
    private.predict(samples, fhe="execute")           # both parties in this process

Apart: `private.client()` and `private.server()`, or their wire forms, exchange bytes. Clients and
servers need no scikit-learn; what a server imports (`hesc.ml.server`) cannot decrypt.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from hesc.ml.deployment import ClientFolder, Deployment, OwnerFolder, ServerFolder
from hesc.ml.mlp.plans import NetworkPlan
from hesc.ml.mlp.server import NetworkServer
from hesc.ml.neighbors.plans import NeighborsPlan
from hesc.ml.neighbors.server import NeighborsServer
from hesc.ml.outsourced.owner import ModelOwner
from hesc.ml.outsourced.plans import OutsourcedPlan
from hesc.ml.outsourced.server import OutsourcedServer
from hesc.ml.parties.party import Party
from hesc.ml.parties.plans import PartiesPlan
from hesc.ml.parties.server import PartiesServer
from hesc.ml.plans import PrivatePlan
from hesc.ml.server import Server

if TYPE_CHECKING:
    from hesc.ml.client import Client
    from hesc.ml.decisions.client import ClassClient
    from hesc.ml.decisions.plans import ClassPlan
    from hesc.ml.decisions.server import ClassServer
    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor
    from hesc.ml.mlp.client import NetworkClient
    from hesc.ml.mlp.estimators import PrivateMLPClassifier, PrivateMLPRegressor
    from hesc.ml.neighbors.client import NeighborsClient
    from hesc.ml.neighbors.estimators import PrivateNeighbors
    from hesc.ml.onnx import load_onnx
    from hesc.ml.outsourced.client import OutsourcedClient
    from hesc.ml.parties.client import PartiesClient
    from hesc.ml.serving import ClippedWarning
    from hesc.ml.transformers import PrivateTransformer

__all__ = [
    "ClassClient",
    "ClassPlan",
    "ClassServer",
    "Client",
    "ClientFolder",
    "ClippedWarning",
    "Deployment",
    "ModelOwner",
    "NeighborsClient",
    "NeighborsPlan",
    "NeighborsServer",
    "NetworkClient",
    "NetworkPlan",
    "NetworkServer",
    "OutsourcedClient",
    "OutsourcedPlan",
    "OutsourcedServer",
    "OwnerFolder",
    "PartiesClient",
    "PartiesPlan",
    "PartiesServer",
    "Party",
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

# Loaded on first use: clients hold secret keys, some need scikit-learn, others load much.
_LATER: Final = {
    "ClassClient": "hesc.ml.decisions.client",
    "ClassPlan": "hesc.ml.decisions.plans",
    "ClassServer": "hesc.ml.decisions.server",
    "Client": "hesc.ml.client",
    "ClippedWarning": "hesc.ml.serving",
    "NeighborsClient": "hesc.ml.neighbors.client",
    "NetworkClient": "hesc.ml.mlp.client",
    "OutsourcedClient": "hesc.ml.outsourced.client",
    "PartiesClient": "hesc.ml.parties.client",
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
_NEEDS: Final = {
    "hesc.ml.estimators": ["sklearn"],
    "hesc.ml.mlp.estimators": ["sklearn"],
    "hesc.ml.neighbors.estimators": ["sklearn"],
    "hesc.ml.onnx": ["sklearn", "onnx"],
    "hesc.ml.serving": ["sklearn"],
    "hesc.ml.transformers": ["sklearn"],
}
"""Such packages by modules of `_LATER`."""


def _installed(name: str) -> bool:
    try:
        return all(find_spec(package) for package in _NEEDS.get(_LATER.get(name, ""), []))
    except ValueError:
        # Something without a spec stands in for it, as in tests of who uses this.
        return False


# `from hesc.ml import *` asks for all of them. Others say what to install when they are asked for.
__all__[:] = [name for name in __all__ if _installed(name)]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
