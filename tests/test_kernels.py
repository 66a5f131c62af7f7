"""Kernels: all vector instructions compute the same bytes, and unknown names are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import hesc
from hesc import _native

if TYPE_CHECKING:
    from pathlib import Path

# From fewest instructions to most.
KERNELS = ("portable", "avx2", "avx512", "avx512-ifma")
THERE = KERNELS[: KERNELS.index(_native.kernels()) + 1]
SCHEMES = ("bfv", "bgv", "ckks")

WORK = """
import hashlib, sys
from pathlib import Path
import hesc
from hesc import _native

folder, digest = Path(sys.argv[1]), hashlib.sha256()
for scheme in ("bfv", "bgv", "ckks"):
    params = hesc.Params.preset(f"hestd2018_{scheme}_8192")
    keys = hesc.PublicKeys.from_bytes(params, (folder / f"{scheme}.keys").read_bytes())
    x = hesc.EncryptedVector.from_bytes(params, (folder / f"{scheme}.x").read_bytes())
    x = x.with_keys(keys)
    for result in (x + x, x * x, x.rotate(1), 3 * x):
        digest.update(result.to_bytes())
params = hesc.Params.preset("bfv_1024_fusion")
x = hesc.EncryptedArray.from_bytes(params, (folder / "streams").read_bytes())
for streams in (-x, x.sum() + x):
    digest.update(streams.to_bytes())
print(_native.kernels(), digest.hexdigest())
"""


def run(kernels: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", *arguments],
        env={**os.environ, "HESC_KERNELS": kernels},
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_kernels_compute_the_same_bytes(tmp_path: Path) -> None:
    for scheme in SCHEMES:
        params = hesc.Params.preset(f"hestd2018_{scheme}_8192")
        secret, public = hesc.keygen(params, rotations=[1])
        numbers = np.arange(128) % 2
        x = hesc.EncryptedVector.from_bytes(params, secret.encrypt_to_bytes(numbers, bound=2))
        (tmp_path / f"{scheme}.keys").write_bytes(public.to_bytes())
        (tmp_path / f"{scheme}.x").write_bytes(x.to_bytes())
    params = hesc.Params.preset("bfv_1024_fusion")
    _, public = hesc.keygen(params)
    streams = hesc.Encryptor(public, 64).encrypt([0.5, -0.25])
    (tmp_path / "streams").write_bytes(streams.to_bytes())
    digests = set()
    for kernels in THERE:
        done = run(kernels, WORK, str(tmp_path))
        assert done.returncode == 0, done.stderr
        found, digest = done.stdout.split()
        assert found == kernels
        digests.add(digest)
    assert len(digests) == 1


@pytest.mark.parametrize("asked", ["sse9", "AVX2", "avx"])
def test_unknown_kernels_are_refused_by_what_there_is(asked: str) -> None:
    done = run(asked, "import hesc._native")
    assert done.returncode == 1
    known = f'HESC_KERNELS="{asked}" names no kernels; take one of {", ".join(THERE)}'
    assert f"ImportError: {known}" in done.stderr


def test_an_empty_variable_takes_the_best() -> None:
    done = run("", "import hesc._native as n; print(n.kernels())")
    assert done.stdout.split() in [[name] for name in KERNELS[len(THERE) - 1 :]]
