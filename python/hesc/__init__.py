"""hesc: predictions and arithmetic on data that the server cannot read.

A number in [-1, 1] becomes a stream of bits whose share of ones is its value; the bits are
encrypted. Products of streams are additions of ciphertexts and sums are concatenations, so an
encryption that only adds evaluates polynomials and small networks.

The names that can decrypt or hold a secret key are imported on first use only: a server that does
not ask for them never loads what they are in.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

from hesc._native import (
    CircuitError,
    CorrelationError,
    DecryptionError,
    FusionError,
    HescError,
    KeyMismatchError,
    NoiseBudgetError,
    OutOfRangeError,
    ParameterError,
    SecurityError,
    ShapeError,
    WireError,
    scc,
)
from hesc.params import Params
from hesc.streams.arrays import Answer, EncryptedArray, SeededArray, powers
from hesc.streams.encoding import EncodedArray, Encoder
from hesc.streams.encryptor import Encryptor
from hesc.streams.polynomials import Polynomial, Summation
from hesc.vectors import EncryptedVector
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from hesc.integers.transciphering.secret import CipherKey
    from hesc.ml.remote.exchanges import ServiceError
    from hesc.ml.remote.faces import AsyncClient, Client
    from hesc.secret import Decryptor, SecretEncryptor, SecretKey, keygen

__version__ = version("hesc")

_LATER = {
    "AsyncClient": "hesc.ml.remote.faces",
    "CipherKey": "hesc.integers.transciphering.secret",
    "Client": "hesc.ml.remote.faces",
    "Decryptor": "hesc.secret",
    "SecretEncryptor": "hesc.secret",
    "SecretKey": "hesc.secret",
    "ServiceError": "hesc.ml.remote.exchanges",
    "keygen": "hesc.secret",
}

__all__ = [
    "Answer",
    "AsyncClient",
    "CipherKey",
    "CircuitError",
    "Client",
    "CorrelationError",
    "DecryptionError",
    "Decryptor",
    "EncodedArray",
    "Encoder",
    "EncryptedArray",
    "EncryptedVector",
    "Encryptor",
    "FusionError",
    "HescError",
    "KeyMismatchError",
    "NoiseBudgetError",
    "OutOfRangeError",
    "ParameterError",
    "Params",
    "Polynomial",
    "PublicKeys",
    "SecretEncryptor",
    "SecretKey",
    "SecurityError",
    "SeededArray",
    "ServiceError",
    "ShapeError",
    "Summation",
    "WireError",
    "keygen",
    "powers",
    "scc",
]


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'hesc' has no attribute {name!r}; dir(hesc) lists what there is")


def __dir__() -> list[str]:
    """The public names, those that are loaded on first use among them."""
    return sorted([*__all__, "__version__"])
