"""The client's callables over tables: rows become encrypted queries, answers become predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError, ParameterError, ShapeError, WireError
from hesc._support.inputs import of_kind, whole
from hesc._support.new_files import path_of, read_whole
from hesc._support.passphrase_files import read_passphrase
from hesc.batch.result_tables import result_columns
from hesc.batch.table_step import (
    ANSWER,
    NUMBERS,
    QUERY,
    SAMPLES,
    TableStep,
    arrow,
    bytes_of,
    in_row,
)
from hesc.ml.deployment import ClientFolder
from hesc.models.conclusions import PROBABILITIES
from hesc.protocols.search.plan import SearchPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

_KEYS_BYTES: Final = 1 << 30
"""The longest file of public keys."""


class EncryptRows(TableStep):
    """Rows of features become encrypted queries: a row for each query.

    **What it is given is in the clear, and so is what `keep` names**: run it on machines of the
    client alone, those that hold blocks of a cluster's tables among them.

    Args:
        client: the folder `client/` of a deployment.
        secret: the file of the secret key, which others may not read.
        keys: the file of public keys, where the plan encrypts under them.
        passphrase_file: a file whose first line is the passphrase, where the key has one.
        clip: bring values beyond their ranges to the ends instead of refusing them.
        keep: columns that are carried along in the clear, a list for each query, and that
            `DecryptAnswers` gives back: names of rows, as a rule. Whoever has the queries reads
            them.
        ignore_extra: leave out columns that neither the plan nor `keep` names.

    Raises:
        WireError, ParameterError, KeyMismatchError, HescError: a damaged folder, another's key, or
            one without its passphrase.
        OSError: files that are not there, or may not be read; a secret key that others may read.

    A call raises:
        OutOfRangeError, ShapeError: a row that the plan does not take, which is named by its number
            in the table and by what is kept of it; columns that are missing, or too many.

    """

    def __init__(
        self,
        client: str | PathLike[str],
        secret: str | PathLike[str],
        *,
        keys: str | PathLike[str] | None = None,
        passphrase_file: str | PathLike[str] | None = None,
        clip: bool = False,
        keep: Sequence[str] = (),
        ignore_extra: bool = False,
    ) -> None:
        of_kind(clip, "clip", bool, "True and False say whether")
        of_kind(ignore_extra, "ignore_extra", bool, "True and False say whether")
        if not isinstance(keep, list | tuple) or not all(isinstance(each, str) for each in keep):
            raise ParameterError("keep is a list of names of columns")
        if set(keep) & {QUERY, ANSWER, SAMPLES, NUMBERS} or len(set(keep)) < len(keep):
            raise ParameterError(
                f"columns that are kept have names of their own, and none is {QUERY}, {ANSWER}, "
                f"{SAMPLES} or {NUMBERS}: rename them"
            )
        self._client = _opened(client, secret, keys, passphrase_file, encrypts=True)
        self._plan = self._client.plan
        self._clip, self._keep, self._ignore_extra = clip, list(keep), ignore_extra

    @property
    def rows(self) -> int:
        """Rows of a query, at most: batches of a multiple of it waste nothing."""
        found: int = self._plan.rows
        return found

    def applied(self, table: Any) -> Any:
        """Queries of the rows, as many rows in each as it has room for."""
        pa = arrow()
        features = self._features(table)
        starts = range(0, table.num_rows, self.rows)
        queries: list[bytes] = []
        if table.num_rows:
            ready = self._prepared(features, table)
            queries = [self._client.encrypted(ready[start : start + self.rows]) for start in starts]
        counts = [min(self.rows, table.num_rows - start) for start in starts]
        ends = pa.array(np.cumsum([0, *counts]), pa.int64())
        kept = {
            name: pa.LargeListArray.from_arrays(ends, _whole(table.column(name)))
            for name in self._keep
        }
        own = {SAMPLES: pa.array(counts, pa.int32()), QUERY: pa.array(queries, pa.large_binary())}
        return pa.table(kept | own)

    def _features(self, table: Any) -> Any:
        """The plan's columns, in its order."""
        names = table.column_names
        missing = [name for name in [*self._plan.names, *self._keep] if name not in names]
        if missing:
            raise ShapeError(f"the table lacks the column {missing[0]!r}")
        if not self._plan.names:
            return table.select([name for name in names if name not in self._keep])
        extra = [name for name in names if name not in {*self._plan.names, *self._keep}]
        if extra and not self._ignore_extra:
            raise ShapeError(
                f"neither the plan nor keep= knows the column {extra[0]!r}: name it in keep=, or "
                f"say ignore_extra=True, or --ignore-extra, to leave out such columns"
            )
        return table.select(self._plan.names)

    def _prepared(self, features: Any, table: Any) -> Any:
        try:
            return self._plan.prepared(features, clip=self._clip).features
        except HescError as error:
            if not self._keep:
                raise
            row = self._wrong(features)
            kept = ", ".join(f"{name} = {table.column(name)[row]}" for name in self._keep)
            raise type(error)(f"{error} (row {row}: {kept[:200]})") from error

    def _wrong(self, features: Any) -> int:
        """The first row that is refused, by halves."""
        first, end = 0, features.num_rows
        while end - first > 1:
            middle = (first + end) // 2
            try:
                self._plan.prepared(features.slice(first, middle - first), clip=self._clip)
                first = middle
            except HescError:
                end = middle
        return first


