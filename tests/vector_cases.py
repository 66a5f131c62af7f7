"""What the tests of schemes with multiplication share."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

import hesc
from hesc._native import primes_of_bits
from tests import reading

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SCHEMES = ("bfv", "bgv", "ckks")
PARTS = {"public": "public", "relinearisation": "relin", "rotations": "galois"}
Keys = tuple[hesc.SecretKey, hesc.PublicKeys]


def close(found: NDArray[Any], expected: Any) -> None:
    """Integers are equal, other numbers to five digits."""
    if found.dtype.kind == "i":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, atol=1e-5)


def stored_keys(case: dict[str, Any], folder: Path) -> Keys:
    """The set and the keys of a case of stored vectors."""
    bytes_of = {key: base64.b64decode(case[key]) for key in ("params", "secret", *PARTS.values())}
    params = hesc.Params.from_bytes(bytes_of["params"], assurance="insecure")
    assert params.to_bytes() == bytes_of["params"]
    (folder / "secret").write_bytes(bytes_of["secret"])
    (folder / "secret").chmod(0o600)
    secret = hesc.SecretKey.load(params, folder / "secret")
    parts = {part: bytes_of[name] for part, name in PARTS.items()}
    return secret, reading.public_keys(params, **parts)


def precise_keys() -> Keys:
    """CKKS with primes of 58 bits in a small ring (insecure): room for noise that hides errors."""
    degree = 1024
    primes = primes_of_bits(2 * degree, [58] * 4)
    params = hesc.Params.lattice(
        "ckks", degree, primes[1:], special_moduli=primes[:1], scale=2.0**55, assurance="insecure"
    )
    return hesc.keygen(params, rotations=[1])
