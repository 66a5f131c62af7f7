"""`babenko2020ckksbfv` tables 2 to 13: BFV, BGV and CKKS operation by operation, beside peers."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Final

from hesc._support.stages import medians
from hesc_papers import lattigo_peer
from hesc_papers.babenko2020ckksbfv_figures import TABLES
from hesc_papers.report import Report, alternating
from hesc_papers.vector_operations import (
    LENGTHS,
    OPERATIONS,
    Ours,
    Seal,
    TwoThreads,
    our_params,
    seals_params,
    timed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from hesc._support.studies import Options

SCHEMES: Final = ("ckks", "bfv", "bgv")
LOG_DEGREES: Final = (12, 13, 14, 15)
OURS, SEALS_PRIMES, SEAL = "hesc", "hesc, SEAL's primes", "SEAL"
LATTIGO, LATTIGO_SEALS = "Lattigo", "Lattigo, SEAL's primes"
PEERS: Final = ("seal", "lattigo")
MODULO_Q: Final = "hesc, plaintext modulo q"
_WHAT: Final = {
    "encode": "Encoding",
    "decode": "Decoding",
    "encrypt_secret": "Encryption with the secret key",
    "encrypt_public": "Encryption with the public key",
    "decrypt": "Decryption",
    "add": "Addition",
    "multiply_scalar": "Multiplication by a scalar",
    "multiply": "Multiplication",
    "relinearise": "Relinearisation",
    "rotate": "Key switching",
}
# Operations for which two threads were asked for, and from which ring degree on.
_THREADED: Final = {"multiply", "relinearise", "rotate"}
_THREADED_FROM: Final = 13


def _row(name: str, log_degree: int, values: Mapping[str, float]) -> dict[str, Any]:
    return {
        "candidate": f"{name}, log N = {log_degree}",
        **{str(n): values[str(n)] for n in LENGTHS},
    }


def _paper_rows(table: int, factor: float) -> list[dict[str, Any]]:
    return [
        _row(
            f"paper: {scheme}",
            log_degree,
            {str(n): value * factor for n, value in zip(LENGTHS, row, strict=True)},
        )
        for scheme, rows in TABLES[table].items()
        for log_degree, row in zip(LOG_DEGREES, rows, strict=True)
    ]


def _degrees(options: Options) -> tuple[int, ...]:
    """A look takes the two smaller sets."""
    return LOG_DEGREES[:2] if options.quick else LOG_DEGREES


def _worst(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """The largest ratio among the lengths."""
    return max(a[str(n)] / b[str(n)] for n in LENGTHS)


class OperationTable:
    """One of tables 2 to 11: the time of one operation."""

    PEERS: Final = PEERS

    def __init__(self, table: int) -> None:
        self._table = table
        self._operation = OPERATIONS[table - 2]
        self.TITLE = f"{_WHAT[self._operation]}, vectors of 128 to 2048 numbers"

    def reproduce(self, options: Options) -> Report:
        """Measures every scheme at every parameter set."""
        repetitions = 3 if options.quick else 9
        rows: list[dict[str, Any]] = []
        ratios: dict[str, float] = {}
        sets = [(scheme, log_degree) for scheme in SCHEMES for log_degree in _degrees(options)]
        two = TwoThreads(self._operation) if self._operation in _THREADED else None
        for scheme, log_degree in options.track(sets, "measuring"):
            times = self._measure(scheme, log_degree, options, repetitions)
            rows += [_row(f"{name}: {scheme}", log_degree, of) for name, of in times.items()]
            key = f"{scheme}.{log_degree}"
            for name, other, suffix in (
                (OURS, SEAL, ""),
                (SEALS_PRIMES, SEAL, ".seals_primes"),
                (OURS, LATTIGO, ".vs_lattigo"),
                (SEALS_PRIMES, LATTIGO_SEALS, ".seals_primes.vs_lattigo"),
            ):
                if other in times:
                    ratios[key + suffix] = _worst(times[name], times[other])
            if two is not None and log_degree >= _THREADED_FROM:
                ratios[f"{key}.two_threads"] = self._speedup(
                    two, scheme, log_degree, repetitions, quick=options.quick
                )
        if two is not None:
            two.close()
        return Report(
            f"babenko2020ckksbfv:table-{self._table}",
            self.TITLE,
            "µs",
            rows + _paper_rows(self._table, 1e-3),
            ratios=ratios,
            parameters={
                "sets": {
                    f"{name}.{scheme}.{d}": make(scheme, 1 << d).coeff_moduli
                    + make(scheme, 1 << d).special_moduli
                    for name, make in (("hesc", our_params), ("seals_primes", seals_params))
                    for scheme in ("bfv", "ckks")
                    for d in LOG_DEGREES
                },
                "threads": 1,
            },
            repetitions=repetitions,
            notes=_notes(self._operation, options.peers),
        )

    def _calls(self, candidate: Ours | Seal) -> Callable[[int], Mapping[str, float]]:
        calls = {str(n): candidate.operation(self._operation, n) for n in LENGTHS}
        return lambda _number: timed(calls)

    def _measure(
        self, scheme: str, log_degree: int, options: Options, repetitions: int
    ) -> dict[str, dict[str, float]]:
        degree = 1 << log_degree
        ours, seals = our_params(scheme, degree), seals_params(scheme, degree)
        candidates = {OURS: self._calls(Ours(ours)), SEALS_PRIMES: self._calls(Ours(seals))}
        if "seal" in options.peers:
            candidates[SEAL] = self._calls(Seal(scheme, degree))
        with ExitStack() as opened:
            if "lattigo" in options.peers:
                for name, params in ((LATTIGO, ours), (LATTIGO_SEALS, seals)):
                    peer = lattigo_peer.Lattigo(params, self._operation, LENGTHS)
                    candidates[name] = opened.enter_context(closing(peer)).run
            runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in candidates}
            turns = alternating(candidates, range(repetitions), quick=options.quick)
            for name, run in turns:
                runs[name].append(run)
        return {name: medians(of_name) for name, of_name in runs.items()}

    def _speedup(
        self, two: TwoThreads, scheme: str, log_degree: int, repetitions: int, *, quick: bool
    ) -> float:
        """One thread's time over two threads'."""
        call = Ours(our_params(scheme, 1 << log_degree)).operation(self._operation, LENGTHS[-1])
        work: dict[str, Callable[[int], Mapping[str, float]]] = {
            "one": lambda _number: timed({"": call}, time.perf_counter),
            "two": lambda _number: {"": two.run(scheme, 1 << log_degree)},
        }
        runs: dict[str, list[Mapping[str, float]]] = {"one": [], "two": []}
        for name, run in alternating(work, range(repetitions), quick=quick):
            runs[name].append(run)
        return medians(runs["one"])[""] / medians(runs["two"])[""]

    def plot(self, report: Report, path: Path) -> None:
        """Time against the parameter set, as the paper's figures draw it."""
        _plot(report, path)