class DecryptAnswers(TableStep):
    """Encrypted answers become predictions: a row for each sample, or for each record found.

    Args:
        client: the folder `client/` of a deployment.
        secret: the file of the secret key, which others may not read.
        passphrase_file: a file whose first line is the passphrase, where the key has one.
        probabilities: probabilities of classes too.
        best: of a search, so many nearest records for each query: its columns are `rank`, `record`
            and `score` or `distance`.

    Raises:
        WireError, ParameterError, KeyMismatchError, HescError: a damaged folder, another's key, or
            one without its passphrase; what the plan does not give.
        OSError: files that are not there, or may not be read; a secret key that others may read.

    A call raises:
        WireError, KeyMismatchError, DecryptionError: an answer that is damaged, to another query or
            of another plan; its row is named.

    """

    def __init__(
        self,
        client: str | PathLike[str],
        secret: str | PathLike[str],
        *,
        passphrase_file: str | PathLike[str] | None = None,
        probabilities: bool = False,
        best: int | None = None,
    ) -> None:
        of_kind(probabilities, "probabilities", bool, "True and False say whether")
        self._best = None if best is None else whole(best, "best", 1)
        self._client = _opened(client, secret, None, passphrase_file, encrypts=False)
        self._plan = self._client.plan
        self._probabilities = probabilities
        if best is not None and not isinstance(self._plan, SearchPlan):
            raise ParameterError("only a search finds records: leave out best=, or --best")
        if probabilities and self._plan.link not in PROBABILITIES:
            raise ParameterError(
                "scores of this plan give no probabilities: leave out probabilities=, or "
                "--probabilities"
            )

    def applied(self, table: Any) -> Any:
        """What the answers say, with the columns that were kept."""
        pa = arrow()
        answers = bytes_of(table, ANSWER)
        asked: list[bytes | None] = [None] * len(answers)
        if QUERY in table.column_names:
            asked = list(bytes_of(table, QUERY))
        elif self._plan.needs_query:
            raise ShapeError(
                f"answers of this plan are read with their queries: keep the column {QUERY!r}"
            )
        found = []
        for row, (answer, query) in enumerate(zip(answers, asked, strict=True)):
            with in_row(row):
                found.append(self._client.decrypt(answer, query=query))
        counts = [len(each.predictions) for each in found]
        kept = {
            name: self._kept(table.column(name), name, counts)
            for name in table.column_names
            if name not in {QUERY, ANSWER, SAMPLES}
        }
        own, times = self._columns(found)
        if times > 1:
            places = np.repeat(np.arange(sum(counts)), times)
            kept = {name: values.take(pa.array(places)) for name, values in kept.items()}
        both = sorted(set(kept) & set(own))
        if both:
            raise ShapeError(f"a column that was kept is named {both[0]!r}, as a result is")
        return pa.table(kept | own)

    def _kept(self, column: Any, name: str, counts: list[int]) -> Any:
        """The values of samples, of lists that queries have."""
        pa = arrow()
        if not (pa.types.is_large_list(column.type) or pa.types.is_list(column.type)):
            raise ShapeError(
                f"the column {name!r} holds no lists, one for each query, as keep= makes them"
            )
        lengths = pa.compute.list_value_length(column).to_pylist()
        for row, (length, count) in enumerate(zip(lengths, counts, strict=True)):
            if length != count:
                raise WireError(
                    f"row {row}: the column {name!r} has a list of other length than the answer "
                    f"has samples, {count}"
                )
        return pa.compute.list_flatten(_whole(column))

    def _columns(self, found: list[Any]) -> tuple[dict[str, Any], int]:
        """Columns of results, and how many rows a sample has."""
        pa = arrow()
        if self._best is not None:
            near = [each.best_or_all(self._best) for each in found]
            width = max((each.indices.shape[1] for each in near), default=1)
            if any(each.indices.shape[1] != width for each in near):
                raise WireError("these answers are of different numbers of records; decrypt apart")
            ranks = [np.tile(np.arange(1, width + 1), len(each.indices)) for each in near]
            name = "distance" if self._plan.nearest_first else "score"
            columns: dict[str, Any] = {
                "rank": pa.array(_joined(ranks, np.int32)),
                "record": pa.array(_joined([each.indices.ravel() for each in near], np.int64)),
                name: pa.array(_joined([each.scores.ravel() for each in near], np.float64)),
            }
            return columns, width
        each_columns = [list(self._results(each)) for each in found]
        if not each_columns:
            # Of no answer: the names and types follow from the plan's classes, and are not known.
            return {}, 1
        joined = {
            columns[0].name: pa.array(np.concatenate([column.values for column in columns]))
            for columns in zip(*each_columns, strict=True)
        }
        return joined, 1

    def _results(self, found: Any) -> Iterator[Any]:
        shares = self._plan.probabilities(found.scores) if self._probabilities else None
        yield from result_columns(self._plan, found, shares)


