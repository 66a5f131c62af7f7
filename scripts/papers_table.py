"""Writes the table of docs/bibliography.md: the command of all that the five papers number.

    python -m scripts.papers_table

A test holds the page against the studies.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from hesc_papers import identifiers, study
from hesc_papers.numbered import ELSEWHERE, PAPERS, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = Path(__file__).resolve().parent.parent / "docs/bibliography.md"
HEADING: Final = "## Every table, figure, algorithm and statement of the papers\n"


def _rows() -> Iterator[str]:
    yield "| paper | what | `hesc reproduce` | |"
    yield "|---|---|---|---|"
    studies = set(identifiers())
    for paper in PAPERS:
        for identifier in numbered(paper):
            what = identifier.partition(":")[2].replace("-", " ")
            if identifier in studies:
                command, words = identifier, study(identifier).TITLE
            else:
                command, words = ELSEWHERE[identifier]
            yield f"| `{paper}` | {what} | `{command}` | {words} |"


def page() -> str:
    """The page with the section that the studies make."""
    before, _, after = PAGE.read_text().partition(HEADING)
    words, _, rest = after.partition("\n| paper |")
    end = rest.partition("\n\n")[2]
    return before + HEADING + words + "\n" + "\n".join(_rows()) + "\n\n" + end


if __name__ == "__main__":
    PAGE.write_text(page())
