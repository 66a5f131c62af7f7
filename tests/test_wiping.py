"""Secret keys leave nothing behind: memory is searched after they were made, used and dropped.

**What counts as found**: 16 bytes of a key in a row, in either order of bytes, in limbs of 52 bits
or eight times side by side as vectors have them; 48 coefficients of a ternary key, or 128 bits of a
binary one, packed as in files or as numbers of any width, with or without a modulus. By chance that
is in memory with a probability below 2^-40. Transforms of keys and tables of their multiples are
not looked for.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

LEVELED = ("ckks_8192", "bgv_8191", "bfv_4096")
TERNARY = ("bfv_1024", "bfv_4096_distances", "ckks_2048", "unipolar_bgv_8192", *LEVELED)
BINARY = ("tfhe_2048",)
BYTES = (
    "gm_3072",
    "pad_1024",
    "elgamal_ffdhe3072",
    "ec_elgamal_ristretto255",
    "ec_elgamal_secp256r1",
)
KINDS = (*BYTES, *TERNARY, *BINARY)
"""A set for each kind of key, those of little memory first."""

SEALED = ("gm_3072", "pad_1024", "ckks_2048")
"""Under a passphrase: what unseals is the same for all."""

# What a frame has around the key: magic, version, kind, length, two names; a hash.
HEAD, TAIL = 14 + 32, 16

CHILD = """
import gc, sys
import numpy as np
import hesc
from hesc.packing.secret import encrypt_slots
from hesc.secret import wants_passphrase
folder, mode, leveled, sealed, *kinds = sys.argv[1:]

def made(params, name):
    if name in leveled.split(","):
        return hesc.keygen(params, products=False)
    return hesc.keygen(params)

def used(secret, public, name):
    if name == "bgv_8191":
        encrypt_slots(secret, [[1, 0, 1]])
    elif name in leveled.split(","):
        sent = secret.encrypt_to_bytes([1, 0, 1])
        secret.decrypt(hesc.EncryptedVector.from_bytes(public.params, sent))
    elif not name.startswith("bfv_4096"):
        array = hesc.SecretEncryptor(secret, 64).encrypt([0.25, 0.5]).expand()
        hesc.Decryptor(secret).decrypt(array.answer())

for name in kinds:
    params, path = hesc.Params.preset(name), folder + "/" + name
    public = None
    if mode in ("make", "use"):
        secret, public = made(params, name)
        path += ".used" * (mode == "use")
        secret.save(path)
        if mode == "use" and name in sealed.split(","):
            secret.save(path + ".sealed", passphrase="correct horse")
    else:
        passphrase = "correct horse" if mode == "sealed" else None
        file = path + ".used.sealed" * bool(passphrase)
        assert wants_passphrase(file) == bool(passphrase)
        secret = hesc.SecretKey.load(params, file, passphrase=passphrase)
    if mode == "use":
        used(secret, public, name)
    del secret, public
    gc.collect()
    print(name, flush=True)
    sys.stdin.readline()