def _joined(arrays: list[Any], dtype: Any) -> Any:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype)


def _whole(column: Any) -> Any:
    """A column as one array."""
    found = column.combine_chunks()
    pa = arrow()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def _opened(
    client: str | PathLike[str],
    secret: str | PathLike[str],
    keys: str | PathLike[str] | None,
    passphrase_file: str | PathLike[str] | None,
    *,
    encrypts: bool,
) -> Any:
    """A client with a key from a file that is its own."""
    from hesc.secret import wants_passphrase

    folder = ClientFolder.open(path_of(client, "client"))
    path = path_of(secret, "secret")
    plan = folder.plan
    if plan.parties:
        raise ParameterError(
            "this plan's samples are of several owners, and each encrypts its own columns: hesc "
            "party encrypt"
        )
    if encrypts and plan.encrypts_publicly and keys is None:
        raise ParameterError(
            "samples of this plan are encrypted under the client's public key: give keys=, or "
            "--keys, the file of `hesc keygen --keys`"
        )
    if keys is not None and not plan.encrypts_publicly:
        raise ParameterError(
            "a client of this plan encrypts under its secret key alone: leave out keys=, or --keys"
        )
    words = read_passphrase(
        None if passphrase_file is None else path_of(passphrase_file, "passphrase_file")
    )
    if words is None and wants_passphrase(path):
        raise ParameterError(
            f"{path} has a passphrase: give passphrase_file=, or --passphrase-file, a file whose "
            f"first line it is, on every machine"
        )
    given = None
    if keys is not None:
        given = read_whole(path_of(keys, "keys"), _KEYS_BYTES, "a file of public keys")
    return folder.client(secret=folder.load_secret(path, passphrase=words), keys=given)
