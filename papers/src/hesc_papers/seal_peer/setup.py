"""Contexts, keys, packings and arrays of ciphertexts that all peers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import HescError

try:
    import seal
except ImportError as error:
    raise HescError("SEAL is an optional peer: pip install './papers[peers]'") from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Setting(NamedTuple):
    """A context with its keys and tools.

    `encoder` is SEAL's for the scheme, or `Coefficients`. The encryptor has both keys: `encrypt`
    takes the public one, `encrypt_symmetric` the secret one. `moduli` are all primes of the chain.
    """

    context: Any
    encryptor: Any
    evaluator: Any
    decryptor: Any
    encoder: Any
    keys: Any
    moduli: Sequence[int]


class Coefficients:
    """Numbers in the coefficients of BFV, without a transform: SEAL's plaintexts as they are.

    The wheel sets coefficients from text or from their serial form; the latter is a header and the
    words, copied in microseconds.
    """

    def __init__(self, context: Any, ring_degree: int) -> None:
        raw = seal.Plaintext(f"1x^{ring_degree - 1}").to_bytes()
        self._context, self._ring_degree = context, ring_degree
        self._header = raw[: len(raw) - 8 * ring_degree]

    def encode(self, values: NDArray[np.integer]) -> Any:
        """A plaintext of up to `ring_degree` numbers below the plaintext modulus."""
        words = np.zeros(self._ring_degree, dtype="<u8")
        words[: values.size] = values
        plain = seal.Plaintext()
        plain.load_bytes(self._context, self._header + words.tobytes())
        return plain

    def decode(self, plain: Any) -> NDArray[np.int64]:
        """All coefficients; SEAL leaves out zeros at the end."""
        found = np.frombuffer(plain.to_bytes(), dtype="<i8", offset=len(self._header))
        counts = np.zeros(self._ring_degree, dtype=np.int64)
        counts[: found.size] = found
        return counts

    decode_uint64 = decode


def make(
    scheme: str,
    ring_degree: int,
    coeff_moduli: Sequence[int],
    *,
    plain_modulus: int | None = None,
    packing: str = "slots",
    check_security: bool = True,
) -> Setting:
    """A setting for explicit primes. SEAL checks its security against the 2018 standard."""
    ckks = scheme == "ckks"
    parameters = seal.EncryptionParameters(seal.scheme_type.ckks if ckks else seal.scheme_type.bfv)
    parameters.set_poly_modulus_degree(ring_degree)
    parameters.set_coeff_modulus([seal.Modulus(q) for q in coeff_moduli])
    if plain_modulus is not None:
        parameters.set_plain_modulus(plain_modulus)
    level = seal.sec_level_type.tc128 if check_security else seal.sec_level_type.none
    context = seal.SEALContext(parameters, True, level)
    if not context.parameters_set():
        raise HescError(f"SEAL refuses these parameters: {context.parameter_error_message()}")
    keys = seal.KeyGenerator(context)
    if ckks:
        encoder = seal.CKKSEncoder(context)
    elif packing == "slots":
        encoder = seal.BatchEncoder(context)
    else:
        encoder = Coefficients(context, ring_degree)
    return Setting(
        context,
        seal.Encryptor(context, keys.create_public_key(), keys.secret_key()),
        seal.Evaluator(context),
        seal.Decryptor(context, keys.secret_key()),
        encoder,
        keys,
        coeff_moduli,
    )


def primes(ring_degree: int, bits: Sequence[int]) -> list[int]:
    """SEAL's own primes of these sizes."""
    return [q.value() for q in seal.CoeffModulus.Create(ring_degree, list(bits))]


def size(ciphertexts: Sequence[Any]) -> int:
    """Bytes on the wire, as the wheel writes them (without compression)."""
    return sum(len(ciphertext.to_string()) for ciphertext in ciphertexts)
