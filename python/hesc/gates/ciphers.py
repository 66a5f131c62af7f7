"""Keystreams of stream ciphers: circuits for servers that hold a cipher's key in encrypted form.

`hesc.integers.transciphering` is what applications take. The circuits have two inputs, the key and
the initial value, and one output, the first bits of the keystream; bits are those of bytes, the
lowest of each byte first.

>>> circuit = kreyvium(8)
>>> circuit.inputs, circuit.outputs, circuit.product_depth
([128, 128], [8], 12)
"""

from __future__ import annotations

from hesc import _native
from hesc._support.inputs import INDEX, whole
from hesc.gates.circuit import Circuit


def kreyvium(bits: int) -> Circuit:
    """So many bits (1 to 65536) of Kreyvium, Canteaut, Carpov and others 2018: a key of 128 bits.

    Cost: three products and a dozen exclusive ors a bit, and of each of 1152 rounds before the
    first, fewer where key and initial value are known.
    """
    return _keystream("kreyvium", bits)


def insecure_trivium(bits: int) -> Circuit:
    """So many bits (1 to 65536) of Trivium, De Cannière and Preneel 2005, for comparisons only.

    Its key has 80 bits, which is too short today. Cost: as `kreyvium`.
    """
    return _keystream("insecure_trivium", bits)


def _keystream(cipher: str, bits: int) -> Circuit:
    return Circuit(_native.keystream(cipher, whole(bits, "bits of keystream", 0, INDEX)))
