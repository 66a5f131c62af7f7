"""Builds a wheel, by `make wheel`: one for Python 3.11 and all later ones.

    python -m scripts.wheels.build [--target TRIPLE] [--out FOLDER] [--no-zig] [--features NAME]

Linux is linked by zig against an old libc, so that one wheel runs on every distribution since 2014
(manylinux_2_17), or on musl (musllinux_1_2). Folders of whoever builds are written into no wheel:
two builds by one toolchain are the same file, which `scripts.wheels.twice` holds.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LARGEST: Final = 15_000_000
"""Bytes; above, gates on encrypted bits would be a wheel of their own (docs/adr/0034)."""


def compatibility(target: str) -> str:
    """The oldest system that a wheel for Linux runs on."""
    return "musllinux_1_2" if "musl" in target else "manylinux_2_17"


def environment(root: Path) -> dict[str, str]:
    """Variables by which nothing of this machine gets into a wheel."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    places = {str(root): "/hesc", str(cargo): "/cargo"}
    epoch = (
        os.environ.get("SOURCE_DATE_EPOCH")
        or subprocess.run(
            ["git", "log", "-1", "--format=%ct"],
            # Not the tree that is built, which may be a copy without its history.
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    return os.environ | {
        "SOURCE_DATE_EPOCH": epoch,
        "RUSTFLAGS": " ".join(f"--remap-path-prefix={a}={b}" for a, b in places.items()),
        "CFLAGS": " ".join(f"-ffile-prefix-map={a}={b}" for a, b in places.items()),
        # maturin looks for zig beside this Python.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def build(root: Path, out: Path, target: str, features: str = "", *, zig: bool = True) -> Path:
    """Compiles and packs; gives the wheel."""
    before = set(out.glob("*.whl"))
    for wheel in before:
        wheel.unlink()
    linking = ("--zig", "--compatibility", compatibility(target)) if zig else ()
    command = [
        *("maturin", "build", "--quiet", "--release", "--locked", "--strip"),
        *("--target", target, "--target-dir", str(root / "target" / "wheel"), "--out", str(out)),
        *linking,
        *(("--features", features) if features else ()),
    ]
    subprocess.run(command, cwd=root, env=environment(root), check=True)
    (wheel,) = out.glob("*.whl")
    without_folders(wheel, root)
    return wheel


def without_folders(wheel: Path, root: Path) -> None:
    """Rewrites the list of components, in which maturin names the folder that was built in."""
    packed = wheel.with_suffix(".part")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        changed = {}
        for entry in old.infolist():
            data = old.read(entry)
            if "/sboms/" in entry.filename:
                data = data.replace(root.as_uri().encode(), b"file:///hesc")
                changed[entry.filename] = data
            if entry.filename.endswith(".dist-info/RECORD"):
                data = _recorded(data, changed)
            new.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    packed.replace(wheel)


def _recorded(record: bytes, changed: dict[str, bytes]) -> bytes:
    """The wheel's list of hashes, with those of changed files."""
    lines = []
    for line in record.decode().splitlines():
        name = line.rsplit(",", 2)[0]
        if name in changed:
            digest = base64.urlsafe_b64encode(hashlib.sha256(changed[name]).digest()).rstrip(b"=")
            line = f"{name},sha256={digest.decode()},{len(changed[name])}"  # noqa: PLW2901
        lines.append(line)
    return ("\n".join(lines) + "\n").encode()


def main() -> int:
    """Builds, and says how large the wheel is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="x86_64-unknown-linux-gnu")
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "dist")
    parser.add_argument("--features", default="")
    parser.add_argument("--no-zig", action="store_true", help="link by the system's own linker")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    wheel = build(ROOT, given.out, given.target, given.features, zig=not given.no_zig)
    size = wheel.stat().st_size
    print(f"{wheel}: {size / 1e6:.1f} MB")
    if size > LARGEST:
        print(f"larger than {LARGEST / 1e6:.0f} MB: gates want a wheel of their own")
    return int(size > LARGEST)


if __name__ == "__main__":
    sys.exit(main())
