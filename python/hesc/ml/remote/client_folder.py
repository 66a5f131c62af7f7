"""What a client of a service has: a plan, and a key that is made once and kept sealed.

credit/client/       plan.json and its manifest, as they were fetched
credit/secret.key    the secret key, sealed where there is a passphrase
credit/public.keys   what the service is given, where the plan needs it
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from hesc._native import HescError, ParameterError, WireError
from hesc._support.new_files import new_folder, path_of, read_whole
from hesc.ml.deployment import ClientFolder
from hesc.protocols import folders, registry
from hesc.protocols.folders import PLAN

if TYPE_CHECKING:
    from os import PathLike

_CLIENT: Final = "client"
SECRET: Final = "secret.key"  # noqa: S105 - a file's name
"""The name of the secret key's file."""
_KEYS: Final = "public.keys"
_KEY_BYTES: Final = 1 << 31


def read_plan(data: bytes, digest: str) -> Any:
    """The plan of a digest, which its bytes have or are refused.

    Raises:
        WireError: another plan, or none.
        ParameterError: a plan of several owners, or one that serves no model.

    """
    if hashlib.sha256(data).hexdigest() != digest:
        raise WireError("the service's plan is not the one that its digest names; do not use it")
    plan: Any = registry.read_plan(data)
    if not registry.protocol_of(plan).has_model or plan.parties:
        raise ParameterError(
            "this plan has several owners of columns, whose files hesc party and hesc eval exchange"
        )
    return plan


class KeptClient:
    """A plan and its client, in memory or in a folder.

    Args:
        folder: where they are kept; None for as long as the process lasts.
        passphrase: seals the secret key.

    Raises:
        ParameterError: what is no path, or no text.
        WireError, OSError: a folder that is damaged, or may not be read.

    """

    def __init__(self, folder: str | PathLike[str] | None, passphrase: str | None) -> None:
        self._folder = None if folder is None else path_of(folder, "folder")
        if passphrase is not None and not isinstance(passphrase, str):
            raise ParameterError("passphrase= is text, or None where the key is not sealed")
        self._passphrase = passphrase
        self._taking = Lock()
        self._plan: Any = None
        self._client: Any = None
        if self._folder is not None and self._folder.exists():
            self._plan = ClientFolder.open(self._folder / _CLIENT).plan

    @property
    def plan(self) -> Any:
        """The plan; None until it was fetched."""
        return self._plan

    @property
    def digest(self) -> str | None:
        """The plan's; None until it was fetched."""
        return None if self._plan is None else self._plan.digest.hex()

    def check(self, digest: str) -> None:
        """Refuses another plan than the one that is kept.

        Raises:
            ParameterError: it is another.

        """
        if self.digest not in (None, digest):
            raise ParameterError(
                f"{self._folder or 'this client'} is of the plan {self.digest}, and the model "
                f"{digest} was asked for: give another folder=, or make another client"
            )

    def take(self, plan: Any) -> bool:
        """Takes a plan that was fetched, makes its keys, and keeps both where there is a folder.

        Several flows may come with one at once: the first is taken. Whether this one was.

        Raises:
            ParameterError: another plan is kept.
            OSError: the folder cannot be made.

        """
        with self._taking:
            if self._plan is not None:
                self.check(plan.digest.hex())
                return False
            self._make(plan)
            return True

    def _make(self, plan: Any) -> None:
        client = registry.client_of(plan)
        keys = client.public_keys() if plan.needs_keys or plan.encrypts_publicly else None
        if self._folder is not None:
            with new_folder(self._folder) as part:
                part.chmod(0o700)
                (part / _CLIENT).mkdir()
                files = {PLAN: plan.to_bytes()}
                digest = plan.digest.hex()
                folders.write(part / _CLIENT, "client folder", files, plan=digest, below={})
                client.secret.save(part / SECRET, passphrase=self._passphrase)
                if keys is not None:
                    (part / _KEYS).write_bytes(keys)
        self._client = client
        self._plan = plan

    @property
    def client(self) -> Any:
        """The client, with its key.

        Raises:
            DecryptionError: another passphrase than the key was sealed with.
            HescError: the folder lacks what it should have.

        """
        if self._client is None:
            folder = self._folder or Path()
            if not (folder / SECRET).exists():
                raise HescError(f"{folder} has no {SECRET}: give another folder=, or remove it")
            secret = ClientFolder.open(folder / _CLIENT).load_secret(
                folder / SECRET, passphrase=self._passphrase
            )
            given = self._keys(folder) if self._plan.encrypts_publicly else None
            self._client = registry.client_of(self._plan, secret=secret, keys=given)
        return self._client

    def public_keys(self) -> bytes:
        """What the service is given, where the plan needs it."""
        if self._folder is not None:
            return self._keys(self._folder)
        found: bytes = self._client.public_keys()
        return found

    @cached_property
    def keys_sha256(self) -> str:
        """What the service calls these keys by."""
        return hashlib.sha256(self.public_keys()).hexdigest()

    def _keys(self, folder: Path) -> bytes:
        return read_whole(folder / _KEYS, _KEY_BYTES, "a file of public keys")
