"""Who evaluates all-one polynomials of one encrypted number, and how long each step takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from hesc._support.stages import Stopwatch, medians
from hesc.params import Params, StreamParams
from hesc.secret import keygen
from hesc.streams.arrays import EncryptedArray, powers
from hesc.streams.encoding import Encoder
from hesc.streams.encryptor import Encryptor, encrypt_streams
from hesc.streams.polynomials import Polynomial
from hesc_papers.report import alternating

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hesc._support.studies import Options

STAGES: Final = ("B2S", "Enc", "Eval", "Dec", "S2B")

# The paper's 54 bits of modulus as two primes: words of 32 bits are faster. SEAL keeps one prime
# for itself and gets them as one.
BFV_PAPER: Final = "hestd2018_koseki_bfv_2048_rns"
CKKS_PAPER: Final = "hestd2018_koseki_ckks_2048_rns"


def paper_set(preset: str) -> StreamParams:
    """A set of the paper with its bits in coefficients: concatenation needs no slots.

    Ring degree, modulus and plaintext modulus are the paper's, the scale is SEAL's below; encoding
    and decoding have a transform less. SEAL is given the same in BFV; its CKKS has slots only.
    """
    params = Params.preset(preset)
    found: StreamParams = Params.lattice(
        "bfv" if params.scale is None else "ckks",
        ring_degree=params.ring_degree or 0,
        coeff_moduli=params.coeff_moduli,
        packing="coefficients",
        plain_modulus=params.plain_modulus,
        scale=None if params.scale is None else SEAL_SCALE,
        assurance=params.assurance,
    )
    return found


SEAL_MODULUS: Final = 18014398509404161
SEAL_SMALL_MODULUS: Final = 134215681
SEAL_SCALE: Final = 2.0**38
STREAM_LENGTH: Final = 2048
SHORT_LENGTH: Final = 256
PAPER_SETS: Final = {"BFV": BFV_PAPER, "CKKS": CKKS_PAPER}
# How the candidates with the paper's parameters pack.
SLOTS, COEFFICIENTS = "paper's set, slots", "paper's set, coefficients"
JOINT: Final = f"joint, L={SHORT_LENGTH}"


class PolynomialCandidate(Protocol):
    """Evaluates the all-one polynomial of its degree."""

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage, and the value."""


class Streams:
    """hesc, with the stages of the paper."""

    def __init__(
        self,
        params: StreamParams,
        degree: int,
        *,
        stream_length: int = STREAM_LENGTH,
        generator: str = "bernoulli",
        encrypt_constant: bool = False,
    ) -> None:
        self._secret, self._public = keygen(params)
        self._degree = degree
        self._polynomial = Polynomial(np.ones(degree + 1))
        self._options = (stream_length, generator)
        self._encrypt_constant = encrypt_constant

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage, and the value."""
        length, generator = self._options
        values = [x] * self._degree + [1.0] * self._encrypt_constant
        clock = Stopwatch()
        encoded = Encoder(length, generator=generator).encode_factors(values)
        clock("B2S")
        copies = encrypt_streams(self._public, encoded, "one_per_block")
        clock("Enc")
        if self._encrypt_constant:
            # As the paper: the constant is a stream like the others.
            terms = [*powers(copies[: self._degree]), copies[-1]]
            total = EncryptedArray.weighted_sum(terms, np.ones(len(terms)))
        else:
            total = self._polynomial.evaluate([[copies]])
        answer = total.answer(compact=False)
        clock("Eval")
        counts = self._secret.counts(answer)
        clock("Dec")
        value = counts.separate().values()[0]
        clock("S2B")
        return clock.milliseconds, float(value)


class Leveled:
    """hesc with products of ciphertexts: in CKKS a number in each slot, in BFV rounded integers."""

    def __init__(self, degree: int, scheme: str) -> None:
        self._exact, self._degree = scheme != "ckks", degree
        # Degree 10 takes six primes of CKKS.
        ring_degree = 16384 if degree > 3 and not self._exact else 8192
        params = Params.recommended(scheme, encoding="vectors", ring_degree=ring_degree)
        self._secret, self._public = keygen(params)
        # BFV: the sum of n + 1 terms of this precision stays below t / 2.
        t = params.plain_modulus or 0
        self._precision = max(1, int((t / 2 / (degree + 1)) ** (1 / degree))) if t else 1
        self._slots = params.slot_count

    def run(self, x: float) -> tuple[dict[str, float], float]:
        """Milliseconds of each stage, and the value."""
        n, p, clock = self._degree, self._precision, Stopwatch()
        numbers = np.full(self._slots, round(x * p) if self._exact else x)
        encrypted = self._public.encrypt(numbers, bound=p if self._exact else None)
        clock("Enc")
        # Every term to the precision of the highest.
        total = encrypted.polynomial([float(p) ** (n - power) for power in range(n + 1)])
        clock("Eval")
        value = self._secret.decrypt(total)[0]
        clock("Dec")
        return clock.milliseconds, float(value) / p**n


def ours(degree: int) -> dict[str, PolynomialCandidate]:
    """hesc's candidates of a degree, by name."""
    paper = {
        f"hesc: HESC w/ {scheme}, {packing}": Streams(params, degree, encrypt_constant=True)
        for scheme, name in PAPER_SETS.items()
        for packing, params in ((SLOTS, Params.preset(name)), (COEFFICIENTS, paper_set(name)))
    }
    return paper | {
        "hesc: HESC w/ BFV": Streams(Params.preset("bfv_1024"), degree),
        "hesc: HESC w/ CKKS": Streams(Params.preset("ckks_1024"), degree),
        f"hesc: {JOINT}": Streams(
            Params.preset("bfv_1024"), degree, stream_length=SHORT_LENGTH, generator="joint"
        ),
        "hesc: BFV": Leveled(degree, "bfv"),
        "hesc: CKKS": Leveled(degree, "ckks"),
    }


