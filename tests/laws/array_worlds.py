"""Keys, encoders and layouts that programs on arrays run in, and how far values may be off."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

import hesc

if TYPE_CHECKING:
    from numpy.typing import NDArray

Mode = Literal["encrypt", "simulate"]

# Every packing and every way to multiply, on bits in the clear, which takes microseconds.
SIMULATED: Final = (
    *("bfv_1024", "bfv_1024_fusion", "bfv_2048_slots", "ckks_1024", "ckks_2048", "gm_3072"),
    *("ec_elgamal_ristretto255", "unipolar_bfv_4096", "unipolar_elgamal_ristretto255"),
    "unipolar_bgv_4369",
    *("insecure_tfhe_512", "hestd2018_koseki_bfv_2048"),
)
# Ciphertexts proper; the last one encrypts nothing and counts.
REAL: Final = (
    *("bfv_1024_fusion", "ckks_1024_slots", "bfv_2048_slots"),
    *("pad_1024", "insecure_plain"),
)

# Independent bits and random arrangements; reported errors are those of the law itself.
DRAWN: Final = ("bernoulli", "exact_weight")
# Reported errors are measured, and true for any pair of dimensions within a factor of 2.5: the law
# of reported errors.
STRUCTURED: Final = ("sobol", "joint", "halton", "hammersley", "lattice", "plain_sobol", "lfsr")

FALSE_ALARM: Final = 1e-12
"""Probability that a value which is right is beyond its limit; a million operations have some ten
million values, so that a long run raises a false alarm once in a hundred thousand."""
_EXPONENT: Final = math.log(2 / FALSE_ALARM)
# Bernstein's inequality: a sum of independent terms in steps of c, of variance V, is off by
# sqrt(2 V e) + 2 c e / 3 with a probability below 2 exp(-e). The variance stated is an estimate
# from the same bits and may be too small by as much again as the second term (Maurer and Pontil
# 2009).
Z: Final = math.sqrt(2 * _EXPONENT)
STEPS: Final = 4 * _EXPONENT / 3


class Owner(NamedTuple):
    """A key pair, and another of the same parameters."""

    secret: hesc.SecretKey
    public: hesc.PublicKeys
    stranger: hesc.SecretKey
    strange: hesc.PublicKeys


@cache
def owner(preset: str, mode: Mode) -> Owner:
    """Keys of a set; made once."""
    if preset == "insecure_plain":
        params, mode = hesc.Params.insecure_plain(plain_modulus=12289), "encrypt"
    else:
        params = hesc.Params.preset(preset)
    return Owner(*hesc.keygen(params, mode=mode), *hesc.keygen(params, mode=mode))


class Expanding:
    """Encrypts as others do under a public key, where there is none."""

    def __init__(self, own: hesc.SecretEncryptor) -> None:
        self._own = own

    @property
    def encoder(self) -> hesc.Encoder:
        return self._own.encoder

    def encrypt(self, values: Any) -> hesc.EncryptedArray:
        return self._own.encrypt(values).expand()

    def encrypt_factors(self, values: Any) -> list[hesc.EncryptedArray]:
        return [factor.expand() for factor in self._own.encrypt_factors(values)]

    def encrypt_copies(self, values: Any, copies: int) -> list[hesc.EncryptedArray]:
        return [copy.expand() for copy in self._own.encrypt_copies(values, copies)]


class World(NamedTuple):
    """What a program's arrays have in common."""

    preset: str
    owner: Owner
    generator: str
    representation: str
    layout: str
    length: int
    encryptor: hesc.Encryptor | Expanding
    own: hesc.SecretEncryptor

    @property
    def has_public_key(self) -> bool:
        """Whether others than the key owner encrypt."""
        return not self.preset.startswith("pad")

    @property
    def multiplies(self) -> bool:
        """Whether the scheme multiplies this representation: adding makes AND or XOR of bits."""
        return (self.representation == "unipolar") == self.preset.startswith("unipolar")

    def values(self, rng: np.random.Generator, shape: Any) -> NDArray[np.float64]:
        """Numbers of the range, its ends and zero among them."""
        values = np.asarray(rng.uniform(-1, 1, shape))
        kinds = rng.integers(0, 12, shape)
        ends = np.choose(np.minimum(kinds, 4), [-1.0, 1.0, 0.0, 0.5, values])
        values = np.asarray(np.where(kinds < 4, ends, values))
        return np.abs(values) if self.representation == "unipolar" else values

    def limit(self, error: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
        """How far values may be from the true ones; `reach` is the most that weights add up to."""
        times = Z if self.generator in DRAWN else 2.5 * Z
        return times * error + reach * (STEPS * 2 / self.length + 1e-9)


def encryptor_of(
    keys: tuple[hesc.SecretKey, hesc.PublicKeys], length: int, **options: Any
) -> hesc.Encryptor | Expanding:
    """What encrypts under the public key, or under the secret one where there is none."""
    secret, public = keys
    if secret.params.scheme == "pad":
        return Expanding(hesc.SecretEncryptor(secret, length, **options))
    return hesc.Encryptor(public, length, **options)


def world(rng: np.random.Generator, mode: Mode) -> World:
    """A world at random."""
    preset = str(rng.choice(SIMULATED if mode == "simulate" else REAL))
    keys = owner(preset, mode)
    generator = str(rng.choice(DRAWN if rng.random() < 0.7 else STRUCTURED))
    # One representation in eight is the one that the scheme does not multiply.
    unipolar = preset.startswith("unipolar") != (rng.random() < 0.125)
    if generator == "joint":
        unipolar = False
    block = keys.secret.params.block_length
    layout = str(rng.choice(["auto", "one_per_block", "side_by_side"]))
    lengths = [n for n in (64, 200, 256, 1000, 1024, 2048) if n <= block]
    if layout != "side_by_side":
        lengths += [777, 1024, 3000, 4096]
    length = int(rng.choice(lengths))
    options: Any = {
        "generator": generator,
        "representation": "unipolar" if unipolar else "inverted_bipolar",
        "random_state": int(rng.integers(2**63)),
        "first_dimension": int(rng.integers(0, 10)),
    }
    encryptor = encryptor_of((keys.secret, keys.public), length, layout=layout, **options)
    own = hesc.SecretEncryptor(keys.secret, length, layout=layout, **options)
    # Both count the same draws.
    own.encoder = encryptor.encoder
    return World(preset, keys, generator, options["representation"], layout, length, encryptor, own)
