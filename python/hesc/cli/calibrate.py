"""`hesc calibrate`."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from hesc.cli.terminal import check_outputs, write_text


def calibrate(
    threads: Annotated[
        int, typer.Option(min=1, max=1 << 16, help="Threads that the kernels may use.")
    ] = 1,
    again: Annotated[
        bool, typer.Option("--again", help="Measure even if there is a calibration.")
    ] = False,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the times to this new file, - for stdout.")
    ] = None,
) -> None:
    """Times the kernels that plans count and keeps them for this processor and so many threads.

    Example: hesc calibrate --again --json times.json
    """
    check_outputs({}, json_file)
    # Before the first parallel call makes the pool.
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    from hesc.planner import Calibration, calibrating
    from hesc.planner.calibration import cache_file

    console = Console(stderr=True)
    begin = time.perf_counter()
    stored = cache_file(threads)
    if again or stored is None or not stored.exists():
        found = calibrating.calibrate()
        path = found.store()
        took = time.perf_counter() - begin
        console.print(Text(f"{len(found.times)} kernels in {took:.1f} s: {path}"), soft_wrap=True)
    else:
        found = Calibration.load(threads)
        console.print(Text(f"there is one: {stored}; --again measures anew"), soft_wrap=True)
    write_text(json_file, found.to_json() + "\n")
    # Names of processors may hold brackets, which are no markup.
    told = f"{found.source}, threads: {found.threads}; candidates and hesc.planner predict by it"
    console.print(Text(told), soft_wrap=True)
