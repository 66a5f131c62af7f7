"""The client of a model of trees: it encrypts bits and reads scores."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc import _native
from hesc._native import ForestClientShare, HescError, ParameterError, WireError
from hesc._support.inputs import whole
from hesc.models.samples import Query, Result
from hesc.protocols.client import PartsClient
from hesc.protocols.message import Kind, name_of
from hesc.protocols.trees.plan import TreesPlan
from hesc.protocols.trees.preparations import Preparations, ending_for, name_for, store_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.models.tables.forms import Samples
    from hesc.secret import SecretKey


BEGUN: Final = "begun"
"""The state of a preparation that the server has not answered."""
READY: Final = "ready"
"""The state of a preparation that a sample can be asked with."""
ASKED: Final = "asked"
"""The state of a preparation that a sample was asked with."""
MASKED: Final = "masked answer"
"""What a part of an answer to a prepared query says that it is."""
_ANSWERS: Final = {
    "query": "answer",
    "preparation": "prepared",
    "masked query": MASKED,
}
"""What answers each kind of part."""
_NONE: Final = ("", b"")
"""What a part is that says nothing of itself."""


class TreesClient(PartsClient[Result]):
    """Encrypts which edges features exceed, and reads scores.

    Queries can be prepared before samples are known: `prepare`, `complete`, then `encrypt` with
    `prepared=True`, which sends some kilobytes. Arguments are those of `PlanClient`.
    """

    plan_type: ClassVar[type[TreesPlan]] = TreesPlan
    answer_parts: ClassVar[int | None] = None
    plan: TreesPlan
    secret: SecretKey

    def __init__(self, plan: Any, *, secret: Any = None, keys: bytes | None = None) -> None:
        super().__init__(plan, secret=secret, keys=keys)
        self._preparations = Preparations()
        self._later: list[str] | None = None

    @property
    def preparations(self) -> Preparations:
        """Where this client keeps prepared queries: its memory, unless another store is set.

        Raises:
            ParameterError: what is set is no store.

        """
        return self._preparations

    @preparations.setter
    def preparations(self, store: Preparations) -> None:
        self._preparations = store_of(store)

    def prepare(self, queries: int) -> bytes:
        """Begins to prepare so many queries: a message for the server, as long as they are.

        Args:
            queries: `plan.rows` at most.

        Raises:
            ParameterError: another number, a store that is full.

        """
        count = whole(queries, "queries", 1, self.plan.rows)
        self.preparations.check_room(count)
        key, parts = self.secret.native, []
        for _ in range(count):
            share, part = ForestClientShare.prepare(self.plan.forest, key)
            self.preparations.put(self._kept(share.name, BEGUN), share)
            parts.append(part)
        return self.framed(parts, count)

    def complete(self, answer: bytes, *, query: bytes) -> int:
        """Completes prepared queries by the server's answer; says how many are ready then.

        Args:
            answer: the server's.
            query: the message that `prepare` gave.

        Raises:
            WireError: the answer to another message, damaged bytes, or no preparations; those
                before the damaged one are complete.
            ParameterError: preparations that were completed before, or in another store.
            KeyMismatchError: preparations of another key.

        """
        sent, found = self.plan.opened(query, Kind.QUERY), self.plan.opened(answer, Kind.ANSWER)
        if found.query != name_of(query) or not self.are_answers(sent.parts, found.parts):
            raise WireError("the answer is to another query; take the two that belong together")
        told = [_native.forest_part(part) or _NONE for part in sent.parts]
        if any(kind != "preparation" for kind, _ in told):
            raise WireError("this is a query of samples, and no preparation: decrypt its answer")
        known = 0
        for (_, name), answered in zip(told, found.parts, strict=True):
            try:
                share = self.preparations.take(self._kept(name, BEGUN), self._read)
            except ParameterError:
                # Of a message that was completed in part. If none is there, this is said.
                continue
            known += 1
            try:
                share.complete(self.secret.native, answered)
            except HescError:
                self.preparations.put(self._kept(name, BEGUN), share)
                raise
            self.preparations.put(self._kept(name, READY), share)
        if not known:
            raise ParameterError(
                "these preparations were completed before, or not begun with this store (--kept, "
                "or preparations=)"
            )
        return self.ready

    def are_answers(self, sent: tuple[bytes, ...], found: tuple[bytes, ...]) -> bool:
        """Whether each part of an answer is to the part of the query in its place."""
        pairs = zip(map(_native.forest_part, sent), map(_native.forest_part, found), strict=False)
        return len(sent) == len(found) and all(
            asked is not None and (_ANSWERS.get(asked[0]), asked[1]) == told
            for asked, told in pairs
        )

    @property
    def ready(self) -> int:
        """Prepared queries that samples can be asked with."""
        return len(self.preparations.names(self._ending(READY)))

    def check_ready(self, samples: int) -> None:
        """Refuses more samples than queries are prepared for.

        Raises:
            ParameterError: there are fewer.

        """
        if samples > (ready := self.ready):
            raise ParameterError(
                f"{samples} samples, and {ready} prepared queries: prepare({samples}) and "
                f"complete(), or hesc prepare, make more; without prepared=True, or --kept, "
                f"none is needed"
            )

    def encrypt(self, samples: Samples, *, clip: bool = False, prepared: bool = False) -> Query:
        """Transforms and encrypts rows of features, `plan.rows` of them at most.

        Args:
            samples: as the plan's `prepared` takes them.
            clip: bring values beyond what the plan declares within it, and count them.
            prepared: use up prepared queries, one for each sample.

        Raises:
            OutOfRangeError, ShapeError: as the plan's `prepared`; too many rows.
            ParameterError: fewer prepared queries than samples.

        """
        if not prepared:
            return super().encrypt(samples, clip=clip)
        rows = self.plan.prepared(samples, clip=clip)
        count = len(rows.features)
        self.check_rows(count)
        self.check_ready(count)
        bits = np.ascontiguousarray(rows.features != 0)
        names = iter(self.preparations.names(self._ending(READY)))
        parts = [self._asked(row, names) for row in bits]
        return Query(self.framed(parts, count), rows.values, rows.samples)

    def _asked(self, bits: NDArray[np.bool_], names: Iterator[str]) -> bytes:
        """A sample's part, of the next prepared query that is there."""
        for ready in names:
            try:
                share = self.preparations.take(ready, self._read)
            except (ParameterError, WireError):
                # Another process of the same store was faster, or the file is damaged.
                continue
            part = share.ask(bits)
            self.preparations.put(ready.removesuffix(READY) + ASKED, share)
            return part
        raise ParameterError(
            "prepared queries that were there are used by others, or damaged: prepare more"
        )

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """The bits of each sample, a part for each."""
        key = self.secret.native
        rows = np.ascontiguousarray(features != 0)
        return [_native.encrypt_edges(self.plan.forest, key, row) for row in rows]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keeps what answers to prepared queries are read with until all goes well."""
        self._later = []
        try:
            yield
            self._forget(self._later)
        finally:
            self._later = None

    def _forget(self, names: list[str]) -> None:
        for name in names:
            self.preparations.drop(name)

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """The scores of each sample; answers to prepared queries are read once.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`; the answer
                to a prepared query that was read before, or to a preparation.

        """
        self.plan.check_parts(len(parts), samples)
        sums, read = [], []
        for part in parts:
            kind, name = _native.forest_part(part) or _NONE
            if kind == MASKED:
                read.append(self._kept(name, ASKED))
                sums.append(self.preparations.look(read[-1], self._read).read(part))
            else:
                sums.append(_native.decrypt_sums(self.plan.forest, self.secret.native, part))
        scores = self.plan.scored(np.array(sums))
        found = Result(self.plan.predictions(scores), scores, self.plan.error)
        if self._later is None:
            self._forget(read)
        else:
            self._later += read
        return found

    def _read(self, data: bytes) -> ForestClientShare:
        return ForestClientShare.from_bytes(self.plan.forest, data)

    def _kept(self, name: bytes, state: str) -> str:
        return name_for(self.plan.digest, self.secret.native.name, name, state)

    def _ending(self, state: str) -> str:
        return ending_for(self.plan.digest, self.secret.native.name, state)
