"""Builds what the package of JavaScript has of the Rust crates: `web/built`, kept in the tree.

`make web` runs it. `web/built/sources.json` says which sources it was built from, and
`tests/test_web.py` compares: whoever changes what a client is made of builds it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
BUILT: Final = ROOT / "web/built"
SOURCES: Final = BUILT / "sources.json"
_CRATE: Final = "hesc-wasm"
_TARGET: Final = "wasm32-unknown-unknown"
_NAME: Final = "hesc_wasm"


def _manifest(crate: str) -> Any:
    return tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())


def crates() -> list[str]:
    """Crates of this tree that the module is made of."""
    found, left = set[str](), [_CRATE]
    while left:
        crate = left.pop()
        found.add(crate)
        below = [name for name in _manifest(crate)["dependencies"] if name.startswith("hesc-")]
        left += [name for name in below if name not in found]
    return sorted(found)


def _locked() -> list[Any]:
    """What others' crates these may build on, with their versions and checksums."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    found: dict[tuple[str, str], Any] = {}
    left = [_CRATE]
    while left:
        name, _, version = left.pop().partition(" ")
        for package in packages:
            key = (package["name"], package["version"])
            if key[0] == name and version in ("", key[1]) and key not in found:
                found[key] = package
                left += package.get("dependencies", [])
    return [found[key] for key in sorted(found)]


def sources() -> str:
    """SHA-256 over all that the module is built from."""
    digest = hashlib.sha256()
    for crate in crates():
        folder = ROOT / "crates" / crate
        files = [folder / "Cargo.toml", *(folder / "src").rglob("*.rs")]
        for file in sorted(files):
            data = file.read_bytes()
            name = file.relative_to(ROOT).as_posix()
            digest.update(f"{name} {len(data)}\n".encode() + data)
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())
    for part in (_locked(), workspace["workspace"], workspace["profile"]["web"]):
        digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()


def digests() -> dict[str, str]:
    """SHA-256 of the files that were built, by their names."""
    files = sorted(file for file in BUILT.iterdir() if file != SOURCES)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _remapped() -> str:
    """Options of the compiler after which no path of this machine is in what it makes."""
    home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    paths = {home: "cargo", ROOT: "hesc"}
    return " ".join(f"--remap-path-prefix={path}={name}" for path, name in paths.items())


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """What a command says, which succeeds."""
    done = subprocess.run(  # noqa: S603 - our own commands
        command,
        check=True,
        cwd=ROOT,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def build(bindgen: str) -> None:
    """The module, and the files that say what it was built from."""
    before = sources()
    cargo = ["cargo", "build", "--locked", "--profile", "web", "--package", _CRATE, "--lib"]
    _run([*cargo, "--target", _TARGET], {"RUSTFLAGS": _remapped()})
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    BUILT.mkdir(parents=True, exist_ok=True)
    for file in BUILT.iterdir():
        file.unlink()
    names = ["--remove-name-section", "--remove-producers-section"]
    wasm = target / _TARGET / "web" / f"{_NAME}.wasm"
    _run([bindgen, "--target", "web", *names, "--out-dir", str(BUILT), str(wasm)])
    module = hashlib.sha256((BUILT / f"{_NAME}_bg.wasm").read_bytes()).hexdigest()
    (BUILT / "digest.js").write_text(
        f'/** SHA-256 of the module: another one is not started. */\nexport default "{module}";\n'
    )
    said = {"sources": before, "compiler": _run(["rustc", "--version"]), "files": digests()}
    SOURCES.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    build(sys.argv[1])
