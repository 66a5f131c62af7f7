"""What requests for answers and keys do, in threads: compute, count, keep, and only then give."""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Self

from hesc.protocols import ledger
from hesc.serve.admission import Turns
from hesc.serve.key_files import KeyName
from hesc.serve.responses import RefusedError
from hesc.serve.served_models import OpenServers
from hesc.serve.state.settling import Charge

if TYPE_CHECKING:
    from concurrent.futures import Future

    from hesc.serve.served_models import Evaluated, OpenServer, ServedModel
    from hesc.serve.shared import Shared
    from hesc.serve.tokens import Holder


_BUDGETS: Final = {
    "token": "answers",
    "model": "answers_in_all",
    "token weights": "numbers",
    "weights": "numbers_in_all",
}
"""What budgets are called where their holders read them."""


class Asking(NamedTuple):
    """A query, and all that its answer depends on."""

    holder: Holder
    """Who asks."""
    model: ServedModel
    most: int | None
    """Answers of this model in all."""
    keys: str | None
    """SHA-256 of the keys to compute with."""
    query: bytes
    asked: str
    """SHA-256 of the query."""
    name: bytes
    """What the answer is kept by."""

    @classmethod
    def of(
        cls, holder: Holder, model: ServedModel, most: int | None, keys: str | None, query: bytes
    ) -> Self:
        """A query that has come."""
        asked = hashlib.sha256(query).hexdigest()
        return cls(holder, model, most, keys, query, asked, answer_name(model, keys, asked))

    @property
    def kept_keys(self) -> KeyName | None:
        """What the keys are kept by."""
        if self.keys is None:
            return None
        return KeyName.of(self.holder.name, self.model.digest, self.keys)


def answer_name(model: ServedModel, keys: str | None, asked: str) -> bytes:
    """What an answer is kept by: all that it depends on.

    Args:
        model: whose answer it is.
        keys: SHA-256 of the keys to compute with, whose noise is in it.
        asked: SHA-256 of the query.

    """
    return hashlib.sha256(":".join([model.identity, keys or "", asked]).encode()).digest()


class GivenAnswer(NamedTuple):
    """An answer that is on the disk, and counted."""

    answer: bytes
    query: str
    """SHA-256 of the query."""
    kept: bool
    """Whether it was given before, and cost nothing now."""


class Answering:
    """Answers queries, and takes keys.

    Args:
        shared: what all parts share.
        in_memory: servers with keys that are ready at once, at most.

    """

    def __init__(self, shared: Shared, in_memory: int) -> None:
        self._state, self._keys = shared.state, shared.keys
        self._admission, self._figures = shared.admission, shared.figures
        self._open, self._turns = OpenServers(in_memory), Turns()
        # Slow by design, so once.
        self._weights = {
            digest: ledger.named(model.weights, shared.state.salt)
            for digest, model in shared.models.items()
            if model.numbers is not None
        }

    def charges(
        self, holder: Holder, model: ServedModel, most: int | None, numbers: int
    ) -> list[Charge]:
        """What an answer takes: one of its holder's, one of its model's, and numbers of weights."""
        charges = [
            Charge("token", holder.name, 1, holder.answers),
            Charge("model", model.digest, 1, most),
        ]
        if model.numbers is not None:
            name = self._weights[model.digest]
            charges.append(Charge("weights", name, numbers, model.numbers))
            own = f"{name} {holder.name}"
            charges.append(Charge("token weights", own, numbers, holder.numbers))
        return charges

    def check(self, holder: Holder, model: ServedModel, most: int | None) -> None:
        """Refuses what no budget has room for, before it is computed.

        Raises:
            RefusedError: a budget is used up.

        """
        self._state.check(self.charges(holder, model, most, 1))

    def budgets(
        self, holder: Holder, model: ServedModel, most: int | None
    ) -> dict[str, dict[str, int | None]]:
        """What was given so far, and what may be, for a holder to read."""
        return {
            _BUDGETS[charge.kind]: {
                "given": self._state.given(charge.kind, charge.name),
                "most": charge.most,
            }
            for charge in self.charges(holder, model, most, 0)
        }

    def answer(self, asking: Asking) -> GivenAnswer:
        """The answer to a query, kept and counted.

        Raises:
            RefusedError: as it says.

        """
        with self._turns.turn(asking.name):
            found = self._state.find(asking.name)
            if found is not None:
                return self._given(asking, found, kept=True)
            computed = self._computed(asking)
            try:
                settled = self._submit(asking, computed).result()
            except RefusedError:
                # The compiled part counts what it has computed too, and would refuse before the
                # state does.
                self._open.drop(asking.kept_keys or ())
                raise
            return self._given(asking, *settled, numbers=computed.numbers)

    async def answer_here(self, asking: Asking) -> GivenAnswer | None:
        """The answer to a query that takes no longer than a thread takes to begin.

        None where it may take longer, or somebody waits for the same answer.

        Raises:
            RefusedError: as it says.

        """
        if not asking.model.is_quick(len(asking.query)) or not self._state.reads_here:
            return None
        if not self._turns.take(asking.name):
            return None
        try:
            found = self._state.find(asking.name)
            if found is not None:
                return self._given(asking, found, kept=True)
            # Quick ones count nothing that they hide, so there is nothing to forget where the state
            # refuses.
            written = self._submit(asking, self._computed(asking))
            if not written.done():
                # What is being written is not called off.
                await asyncio.shield(asyncio.wrap_future(written))
            return self._given(asking, *written.result())
        finally:
            self._turns.give_back(asking.name)

    def _submit(self, asking: Asking, computed: Evaluated) -> Future[tuple[bytes, bool]]:
        charges = self.charges(asking.holder, asking.model, asking.most, computed.numbers)
        return self._state.submit(asking.name, computed.answer, charges)

    def _given(self, asking: Asking, answer: bytes, kept: bool, *, numbers: int = 0) -> GivenAnswer:
        label = asking.model.label
        if numbers and not kept:
            self._figures.add("hesc_numbers_total", numbers, (label,))
        kind = ("kind", "kept" if kept else "computed")
        self._figures.add("hesc_answers_total", 1, (label, kind))
        return GivenAnswer(answer, asking.asked, kept)

    def _computed(self, asking: Asking) -> Evaluated:
        """What a query comes to, before anybody has it.

        Raises:
            RefusedError: a budget is used up, keys that are not here, or no query of this model.

        """
        model, name = asking.model, asking.kept_keys
        self.check(asking.holder, model, asking.most)
        opened = self._opened(model, name)
        start = time.perf_counter()
        try:
            found = model.evaluate(opened, asking.query)
        except BaseException:
            self._open.drop(name or ())
            raise
        finally:
            took = time.perf_counter() - start
            self._admission.took(took)
            self._figures.add("hesc_seconds_total", took, (model.label,))
        model.took(took, len(asking.query))
        return found

    def _opened(self, model: ServedModel, name: KeyName | None) -> OpenServer:
        """A server with the keys of that name, or without any."""
        if name is None:
            return model.opened(None)
        if not self._keys.has(name):
            raise RefusedError("keys-missing")
        return self._open.get(tuple(name), lambda: model.opened(self._keys.read(name)))

    def keep_keys(self, name: KeyName, model: ServedModel, file: IO[bytes], found: str) -> None:
        """Takes keys that have come: of the hash that they were sent under, and good for the model.

        Raises:
            RefusedError: other bytes, or none of this model.

        """
        if found != name.sha256:
            raise RefusedError("other-hash")
        file.seek(0)
        opened = model.opened(file.read())
        self._keys.keep(name, file)
        self._open.get(tuple(name), lambda: opened)
