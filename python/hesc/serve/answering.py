"""What requests for answers and keys do, in threads: compute, count, keep, and only then give."""

from __future__ import annotations

import hashlib
import time
from functools import partial
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from hesc.protocols import ledger
from hesc.serve.admission import Turns
from hesc.serve.key_files import KeyName
from hesc.serve.responses import RefusedError
from hesc.serve.served_models import OpenServers
from hesc.serve.state import Charge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hesc.serve.admission import Admission
    from hesc.serve.figures import Figures
    from hesc.serve.key_files import KeyFiles
    from hesc.serve.served_models import Evaluated, OpenServer, ServedModel
    from hesc.serve.state import ServiceState
    from hesc.serve.tokens import Holder


_BUDGETS: Final = {
    "token": "answers",
    "model": "answers_in_all",
    "token weights": "numbers",
    "weights": "numbers_in_all",
}
"""What budgets are called where their holders read them."""


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
        models: by digest.
        state: answers and counts.
        keys: public keys of clients.
        admission: learns how long things take.
        figures: what is counted of the service.
        in_memory: servers with keys that are ready at once, at most.

    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        state: ServiceState,
        keys: KeyFiles,
        admission: Admission,
        figures: Figures,
        in_memory: int,
    ) -> None:
        self._state, self._keys = state, keys
        self._admission, self._figures = admission, figures
        self._open, self._turns = OpenServers(in_memory), Turns()
        # Slow by design, so once.
        self._weights = {
            digest: ledger.named(model.weights, state.salt)
            for digest, model in models.items()
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

    @staticmethod
    def name(model: ServedModel, keys: str | None, asked: str) -> bytes:
        """What an answer is kept by: all that it depends on.

        Args:
            model: whose answer it is.
            keys: SHA-256 of the keys to compute with, whose noise is in it.
            asked: SHA-256 of the query.

        """
        of_all = ":".join([model.identity, keys or "", asked])
        return hashlib.sha256(of_all.encode()).digest()

    def names(self, model: ServedModel, keys: str | None, query: bytes) -> tuple[str, bytes]:
        """SHA-256 of a query, and what its answer is kept by."""
        asked = hashlib.sha256(query).hexdigest()
        return asked, self.name(model, keys, asked)

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

    def answer(
        self,
        holder: Holder,
        model: ServedModel,
        most: int | None,
        keys: str | None,
        query: bytes,
    ) -> GivenAnswer:
        """The answer to a query, kept and counted.

        Args:
            holder: who asks.
            model: what is asked.
            most: answers of this model in all.
            keys: SHA-256 of the keys to compute with.
            query: what came.

        Raises:
            RefusedError: as it says.

        """
        asked, name = self.names(model, keys, query)
        with self._turns.turn(name):
            found = self._state.find(name)
            if found is not None:
                kept = True
            else:
                self.check(holder, model, most)
                evaluated, forget = self._evaluated(holder, model, keys, query)
                charges = self.charges(holder, model, most, evaluated.numbers)
                try:
                    found, kept = self._state.settle(name, evaluated.answer, charges)
                except RefusedError:
                    forget()
                    raise
                if not kept and evaluated.numbers:
                    label = model.digest[:12]
                    self._figures.add("hesc_numbers_total", evaluated.numbers, model=label)
        label = "kept" if kept else "computed"
        self._figures.add("hesc_answers_total", model=model.digest[:12], kind=label)
        return GivenAnswer(found, asked, kept)

    def _evaluated(
        self, holder: Holder, model: ServedModel, keys: str | None, query: bytes
    ) -> tuple[Evaluated, partial[None]]:
        """An answer, and what forgets that it was computed where it cannot be given.

        The compiled part counts what it has computed too, and would refuse before the state does.
        """
        kept = None if keys is None else KeyName.of(holder.name, model.digest, keys)
        name = () if kept is None else tuple(kept)
        forget = partial(self._open.drop, name)
        start = time.perf_counter()
        try:
            return model.evaluate(self._opened(model, kept), query), forget
        except BaseException:
            forget()
            raise
        finally:
            took = time.perf_counter() - start
            self._admission.took(took)
            self._figures.add("hesc_seconds_total", took, model=model.digest[:12])

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
