"""hesc and SEAL decrypt each other's ciphertexts, residue by residue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
import seal

import hesc
from hesc.streams.encryptor import encrypt_streams
from hesc_papers.seal_peer.setup import make
from tests.interop import seal_format
from tests.second_implementation import wire

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc.params import StreamParams

# Ring degree and modulus: words of 32 and of 64 bits.
RINGS = [(1024, 67104769), (2048, 18014398509404161)]
T = 12289


class Pair(NamedTuple):
    """One secret key in both libraries."""

    params: StreamParams
    degree: int
    modulus: int
    secret: hesc.SecretKey
    public: hesc.PublicKeys
    ternary: NDArray[np.int64]
    context: Any
    encryptor: Any
    decryptor: Any
    evaluator: Any


def pair(params: StreamParams, tmp_path: Path) -> Pair:
    secret, public = hesc.keygen(params)
    secret.save(tmp_path / "secret")
    degree, (modulus,) = params.ring_degree or 0, params.coeff_moduli
    ternary = wire.read_secret((tmp_path / "secret").read_bytes(), degree)
    assert set(np.unique(ternary)) == {-1, 0, 1}
    bfv = make("bfv", degree, [modulus], plain_modulus=T)
    setting = bfv if params.scheme == "bfv" else make("ckks", degree, [modulus])
    key = seal_format.secret_key(
        setting.context, setting.keys.secret_key(), bfv.context, ternary, T
    )
    generator = seal.KeyGenerator(setting.context, key)
    return Pair(
        params,
        degree,
        modulus,
        secret,
        public,
        ternary,
        setting.context,
        seal.Encryptor(setting.context, generator.create_public_key()),
        seal.Decryptor(setting.context, key),
        setting.evaluator,
    )


@pytest.fixture(params=RINGS, ids=["N=1024", "N=2048"])
def bfv(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    degree, modulus = request.param
    params = hesc.Params.lattice(
        "bfv",
        ring_degree=degree,
        coeff_moduli=[modulus],
        packing="coefficients",
        plain_modulus=T,
        assurance="hestd2018",
    )
    return pair(params, tmp_path)


@pytest.fixture(params=RINGS, ids=["N=1024", "N=2048"])
def ckks(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    degree, modulus = request.param
    params = hesc.Params.lattice(
        "ckks",
        ring_degree=degree,
        coeff_moduli=[modulus],
        packing="coefficients",
        scale=2.0**18,
        assurance="hestd2018",
    )
    return pair(params, tmp_path)


def encrypted(p: Pair) -> tuple[hesc.EncryptedArray, NDArray[np.int64], NDArray[np.int64]]:
    """An array of ours, its bits in the clear and its residues (2, N)."""
    encryptor = hesc.Encryptor(p.public, p.degree, layout="one_per_block", random_state=3)
    encoded = encryptor.encoder.encode([0.3])
    bits = np.unpackbits(encoded.streams.words().view(np.uint8), bitorder="little").astype(np.int64)
    (array,) = encrypt_streams(p.public, [encoded], "one_per_block")
    _, (nested,), _ = wire.read_array(array.to_bytes())
    return array, bits, wire.read_ciphertexts(nested, p.degree, p.modulus).parts[0]


def counts(p: Pair, array: hesc.EncryptedArray) -> NDArray[np.int64]:
    readout = p.secret.counts(array.answer()).separate()
    return readout.counts().astype(np.int64)


def ours_from(p: Pair, residues: NDArray[np.int64]) -> hesc.EncryptedArray:
    """Residues in the frame of a fresh array of ours."""
    array, _, _ = encrypted(p)
    shape, (nested,), rest = wire.read_array(array.to_bytes())
    batch = wire.read_ciphertexts(nested, p.degree, p.modulus)
    batch.parts = residues[np.newaxis]
    data = wire.write_array(shape, [wire.write_ciphertexts(batch, p.modulus)], rest)
    return hesc.EncryptedArray.from_bytes(p.params, data)


def test_seal_decrypts_our_bfv(bfv: Pair) -> None:
    _, bits, residues = encrypted(bfv)
    like = bfv.encryptor.encrypt(seal_format.polynomial(bits))
    theirs = seal_format.write_ciphertext(bfv.context, like, residues, 1.0)
    np.testing.assert_array_equal(seal_format.read_ciphertext(theirs), residues)
    plain = bfv.decryptor.decrypt(theirs)
    np.testing.assert_array_equal(seal_format.coefficients(plain, bfv.degree), bits)
    phase = wire.phase(residues, bfv.ternary, bfv.modulus)
    np.testing.assert_array_equal(wire.round_to_counts(phase, bfv.modulus, T), bits)
    assert bfv.decryptor.invariant_noise_budget(theirs) > 0


def test_we_decrypt_seals_bfv(bfv: Pair) -> None:
    rng = np.random.default_rng(5)
    message = rng.integers(0, 2, bfv.degree)
    theirs = bfv.encryptor.encrypt(seal_format.polynomial(message))
    ours = ours_from(bfv, seal_format.read_ciphertext(theirs))
    np.testing.assert_array_equal(counts(bfv, ours), message)


def test_sums_have_equal_residues_in_bfv(bfv: Pair) -> None:
    a, bits_a, residues_a = encrypted(bfv)
    encryptor = hesc.Encryptor(bfv.public, bfv.degree, layout="one_per_block", first_dimension=1)
    b = encryptor.encrypt([-0.6])
    _, (nested,), _ = wire.read_array(b.to_bytes())
    residues_b = wire.read_ciphertexts(nested, bfv.degree, bfv.modulus).parts[0]
    like = bfv.encryptor.encrypt(seal_format.polynomial(bits_a))
    theirs = bfv.evaluator.add(
        seal_format.write_ciphertext(bfv.context, like, residues_a, 1.0),
        seal_format.write_ciphertext(bfv.context, like, residues_b, 1.0),
    )
    product = a * b
    _, (nested,), _ = wire.read_array(product.to_bytes())
    ours = wire.read_ciphertexts(nested, bfv.degree, bfv.modulus).parts[0]
    np.testing.assert_array_equal(seal_format.read_ciphertext(theirs), ours)
    expected = seal_format.coefficients(bfv.decryptor.decrypt(theirs), bfv.degree)
    np.testing.assert_array_equal(counts(bfv, product), expected)


def test_seal_decrypts_our_ckks(ckks: Pair) -> None:
    """SEAL's CKKS keeps ciphertexts in evaluations: SEAL transforms ours itself."""
    _, bits, residues = encrypted(ckks)
    encoder = seal.CKKSEncoder(ckks.context)
    scale = ckks.params.scale or 0
    like = ckks.encryptor.encrypt(encoder.encode(0.0, scale))
    theirs = seal_format.write_ciphertext(ckks.context, like, residues, scale)
    theirs = ckks.evaluator.transform_to_ntt(theirs)
    back = ckks.evaluator.transform_from_ntt(theirs)
    np.testing.assert_array_equal(seal_format.read_ciphertext(back), residues)
    slots = encoder.decode_complex(ckks.decryptor.decrypt(theirs))
    # SEAL's slot j is the value at zeta^(3^j); our coefficients are the bits themselves.
    exponents = np.array([pow(3, j, 2 * ckks.degree) for j in range(ckks.degree // 2)])
    powers = np.exp(1j * np.pi * np.outer(exponents, np.arange(ckks.degree)) / ckks.degree)
    exact = powers @ centred(wire.phase(residues, ckks.ternary, ckks.modulus), ckks.modulus) / scale
    np.testing.assert_allclose(slots, exact, atol=1e-6)
    np.testing.assert_array_equal(counts(ckks, ours_from(ckks, residues)), bits)


def test_we_decrypt_seals_ckks(ckks: Pair) -> None:
    encoder = seal.CKKSEncoder(ckks.context)
    scale = ckks.params.scale or 0
    bits = np.random.default_rng(8).integers(0, 2, ckks.degree)
    # Slots whose polynomial has the bits as coefficients.
    exponents = np.array([pow(3, j, 2 * ckks.degree) for j in range(ckks.degree // 2)])
    powers = np.exp(1j * np.pi * np.outer(exponents, np.arange(ckks.degree)) / ckks.degree)
    theirs = ckks.encryptor.encrypt(encoder.encode_complex(powers @ bits, scale))
    theirs = ckks.evaluator.transform_from_ntt(theirs)
    ours = ours_from(ckks, seal_format.read_ciphertext(theirs))
    np.testing.assert_array_equal(counts(ckks, ours), bits)


@pytest.mark.parametrize("packing", ["slots", "complex_slots"])
def test_slots_are_seals_slots(packing: str, tmp_path: Path) -> None:
    """One order of slots in streams, in vectors and in SEAL."""
    degree, modulus = RINGS[1]
    params = hesc.Params.lattice(
        "ckks",
        ring_degree=degree,
        coeff_moduli=[modulus],
        packing=packing,
        scale=2.0**30,
        assurance="hestd2018",
    )
    ckks = pair(params, tmp_path)
    encoder, scale = seal.CKKSEncoder(ckks.context), params.scale or 0
    encryptor = hesc.Encryptor(ckks.public, params.block_length, layout="one_per_block")
    encoded = encryptor.encoder.encode([0.3])
    bits = np.unpackbits(encoded.streams.words().view(np.uint8), bitorder="little").astype(float)
    (array,) = encrypt_streams(ckks.public, [encoded], "one_per_block")
    _, (nested,), _ = wire.read_array(array.to_bytes())
    residues = wire.read_ciphertexts(nested, degree, modulus).parts[0]
    like = ckks.encryptor.encrypt(encoder.encode(0.0, scale))
    theirs = seal_format.write_ciphertext(ckks.context, like, residues, scale)
    theirs = ckks.evaluator.transform_to_ntt(theirs)
    slots = encoder.decode_complex(ckks.decryptor.decrypt(theirs))
    expected = bits if packing == "slots" else bits[: degree // 2] + 1j * bits[degree // 2 :]
    # 14 deviations of public-key noise at a root of unity are 2.5e-3 of the scale here.
    np.testing.assert_allclose(slots, expected, atol=2.5e-3)


def centred(phase: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
    return np.where(phase > modulus // 2, phase - modulus, phase)
