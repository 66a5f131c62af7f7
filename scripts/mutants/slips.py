"""Lists of slips, and how they are put into a copy of the code."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# The variable that switches a slip on, by its number.
SWITCH = "HESC_SLIP"
# The variable that names a file: each slip whose place is reached writes its number there.
REACHED = "HESC_SLIPS_REACHED"
FIELDS = {"name", "file", "old", "followed_by", "new", "harmless", "python"}
# Where crates lie in the copy: in folders of the same name cargo would take them for ours.
CRATES = "slipped/"
# What stands as a statement without a semicolon, and as an expression without brackets.
BLOCK = re.compile(r"(if|for|while|loop|match|let)\b")


@dataclass(frozen=True)
class Slip:
    """A plausible mistake: text of one file, and what a tired engineer would have written."""

    area: str
    name: str
    file: str
    old: str
    # What stands behind that text, where the text alone is there more than once.
    followed_by: str
    new: str
    # Why it changes nothing that matters; none if a test must notice it.
    harmless: str | None
    # Whether Python's tests are asked, whatever language the slip is in.
    python: bool

    @property
    def place(self) -> str:
        """What is once in the file and begins with the text."""
        return self.old + self.followed_by

    @property
    def rust(self) -> bool:
        """Whether the slip is in Rust, hence compiled in behind a switch."""
        return self.file.endswith(".rs")


def read(path: Path) -> list[Slip]:
    """The slips of one list, each checked against the code as it is.

    Raises `ValueError` where the code has moved on: text that is not there, or there twice.
    """
    found = []
    for entry in tomllib.loads(path.read_text())["slip"]:
        slip = of_entry(path.stem, entry)
        count = (ROOT / slip.file).read_text().count(slip.place)
        if count != 1:
            raise ValueError(
                f"{path.name}, {slip.name!r}: its old text is {count} times in {slip.file}"
            )
        found.append(slip)
    return found


def of_entry(area: str, entry: dict[str, Any]) -> Slip:
    """A slip from its table of a list."""
    unknown = set(entry) - FIELDS
    if unknown or not {"name", "file", "old", "new"} <= set(entry):
        raise ValueError(
            f"{area}: {entry.get('name')!r} needs name, file, old, new; has {sorted(entry)}"
        )
    if entry["old"].strip() == entry["new"].strip():
        raise ValueError(f"{area}: {entry['name']!r} changes nothing")
    cut = any(
        entry[side].count(opening) != entry[side].count(closing)
        for side in ("old", "new")
        for opening, closing in (("{", "}"), ("(", ")"), ("[", "]"))
    )
    if entry["file"].endswith(".rs") and (cut or entry["old"].lstrip().startswith("let ")):
        raise ValueError(
            f"{area}: {entry['name']!r} cuts a block in two or names something for what follows; "
            "a switch around it does not compile"
        )
    python = entry.get("python", not entry["file"].endswith(".rs"))
    return Slip(
        area=area,
        name=entry["name"],
        file=entry["file"],
        old=entry["old"].strip("\n"),
        followed_by=entry.get("followed_by", ""),
        new=entry["new"].strip("\n"),
        harmless=entry.get("harmless"),
        python=python,
    )


def read_all(lists: list[Path]) -> list[Slip]:
    """The slips of several lists; their names are unique."""
    slips = [slip for path in lists for slip in read(path)]
    names = [slip.name for slip in slips]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two slips of one name: {sorted(twice)}")
    return slips


def switched(slip: Slip, number: int) -> str:
    """Rust that does what the code does, or what the slip does where it is switched on."""
    flag = (
        "{ static ON: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| { "
        f'if let Ok(file) = std::env::var("{REACHED}") {{ let _ = std::io::Write::write_all('
        "&mut std::fs::OpenOptions::new().append(true).open(file).unwrap(), "
        f'b"{number}\\n"); }} '
        f'std::env::var("{SWITCH}").is_ok_and(|on| on == "{number}") }}); *ON }}'
    )
    choice = f"if {flag} {{ {slip.new} }} else {{ {slip.old} }}"
    statement = slip.old.rstrip().endswith(";") or BLOCK.match(slip.old.lstrip())
    return choice if statement else f"({choice})"


def all_switched(slips: list[Slip]) -> dict[str, str]:
    """The text of each Rust file that has slips, every one of them behind its switch.

    Raises:
        ValueError: two slips that share a place.

    """
    texts: dict[str, str] = {}
    by_file: defaultdict[str, list[tuple[int, Slip]]] = defaultdict(list)
    for number, slip in enumerate(slips):
        if slip.rust:
            by_file[slip.file].append((number, slip))
    for file, of_file in by_file.items():
        text = (ROOT / file).read_text()
        # From the end, so that places found before stay where they are.
        for number, slip in sorted(of_file, key=lambda item: -text.index(item[1].place)):
            if texts.get(file, text).count(slip.place) != 1:
                raise ValueError(f"{slip.name!r} overlaps another slip of {file}")
            switch = switched(slip, number) + slip.followed_by
            texts[file] = texts.get(file, text).replace(slip.place, switch)
    return texts


def write_tree(tree: Path, slips: list[Slip]) -> None:
    """A copy of the tree, every Rust slip behind its switch; files that are the same stay."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    texts = all_switched(slips)
    kept = set()
    for file in listed.stdout.splitlines():
        source, copy = ROOT / file, tree / re.sub("^crates/", CRATES, file)
        if not source.is_file():
            continue
        kept.add(copy)
        data = texts[file].encode() if file in texts else source.read_bytes()
        if file == "Cargo.toml":
            data = data.replace(b"crates/", CRATES.encode())
        if not copy.exists() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
    for copy in tree.rglob("*"):
        if copy.is_file() and copy not in kept and copy.suffix in {".rs", ".py", ".toml"}:
            copy.unlink()
