"""`koseki2022hesc` figure 6: outlines of x^3 + x^2 + x + 1 through encryption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc_papers import encrypted_outlines

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc_papers.report import Report

IDENTIFIER: Final = "koseki2022hesc:figure-6"
TITLE: Final = "Outlines of x^3 + x^2 + x + 1, encrypted"
DEGREE: Final = 3


def reproduce(options: Options) -> Report:
    """HESC on BFV and CKKS, ours, and SEAL's CKKS if asked for."""
    return encrypted_outlines.study(IDENTIFIER, TITLE, DEGREE, options)


def plot(report: Report, path: Path) -> None:
    """A panel for each."""
    encrypted_outlines.plot(report, path)
