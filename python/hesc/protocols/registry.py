"""The protocols: a row each, and a folder each with the same file names.

A row names the classes in `plan.py`, `client.py` and, of a protocol that serves a model, in
`server.py`, `backend.py` and, where the model is encrypted for its server, `owner.py`. Modules are
loaded when they are needed: a server loads what reads its plan and answers, and nothing that
decrypts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from hesc._native import ParameterError, WireError
from hesc._support import documents

if TYPE_CHECKING:
    from hesc.protocols.plan import ModelPlan, Plan
    from hesc.protocols.server import Server


class Protocol(NamedTuple):
    """Where a protocol's parts are."""

    package: str
    """Dotted name of its folder."""
    stem: str
    """What its classes begin with: `LinearPlan`, `LinearClient`, `LinearServer`, `LinearOwner`."""
    has_owner: bool = False
    """Whether the model's owner encrypts it for its server: then the owner is given the client's
    public keys, and the server none."""
    has_model: bool = True
    """Whether a model is served: then its plan is a `ModelPlan`, its server is a document, an
    estimator plans it, and a deployment has a folder for each side."""
    client: str = ""
    """Name of the class that holds the secret key, where it does not follow from the stem."""

    def loaded(self, part: str) -> Any:
        """A class: of the part "plan", "client", "server", "owner" or "backend"."""
        name = self.client if part == "client" else ""
        return getattr(
            import_module(f"{self.package}.{part}"), name or f"{self.stem}{part.capitalize()}"
        )

    @property
    def sides(self) -> tuple[str, ...]:
        """Folders of a deployment, the client's first; none where no model is served."""
        if not self.has_model:
            return ()
        return ("client", "owner") if self.has_owner else ("client", "server")


PROTOCOLS: dict[str, Protocol] = {
    name: Protocol(f"hesc.protocols.{name}", stem, owned)
    for name, stem, owned in (
        ("linear", "Linear", False),
        ("outsourced", "Outsourced", True),
        ("owners", "Owners", False),
        ("classes", "Class", False),
        ("networks", "Network", False),
        ("search", "Search", False),
        ("streams", "Stream", True),
        ("trees", "Trees", False),
    )
} | {
    "linkage": Protocol("hesc.protocols.linkage", "Linkage", has_model=False, client="Matcher"),
}
"""Rows by name."""


def protocol_of(plan: object) -> Protocol:
    """The row of a plan.

    Raises:
        ParameterError: what is no plan of a protocol.

    """
    name = getattr(type(plan), "protocol", None)
    found = PROTOCOLS.get(name) if isinstance(name, str) else None
    if found is None:
        raise ParameterError(f"this is no plan of a protocol but a {type(plan).__name__}")
    return found


def _named(data: bytes, document: str) -> Protocol:
    """The row that a document names.

    Raises:
        WireError: damaged bytes, another document, a protocol that this hesc does not know.

    """
    name = documents.protocol_of(data, document)
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise WireError(f"this {document} is of no protocol that this hesc knows; use a newer one")
    return PROTOCOLS[name]


def read_plan(data: bytes) -> Plan:
    """A plan of any protocol, from its wire form.

    Raises:
        WireError: damaged bytes, or no plan.

    """
    found: Plan = _named(data, "plan").loaded("plan").from_bytes(data)
    return found


def read_server(data: bytes, *, keys: bytes | None = None) -> Server[Any]:
    """A server of any protocol, from its wire form. Loads nothing that decrypts.

    Args:
        data: what `to_bytes` of a server wrote.
        keys: where the plan needs them, what the client's `public_keys` gave.

    Raises:
        WireError: damaged bytes, or no server.
        ParameterError: keys missing, or too many.

    """
    row = _named(data, "server")
    if not row.has_model:
        raise WireError("this server is of a protocol that serves no model; check what was sent")
    found: Server[Any] = row.loaded("server").from_bytes(data, keys=keys)
    return found


def read_owner(plan: ModelPlan, data: bytes) -> Any:
    """The model of a plan in the clear, as its owner keeps it, from its wire form.

    Raises:
        WireError: damaged bytes, or another object's.
        ParameterError: a protocol whose server has the model in the clear.

    """
    if not protocol_of(plan).has_owner:
        raise ParameterError(
            "the server of this plan has the model in the clear, and nobody encrypts it; "
            "plan(X, Outsourced()) makes a plan whose owner does"
        )
    return protocol_of(plan).loaded("owner").from_bytes(data)


def client_of(plan: Plan, *, secret: Any = None, keys: bytes | None = None) -> Any:
    """The `PlanClient` of a plan, with a key that was kept or a new one.

    Args:
        plan: what all sides agreed upon.
        secret: a key that was kept.
        keys: what `public_keys` gave with it.

    Raises:
        ParameterError: what is no plan, or keys of another set.
        WireError, KeyMismatchError: keys that are damaged, or of another pair.

    """
    return protocol_of(plan).loaded("client")(plan, secret=secret, keys=keys)


def server_takes_keys(plan: ModelPlan) -> bool:
    """Whether a server is given the client's public keys, and not the model's owner."""
    return plan.needs_keys and not protocol_of(plan).has_owner
