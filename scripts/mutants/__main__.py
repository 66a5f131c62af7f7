"""Put slips into the code one at a time and see which test notices.

`python -m scripts.mutants` takes all lists in slips/, `--only TEXT` those whose list, name or file
contains a text. Every Rust slip is compiled in behind a switch: one build, and a run of the tests
for each. Ends with an error if a slip survives that no one has called harmless, or if a harmless
one is noticed. The test that noticed last time is asked first.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.mutants.runs import (
    TARGET,
    build_python,
    python_run,
    rust_runs,
    rust_runs_for,
)
from scripts.mutants.slips import ROOT, Slip, read_all, write_tree

if TYPE_CHECKING:
    from scripts.mutants.runs import Run

MEMORY = TARGET / "mutants/killers.json"


def survey(number: int, runs: list[Run], last: str | None) -> str | None:
    """The test that notices the slip, the one of last time first; None if it survives."""
    if last is not None:
        name, test = last.split(": ", 1)
        for run in runs:
            if run.name == name and (killer := run.killer(number, only=test.split(" ")[0])):
                return killer
    for run in runs:
        if killer := run.killer(number):
            return killer
    return None


def main() -> int:
    """The exit status: 1 if the tests and the lists disagree."""
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="slips whose list, name or file contains this")
    parser.add_argument("--tests", choices=["rust", "python"], help="slips that these tests judge")
    parser.add_argument("--json", type=Path, help="write what happened to each slip")
    parser.add_argument("--jobs", type=int, default=2, help="slips at a time")
    options = parser.parse_args()
    slips = read_all(sorted(ROOT.glob("slips/*.toml")))
    chosen = {
        number: slip
        for number, slip in enumerate(slips)
        if options.only in f"{slip.area} {slip.name} {slip.file}"
        and options.tests in {None, "python" if slip.python else "rust"}
    }
    tree = TARGET / "mutants/tree"
    write_tree(tree, slips)
    rust = rust_runs(tree) if any(slip.rust and not slip.python for slip in chosen.values()) else []
    native = build_python(tree) if any(slip.python for slip in chosen.values()) else None
    print(f"{len(chosen)} slips; first the tests on the code as it is", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        places = Path(folder)

        def runs_for(slip: Slip | None, place: str) -> list[Run]:
            if slip is not None and not slip.python:
                return rust_runs_for(slip, rust)
            return [python_run(tree, places / place, slip, native)] if native else []

        clean = [*rust, *(runs_for(None, "clean") if native else [])]
        with ThreadPoolExecutor(options.jobs) as pool:
            failures = [
                killer for killer in pool.map(lambda run: run.killer(None), clean) if killer
            ]
        if failures:
            print(f"no slip is in, and these fail: {failures}")
            return 1
        killers = json.loads(MEMORY.read_text()) if MEMORY.exists() else {}
        wrong = 0
        with ThreadPoolExecutor(options.jobs) as pool:
            surveys = {
                pool.submit(
                    lambda n, s: survey(n, runs_for(s, str(n)), killers.get(s.name)),
                    number,
                    slip,
                ): slip
                for number, slip in chosen.items()
            }
            for survey_of in as_completed(surveys):
                slip, killer = surveys[survey_of], survey_of.result()
                killers[slip.name] = killer
                MEMORY.write_text(json.dumps({k: v for k, v in killers.items() if v}, indent=1))
                expected = (killer is None) == (slip.harmless is not None)
                wrong += not expected
                told = killer or ("survives, harmless" if expected else "SURVIVES")
                print(
                    f"{slip.area:12} {slip.name}: {told}{'' if expected else ' <-- !'}", flush=True
                )
    results = [
        {
            "list": s.area,
            "slip": s.name,
            "file": s.file,
            "killer": killers[s.name],
            "harmless": s.harmless,
        }
        for s in chosen.values()
    ]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    noticed = sum(result["killer"] is not None for result in results)
    harmless = sum(result["harmless"] is not None for result in results)
    print(
        f"{len(results)} slips, {noticed} noticed, {harmless} called harmless, "
        f"{wrong} not as they should be"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
