"""Writes vectors/ciphertexts.json: keys and ciphertexts of BFV, BGV and CKKS with multiplication.

Made once from fresh noise, in a small ring (insecure). The tests decrypt them with hesc and with
the second implementation, and compute on with the stored keys.
Run: python -m scripts.ciphertext_vectors
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import hesc
from hesc._native import primes_of_bits, split_keys

TARGET = Path(__file__).parents[1] / "vectors" / "ciphertexts.json"
DEGREE = 256
LEFT, RIGHT = [3, -2, 5, 7], [4, 6, -1, 2]
BOUND = 8
PARTS = {"public": "public", "relin": "relinearisation", "galois": "rotations"}


def stored(secret: hesc.SecretKey, public: hesc.PublicKeys, **others: bytes) -> dict[str, str]:
    """A set, its keys and other objects as text."""
    keys = dict(split_keys(public.to_bytes(), None))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        secret.save(path)
        parts = {
            "params": secret.params.to_bytes(),
            "secret": path.read_bytes(),
            **others,
            **{name: keys[part] for name, part in PARTS.items()},
        }
    return {key: base64.b64encode(data).decode() for key, data in parts.items()}


def main() -> None:
    """Two vectors and their product, a level lower, under each scheme."""
    cases = []
    primes = primes_of_bits(2 * DEGREE, [41, 41, 36, 36])
    for scheme in ("bfv", "bgv", "ckks"):
        ckks = scheme == "ckks"
        params = hesc.Params.lattice(
            scheme,
            DEGREE,
            primes[1:],
            special_moduli=primes[:1],
            # BGV's products come to a level that is no prefix of the next.
            levels=[[0], [1, 2], [0, 1, 2]] if scheme == "bgv" else [],
            plain_modulus=None if ckks else primes_of_bits(2 * DEGREE, [17])[0],
            scale=2.0**36 if ckks else None,
            bound=float(BOUND) if ckks else 1.0,
            assurance="insecure",
        )
        secret, public = hesc.keygen(params, rotations=[1])
        product = public.encrypt(LEFT, bound=BOUND) * public.encrypt(RIGHT, bound=BOUND)
        left = secret.encrypt_to_bytes(LEFT, bound=BOUND)
        below = product.mod_switch_to(2).to_bytes()
        cases.append(
            {
                "scheme": scheme,
                "left_values": LEFT,
                "right_values": RIGHT,
                **stored(secret, public, left=left, product=below),
            }
        )
    TARGET.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
