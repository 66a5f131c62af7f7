"""What there is no memory for is refused before it is allocated: Rust would end the process."""

from __future__ import annotations

import os
import resource
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc import codes, gates, integers
from hesc import vectors as leveled
from hesc._support import memory
from hesc.codes.secret import encrypt_codes

if TYPE_CHECKING:
    from collections.abc import Callable

GIB = 1 << 30


@cache
def _given() -> tuple[Any, Any, Any, Any]:
    secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
    _, keys = hesc.keygen(hesc.Params.preset("bgv_4369"), products=False)
    x = hesc.Encryptor(public, 64).encrypt([0.5])
    return secret, public, keys, x


def _many(count: int, of: Any = 0.5) -> Any:
    """So many of a number, in the memory of one."""
    return np.broadcast_to(of, (count,))


def _streams(length: int, count: int) -> hesc.EncodedArray:
    return hesc.Encoder(length).encode(np.zeros(count))


def _row(count: int) -> hesc.EncryptedArray:
    _, public, _, _ = _given()
    return hesc.Encryptor(public, 64).encrypt(np.zeros(count))


# Each takes several gibibytes, by one thing alone: streams, ciphertexts, elements, bits, diagonals.
REQUESTS: dict[str, Callable[[], object]] = {
    "streams": lambda: _streams(2**24, 10**4),
    "factors": lambda: hesc.Encoder(2**24).encode_factors(np.zeros((2, 10**4))),
    "copies": lambda: hesc.Encryptor(_given()[1], 64).encrypt_copies([0.5], 10**9),
    "products of streams": lambda: (
        hesc.EncodedArray(_streams(2**16, 1000).streams, (1000, 1)) * _streams(2**16, 1000)
    ),
    "bits of streams": lambda: (
        # As many as are put together in 128 MiB, and a byte for each bit.
        (hesc.EncodedArray(_streams(2**16, 128).streams, (128, 1)) ^ _streams(2**16, 128)).bits
    ),
    "ciphertexts": lambda: hesc.Encryptor(_given()[1], 64, layout="one_per_block").encrypt(
        np.zeros(10**6)
    ),
    "evaluation keys": lambda: hesc.keygen(
        hesc.Params.preset("ckks_32768"), rotations=range(1, 500)
    ),
    "seeded ciphertexts": lambda: hesc.SecretEncryptor(
        _given()[0], 64, layout="one_per_block"
    ).encrypt(np.zeros(10**6)),
    "numbers": lambda: hesc.Encoder(1).encode(_many(10**9)),
    "a product with numbers": lambda: _given()[3] * _many(3 * 10**7),
    "a sum with numbers": lambda: _given()[3] + _many(3 * 10**7),
    "repeated elements": lambda: _given()[3].broadcast_to((10**8,)),
    "chosen elements": lambda: _given()[3][_many(10**8, 0)],
    "outer products": lambda: _row(20_000).reshape(-1, 1) * _row(20_000),
    "outer sums": lambda: _row(20_000).reshape(-1, 1) + _row(20_000),
    "a matrix product": lambda: _row(20_000).reshape(-1, 1) @ _row(20_000).reshape(1, -1),
    "projections": lambda: codes.SignProjection(1 << 20, bits=1 << 16, random_state=0),
    "distances in the clear": lambda: codes.hamming(*[np.zeros((10**5, 1), np.uint64)] * 2),
    "encrypted codes": lambda: encrypt_codes(_given()[0], np.zeros((10**5, 64), np.uint64)),
    "bits of numbers": lambda: gates.to_bits(_many(10**8, np.uint8(1)), 64),
    "integers": lambda: integers.encrypt(_given()[2], _many(10**8, np.uint8(1)), "uint8"),
    "integers in slots": lambda: integers.encrypt(_given()[2], np.zeros(10**6, int), "uint64"),
    "a matrix": lambda: leveled.Matrix(
        hesc.Params.preset("ckks_16384"), np.broadcast_to(0.5, (8192, 8192))
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits are read as Linux has them")
@pytest.mark.parametrize("name", REQUESTS)
def test_what_there_is_no_memory_for_is_refused(name: str) -> None:
    """In a process that may have a gibibyte more than it has."""
    _given()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + GIB, resource.RLIM_INFINITY))
            REQUESTS[name]()
        except MemoryError as error:
            # Ours or numpy's, both of which say how much.
            status = 0 if str(error) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_what_there_is_memory_for_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: pytest.fail("looked"))
    memory.make_room(1 << 20, "little")


