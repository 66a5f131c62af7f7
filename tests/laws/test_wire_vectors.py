"""Nothing that a vector of BFV, BGV or CKKS sends depends on its numbers, but for its residues."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc import _native
from tests import reading
from tests.laws.wire import check_ciphertexts_only, check_no_word_repeats
from tests.vector_party import SCHEMES, party

if TYPE_CHECKING:
    from collections.abc import Callable

# Seven numbers: no power of two, so that masks and zeros behind have work to do.
NUMBERS: dict[str, tuple[Any, Any]] = {
    "exact": (np.array([5, -9, 0, 3, 1, 1, 8]), np.array([0, 0, 0, 0, 0, 0, 7])),
    "real": (np.linspace(-1, 1, 7), np.array([0.123456789, 0, 0, 0, 0, 0, 15.9])),
    "complex": (np.exp(1j * np.arange(7)), np.array([0, 0, 0, 0, 0, 0, 1j])),
}
BOUND = 16
MATRIX = np.arange(21).reshape(3, 7) % 5 - 2


def programs(scheme: str) -> dict[str, Callable[[Any], bytes]]:
    """Everything that is sent: fresh, in both forms, and computed by one program."""
    _, secret, public = party(scheme)

    def sent(compute: Callable[[hesc.EncryptedVector], hesc.EncryptedVector]) -> Any:
        return lambda x: compute(public.encrypt(x, bound=BOUND)).to_bytes()

    def seeded(x: Any) -> bytes:
        return secret.encrypt_to_bytes(x, bound=BOUND)

    return {
        "seeded": seeded,
        "seeded and read": lambda x: reading.vector(public, seeded(x)).to_bytes(),
        "fresh": sent(lambda v: v),
        "of their type's bound": lambda x: public.encrypt(x).to_bytes(),
        "pickled": lambda x: pickle.dumps(public.encrypt(x, bound=BOUND).to_bytes()),
        "sum": sent(lambda v: v + v - 1),
        "sum with one number": sent(lambda v: v + public.encrypt(np.ones(1, np.uint8))),
        "product": sent(lambda v: v * v),
        "product in the clear": sent(lambda v: 3 * v),
        "polynomial": sent(lambda v: v.polynomial([1, 2, 0, 1])),
        "rotated": sent(lambda v: v.rotate(2)),
        "matrix": sent(lambda v: MATRIX @ v),
        "inner product": sent(lambda v: v.dot(v)),
        "lower level": sent(lambda v: v.mod_switch_to(2)),
    }


@pytest.mark.parametrize("scheme", SCHEMES)
def test_vectors_differ_in_residues_only(scheme: str) -> None:
    kinds = ("real", "complex") if scheme == "ckks" else ("exact",)
    for kind in kinds:
        one, other = NUMBERS[kind]
        for name, send in programs(scheme).items():
            check_ciphertexts_only(f"{kind}, {name}", partial(send, one), partial(send, other))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_declared_bounds_are_all_that_is_told_of_sizes(scheme: str) -> None:
    """A bound is part of the message; equal ones tell the same of large and small."""
    _, secret, public = party(scheme)
    bound = 10**6 if scheme == "ckks" else 10**5
    small, large = np.full(5, 1e-9), np.full(5, 0.99 * bound)
    if scheme != "ckks":
        small, large = small.astype(int), large.astype(int)
    for encrypt in (
        lambda x: public.encrypt(x, bound=bound).to_bytes(),
        lambda x: secret.encrypt_to_bytes(x, bound=bound),
    ):
        check_ciphertexts_only("declared", partial(encrypt, small), partial(encrypt, large))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_keys_are_made_of_fresh_randomness(scheme: str) -> None:
    """Of key to key nothing stays but heads: no seed, digit or part of one."""
    params = party(scheme).params

    def key(name: str) -> bytes:
        _, public = hesc.keygen(params, rotations=[1], conjugate=True)
        return dict(_native.split_keys(public.to_bytes(), None))[name]

    for name in ("public", "relinearisation", "rotations"):
        check_no_word_repeats(name, partial(key, name), head=300)
