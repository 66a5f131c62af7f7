"""xu2016integers, table 1: arithmetic on encrypted integers in slots, one thread.

The paper's circuits at its indices, at 128 bits of security where they have room there and below
where they have not (the paper has 80), and beside each what a plan chooses for the same function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import hesc
from hesc import CircuitError, NoiseBudgetError, _native
from hesc.gates import integers as circuits
from hesc_papers import inside_ciphertexts
from hesc_papers.clock import Clock
from hesc_papers.integer_circuits import (
    Operation,
    Slots,
    adders,
    cheapest,
    dividers,
    multipliers,
    prepare,
)
from hesc_papers.plots import figure
from hesc_papers.report import Report
from hesc_papers.xu2016integers_circuits import multiplier_by_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.gates import Circuit
    from hesc.params import VectorParams

IDENTIFIER: Final = "xu2016integers:table-1"
TITLE: Final = "Binary arithmetic on encrypted integers in slots"


@dataclass(frozen=True)
class Row:
    """A row of the table: the paper's circuit and figures, and our circuits for the same.

    Attributes:
        arithmetic: of the table.
        circuit: RCA, CLA or RCS, as the paper has it.
        bits: of each number.
        index: of the paper's ring.
        paper: its slots, levels and seconds; nothing for what it could not run.
        theirs: the paper's circuit.
        ours: circuits for the same numbers, of which a plan takes the cheapest.
        preset: the smallest set that has room for one of them.

    """

    arithmetic: str
    circuit: str
    bits: int
    index: int
    paper: tuple[int, int, float] | None
    theirs: Callable[[], Circuit]
    ours: Callable[[], list[Circuit]]
    preset: str


def _subtractors(width: int) -> list[Circuit]:
    return [
        circuits.subtractor(width, adder=adder)
        for adder in ("sklansky", "ladner_fischer", "brent_kung")
    ]


FEW: Final = "bgv_13107"
MORE: Final = "bgv_13107_circuits"
DEEP: Final = "bgv_21845_circuits"
ROWS: Final = (
    Row(
        "addition", "RCA", 16, 14351, (504, 17, 2.16),
        partial(circuits.adder, 16, adder="ripple"), partial(adders, 16), FEW,
    ),
    Row(
        "addition", "CLA", 16, 7781, (150, 7, 2.53),
        partial(circuits.adder, 16, adder="lookahead"), partial(adders, 16), FEW,
    ),
    Row(
        "addition", "CLA", 64, 13981, (600, 13, 37.69),
        partial(circuits.adder, 64, adder="lookahead"), partial(adders, 64), FEW,
    ),
    Row(
        "addition", "RCA", 64, 55831, None,
        partial(circuits.adder, 64, adder="ripple"), partial(adders, 64), FEW,
    ),
    Row(
        "subtraction", "RCS", 16, 14351, (504, 17, 2.17),
        partial(circuits.subtractor, 16, adder="ripple"), partial(_subtractors, 16), FEW,
    ),
    Row(
        "subtraction", "CLA", 16, 7781, (150, 7, 2.52),
        partial(circuits.subtractor, 16, adder="lookahead"), partial(_subtractors, 16), FEW,
    ),
    Row(
        "subtraction", "CLA", 64, 13981, (600, 13, 37.16),
        partial(circuits.subtractor, 64, adder="lookahead"), partial(_subtractors, 64), FEW,
    ),
    Row(
        "multiplication", "RCA", 8, 8191, (630, 9, 4.62),
        partial(multiplier_by_rows, 8, adder="ripple"),
        partial(multipliers, 8, 8), MORE,
    ),
    Row(
        "multiplication", "CLA", 8, 8191, None,
        partial(multiplier_by_rows, 8, adder="lookahead"),
        partial(multipliers, 8, 8), MORE,
    ),
    Row(
        "multiplication", "RCA", 16, 14351, (504, 17, 46.32),
        partial(multiplier_by_rows, 16, adder="ripple"),
        partial(multipliers, 16, 16), DEEP,
    ),
    Row(
        "multiplication", "CLA", 16, 14351, None,
        partial(multiplier_by_rows, 16, adder="lookahead"),
        partial(multipliers, 16, 16), DEEP,
    ),
    Row(
        "division", "RCA", 4, 18631, (720, 21, 14.63),
        partial(circuits.divider, 4, digit=None, adder="ripple"), partial(dividers, 4), FEW,
    ),
)  # fmt: skip
# The row of the smallest ring: the division's takes ten times as long.
QUICK: Final = (("addition", "CLA", 16),)
# Where ripple adders are measured whose own ring is beyond ours, and all adders compared.
ROOMY: Final = 13107
WIDTHS: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# Primes of a level: large ones, and one or both of two smaller ones. At most 50 bits are fastest.
LARGE: Final = 50
SMALL: Final = (34, 33)
MOST: Final = 48
# As many as adders of four bits need.
MOST_QUICK: Final = 8


def rings(index: int) -> Iterator[VectorParams]:
    """Sets in the paper's ring: that with most primes at 128 bits of security, then longer ones."""
    for assurance, counts in (
        ("guidelines2024", range(MOST, 0, -1)),
        ("insecure", range(4, MOST, 4)),
    ):
        for large in counts:
            bits = [*[LARGE] * large, *SMALL]
            try:
                yield hesc.Params.cyclotomic(
                    index, bits, [LARGE], plain_modulus=2, large=large, assurance=assurance
                )
            except hesc.SecurityError:
                continue
            except hesc.ParameterError as error:
                # The paper's index of 64-bit ripple adders: its degree is beyond ours.
                if "degree" not in str(error):
                    raise
                yield from _roomy()
                return
            if assurance == "guidelines2024":
                break


