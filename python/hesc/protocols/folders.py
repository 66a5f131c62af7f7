"""Folders of files with a manifest: written whole or not at all, read strictly.

The manifest lists every file with its size and SHA-256, and the format's version. A reader takes
exactly the files that are listed, each a plain file of the size and hash that are stated. That is
against damage and mixed-up files: who can write a folder can write its manifest too.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from hesc._native import ParameterError, WireError
from hesc._support import documents
from hesc.protocols import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from hesc.protocols.plan import ModelPlan
    from hesc.protocols.server import Server

MANIFEST: Final = "manifest.json"
"""The name of a folder's manifest."""
MANIFEST_BYTES: Final = 1 << 16
"""The longest manifest."""
PLAN: Final = "plan.json"
"""The name of a plan's file, in folders of every side."""
SERVER: Final = "server.json"
"""The name of the file that a server answers by."""
MODEL: Final = "model.json"
"""The name of the file that an owner keeps the model in."""
MANIFEST_KIND: Final = "manifest"
"""The kind of a manifest's document, of whatever folder."""
_FOLDERS: Final = ("client folder", "server folder", "owner folder", "deployment")
_FIELDS: Final = {"of", "plan", "hesc", "files"}


class Contents(NamedTuple):
    """What was read of a folder."""

    plan: str
    """SHA-256 of the plan's bytes, in hexadecimal digits."""
    hesc: str
    """The version of hesc that wrote it."""
    files: dict[str, bytes]
    """By name, the manifest among them."""


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def write(
    folder: Path, kind: str, files: Mapping[str, bytes], *, plan: str, below: Mapping[str, bytes]
) -> bytes:
    """Writes files and their manifest into a folder that is there and empty.

    Args:
        folder: where.
        kind: which folder it is, as "client folder" or "deployment".
        files: contents by name.
        plan: the digest of the plan that they belong to.
        below: manifests of folders inside, by folder's name, which are listed and not written.

    Returns:
        The manifest.

    Raises:
        OSError: a file is there, or the disk is full.

    """
    made = manifest(kind, files, plan=plan, below=below)
    for name, data in (*files.items(), (MANIFEST, made)):
        with (folder / name).open("xb") as file:
            file.write(data)
    return made


def manifest(
    kind: str, files: Mapping[str, bytes], *, plan: str, below: Mapping[str, bytes]
) -> bytes:
    """The manifest that `write` writes beside files, of the same arguments."""
    listed = dict(files) | {f"{name}/{MANIFEST}": data for name, data in below.items()}
    entries = {
        name: {"bytes": len(data), "sha256": digest(data)} for name, data in sorted(listed.items())
    }
    fields = {"of": kind, "plan": plan, "hesc": version("hesc"), "files": entries}
    # Indented for who looks into it.
    return json.dumps(json.loads(documents.write(MANIFEST_KIND, fields)), indent=1).encode() + b"\n"


def read(path: Path, kind: str, files: Mapping[str, int], below: tuple[str, ...] = ()) -> Contents:
    """The files of a folder, which are those named, and its manifest.

    Args:
        path: the folder; a link that leads to one will do, links inside will not.
        kind: which folder it has to be, as "client folder" or "deployment".
        files: the most bytes of each, by name.
        below: folders inside, whose manifests are read too, as `folder/manifest.json`.

    Raises:
        WireError: files missing, too many, damaged, too long, or no plain files; another version.
        OSError: there is no folder, or it may not be read.

    """
    with _opened(path) as folder:
        listed = _read_manifest(folder, kind, path)
        given = documents.read(listed, MANIFEST_KIND, _FIELDS)
        # A folder of another kind is told which it is before anything else of it is looked at.
        of = documents.one_of(given["of"], _FOLDERS, "the folder that a manifest is of")
        if of != kind:
            raise WireError(f"{path} is the {of}, where the {kind} belongs; check which was given")
        _check_names(folder, {MANIFEST, *files, *below}, path)
        found = {MANIFEST: listed}
        limits = dict(files) | {f"{name}/{MANIFEST}": MANIFEST_BYTES for name in below}
        entries = documents.exactly(given["files"], set(limits), "list of files")
        for name, limit in limits.items():
            data = _read_file(folder, name, limit, path)
            _check_entry(entries[name], data, path / name)
            found[name] = data
    plan, made_by = given["plan"], given["hesc"]
    if not _is_digest(plan) or not documents.is_name(made_by):
        raise WireError(f"{path / MANIFEST} names no plan, or no version of hesc")
    return Contents(plan, made_by, found)


