"""A process that settles answers until all are given or refused, and says each on a line.

`python -m tests.state_worker WHERE FILES SEED NAMES BUDGET` has four threads, each over
all names in an order of its own: every name is settled by several of them, with other answers.
With a NAMES of 0 it claims a job, says so, and waits to be killed.
"""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from hesc.serve.responses import RefusedError
from hesc.serve.state.service_state import ServiceState
from hesc.serve.state.settling import Charge

COST = 3
"""What each answer takes of the budget."""


SAYING = Lock()


def name_of(number: int) -> bytes:
    return number.to_bytes(32, "big")


def answer_of(number: int, seed: int) -> bytes:
    """One that tells who gave it, of some pages."""
    return random.Random(f"{number} {seed}").randbytes(3000)  # noqa: S311


def settle(state: ServiceState, number: int, seed: int, budget: int) -> None:
    charges = [Charge("token", "clinic", COST, budget), Charge("model", "m", 1, None)]
    while True:
        try:
            answer, _ = state.settle(name_of(number), answer_of(number, seed), charges)
        except RefusedError as refused:
            if refused.name == "not-kept":
                time.sleep(0.02)
                continue
            said = refused.name
        else:
            said = answer.hex()
        with SAYING:
            sys.stdout.write(f"{number} {said}\n")
            sys.stdout.flush()
        return


def main(where: str, files: str, seed: int, names: int, budget: int) -> None:
    state = ServiceState.open(where, kept=1 << 30, files=files)
    print("ready", flush=True)
    if not names:
        claimed = state.claim(lambda _: True)
        assert claimed is not None
        print("claimed", flush=True)
        time.sleep(600)

    def thread(number: int) -> None:
        order = list(range(names))
        random.Random(seed + number).shuffle(order)  # noqa: S311
        for each in order:
            settle(state, each, seed + number, budget)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(thread, range(4)))
    state.close()
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
