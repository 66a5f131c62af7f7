"""Writes vectors/slots.json: keys and ciphertexts of BGV in slots of odd rings.

Made once from fresh noise, in a small ring (insecure). The tests decrypt them and compute on with
the stored keys. Run: python -m scripts.slot_vectors
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import hesc
from hesc import packing
from hesc.packing.secret import encrypt_slots
from scripts.ciphertext_vectors import stored

TARGET = Path(__file__).parents[1] / "vectors" / "slots.json"
INDEX = 51
PLAIN_MODULI = (2, 7, 1024)


def main() -> None:
    """Messages packed, unpacked, multiplied and packed again with each plaintext modulus."""
    cases = []
    for plain_modulus in PLAIN_MODULI:
        params = hesc.Params.cyclotomic(
            INDEX,
            [45, 45, 40, 40],
            [50],
            plain_modulus=plain_modulus,
            # Levels are any combinations of the small primes.
            large=2,
            assurance="insecure",
        )
        secret, public = hesc.keygen(params, unpacking=True, slot_rotations=[(0, 1)])
        shape = (params.slot_count, params.slot_degree or 1)
        rows = np.random.default_rng(plain_modulus).integers(0, plain_modulus, shape)
        packed = encrypt_slots(secret, rows)
        read = packing.EncryptedSlots.from_bytes(public.params, packed)
        first, second = read.with_keys(public).unpack([0, 1])
        product = (first * second).to_bytes()
        powers = packing.pack([first, second]).mod_switch_to(1).to_bytes()
        cases.append(
            {
                "plain_modulus": plain_modulus,
                "rows": rows.tolist(),
                **stored(secret, public, packed=packed, product=product, powers=powers),
            }
        )
    TARGET.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
