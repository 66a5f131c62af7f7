"""Lattigo, the library of `babenko2020ckksbfv`: a program of ours in Go, built where Go is."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hesc._native import HescError
from hesc_papers.other_process import AnsweringProcess

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hesc.params import VectorParams

_SOURCES: Final = Path(__file__).parent
_MISSING: Final = (
    "Lattigo is an optional peer, a program that Go builds: install Go 1.24 or later "
    "(https://go.dev/dl), with `go` on the PATH"
)
NOTES: Final = [
    "Lattigo has the primes of hesc's rows, special ones too; its results go into places that are "
    "there before, as its evaluators allow, where hesc and SEAL make new ones",
    "Lattigo's plaintexts are polynomials modulo q: for BFV and BGV its encoding has transforms "
    "modulo every prime, and its decoding the way back modulo t, which hesc and SEAL do in "
    "encryption and decryption",
    "Lattigo's BFV is its BGV with another product",
]


def is_there() -> bool:
    """Whether Go is installed, which builds the program."""
    return shutil.which("go") is not None


def version() -> str:
    """Lattigo's, which the program is built with, or "absent" where there is no Go."""
    if not is_there():
        return "absent"
    found = re.search(r"lattigo/v6 v(\S+)", (_SOURCES / "go.mod").read_text())
    compiler = _go("env", "GOVERSION").stdout.strip()
    return f"{found[1] if found else 'unknown'}, built by {compiler}, one thread"


def _go(*arguments: str) -> subprocess.CompletedProcess[str]:
    go = shutil.which("go")
    if go is None:
        raise HescError(_MISSING)
    return subprocess.run(  # noqa: S603 - the compiler, on our own sources
        [go, *arguments],
        cwd=_SOURCES,
        # Sources are never written to; a vendored or newer Lattigo would be another peer.
        env={**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )


def download() -> None:
    """Fetches Lattigo's sources, by Go's proxy, unless they are there.

    Raises:
        HescError: there is no Go, or it could not have them; the message has what it said.

    """
    done = _go("mod", "download")
    if done.returncode:
        raise HescError(
            "Lattigo's sources could not be fetched: let `go mod download` reach a proxy of Go "
            f"modules (GOPROXY), or fill its cache before: {done.stderr.strip()[-500:]}"
        )


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """What is built lies here until this process ends; Go has a cache of its own."""
    return tempfile.TemporaryDirectory(prefix="hesc-lattigo-")


@cache
def built() -> Path:
    """The program, built once a process.

    Raises:
        HescError: as `download`, or what the compiler said.

    """
    download()
    program = Path(_folder().name, "lattigo_peer")
    done = _go("build", "-o", str(program), ".")
    if done.returncode:
        raise HescError(f"Go could not build Lattigo's program: {done.stderr.strip()[-500:]}")
    return program


class Lattigo(AnsweringProcess):
    """An operation of Lattigo on vectors of several lengths, whose results are checked.

    Args:
        params: scheme, ring and primes.
        operation: one of `vector_operations.OPERATIONS`.
        lengths: numbers in the vectors.

    Raises:
        HescError: it could not be built, or a result was wrong.

    """

    def __init__(self, params: VectorParams, operation: str, lengths: Sequence[int]) -> None:
        super().__init__([str(built())])
        ckks = params.scheme == "ckks"
        question = {
            "scheme": params.scheme,
            "log_degree": params.ring_degree.bit_length() - 1,
            "primes": params.coeff_moduli,
            "special": params.special_moduli,
            "plain_modulus": params.plain_modulus or 0,
            "log_scale": round(math.log2(params.scale or 1)) if ckks else 0,
            "operation": operation,
            "lengths": list(lengths),
        }
        try:
            self.made_with = self._answer(json.dumps(question))
        except HescError:
            self.close()
            raise

    def _answer(self, line: str = "") -> Mapping[str, Any]:
        found: dict[str, Any] = json.loads(self.ask(line) or '{"error": "it ended"}')
        if "error" in found:
            raise HescError(f"Lattigo failed: {found['error']}")
        return found

    def run(self, _number: int) -> Mapping[str, float]:
        """Microseconds of the processor of a call, by length."""
        return self._answer()

    def sizes(self, _length: int) -> tuple[int, int, int]:
        """Bytes of a plaintext and, twice, of a ciphertext, as Lattigo writes them."""
        plain, cipher = self.made_with["plaintext"], self.made_with["ciphertext"]
        return plain, cipher, cipher
