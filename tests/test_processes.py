"""Threads and processes: shared encryptors, forked children, objects that travel."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc import _native, gates
from hesc.gates.secret import decrypt_bits

if TYPE_CHECKING:
    from collections.abc import Callable

# Later versions of Python warn of what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

PARAMS = hesc.Params.preset("bfv_1024_fusion")
SECRET, PUBLIC = hesc.keygen(PARAMS)
VALUES = np.linspace(-1, 1, 300)
LEVELED = hesc.Params.preset("bfv_4096")
OWNER, KEYS = hesc.keygen(LEVELED)


def _streams() -> None:
    """Encodes, encrypts, multiplies and decrypts enough for all threads."""
    encryptor = hesc.Encryptor(PUBLIC, 1024)
    product = encryptor.encrypt(VALUES) * encryptor.encrypt(VALUES)
    found = hesc.Decryptor(SECRET).decrypt(product)
    assert np.sqrt(np.mean((found - VALUES**2) ** 2)) < 0.05


def _group() -> None:
    params = hesc.Params.preset("ec_elgamal_ristretto255")
    secret, public = hesc.keygen(params)
    array = hesc.Encryptor(public, 64).encrypt([0.5, -0.5])
    assert np.abs(hesc.Decryptor(secret).decrypt(array) - [0.5, -0.5]).max() < 0.2


def _leveled() -> None:
    square = KEYS.encrypt([1, 2, 3], bound=3).square()
    assert OWNER.decrypt(square).tolist() == [1, 4, 9]


def _bits() -> None:
    params = hesc.Params.preset("insecure_tfhe_512")
    secret, public = hesc.keygen(params, bootstrapping=True)
    evaluator = gates.Evaluator(public)
    a = gates.encrypt_bits(public, [0, 0, 1, 1])
    b = gates.encrypt_bits(public, [0, 1, 0, 1])
    assert decrypt_bits(secret, evaluator.gate("AND", a, b)).tolist() == [0, 0, 0, 1]


def _in_child(work: Callable[[], None]) -> None:
    """Runs work in a forked child, which has a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("work", [_streams, _group, _leveled, _bits])
def test_a_forked_child_computes(work: Callable[[], None]) -> None:
    """After the parent's threads have started; the child's child too; then the parent again."""
    work()

    def child() -> None:
        work()
        _in_child(work)
        work()

    _in_child(child)
    work()


def _with_threads(count: int, work: Callable[[], None]) -> None:
    """Does work where the system gives so many threads more, as in containers with limits."""
    # Of root the kernel counts none: a user who has nothing else.
    if os.getuid() == 0:
        os.setgid(54321)
        os.setuid(54321)
        count += 1
    else:
        count = 0
    resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
    work()


@pytest.mark.parametrize("threads", [0, 1])
@pytest.mark.parametrize("work", [_streams, _group, _leveled, _bits])
def test_a_process_that_gets_no_more_threads_computes(
    work: Callable[[], None], threads: int
) -> None:
    """On those that it gets, or on its own; no panic, and nobody waits."""
    work()
    _in_child(lambda: _with_threads(threads, work))


LIMITED = """
import os, resource
import numpy as np
import hesc, hesc.secret
count = {threads}
if os.getuid() == 0:
    os.setgid(54321)
    os.setuid(54321)
    count += 1
resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
found = hesc.Decryptor(secret).decrypt(hesc.Encryptor(public, 64).encrypt(np.full(5000, 0.5)))
assert np.abs(found - 0.5).max() < 0.2
"""


