"""`hesc doctor`."""

from __future__ import annotations

import os
import platform
import sys
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from hesc import _native
from hesc._support import extras
from hesc._support.memory import free_memory, machine_memory
from hesc._support.processor import processor
from hesc.cli.terminal import check_outputs, write_text

_PACKAGES: Final = ("hesc", "numpy", "scikit-learn")
_LITTLE: Final = 1 << 31
"""Bytes; with less, keys of deep circuits do not fit."""
_LICENCES: Final = (
    "Gates are computed by tfhe and transforms by tfhe-ntt (Zama), under BSD-3-Clause-Clear, which "
    "grants no patent rights. docs/install.md has more; the texts lie beside hesc's metadata."
)


def doctor(
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write figures to this new file, - for stdout.")
    ] = None,
) -> None:
    """Says what hesc runs on, tests every scheme in seconds, and names what would be faster.

    Exit status 1 if a test fails.

    Example: hesc doctor --json -
    """
    import json

    # The tests play client and server in one; a command that only serves loads no keys.
    from hesc.cli import self_tests

    check_outputs({}, json_file)
    console = Console(stderr=True)
    found = _surroundings()
    found["gates"] = self_tests.has_gates()
    found["faster"] = _faster(found)
    tests = list(
        track(
            self_tests.run(),
            description="testing every scheme",
            total=len(self_tests.SCHEMES),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
    )
    failed = any(test.error for test in tests)
    found["self_tests"] = [
        {
            "scheme": test.scheme,
            "status": "failed" if test.error else "left out" if test.left_out else "ok",
            "seconds": round(test.seconds, 4),
            "error": test.error,
        }
        for test in tests
    ]
    found["licences"] = _LICENCES
    write_text(json_file, json.dumps(found, indent=1) + "\n")
    if json_file != "-":
        _show(found, Console())
    if failed:
        raise typer.Exit(1)


def _surroundings() -> dict[str, Any]:
    """What hesc runs on."""
    from hesc.planner.calibration import cache_file, own_threads

    threads = own_threads()
    stored = cache_file(threads)
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "kernels": _native.kernels(),
        "fewer_kernels": bool(os.environ.get("HESC_KERNELS")),
        "threads": threads,
        "processors": os.cpu_count() or 1,
        "memory_bytes": _known(machine_memory()),
        "free_memory_bytes": _known(free_memory()),
        "python": platform.python_version(),
        "packages": {name: extras.installed(name) for name in _PACKAGES},
        "extras": {
            name: {"missing": extras.missing(name), "install": extras.install_line(name)}
            for name in extras.extras()
        },
        "calibrated": stored is not None and stored.is_file(),
    }


def _known(count: int) -> int | None:
    """A number of bytes, None where the system does not say it."""
    return None if count >= sys.maxsize else count


def _faster(found: dict[str, Any]) -> list[str]:
    """What would be faster, or possible, and how."""
    said = []
    if found["fewer_kernels"]:
        said.append(
            f"kernels: the environment variable HESC_KERNELS asks for {found['kernels']}; unset it "
            "for the best that the processor has"
        )
    elif found["kernels"] == "portable" and platform.machine() in {"x86_64", "AMD64"}:
        said.append("kernels: a processor with AVX2 or AVX-512 is several times as fast")
    elif found["kernels"] == "avx2":
        said.append("kernels: a processor with AVX-512 is faster")
    if found["threads"] < found["processors"]:
        said.append(
            f"threads: {found['threads']} of {found['processors']}; RAYON_NUM_THREADS or the "
            "affinity of this process says so"
        )
    if not found["calibrated"]:
        said.append(
            "planner: times are of another machine; measure this one by "
            f"hesc calibrate --threads {found['threads']}"
        )
    free = found["free_memory_bytes"]
    if free is not None and free < _LITTLE:
        said.append(f"memory: {free / 1e9:.2g} GB are free; deep circuits take several")
    if not found["gates"]:
        said.append("gates: left out of this build; install a wheel, or build by make setup")
    return said


def _show(found: dict[str, Any], console: Console) -> None:
    """Lines and a table for the terminal."""
    lines = {
        "system": f"{found['system']}, Python {found['python']}",
        "processor": found["processor"],
        "kernels": found["kernels"],
        "threads": f"{found['threads']} of {found['processors']}",
        "memory": " of ".join(
            "unknown" if count is None else f"{count / 1e9:.1f} GB"
            for count in (found["free_memory_bytes"], found["memory_bytes"])
        )
        + " free",
        "packages": ", ".join(
            f"{name} {version or 'not installed'}" for name, version in found["packages"].items()
        ),
    }
    for name, extra in found["extras"].items():
        lines[f"extra {name}"] = (
            f"lacks {', '.join(extra['missing'])}: {extra['install']}"
            if extra["missing"]
            else "installed"
        )
    for name, value in lines.items():
        # No markup: names of processors may hold brackets.
        console.print(Text(f"{name:12} {value}"), soft_wrap=True)
    table = Table(title="self-test", title_justify="left")
    table.add_column("scheme")
    table.add_column("")
    table.add_column("seconds", justify="right")
    for test in found["self_tests"]:
        style = {"ok": "green", "failed": "bold red"}.get(test["status"], "")
        status = Text(test["status"], style=style)
        if test["error"]:
            status.append(f": {test['error']}")
        table.add_row(test["scheme"], status, f"{test['seconds']:.3f}")
    console.print(table)
    console.print(Text("\n".join(f"faster: {line}" for line in found["faster"])), soft_wrap=True)
    console.print(Text(found["licences"]), soft_wrap=True)
