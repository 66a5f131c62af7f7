"""Bytes that are told before there are any, beside those of what is written; plans without keys."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import hesc
from hesc import integers
from hesc.codes.encrypted_codes import EncryptedCodes
from hesc.codes.secret import encrypt_codes
from hesc.integers import BootstrappedIntegers, IntegerKind
from hesc.integers.kinds import kind_of
from hesc.integers.secret import encrypt_integers
from hesc.params import Params, wire_sizes
from hesc.protocols.registry import PROTOCOLS
from hesc.secret import SecretEncryptor, keygen
from hesc.streams.encryptor import Encryptor
from hesc.vectors.blanks import blank
from hesc.vectors.encrypted_vectors import EncryptedVector
from hesc.vectors.matrices import Matrix, matrix_rotations

if TYPE_CHECKING:
    from hesc.secret import SecretKey
    from hesc.vectors.keys import PublicKeys

VECTORS: Final = ("ckks_4096", "ckks_8192", "bfv_4096", "bfv_8192", "bgv_8192")
STREAMS: Final = (
    "bfv_1024",
    "bfv_1024_fusion",
    "ckks_1024",
    "gm_3072",
    "ec_elgamal_ristretto255",
    "pad_1024",
)


@cache
def keys_of(preset: str) -> tuple[SecretKey, PublicKeys]:
    return keygen(Params.preset(preset))


# Vectors


@pytest.mark.parametrize("preset", VECTORS)
def test_vectors_are_as_long_as_told(preset: str) -> None:
    params = Params.preset(preset)
    secret, public = keys_of(preset)
    numbers = np.zeros(5, dtype=np.int64)
    assert len(secret.encrypt_to_bytes(numbers)) == wire_sizes.vector(params, seeded=True)
    sent = public.encrypt(numbers)
    for level in range(1, sent.level + 1):
        assert len(sent.mod_switch_to(level).to_bytes()) == wire_sizes.vector(params, level=level)
    assert wire_sizes.vector(params) == wire_sizes.vector(params, level=len(params.levels))
    for level in (0, len(params.levels) + 1):
        with pytest.raises(hesc.ParameterError, match="levels 1 to"):
            wire_sizes.vector(params, level=level)


@pytest.mark.parametrize("preset", ["ckks_4096", "bfv_8192", "bgv_13107_shallow"])
def test_keys_are_as_long_as_told(preset: str) -> None:
    params = Params.preset(preset)
    for products in (True, False):
        for moves in (0, 1, 3):
            options: dict[str, Any] = {"rotations": range(1, moves + 1)}
            if params.ring_index % 2:
                options = {"slot_rotations": [(0, step) for step in range(1, moves + 1)]}
            _, public = keygen(params, products=products, **options)
            told = wire_sizes.keys(params, products=products, moves=moves)
            assert len(public.to_bytes()) == told


@pytest.mark.parametrize("layout", ["sliced", "slotwise", "packed"])
@pytest.mark.parametrize("kind", ["uint8", "int13", "uint1"])
def test_integers_are_as_long_as_told(kind: str, layout: str) -> None:
    params = Params.preset("bgv_13107_shallow")
    secret, public = keys_of("bgv_13107_shallow")
    of = kind_of(kind)
    for count in (1, params.slot_count + 1):
        numbers = np.zeros(count, dtype=np.int64)
        sent = encrypt_integers(secret, numbers, kind, layout=layout)
        assert len(sent) == wire_sizes.integers(params, of, count, layout=layout, seeded=True)
        full = integers.encrypt(public, numbers, kind, layout=layout)
        assert len(full.to_bytes()) == wire_sizes.integers(params, of, count, layout=layout)


@pytest.mark.parametrize("preset", VECTORS)
@pytest.mark.parametrize("seeded", [True, False])
def test_blank_vectors_claim_what_vectors_do(preset: str, seeded: bool) -> None:
    """Through products, rotations, matrices and levels; and no key decrypts them."""
    params = Params.preset(preset)
    steps = [1, *matrix_rotations(3, 5)]
    secret, public = keygen(params, rotations=steps)
    numbers = np.zeros(5, dtype=np.int64)
    wrap = not params.is_approximate
    if seeded:
        read = EncryptedVector.from_bytes(params, secret.encrypt_to_bytes(numbers, wrap=wrap))
    else:
        read = public.encrypt(numbers, wrap=wrap)
    pair = read.with_keys(public), blank(params, 5, seeded=seeded, rotations=steps)

    def alike(made: EncryptedVector, tried: EncryptedVector) -> None:
        assert made.level == tried.level
        assert made.noise_budget == tried.noise_budget
        assert made.error_bound == tried.error_bound

    alike(*pair)
    if params.depth:
        alike(*((x * x) * x if params.depth > 1 else x * x for x in pair))
    factor = 0.5 if params.is_approximate else 3
    alike(*(x * factor + x for x in pair))
    alike(*(x.rotate(1) for x in pair))
    matrix = Matrix(params, np.arange(15).reshape(3, 5) * factor)
    alike(*(matrix @ x for x in pair))
    with pytest.raises(hesc.KeyMismatchError):
        secret.decrypt(pair[1])
    with pytest.raises(hesc.KeyMismatchError):
        pair[0] + pair[1]


# Streams


@pytest.mark.parametrize("preset", STREAMS)
@pytest.mark.parametrize("length", [64, 1024])
def test_streams_are_as_long_as_told(preset: str, length: int) -> None:
    params = Params.preset(preset)
    if params.block_length == 64 and length > 64:
        pytest.skip("a ciphertext for each bit")
    values = np.linspace(-1, 1, 6).reshape(2, 3)
    own = params.scheme == "pad"

    def run(of: Any) -> list[Any]:
        secret, public = of
        options: Any = {"generator": "bernoulli"}
        seeded = SecretEncryptor(secret, length, first_dimension=0, **options).encrypt(values)
        other: Any = SecretEncryptor if own else Encryptor
        second = other(secret if own else public, length, first_dimension=1, **options)
        weights = second.encrypt(values[:1])
        full = weights.expand() if own else weights
        product = seeded.expand() * full
        fuse = [3] if product.native.capacity >= 8 else None
        return [seeded, full, product, product.sum(axis=1).answer(fuse=fuse), product.answer()]

    made = run(keys_of(preset))
    tried = run(keygen(params.counted()))
    first = {"secret": 1} if own else {"public": 1}
    both = {"secret": 2} if own else {"secret": 1, "public": 1}
    for at, of in enumerate(({"secret": 1}, first, both, both, both)):
        assert len(made[at].to_bytes()) == wire_sizes.streams(params, tried[at], **of), at


# Bits and codes


@pytest.mark.parametrize(("count", "width"), [(1, 1), (64, 33), (64, 200)])
def test_bits_are_as_long_as_told(count: int, width: int) -> None:
    params = Params.preset("tfhe_2048")
    _, public = keys_of("tfhe_2048")
    sent = BootstrappedIntegers.encrypt(public, np.zeros(count, dtype=object), IntegerKind(width))
    assert len(sent.to_bytes()) == wire_sizes.bits(params, count, width)


def test_keys_and_answers_of_bits_are_as_long_as_told() -> None:
    from hesc import gates

    params = Params.preset("tfhe_2048")
    _, public = keygen(params, bootstrapping=True)
    assert len(public.to_bytes()) == wire_sizes.bootstrapping_keys(params)
    server = gates.Evaluator(public)
    plan = integers.plan(integers.maximum, "uint2", "uint2", count=3, engine="bootstrapped")
    sent = [BootstrappedIntegers.encrypt(public, [1, 2, 3], "uint2") for _ in range(2)]
    answer = plan(*sent, server=server, progress=False).answer(server)
    assert len(answer.to_bytes()) == wire_sizes.bit_answer(params, 3, 2)
    with pytest.raises(hesc.ParameterError, match="no bits that bootstrap"):
        wire_sizes.bits(Params.preset("bfv_1024"), 1, 1)


@pytest.mark.parametrize("preset", ["bfv_1024_distances", "bfv_4096_distances"])
@pytest.mark.parametrize(("count", "records"), [(1, 1), (3, 256), (1025, 257)])
def test_codes_are_as_long_as_told(preset: str, count: int, records: int) -> None:
    params = Params.preset(preset)
    secret, _ = keys_of(preset)
    for bits in (64, 192):
        sent = encrypt_codes(secret, np.zeros((count, bits // 64), np.uint64))
        clear = np.zeros((records, bits // 64), np.uint64)
        found = EncryptedCodes.from_bytes(params, sent).distances(clear).to_bytes()
        assert (len(sent), len(found)) == wire_sizes.codes(params, count, bits, records)


# Plans


def _without_keys(code: str) -> None:
    """Runs code in a process where no keys are made but of sets that encrypt nothing."""
    guard = """
import sys
import hesc.secret
from hesc.secret import generation

def refused(params, **options):
    assert params.scheme in ("simulated", "plain"), params.name
    return made(params, **options)

made = generation.keygen
generation.keygen = hesc.secret.keygen = refused
import hesc
"""
    done = subprocess.run(
        [sys.executable, "-c", guard + code], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_candidates_are_planned_without_keys() -> None:
    _without_keys("""
import numpy as np
from hesc.planner import Estimate
from hesc.protocols.candidates import CANDIDATES

rng = np.random.default_rng(0)
for candidate in CANDIDATES:
    found = [candidate.consider(task) for task, _ in candidate.probes(rng)]
    assert any(isinstance(one, Estimate) for one in found), (candidate.name, found)
""")


def test_protocols_are_planned_without_keys() -> None:
    """All in one process, which refuses the keys of any: most of its time it is started."""
    _without_keys(f"""
from tests.test_protocols import plan_of

for name in {list(PROTOCOLS)!r}:
    try:
        assert min(plan_of(name).sizes()) > 0
    except BaseException as error:
        error.add_note(name)
        raise
""")