def _roomy(large: int = MOST) -> Iterator[VectorParams]:
    yield hesc.Params.cyclotomic(
        ROOMY,
        [*[LARGE] * large, *SMALL],
        [LARGE],
        plain_modulus=2,
        large=large,
        assurance="insecure",
    )


def ripples(widths: Iterable[int], large: int = MOST) -> Iterator[dict[str, Any]]:
    """Ripple adders beside the cheapest other one, on a set with room for both, as planned."""
    (params,) = _roomy(large)
    for width in widths:
        ripple = _native.SlotPlan(circuits.adder(width, adder="ripple"), params, 0)
        others = [_native.SlotPlan(circuit, params, 0) for circuit in adders(width)]
        other = min(others, key=lambda plan: plan.seconds)
        yield {
            "what": f"ripple adder {width} beside others, as planned",
            "security": params.assurance,
            "slots": params.slot_count,
            "products": ripple.products,
            "depth": ripple.depth,
            "other: products": other.products,
            "other: depth": other.depth,
            "ripple / other": ripple.seconds / other.seconds,
        }


def reproduce(options: Options) -> Report:
    """Measures on one thread; every result is decrypted and compared."""
    clock = Clock(quick=options.quick)
    sets: dict[tuple[int, ...], Slots] = {}
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    wanted = QUICK if options.quick else [(row.arithmetic, row.circuit, row.bits) for row in ROWS]
    asked = [row for row in ROWS if (row.arithmetic, row.circuit, row.bits) in wanted]
    chosen: dict[str, dict[str, Any]] = {}
    for row in options.track(asked, "table 1"):
        name = f"{row.arithmetic}.{row.circuit.lower()}{row.bits}"
        circuit = row.theirs()
        theirs = Operation(name, "", "", True, None, lambda circuit=circuit: [circuit])  # type: ignore[misc]
        what = f"{row.arithmetic} {row.bits}"
        title = f"{what}: {row.circuit}, index {row.index}"
        rows.append({"what": title} | _measured(theirs, rings(row.index), sets, clock))
        # Several of the paper's circuits compute the same function, for which one plan is chosen.
        if what not in chosen:
            ours = Operation(name, "", "", True, None, row.ours)
            preset = hesc.Params.preset(row.preset)
            chosen[what] = _measured(ours, [preset], sets, clock)
        rows.append({"what": f"{what}: chosen"} | chosen[what])
        if row.paper is not None:
            slots, levels, seconds = row.paper
            rows[-2] |= {"paper: slots": slots, "paper: levels": levels, "paper: s": seconds}
            rows[-2]["paper: ms/slot"] = 1e3 * seconds / slots
            for at, who in ((-2, "theirs"), (-1, "chosen")):
                if "ms/slot" in rows[at]:
                    ratios[f"{name}.{who}"] = 1e3 * seconds / slots / rows[at]["ms/slot"]
    planned = ripples(WIDTHS[:3], MOST_QUICK) if options.quick else ripples(WIDTHS)
    for row_of in planned:
        rows.append(row_of)
        ratios[f"ripple{row_of['what'].split()[2]}"] = row_of["ripple / other"]
    inside = inside_ciphertexts.QUICK if options.quick else inside_ciphertexts.ALL
    rows += [
        inside_ciphertexts.measured(each, clock) for each in options.track(inside, "inside one")
    ]
    return Report(
        IDENTIFIER,
        TITLE,
        "seconds, milliseconds a slot",
        rows,
        ratios=ratios,
        notes=[
            "the paper: HElib, one thread of a Core i7-4790, 80 bits of security; here 128 bits, "
            "or none where security says so. Ratios are its milliseconds a slot over ours",
            "chosen: the cheapest of our circuits, in the smallest preset that has room",
            "products have as many bits as factors, as in the paper, which could not run the "
            "ripple adder of 64 bits and states no product with lookahead adders; its ring is "
            f"beyond ours, and the adder is measured at index {ROOMY}",
            "ripple / other: predicted seconds of a ripple adder over those of the cheapest other",
            "inside one ciphertext: all bits of several numbers, the paper's future work; seconds "
            "are of a ciphertext, numbers how many it holds",
        ],
    )


