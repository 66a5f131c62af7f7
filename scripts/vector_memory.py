"""Peak memory and key generation of BFV, hesc and SEAL.

A public key, a relinearisation key, ten rotation keys, ten ciphertexts and their squares. Run
`python -m scripts.vector_memory hesc 14` and the same with `seal`, each in a process of its own;
RAYON_NUM_THREADS=1 for one thread.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np

KEYS = range(1, 11)
VALUES = np.arange(100)


def peak() -> float:
    """Megabytes this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ours(ring_degree: int) -> tuple[float, float, list[Any]]:
    """Peak before, seconds of key generation, and what has to be kept."""
    import hesc

    params = hesc.Params.preset(f"hestd2018_bfv_{ring_degree}")
    before, started = peak(), time.perf_counter()
    _, public = hesc.keygen(params, rotations=list(KEYS))
    seconds = time.perf_counter() - started
    # Numbers do not matter: squares wrap.
    vectors = [public.encrypt(VALUES, wrap=True) for _ in KEYS]
    return before, seconds, [*vectors, *(vector.square() for vector in vectors)]


def seals(ring_degree: int) -> tuple[float, float, list[Any]]:
    """The same with SEAL."""
    import seal

    parameters = seal.EncryptionParameters(seal.scheme_type.bfv)
    parameters.set_poly_modulus_degree(ring_degree)
    level = seal.sec_level_type.tc128
    parameters.set_coeff_modulus(seal.CoeffModulus.BFVDefault(ring_degree, level))
    parameters.set_plain_modulus(seal.PlainModulus.Batching(ring_degree, 20))
    context = seal.SEALContext(parameters, True, level)
    before, started = peak(), time.perf_counter()
    keys = seal.KeyGenerator(context)
    public, relin, galois = keys.create_public_key(), keys.create_relin_keys(), seal.GaloisKeys()
    keys.create_galois_keys(list(KEYS), galois)
    seconds = time.perf_counter() - started
    encryptor, evaluator = seal.Encryptor(context, public), seal.Evaluator(context)
    encoder = seal.BatchEncoder(context)
    vectors = [encryptor.encrypt(encoder.encode(VALUES)) for _ in KEYS]
    squares = [evaluator.relinearize(evaluator.square(vector), relin) for vector in vectors]
    return before, seconds, [galois, *vectors, *squares]


def main() -> None:
    """Prints one line."""
    library, log_degree = sys.argv[1], int(sys.argv[2])
    before, seconds, kept = (ours if library == "hesc" else seals)(1 << log_degree)
    print(f"{library}, log N = {log_degree}: {peak() - before:.0f} MB, keys in {seconds:.3f} s")
    del kept


if __name__ == "__main__":
    main()
