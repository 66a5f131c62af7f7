"""Pictures of a report: SVG that takes its colours from the page around it."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Colours that nothing else has stand for the page's, which differ in light and dark.
_INK, _QUIET, _MARK, _LAW = "#010203", "#040506", "#070809", "#0a0b0c"
_VARIABLES: Final = {
    _INK: "var(--ink)",
    _QUIET: "var(--line)",
    _MARK: "var(--mark)",
    _LAW: "var(--law)",
}
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hesc",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _QUIET,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def errors_in_order(errors: NDArray[np.float64]) -> str:
    """Every error, the smallest first, before bars of one and two stated errors around the truth.

    Args:
        errors: in units of the stated one, sorted.

    """

    def draw(axes: Any) -> None:
        for bars, alpha in ((2, 0.12), (1, 0.22)):
            axes.axhspan(-bars, bars, color=_LAW, alpha=alpha, linewidth=0)
        axes.axhline(0, color=_QUIET, linewidth=1)
        places = (np.arange(len(errors)) + 0.5) / len(errors)
        axes.plot(100 * places, errors, ".", color=_MARK, markersize=4)
        axes.set_xlim(0, 100)
        axes.set_xlabel("scores, % of all, by their error")
        axes.set_ylabel("error / stated error")

    return _svg(draw, "order", "Errors of all scores in units of the stated error, sorted")


def errors_and_law(errors: NDArray[np.float64]) -> str:
    """How often errors are of a size, and the normal law of the stated error.

    Args:
        errors: in units of the stated one.

    """

    def draw(axes: Any) -> None:
        widest = max(3.5, float(np.abs(errors).max()) * 1.05)
        bins = int(np.clip(2 * len(errors) ** (1 / 3), 8, 40))
        edges = np.linspace(-widest, widest, bins + 1)
        axes.hist(errors, bins=list(edges), density=True, color=_MARK, alpha=0.75)
        x = np.linspace(-widest, widest, 201)
        axes.plot(x, np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi), color=_LAW, linewidth=2)
        axes.set_xlabel("error / stated error")
        axes.set_ylabel("density")

    return _svg(draw, "law", "Histogram of errors and the stated normal law")


def _svg(draw: Any, name: str, label: str) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(4.8, 3.0), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        draw(axes)
        file = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Two pictures on one page have names of their own.
    for before in (' id="', "url(#", 'xlink:href="#'):
        text = text.replace(before, f"{before}{name}-")
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