@pytest.mark.parametrize("threads", [0, 1])
def test_a_process_that_never_got_threads_computes(threads: int) -> None:
    """Where the limit is there before the first computation."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(threads=threads)],
        check=False,
        timeout=60,
        env=environment,
    )
    assert done.returncode == 0


def test_a_panic_is_an_exception() -> None:
    """Whoever catches exceptions catches a fault of the compiled part, too."""
    assert issubclass(_native.PanicException, RuntimeError)


def test_a_child_forked_while_threads_work_computes() -> None:
    stop = threading.Event()
    shared = hesc.Encryptor(PUBLIC, 256, generator="bernoulli")

    def busy() -> None:
        while not stop.is_set():
            shared.encrypt(VALUES[:50])
            KEYS.encrypt([1, 2, 3], bound=3).square()

    def child() -> None:
        shared.encrypt(VALUES[:50])
        _leveled()

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            _in_child(child)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _product(pair: tuple[hesc.EncryptedArray, hesc.EncryptedArray]) -> hesc.EncryptedArray:
    return pair[0] * pair[1]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_multiplies(method: str) -> None:
    encryptor = hesc.Encryptor(PUBLIC, 1024, random_state=1)
    pairs = [(encryptor.encrypt(VALUES[:8]), encryptor.encrypt(VALUES[8:16])) for _ in range(4)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        products = pool.map_async(_product, pairs).get(60)
    for found, (a, b) in zip(products, pairs, strict=True):
        decryptor = hesc.Decryptor(SECRET)
        np.testing.assert_array_equal(decryptor.decrypt(found), decryptor.decrypt(a * b))


def test_threads_share_an_encryptor() -> None:
    """Every call takes a dimension of its own, and none is lost."""
    calls = 120
    encryptor = hesc.Encryptor(PUBLIC, 256, generator="exact_weight")
    secret_encryptor = hesc.SecretEncryptor(SECRET, 256)
    with ThreadPoolExecutor(8) as threads:
        arrays = list(threads.map(lambda _: encryptor.encrypt(VALUES), range(calls)))
        list(threads.map(lambda _: secret_encryptor.encrypt([0.5]), range(calls)))
    assert encryptor.encoder.next_dimension == secret_encryptor.encoder.next_dimension == calls
    for first, second in itertools.pairwise(arrays):
        first * second


def test_a_call_that_fails_takes_no_dimension() -> None:
    encoder = hesc.Encoder(256, generator="joint")
    with pytest.raises(hesc.OutOfRangeError):
        encoder.encode([2.0])
    with pytest.raises(hesc.CorrelationError):
        encoder.encode_factors(np.zeros((2000, 1)))
    assert encoder.next_dimension == 0
    encoder.encode_factors(np.zeros((3, 1)))
    assert encoder.next_dimension == 3


def _travelled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


@pytest.mark.parametrize(
    "params",
    [
        *(
            hesc.Params.preset(name)
            for name in hesc.Params.presets("streams").names
            if "8192" not in name
        ),
        PARAMS.simulated(),
        LEVELED,
        hesc.Params.preset("ckks_4096", bound=2.5),
    ],
    ids=lambda params: params.name,
)
def test_parameters_travel(params: Any) -> None:
    again = _travelled(params)
    assert again == params
    assert (again.name, again.assurance) == (params.name, params.assurance)


def test_streams_travel() -> None:
    encryptor = hesc.Encryptor(PUBLIC, 128)
    fresh = encryptor.encrypt([[0.5, 0.25], [-0.5, 1.0]])
    array = fresh * 0.5 + 0.25
    decryptor = hesc.Decryptor(SECRET)
    for thing in (array, array[0].sum(), array.answer(compact=True)):
        for found, expected in zip(
            decryptor.decrypt(_travelled(thing), return_std=True),
            decryptor.decrypt(thing, return_std=True),
            strict=True,
        ):
            np.testing.assert_array_equal(found, expected)
    with pytest.raises(hesc.CorrelationError):
        _travelled(fresh) * fresh
    seeded = hesc.SecretEncryptor(SECRET, 128).encrypt([0.5])
    assert _travelled(seeded).to_bytes() == seeded.to_bytes()
    assert hesc.Encryptor(_travelled(PUBLIC), 128).encrypt([0.5]).shape == (1,)


def test_vectors_travel() -> None:
    vector = KEYS.encrypt([1, 2, 3], bound=3)
    again = _travelled(vector)
    assert OWNER.decrypt(again * vector + again).tolist() == [2, 6, 12]
    assert len(again) == 3
    assert _travelled(KEYS).to_bytes() == KEYS.to_bytes()


def test_gates_travel() -> None:
    params = hesc.Params.preset("insecure_tfhe_512")
    secret, public = hesc.keygen(params, bootstrapping=True)
    key = _travelled(public)
    bits = _travelled(gates.encrypt_bits(public, [0, 1, 1]))
    evaluator = gates.Evaluator(key)
    popcount = _travelled(gates.popcount(3))
    (count,) = evaluator(popcount, bits)
    answer = _travelled(evaluator.answer(count))
    assert gates.to_numbers(decrypt_bits(secret, answer)) == 2
    with pytest.raises(hesc.ParameterError, match=r"Evaluator\.pack"):
        pickle.dumps(count)
    for thing, message in ((evaluator, "public keys"), (evaluator.program(popcount), "Circuit")):
        with pytest.raises(TypeError, match=message):
            pickle.dumps(thing)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (SECRET, "write it with save"),
        (hesc.Decryptor(SECRET), "write it with save"),
        (OWNER, "write it with save"),
        (hesc.SecretEncryptor(SECRET), "secret key|encoder"),
        (hesc.Encryptor(PUBLIC), "first_dimension of its own"),
        (hesc.Encoder(64), "first_dimension of its own"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_must_not_travel_says_so(thing: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        pickle.dumps(thing)
