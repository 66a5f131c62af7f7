"""Both stochastic sums mixed in a network's layers: errors against ciphertexts and time.

koseki2022hesc proposes it in sections 3.2.3 and 5 and measures nothing. The network is that of its
section 4.3, layer by layer on encrypted weights. Two of its sums can be mixed:

- each node of the hidden layer: its five terms in so many groups, each selected to one stream
  (algorithm 3), and the groups concatenated. The activation squares the groups;
- each output: its terms concatenated, or each with a part of its stream, into fewer ciphertexts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._support.stages import Stopwatch, medians
from hesc.params import Params
from hesc.secret import Decryptor, keygen
from hesc.streams.arrays import EncryptedArray
from hesc.streams.encryptor import Encryptor
from hesc.streams.iris import load_network, load_split
from hesc.streams.networks.layered import COPIES, LayeredModel, encrypt_query
from hesc.streams.polynomials.summation import best_pieces
from hesc_papers.report import Report, alternating

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options
    from hesc.params import StreamParams
    from hesc.streams.networks import SquareNetwork

IDENTIFIER: Final = "hesc:layers"
TITLE: Final = "Layers of the Iris network by both stochastic sums"

STREAM_LENGTH: Final = 1024
# Pieces of a stream: at least one for each of an output's 101 terms in one ciphertext.
PIECES: Final = 128
INPUTS: Final = 4
# The paper's 54 bits as two primes, with room for one mask.
SET: Final = "hestd2018_koseki_bfv_2048_rns"
COLUMNS: Final = ("Enc", "FC1", "Sum", "ACT", "FC2", "Dec", "S2B", "Total", "bytes down")


@dataclass(frozen=True)
class Mix:
    """How a network's sums are taken.

    Attributes:
        groups: streams that remain of the terms of a hidden node.
        ciphertexts: that an output fills; all of its terms if not given.
        stream_length: bits of a stream.

    """

    groups: int = INPUTS + 1
    ciphertexts: int | None = None
    stream_length: int = STREAM_LENGTH

    @property
    def name(self) -> str:
        """For a row."""
        hidden = (
            "concatenated"
            if self.groups > INPUTS
            else f"{self.groups} stream{'s' * (self.groups > 1)}"
        )
        if self.ciphertexts is None:
            outputs = "concatenated"
        else:
            outputs = f"{self.ciphertexts} ciphertext{'s' * (self.ciphertexts > 1)}"
        shorter = self.stream_length < STREAM_LENGTH
        return f"hidden {hidden}, outputs {outputs}" + f", L={self.stream_length}" * shorter

    @property
    def masks(self) -> int:
        """Products with masks, one after the other."""
        return (self.groups <= INPUTS) + (self.ciphertexts is not None)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many terms of a hidden node each group has."""
        return np.array([len(part) for part in np.array_split(np.arange(INPUTS + 1), self.groups)])

    def coefficients(self, nodes: int) -> NDArray[np.float64]:
        """Coefficients of an output's terms, the bias last; a group stands for its terms."""
        squares = np.outer(self.sizes, self.sizes).ravel()
        return np.append(np.tile(squares, nodes), 1).astype(np.float64)

    def pieces(self, nodes: int) -> NDArray[np.int64]:
        """How many of `PIECES` each term of an output keeps.

        Bits of a product near 0 have a variance near 1, whatever the weights are, which the server
        does not know.
        """
        coefficients = self.coefficients(nodes)
        if self.ciphertexts is None:
            return np.full(len(coefficients), PIECES)
        return best_pieces(coefficients**2, PIECES, self.ciphertexts)

    def streams(self, nodes: int) -> int:
        """How many streams an output fills."""
        return int(-(-self.pieces(nodes).sum() // PIECES))

    def error(self, nodes: int) -> float:
        """Root mean square, of bits that are all independent and of a variance of 1."""
        shares = self.pieces(nodes) / PIECES
        variances = self.coefficients(nodes) ** 2 / (shares * self.stream_length)
        return float(np.sqrt(np.sum(variances)))


CONCATENATED: Final = Mix()
MIXES: Final = (
    CONCATENATED,
    *(Mix(groups=groups) for groups in (4, 3, 2, 1)),
    *(Mix(ciphertexts=count) for count in (34, 17, 5, 1)),
    *(Mix(groups=2, ciphertexts=count) for count in (5, 1)),
    # As many bits in all as 34, 17 and 5 ciphertexts of 1024 bits, without masks.
    *(Mix(stream_length=length) for length in (344, 172, 52)),
)
# One of each kind.
MIXES_QUICK: Final = (
    CONCATENATED,
    Mix(groups=2),
    Mix(ciphertexts=17),
    Mix(groups=2, ciphertexts=5),
    Mix(stream_length=172),
)


def _selected(terms: EncryptedArray, sizes: NDArray[np.int64], random_state: int) -> EncryptedArray:
    """One stream for each group of the last axis, whose value is the group's mean."""
    groups = []
    for k, (first, last) in enumerate(pairwise([0, *np.cumsum(sizes)])):
        group = terms[..., first]
        if last - first > 1:
            several = terms[..., first:last]
            group = several.multiplexed_sum(axis=-1, random_state=random_state + k) / (last - first)
        groups.append(group)
    return EncryptedArray.concatenate([group[..., np.newaxis] for group in groups], axis=-1)


def evaluate(
    model: LayeredModel,
    query: list[EncryptedArray],
    mix: Mix,
    random_state: int,
    clock: Callable[[str], None] = lambda _stage: None,
) -> EncryptedArray:
    """Outputs (samples, outputs) of the network; `random_state` seeds the selections.

    `clock` is told when a stage ends.
    """
    hidden = model.hidden(query)
    clock("FC1")
    if mix == Mix(stream_length=mix.stream_length):
        squares = model.squares(hidden)
        clock("ACT")
        outputs = model.outputs(squares)
        clock("FC2")
        return outputs
    if mix.groups <= INPUTS:
        seeds = (random_state, random_state + mix.groups)
        hidden = [
            _selected(copy, mix.sizes, seed) for copy, seed in zip(hidden, seeds, strict=True)
        ]
        clock("Sum")
    first, second = hidden
    squares = first[..., :, np.newaxis] * second[..., np.newaxis, :]
    samples, nodes, groups, _ = squares.shape
    clock("ACT")
    weights = model.output_weights
    products = (
        squares.reshape(samples, 1, nodes, groups**2) * weights[np.newaxis, :, :, np.newaxis]
    ).reshape(samples, len(weights), nodes * groups**2)
    bias = model.output_bias[:, np.newaxis].broadcast_to((samples, len(weights), 1))
    terms = EncryptedArray.concatenate([products, bias], axis=-1)
    coefficients = mix.coefficients(nodes)
    if mix.ciphertexts is None:
        each = [terms[..., k] for k in range(terms.shape[-1])]
        outputs = EncryptedArray.weighted_sum(each, coefficients)
    else:
        outputs = terms.allocated_sum(
            axis=-1, coefficients=coefficients, pieces=mix.pieces(nodes), granularity=PIECES
        )
    clock("FC2")
    return outputs


class _Parties:
    """A client and a server that hold what a mix computes on."""

    def __init__(self, network: SquareNetwork, params: StreamParams, mix: Mix, seed: int) -> None:
        self._network, self._mix, self._seed = network, mix, seed
        self._secret, self._public = keygen(params)
        self._model = LayeredModel.encrypt(network, self._encryptor(COPIES, 2 * seed))

    def _encryptor(self, first_dimension: int, random_state: int) -> Encryptor:
        return Encryptor(
            self._public,
            self._mix.stream_length,
            generator="bernoulli",
            layout="one_per_block",
            first_dimension=first_dimension,
            random_state=random_state,
        )

    def outputs(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Outputs (samples, outputs)."""
        query = encrypt_query(self._network, self._encryptor(0, 2 * self._seed + 1), features)
        result = evaluate(self._model, query, self._mix, 100 * self._seed)
        return np.asarray(Decryptor(self._secret).decrypt(result))

    def run(self, features: NDArray[np.float64]) -> dict[str, float]:
        """Milliseconds of each stage."""
        encryptor = self._encryptor(0, 2 * self._seed + 1)
        clock = Stopwatch()
        query = encrypt_query(self._network, encryptor, features)
        clock("Enc")
        answer = evaluate(self._model, query, self._mix, 100 * self._seed, clock).answer(
            compact=False
        )
        counts = self._secret.counts(answer)
        clock("Dec")
        counts.separate().values()
        clock("S2B")
        self.bytes_down = len(answer.to_bytes())
        return clock.milliseconds


def _mixes(options: Options) -> tuple[Mix, ...]:
    return MIXES_QUICK if options.quick else MIXES


def _times(network: SquareNetwork, options: Options) -> dict[str, dict[str, float]]:
    """Milliseconds of each stage for one flower, and bytes of the answer."""
    features = load_split().test_features
    parties = {
        mix.name: _Parties(network, Params.preset(SET), mix, seed=0)
        for mix in _mixes(options)
        if mix.masks <= 1 and mix.stream_length == STREAM_LENGTH
    }

    def one(name: str) -> Callable[[int], Mapping[str, float]]:
        def run(number: int) -> Mapping[str, float]:
            flower = number % len(features)
            return parties[name].run(features[flower : flower + 1])

        return run

    runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in parties}
    rounds = options.track(range(2 if options.quick else 15), "times")
    work = {name: one(name) for name in parties}
    for name, stages in alternating(work, rounds, quick=options.quick):
        runs[name].append(stages)
    return {
        name: {**medians(of_name), "bytes down": parties[name].bytes_down}
        for name, of_name in runs.items()
    }


def reproduce(options: Options) -> Report:
    """Errors of every mix without encryption, times of those that the set has room for."""
    network, split = load_network(), load_split()
    exact = network.values(split.test_features)
    nodes, outputs = len(network.hidden_bias), len(network.output_bias)
    seeds = 3 if options.quick else 50
    # What encrypts nothing gives the same outputs as BFV on the same streams.
    plain = Params.insecure_plain(block_length=STREAM_LENGTH, plain_modulus=12289)
    times = _times(network, options)
    rows: list[dict[str, Any]] = []
    for mix in options.track(_mixes(options), "errors"):
        found = [
            _Parties(network, plain, mix, seed).outputs(split.test_features)
            for seed in range(seeds)
        ]
        streams = outputs * mix.streams(nodes)
        rows.append(
            {
                "candidate": mix.name,
                "masks": mix.masks,
                "ciphertexts": streams,
                "bits": streams * mix.stream_length,
                "RMSE": float(np.sqrt(np.mean(np.square(np.array(found) - exact)))),
                "predicted": mix.error(nodes),
                "accuracy": float(
                    np.mean([of.argmax(axis=1) == split.test_classes for of in found])
                ),
                **{column: times[mix.name].get(column) for column in COLUMNS if mix.name in times},
            }
        )
    first = rows[0]
    timed = [row for row in rows[1:] if "Total" in row]
    return Report(
        IDENTIFIER,
        TITLE,
        "ms",
        rows,
        ratios={
            f"{name}: {row['candidate']}": first[column] / row[column]
            for name, column in (("time", "Total"), ("bytes", "bytes down"))
            for row in timed
        },
        parameters={"set": repr(Params.preset(SET)), "seeds": seeds, "threads": 1},
        repetitions=2 if options.quick else 15,
        notes=[
            "ratios are what concatenation everywhere, the paper's way, takes over the row",
            "masks: products with masks one after the other; the paper's 54 bits have room for one",
            "predicted: of independent bits of variance 1. Its square times the bits of an answer "
            "is the same for all mixes that divide them best, and for shorter streams",
            "a stream has a ciphertext of its own, as in the paper: shorter ones save bits only "
            "where several lie side by side",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Error against the ciphertexts of an answer, with times; and the law."""
    from hesc_papers.plots import figure

    with figure(path, (9, 6)) as axes:
        whole = [row for row in report.rows if row["bits"] == row["ciphertexts"] * STREAM_LENGTH]
        kinds = {
            "hidden and outputs concatenated (the paper)": (0, "*", "black"),
            "one of both mixed": (1, "o", "tab:green"),
            "both mixed: no room at 54 bits": (2, "x", "tab:red"),
        }
        for label, (masks, marker, colour) in kinds.items():
            points = [row for row in whole if row["masks"] == masks]
            x, y = ([row[key] for row in points] for key in ("ciphertexts", "RMSE"))
            axes.scatter(x, y, marker=marker, color=colour, label=label, zorder=3)
        for row in whole:
            hidden, outputs = row["candidate"].split(", ")
            total = f", {row['Total']:.3g} ms" if "Total" in row else ""
            what = outputs if hidden == "hidden concatenated" else f"{hidden}; {outputs}"
            axes.annotate(
                f"{what}{total}",
                (row["ciphertexts"], row["RMSE"]),
                xytext=(6, 4 if row["masks"] != 1 or hidden != "hidden concatenated" else -10),
                textcoords="offset points",
                fontsize=7,
            )
        counts = np.array([3.0, 303.0])
        first = report.rows[0]
        axes.plot(
            counts,
            first["predicted"] * np.sqrt(first["ciphertexts"] / counts),
            ":",
            color="gray",
            label="as many independent bits",
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(right=3000)
        axes.set_xlabel("ciphertexts of an answer, streams of 1024 bits")
        axes.set_ylabel("root mean square error of outputs")
        axes.set_title(report.title)
        axes.grid(alpha=0.3, which="both")
        axes.legend(loc="lower left", fontsize=8)
