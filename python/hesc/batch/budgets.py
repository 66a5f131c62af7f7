"""Budgets of batches: counted in one place, on the disk, before an answer leaves.

The place is a state as of `hesc serve`, with the same tables, names and promises: an answer and
what it takes are one transaction, a query that comes again gets the bytes that it got before and
costs nothing. Batches and a service that use one state, one after the other in a file or at once in
PostgreSQL, share its budgets.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import HescError, ParameterError
from hesc._support.inputs import whole
from hesc.batch.step_files import check_same, digest_of
from hesc.protocols import ledger
from hesc.protocols.folders import ServerFolder
from hesc.serve.responses import RefusedError
from hesc.serve.served_models import ServedModel
from hesc.serve.state.service_state import ServiceState
from hesc.serve.state.settling import Charge

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEPT: Final = 1 << 44
"""Bytes of answers that a state keeps: all, for one that went would be charged again."""


class AnswerBudget(NamedTuple):
    """Where answers of a model are counted; paths and numbers alone, so that it may travel."""

    server: str
    """The folder `server/`."""
    state: str
    """A file of SQLite, which one process has at a time, or an address of PostgreSQL."""
    files: str | None = None
    """What names of a PostgreSQL state's files on its machine begin with."""
    answers: int | None = None
    """Answers of this model in all; None counts them alone."""
    contents: str = ""
    """Digest of the folder: of another one that takes its place nothing is counted by this."""

    def check(self, model: ServedModel) -> None:
        """Refuses what counts nothing.

        Raises:
            ParameterError: neither numbers nor answers are limited.
            OutOfRangeError, ShapeError: `answers` is no such number.

        """
        if self.answers is not None:
            whole(self.answers, "answers", 1)
        elif model.numbers is None:
            raise ParameterError(
                "this model hides nothing, and without answers=, or --answers, nothing is counted: "
                "leave out state=, or --state"
            )

    def opened(self) -> AnswerBook:
        """The state, which this process has from now on.

        Raises:
            ParameterError, WireError, HescError, OSError: as `ServiceState.open`.

        """
        return AnswerBook(self)


class Computed(NamedTuple):
    """An answer that nobody has yet."""

    name: bytes
    """What it is kept by: the query and all else that it depends on."""
    answer: bytes
    numbers: int
    """Numbers that a model with hidden weights gives by it."""


class AnswerBook:
    """An open state, and what answers of a model cost there.

    Args:
        budget: which state, and which model.

    """

    def __init__(self, budget: AnswerBudget) -> None:
        self._model = ServedModel(ServerFolder.open(budget.server))
        check_same(digest_of(Path(budget.server)), budget.contents)
        budget.check(self._model)
        self._budget = budget
        self.state = ServiceState.open(budget.state, kept=_KEPT, files=budget.files)
        """Open, until it is closed: no other process has it meanwhile, where it is a file."""
        # Slow by design, so once.
        self._weights = ""
        if self._model.numbers is not None:
            self._weights = ledger.named(self._model.weights, self.state.salt)

    def find(self, names: Sequence[bytes]) -> list[bytes | None]:
        """Answers that were given before.

        Raises:
            HescError: nothing can be read.

        """
        try:
            return [self.state.find(name) for name in names]
        except RefusedError:
            raise HescError(f"{self._where} cannot be read, so nothing is answered") from None

    def settle(self, computed: Sequence[Computed]) -> list[bytes]:
        """Keeps answers and counts them; on the disk when this returns.

        Returns:
            For each the answer to give: that of the first time where it was given before, which
            costs nothing.

        Raises:
            ParameterError: a budget has not so much left for one of them. **Those for which it had
                are counted**, and are found by who asks for them again.
            HescError: nothing can be written; nothing may be given.

        """
        waiting = [
            self.state.submit(each.name, each.answer, self._charges(each.numbers))
            for each in computed
        ]
        found: list[bytes] = []
        refused: RefusedError | None = None
        for each in waiting:
            try:
                found.append(each.result()[0])
            except RefusedError as error:
                refused = refused or error
        if refused is None:
            return found
        if refused.name != "budget":
            raise HescError(f"{self._where} cannot be written, so nothing is answered")
        limits = [
            f"{most} {what}"
            for most, what in (
                (self._model.numbers, "numbers"),
                (self._budget.answers, "answers"),
            )
            if most is not None
        ]
        raise ParameterError(
            f"this model gives {' and '.join(limits)} in all, by {self._where}, and has not so "
            f"many left for all of this table: no answer. Rows that were answered before, and "
            f"those of this table that were counted, are answered for nothing where they are asked "
            f"for alone"
        )

    @property
    def given(self) -> dict[str, int]:
        """What was given so far: `answers` of this plan, and `numbers` of weights."""
        found = {"answers": self.state.given("model", self._model.digest)}
        if self._weights:
            found["numbers"] = self.state.given("weights", self._weights)
        return found

    @property
    def _where(self) -> str:
        """The state in errors: of an address, which may hold a password, its kind."""
        name = self._budget.state
        return "the state in PostgreSQL" if "://" in name else f"the state {Path(name).name}"

    def _charges(self, numbers: int) -> list[Charge]:
        charges = [Charge("model", self._model.digest, 1, self._budget.answers)]
        if self._weights:
            charges.append(Charge("weights", self._weights, numbers, self._model.numbers))
        return charges


class LocalBook:
    """A book that is opened when it is first used, in this process.

    Args:
        budget: which state, and which model.

    """

    def __init__(self, budget: AnswerBudget) -> None:
        self._budget = budget
        self._book: AnswerBook | None = None

    def call(self, method: str, *args: Any) -> Any:
        """What a method of the book gives or raises."""
        if self._book is None:
            self._book = self._budget.opened()
        return getattr(self._book, method)(*args)

    def close(self) -> None:
        """Lets go of the state when all that waits is written, if it was opened."""
        if self._book is not None:
            self._book.state.close()
            self._book = None
