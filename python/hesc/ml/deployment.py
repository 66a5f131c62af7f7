"""Deployment folders: what clients and the server of a private model are given, as files.

    credit/manifest.json   sizes and SHA-256 of what follows
    credit/report.html     what the owner reads before anything is given away
    credit/client/         plan.json: ranges, transforms, names and parameters, for any client
    credit/server/         plan.json, and server.json with the **weights in the clear**

or, where the server shall not have these (`Outsourced()`),

    credit/owner/          plan.json, and model.json with the **weights in the clear**, from which
                           `OwnerFolder.encrypt_model` makes a client's server/

`PrivateClassifier.save` and `PrivateRegressor.save` write one. None of it is a secret key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from hesc._native import ParameterError, WireError
from hesc._support import documents
from hesc._support.new_files import new_folder
from hesc.protocols import folders, registry
from hesc.protocols.folders import MODEL, PLAN, SERVER, ServerFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from hesc.protocols.plan import ModelPlan
    from hesc.protocols.server import Owner

REPORT: Final = "report.html"
_REPORT_BYTES: Final = 1 << 24


@dataclass(frozen=True, eq=False)
class ClientFolder:
    """What a client is given: a plan. `ClientFolder.open` reads it."""

    path: Path
    """Where it lies."""
    plan: Any
    """Print it before you use it: who holds and learns what."""

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Reads a folder `client/`.

        Raises:
            WireError: files missing, too many, damaged, or of another version.
            OSError: there is no folder, or it may not be read.

        """
        folder = Path(path)
        found = folders.read(folder, "client folder", {PLAN: documents.LARGEST})
        return cls(folder, folders.plan_of(found, folder))

    def client(self, *, secret: Any = None, keys: bytes | None = None) -> Any:
        """A client with a key that was kept (`load_secret`), or with a new one.

        Args:
            secret: a key that was kept.
            keys: what `public_keys` gave with it, where the plan `encrypts_publicly`.

        Raises:
            ParameterError, KeyMismatchError, WireError: as `hesc.protocols.registry.client_of`.

        """
        return registry.client_of(self.plan, secret=secret, keys=keys)

    def load_secret(self, path: str | PathLike[str], *, passphrase: str | None = None) -> Any:
        """A key of this plan from a file; see `hesc.SecretKey.load`."""
        from hesc.secret import SecretKey

        return SecretKey.load(self.plan.params, path, passphrase=passphrase)