def _notes(operation: str, peers: Sequence[str]) -> list[str]:
    notes = [
        "times are the processor's, on one thread; ratios are hesc's over the peer's, the worst of "
        "the five lengths; `two_threads` is one thread's time over two threads', by the clock",
        "hesc's own chains have as many special primes as the paper's library (1, 1, 2, 3), hence "
        "at log N = 14 and 15 a smaller modulus of ciphertexts than SEAL; `seals_primes` has "
        "SEAL's sizes of primes, all but one of them in ciphertexts",
        "the paper's own figures are from another machine and library",
    ]
    if operation == "rotate":
        notes.append("key switching is measured as a rotation, which is what SEAL offers")
    if operation == "multiply_scalar":
        notes.append("SEAL multiplies with a constant plaintext; it has no product with a scalar")
    if "lattigo" in peers:
        notes += lattigo_peer.NOTES
    return notes


class RedundancyTable:
    """Table 12 or 13: sizes of plaintexts and ciphertexts."""

    PEERS: Final = PEERS

    def __init__(self, table: int) -> None:
        self._table = table
        self.TITLE = (
            "Redundancy of a plaintext: its bits for each bit of the vector"
            if table == 12
            else "Redundancy of a ciphertext: its bits for each bit of the plaintext"
        )

    def _of(self, sizes: tuple[int, int, int], scheme: str, length: int) -> float:
        plain, cipher, _ = sizes
        number = 16 if scheme == "ckks" else 8
        return plain / (number * length) if self._table == 12 else cipher / plain

    def reproduce(self, options: Options) -> Report:
        """Counts the bytes of every scheme at every parameter set."""
        rows: list[dict[str, Any]] = []
        ratios: dict[str, float] = {}
        sets = [(scheme, log_degree) for scheme in SCHEMES for log_degree in _degrees(options)]
        for scheme, log_degree in options.track(sets, "counting"):
            params = our_params(scheme, 1 << log_degree)
            ours = Ours(params)
            sizes: dict[str, Callable[[int], tuple[int, int, int]]] = {OURS: ours.sizes}
            if "seal" in options.peers:
                sizes[SEAL] = Seal(scheme, 1 << log_degree).sizes
            if "lattigo" in options.peers:
                with closing(lattigo_peer.Lattigo(params, "encode", LENGTHS)) as peer:
                    sizes[LATTIGO] = peer.sizes
            found = {
                name: {str(n): self._of(size(n), scheme, n) for n in LENGTHS}
                for name, size in sizes.items()
            }
            rows += [_row(f"{name}: {scheme}", log_degree, of) for name, of in found.items()]
            # As the paper's library holds it: a plaintext is a polynomial modulo all primes.
            words = len(params.coeff_moduli) * params.ring_degree * 8
            _, cipher, _ = ours.sizes(LENGTHS[0])
            rows.append(
                _row(
                    f"{MODULO_Q}: {scheme}",
                    log_degree,
                    {str(n): self._of((words, cipher, 0), scheme, n) for n in LENGTHS},
                )
            )
            for other, suffix in ((SEAL, ""), (LATTIGO, ".vs_lattigo")):
                if other in found:
                    ratios[f"{scheme}.{log_degree}{suffix}"] = _worst(found[OURS], found[other])
        return Report(
            f"babenko2020ckksbfv:table-{self._table}",
            self.TITLE,
            "bits a bit",
            rows + _paper_rows(self._table, 1.0),
            ratios=ratios,
            notes=[
                "the paper's SNR is a ratio of sizes (section 4.2: 'redundancy'), not of signal to "
                "noise. Read here: table 12 is bits of the plaintext over bits of the "
                "vector (64 for an integer, 128 for a complex number), table 13 bits of the "
                "ciphertext over bits of the plaintext",
                "so read, its table 12 for BFV is 79, 165, 333 and 710 bits for each of N "
                "coefficients, whatever the vector: a polynomial modulo q without the primes of "
                "keys; for CKKS 67, 67, 88 and 88. Its table 13 for BFV is then nearly 2. The "
                "rows 'plaintext modulo q' show both trends; hesc and SEAL keep plaintexts of BFV "
                "and BGV modulo t, in N words",
                "its first column of table 12 for CKKS is 16 times too small to fit its others",
                "ratios are hesc's redundancy over the peer's: in bytes as all hold or write them; "
                "Lattigo's plaintexts are polynomials modulo q in all three schemes",
            ],
        )

    def plot(self, report: Report, path: Path) -> None:
        """Redundancy against the length of the vector: the shape of each row of the table."""
        from matplotlib.ticker import LogFormatter

        from hesc_papers.plots import figure

        colours = dict(
            zip(LOG_DEGREES, ("tab:blue", "tab:orange", "tab:green", "tab:red"), strict=True)
        )
        styles = {"paper": ":^", OURS: "-o", MODULO_Q: "-.x", SEAL: "--s", LATTIGO: "--d"}
        places = dict(zip(styles, range(-2, 3), strict=True))
        with figure(path, (15, 5.5), (1, len(SCHEMES))) as axes:
            for axis, scheme in zip(axes, SCHEMES, strict=True):
                for row in report.rows:
                    library, of_scheme, log_degree = _named(row)
                    if of_scheme == scheme:
                        axis.plot(
                            # Beside each other: many curves are the same.
                            [length * 2 ** (0.09 * places[library]) for length in LENGTHS],
                            [row[str(length)] for length in LENGTHS],
                            styles[library],
                            color=colours[log_degree],
                            mfc="none",
                            # One inside the other, where they are the same.
                            ms=4 + 2 * (LOG_DEGREES[-1] - log_degree),
                            lw=1.2,
                        )
                axis.set_xscale("log", base=2)
                axis.set_xlabel("numbers in the vector, curves side by side")
                axis.set_yscale("log")
                for plain in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
                    plain(LogFormatter(minor_thresholds=(2, 0.5)))
                axis.set_title(scheme.upper())
            # Curves of equal libraries and of equal sets look alike in every panel.
            for library, style in styles.items():
                axes[0].plot([], [], style, color="black", mfc="none", label=library)
            for log_degree, colour in colours.items():
                axes[0].plot([], [], color=colour, label=f"log N = {log_degree}")
            _finish(axes, "bits for each bit", report.title)


