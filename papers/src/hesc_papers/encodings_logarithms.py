"""The part of `hesc:encodings` that is products by logarithms, with streams beside."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

import hesc
from hesc import logarithms
from hesc.logarithms import Factor
from hesc.logarithms.secret import decrypt_logarithms, encrypt_logarithms
from hesc.protocols.streams.staged import Monomial
from hesc.streams.iris import load_network, load_split
from hesc_papers.encodings import Part, rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc._support.studies import Options

FACTORS: Final = 10
# Root mean squares that are wanted at the numbers where errors are largest.
IRIS_ERROR: Final = 0.01
FACTORS_ERROR: Final = 0.02
# Products of ten factors at once, and those that errors are taken over.
AT_ONCE: Final = 64
PRODUCTS: Final = 20_000
LENGTH: Final = 256
BATCHES: Final = 20


class Candidate(Protocol):
    """Who computes, by way of bytes."""

    bytes_up: int
    bytes_down: int

    def run(self, values: NDArray[np.float64], /) -> NDArray[np.float64]:
        """What comes of numbers."""


class Iris:
    """The network's coefficients times a flower's monomials, coefficients encrypted or not."""

    bytes_up = bytes_down = 0

    def __init__(self, *, source: str) -> None:
        network = load_network()
        self._preprocessing = network.preprocessing
        self._coefficients = coefficients = network.coefficients()
        # Public in the stream's model as well. A monomial without coefficients has any bound.
        largest = np.abs(coefficients).max(axis=0)
        largest[largest == 0] = 1
        weights = Factor(
            coefficients.shape,
            bound=np.broadcast_to(largest, coefficients.shape),
            source=source,
            shared=True,
        )
        factors = [Factor(coefficients.shape[1]), weights]
        self.plan = logarithms.LogarithmPlan.sums(factors, error=IRIS_ERROR)
        self._secret, keys = hesc.keygen(self.plan.params, products=False)
        if source == "clear":
            self._server = logarithms.LogarithmEvaluator(self.plan, clear={1: coefficients})
        else:
            gallery = logarithms.encrypt(self.plan, 1, keys, coefficients)
            self._server = logarithms.LogarithmEvaluator(self.plan, shared=[gallery])

    def run(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Outputs of flowers, by way of the bytes of query and answer."""
        monomials = self._preprocessing.monomials(features)
        query = encrypt_logarithms(self._secret, self.plan, 0, monomials)
        self.bytes_up = len(query)
        answer = self._server.evaluate([query])
        self.bytes_down = len(answer)
        return decrypt_logarithms(self._secret, self.plan, answer).values

    def law(self, features: NDArray[np.float64]) -> float:
        """The root mean square of errors that the plan states for these flowers."""
        rows = self._preprocessing.monomials(features)
        return rms(np.array([self.plan.errors_of(row, self._coefficients) for row in rows]))