@dataclass(frozen=True, eq=False)
class OwnerFolder:
    """What a model's owner keeps where the server must not know it. `OwnerFolder.open` reads it."""

    path: Path
    """Where it lies."""
    plan: Any
    """The plan as the client has it."""
    owner: Owner[Any]
    """Plan and weights in the clear."""

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Reads a folder `owner/`. Loads nothing that decrypts.

        Raises:
            WireError: files missing, too many, damaged, or of another version; a model of another
                plan.
            OSError: there is no folder, or it may not be read.

        """
        folder = Path(path)
        limits = {PLAN: documents.LARGEST, MODEL: documents.LARGEST}
        found = folders.read(folder, "owner folder", limits)
        plan = folders.plan_of(found, folder)
        owner = registry.read_owner(plan, found.files[MODEL])
        if owner.plan.digest != plan.digest:
            raise WireError(f"{folder / MODEL} is for another plan than {PLAN} beside it")
        return cls(folder, plan, owner)

    def encrypt_model(
        self, path: str | PathLike[str], *, keys: bytes | None = None, client: Any = None
    ) -> Path:
        """Writes a folder `server/` with the model under one client's key; nothing is overwritten.

        Args:
            path: the new folder, for who runs the server. The weights are not in it.
            keys: the client's `public_keys()`, from the client itself.
            client: the client itself, with its secret key, where the model is its own
                (`own_model=True`).

        Raises:
            ParameterError: both or none of them, a client of another plan, damaged keys or those of
                another set, or what the plan's setting does otherwise.
            OSError: something of that name is there, or the disk is full.

        """
        if (keys is None) == (client is None):
            raise ParameterError(
                "a model is encrypted under the client's public keys, keys=, or under its secret "
                "key where it is its own, client=: give one of them"
            )
        data = self.owner.encrypt_model(keys) if keys is not None else _by_client(self, client)
        return write_server(path, self.plan, data)

    def __repr__(self) -> str:
        return f"<hesc.ml.OwnerFolder: {str(self.path)!r}, {self.plan!r}>"


def _by_client(folder: OwnerFolder, client: Any) -> bytes:
    data: bytes = client.encrypt_model(folder.owner)
    return data


@dataclass(frozen=True, eq=False)
class Deployment:
    """A whole deployment, as its owner has it. `Deployment.open` reads it.

    Give `client/` to clients and `server/` to who runs the server; each stands by itself and is
    read by `ClientFolder.open` and `ServerFolder.open`.
    """

    path: Path
    """Where it lies."""
    sides: Mapping[str, Any]
    """What each side is given, by folder."""

    @property
    def client(self) -> ClientFolder:
        """What a client is given."""
        found: ClientFolder = self.sides["client"]
        return found

    @property
    def server(self) -> ServerFolder:
        """What the server is given.

        Raises:
            ParameterError: the plan's way has no folder for it.

        """
        if "server" not in self.sides:
            raise ParameterError(
                f"a deployment of this plan has no server/, but {', '.join(self.sides)}; "
                f"print the plan to read why. From owner/ owner.encrypt_model makes one for a "
                f"client, or `hesc encrypt-model`"
            )
        found: ServerFolder = self.sides["server"]
        return found

    @property
    def owner(self) -> OwnerFolder:
        """What the model's owner keeps, where its server has the model under encryption.

        Raises:
            ParameterError: the plan's way has no folder for it.

        """
        if "owner" not in self.sides:
            raise ParameterError("a deployment of this plan has no owner/: nobody encrypts a model")
        found: OwnerFolder = self.sides["owner"]
        return found

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Reads a deployment that `save` wrote.

        Raises:
            WireError: files missing, too many, damaged, or of another version; client and server
                of different plans.
            OSError: there is no folder, or it may not be read.

        """
        folder = Path(path)
        # Which of them a plan has is known when the client's is read.
        there = tuple(side for side in _OPENERS if (folder / side).exists())
        found = folders.read(folder, "deployment", {REPORT: _REPORT_BYTES}, below=there)
        sides = {side: _OPENERS[side].open(folder / side) for side in there}
        plan = sides["client"].plan if "client" in sides else None
        if plan is None or set(registry.protocol_of(plan).sides) != set(there):
            raise WireError(f"{folder} has other folders than its plan; get the whole folder again")
        if any(side.plan.digest.hex() != found.plan for side in sides.values()):
            raise WireError(f"the folders of {folder} are of different plans")
        return cls(folder, sides)


_OPENERS: Final[dict[str, Any]] = {
    "client": ClientFolder,
    "server": ServerFolder,
    "owner": OwnerFolder,
}
"""What reads a folder of a deployment."""


def write(
    path: str | PathLike[str],
    plan: ModelPlan,
    sides: Mapping[str, Mapping[str, bytes]],
    report: bytes,
) -> Path:
    """Writes a deployment, whole or not at all. Nothing is overwritten.

    Args:
        path: the new folder; the folder that it lies in must be there.
        plan: what is deployed.
        sides: contents of files by name, by folder.
        report: the page of `hesc.ml.report`.

    Raises:
        OSError: something of that name is there, or the disk is full.

    """
    name = plan.digest.hex()
    with new_folder(path) as part:
        below = {}
        for side, files in sides.items():
            # Weights are for their side alone, and nobody else reads them meanwhile.
            (part / side).mkdir(mode=0o777 if side == "client" else 0o700)
            below[side] = folders.write(part / side, f"{side} folder", files, plan=name, below={})
        folders.write(part, "deployment", {REPORT: report}, plan=name, below=below)
    return Path(path)


def write_server(path: str | PathLike[str], plan: ModelPlan, server: bytes) -> Path:
    """Writes a folder `server/` alone, whole or not at all. Nothing is overwritten.

    Args:
        path: the new folder; the folder that it lies in must be there.
        plan: what the server answers by.
        server: what `Server.to_bytes` gave.

    Raises:
        OSError: something of that name is there, or the disk is full.

    """
    with new_folder(path) as part:
        inner = {PLAN: plan.to_bytes(), SERVER: server}
        folders.write(part, "server folder", inner, plan=plan.digest.hex(), below={})
    return Path(path)
