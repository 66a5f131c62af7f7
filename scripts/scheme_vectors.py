"""Writes vectors/schemes.json: keys and ciphertexts of presets, made once from fresh noise.

The tests decrypt them with hesc and with the second implementation, so that neither the wire
format nor decryption can change unnoticed; those that are there stay. Run:
python -m scripts.scheme_vectors
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hesc

TARGET = Path(__file__).parents[1] / "vectors" / "schemes.json"
PRESETS = (
    "bfv_1024",
    "bfv_1024_fusion",
    "hestd2018_koseki_bfv_1024",
    "ckks_1024",
    "ckks_1024_slots",
    "gm_3072",
    "pad_1024",
    "elgamal_ffdhe3072",
    "ec_elgamal_ristretto255",
    "ec_elgamal_secp256r1",
    "unipolar_elgamal_secp256r1",
)
LEFT, RIGHT = [0.5, -0.25, 1.0], [0.75, 0.1, -0.6]


def main() -> None:
    """A product of streams under each preset."""
    there = {case["preset"]: case for case in json.loads(TARGET.read_text())}
    cases = []
    for name in PRESETS:
        if name in there:
            cases.append(there[name])
            continue
        params = hesc.Params.preset(name)
        secret, public = hesc.keygen(params)
        # A ciphertext for each bit takes hundreds of bytes: one short product shows as much.
        elements, stream_length = (3, 256) if params.ring_degree else (1, 64)
        left, right = LEFT[:elements], RIGHT[:elements]
        unipolar = params.scheme.startswith("unipolar")
        representation = "unipolar" if unipolar else "inverted_bipolar"
        options: Any = {"representation": representation, "random_state": 99}
        if params.scheme == "pad":
            own = hesc.SecretEncryptor(secret, stream_length, **options)
            product = own.encrypt(left).expand() * own.encrypt(right).expand()
        else:
            encryptor = hesc.Encryptor(public, stream_length, **options)
            product = encryptor.encrypt(left) * encryptor.encrypt(right)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "secret"
            secret.save(path)
            parts = {
                "params": params.to_bytes(),
                "secret": path.read_bytes(),
                "public": public.public.to_bytes(),
                "product": product.to_bytes(),
            }
        cases.append(
            {
                "preset": name,
                "left": left,
                "right": right,
                "stream_length": stream_length,
                "representation": representation,
                "random_state": 99,
                **{key: base64.b64encode(data).decode() for key, data in parts.items()},
            }
        )
    TARGET.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
