"""docs/bibliography.md: all that the papers number has a command, and what is cited is listed."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from scripts import papers_table

from hesc_papers import identifiers
from hesc_papers.numbered import ELSEWHERE, PAPERS, numbered

ROOT = Path(__file__).parents[1]
FOLDERS = ("python", "crates", "papers", "docs", "tests", "scripts", "examples")
SUFFIXES = {".py", ".rs", ".md"}


def _plain(text: str) -> str:
    """Without accents, which not every comment has."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _texts() -> str:
    """All that may cite, without the page itself, in one line and without comment signs."""
    files = [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES
        and path.name not in {papers_table.PAGE.name, Path(__file__).name}
    ]
    text = _plain("\n\n".join(path.read_text() for path in [*files, *sorted(ROOT.glob("*.md"))]))
    return re.sub(r"[ \t]*\n[ \t]*(?://[/!]?|#)?[ \t]*", " ", text)


TEXTS = _texts()
# A line for each entry.
PAGE = _plain(papers_table.PAGE.read_text()).replace("\n  ", " ")
NAME = r"[A-Z][\w'-]+"
# First author, year and title.
ENTRIES = re.findall(rf"^- (?:De )?({NAME})[^\d*]* (\d{{4}})\. \*([^*]*)\*", PAGE, re.MULTILINE)
# Two names before a year are authors; a single one may be a month, a conference or a standard.
CITED = re.compile(rf"({NAME}),? and (?:others|{NAME}) \(?(\d{{4}})\b")


def test_all_that_papers_number_has_a_command() -> None:
    """As a study of its own, or with the reason why it has none."""
    studies = {identifier for identifier in identifiers() if not identifier.startswith("hesc:")}
    wanted = {identifier for paper in PAPERS for identifier in numbered(paper)}
    assert wanted - studies == set(ELSEWHERE)
    assert studies <= wanted
    assert {elsewhere.study for elsewhere in ELSEWHERE.values()} <= studies
    assert all(elsewhere.why for elsewhere in ELSEWHERE.values())


def test_papers_number_what_was_counted() -> None:
    """In their texts: 19, 25, 5, 8 and 6."""
    assert [len(list(numbered(paper))) for paper in PAPERS] == [19, 25, 5, 8, 6]


def test_the_page_is_what_the_studies_say() -> None:
    assert papers_table.PAGE.read_text() == papers_table.page(), (
        "run python -m scripts.papers_table"
    )


def test_what_is_cited_is_listed() -> None:
    cited = set(CITED.findall(TEXTS))
    assert len(cited) >= 40
    for name, year in sorted(cited):
        assert re.search(rf"^- .*\b{name}\b.*{year}", PAGE, re.MULTILINE), (name, year)


def test_what_is_listed_is_cited() -> None:
    """By author and year, or by its title."""
    assert len(ENTRIES) >= 70
    texts = TEXTS.lower()
    for name, year, title in ENTRIES:
        by_author = re.search(rf"{name}\b[^.;]{{0,70}}\b{year}", TEXTS)
        assert by_author or title.lower() in texts, (name, year)
