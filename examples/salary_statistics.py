"""Salaries by job in several firms: the lowest, the median and the highest, and nothing else.

Each firm encrypts what it pays for each job under the key of a statistics office. A server sorts
the firms' salaries job by job without seeing any, and the office decrypts three numbers for each
job. The server, which has no key, learns nothing; the office must not be given the uploads. The
salaries are made up.

Run: python examples/salary_statistics.py [--firms 7] [--jobs 200] [--plot salaries.png]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

import hesc
from hesc import integers
from hesc.integers.secret import decrypt_integers

if TYPE_CHECKING:
    from hesc.integers import Integers

# In hundreds a year: what fits 12 bits.
TYPE = "uint12"


def statistics(*salaries: Integers) -> tuple[Integers, Integers, Integers]:
    """The lowest, the median and the highest of each job."""
    ordered = integers.sort(salaries)
    return ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1]


def main() -> None:
    """Prints the plan, times, and how the result compares with the clear."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--firms", type=int, default=7, help="how many take part")
    parser.add_argument("--jobs", type=int, default=200, help="how many salaries each firm gives")
    parser.add_argument("--plot", type=Path, help="where to draw the result")
    arguments = parser.parse_args()
    console = Console()
    rng = np.random.default_rng(1)
    typical = np.sort(rng.lognormal(6.2, 0.4, arguments.jobs))
    noise = rng.lognormal(0, 0.15, (arguments.firms, arguments.jobs))
    salaries = np.clip(typical * noise, 0, 4095).astype(np.uint16)

    # Everyone knows the plan: types, counts and the circuit.
    plan = integers.plan(statistics, *[TYPE] * arguments.firms, count=arguments.jobs)
    console.print(plan.decision.explain(), soft_wrap=True)
    # The office.
    secret, public = hesc.keygen(plan.params)
    # The firms.
    uploads = [integers.encrypt(public, firm, TYPE).to_bytes() for firm in salaries]
    # The server.
    start = time.perf_counter()
    answers = plan(*(integers.read(public.params, upload).with_keys(public) for upload in uploads))
    seconds = time.perf_counter() - start
    replies = [answer.to_bytes() for answer in answers]
    # The office.
    found = [decrypt_integers(secret, integers.read(public.params, reply)) for reply in replies]

    ordered = np.sort(salaries, axis=0)
    expected = ordered[[0, (arguments.firms - 1) // 2, -1]]
    right = np.array_equal(np.stack(found), expected)
    console.print(
        f"\n{arguments.firms} firms, {arguments.jobs} jobs: sorted in {seconds:.1f} s on all cores "
        f"(planned: {plan.seconds:.1f} s on one); {len(uploads[0]) / 1e6:.1f} MB up from "
        f"each firm, {sum(map(len, replies)) / 1e6:.1f} MB down",
        soft_wrap=True,
    )
    console.print(f"the same as in the clear: {'yes' if right else 'NO'}")
    if arguments.plot:
        draw(found, arguments.plot)


def draw(found: list[np.ndarray], path: Path) -> None:
    """The median of each job and the range around it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    low, middle, high = (numbers / 10 for numbers in found)
    jobs = np.argsort(middle, kind="stable")
    places = np.arange(len(jobs))
    axes.fill_between(places, low[jobs], high[jobs], alpha=0.3, label="lowest to highest firm")
    axes.plot(places, middle[jobs], label="median firm")
    axes.set_xlabel("jobs, by their median")
    axes.set_ylabel("thousands a year")
    axes.set_title("What is known of salaries that nobody has seen")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
