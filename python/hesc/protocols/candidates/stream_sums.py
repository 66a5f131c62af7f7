"""Weighted sums of encrypted bit streams, whose client sees every summand.

Features are streams of independent bits; weights, in the clear or encrypted, streams with as many
ones as comes nearest to their values. A product is an exclusive or, its mean over the feature's
bits is the product of the two values whatever order the weight's bits have, and sums lie one
behind the other.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.params import Params, wire_sizes
from hesc.planner import probes
from hesc.planner.estimates import ROUNDING, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.tasks import ScoreProblem
from hesc.planner.work import StageCount, counted
from hesc.protocols.candidates.for_problems import ForScores
from hesc.ring_products.plans import power_above
from hesc.secret import Decryptor, SecretEncryptor, keygen
from hesc.streams.arrays import Answer, EncryptedArray, SeededArray, expanded
from hesc.streams.encoding import EncodedArray, Encoder
from hesc.streams.encryptor import Encryptor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.params.stream_params import StreamParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import Task

_MOST_BITS: Final = 1 << 24
"""Bits of all summands, at most."""
_MOST_LENGTH: Final = 1 << 16
_WORD: Final = 64

_PROBES: Final = (
    (2, 1, 1, 0.1),
    (8, 2, 16, 0.3),
    (32, 4, 16, 0.5),
    (16, 1, 40, 0.2),
    (4, 1, 1, 0.01),
    (16, 4, 1, 0.03),
    (64, 10, 1, 0.08),
)
"""Features, outputs, samples and errors that it is timed on: short streams, and long ones."""


class StreamSums(ForScores):
    """Scores by streams: for clients that may see `weight * feature` one by one."""

    def __init__(self, preset: str) -> None:
        self.name = f"stream sums {preset.rsplit('_', 1)[0]}"
        self._preset = preset

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for setting, own in probes.OWNERS:
            for *shape, error in _PROBES:
                features, outputs, samples = map(int, shape)
                at = features, outputs, samples
                yield probes.scores(rng, at, error, setting, own=own, disclose="products")

    def scores(self, task: Task, problem: ScoreProblem) -> Estimate | Infeasible:
        """See `ForScores`."""
        if task.disclose != "products":
            return Infeasible(
                self.name, "the client would see every summand: it is for disclose='products'"
            )
        encrypted = task.setting == "outsourced"
        unit = _unit(problem, encrypted=encrypted)
        # What doubles round is no stream's: sums of large numbers may have no room for any.
        left = task.max_error - ROUNDING * problem.largest
        if left <= 0:
            return Infeasible(
                self.name,
                f"doubles round results of up to {problem.largest:.2g} by more than "
                f"{task.max_error:.2g}",
            )
        length = _length(left / unit, problem.features)
        bits = float(length) * problem.features * problem.outputs * task.samples
        if length > _MOST_LENGTH or bits > _MOST_BITS:
            return Infeasible(
                self.name,
                f"streams of {length:,} bits for each of {task.samples * problem.features:,} "
                f"numbers are more than is tried: their error falls with the root of their length",
            )
        under = ("secret" if task.own_model else "public") if encrypted else "none"
        params = Params.preset(self._preset)
        pad = params.scheme == "pad"
        if pad and under == "public":
            return Infeasible(
                self.name,
                "it is private only where the key owner encrypts everything that is multiplied",
            )
        shape = problem.outputs, problem.features
        up, down, held = bytes_of(params, length, shape, task.samples, under)
        rows = task.samples * problem.outputs
        # What is added is a stream too where it is encrypted.
        streams = problem.features + encrypted
        numbers = task.samples * streams
        blocks = _blocks(length, streams, params.block_length)
        return Estimate(
            way=self.name,
            parameters=f"{self._preset}, {length} bits a stream",
            work=counted(
                f"stream_sums.{self._preset}.{'encrypted' if encrypted else 'clear'}",
                encrypt=StageCount(1, task.samples * blocks, numbers),
                answer=StageCount(1, rows * blocks, numbers * problem.outputs, up),
                decrypt=StageCount(1, rows * blocks, numbers * problem.outputs),
            ),
            up=up,
            down=down,
            held=held if encrypted else problem.nbytes,
            error=unit * _deviation(length, problem.features, rounded=problem.features + encrypted)
            + ROUNDING * problem.largest,
            # A block that decrypts wrongly, one in 10^8, changes bits, each by 2 / length.
            failure=0.0,
            sees=Sees("products", model_at_server=not encrypted, one_encryptor=pad and encrypted),
            prepare=partial(_StreamSides, params, length, problem, under),
        )


def _blocks(length: int, streams: int, block_length: int) -> int:
    """Blocks of a row of streams: several share a block, or each has blocks of its own."""
    if length > block_length:
        return streams * -(-length // block_length)
    return -(-streams // (block_length // length))


def _summands(problem: ScoreProblem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of features within [-1, 1], and what is added to them."""
    middle, half = (problem.high + problem.low) / 2, (problem.high - problem.low) / 2
    return problem.weights * half, problem.weights @ middle + problem.intercepts