@dataclass(frozen=True, eq=False)
class ServerFolder:
    """What who runs the server is given: plan and weights. `ServerFolder.open` reads it.

    It stands here, below what plays both sides, for whoever serves.
    """

    path: Path
    """Where it lies."""
    plan: Any
    """The plan as the client has it."""
    model: bytes
    """What `Server.from_bytes` reads: for no client."""

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Reads a folder `server/`. Loads nothing that decrypts.

        Raises:
            WireError: files missing, too many, damaged, or of another version; weights of another
                plan.
            OSError: there is no folder, or it may not be read.

        """
        folder = Path(path)
        limits = {PLAN: documents.LARGEST, SERVER: documents.LARGEST}
        found = read(folder, "server folder", limits)
        opened = cls(folder, plan_of(found, folder), found.files[SERVER])
        opened._read(None)
        return opened

    def server(self, *, keys: bytes | None = None) -> Server[Any]:
        """The server.

        Args:
            keys: where the plan needs them, the client's `public_keys`.

        Raises:
            ParameterError: keys missing, or too many.
            WireError: weights of another plan than the folder's.

        """
        takes_keys = registry.server_takes_keys(self.plan)
        if keys is None and takes_keys:
            raise ParameterError(
                "this plan's server needs the client's public keys: give keys=, the bytes of "
                "client.public_keys(), or --keys, the file of `hesc keygen --keys`"
            )
        if keys is not None and not takes_keys:
            raise ParameterError("this plan's server needs no keys: leave out keys=, or --keys")
        return self._read(keys)

    def _read(self, keys: bytes | None) -> Server[Any]:
        server = registry.read_server(self.model, keys=keys)
        if server.plan.digest != self.plan.digest:
            raise WireError(f"{self.path / SERVER} is for another plan than {PLAN} beside it")
        return server

    def __repr__(self) -> str:
        return f"<hesc.ml.ServerFolder: {str(self.path)!r}, {self.plan!r}>"


def plan_of(found: Contents, folder: Path) -> ModelPlan:
    """The plan in a folder of one side, which is the one that its manifest names.

    Raises:
        WireError: another plan, damaged, or one that serves no model.

    """
    plan: Any = registry.read_plan(found.files[PLAN])
    if not registry.protocol_of(plan).has_model:
        raise WireError(f"{folder / PLAN} serves no model, and has no deployment")
    if plan.digest.hex() != found.plan:
        raise WireError(f"{folder / PLAN} is another plan than its manifest names")
    checked: ModelPlan = plan
    return checked


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "there is no such folder", str(path)) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read_manifest(folder: int, kind: str, path: Path) -> bytes:
    """The bytes of a folder's manifest; where there is none, it is no folder of this kind."""
    if MANIFEST not in os.listdir(folder):
        raise WireError(
            f"{path} lacks {MANIFEST}: it is no {kind} of a deployment, or not the whole of it"
        )
    return _read_file(folder, MANIFEST, MANIFEST_BYTES, path)


def _check_names(folder: int, expected: set[str], path: Path) -> None:
    found = set()
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name not in expected:
                raise WireError(
                    f"{path} holds {entry.name[:80]!r}, which does not belong there: a folder is "
                    f"kept as it was made"
                )
            found.add(entry.name)
    missing = sorted(expected - found)
    if missing:
        raise WireError(f"{path} lacks {', '.join(missing)}; get the whole folder again")


def _read_file(folder: int, name: str, limit: int, path: Path) -> bytes:
    """A plain file's bytes. Neither a link nor a pipe, nor a folder that is a link, is followed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    inner, _, last = name.rpartition("/")
    at = folder
    try:
        if inner:
            at = os.open(inner, flags | os.O_DIRECTORY, dir_fd=folder)
        descriptor = os.open(last, flags, dir_fd=at)
    except OSError as error:
        raise WireError(
            f"{path / name} cannot be read as a plain file: {error.strerror}"
        ) from error
    finally:
        if at != folder:
            os.close(at)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WireError(f"{path / name} is no plain file; get the whole folder again")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise WireError(f"{path / name} is longer than such a file ever is")
    return data


def _check_entry(entry: object, data: bytes, path: Path) -> None:
    stated: dict[str, Any] = documents.exactly(entry, {"bytes", "sha256"}, "entry of a manifest")
    if type(stated["bytes"]) is not int or not _is_digest(stated["sha256"]):
        raise WireError(f"the entry of {path} in its manifest has no size or no SHA-256")
    if stated["bytes"] != len(data) or stated["sha256"] != digest(data):
        raise WireError(f"{path} is not what its manifest says: damaged, or of another folder")


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")
