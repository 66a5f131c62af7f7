"""Fitted models, trees, networks and neighbours too, for samples that the server never sees.

    private = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    print(private.plan(X, Scores(ranges=(0, 16))))    # who holds and learns what, error, bytes
    private.predict(samples, fhe="execute")           # both parties in this process

Apart: `private.client()` and `private.server()`, or their wire forms, exchange bytes. Clients and
servers need no scikit-learn; what a server imports (`hesc.protocols.linear.server`) cannot decrypt.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from hesc._support.extras import install_line
from hesc.ml.deployment import ClientFolder, Deployment, OwnerFolder
from hesc.protocols.classes.options import Classes
from hesc.protocols.folders import ServerFolder
from hesc.protocols.linear.options import Scores
from hesc.protocols.linear.plan import LinearPlan
from hesc.protocols.linear.server import LinearServer
from hesc.protocols.networks.options import Network
from hesc.protocols.networks.plan import NetworkPlan
from hesc.protocols.networks.server import NetworkServer
from hesc.protocols.outsourced.options import Outsourced
from hesc.protocols.outsourced.owner import OutsourcedOwner
from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.protocols.outsourced.server import OutsourcedServer
from hesc.protocols.owners.options import Parties
from hesc.protocols.owners.party import Party
from hesc.protocols.owners.plan import OwnersPlan
from hesc.protocols.owners.server import OwnersServer
from hesc.protocols.search.options import Search
from hesc.protocols.streams.options import Streams
from hesc.protocols.trees.options import Trees
from hesc.protocols.trees.plan import TreesPlan
from hesc.protocols.trees.server import TreesServer

if TYPE_CHECKING:
    from hesc.ml.boosters import load_booster
    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor
    from hesc.ml.mlp import PrivateMLPClassifier, PrivateMLPRegressor
    from hesc.ml.neighbours import PrivateNeighbours
    from hesc.ml.onnx import load_onnx
    from hesc.ml.outliers import PrivateOutlierDetector
    from hesc.ml.square_networks import PrivateSquareNetwork
    from hesc.models.samples import ClippedWarning
    from hesc.protocols.classes.client import ClassClient
    from hesc.protocols.classes.plan import ClassPlan
    from hesc.protocols.classes.server import ClassServer
    from hesc.protocols.linear.client import LinearClient
    from hesc.protocols.networks.client import NetworkClient
    from hesc.protocols.outsourced.client import OutsourcedClient
    from hesc.protocols.owners.client import OwnersClient
    from hesc.protocols.trees.client import TreesClient

__all__ = [
    "ClassClient",
    "ClassPlan",
    "ClassServer",
    "Classes",
    "ClientFolder",
    "ClippedWarning",
    "Deployment",
    "LinearClient",
    "LinearPlan",
    "LinearServer",
    "Network",
    "NetworkClient",
    "NetworkPlan",
    "NetworkServer",
    "Outsourced",
    "OutsourcedClient",
    "OutsourcedOwner",
    "OutsourcedPlan",
    "OutsourcedServer",
    "OwnerFolder",
    "OwnersClient",
    "OwnersPlan",
    "OwnersServer",
    "Parties",
    "Party",
    "PrivateClassifier",
    "PrivateMLPClassifier",
    "PrivateMLPRegressor",
    "PrivateNeighbours",
    "PrivateOutlierDetector",
    "PrivateRegressor",
    "PrivateSquareNetwork",
    "Scores",
    "Search",
    "ServerFolder",
    "Streams",
    "Trees",
    "TreesClient",
    "TreesPlan",
    "TreesServer",
    "load_booster",
    "load_onnx",
]

# Loaded on first use: clients hold secret keys, some need scikit-learn, others load much.
_LATER: Final = {
    "ClassClient": "hesc.protocols.classes.client",
    "ClassPlan": "hesc.protocols.classes.plan",
    "ClassServer": "hesc.protocols.classes.server",
    "ClippedWarning": "hesc.models.samples",
    "LinearClient": "hesc.protocols.linear.client",
    "NetworkClient": "hesc.protocols.networks.client",
    "OutsourcedClient": "hesc.protocols.outsourced.client",
    "OwnersClient": "hesc.protocols.owners.client",
    "PrivateClassifier": "hesc.ml.estimators",
    "PrivateMLPClassifier": "hesc.ml.mlp",
    "PrivateMLPRegressor": "hesc.ml.mlp",
    "PrivateNeighbours": "hesc.ml.neighbours",
    "PrivateOutlierDetector": "hesc.ml.outliers",
    "PrivateRegressor": "hesc.ml.estimators",
    "PrivateSquareNetwork": "hesc.ml.square_networks",
    "TreesClient": "hesc.protocols.trees.client",
    "load_booster": "hesc.ml.boosters",
    "load_onnx": "hesc.ml.onnx",
}

_EXTRAS: Final = {"sklearn": ("ml", "scikit-learn"), "onnx": ("onnx", "onnx")}
"""What brings a missing package, and its name."""
_NEEDS: Final = {
    "hesc.ml.boosters": ["sklearn"],
    "hesc.ml.estimators": ["sklearn"],
    "hesc.ml.mlp": ["sklearn"],
    "hesc.ml.neighbours": ["sklearn"],
    "hesc.ml.onnx": ["sklearn", "onnx"],
    "hesc.ml.outliers": ["sklearn"],
    "hesc.ml.serving": ["sklearn"],
    "hesc.ml.square_networks": ["sklearn"],
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
            f"hesc.ml.{name} is made around {what}, which is not installed: {install_line(extra)}"
        ) from error
