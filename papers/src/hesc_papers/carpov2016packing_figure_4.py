"""`carpov2016packing` figure 4: how long unpacking takes, for twelve prime indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hesc.packing import POWERS
from hesc_papers.carpov2016packing_figure_3 import PLAIN_MODULI
from hesc_papers.carpov2016packing_table_2 import PAPER
from hesc_papers.report import Report
from hesc_papers.unpacking import INDICES, QUICK_INDICES, Packed, params_of, timed

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "carpov2016packing:figure-4"
TITLE: Final = "Time of unpacking"

# Rotations are measured for this long in each ring, and the rest is taken to be as fast.
MOST_SECONDS: Final = 3.0
MOST_SECONDS_QUICK: Final = 0.1
# The curves, and how they are drawn.
SERIES: Final = {
    "unpack": ("unpack: all coordinates", "-o", "tab:blue"),
    "powers": ("unpack: powers of X, as the paper has it", ":o", "tab:blue"),
    "all extracts": ("extract: all coordinates, one after the other", "-s", "tab:orange"),
    "extract": ("extract: one coordinate", ":s", "tab:orange"),
    "moved": ("unpack and rotations: one message to a ciphertext", "-x", "tab:green"),
    "paper": ("paper, table 2: extraction", "--^", "tab:gray"),
    "paper moved": ("paper, table 2: extraction and rotations", "--v", "black"),
}


def _row(index: int, plain_modulus: int, *, repetitions: int, seconds: float) -> dict[str, Any]:
    """Seconds of one parameter set. All outputs are checked."""
    packed = Packed(params_of(index, plain_modulus), spreading=True)
    slots = packed.received()
    first, _ = timed(slots.unpack, 1)
    unpack, columns = timed(slots.unpack, repetitions)
    packed.check_columns(columns)
    slots.extract(0)
    extract, column = timed(lambda: slots.extract(0), repetitions)
    packed.check(column, packed.messages[:, 0])
    rotations, outputs, _ = packed.spread(columns, seconds)
    paper = PAPER.get(index) if plain_modulus == 2 else None
    powers_slots = packed.received(content=POWERS)
    powers_slots.unpack([0])
    powers, others = timed(powers_slots.unpack, 1)
    packed.check_columns(others)
    return {
        "index": index,
        "degree": packed.degree,
        "slots": packed.slots,
        "modulus": plain_modulus,
        "bits": packed.params.level_bits[-1],
        "level": f"{slots.level} to {columns[0].level}",
        "products left": packed.products_left(columns),
        "unpack": unpack,
        "first": first,
        "powers": powers,
        "extract": extract,
        "all extracts": extract * packed.degree,
        "moved": unpack + rotations,
        "from": f"{outputs} of {packed.degree}",
        "paper": None if paper is None else paper.extraction,
        "paper moved": None if paper is None else paper.rotation,
    }


def reproduce(options: Options) -> Report:
    """A row for each index and plaintext modulus."""
    indices = QUICK_INDICES if options.quick else INDICES
    repetitions = 1 if options.quick else 3
    seconds = MOST_SECONDS_QUICK if options.quick else MOST_SECONDS
    cases = [(index, modulus) for modulus in PLAIN_MODULI for index in indices]
    rows = [
        _row(index, modulus, repetitions=repetitions, seconds=seconds)
        for index, modulus in options.track(cases, "figure 4")
    ]
    ratios = {
        f"extract_over_unpack.{row['index']}.{row['modulus']}": row["all extracts"] / row["unpack"]
        for row in rows
    }
    return Report(
        IDENTIFIER,
        TITLE,
        "processor seconds",
        rows,
        ratios=ratios,
        parameters={
            "sets": {
                f"{row['index']}, t={row['modulus']}": repr(params_of(row["index"], row["modulus"]))
                for row in rows
            },
        },
        repetitions=repetitions,
        notes=[
            "processor time on one thread, from the highest level of the deepest chain that 128 "
            "bits of security allow in each ring, not from the paper's L = 5 and 10 at 80 bits; "
            "bits: its modulus; products left: as in figure 3",
            "unpack: all coordinates by the second formulation of section 4.2, in a normal basis, "
            "where the sums of products with constants are cyclic convolutions; powers: the same "
            "from powers of X, the paper's basis; first: the first call, which makes the constants "
            "(the inverted matrix) too; all extracts: the first formulation, the time of one "
            "coordinate times their number",
            "moved: unpack and the rotations that leave one message to a ciphertext; from: of how "
            "many coordinates the rotations were measured, the rest counts as fast. Every "
            "ciphertext that was made is decrypted and compared",
            "the paper's curves are missing in its text as we have it; paper and paper moved are "
            "its table 2, for t = 2 and L = 8, in HElib on another machine. It finds that more "
            "levels and t = 1024 take longer; here t = 1024 takes what its primes take",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Seconds against the index, in the paper's order; a panel for each plaintext modulus."""
    from hesc_papers.plots import figure

    with figure(path, (16, 6), (1, 2)) as axes:
        for axis, modulus in zip(axes, PLAIN_MODULI, strict=True):
            rows = [row for row in report.rows if row["modulus"] == modulus]
            for column, (label, style, colour) in SERIES.items():
                points = [(k, row[column]) for k, row in enumerate(rows) if row[column] is not None]
                if points:
                    axis.plot(
                        [x for x, _ in points],
                        [y for _, y in points],
                        style,
                        color=colour,
                        label=label,
                    )
            axis.set_xticks(
                range(len(rows)),
                [f"{row['index']} ({row['degree']})" for row in rows],
                rotation=60,
                ha="right",
            )
            axis.set_yscale("log")
            axis.set_ylabel("processor seconds, one thread")
            axis.set_title(f"{report.title}, t = {modulus}")
            axis.grid(alpha=0.3)
        axes[0].get_figure().legend(
            *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
        )
