"""SEAL 4's serialised objects, read and written without SEAL.

Every object is a header (magic a15e, header size 16, version, compression, total size) and a body;
numbers are little-endian, residues words of 64 bits.
"""

from __future__ import annotations

import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import seal

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEADER = struct.Struct("<HBBBBHQ")
_MAGIC = 0xA15E
_ONE_FACTOR = 1


def _framed(body: bytes, version: tuple[int, int]) -> bytes:
    return _HEADER.pack(_MAGIC, 16, *version, 0, 0, _HEADER.size + len(body)) + body


def _open(data: bytes) -> tuple[bytes, tuple[int, int]]:
    magic, size, major, minor, compression, _, total = _HEADER.unpack(data[: _HEADER.size])
    assert (magic, size, compression, total) == (_MAGIC, 16, 0, len(data))
    return data[_HEADER.size :], (major, minor)


def _words(data: bytes) -> NDArray[np.int64]:
    body, _ = _open(data)
    (count,) = struct.unpack("<Q", body[:8])
    words = np.frombuffer(body[8:], "<u8").astype(np.int64)
    assert len(words) == count
    return words


def read_ciphertext(ciphertext: Any) -> NDArray[np.int64]:
    """Residues (2, ring_degree) of a ciphertext of one modulus in coefficient form."""
    body, _ = _open(ciphertext.to_string(seal.compr_mode_type.none))
    ntt, size, degree, moduli = struct.unpack("<?QQQ", body[32:57])
    assert (ntt, size, moduli) == (False, 2, 1)
    return _words(body[73:]).reshape(2, degree)


def write_ciphertext(context: Any, like: Any, residues: NDArray[np.int64], scale: float) -> Any:
    """A ciphertext of these residues in coefficient form, of the parameters of `like`."""
    body, version = _open(like.to_string(seal.compr_mode_type.none))
    degree = residues.shape[1]
    words = np.ascontiguousarray(residues, dtype="<u8")
    head = body[:32] + struct.pack("<?QQQdQ", False, 2, degree, 1, scale, _ONE_FACTOR)
    data = _framed(struct.pack("<Q", words.size) + words.tobytes(), version)
    result = seal.Ciphertext()
    result.load_bytes(context, _framed(head + data, version))
    return result


def read_parts(ciphertext: Any) -> tuple[NDArray[np.int64], bool, float, int]:
    """Residues (parts, primes, ring_degree), whether they are evaluations, scale and factor."""
    body, _ = _open(ciphertext.to_string(seal.compr_mode_type.none))
    ntt, size, degree, moduli, scale, factor = struct.unpack("<?QQQdQ", body[32:73])
    return _words(body[73:]).reshape(size, moduli, degree), ntt, scale, factor


def write_parts(
    context: Any,
    like: Any,
    residues: NDArray[np.int64],
    *,
    ntt: bool,
    scale: float = 1.0,
    factor: int = _ONE_FACTOR,
) -> Any:
    """A ciphertext of these residues, of the parameters and level of `like`."""
    body, version = _open(like.to_string(seal.compr_mode_type.none))
    size, moduli, degree = residues.shape
    words = np.ascontiguousarray(residues, dtype="<u8")
    head = body[:32] + struct.pack("<?QQQdQ", ntt, size, degree, moduli, scale, factor)
    data = _framed(struct.pack("<Q", words.size) + words.tobytes(), version)
    result = seal.Ciphertext()
    result.load_bytes(context, _framed(head + data, version))
    return result


def secret_key_of(context: Any, own_key: Any, evaluations: NDArray[np.int64]) -> Any:
    """SEAL's secret key of these evaluations (primes, ring_degree), in its own order.

    `own_key`, any key of `context`, gives the name of its parameters.
    """
    own, version = _open(own_key.to_string())
    words = np.ascontiguousarray(evaluations, dtype="<u8")
    data = _framed(struct.pack("<Q", words.size) + words.tobytes(), version)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        path.write_bytes(_framed(own[:48] + data, version))
        key = seal.SecretKey()
        key.load(context, str(path))
    return key


def _polynomial(coefficients: NDArray[np.int64]) -> Any:
    """A plaintext from coefficients in [0, t)."""
    terms = [f"{int(c):X}x^{i}" if i else f"{int(c):X}" for i, c in enumerate(coefficients) if c]
    return seal.Plaintext(" + ".join(reversed(terms)) or "0")


def polynomial(coefficients: NDArray[np.int64]) -> Any:
    """A BFV plaintext with these coefficients."""
    return _polynomial(coefficients)


def coefficients(plain: Any, ring_degree: int) -> NDArray[np.int64]:
    """The coefficients of a BFV plaintext."""
    result = np.zeros(ring_degree, dtype=np.int64)
    for term in plain.to_string().split(" + "):
        value, _, exponent = term.partition("x^")
        result[int(exponent or 0)] = int(value, 16)
    return result


def secret_key(
    context: Any, own_key: Any, bfv_context: Any, ternary: NDArray[np.int64], t: int
) -> Any:
    """SEAL's form (evaluations) of a ternary secret.

    SEAL itself transforms a BFV plaintext of the same ring, centred modulo t, in `bfv_context`;
    `own_key`, any key of `context`, gives the name of its parameters.
    """
    plain = _polynomial(ternary % t)
    evaluated = seal.Evaluator(bfv_context).transform_to_ntt(plain, bfv_context.first_parms_id())
    body, _ = _open(evaluated.to_bytes(seal.compr_mode_type.none))
    own, version = _open(own_key.to_string())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        # Name of the parameters and head as in any key, residues of ours.
        path.write_bytes(_framed(own[:48] + body[48:], version))
        key = seal.SecretKey()
        key.load(context, str(path))
    return key
