"""Put slips into the code one at a time and see which test notices.

`python -m scripts.mutants` takes all lists in slips/, `--only TEXT ...` those whose list, name or
file contains one of the texts. Every Rust slip is compiled in behind a switch: one build. A first
run of each Rust test says which slips it reaches; a slip is then shown to those tests only, the one
that noticed last time and quick ones first. Ends with an error if a slip survives that no one has
called harmless, or if a harmless one is noticed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.mutants.runs import TARGET, build_python, python_run, rust_programs, watched
from scripts.mutants.slips import ROOT, Slip, read_all, write_tree

if TYPE_CHECKING:
    from scripts.mutants.runs import Killer, RustTest

MEMORY = TARGET / "mutants/killers.json"


class Judges:
    """The tests that slips are shown to."""

    def __init__(self, tree: Path, places: Path, chosen: dict[int, Slip], jobs: int) -> None:
        """Builds what the chosen slips need and runs it on the code as it is.

        Raises:
            RuntimeError: if a test fails with no slip in.

        """
        self._tree, self._places = tree, places
        self._known = json.loads(MEMORY.read_text()) if MEMORY.exists() else {}
        self._rust: list[RustTest] = []
        self._native = None
        failures: list[str] = []
        if any(not slip.python for slip in chosen.values()):
            names = [(program, test) for program in rust_programs(tree) for test in program.tests()]
            print(f"{len(names)} Rust tests on the code as it is", flush=True)
            with ThreadPoolExecutor(jobs) as pool:
                self._rust = list(pool.map(lambda name: watched(name[0], name[1], places), names))
            failures += [str(test) for test in self._rust if not test.passes]
        if any(slip.python for slip in chosen.values()):
            self._native = build_python(tree)
            print("Python's tests on the code as it is", flush=True)
            if killer := python_run(tree, places / "clean", None, self._native).killer(None):
                failures.append(killer.test)
        if failures:
            raise RuntimeError(f"no slip is in, and these fail: {failures}")

    def killer(self, number: int, slip: Slip) -> Killer | None:
        """What notices the slip, the test of last time first; None if it survives."""
        last = self._known.get(slip.name)
        if slip.python:
            if self._native is None:
                raise AssertionError("Python's module is built where slips need it")
            run = python_run(self._tree, self._places / str(number), slip, self._native)
            again = run.killer(number, only=last) if last else None
            return again or run.killer(number)
        reached = [test for test in self._rust if number in test.reached]
        reached.sort(key=lambda test: (str(test) != last, test.seconds))
        return next(filter(None, (test.killer(number) for test in reached)), None)

    def remember(self, slip: Slip, killer: Killer | None) -> None:
        """Notes the test for the next time."""
        if killer is not None and killer.test != "?":
            self._known[slip.name] = killer.test
            MEMORY.parent.mkdir(parents=True, exist_ok=True)
            MEMORY.write_text(json.dumps(self._known, indent=1))


def main() -> int:
    """The exit status: 1 if the tests and the lists disagree."""
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[""],
        help="slips whose list, name or file contains one of these",
    )
    parser.add_argument("--tests", choices=["rust", "python"], help="slips that these tests judge")
    parser.add_argument("--json", type=Path, help="write what happened to each slip")
    parser.add_argument("--jobs", type=int, default=2, help="slips at a time")
    options = parser.parse_args()
    slips = read_all(sorted(ROOT.glob("slips/*.toml")))
    chosen = {
        number: slip
        for number, slip in enumerate(slips)
        if any(text in f"{slip.area} {slip.name} {slip.file}" for text in options.only)
        and options.tests in {None, "python" if slip.python else "rust"}
    }
    tree = TARGET / "mutants/tree"
    write_tree(tree, slips)
    print(f"{len(chosen)} slips", flush=True)
    results = []
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        judges = Judges(tree, Path(folder), chosen, options.jobs)
        with ThreadPoolExecutor(options.jobs) as pool:
            surveys = {
                pool.submit(judges.killer, number, slip): slip for number, slip in chosen.items()
            }
            for survey in as_completed(surveys):
                slip, killer = surveys[survey], survey.result()
                judges.remember(slip, killer)
                expected = (killer is None) == (slip.harmless is not None)
                wrong += not expected
                told = f"{killer.test} {killer.how}" if killer else "SURVIVES"
                mark = "" if expected else " <-- !"
                print(f"{slip.area:12} {slip.name}: {told}{mark}", flush=True)
                results.append(
                    {
                        "list": slip.area,
                        "slip": slip.name,
                        "file": slip.file,
                        "killer": killer and killer.test,
                        "harmless": slip.harmless,
                    }
                )
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