def _unit(problem: ScoreProblem, *, encrypted: bool) -> float:
    """What a stream's one stands for: the largest summand, or a power of two above it.

    Of an encrypted model what is added is encrypted too.
    """
    weights, added = _summands(problem)
    largest = float(np.abs(weights).max())
    return (power_above(max(largest, float(np.abs(added).max()))) if encrypted else largest) or 1.0


def _deviation(length: int, features: int, *, rounded: int) -> float:
    """The standard deviation of a sum, in units, at most: of features' bits and rounded weights.

    Independent bits of a mean `x` have the variance `(1 - x**2) / length`; a weight is off by half
    of a step of `2 / length` at most.
    """
    return float(np.hypot(np.sqrt(features / length), rounded / length))


def _length(error: float, features: int) -> int:
    """The fewest bits, in whole words, whose deviation is no more."""
    # s + (2 s)^2 is at least its square with s = features / length: of one feature, two weights.
    square = (np.sqrt(1 + 16 * min(error, 1e6) ** 2) - 1) / 8
    words = np.ceil(features / max(square, 1e-12) / _WORD)
    return int(max(1, words)) * _WORD


@cache
def bytes_of(
    params: StreamParams, length: int, shape: tuple[int, int], samples: int, under: str
) -> tuple[int, int, int]:
    """Bytes up, down and of encrypted weights.

    By simulations of one sample and of two: each further sample has the sizes of the second.
    """
    problem = ScoreProblem(np.zeros(shape), low=-1.0, high=1.0)
    parties = _StreamSides(params.simulated(), length, problem, under)
    # Each summand is a product of a feature, which the client encrypts, and a weight.
    weights = {"none": {}, "secret": {"secret": 1}, "public": {"public": 1}}[under]
    both = {"secret": 1, "public": 0}
    both |= {name: both[name] + 1 for name in weights}
    runs = []
    for count in (1, 2):
        features = parties.features(np.zeros((count, shape[1])))
        answer = parties.summands(features.expand())
        runs.append(
            (wire_sizes.streams(params, features), wire_sizes.streams(params, answer, **both))
        )
    up, down = (one + (samples - 1) * (two - one) for one, two in zip(*runs, strict=True))
    held = wire_sizes.streams(params, parties.weights, **weights) if weights else 0
    return up, down, held


class _StreamSides:
    def __init__(
        self, params: StreamParams, length: int, problem: ScoreProblem, under: str
    ) -> None:
        self._params, self._length, self._problem = params, length, problem
        self._secret, public = keygen(self._params)
        self._middle = (problem.high + problem.low) / 2
        half = (problem.high - problem.low) / 2
        self._half = np.where(half > 0, half, 1.0)
        self._encrypted = under != "none"
        self._unit = _unit(problem, encrypted=self._encrypted)
        weights, self._added = _summands(problem)
        values = weights / self._unit
        self.weights: EncodedArray | EncryptedArray | SeededArray
        options: Any = {"generator": "exact_weight"}
        if not self._encrypted:
            self.weights = Encoder(length, **options).encode(values)
            return
        encryptor: Any = (
            SecretEncryptor(self._secret, length, **options)
            if under == "secret"
            else Encryptor(public, length, **options)
        )
        # What is added is the weight of a feature that is always one.
        values = np.column_stack([values, self._added / self._unit])
        self.weights = encryptor.encrypt(values)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All samples, the features of each along the last axis."""
        return [self.features(x).to_bytes()]

    def features(self, x: NDArray[Any]) -> SeededArray:
        """They as they travel."""
        values = np.clip((x - self._middle) / self._half, -1, 1)
        if self._encrypted:
            values = np.column_stack([values, np.ones(len(values))])
        encryptor = SecretEncryptor(self._secret, self._length, generator="bernoulli")
        return encryptor.encrypt(values[:, None, :])

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Summands, of which those of a score belong together."""
        return [self.summands(EncryptedArray.from_bytes(self._params, up[0])).to_bytes()]

    def summands(self, features: EncryptedArray) -> Answer:
        """They as they travel."""
        weights = self.weights
        if isinstance(weights, EncodedArray):
            added: float | NDArray[np.float64] = self._added
            shape = len(features), *weights.shape
            places = np.arange(np.prod(weights.shape)).reshape(weights.shape)
            places = np.broadcast_to(places, shape).reshape(-1).astype(np.int64)
            every = EncodedArray(weights.streams.select(places), shape)
            products = features.broadcast_to(shape).multiply_encoded(every)
        else:
            added = 0.0
            products = features * expanded(weights)
        return (products.sum(axis=-1) * self._unit + added).answer()

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Scores."""
        return Decryptor(self._secret).decrypt(Answer.from_bytes(self._params, down[0]))

    def held(self) -> int:
        """The weights."""
        if isinstance(self.weights, EncodedArray):
            return self._problem.nbytes
        return len(self.weights.to_bytes())
