"""The server's callable over tables: a column of encrypted queries in, one of answers out.

Nothing that is imported here can decrypt.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hesc._native import ParameterError, WireError
from hesc._support.inputs import whole
from hesc._support.new_files import path_of, read_whole
from hesc.batch.budgets import AnswerBook, AnswerBudget, Computed, LocalBook
from hesc.batch.on_ray import ClusterObject, ray_here
from hesc.batch.step_files import check_same, digest_of, named
from hesc.batch.table_step import (
    ANSWER,
    NUMBERS,
    QUERY,
    TableStep,
    arrow,
    bytes_of,
    check_columns,
    in_row,
)
from hesc.protocols.folders import ServerFolder
from hesc.protocols.message import Kind, Message, name_of
from hesc.protocols.search.index import Index, joined
from hesc.protocols.search.plan import SearchPlan
from hesc.protocols.search.server import SearchServer
from hesc.serve.answering import answer_name
from hesc.serve.responses import RefusedError
from hesc.serve.served_models import Evaluated, ServedModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

_KEYS_BYTES: Final = 1 << 30
"""The longest file of public keys."""


class ComputeAnswers(TableStep):
    """Encrypted queries are answered, and nothing is counted: for who counts before they leave.

    Args:
        server: the folder `server/` of a deployment.
        keys: the file of the client's public keys, where the plan's server needs them.
        index: the file of a search's records, where these are not in the folder.
        parts: in so many parts the records of `index` are compared with queries, each in a process
            of a cluster that reads its own part alone: for records that have no room on one
            machine, or single queries that are waited for. One process has all without it.

    Raises:
        WireError, ParameterError, KeyMismatchError: a damaged folder, keys that are missing, too
            many or of another plan; an index of another plan, or of fewer blocks than parts.
        OSError: files that are not there, or may not be read.

    """

    def __init__(
        self,
        server: str | PathLike[str],
        *,
        keys: str | PathLike[str] | None = None,
        index: str | PathLike[str] | None = None,
        parts: int | None = None,
    ) -> None:
        self.model = ServedModel(ServerFolder.open(path_of(server, "server")))
        """The plan and its server."""
        given = _keys_of(self.model, keys)
        self._keys = None if given is None else hashlib.sha256(given).hexdigest()
        self._parts: list[Any] | None = None
        if parts is not None:
            self._parts = self._apart(server, keys, index, whole(parts, "parts", 1, 1 << 16))
            return
        _take_index(self.model, index)
        try:
            self._opened = self.model.opened(given)
        except RefusedError:
            raise ParameterError("these are no keys for this plan: give its client's") from None

    def _apart(self, server: Any, keys: Any, index: Any, parts: int) -> list[Any]:
        """What answers from each part: a process of the cluster, or this one without a cluster."""
        if index is None or not isinstance(self.model.plan, SearchPlan):
            raise ParameterError("parts are of the records of a search in a file: give index=")
        path = path_of(index, "index").resolve()
        self.model.names_records(path)
        folder = str(path_of(server, "server").resolve())
        given = None if keys is None else str(path_of(keys, "keys").resolve())
        make: Any = ClusterObject if ray_here() is not None else _InProcess
        paths = {"server": folder, "keys": given, "index": str(path)}
        # In its name: of other files it is another object, and made anew it finds these.
        made_of = named("part", paths)
        made = [
            make(part_of_index, paths, (which, parts), made_of, on_head=False)
            for which in range(parts)
        ]
        for each in made:
            each.call("__repr__")
        return made

    def applied(self, table: Any) -> Any:
        """The same table with answers, where it has none yet, and what they give of a budget."""
        pa = arrow()
        queries = bytes_of(table, QUERY)
        before: list[bytes | None] = [None] * len(queries)
        if ANSWER in table.column_names:
            before = table.column(ANSWER).to_pylist()
            table = table.drop_columns([ANSWER])
        answers, numbers = [], []
        for row, (query, known) in enumerate(zip(queries, before, strict=True)):
            with in_row(row):
                found = Evaluated(known, 0) if known is not None else self._evaluated(query)
            answers.append(found.answer)
            numbers.append(found.numbers)
        table = table.append_column(ANSWER, pa.array(answers, pa.large_binary()))
        return table.append_column(NUMBERS, pa.array(numbers, pa.int64()))

    def names(self, queries: list[bytes]) -> list[bytes]:
        """What the answers to queries are kept by."""
        digests = [hashlib.sha256(query).hexdigest() for query in queries]
        return [answer_name(self.model, self._keys, asked) for asked in digests]

    def _evaluated(self, query: bytes) -> Evaluated:
        if self._parts is None:
            return self.model.computed(self._opened, query)
        plan: Any = self.model.plan
        asked = plan.opened(query, Kind.QUERY)
        waiting = [each.begin("answer", query) for each in self._parts]
        found = []
        for each, reference in zip(self._parts, waiting, strict=True):
            answer = plan.opened(each.end(reference, "answer", query), Kind.ANSWER)
            if answer.query != name_of(query) or answer.samples != asked.samples:
                raise WireError("a part of the index answered another query")
            found.append(answer.parts)
        parts = tuple(joined(plan, found))
        answer = Message(Kind.ANSWER, asked.plan, asked.samples, parts, name_of(query))
        return Evaluated(answer.to_bytes(), 0)


class AnswerQueries(ComputeAnswers):
    """Encrypted queries are answered: the table gets a column of answers.

    Args:
        server: the folder `server/` of a deployment.
        keys: the file of the client's public keys, where the plan's server needs them.
        index: the file of a search's records, where these are not in the folder.
        parts: in so many parts the records of `index` are compared with queries; see
            `ComputeAnswers`.
        state: where answers are counted before they leave: a file of SQLite, or an address of
            PostgreSQL, as of `hesc serve`. In a cluster of Ray it is opened once, on the machine
            that the cluster began on; else by this process. Models that hide weights have one.
        files: what names of a PostgreSQL state's files begin with, on that machine.
        answers: answers of this model in all, under this state.

    Raises:
        WireError, ParameterError, KeyMismatchError: a damaged folder, keys that are missing, too
            many or of another plan; an index of another plan; a model that hides weights without a
            state, or a state that counts nothing.
        OSError: files that are not there, or may not be read.

    A call raises:
        WireError, KeyMismatchError, ShapeError: a row that is no query of this plan, under another
            key or without a value; its number is named. Nothing of the table is counted then.
        ParameterError: a budget has not so much left.

    """

    def __init__(
        self,
        server: str | PathLike[str],
        *,
        keys: str | PathLike[str] | None = None,
        index: str | PathLike[str] | None = None,
        parts: int | None = None,
        state: str | PathLike[str] | None = None,
        files: str | PathLike[str] | None = None,
        answers: int | None = None,
    ) -> None:
        budget = budget_of(server, state, files, answers)
        super().__init__(server, keys=keys, index=index, parts=parts)
        check_budget(self.model, budget)
        self._book: Any = None
        if budget is not None:
            here = ray_here() is None
            self._book = LocalBook(budget) if here else _on_head(budget)

    def applied(self, table: Any) -> Any:
        """The same table with answers, which are counted; errors are those of a call."""
        check_columns(table, ANSWER)
        if self._book is None:
            return super().applied(table).drop_columns([NUMBERS])
        known = with_known(table, self, self._book)
        return settled(super().applied(known), self, self._book)


class CountHere:
    """What counts answers in the process that gives work to others: `Counting` of the engine.

    Args:
        computes: what answers are computed by; workers have their own.
        budget: where they are counted.

    Raises:
        ParameterError, WireError, HescError, OSError: as `ServiceState.open`.

    """

    def __init__(self, computes: ComputeAnswers, budget: AnswerBudget) -> None:
        self._computes = computes
        self.book = LocalBook(budget)
        """The state, which is let go by its `close`."""

    def before(self, table: Any) -> Any:
        """Queries, with the answers that were given before."""
        return with_known(table, self._computes, self.book)

    def after(self, table: Any) -> Any:
        """Answers that may leave."""
        return settled(table, self._computes, self.book)


def with_known(table: Any, computes: ComputeAnswers, book: Any) -> Any:
    """A table of queries with the answers that were given before; the others are missing."""
    check_columns(table, ANSWER)
    known = book.call("find", computes.names(bytes_of(table, QUERY)))
    return table.append_column(ANSWER, arrow().array(known, arrow().large_binary()))


def settled(table: Any, computes: ComputeAnswers, book: Any) -> Any:
    """What `ComputeAnswers` made, counted: with answers that may leave.

    Raises:
        ParameterError, HescError: as `AnswerBook.settle`.

    """
    pa = arrow()
    names = computes.names(bytes_of(table, QUERY))
    answers, numbers = table.column(ANSWER).to_pylist(), table.column(NUMBERS).to_pylist()
    found = book.call("settle", list(map(Computed, names, answers, numbers)))
    table = table.drop_columns([ANSWER, NUMBERS])
    return table.append_column(ANSWER, pa.array(found, pa.large_binary()))


def budget_of(server: Any, state: Any, files: Any, answers: Any) -> AnswerBudget | None:
    """Where answers are counted; None where nothing is.

    Raises:
        ParameterError: a limit without a state to count in.

    """
    if state is None:
        if answers is not None or files is not None:
            raise ParameterError("answers are counted in a state: give state=, or --state")
        return None
    where = str(state) if "://" in str(state) else str(path_of(state, "state").resolve())
    beside = None if files is None else str(path_of(files, "files").resolve())
    folder = path_of(server, "server").resolve()
    return AnswerBudget(str(folder), where, beside, answers, digest_of(folder))


def check_budget(model: ServedModel, budget: AnswerBudget | None) -> None:
    """Refuses a model that hides weights and whose numbers nobody counts, and a count of nothing.

    Raises:
        ParameterError, OutOfRangeError, ShapeError: it is one.

    """
    if budget is not None:
        budget.check(model)
    elif model.numbers is not None:
        raise ParameterError(
            f"this model hides what it knows, for {model.numbers} numbers in all, and somebody has "
            f"to count them over all workers and runs: give state=, or --state, a file that stays "
            f"with the server"
        )


def part_of_index(
    paths: dict[str, Any], part: tuple[int, int], made_of: dict[str, Any]
) -> SearchServer:
    """A server that answers from a part of an index alone.

    Args:
        paths: of the folder `server/`, of the client's public `keys`, None where the plan's server
            needs none, and of the `index` with all records.
        part: which part, from 0 on, and of how many.
        made_of: what is there, as `named` says it.

    Raises:
        WireError, ParameterError, OSError: as `Index.open` and `SearchServer.of`; files that are
            not those of `made_of`.

    """
    plan = ServerFolder.open(paths["server"]).plan
    keys = paths["keys"]
    given = None if keys is None else read_whole(keys, _KEYS_BYTES, "a file of public keys")
    made = SearchServer.of(Index.open(plan, paths["index"], part=part), keys=given)
    check_same(named("part", paths), made_of)
    return made


class _InProcess:
    """What `ClusterObject` is, in this process.

    Args:
        make: what makes it.
        args: what it is made of.
        on_head: whatever it is.

    """

    def __init__(self, make: Callable[..., Any], *args: Any, on_head: bool) -> None:
        del on_head
        self._object = make(*args)

    def begin(self, method: str, *args: Any) -> Any:
        """What a method gives."""
        return getattr(self._object, method)(*args)

    def end(self, found: Any, method: str, *args: Any) -> Any:
        """The same."""
        del method, args
        return found

    def call(self, method: str, *args: Any) -> Any:
        """What a method gives."""
        return self.begin(method, *args)


def _on_head(budget: AnswerBudget) -> ClusterObject:
    return ClusterObject(AnswerBook, budget, on_head=True)


def _keys_of(model: ServedModel, keys: str | PathLike[str] | None) -> bytes | None:
    if (keys is None) == model.takes_keys:
        raise ParameterError(
            "this plan's server needs the client's public keys: give keys=, or --keys, the file of "
            "`hesc keygen --keys`"
            if keys is None
            else "this plan's server needs no keys: leave out keys=, or --keys"
        )
    if keys is None:
        return None
    return read_whole(path_of(keys, "keys"), _KEYS_BYTES, "a file of public keys")


def _take_index(model: ServedModel, index: str | PathLike[str] | None) -> None:
    if index is not None and not isinstance(model.plan, SearchPlan):
        raise ParameterError("only a search has an index: leave out index=, or --index")
    if index is None:
        if model.lacks_records:
            raise ParameterError(
                "this plan searches records in a file of their own: give index=, or --index, the "
                "file of hesc index build"
            )
    elif not model.search_in(Path(path_of(index, "index"))):
        raise ParameterError(f"{index} is the index of another plan")
