"""Models that a service answers by: one of each folder `server/`, and servers of clients' keys."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import HescError, KeyMismatchError, ParameterError
from hesc._support.new_files import path_of
from hesc.protocols import folders, ledger, registry
from hesc.protocols.folders import MANIFEST, PLAN, ServerFolder
from hesc.protocols.message import Kind
from hesc.protocols.search.index import Index, records_digest
from hesc.protocols.search.server import SearchServer
from hesc.protocols.trees.preparations import Preparations
from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike
    from pathlib import Path

    from hesc.protocols.server import Server

_AT_ONCE: Final = ("linear", "trees", "search")
"""Protocols whose server answers several queries at once. The others keep what they compile of
their plan, and several threads on one such server have not been tried."""
_QUICK: Final = 1e-3
_WEIGHT: Final = 0.1
_PREPARED: Final = 10_000
"""Prepared queries that are kept of each model, at most."""


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
        WireError: weights of another plan.

    """

    def __init__(self, folder: ServerFolder) -> None:
        self.plan, self.path = folder.plan, folder.path
        self.digest: str = self.plan.digest.hex()
        self.takes_keys = registry.server_takes_keys(self.plan)
        self._data = folder.model
        self._base: Any = registry.read_server(folder.model)
        self._prepared: Preparations | None = None
        self.label = ("model", self.digest[:12])
        """What figures call it."""
        self._per_byte: float | None = None
        self._model = f"{self.digest}+{hashlib.sha256(folder.model).hexdigest()}"
        self.identity = self._model
        """What answers depend on beside queries and keys: plan, model, and records in a file.
        Models of one plan differ in weights."""
        self.numbers: int | None = None
        """Numbers in all that a model with hidden weights gives; None where none are hidden."""
        self.weights = b""
        """What these are counted by; for no client."""
        base: Any = self._base
        if base.answers_left is not None:
            base.count = ledger.Count()
            self.numbers, self.weights = base.answers_left, base.fingerprint
        self.longest_keys: int = self.plan.key_bytes if self.takes_keys else 0
        """Bytes of a client's keys, at most."""
        self.longest_query: int = self.plan.longest(Kind.QUERY)
        """Bytes of a query, at most."""
        self.longest_answer: int = self.plan.longest(Kind.ANSWER)
        """Bytes of an answer, at most."""
        files = {PLAN: self.plan.to_bytes()}
        made = folders.manifest("client folder", files, plan=self.digest, below={})
        self.files = {MANIFEST: made, **files}
        """The folder `client/`, by names of files."""

    def took(self, seconds: float, size: int) -> None:
        """Learns how long a query of so many bytes takes."""
        found, before = seconds / max(1, size), self._per_byte
        self._per_byte = found if before is None else before + _WEIGHT * (found - before)

    def is_quick(self, size: int) -> bool:
        """Whether a query of so many bytes is answered sooner than another thread would begin.

        One that counts what it hides never is: it is answered one by one, and may be waited for.
        """
        if self._per_byte is None or self.numbers is not None or self.takes_keys:
            return False
        return self.plan.protocol in _AT_ONCE and size * self._per_byte < _QUICK

    @property
    def lacks_records(self) -> bool:
        """Whether it searches an index that is a file of its own, and has none yet."""
        return isinstance(self._base, SearchServer) and self._base.index is None

    def search_in(self, path: Path) -> bool:
        """Takes the records of a file, which lie where they are; whether it is of this plan.

        Raises:
            WireError, OSError: it is damaged, or may not be read.

        """
        try:
            index = Index.open(self.plan, path)
        except ParameterError:
            return False
        self._base.index = index
        self.names_records(path)
        return True

    def names_records(self, path: Path) -> None:
        """Says by what records answers depend on: those of a file, wherever they are computed.

        Raises:
            WireError, OSError: it is no index, or may not be read.

        """
        self.identity = f"{self._model}+{records_digest(path)}"

    def prepare_in(self, folder: Path) -> None:
        """Keeps prepared queries in a folder, which is made, where the plan has any."""
        if self.plan.prepares:
            self._prepared = Preparations(folder / self.digest, most=_PREPARED)
            self._base.preparations = self._prepared

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
            made: Any = registry.read_server(self._data, keys=keys)
            if self._prepared is not None:
                made.preparations = self._prepared
            return OpenServer(made)
        except HescError:
            raise RefusedError("bad-keys") from None

    def evaluate(self, opened: OpenServer, query: bytes) -> Evaluated:
        """The answer to a query, which has to be counted before anybody has it.

        Raises:
            RefusedError: what is no query of this plan, or under another key; more numbers than a
                model with hidden weights has left.

        """
        try:
            return self.computed(opened, query)
        except KeyMismatchError:
            raise RefusedError("other-keys") from None
        except HescError:
            much = self._asks_too_much(opened, query)
            raise RefusedError("budget" if much else "bad-query") from None

    def _asks_too_much(self, opened: OpenServer, query: bytes) -> bool:
        """Whether a query is for more numbers than a model with hidden weights may still give."""
        counting: Any = opened.server
        if self.numbers is None:
            return False
        with suppress(HescError):
            asked = self.plan.opened(query, Kind.QUERY).samples * self.plan.ring.shape[0]
            return bool(asked > counting.answers_left)
        return False

    def computed(self, opened: OpenServer, query: bytes) -> Evaluated:
        """What `evaluate` gives, for who may read why a query is refused.

        Raises:
            WireError, ParameterError, KeyMismatchError, ShapeError: as a server's `answer`.

        """
        if self.numbers is None:
            with nullcontext() if self.plan.protocol in _AT_ONCE else opened.lock:
                return Evaluated(opened.server.answer(query), 0)
        counting: Any = opened.server
        with opened.lock:
            # The state has the count of all runs; this one is of this answer.
            counting.count = ledger.Count()
            answer = counting.answer(query)
            return Evaluated(answer, counting.count.given)


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


def served(
    paths: Iterable[str | PathLike[str]], indexes: Iterable[str | PathLike[str]]
) -> dict[str, ServedModel]:
    """Models of folders, by the digests of their plans.

    Args:
        paths: folders `server/`.
        indexes: files of records, each of the plan of one of them.

    Raises:
        ParameterError: no folder, one plan twice, an index of no plan, or a plan without its index.
        WireError, OSError: as `ServerFolder.open` and `Index.open`.

    """
    found: dict[str, ServedModel] = {}
    for path in paths:
        model = ServedModel(ServerFolder.open(path))
        if model.digest in found:
            raise ParameterError(f"{path} is of the same plan as another folder; give one of them")
        found[model.digest] = model
    if not found:
        raise ParameterError("a service has a model: give folders server/ of deployments")
    for path in map(path_of, indexes):
        if not any(model.lacks_records and model.search_in(path) for model in found.values()):
            raise ParameterError(
                f"{path} is the index of none of these plans, or of one that has its records"
            )
    for model in found.values():
        if model.lacks_records:
            raise ParameterError(
                f"the model {model.digest} searches records that are a file of its own: give "
                f"indexes=, or --index, the file of hesc index build"
            )
    return found
