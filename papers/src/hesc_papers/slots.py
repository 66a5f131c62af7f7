"""`hesc:slots`: how the slots of rings of odd index lie, and a picture of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import hesc
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.params import VectorParams

IDENTIFIER: Final = "hesc:slots"
TITLE: Final = "Slots of rings of odd index"

PRESETS: Final = ("bgv_4369", "bgv_13107", "bgv_21845", "bgv_65535", "bgv_8191", "bgv_6529")
# Small enough to draw every coordinate: eight times two slots of eight.
DRAWN: Final = 255


def _row(params: VectorParams) -> dict[str, Any]:
    degree = params.slot_degree or 1
    return {
        "index": params.ring_index,
        "degree": params.ring_degree,
        "slots": params.slot_count,
        "coordinates": degree,
        "dimensions": " x ".join(str(dimension.length) for dimension in params.dimensions),
        "twists": ", ".join(str(dimension.twist) for dimension in params.dimensions),
        "generators": ", ".join(str(dimension.generator) for dimension in params.dimensions),
    }


def _drawn() -> VectorParams:
    found: VectorParams = hesc.Params.cyclotomic(DRAWN, [45], [50], assurance="insecure")
    return found


def reproduce(options: Options) -> Report:
    """Counts; nothing is timed."""
    names = PRESETS[:2] if options.quick else PRESETS
    sets = [_drawn(), *map(hesc.Params.preset, names)]
    return Report(
        IDENTIFIER,
        TITLE,
        "plaintext modulus 2",
        [_row(params) for params in options.track(sets, "slots")],
        notes=[
            "a slot's value has so many coordinates; slots rotate along dimensions; what "
            "comes around one has its coordinates moved on by the twist, which numbers do not "
            "notice",
            f"the picture is of index {DRAWN}",
        ],
    )


def plot(_report: Report, path: Path) -> None:
    """Every coordinate of every slot, and what the automorphisms do to them."""
    from matplotlib.patches import FancyArrowPatch, Rectangle

    from hesc_papers.plots import figure

    params = _drawn()
    first, second = params.dimensions
    degree = params.slot_degree or 1
    with figure(path, (10.5, 3.2)) as axes:

        def arrow(
            start: tuple[float, float], end: tuple[float, float], bend: float, c: str
        ) -> None:
            axes.add_patch(
                FancyArrowPatch(
                    start,
                    end,
                    connectionstyle=f"arc3,rad={bend}",
                    arrowstyle="-|>",
                    mutation_scale=13,
                    color=c,
                )
            )

        width = degree + 2.0
        for i in range(first.length):
            for j in range(second.length):
                left, bottom = i * width, -j * 6.0
                axes.text(left, bottom + 1.25, f"slot {i * second.length + j}", fontsize=8)
                for k in range(degree):
                    shade = 0.92 - 0.5 * k / degree
                    axes.add_patch(
                        Rectangle((left + k, bottom), 1, 1, fc=str(shade), ec="black", lw=0.6)
                    )
        for i in range(first.length - 1):
            arrow(((i + 1) * width + 2, 2.1), (i * width + 5, 2.1), 0.25, "tab:blue")
        axes.text(
            0,
            4.3,
            f"rotation along dimension 0, X to X^{first.generator}: slot i takes the value of slot "
            f"i + {second.length}",
            color="tab:blue",
            fontsize=9,
        )
        end = (first.length - 1) * width + 4
        arrow((4, -7.0), (end, -7.0), 0.06, "tab:red")
        axes.text(
            end / 2,
            -11.6,
            f"what comes around has its coordinates moved on by {first.twist}",
            color="tab:red",
            fontsize=9,
            ha="center",
        )
        arrow((end + 4.6, -5.0), (end + 4.6, 0.4), 0.4, "tab:green")
        axes.text(
            end + 6.4,
            -1.4,
            f"dimension 1,\nX to X^{second.generator}",
            color="tab:green",
            fontsize=9,
            va="top",
        )
        arrow((0.5, -0.2), (1.6, -0.2), 1.1, "tab:purple")
        axes.text(2.4, -2.0, "Frobenius map, X to X^2", color="tab:purple", fontsize=9)
        axes.set_xlim(-1, first.length * width + 8)
        axes.set_ylim(-12.5, 5.8)
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_title(
            f"{params.slot_count} slots of {degree} bits each: index {params.ring_index}, degree "
            f"{params.ring_degree}"
        )