class Streams:
    """The same network on streams of 64 bits, in the best mode."""

    bytes_up = bytes_down = 0

    def __init__(self) -> None:
        self._candidate = Monomial(load_network(), hesc.Params.preset("bfv_1024_fusion"))

    def run(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Outputs of flowers."""
        _, values = self._candidate.run(features)
        self.bytes_up = self._candidate.bytes_up
        self.bytes_down = self._candidate.bytes_down
        return values


class Factors:
    """Products of ten factors, each encrypted by itself: by the key owner, or by others."""

    bytes_up = bytes_down = 0

    def __init__(self, *, source: str) -> None:
        factors = [Factor((), source=source)] * FACTORS
        self.plan = logarithms.LogarithmPlan.elementwise(factors, error=FACTORS_ERROR)
        self._secret, self._keys = hesc.keygen(self.plan.params, products=False)
        self._server = logarithms.LogarithmEvaluator(self.plan)
        self._owner = source == "secret"

    def run(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of each column."""
        if self._owner:
            uploads = [
                encrypt_logarithms(self._secret, self.plan, at, row)
                for at, row in enumerate(values)
            ]
        else:
            uploads = [
                logarithms.encrypt(self.plan, at, self._keys, row) for at, row in enumerate(values)
            ]
        answer = self._server.evaluate(uploads)
        self.bytes_up, self.bytes_down = sum(map(len, uploads)), len(answer)
        return decrypt_logarithms(self._secret, self.plan, answer).values

    def law(self, values: NDArray[np.float64]) -> float:
        """The root mean square of errors that the plan states for these products."""
        return rms(np.array([self.plan.errors_of(*column) for column in values.T]))


class JointStreams:
    """The same by streams that one party makes together, which are the best for products."""

    bytes_up = bytes_down = 0

    def __init__(self) -> None:
        self._params = hesc.Params.preset("bfv_1024")
        self._secret, _ = hesc.keygen(self._params)
        self._decryptor = hesc.Decryptor(self._secret)

    def run(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of each column."""
        encryptor = hesc.SecretEncryptor(self._secret, LENGTH, generator="joint")
        uploads = [array.to_bytes() for array in encryptor.encrypt_factors(values)]
        arrays = [hesc.SeededArray.from_bytes(self._params, data).expand() for data in uploads]
        product = arrays[0]
        for other in arrays[1:]:
            product = product * other
        answer = product.answer().to_bytes()
        self.bytes_up, self.bytes_down = sum(map(len, uploads)), len(answer)
        return np.asarray(self._decryptor.decrypt(hesc.Answer.from_bytes(self._params, answer)))


def measured(options: Options) -> Part:
    """Round trips from numbers to numbers with the bytes of all messages, and errors."""
    split = load_split()
    network = load_network()
    expected = network.preprocessing.monomials(split.test_features) @ network.coefficients().T
    generator = np.random.default_rng(19)
    values = generator.uniform(-1, 1, (FACTORS, PRODUCTS // 10 if options.quick else PRODUCTS))
    iris: dict[str, Candidate] = {
        "hesc: Iris, logarithms, network encrypted": Iris(source="public"),
        "hesc: Iris, logarithms, network in the clear": Iris(source="clear"),
        "hesc: Iris, streams of 64 bits, network encrypted": Streams(),
    }
    factors: dict[str, Candidate] = {
        f"hesc: {FACTORS} factors, logarithms": Factors(source="secret"),
        f"hesc: {FACTORS} factors, logarithms, public keys": Factors(source="public"),
        f"hesc: {FACTORS} factors, joint streams of {LENGTH} bits": JointStreams(),
    }
    rows, errors = [], {}
    for name, candidate in iris.items():
        off = [candidate.run(split.test_features) - expected for _ in range(BATCHES)]
        errors[name] = rms(np.concatenate(off))
        rows.append(row(name, candidate, errors[name], split.test_features, expected))
    products = values.prod(axis=0)
    for name, candidate in factors.items():
        # Streams are long: a batch at a time.
        found = [
            candidate.run(np.ascontiguousarray(part))
            for part in np.array_split(values, BATCHES, axis=1)
        ]
        errors[name] = rms(np.concatenate(found) - products)
        rows.append(row(name, candidate, errors[name], values, products))
    runs: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
        name: (candidate.run, [flower[None] for flower in split.test_features])
        for name, candidate in iris.items()
    }
    parts = [
        np.ascontiguousarray(part) for part in np.array_split(values, len(products) // AT_ONCE, 1)
    ]
    runs |= {name: (candidate.run, parts) for name, candidate in factors.items()}
    seconds = in_turns(runs, quick=options.quick)
    for each, candidate in zip(rows, [*iris.values(), *factors.values()], strict=True):
        each["us"] = 1e6 * seconds[each["candidate"]]
        each["bytes up"], each["bytes down"] = candidate.bytes_up, candidate.bytes_down
    encrypted, clear, streams = iris
    owner, public, joint = factors
    ratios = {
        "logarithmic.iris.rmse": errors[encrypted],
        "logarithmic.iris.clear.rmse": errors[clear],
        "logarithmic.iris.streams.rmse": errors[streams],
        "logarithmic.ten_factors.rmse": errors[owner],
        "logarithmic.ten_factors.public.rmse": errors[public],
        "logarithmic.ten_factors.joint_streams.rmse": errors[joint],
    }
    notes = [
        "logarithms: one flower, or 64 products of ten factors uniform in [-1, 1], at a time; "
        "ratios are root mean squares of errors in units of the outputs; a network's "
        "upload is made once and not counted; the errors that are stated are those of these "
        f"numbers, wanted were {IRIS_ERROR} and {FACTORS_ERROR} at the worst ones; ten uploads "
        "count for ten factors; streams beside them are encrypted by the key owner as well, those "
        "of a product made together",
    ]
    return Part(rows, ratios, notes)


def rms(errors: NDArray[np.float64]) -> float:
    """The root of the mean of squares."""
    return float(np.sqrt(np.mean(np.square(errors))))


def row(
    name: str,
    candidate: Candidate,
    error: float,
    values: NDArray[np.float64],
    expected: NDArray[np.float64],
) -> dict[str, Any]:
    """What is known before anything is timed."""
    deviation = float(np.std(expected))
    each: dict[str, Any] = {"candidate": name, "error": error / deviation}
    if isinstance(candidate, Iris | Factors):
        plan = candidate.plan
        each |= {
            "ring degree": plan.params.ring_degree,
            "bits of q": plan.params.level_bits[-1],
            "bits back": plan.answer_bits,
            "error stated": candidate.law(values) / deviation,
        }
    return each


def in_turns(
    runs: dict[str, tuple[Callable[[Any], Any], list[Any]]], *, quick: bool
) -> dict[str, float]:
    """Median seconds, each candidate in each round."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds(quick=quick)):
        for name, (run, inputs) in runs.items():
            each = inputs[number % len(inputs)]
            run(each)
            for _ in range(5):
                start = time.perf_counter()
                run(each)
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}
