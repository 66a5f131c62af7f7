"""The ways in which private models are served, each by its plan, client and server.

One table, by the kind of a plan's document. Modules are loaded when they are needed: a server
loads what reads its plan and answers, and nothing that decrypts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from hesc._native import ParameterError, WireError
from hesc._support import documents

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike

    from hesc.protocols.disclosure import Disclosure
    from hesc.ring_products.plans import Sizes


class Plan(Protocol):
    """What both sides have: see `hesc.ml.PrivatePlan`, which is one."""

    @property
    def names(self) -> list[str]:
        """Names of the features, or none."""

    @property
    def inputs(self) -> int:
        """Features of a sample before the client's transforms."""

    @property
    def classes(self) -> Any:
        """A classifier's classes; None of other models."""

    @property
    def rows(self) -> int:
        """Samples of one query, at most."""

    @property
    def error(self) -> float | None:
        """The root mean square of a score's error, at most; None where nothing errs."""

    @property
    def needs_keys(self) -> bool:
        """Whether the server, or the model's owner, is given the client's public keys."""

    @property
    def encrypts_publicly(self) -> bool:
        """Whether a client encrypts under its public keys, and keeps them beside the secret one."""

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""

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

    def encrypted(self, features: Any) -> bytes:
        """The data of a query, of features that `Plan.prepared` gave, `Plan.rows` at most."""

    def decrypt(self, answer: bytes, *, samples: int | None = None) -> Any:
        """A result: `predictions`, `scores`, `error`; of so many samples, where that is said."""


class Server(Protocol):
    """Plan and model: see `hesc.ml.Server`, which is one."""

    @property
    def plan(self) -> Any:
        """What it answers by."""

    def answer(self, query: bytes) -> bytes:
        """The answer to a query."""

    def to_bytes(self) -> bytes:
        """Plan and model, for who runs the server."""


class Owner(Protocol):
    """Plan and model of who keeps it from its server: see `hesc.ml.ModelOwner`, which is one."""

    @property
    def plan(self) -> Any:
        """What it is planned by."""

    def encrypt_model(self, keys: bytes) -> bytes:
        """The server of one client, in its wire form."""

    def to_bytes(self) -> bytes:
        """Plan and model in the clear."""


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
    sides: tuple[str, ...] = ("client", "server")
    """Folders of a deployment, the client's first."""
    owner: str | None = None
    """Class, where the model's owner makes a client's server: `from_bytes(data)` reads it. Public
    keys are then for the owner, and the server takes none."""


WAYS: Final[dict[str, Way]] = {
    "plan": Way(
        "hesc.protocols.linear.plan:PrivatePlan",
        "hesc.protocols.linear.client:Client",
        "hesc.protocols.linear.client:load_secret",
        "hesc.protocols.linear.server:Server",
        "server",
    ),
    "class plan": Way(
        "hesc.protocols.classes.plan:ClassPlan",
        "hesc.protocols.classes.client:ClassClient",
        "hesc.protocols.classes.client:load_secret",
        "hesc.protocols.classes.server:ClassServer",
        "class server",
    ),
    "network plan": Way(
        "hesc.protocols.networks.plan:NetworkPlan",
        "hesc.protocols.networks.client:NetworkClient",
        "hesc.protocols.networks.client:load_secret",
        "hesc.protocols.networks.server:NetworkServer",
        "network server",
    ),
    "neighbors plan": Way(
        "hesc.protocols.neighbours.plan:NeighborsPlan",
        "hesc.protocols.neighbours.client:NeighborsClient",
        "hesc.protocols.neighbours.client:load_secret",
        "hesc.protocols.neighbours.server:NeighborsServer",
        "neighbors server",
    ),
    "outsourced plan": Way(
        "hesc.protocols.outsourced.plan:OutsourcedPlan",
        "hesc.protocols.outsourced.client:OutsourcedClient",
        "hesc.protocols.linear.client:load_secret",
        "hesc.protocols.outsourced.server:OutsourcedServer",
        "outsourced server",
        ("client", "owner"),
        "hesc.protocols.outsourced.owner:ModelOwner",
    ),
    "parties plan": Way(
        "hesc.protocols.owners.plan:PartiesPlan",
        "hesc.protocols.owners.client:PartiesClient",
        "hesc.protocols.owners.client:load_secret",
        "hesc.protocols.owners.server:PartiesServer",
        "parties server",
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


def sides_of(plan: Plan) -> tuple[str, ...]:
    """The folders of a plan's deployment, the client's first.

    Raises:
        ParameterError: what is no plan.

    """
    return way_for(plan).sides


def client_of(plan: Plan, *, secret: Any = None, keys: bytes | None = None) -> Client:
    """A client of a plan: with a key that was kept, or a new one.

    Args:
        plan: what the model's owner sent.
        secret: a key that was kept, see `load_secret`.
        keys: what `public_keys` gave with it, where `plan.encrypts_publicly`: such clients encrypt
            under their public key.

    Raises:
        ParameterError: what is no plan, another way's key, or keys that this client has no use for.
        WireError, KeyMismatchError: keys that are damaged, or of another pair.

    """
    way = way_for(plan)
    given = {} if keys is None else {"keys": keys}
    if given and not plan.encrypts_publicly:
        raise ParameterError(
            "a client of this plan encrypts under its secret key alone: leave out keys=, or --keys"
        )
    found: Client = _loaded(way.client)(plan, secret=secret, **given)
    return found


def load_secret(plan: Plan, path: str | PathLike[str] | Path, passphrase: str | None = None) -> Any:
    """A client's key from the file that `client.secret.save` wrote.

    Raises:
        DecryptionError: the passphrase is wrong, missing or one too many.
        ParameterError, WireError: the key of another set, or no key.
        PermissionError: others than the file's owner may read or write it.

    """
    return _loaded(way_for(plan).load_secret)(plan, path, passphrase=passphrase)


def server_takes_keys(plan: Plan) -> bool:
    """Whether `read_server` is given the client's public keys, and not the model's owner."""
    return plan.needs_keys and way_for(plan).owner is None


def read_owner(plan: Plan, data: bytes) -> Owner:
    """The model of this plan in the clear, from its wire form, as its owner keeps it.

    Raises:
        WireError: damaged bytes, or another object's.
        ParameterError: a plan of a way whose server has the model in the clear.

    """
    place = way_for(plan).owner
    if place is None:
        raise ParameterError(
            "the server of this plan has the model in the clear, and nobody encrypts it; "
            "plan(X, setting='outsourced') makes a plan whose owner does"
        )
    found: Owner = _loaded(place).from_bytes(data)
    return found


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


def way_for(plan: object) -> Way:
    """The way of a plan.

    Raises:
        ParameterError: what is no plan.

    """
    kind = getattr(type(plan), "kind", None)
    way = WAYS.get(kind) if isinstance(kind, str) else None
    if way is None:
        raise ParameterError(f"this is no plan of hesc.ml but a {type(plan).__name__}")
    return way


def _loaded(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)
