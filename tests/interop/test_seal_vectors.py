"""Schemes with multiplication: hesc and SEAL on one secret key.

Residue by residue where both compute the same, by decrypted values where they round differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
import seal

import hesc
from hesc import _native
from tests.interop import seal_format
from tests.second_implementation import transform, wire

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

DEGREE = 1024
SCALE = 2.0**38
PRIMES = _native.primes_of_bits(2 * DEGREE, [41, 40, 40, 40])
SPECIAL, MODULI = PRIMES[0], PRIMES[1:]
LEVELS = [MODULI[:level] for level in (1, 2, 3)]
T = _native.primes_of_bits(2 * DEGREE, [20])[0]


class Pair(NamedTuple):
    """One secret key in both libraries."""

    scheme: str
    secret: hesc.SecretKey
    public: hesc.PublicKeys
    context: Any
    encryptor: Any
    decryptor: Any
    evaluator: Any
    encoder: Any
    keys: Any


@pytest.fixture(scope="module", params=["bfv", "bgv", "ckks"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    scheme = request.param
    ckks = scheme == "ckks"
    params = hesc.Params.lattice(
        scheme,
        DEGREE,
        MODULI,
        special_moduli=[SPECIAL],
        plain_modulus=None if ckks else T,
        scale=SCALE if ckks else None,
        bound=1.5 if ckks else 1.0,
        assurance="insecure",
    )
    secret, public = hesc.keygen(params, rotations=[1])
    path: Path = tmp_path_factory.mktemp("keys") / "secret"
    secret.save(path)
    ternary = wire.read_secret(path.read_bytes(), DEGREE)
    assert set(np.unique(ternary)) == {-1, 0, 1}

    parameters = seal.EncryptionParameters(getattr(seal.scheme_type, scheme))
    parameters.set_poly_modulus_degree(DEGREE)
    parameters.set_coeff_modulus([seal.Modulus(q) for q in [*MODULI, SPECIAL]])
    if not ckks:
        parameters.set_plain_modulus(T)
    context = seal.SEALContext(parameters, True, seal.sec_level_type.none)
    assert context.parameters_set()
    evaluations = np.stack([transform.forward(ternary, q) for q in [*MODULI, SPECIAL]])
    own = seal.KeyGenerator(context).secret_key()
    key = seal_format.secret_key_of(context, own, evaluations.astype(np.int64))
    keys = seal.KeyGenerator(context, key)
    return Pair(
        scheme,
        secret,
        public,
        context,
        seal.Encryptor(context, keys.create_public_key()),
        seal.Decryptor(context, key),
        seal.Evaluator(context),
        seal.CKKSEncoder(context) if ckks else seal.BatchEncoder(context),
        keys,
    )


def values(scheme: str, seed: int) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    if scheme == "ckks":
        return rng.uniform(-1, 1, DEGREE // 2) + 1j * rng.uniform(-1, 1, DEGREE // 2)
    return rng.integers(-1000, 1000, DEGREE)


def seal_encode(p: Pair, x: NDArray[Any]) -> Any:
    return p.encoder.encode_complex(x, SCALE) if p.scheme == "ckks" else p.encoder.encode(x)


def seal_values(p: Pair, ciphertext: Any) -> NDArray[Any]:
    plain = p.decryptor.decrypt(ciphertext)
    found = p.encoder.decode_complex(plain) if p.scheme == "ckks" else p.encoder.decode(plain)
    return np.asarray(found)


def transformed(parts: NDArray[np.int64], *, back: bool) -> NDArray[np.int64]:
    """Between our coefficients and SEAL's evaluations, in SEAL's order."""
    change = transform.inverse if back else transform.forward
    limbs = [
        np.stack([change(part[i], MODULI[i]) for i in range(parts.shape[1])]) for part in parts
    ]
    return np.stack(limbs).astype(np.int64)


def to_seal(p: Pair, vector: hesc.EncryptedVector) -> Any:
    head, parts = wire.read_vector_ciphertext(vector.to_bytes(), DEGREE, LEVELS)
    like = p.encryptor.encrypt(seal_encode(p, values(p.scheme, 0)))
    for _ in range(len(MODULI) - parts.shape[1]):
        like = p.evaluator.mod_switch_to_next(like)
    ntt = p.scheme != "bfv"
    residues = transformed(parts, back=False) if ntt else parts
    factor, scale = head[3], head[4]
    return seal_format.write_parts(p.context, like, residues, ntt=ntt, scale=scale, factor=factor)


def coefficients(ciphertext: Any) -> NDArray[np.int64]:
    residues, ntt, _, _ = seal_format.read_parts(ciphertext)
    return transformed(residues, back=True) if ntt else residues


def from_seal(p: Pair, ciphertext: Any, noise: hesc.EncryptedVector) -> hesc.EncryptedVector:
    """SEAL's residues in a frame of ours; the noise is said to be that of a vector of ours."""
    head, _ = wire.read_vector_ciphertext(noise.to_bytes(), DEGREE, LEVELS)
    _, _, scale, factor = seal_format.read_parts(ciphertext)
    parts = coefficients(ciphertext)
    head = (head[0], parts.shape[1], len(parts), factor, scale, *head[5:])
    data = wire.write_vector_ciphertext(head, parts, LEVELS)
    return raw(p, _native.Ciphertext.from_bytes(p.secret.params, data))


