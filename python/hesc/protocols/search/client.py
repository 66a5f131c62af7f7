"""The client of a search: it encrypts queries and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc import _native
from hesc._native import DecryptionError, KeyMismatchError, ParameterError, ShapeError, WireError
from hesc._support.callers import usual_floats
from hesc.protocols.client import PartsClient
from hesc.protocols.search.nearest import SearchResult, concluded
from hesc.protocols.search.plan import SearchPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.secret import SecretKey


class SearchClient(PartsClient[SearchResult]):
    """Encrypts queries, and reads their scores with all records. See `PlanClient` for arguments.

    Keys of a plan that `needs_keys` are made by the first call of `public_keys`.
    """

    plan_type: ClassVar[type[SearchPlan]] = SearchPlan
    answer_parts: ClassVar[int | None] = None
    plan: SearchPlan
    secret: SecretKey

    def __init__(self, plan: Any, *, secret: Any = None, keys: bytes | None = None) -> None:
        self._expanding: bytes | None = None
        self._made = secret is None
        super().__init__(plan, secret=secret, keys=keys)
        self._shared = _native.SearchSecrets(self.plan.native, self.secret.native)

    def read_keys(self, keys: bytes) -> Any:
        """Public keys that were made with a secret key which is given: see `PlanClient`."""
        if not self.plan.expanded:
            return super().read_keys(keys)
        plan = self.plan.native
        shared = _native.SearchSecrets(plan, self.secret.native)
        # One record, which is as short as any plan declares: a one, or the signs of a code.
        entries = np.ones(plan.dimensions, dtype=np.int16)
        if self.plan.metric != "hamming":
            entries[1:] = 0
        index = _native.SearchIndex(plan)
        index.append(entries)
        query = _native.encrypt_vector(plan, self.secret.native, entries)
        try:
            (answer,) = index.answer([(query, _native.SearchKeys(plan, keys))])
            found = _native.decrypt_search(plan, self.secret.native, shared, answer)
        except (KeyMismatchError, DecryptionError):
            found = np.zeros(1, dtype=np.int64)
        if found[0] != np.count_nonzero(entries):
            raise KeyMismatchError("keys= are of another pair than the secret key; give its own")
        self._expanding = keys
        return None

    def public_keys(self) -> bytes:
        """What is given once to the server, where the plan needs keys.

        Raises:
            ParameterError: a client that was made of a kept key, without its public ones.

        """
        if not self.plan.expanded or (self._expanding is None and not self._made):
            return super().public_keys()
        if self._expanding is None:
            native = self.plan.native
            self._expanding = _native.search_keys(native, self.secret.native, self._shared)
        return self._expanding

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """A part for each query."""
        entries = self.plan.rounded(features, queries=True)
        key = self.secret.native
        return [_native.encrypt_vector(self.plan.native, key, row) for row in entries]

    @usual_floats
    def decrypt(
        self, answer: bytes, *, query: bytes | None = None, samples: int | None = None
    ) -> SearchResult:
        """What an answer says; arguments and errors are those of `ModelClient.decrypt`.

        Raises:
            ParameterError: Euclidean distances without `query`: they are from the samples in it.

        """
        found, sent = self.opened(answer, query=query, samples=samples)
        return self._told(found.parts, found.samples, () if sent is None else sent.parts)

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> SearchResult:
        """What the ciphertexts of an answer of so many queries say."""
        return self._told(parts, samples, ())

    def _told(
        self, parts: tuple[bytes, ...], samples: int, sent: tuple[bytes, ...]
    ) -> SearchResult:
        plan, key = self.plan, self.secret.native
        beside = plan.squares is not None
        if len(parts) != samples + beside:
            raise WireError("an answer has a part for each query; this one has others")
        products = [
            _native.decrypt_search(plan.native, key, self._shared, part) for part in parts[:samples]
        ]
        records = len(products[0])
        if any(len(row) != records for row in products):
            raise WireError("the parts of this answer are of different numbers of records")
        if plan.labels is not None and records != plan.most_records:
            raise WireError("this answer is of other records than the plan's")
        squares = asked = None
        if plan.squares is not None:
            squares, asked = self._squares(parts[samples], records), self._asked(sent, samples)
        return concluded(plan, plan.values_of(np.array(products), squares, asked))

    def _squares(self, part: bytes, records: int) -> NDArray[Any]:
        kind: Any = self.plan.squares
        if len(part) != kind.itemsize * records:
            raise WireError("this answer has sums of squares of other records than its scores")
        return np.frombuffer(part, dtype=kind)

    def _asked(self, sent: tuple[bytes, ...], samples: int) -> NDArray[np.int64]:
        if not sent:
            raise ParameterError(
                "Euclidean distances are from the samples of the query: give query=, or --query"
            )
        if len(sent) != samples:
            raise ShapeError("this query has another number of parts than of samples")
        vectors = [
            _native.decrypt_search_query(self.plan.native, self.secret.native, part)
            for part in sent
        ]
        return np.asarray(np.square(np.array(vectors, dtype=np.int64)).sum(axis=1))
