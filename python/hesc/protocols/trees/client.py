"""The client of a model of trees: it encrypts bits and reads scores."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc import _native
from hesc._native import ForestClientShare, HescError, ParameterError, ShapeError, WireError
from hesc._support.inputs import whole
from hesc.models.samples import Query, Result
from hesc.protocols.client import PartsClient
from hesc.protocols.message import NAME_BYTES, Kind, Message, name_of
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


class TreesClient(PartsClient[Result]):
    """Encrypts which edges features exceed, and reads scores.

    Queries can be prepared before samples are known: `prepare`, `complete`, then `encrypt` with
    `prepared=True`, which sends some kilobytes. Arguments are those of `Client`.
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
        plan = self.plan.digest[:NAME_BYTES]
        return Message(Kind.QUERY, plan, count, tuple(parts)).to_bytes()

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
        pairs = self._pairs(query, answer)
        if {sent[0] for sent, _ in pairs} != {"preparation"}:
            raise WireError("this is a query of samples, and no preparation: decrypt its answer")
        known = 0
        for (_, name), answered in pairs:
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

    def _pairs(self, query: bytes, answer: bytes) -> list[tuple[tuple[str, bytes], bytes]]:
        """What each part of a query says that it is, with the part of the answer that is to it.

        Raises:
            WireError: the answer to another message, or parts in another order.

        """
        asked, told = self.plan.opened(query, Kind.QUERY), self.plan.opened(answer, Kind.ANSWER)
        pairs = []
        if told.query == name_of(query) and len(told.parts) == len(asked.parts):
            for part, answered in zip(asked.parts, told.parts, strict=True):
                sent, found = _native.forest_part(part), _native.forest_part(answered)
                if sent and found and (_ANSWERS.get(sent[0]), sent[1]) == found:
                    pairs.append((sent, answered))
        if len(pairs) != len(asked.parts):
            raise WireError("the answer is to another query; take the two that belong together")
        return pairs

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
        if count > self.plan.rows:
            raise ShapeError(
                f"{count} samples in a query of {self.plan.rows} at most; send them as several"
            )
        self.check_ready(count)
        bits = np.ascontiguousarray(rows.features != 0)
        names = iter(self.preparations.names(self._ending(READY)))
        parts = tuple(self._asked(row, names) for row in bits)
        plan = self.plan.digest[:NAME_BYTES]
        data = Message(Kind.QUERY, plan, count, parts).to_bytes()
        return Query(data, rows.values, rows.samples)

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

    def decrypt(
        self, answer: bytes, *, query: bytes | None = None, samples: int | None = None
    ) -> Result:
        """What an answer says; arguments and errors are those of `ModelClient.decrypt`.

        The answer to a prepared query is read once: `plan.probabilities` takes the scores.
        """
        if query is not None:
            self._pairs(query, answer)
        found = super().decrypt(answer, query=query, samples=samples)
        told = (_native.forest_part(part) for part in self.plan.opened(answer, Kind.ANSWER).parts)
        read = [self._kept(each[1], ASKED) for each in told if each and each[0] == MASKED]
        if self._later is None:
            self._forget(read)
        else:
            self._later += read
        return found

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
        """The scores of each sample.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`; the answer
                to a prepared query that was read before, or to a preparation.

        """
        self.plan.check_parts(len(parts), samples)
        scores = self.plan.scored(np.array([self._sums(part) for part in parts]))
        return Result(self.plan.predictions(scores), scores, self.plan.error)

    def _sums(self, part: bytes) -> NDArray[np.int64]:
        """The sums of an answer, at once or prepared."""
        kind, name = _native.forest_part(part) or ("", b"")
        if kind != MASKED:
            return _native.decrypt_sums(self.plan.forest, self.secret.native, part)
        return self.preparations.look(self._kept(name, ASKED), self._read).read(part)

    def _read(self, data: bytes) -> ForestClientShare:
        return ForestClientShare.from_bytes(self.plan.forest, data)

    def _kept(self, name: bytes, state: str) -> str:
        return name_for(self.plan.digest, self.secret.native.name, name, state)

    def _ending(self, state: str) -> str:
        return ending_for(self.plan.digest, self.secret.native.name, state)