"""


def _both_orders(key: bytes) -> Iterator[tuple[str, bytes]]:
    for at in range(0, len(key) - 15, max(16, len(key) // 4)):
        yield f"bytes from {at}", key[at : at + 16]
        yield f"bytes from {at}, turned", key[at : at + 16][::-1]


def _limbs(number: bytes) -> Iterator[tuple[str, bytes]]:
    """Limbs of 52 bits, in a row and eight times each."""
    value = int.from_bytes(number, "big")
    limbs = [(value >> (52 * i)) % 2**52 for i in range(len(number) * 8 // 52)]
    for at in range(0, len(limbs) - 2, 12):
        words = np.array(limbs[at : at + 3], dtype=np.uint64)
        yield f"limbs from {at}", words.tobytes()
        yield f"vectors of limbs from {at}", np.repeat(words, 8).tobytes()


def _numbers(digits: NDArray[np.int64]) -> Iterator[tuple[str, bytes]]:
    for kind in (np.int8, np.int16, np.int32, np.int64, np.float64):
        yield np.dtype(kind).name, digits.astype(kind).tobytes()


def _moduli(name: str) -> list[int]:
    """Some of the primes that words of a key are residues of."""
    if name in LEVELED:
        leveled = hesc.Params.preset(name)
        return [*leveled.coeff_moduli[:1], *leveled.coeff_moduli[-1:], *leveled.special_moduli]
    return list(hesc.Params.preset(name).coeff_moduli or [])[:2]


def _ternary(name: str, body: bytes) -> Iterator[tuple[str, bytes]]:
    bits = np.unpackbits(np.frombuffer(body, np.uint8), bitorder="little").reshape(-1, 2)
    trits = bits @ np.array([1, 2]) - 1
    for at in (trits.size // 2, trits.size - 64):
        run = trits[at : at + 48].astype(np.int64)
        yield f"packed at {at}", body[at // 4 : at // 4 + 12]
        for kind, words in (*_numbers(run), *((f"1 + {k}", w) for k, w in _numbers(run + 1))):
            yield f"{kind} at {at}", words
        for modulus in _moduli(name):
            for width in (np.uint32, np.uint64):
                if modulus < np.iinfo(width).max:
                    residues = (run % modulus).astype(width)
                    yield f"modulo {modulus} at {at}", residues.tobytes()


def _binary(body: bytes) -> Iterator[tuple[str, bytes]]:
    bits = np.unpackbits(np.frombuffer(body, np.uint8), bitorder="little").astype(np.int64)
    for at in (64, 2048 + 64):
        yield f"packed at {at}", body[at // 8 : at // 8 + 16]
        for kind, words in _numbers(bits[at : at + 128]):
            yield f"{kind} at {at}", words


def _forms(name: str, path: Path) -> dict[str, bytes]:
    """What the file's key may look like in memory."""
    body = path.read_bytes()[HEAD:-TAIL]
    if name in TERNARY:
        return dict(_ternary(name, body))
    if name in BINARY:
        return dict(_binary(body))
    if name == "pad_1024":
        return dict(_both_orders(body))
    # Behind its length.
    key = body[8:]
    primes = (key[:192], key[192:]) if name == "gm_3072" else (key,)
    forms: dict[str, bytes] = {}
    for which, number in enumerate(primes):
        assert len(number) >= 32
        of_number = (*_both_orders(number), *_limbs(number))
        forms |= {f"{kind}, number {which}": words for kind, words in of_number}
    return forms


def _memory(process: int) -> Iterator[bytes]:
    """All that the process may write and has written, in pieces that overlap; no pages of zeros."""
    page, step = 4096, 1 << 22
    maps = Path(f"/proc/{process}/maps").read_text().splitlines()
    memory, pages = Path(f"/proc/{process}/mem"), Path(f"/proc/{process}/pagemap")
    with memory.open("rb", 0) as words, pages.open("rb", 0) as table:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found is None or "[v" in line:
                continue
            start, end = (int(text, 16) for text in found.groups())
            before = b""
            for at in range(start, end, step):
                size = min(step, end - at)
                table.seek(at // page * 8)
                entries = np.frombuffer(table.read(size // page * 8), dtype="<u8")
                # Present or swapped.
                if (entries >> np.uint64(62)).any():
                    words.seek(at)
                    read = np.frombuffer(words.read(size), np.uint64).reshape(-1, page // 8)
                    piece = before + read[read.any(1)].tobytes()
                    yield piece
                    before = piece[-2048:]
                else:
                    before = b""


def _found(process: int, forms: dict[str, bytes]) -> set[str]:
    return {form for piece in _memory(process) for form, words in forms.items() if words in piece}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show their memory")
def test_keys_leave_nothing_in_memory(tmp_path: Path) -> None:
    """Of every kind: made and saved; used besides; loaded, and from under a passphrase."""
    left: dict[tuple[str, str], set[str]] = {}
    for mode in ("make", "use", "load", "sealed"):
        command: list[Any] = [sys.executable, "-c", CHILD, tmp_path, mode]
        command += [",".join(LEVELED), ",".join(SEALED)]
        kinds = SEALED if mode == "sealed" else KINDS
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([*command, *kinds], text=True, **pipes) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            for name in kinds:
                assert child.stdout.readline().strip() == name
                file = name + ".used" * (mode in {"use", "sealed"})
                found = _found(child.pid, _forms(name, tmp_path / file))
                if found:
                    left[mode, name] = found
                child.stdin.write("\n")
                child.stdin.flush()
        assert child.returncode == 0
    assert not left


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show their memory")
def test_a_key_that_is_there_is_found() -> None:
    """The search itself: of bytes that a process has, and of none that it has not."""
    code = "import sys; x = bytearray(range(200)); print(flush=True); sys.stdin.readline()"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        here, nowhere = bytes(range(20, 52)), bytes(range(100, 20, -2))
        assert _found(child.pid, {"here": here, "nowhere": nowhere}) == {"here"}
        child.stdin.write("\n")
        child.stdin.flush()
