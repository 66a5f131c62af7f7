"""Distances of binary codes: records in the clear, or encrypted too."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.codes import EncryptedGallery, GalleryPlan, unpacked
from hesc.codes.encrypted_codes import EncryptedCodes, EncryptedDistances
from hesc.codes.secret import (
    decrypt_distances,
    encrypt_codes,
    encrypt_gallery,
    encrypt_probes,
    gallery_distances,
)
from hesc.params import Params, wire_sizes
from hesc.planner import probes
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import StageCount, counted, parts_of
from hesc.protocols.candidates.for_problems import ForDistances
from hesc.protocols.search.agreed import PUBLIC
from hesc.protocols.search.client import SearchClient
from hesc.protocols.search.index import Index
from hesc.protocols.search.plan import SearchPlan
from hesc.protocols.search.server import SearchServer
from hesc.secret import keygen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.planner.probes import Probe
    from hesc.planner.tasks import DistanceProblem, Task

_PRESET: Final = "bfv_1024_distances"
_PROBES: Final = 1024
"""Probes that share a block: its ring degree."""
PART: Final = 8192
"""Records of a gallery whose distances travel together."""
_MESSAGE: Final = 1 << 12
"""Probes of a message to a gallery, at most."""
_WORDS: Final = 1 << 27
"""Words of the ciphertexts of such a message, at most."""

_MANY: Final = (256, 500, 1000)
"""Bits, records and probes: as many probes as share a block."""


class ClearRecords(ForDistances):
    """Bit columns of probes are encrypted; the server adds them by its records' bits."""

    name = "codes"

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for bits, records, samples in (*probes.CODES, _MANY):
            yield probes.distances(rng, bits, records, samples, "client_server")

    def distances(self, task: Task, problem: DistanceProblem) -> Estimate | Infeasible:
        """See `ForDistances`."""
        records = len(problem.records)
        up, down = wire_sizes.codes(Params.preset(_PRESET), task.samples, problem.bits, records)
        blocks = -(-task.samples // _PROBES)
        return Estimate(
            way=self.name,
            parameters=_PRESET,
            work=counted(
                f"codes.{_PRESET}",
                encrypt=StageCount(1, problem.bits * blocks, task.samples * problem.bits),
                answer=StageCount(
                    1,
                    records * problem.bits * blocks,
                    records * blocks,
                ),
                decrypt=StageCount(1, records * blocks, records * task.samples),
            ),
            up=up,
            down=down,
            held=problem.records.nbytes,
            error=0.0,
            failure=records * task.samples * LATTICE,
            sees=Sees("distances", model_at_server=True, noise_tells="the model"),
            prepare=partial(_Clear, problem.records),
        )


class _Clear:
    def __init__(self, records: NDArray[np.uint64]) -> None:
        self._records = records
        self._params = Params.preset(_PRESET)
        self._secret, _ = keygen(self._params)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All probes."""
        return [encrypt_codes(self._secret, x)]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Distances to all records."""
        return [EncryptedCodes.from_bytes(self._params, up[0]).distances(self._records).to_bytes()]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Probes by records."""
        found = decrypt_distances(
            self._secret, EncryptedDistances.from_bytes(self._params, down[0])
        )
        return found.T.astype(np.float64)

    def held(self) -> int:
        """The records."""
        return self._records.nbytes


class IndexedRecords(ForDistances):
    """A ciphertext for each bit of a probe, or with keys one for many; one pass over records.

    Args:
        keys: whether clients give keys, once, by which probes are short.

    """

    def __init__(self, *, keys: bool) -> None:
        self.name = "search with keys" if keys else "search"
        self._keys = keys

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for bits, records, samples in (*probes.CODES, _LONG):
            yield probes.distances(rng, bits, records, samples, "client_server")

    def distances(self, task: Task, problem: DistanceProblem) -> Estimate | Infeasible:
        """See `ForDistances`."""
        if problem.bits > _MOST_BITS:
            return Infeasible(self.name, f"it compares codes of {_MOST_BITS} bits at most")
        records, samples = len(problem.records), task.samples
        plan = SearchPlan.of_codes(
            problem.bits, records=PUBLIC, most_records=records, keys=self._keys
        )
        degree = plan.native.block
        blocks, messages = -(-records // degree), -(-samples // plan.rows)
        up, down = plan.sizes(samples)
        words = problem.bits * blocks * degree * samples
        return Estimate(
            way=self.name,
            parameters=f"N={degree}",
            work=counted(
                # In coefficients: the ring is the smallest that has room.
                f"search.{'expanded' if self._keys else 'long'}",
                encrypt=StageCount(messages, plan.native.ciphertexts[0] * samples * degree, 0),
                answer=StageCount(messages, problem.bits * samples * degree, words),
                decrypt=StageCount(messages, blocks * samples * degree, records * samples),
            ),
            up=up,
            down=down,
            held=plan.native.index_sizes(records)[1] + plan.key_bytes,
            error=0.0,
            failure=records * samples * LATTICE,
            sees=Sees("distances", model_at_server=True, noise_tells="the model"),
            prepare=partial(_Indexed, plan, problem.records),
        )


_LONG: Final = (512, 20_000, 2)
"""Bits, records and probes: more records than a block has."""
_MOST_BITS: Final = 4096
"""Bits of a code of a search, at most."""


class _Indexed:
    def __init__(self, plan: SearchPlan, records: NDArray[np.uint64]) -> None:
        self._client = SearchClient(plan)
        keys = self._client.public_keys() if plan.needs_keys else None
        self._index = Index(plan, unpacked(records))
        self._server = SearchServer.of(self._index, keys=keys)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """Probes, as many in a message as it takes."""
        bits, rows = unpacked(x), self._index.plan.rows
        starts = range(0, len(bits), rows)
        return [self._client.encrypt(bits[first : first + rows]).data for first in starts]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Distances to all records."""
        return [self._server.answer(query) for query in up]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Probes by records."""
        return np.concatenate([self._client.decrypt(answer).values for answer in down])

    def held(self) -> int:
        """The packed records, and keys."""
        return self._index.memory + self._index.plan.key_bytes


class EncryptedRecords(ForDistances):
    """Products of ciphertexts; records and probes under one secret key."""

    name = "galleries"

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for bits, records, samples in probes.CODES:
            yield probes.distances(rng, bits, records, samples, "outsourced")

    def distances(self, task: Task, problem: DistanceProblem) -> Estimate | Infeasible:
        """See `ForDistances`."""
        if not task.own_model:
            return Infeasible(
                self.name, "galleries are encrypted under the secret key, by its owner"
            )
        plan = GalleryPlan(problem.bits)
        records = len(problem.records)
        blocks = -(-records // plan.capacity)
        pieces = -(-problem.bits // plan.piece)
        most = most_probes(plan)
        messages = parts_of(task.samples, most)
        up = sum(plan.sizes(1, count).probes for count in messages)
        # As `EncryptedGallery.answers` parts them.
        each = max(1, PART // plan.capacity) * plan.capacity
        down = sum(plan.sizes(count).distances for count in parts_of(records, each))
        return Estimate(
            way=self.name,
            parameters=f"N={plan.params.ring_degree}",
            work=counted(
                f"galleries.{plan.params.ring_degree}",
                encrypt=StageCount(len(messages), task.samples * pieces, 0),
                answer=StageCount(
                    len(messages), blocks * task.samples * pieces, blocks * task.samples
                ),
                decrypt=StageCount(1, blocks * task.samples * pieces, blocks * task.samples),
            ),
            up=up,
            down=down * task.samples,
            held=plan.sizes(records).gallery,
            error=0.0,
            failure=records * task.samples * LATTICE,
            sees=Sees("distances"),
            prepare=partial(_Encrypted, plan, problem.records),
        )


def most_probes(plan: GalleryPlan) -> int:
    """Probes of one message, at most."""
    pieces = plan.bits // plan.piece
    return max(1, min(_MESSAGE, _WORDS // (2 * plan.params.ring_degree * pieces)))


class _Encrypted:
    def __init__(self, plan: GalleryPlan, records: NDArray[np.uint64]) -> None:
        self._plan = plan
        self._secret, _ = keygen(plan.params, products=False)
        data = encrypt_gallery(self._secret, plan, records)
        self._held = len(data)
        self._server = EncryptedGallery.from_bytes(plan, data)
        blocks = -(-len(records) // plan.capacity)
        self._parts = -(-blocks // max(1, PART // plan.capacity))

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """Probes, as many in a message as it takes."""
        most = most_probes(self._plan)
        return [
            encrypt_probes(self._secret, self._plan, x[first : first + most])
            for first in range(0, len(x), most)
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Distances to all records, in parts: as many of each message."""
        return [part for message in up for part in self._server.answers(message, records=PART)]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Probes by records."""
        # Parts of one message are read together.
        probes = parts_of(len(down) // self._parts, most_probes(self._plan))
        ends = (np.cumsum(probes) * self._parts).tolist()
        messages = (down[first:last] for first, last in pairwise([0, *ends]))
        found = [gallery_distances(self._secret, self._plan, parts) for parts in messages]
        return np.concatenate(found).astype(np.float64)

    def held(self) -> int:
        """The gallery."""
        return self._held
