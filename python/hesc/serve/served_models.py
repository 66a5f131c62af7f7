"""Models that a service answers by: one of each folder `server/`, and servers of clients' keys."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import HescError, KeyMismatchError, ParameterError
from hesc.protocols import folders, ledger, registry
from hesc.protocols.folders import MANIFEST, PLAN, ServerFolder
from hesc.protocols.message import Kind
from hesc.protocols.search.server import SearchServer
from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from hesc.protocols.server import Server

SERVED: Final = ("linear", "classes", "networks", "trees", "search")
"""Protocols that are served."""
_ONE_BY_ONE: Final = ("classes", "networks")
"""Protocols whose server answers one query at a time for each client: it keeps what it compiles of
its plan, and several threads on one such server have not been tried."""


@dataclass(eq=False)
class OpenServer:
    """A server that is ready for one client's queries, or for everybody's."""

    server: Server[Any]
    lock: Lock = field(default_factory=Lock)
    """Held where answers are computed, or counted, one by one."""


class Evaluated(NamedTuple):
    """An answer that nobody has yet."""

    answer: bytes
    numbers: int
    """Numbers that a model with hidden weights gives by it."""


class ServedModel:
    """A plan and its server.

    Args:
        folder: what who runs the server was given.

    Raises:
        ParameterError: a plan that is not served here; it says what serves it.
        WireError: weights of another plan.

    """

    def __init__(self, folder: ServerFolder) -> None:
        self.plan, path = folder.plan, folder.path
        protocol = self.plan.protocol
        if protocol not in SERVED or registry.protocol_of(self.plan).has_owner:
            raise ParameterError(
                f"{path} is of the protocol {protocol!r}, which this service does not have; "
                f"`hesc eval` answers its files"
            )
        self.digest: str = self.plan.digest.hex()
        self.takes_keys = registry.server_takes_keys(self.plan)
        self._data = folder.model
        self._base = registry.read_server(folder.model)
        if isinstance(self._base, SearchServer) and self._base.index is None:
            raise ParameterError(
                f"{path} searches an index that is a file of its own, which this service does not "
                f"have; `hesc eval --index` answers its files"
            )
        self.numbers: int | None = None
        """Numbers in all that a model with hidden weights gives; None where none are hidden."""
        self.weights = b""
        """What these are counted by; for no client."""
        base: Any = self._base
        if base.answers_left is not None:
            base.count = ledger.Count()
            self.numbers, self.weights = base.answers_left, base.fingerprint
        self.longest_query: int = self.plan.longest(Kind.QUERY)
        """Bytes of a query, at most."""
        self.longest_answer: int = self.plan.longest(Kind.ANSWER)
        """Bytes of an answer, at most."""
        files = {PLAN: self.plan.to_bytes()}
        made = folders.manifest("client folder", files, plan=self.digest, below={})
        self.files = {MANIFEST: made, **files}
        """The folder `client/`, by names of files."""

    def opened(self, keys: bytes | None) -> OpenServer:
        """A server with a client's keys, or without.

        Raises:
            RefusedError: keys that are damaged, or for another plan.

        """
        if keys is None:
            return OpenServer(self._base)
        try:
            if isinstance(self._base, SearchServer) and self._base.index is not None:
                # Records are in memory once, however many clients there are.
                return OpenServer(SearchServer.of(self._base.index, keys=keys))
            return OpenServer(registry.read_server(self._data, keys=keys))
        except HescError:
            raise RefusedError("bad-keys") from None

    def evaluate(self, opened: OpenServer, query: bytes) -> Evaluated:
        """The answer to a query, which has to be counted before anybody has it.

        Raises:
            RefusedError: what is no query of this plan, or under another key.

        """
        try:
            if self.numbers is None:
                with opened.lock if self.plan.protocol in _ONE_BY_ONE else nullcontext():
                    return Evaluated(opened.server.answer(query), 0)
            counting: Any = opened.server
            with opened.lock:
                # The state has the count of all runs; this one is of this answer.
                counting.count = ledger.Count()
                answer = counting.answer(query)
                return Evaluated(answer, counting.count.given)
        except KeyMismatchError:
            raise RefusedError("other-keys") from None
        except HescError:
            raise RefusedError("bad-query") from None


class OpenServers:
    """Servers with keys, in memory: so many, and those used least lately go.

    Args:
        most: how many.

    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._open: OrderedDict[tuple[str, ...], OpenServer] = OrderedDict()

    def get(self, name: tuple[str, ...], make: Callable[[], OpenServer]) -> OpenServer:
        """A server that is open, or one that is made now."""
        with self._lock:
            found = self._open.get(name)
            if found is not None:
                self._open.move_to_end(name)
                return found
        made = make()
        with self._lock:
            found = self._open.setdefault(name, made)
            while len(self._open) > self._most:
                self._open.popitem(last=False)
        return found

    def drop(self, name: tuple[str, ...]) -> None:
        """Forgets one."""
        with self._lock:
            self._open.pop(name, None)


def served(paths: Iterable[str | PathLike[str]]) -> dict[str, ServedModel]:
    """Models of folders, by the digests of their plans.

    Raises:
        ParameterError: no folder, one plan twice, or one that is not served here.
        WireError, OSError: as `ServerFolder.open`.

    """
    found: dict[str, ServedModel] = {}
    for path in paths:
        model = ServedModel(ServerFolder.open(path))
        if model.digest in found:
            raise ParameterError(f"{path} is of the same plan as another folder; give one of them")
        found[model.digest] = model
    if not found:
        raise ParameterError("a service has a model: give folders server/ of deployments")
    return found