def _named(row: Mapping[str, Any]) -> tuple[str, str, int]:
    """Whose row it is, of which scheme and set."""
    name, _, log_degree = row["candidate"].rpartition(", log N = ")
    library, _, scheme = name.rpartition(": ")
    return library, scheme, int(log_degree)


def _finish(axes: Any, what: str, title: str) -> None:
    """One scale for all panels, and one legend below them for the curves of the first."""
    for axis in axes:
        axis.grid(alpha=0.3)
    low, high = zip(*(axis.get_ylim() for axis in axes), strict=True)
    for axis in axes:
        axis.set_ylim(min(low), max(high))
    axes[0].set_ylabel(what)
    drawing = axes[0].get_figure()
    drawing.suptitle(title)
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8)


def _plot(report: Report, path: Path) -> None:
    from hesc_papers.plots import figure

    # A colour for a library; its curve at SEAL's primes is dashed, with open markers.
    colours = {OURS: "tab:green", SEAL: "tab:blue", LATTIGO: "tab:orange", "paper": "dimgray"}
    styles = {
        OURS: "-o",
        SEALS_PRIMES: "--o",
        SEAL: "--s",
        LATTIGO: "-d",
        LATTIGO_SEALS: "--d",
        "paper": ":^",
    }
    named = [(row, *_named(row)) for row in report.rows]
    libraries = [name for name in styles if any(name == library for _, library, *_ in named)]
    with figure(path, (15, 5.5), (1, len(SCHEMES))) as axes:
        for axis, scheme in zip(axes, SCHEMES, strict=True):
            for place, name in enumerate(libraries):
                curve = [
                    (log_degree, row[str(LENGTHS[-1])])
                    for row, library, of_scheme, log_degree in named
                    if (library, of_scheme) == (name, scheme)
                ]
                # Beside each other: many curves are the same.
                aside = 0.04 * (place - (len(libraries) - 1) / 2)
                axis.plot(
                    [log_degree + aside for log_degree, _ in curve],
                    [microseconds for _, microseconds in curve],
                    styles[name],
                    color=colours[name.split(",")[0]],
                    mfc="none" if styles[name].startswith("--") else None,
                    label=name,
                )
            axis.set_xticks(LOG_DEGREES)
            axis.set_yscale("log")
            axis.set_xlabel("log2 of the ring degree, curves side by side")
            axis.set_title(scheme.upper())
        _finish(axes, "microseconds", f"{report.title}; drawn: vectors of {LENGTHS[-1]} numbers")


STUDIES: Final[dict[str, OperationTable | RedundancyTable]] = {
    **{f"table-{table}": OperationTable(table) for table in range(2, 12)},
    **{f"table-{table}": RedundancyTable(table) for table in (12, 13)},
}
