"""The operations that `babenko2020ckksbfv` compares, in hesc and in SEAL, ready to be timed."""

from __future__ import annotations

import statistics
import sys
import time
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from hesc import _native
from hesc.params import Params, VectorParams
from hesc_papers.other_process import OtherProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LENGTHS: Final = (128, 256, 512, 1024, 2048)
# Bits of SEAL's own default primes (its set for 128 bits), the last one special; in full the
# paper's log2 q.
SEAL_BITS: Final = {
    4096: (36, 36, 37),
    8192: (43, 43, 44, 44, 44),
    16384: (48, 48, 48, *(49,) * 6),
    32768: (*(55,) * 15, 56),
}
OPERATIONS: Final = (
    "encode",
    "decode",
    "encrypt_secret",
    "encrypt_public",
    "decrypt",
    "add",
    "multiply_scalar",
    "multiply",
    "relinearise",
    "rotate",
)


def vector(scheme: str, length: int) -> Any:
    """What is encrypted: integers, or complex numbers on the unit circle."""
    if scheme == "ckks":
        return np.exp(1j * np.arange(length))
    return np.arange(length, dtype=np.int64) % 1000


class Library(Protocol):
    """A library with keys and ciphertexts of each length."""

    def operation(self, name: str, length: int) -> Callable[[], Any]:
        """The call to be timed."""


class Ours:
    """hesc, at its own chain of primes or at SEAL's."""

    def __init__(self, params: VectorParams) -> None:
        self._scheme, self._params = params.scheme, params
        self._secret, self._public = _native.VectorSecretKey.generate(params)
        self._relin = self._secret.relin_key()
        self._galois = self._secret.galois_keys([1], False, [])

    def _encode(self, values: Any) -> Any:
        if self._scheme == "ckks":
            return _native.Plaintext.encode_bounded(self._params, values, 1.0)
        return _native.Plaintext.encode_integers(self._params, values, False)

    def sizes(self, length: int) -> tuple[int, int, int]:
        """Bytes of a plaintext and of a ciphertext in memory, and of the latter on the wire."""
        plain = self._encode(vector(self._scheme, length))
        cipher = self._public.encrypt(plain)
        return plain.nbytes, cipher.nbytes, len(cipher.to_bytes())

    def operation(self, name: str, length: int) -> Callable[[], Any]:
        """The call to be timed."""
        values = vector(self._scheme, length)
        plain = self._encode(values)
        x, y = self._public.encrypt(plain), self._public.encrypt(plain)
        decrypted = self._secret.decrypt(x)
        product = x.multiply(y) if name == "relinearise" else x
        ckks = self._scheme == "ckks"
        calls: dict[str, Callable[[], Any]] = {
            "encode": lambda: self._encode(values),
            "decode": decrypted.decode_complex
            if ckks
            else lambda: decrypted.decode_integers(False),
            "encrypt_secret": lambda: self._secret.encrypt(plain),
            "encrypt_public": lambda: self._public.encrypt(plain),
            "decrypt": lambda: self._secret.decrypt(x),
            "add": lambda: x.add(y),
            "multiply_scalar": lambda: x.multiply_scalar(7),
            "multiply": lambda: x.multiply(y),
            "relinearise": lambda: product.relinearise(self._relin),
            "rotate": lambda: x.rotate(1, self._galois),
        }
        return calls[name]


