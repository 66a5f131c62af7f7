"""Deployment folders: what clients and the server of a private model are given, as files.

    credit/manifest.json   sizes and SHA-256 of what follows
    credit/report.html     what the owner reads before anything is given away
    credit/client/         plan.json: ranges, transforms, names and parameters, for any client
    credit/server/         plan.json, and server.json with the **weights in the clear**

`PrivateClassifier.save` and `PrivateRegressor.save` write one. None of it is a secret key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from hesc._native import ParameterError, WireError
from hesc.ml import documents, folders, ways
from hesc.new_files import new_folder

if TYPE_CHECKING:
    from os import PathLike

PLAN: Final = "plan.json"
SERVER: Final = "server.json"
REPORT: Final = "report.html"
_REPORT_BYTES: Final = 1 << 24


@dataclass(frozen=True, eq=False)
class ClientFolder:
    """What a client is given: a plan. `ClientFolder.open` reads it."""

    path: Path
    """Where it lies."""
    plan: Any
    """Print it before you use it: who holds and learns what."""
    digest: str
    """SHA-256 of the plan's bytes, which names the plan in queries."""

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Reads a folder `client/`.

        Raises:
            WireError: files missing, too many, damaged, or of another version.
            OSError: there is no folder, or it may not be read.

        """
        folder = Path(path)
        found = folders.read(folder, "client folder", {PLAN: documents.LARGEST})
        return cls(folder, _plan_of(found, folder), found.plan)

    def client(self, *, secret: Any = None) -> ways.Client:
        """A client with a key that was kept (`load_secret`), or with a new one."""
        return ways.client_of(self.plan, secret=secret)

    def load_secret(self, path: str | PathLike[str], *, passphrase: str | None = None) -> Any:
        """A key of this plan from a file; see `hesc.ml.ways.load_secret`."""
        return ways.load_secret(self.plan, path, passphrase)


@dataclass(frozen=True, eq=False)
class ServerFolder:
    """What who runs the server is given: plan and weights. `ServerFolder.open` reads it."""

    path: Path
    """Where it lies."""
    plan: Any
    """As the client has it."""
    digest: str
    """SHA-256 of the plan's bytes."""
    model: bytes
    """What `Server.from_bytes` reads: for no client."""

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Reads a folder `server/`. Loads nothing that decrypts.

        Raises:
            WireError: files missing, too many, damaged, or of another version; weights of another
                plan, where the server can be made without keys.
            OSError: there is no folder, or it may not be read.

        """
        folder = Path(path)
        limits = {PLAN: documents.LARGEST, SERVER: documents.LARGEST}
        found = folders.read(folder, "server folder", limits)
        opened = cls(folder, _plan_of(found, folder), found.plan, found.files[SERVER])
        if not opened.plan.needs_keys:
            opened.server()
        return opened

    def server(self, *, keys: bytes | None = None) -> ways.Server:
        """The server.

        Args:
            keys: where the plan needs them, the client's `public_keys`.

        Raises:
            ParameterError: keys missing, or too many.
            WireError: weights of another plan than the folder's.

        """
        if keys is None and self.plan.needs_keys:
            raise ParameterError(
                "this plan's server needs the client's public keys: give keys=, the bytes of "
                "client.public_keys(), or --keys, the file of `hesc keygen --keys`"
            )
        if keys is not None and not self.plan.needs_keys:
            raise ParameterError("this plan's server needs no keys: leave out keys=, or --keys")
        server = ways.read_server(self.model, keys=keys)
        if folders.digest(server.plan.to_bytes()) != self.digest:
            raise WireError(f"{self.path / SERVER} is for another plan than {PLAN} beside it")
        return server

    def __repr__(self) -> str:
        return f"<hesc.ml.ServerFolder: {str(self.path)!r}, {self.plan!r}>"


@dataclass(frozen=True, eq=False)
class Deployment:
    """A whole deployment, as its owner has it. `Deployment.open` reads it.

    Give `client/` to clients and `server/` to who runs the server; each stands by itself and is
    read by `ClientFolder.open` and `ServerFolder.open`.
    """

    path: Path
    """Where it lies."""
    client: ClientFolder
    """What a client is given."""
    server: ServerFolder
    """What the server is given."""

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Reads a deployment that `save` wrote.

        Raises:
            WireError: files missing, too many, damaged, or of another version; client and server
                of different plans.
            OSError: there is no folder, or it may not be read.

        """
        folder = Path(path)
        found = folders.read(
            folder, "deployment", {REPORT: _REPORT_BYTES}, below=("client", "server")
        )
        client = ClientFolder.open(folder / "client")
        server = ServerFolder.open(folder / "server")
        if not client.digest == server.digest == found.plan:
            raise WireError(f"client and server of {folder} are of different plans")
        return cls(folder, client, server)


def write(path: str | PathLike[str], plan: bytes, server: bytes, report: bytes) -> Path:
    """Writes a deployment, whole or not at all. Nothing is overwritten.

    Args:
        path: the new folder; the folder that it lies in must be there.
        plan: what `Plan.to_bytes` gave.
        server: what `Server.to_bytes` gave.
        report: the page of `hesc.ml.report`.

    Raises:
        OSError: something of that name is there, or the disk is full.

    """
    name = folders.digest(plan)
    with new_folder(path) as part:
        kinds = {"client": {PLAN: plan}, "server": {PLAN: plan, SERVER: server}}
        below = {}
        for kind, files in kinds.items():
            # Weights are for the server alone, and nobody else reads them meanwhile.
            (part / kind).mkdir(mode=0o700 if kind == "server" else 0o777)
            below[kind] = folders.write(part / kind, f"{kind} folder", files, plan=name, below={})
        folders.write(part, "deployment", {REPORT: report}, plan=name, below=below)
    return Path(path)


def _plan_of(found: folders.Contents, folder: Path) -> Any:
    data = found.files[PLAN]
    if folders.digest(data) != found.plan:
        raise WireError(f"{folder / PLAN} is another plan than its manifest names")
    return ways.read_plan(data)