def test_errors_name_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 8 * 10**9)
    memory.make_room(7 * 10**9, "this")
    for needed in (8 * 10**9, 9 * 10**9):
        with pytest.raises(MemoryError, match=r"this would take [89] GB at least, and 8 GB are"):
            memory.make_room(needed, "this")


SYSTEM = {
    "/proc/meminfo": "MemTotal: 64 kB\nMemAvailable: 48000000 kB\nSwapFree: 1000000 kB\n",
    "/proc/self/status": "Name:\tpython\nVmSize:\t  2000000 kB\nVmData:\t 1000000 kB\n",
    "/proc/self/limits": "Max data size             unlimited            unlimited  bytes\n",
}
SECOND = "/sys/fs/cgroup/a"
FIRST = "/sys/fs/cgroup/memory"


@pytest.mark.parametrize(
    ("files", "free", "all_of_it"),
    [
        ({}, 49 * 10**6 * 1024, None),
        ({"/proc/self/limits": "Max address space 6000000000 7000000000 bytes\n"},
         6 * 10**9 - 2 * 10**6 * 1024, 6 * 10**9),
        ({"/proc/self/limits": "Max data size 6000000000 unlimited bytes\n"},
         6 * 10**9 - 10**6 * 1024, 6 * 10**9),
        # The second version of control groups: a limit of the group above.
        ({"/proc/self/cgroup": "0::/a/b\n", f"{SECOND}/b/memory.max": "max\n",
          f"{SECOND}/memory.max": "4000000000\n", f"{SECOND}/memory.current": "3000000000\n",
          f"{SECOND}/memory.stat": "anon 5\ninactive_file 500000000\n"},
         15 * 10**8, 4 * 10**9),
        # The first version, in a container, which does not see the group's own path.
        ({"/proc/self/cgroup": "5:cpu:/a\n4:memory:/a\n",
          f"{FIRST}/memory.limit_in_bytes": "4000000000\n",
          f"{FIRST}/memory.usage_in_bytes": "1000000000\n"},
         3 * 10**9, 4 * 10**9),
        # More in use than the limit.
        ({"/proc/self/cgroup": "0::/a\n", f"{SECOND}/memory.max": "4000000000\n",
          f"{SECOND}/memory.current": "5000000000\n"}, 0, 4 * 10**9),
        # Nothing that this system has.
        (dict.fromkeys(SYSTEM, ""), sys.maxsize, None),
    ],
)  # fmt: skip
def test_limits_are_those_of_the_machine_the_process_and_its_groups(
    files: dict[str, str], free: int, all_of_it: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = SYSTEM | files
    monkeypatch.setattr(memory, "_text", lambda path: found.get(str(path), ""))
    assert memory.free_memory() == free
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert memory.machine_memory() == min(machine, all_of_it or machine)


def test_errors_of_sums_are_measured_in_bounded_memory() -> None:
    """Many values of long streams, a few at a time, are as good as all at once."""
    plan = hesc.Polynomial([0, 1, 0.5]).summation(2**12)
    values = np.linspace(-1, 1, 1200)
    found = plan.predicted_error(values, draws=4)
    alone = plan.predicted_error(values[::30], draws=4)
    assert found.shape == values.shape
    assert np.sqrt(np.mean(found**2)) == pytest.approx(np.sqrt(np.mean(alone**2)), rel=0.3)
    with pytest.raises(hesc.OutOfRangeError, match="quarter of an hour"):
        hesc.Polynomial([0, 1]).summation(2**20).predicted_error(np.zeros(10**6))
