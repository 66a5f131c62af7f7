"""Contexts, keys and arrays of ciphertexts that all peers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hesc._native import HescError

try:
    import seal
except ImportError as error:
    raise HescError("SEAL is an optional peer: pip install 'hesc[peers]'") from error

if TYPE_CHECKING:
    from collections.abc import Sequence


class Setting(NamedTuple):
    """A context with its keys and tools. `encoder` is SEAL's for the scheme."""

    context: Any
    encryptor: Any
    evaluator: Any
    decryptor: Any
    encoder: Any
    keys: Any


def make(
    scheme: str,
    ring_degree: int,
    coeff_moduli: Sequence[int],
    *,
    plain_modulus: int | None = None,
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
    return Setting(
        context,
        seal.Encryptor(context, keys.create_public_key()),
        seal.Evaluator(context),
        seal.Decryptor(context, keys.secret_key()),
        seal.CKKSEncoder(context) if ckks else seal.BatchEncoder(context),
        keys,
    )


def primes(ring_degree: int, bits: Sequence[int]) -> list[int]:
    """SEAL's own primes of these sizes."""
    return [q.value() for q in seal.CoeffModulus.Create(ring_degree, list(bits))]


def size(ciphertexts: Sequence[Any]) -> int:
    """Bytes on the wire, as the wheel writes them (without compression)."""
    return sum(len(ciphertext.to_string()) for ciphertext in ciphertexts)
