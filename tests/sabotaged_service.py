"""`hesc serve` with faults put into it: `python -m tests.sabotaged_service FAULT,... ARGS`.

A harness that finds none of these would find none in the service either.
"""

from __future__ import annotations

import sys
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hesc.cli import main
from hesc.serve import application
from hesc.serve.answering import Answering
from hesc.serve.application import Application
from hesc.serve.responses import RefusedError
from hesc.serve.served_models import ServedModel
from hesc.serve.state.service_state import ServiceState
from hesc.serve.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hesc.serve.state.settling import Charge

_EVERY: Final = 3
"""Of so many requests one meets the fault."""


class _Counter:
    def __init__(self) -> None:
        self._count = 0

    def hits(self) -> bool:
        self._count += 1
        return self._count % _EVERY == 0


def charges_twice(count: _Counter) -> None:
    submit = ServiceState.submit

    def sabotaged(
        self: ServiceState, name: bytes, answer: bytes, charges: Sequence[Charge]
    ) -> Future[tuple[bytes, bool]]:
        times = 2 if count.hits() else 1
        return submit(self, name, answer, [c._replace(amount=times * c.amount) for c in charges])

    ServiceState.submit = sabotaged  # type: ignore[method-assign]


def forgets_to_charge(count: _Counter) -> None:
    submit = ServiceState.submit

    def sabotaged(
        self: ServiceState, name: bytes, answer: bytes, charges: Sequence[Charge]
    ) -> Future[tuple[bytes, bool]]:
        return submit(self, name, answer, [] if count.hits() else charges)

    ServiceState.submit = sabotaged  # type: ignore[method-assign]


def loses_answers(count: _Counter) -> None:
    """Gives some answers, counts them, and keeps nothing of them."""
    submit = ServiceState.submit

    def sabotaged(
        self: ServiceState, name: bytes, answer: bytes, charges: Sequence[Charge]
    ) -> Future[tuple[bytes, bool]]:
        return submit(self, bytes(32) + name if count.hits() else name, answer, charges)

    ServiceState.submit = sabotaged  # type: ignore[method-assign]


def answers_afresh(_: _Counter) -> None:
    """Computes the same query again, at no cost and with other noise."""
    submit = ServiceState.submit

    def sabotaged(
        self: ServiceState, name: bytes, answer: bytes, charges: Sequence[Charge]
    ) -> Future[tuple[bytes, bool]]:
        _, kept = submit(self, name, answer, charges).result()
        found: Future[tuple[bytes, bool]] = Future()
        found.set_result((answer[:-1] + bytes([answer[-1] ^ kept]), kept))
        return found

    ServiceState.submit = sabotaged  # type: ignore[method-assign]
    ServiceState.find = lambda *_: None  # type: ignore[method-assign]


def goes_over_budgets(_: _Counter) -> None:
    charges = Answering.charges

    def sabotaged(self: Answering, holder: Any, model: Any, most: Any, numbers: int) -> Any:
        found = charges(self, holder, model, most, numbers)
        return [charge._replace(most=None) for charge in found]

    Answering.charges = sabotaged  # type: ignore[method-assign]


def answers_others(count: _Counter) -> None:
    """Gives some clients the answer before theirs."""
    evaluate = ServedModel.evaluate
    last: list[Any] = []

    def sabotaged(self: ServedModel, opened: Any, query: bytes) -> Any:
        found = evaluate(self, opened, query)
        before = [*last, found][0]
        last[:] = [found]
        return before if count.hits() else found

    ServedModel.evaluate = sabotaged  # type: ignore[method-assign]


def takes_damaged(_: _Counter) -> None:
    """Answers what is no query, by the last that was one."""
    evaluate = ServedModel.evaluate
    last: list[Any] = []

    def sabotaged(self: ServedModel, opened: Any, query: bytes) -> Any:
        try:
            last[:] = [evaluate(self, opened, query)]
        except RefusedError:
            if not last:
                raise
        return last[0]

    ServedModel.evaluate = sabotaged  # type: ignore[method-assign]


def trusts_everybody(_: _Counter) -> None:
    """Takes a token that is in force nowhere for the first in its file."""
    holder = TokenFile.holder

    def sabotaged(self: TokenFile, authorization: bytes | None) -> Any:
        try:
            return holder(self, authorization)
        except RefusedError:
            return self.book().holders[0]

    TokenFile.holder = sabotaged  # type: ignore[method-assign]


def logs_tokens(_: _Counter) -> None:
    holder = TokenFile.holder

    def sabotaged(self: TokenFile, authorization: bytes | None) -> Any:
        found = holder(self, authorization)
        return replace(found, name=f"{found.name}({(authorization or b'').decode()[7:]})")

    TokenFile.holder = sabotaged  # type: ignore[method-assign]


def logs_queries(_: _Counter) -> None:
    evaluate = ServedModel.evaluate

    def sabotaged(self: ServedModel, opened: Any, query: bytes) -> Any:
        application._LOG.warning("a query came: %s", query.hex())
        return evaluate(self, opened, query)

    ServedModel.evaluate = sabotaged  # type: ignore[method-assign]


def keeps_files_open(_: _Counter) -> None:
    called = Application.__call__
    held: list[Any] = []

    async def sabotaged(self: Application, scope: Any, receive: Any, send: Any) -> None:
        held.append(open("/dev/null"))  # noqa: SIM115, PTH123 - the fault
        await called(self, scope, receive, send)

    Application.__call__ = sabotaged  # type: ignore[method-assign]


def grows(_: _Counter) -> None:
    evaluate = ServedModel.evaluate
    held: list[bytes] = []

    def sabotaged(self: ServedModel, opened: Any, query: bytes) -> Any:
        held.append(b"x" * (1 << 20))
        return evaluate(self, opened, query)

    ServedModel.evaluate = sabotaged  # type: ignore[method-assign]


FAULTS: Final[dict[str, Callable[[_Counter], None]]] = {
    fault.__name__: fault
    for fault in (
        charges_twice,
        forgets_to_charge,
        loses_answers,
        answers_afresh,
        goes_over_budgets,
        answers_others,
        takes_damaged,
        trusts_everybody,
        logs_tokens,
        logs_queries,
        keeps_files_open,
        grows,
    )
}
"""Faults by name."""

if __name__ == "__main__":
    faults, *rest = sys.argv[1:]
    for each in faults.split(","):
        FAULTS[each](_Counter())
    sys.argv = ["hesc", "serve", *rest]
    main()