def theirs(degree: int) -> dict[str, PolynomialCandidate]:
    """SEAL's candidates: each way that hesc has and SEAL can go, and exact arithmetic."""
    from hesc_papers.seal_peer.polynomial import (
        IntegerPolynomial,
        LeveledPolynomial,
        StreamPolynomial,
        papers_chain,
        tuned_chain,
    )

    t = Params.preset(BFV_PAPER).plain_modulus
    paper = {
        f"SEAL: HESC w/ BFV, {packing}": StreamPolynomial(
            degree,
            "bfv",
            2048,
            [SEAL_MODULUS],
            packing=packing.split()[-1],
            plain_modulus=t,
            stream_length=STREAM_LENGTH,
            encrypt_constant=True,
        )
        for packing in (SLOTS, COEFFICIENTS)
    }
    small = {
        name: StreamPolynomial(
            degree,
            "bfv",
            1024,
            [SEAL_SMALL_MODULUS],
            packing="coefficients",
            plain_modulus=2,
            stream_length=length,
            generator=generator,
        )
        for name, length, generator in (
            ("SEAL: HESC w/ BFV", STREAM_LENGTH, "bernoulli"),
            (f"SEAL: {JOINT}", SHORT_LENGTH, "joint"),
        )
    }
    ckks = StreamPolynomial(
        degree,
        "ckks",
        2048,
        [SEAL_MODULUS],
        scale=SEAL_SCALE,
        stream_length=STREAM_LENGTH,
        encrypt_constant=True,
    )
    return {
        **paper,
        f"SEAL: HESC w/ CKKS, {SLOTS}": ckks,
        **small,
        "SEAL: BFV": IntegerPolynomial(degree),
        "SEAL: CKKS, paper's set": LeveledPolynomial(degree, papers_chain(degree)),
        "SEAL: CKKS, tuned": LeveledPolynomial(degree, tuned_chain(degree)),
    }


def candidates(degree: int, *, peer: bool) -> dict[str, PolynomialCandidate]:
    """All of a degree, by name; SEAL's if asked for."""
    return ours(degree) | (theirs(degree) if peer else {})


class Measured:
    """Times and errors of each candidate, by its name."""

    def __init__(self, work: Mapping[str, PolynomialCandidate]) -> None:
        self._work = work
        self.runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in work}
        self.errors: dict[str, list[float]] = {name: [] for name in work}

    def measure(self, degree: int, *, quick: bool) -> None:
        """One value after the other, each candidate in its turn."""
        values = np.random.default_rng(degree).uniform(-1, 1, 64)

        def one(name: str) -> Callable[[int], Mapping[str, float]]:
            def run(number: int) -> Mapping[str, float]:
                x = float(values[number % len(values)])
                stages, value = self._work[name].run(x)
                self.errors[name].append(value - sum(x**power for power in range(degree + 1)))
                return stages

            return run

        rounds = range(3 if quick else 15)
        work = {name: one(name) for name in self._work}
        for name, stages in alternating(work, rounds, quick=quick):
            self.runs[name].append(stages)

    def rows(self, **columns: Any) -> list[dict[str, Any]]:
        """A row for each candidate: medians of the stages, and the error."""
        rows = []
        for name, runs in self.runs.items():
            times = medians(runs)
            rows.append(
                {
                    "candidate": name,
                    **columns,
                    **{stage: times.get(stage) for stage in STAGES},
                    "Total": times["Total"],
                    "RMSE": float(np.sqrt(np.mean(np.square(self.errors[name])))),
                }
            )
        return rows


def measure(degrees: Sequence[int], options: Options, title: str) -> list[dict[str, Any]]:
    """Rows of all degrees."""
    rows = []
    for degree in options.track(degrees, title):
        measured = Measured(candidates(degree, peer="seal" in options.peers))
        measured.measure(degree, quick=options.quick)
        rows += measured.rows(degree=degree)
    return rows


def total(rows: Sequence[Mapping[str, Any]], candidate: str, degree: int) -> float:
    """The total of one row."""
    return next(
        float(row["Total"])
        for row in rows
        if row["candidate"] == candidate and row["degree"] == degree
    )


def evaluation_over_memory(quick: bool) -> float:
    """Time of f's evaluation for 201 values over that of adding arrays of as many bytes.

    One product is all that the evaluation computes: two ciphertexts read, one written. numpy's
    addition of arrays that are as large, into an array that is there, is the bound.
    """
    params = paper_set(BFV_PAPER)
    _, public = keygen(params)
    polynomial = Polynomial([1, 1, 1])
    values = np.linspace(-1, 1, 201)
    inputs = polynomial.encrypt_inputs(
        Encryptor(public, STREAM_LENGTH, layout="one_per_block"), values
    )
    # Two polynomials, words of 32 bits for each prime.
    words = len(values) * (params.ring_degree or 0) * len(params.coeff_moduli)
    a, b, c = (np.zeros(words, dtype=np.uint64) for _ in range(3))

    def timed(work: Callable[[], object]) -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    evaluate, bound = [], []
    for _ in range(5 if quick else 41):
        evaluate.append(timed(lambda: polynomial.evaluate(inputs)))
        bound.append(timed(lambda: np.add(a, b, out=c)))
    return float(np.median(evaluate) / np.median(bound))
