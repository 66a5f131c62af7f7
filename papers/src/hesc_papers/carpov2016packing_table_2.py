"""`carpov2016packing` table 2: latency and throughput of unpacking, and expansion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc.params import Params, VectorParams
from hesc_papers.report import Report
from hesc_papers.unpacking import (
    SEVEN_LEFT,
    Packed,
    bits_a_message,
    insecure_params_of,
    params_of,
    security_by_papers_count,
    timed,
)

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "carpov2016packing:table-2"
TITLE: Final = "Latency, throughput and expansion of unpacking"


class _Paper(NamedTuple):
    """A row of the paper: security, seconds, messages a minute, expansion."""

    security: str
    extraction: float
    rotation: float
    extraction_rate: float
    rotation_rate: float
    expansion: float


PAPER: Final = {
    6529: _Paper("> 80", 167.6, 1460.1, 2336.3, 268.3, 339.4),
    6553: _Paper("> 80", 225.3, 847.9, 1744.7, 463.6, 341.7),
    6679: _Paper("> 80", 434.6, 1861.0, 922.0, 215.3, 339.8),
    7487: _Paper("> 80", 749.2, 1564.0, 599.6, 287.2, 340.7),
    8101: _Paper("> 128", 202.4, 1132.5, 2400.8, 429.1, 337.3),
    8191: _Paper("> 128", 4.9, 991.5, 99366.8, 495.6, 339.6),
    8681: _Paper("> 128", 393.0, 3169.6, 1325.1, 164.3, 335.1),
    9719: _Paper("> 128", 53.8, 1582.2, 10833.9, 368.5, 339.7),
}
# What the paper's rows leave, and what ours leave at most: a lower level sends less.
PRODUCTS: Final = 7
OTHERS: Final = ("bgv_13107", "bgv_21845")
QUICK: Final = (6529, 8191)
# Rotations that take longer are measured for a part of the outputs.
MOST_SECONDS: Final = 20.0
MOST_SECONDS_QUICK: Final = 0.1
# And for a part of the messages of an output, of which the largest ring has 630.
MOST_MESSAGES_QUICK: Final = 64


def _row(
    name: str, params: VectorParams, *, repetitions: int, seconds: float, messages: int | None
) -> dict[str, Any]:
    """Both use cases of one parameter set, checked."""
    security = "128"
    if params.assurance == "insecure":
        security = f"insecure: {security_by_papers_count(params):.0f} as HElib"
    packed = Packed(params, spreading=True)
    level, left = packed.level_for(PRODUCTS)
    data = packed.upload(level)
    slots = packed.received(level)
    extraction, columns = timed(slots.unpack, repetitions)
    packed.check_columns(columns)
    rotations, outputs, _ = packed.spread(columns, seconds, messages)
    total = packed.messages.size
    return {
        "set": name,
        "slots": packed.slots,
        "degree": packed.degree,
        "security": security,
        "level": f"{level} of {len(params.levels)} to {columns[0].level}",
        "bits": params.level_bits[level - 1],
        "products left": left,
        "extraction": extraction,
        "extr.+rot.": extraction + rotations,
        "from": "all" if outputs == packed.degree else f"{outputs} of {packed.degree}",
        "extraction/s": total / extraction,
        "extr.+rot./s": total / (extraction + rotations),
        "expansion": bits_a_message(len(data), packed),
        "down": bits_a_message(packed.down(columns), packed),
    }


def _paper_row(index: int) -> dict[str, Any]:
    of = PAPER[index]
    return {
        "set": f"paper: {index}",
        "security": of.security,
        "products left": "about 7",
        "extraction": of.extraction,
        "extr.+rot.": of.rotation,
        "extraction/s": of.extraction_rate / 60,
        "extr.+rot./s": of.rotation_rate / 60,
        "expansion": of.expansion,
    }


def reproduce(options: Options) -> Report:
    """A row for each index, the paper's below it, and our own rings."""
    indices = QUICK if options.quick else tuple(PAPER)
    sets: dict[int | str, VectorParams] = {index: params_of(index, 2) for index in indices}
    if not options.quick:
        sets |= {name: Params.preset(name) for name in OTHERS}
    repetitions = 1 if options.quick else 7
    seconds = MOST_SECONDS_QUICK if options.quick else MOST_SECONDS
    messages = MOST_MESSAGES_QUICK if options.quick else None
    part = f" ({messages} messages of each at most)" if messages else ""
    rows: list[dict[str, Any]] = []
    ratios = {}
    measured: dict[str, VectorParams] = {}

    def measure(name: str, params: VectorParams) -> dict[str, Any]:
        measured[name] = params
        rows.append(_row(name, params, repetitions=repetitions, seconds=seconds, messages=messages))
        return rows[-1]

    for case, params in options.track(sets.items(), "table 2"):
        found = {"": measure(f"hesc: {case}", params)}
        if not isinstance(case, int):
            continue
        if case in (QUICK[-1:] if options.quick else SEVEN_LEFT):
            found[".seven_left"] = measure(f"hesc: {case}, seven left", insecure_params_of(case))
        rows.append(_paper_row(case))
        for suffix, row in found.items():
            ratios[f"extraction.{case}{suffix}"] = PAPER[case].extraction / row["extraction"]
            ratios[f"extraction_rotation.{case}{suffix}"] = PAPER[case].rotation / row["extr.+rot."]
    return Report(
        IDENTIFIER,
        TITLE,
        "processor seconds; messages a second; bits sent for each bit of messages",
        rows,
        ratios=ratios,
        parameters={
            "plain_modulus": 2,
            "threads": 1,
            "sets": {name: repr(params) for name, params in measured.items()},
        },
        repetitions=repetitions,
        notes=[
            "ratios are the paper's seconds over ours: HElib's BGV of its time on a machine and a "
            "number of threads that it does not name against processor time on one thread of this "
            "one, and 80 or 128 bits of security by its count against 128 by the 2024 guidelines, "
            "which leave fewer levels than the paper has",
            "seven left: the same ring with a larger modulus, which leaves seven products as the "
            "paper's does, at the security that the paper asks for (80 bits to 7487, 128 beyond) "
            "by HElib's count, 7.2 phi(m) / log2 q - 110, keys' primes among q. The guidelines of "
            "2024 count less than 128 bits",
            f"products left: in a row, each of two results of the one before, measured until one "
            f"is refused; rows whose chain leaves more than {PRODUCTS} begin at the lowest level "
            f"that leaves {PRODUCTS}. Where fewer are left, less is computed than by the paper",
            f"from: of how many outputs the rotations were measured{part}, the rest counts as "
            "fast; keys "
            "are made and constants computed before. Every ciphertext that was made is decrypted "
            "and compared",
            "expansion: the seeded upload under the secret key, at the level it is unpacked from; "
            "down: all outputs packed again at the lowest level, for which the paper has no figure",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Both latencies of every row, the paper's beside ours."""
    from hesc_papers.plots import figure

    rows = report.rows[::-1]
    with figure(path, (11, 0.5 * len(rows) + 1.6)) as axes:
        for k, (column, label) in enumerate(
            (("extraction", "extraction"), ("extr.+rot.", "extraction and rotations"))
        ):
            places = [place + 0.2 - 0.4 * k for place in range(len(rows))]
            values = [row[column] for row in rows]
            bars = axes.barh(places, values, height=0.38, label=label)
            axes.bar_label(
                bars,
                [f" {value:#.3g} s" if value < 100 else f" {value:.0f} s" for value in values],
                fontsize=8,
            )
        axes.set_yticks(range(len(rows)), [row["set"] for row in rows])
        axes.set_xscale("log")
        axes.set_xlim(right=axes.get_xlim()[1] * 4)
        axes.set_xlabel("seconds; ours of the processor, on one thread")
        axes.set_title(report.title)
        axes.get_figure().legend(loc="outside lower center", ncols=2, fontsize=8)