def _measured(
    operation: Operation,
    params_of: Iterable[VectorParams],
    sets: dict[tuple[int, ...], Slots],
    clock: Clock,
) -> dict[str, Any]:
    """What it takes in the first set that has room, or why it cannot be."""
    refused = ""
    for params in params_of:
        try:
            # Before keys are made, which are large.
            cheapest(operation, params)
        except (CircuitError, NoiseBudgetError) as error:
            if not refused:
                refused = f"at 128 bits of security {str(error).split(':', maxsplit=1)[0]}"
            continue
        break
    else:
        return {"note": refused}
    key = tuple(params.coeff_moduli)
    if key not in sets:
        sets[key] = Slots(params)
    measured = prepare(operation, sets[key])
    timing = clock.time(measured.run)
    return {
        "security": params.assurance,
        "ring": params.ring_index,
        "bits of modulus": sum(q.bit_length() for q in params.coeff_moduli),
        "slots": params.slot_count,
        "products": measured.plan.products,
        "depth": measured.plan.depth,
        "seconds": timing.seconds,
        "ms/slot": 1e3 * timing.seconds / params.slot_count,
        "note": refused,
    }


def plot(report: Report, path: Path) -> None:
    """Milliseconds a slot, the paper's and ours."""
    rows = [row for row in report.rows if "ms/slot" in row][::-1]
    with figure(path, (9, 0.45 * len(rows) + 1.6)) as axes:
        names = [row["what"] for row in rows]
        axes.plot(
            [row["ms/slot"] for row in rows],
            names,
            "o",
            label="hesc: chosen at 128 bits, others as the table says",
        )
        stated = [row for row in rows if "paper: ms/slot" in row]
        axes.plot(
            [row["paper: ms/slot"] for row in stated],
            [row["what"] for row in stated],
            "s",
            mfc="none",
            label="the paper, 80 bits",
        )
        axes.set_xscale("log")
        axes.set_xlabel("milliseconds a slot, one thread")
        axes.set_title(report.title)
        axes.legend()