def close(found: NDArray[Any], expected: NDArray[Any], atol: float = 1e-5) -> None:
    if found.dtype.kind == "i":
        np.testing.assert_array_equal((found - expected) % T, 0)
    else:
        np.testing.assert_allclose(found, expected, atol=atol)


def raw(p: Pair, native: _native.Ciphertext) -> hesc.EncryptedVector:
    complex_values = p.scheme == "ckks"
    return hesc.EncryptedVector(
        p.secret.params, native, p.secret.params.slot_count, complex_values=complex_values
    )


def test_plaintexts_are_the_same_polynomials(pair: Pair) -> None:
    x = values(pair.scheme, 1)
    params = pair.secret.params
    if pair.scheme == "ckks":
        # An encryption of zero plus the plaintext shows the plaintext's residues.
        zero = pair.public.encrypt(np.zeros(1))
        _, before = wire.read_vector_ciphertext(zero.to_bytes(), DEGREE, LEVELS)
        with_it = zero.native.add_plain(
            _native.Plaintext.encode_complex(params, x, SCALE, len(MODULI))
        )
        _, after = wire.read_vector_ciphertext(raw(pair, with_it).to_bytes(), DEGREE, LEVELS)
        ours = (after[0, 0] - before[0, 0]) % MODULI[0]
        theirs = pair.evaluator.sub_plain(
            like := pair.encryptor.encrypt(seal_encode(pair, x)), seal_encode(pair, x)
        )
        difference = (coefficients(like)[0, 0] - coefficients(theirs)[0, 0]) % MODULI[0]
        off = (ours - difference + MODULI[0] // 2) % MODULI[0] - MODULI[0] // 2
        # Two Fourier transforms in doubles: coefficients of 38 bits agree to a unit.
        assert np.max(np.abs(off)) <= 1
        return
    ours = _native.Plaintext.encode_integers(params, x, False).decode_integers(True) % T
    theirs = seal_format.coefficients(seal_encode(pair, x), DEGREE)
    np.testing.assert_array_equal(ours, theirs)


def test_each_decrypts_the_others(pair: Pair) -> None:
    x = values(pair.scheme, 2)
    ours = pair.public.encrypt(x)
    close(seal_values(pair, to_seal(pair, ours)), x)
    theirs = pair.encryptor.encrypt(seal_encode(pair, x))
    close(pair.secret.decrypt(from_seal(pair, theirs, ours)), x)


def test_what_both_compute_alike_has_equal_residues(pair: Pair) -> None:
    x, y = values(pair.scheme, 3), values(pair.scheme, 4)
    a, b = pair.public.encrypt(x), pair.public.encrypt(y)
    c, d = to_seal(pair, a), to_seal(pair, b)
    evaluator, params = pair.evaluator, pair.secret.params
    plain = (
        _native.Plaintext.encode_complex(params, y, SCALE, len(MODULI))
        if pair.scheme == "ckks"
        else _native.Plaintext.encode_integers(params, y, False)
    )
    alike = [
        (a.native.add(b.native), evaluator.add(c, d)),
        (a.native.sub(b.native), evaluator.sub(c, d)),
        (a.native.negate(), evaluator.negate(c)),
    ]
    if pair.scheme != "bfv":
        alike += [
            (a.native.multiply(b.native), evaluator.multiply(c, d)),
            (a.native.square(), evaluator.square(c)),
        ]
    if pair.scheme != "ckks":
        theirs = seal_encode(pair, y)
        alike.append((a.native.multiply_plain(plain), evaluator.multiply_plain(c, theirs)))
    if pair.scheme == "bfv":
        alike.append((a.native.add_plain(plain), evaluator.add_plain(c, seal_encode(pair, y))))
        alike.append((a.native.mod_switch_to(2), evaluator.mod_switch_to_next(c)))
    if pair.scheme == "ckks":
        rescaled = evaluator.rescale_to_next(evaluator.multiply(c, d))
        alike.append((a.native.multiply(b.native).rescale(), rescaled))
        alike.append((a.native.mod_switch_to(2), evaluator.mod_switch_to_next(c)))
    for ours, theirs in alike:
        _, parts = wire.read_vector_ciphertext(raw(pair, ours).to_bytes(), DEGREE, LEVELS)
        np.testing.assert_array_equal(parts, coefficients(theirs))


def test_products_and_rotations_decrypt_alike(pair: Pair) -> None:
    x, y = values(pair.scheme, 5), values(pair.scheme, 6)
    a, b = pair.public.encrypt(x), pair.public.encrypt(y)
    c, d = to_seal(pair, a), to_seal(pair, b)
    relin, galois = pair.keys.create_relin_keys(), seal.GaloisKeys()
    pair.keys.create_galois_keys([1], galois)
    assert pair.public.relin is not None
    # Products and rotations with our keys, in SEAL's hands.
    product = raw(pair, a.native.multiply(b.native).relinearise(pair.public.relin))
    close(seal_values(pair, to_seal(pair, product)), x * y)
    rotate = pair.evaluator.rotate_vector if pair.scheme == "ckks" else pair.evaluator.rotate_rows
    ours = a.rotate(1) if pair.scheme == "ckks" else a.rotate_rows(1)
    turned = seal_values(pair, to_seal(pair, ours))
    close(turned, seal_values(pair, rotate(c, 1, galois)))
    # And the other way round; levels below the top as well.
    theirs = pair.evaluator.relinearize(pair.evaluator.multiply(c, d), relin)
    close(pair.secret.decrypt(from_seal(pair, theirs, product)), x * y)
    lower = raw(
        pair, product.native.mod_switch_to(2) if pair.scheme != "ckks" else product.native.rescale()
    )
    close(seal_values(pair, to_seal(pair, lower)), x * y)
    if pair.scheme == "bgv":
        # SEAL's correction factor is ours.
        switched = pair.evaluator.mod_switch_to_next(theirs)
        close(pair.secret.decrypt(from_seal(pair, switched, lower)), x * y)


def test_measured_noise_is_seals(pair: Pair) -> None:
    if pair.scheme == "ckks":
        pytest.skip("CKKS has no noise budget in SEAL")
    a = pair.public.encrypt(values(pair.scheme, 7), wrap=True)
    for vector in (a, a.square()):
        theirs = pair.decryptor.invariant_noise_budget(to_seal(pair, vector))
        # Ours is measured against 7/16 of the modulus, SEAL's rounded down against a half.
        assert abs(pair.secret.noise_budget(vector) - theirs) < 1.3
