"""The ways in which private models are served, each by its plan, client and server.

One table, by the kind of a plan's document. Modules are loaded when they are needed: a server
loads what reads its plan and answers, and nothing that decrypts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from hesc._native import ParameterError, WireError
from hesc.ml import documents

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike

    from hesc.ring_products.plans import Sizes


class Plan(Protocol):
    """What both sides have: see `hesc.ml.PrivatePlan`, which is one."""

    names: list[str]
    inputs: int
    classes: Any

    @property
    def rows(self) -> int:
        """Samples of one query, at most."""

    @property
    def error(self) -> float | None:
        """The root mean square of a score's error, at most; None where nothing errs."""

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given the client's public keys before it answers."""

    def prepared(self, samples: ArrayLike, *, clip: bool = False) -> Any:
        """Samples as they are encrypted."""

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down."""

    def to_bytes(self) -> bytes:
        """The wire form, for a client."""


class Secret(Protocol):
    """A client's secret key."""

    def save(self, path: str | PathLike[str], *, passphrase: str | None = None) -> None:
        """Writes a new file with mode 0600."""


class Client(Protocol):
    """Plan and key: see `hesc.ml.Client`, which is one."""

    @property
    def secret(self) -> Secret:
        """The key."""

    def public_keys(self) -> bytes:
        """What a server is given that needs keys."""

    def encrypt(self, samples: ArrayLike, *, clip: bool = False) -> Any:
        """A query: `data`, `clipped`, `clipped_samples`."""

    def decrypt(self, answer: bytes) -> Any:
        """A result: `predictions`, `scores`, `error`."""


class Server(Protocol):
    """Plan and model: see `hesc.ml.Server`, which is one."""

    @property
    def plan(self) -> Any:
        """What it answers by."""

    def answer(self, query: bytes) -> bytes:
        """The answer to a query."""

    def to_bytes(self) -> bytes:
        """Plan and model, for who runs the server."""


class Way(NamedTuple):
    """Where a way's parts are, as `module:name`."""

    plan: str
    """Class; its `from_bytes(data)` reads a plan."""
    client: str
    """Class; called with a plan and `secret=`."""
    load_secret: str
    """Function of a plan, a path and `passphrase=`."""
    server: str
    """Class; its `from_bytes(data, keys=)` reads a server."""
    server_kind: str
    """The kind of the server's document."""


WAYS: Final[dict[str, Way]] = {
    "plan": Way(
        "hesc.ml.plans:PrivatePlan",
        "hesc.ml.client:Client",
        "hesc.ml.client:load_secret",
        "hesc.ml.server:Server",
        "server",
    ),
    "class plan": Way(
        "hesc.ml.decisions.plans:ClassPlan",
        "hesc.ml.decisions.client:ClassClient",
        "hesc.ml.decisions.client:load_secret",
        "hesc.ml.decisions.server:ClassServer",
        "class server",
    ),
    "network plan": Way(
        "hesc.ml.mlp.plans:NetworkPlan",
        "hesc.ml.mlp.client:NetworkClient",
        "hesc.ml.mlp.client:load_secret",
        "hesc.ml.mlp.server:NetworkServer",
        "network server",
    ),
    "neighbors plan": Way(
        "hesc.ml.neighbors.plans:NeighborsPlan",
        "hesc.ml.neighbors.client:NeighborsClient",
        "hesc.ml.neighbors.client:load_secret",
        "hesc.ml.neighbors.server:NeighborsServer",
        "neighbors server",
    ),
}
"""By the kind of a plan's document."""


def read_plan(data: bytes) -> Plan:
    """A plan of any way, from its wire form.

    Raises:
        WireError: damaged bytes, or no plan.

    """
    found: Plan = _loaded(_way_of(data).plan).from_bytes(data)
    return found


def client_of(plan: Plan, *, secret: Any = None) -> Client:
    """A client of a plan: with a key that was kept, or a new one.

    Raises:
        ParameterError: what is no plan, or another way's key.

    """
    found: Client = _loaded(_way_for(plan).client)(plan, secret=secret)
    return found


def load_secret(plan: Plan, path: str | PathLike[str] | Path, passphrase: str | None = None) -> Any:
    """A client's key from the file that `client.secret.save` wrote.

    Raises:
        DecryptionError: the passphrase is wrong, missing or one too many.
        ParameterError, WireError: the key of another set, or no key.
        PermissionError: others than the file's owner may read or write it.

    """
    return _loaded(_way_for(plan).load_secret)(plan, path, passphrase=passphrase)


def read_server(data: bytes, *, keys: bytes | None = None) -> Server:
    """A server of any way, from its wire form. Loads nothing that decrypts.

    Args:
        data: what `Server.to_bytes` wrote.
        keys: where the plan needs them, what the client's `public_keys` gave.

    Raises:
        WireError: damaged bytes, or no server.
        ParameterError: keys missing, or too many.

    """
    kind = documents.kind_of(data)
    for way in WAYS.values():
        if way.server_kind == kind:
            found: Server = _loaded(way.server).from_bytes(data, keys=keys)
            return found
    raise WireError(
        "this is no server of hesc.ml; check what was sent, or read it with a newer hesc"
    )


def _way_of(data: bytes) -> Way:
    way = WAYS.get(documents.kind_of(data))
    if way is None:
        raise WireError("this is no plan of hesc.ml; check what was sent, or use a newer hesc")
    return way


def _way_for(plan: object) -> Way:
    kind = getattr(type(plan), "kind", None)
    way = WAYS.get(kind) if isinstance(kind, str) else None
    if way is None:
        raise ParameterError(f"this is no plan of hesc.ml but a {type(plan).__name__}")
    return way


def _loaded(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)