class Seal:
    """SEAL-Python, at its default primes."""

    def __init__(self, scheme: str, ring_degree: int) -> None:
        import seal

        self._seal, self._scheme = seal, scheme
        parameters = seal.EncryptionParameters(getattr(seal.scheme_type, scheme))
        parameters.set_poly_modulus_degree(ring_degree)
        parameters.set_coeff_modulus(
            seal.CoeffModulus.BFVDefault(ring_degree, seal.sec_level_type.tc128)
        )
        if scheme != "ckks":
            parameters.set_plain_modulus(our_params(scheme, ring_degree).plain_modulus)
        context = seal.SEALContext(parameters, True, seal.sec_level_type.tc128)
        keys = seal.KeyGenerator(context)
        self._relin, self._galois = keys.create_relin_keys(), seal.GaloisKeys()
        keys.create_galois_keys([1], self._galois)
        self._encryptor = seal.Encryptor(context, keys.create_public_key(), keys.secret_key())
        self._decryptor = seal.Decryptor(context, keys.secret_key())
        self._evaluator = seal.Evaluator(context)
        make_encoder = seal.CKKSEncoder if scheme == "ckks" else seal.BatchEncoder
        self._encoder = make_encoder(context)
        self._scale = 2.0 ** (30 if ring_degree == 4096 else 40)

    def _encode(self, values: Any) -> Any:
        if self._scheme == "ckks":
            return self._encoder.encode_complex(values, self._scale)
        return self._encoder.encode(values)

    def sizes(self, length: int) -> tuple[int, int, int]:
        """Bytes of a plaintext and of a ciphertext, as SEAL writes them without compression."""
        plain = self._encode(vector(self._scheme, length))
        cipher = self._encryptor.encrypt(plain)
        raw = self._seal.compr_mode_type.none
        size = len(cipher.to_string(raw))
        return len(plain.to_bytes(raw)), size, size

    def operation(self, name: str, length: int) -> Callable[[], Any]:
        """The call to be timed."""
        values = vector(self._scheme, length)
        plain = self._encode(values)
        encryptor, evaluator = self._encryptor, self._evaluator
        x, y = encryptor.encrypt(plain), encryptor.encrypt(plain)
        decrypted = self._decryptor.decrypt(x)
        product = evaluator.multiply(x, y) if name == "relinearise" else x
        ckks = self._scheme == "ckks"
        # SEAL multiplies with a constant plaintext: as an integer fast, or in CKKS as evaluations.
        scalar = self._encoder.encode(7.0, 1.0) if ckks else self._seal.Plaintext("7")
        rotate = evaluator.rotate_vector if ckks else evaluator.rotate_rows
        decode = self._encoder.decode_complex if ckks else self._encoder.decode
        calls: dict[str, Callable[[], Any]] = {
            "encode": lambda: self._encode(values),
            "decode": lambda: decode(decrypted),
            "encrypt_secret": lambda: encryptor.encrypt_symmetric(plain),
            "encrypt_public": lambda: encryptor.encrypt(plain),
            "decrypt": lambda: self._decryptor.decrypt(x),
            "add": lambda: evaluator.add(x, y),
            "multiply_scalar": lambda: evaluator.multiply_plain(x, scalar),
            "multiply": lambda: evaluator.multiply(x, y),
            "relinearise": lambda: evaluator.relinearize(product, self._relin),
            "rotate": lambda: rotate(x, 1, self._galois),
        }
        return calls[name]


@cache
def our_params(scheme: str, ring_degree: int) -> VectorParams:
    """Our chain for the paper's set. SEAL has its plaintext modulus."""
    found: VectorParams = Params.preset(f"hestd2018_{scheme}_{ring_degree}")
    return found


@cache
def seals_params(scheme: str, ring_degree: int) -> VectorParams:
    """SEAL's primes, all but one of them in ciphertexts."""
    bits = SEAL_BITS[ring_degree]
    primes = _native.primes_of_bits(2 * ring_degree, list(bits))
    ckks = scheme == "ckks"
    found: VectorParams = Params.lattice(
        scheme,
        ring_degree,
        primes[:-1],
        special_moduli=primes[-1:],
        plain_modulus=our_params(scheme, ring_degree).plain_modulus,
        scale=2.0 ** (30 if ring_degree == 4096 else 40) if ckks else None,
        assurance="hestd2018",
    )
    return found


def timed(
    calls: Mapping[str, Callable[[], Any]], clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Microseconds of each call: of the processor, which other work on the machine does not change.

    Another clock, `time.perf_counter`, is for calls on several threads.
    """
    result = {}
    for name, call in calls.items():
        started = clock()
        call()
        result[name] = (clock() - started) * 1e6
    return result


class TwoThreads(OtherProcess):
    """hesc with two threads, in a process of its own that is asked for one time after another."""

    def __init__(self, operation: str) -> None:
        super().__init__(__name__, operation, threads=2)

    def run(self, scheme: str, ring_degree: int) -> float:
        """Microseconds of a call, the median of five."""
        return float(self.ask(f"{scheme} {ring_degree}"))


def _serve(operation: str) -> None:
    made = ""
    for asked in sys.stdin:
        if asked != made:
            scheme, ring_degree = asked.split()
            call = Ours(our_params(scheme, int(ring_degree))).operation(operation, LENGTHS[-1])
            made = asked
        # Several in a row: threads that slept through the peer's turn wake up first.
        times = [timed({"": call}, time.perf_counter)[""] for _ in range(5)]
        print(statistics.median(times), flush=True)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
