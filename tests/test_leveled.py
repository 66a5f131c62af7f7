"""BFV, BGV and CKKS with multiplication, as users see them."""

from __future__ import annotations

import base64
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from tests.second_implementation import leveled, wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "leveled.json").read_text())
SCHEMES = ("bfv", "bgv", "ckks")
Keys = tuple[hesc.LeveledSecretKey, hesc.PublicKeys]


def bound_of(scheme: str) -> float:
    return 128.0 if scheme == "ckks" else 1.0


@pytest.fixture(scope="module", params=SCHEMES)
def keys(request: pytest.FixtureRequest) -> Keys:
    # Numbers of these tests stay within 128; a product of two such fits every set.
    params = hesc.LeveledParams.recommended(request.param, bound=bound_of(request.param))
    return hesc.leveled_keygen(params, rotations=[1, -3], conjugate=True)


def close(found: NDArray[Any], expected: Any) -> None:
    if found.dtype.kind == "i":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_operators_act_slot_by_slot(keys: Keys) -> None:
    secret, public = keys
    x, y = np.array([3, -2, 5, 7]), np.array([4, 4, -1, 6])
    a, b = public.encrypt(x), public.encrypt(y)
    for found, expected in [
        (a, x),
        (a + b, x + y),
        (a - b, x - y),
        (-a, -x),
        (a * b, x * y),
        (a.square(), x * x),
        (a + 2, x + 2),
        (2 - a, 2 - x),
        (a - x, x * 0),
        (a * 3, x * 3),
        (a * x, x * x),
        (a * b + a, x * y + x),
        (a - a * b, x - x * y),
    ]:
        assert len(found) == len(expected)
        close(secret.decrypt(found), expected)
        assert found.noise_budget <= secret.noise_budget(found)


def test_scales_never_misalign_silently() -> None:
    secret, public = hesc.leveled_keygen(hesc.LeveledParams.recommended("ckks"))
    a = public.encrypt([0.5, -0.25])
    # After a product the scale is another one. On the way down it is adjusted, if need be a level
    # further; without a way down the sum is refused, not wrong.
    close(secret.decrypt(a * a + a), [0.75, -0.1875])
    low = a.mod_switch_to(a.level - 1)
    total = a * a + low
    close(secret.decrypt(total), [0.75, -0.1875])
    assert total.level == low.level - 1
    close(secret.decrypt(low - a * a), [0.25, -0.3125])
    with pytest.raises(hesc.NoiseBudgetError, match="scales differ") as error:
        a.mod_switch_to(1) + (a * a).mod_switch_to(1)
    assert not any(len(word.strip(".,")) > 9 and word[0].isdigit() for word in str(error).split())
    # Products with numbers keep the scale.
    close(secret.decrypt(a * 0.5 + a * [1.0, 2.0]), [0.75, -0.625])


def test_rotations_and_what_they_need(keys: Keys) -> None:
    secret, public = keys
    params = secret.params
    row = params.slot_count if params.scheme == "ckks" else params.slot_count // 2
    x = np.arange(row) % 100
    a = public.encrypt(x)
    close(secret.decrypt(a.rotate(1))[:row], np.roll(x, -1))
    for found, steps in zip(a.rotate_many([-3, 0, 1]), (-3, 0, 1), strict=True):
        close(secret.decrypt(found)[:row], np.roll(x, -steps))
    if params.scheme == "ckks":
        b = public.encrypt(np.array([1 + 2j, -1j]))
        np.testing.assert_allclose(secret.decrypt(b.conjugate()), [1 - 2j, 1j], atol=1e-5)
        with pytest.raises(hesc.ParameterError, match="conjugate"):
            a.swap_rows()
    else:
        both = public.encrypt(np.arange(params.slot_count) % 100)
        rows = (np.arange(params.slot_count) % 100).reshape(2, row)
        close(secret.decrypt(both.swap_rows()), rows[::-1].ravel())
        close(secret.decrypt(both.rotate_rows(-3)), np.roll(rows, 3, axis=1).ravel())
        with pytest.raises(hesc.ParameterError, match="swap_rows"):
            a.conjugate()
        with pytest.raises(hesc.ShapeError, match="rotate_rows"):
            both.rotate(1)
        for move in (a.swap_rows, lambda: a.rotate_rows(1)):
            with pytest.raises(hesc.ShapeError, match="longer than a row"):
                move()
    with pytest.raises(hesc.ParameterError, match=r"rotations by 2, .*rotations=\[2\]"):
        a.rotate(2)
    # Without the key for what a user asked for, he reads how to make it.
    _, bare = hesc.leveled_keygen(params, products=False, rotations=[1])
    few = bare.encrypt([1, 2, 3])
    with pytest.raises(hesc.ParameterError, match=r"rotations=\[-2, 1\]"):
        few.rotate(1)
    with pytest.raises(hesc.ParameterError, match="conjugate=True"):
        bare.encrypt(x).conjugate() if params.scheme == "ckks" else bare.encrypt(
            np.arange(params.slot_count) % 100
        ).swap_rows()


def test_everything_travels(keys: Keys, tmp_path: Path) -> None:
    secret, public = keys
    params = hesc.LeveledParams.from_bytes(secret.params.to_bytes())
    assert params == secret.params
    assert params.name == secret.params.name
    server = hesc.PublicKeys.from_bytes(params, public.to_bytes())
    assert params.bound == bound_of(params.scheme)
    sent = secret.encrypt_to_bytes([1, 2, 3])
    full = public.encrypt([1, 2, 3]).to_bytes()
    assert len(sent) < 0.51 * len(full)
    product = server.read(sent, 3) * server.read(full, 3)
    back = public.read(product.to_bytes(), 3)
    close(secret.decrypt(back), [1, 4, 9])
    secret.save(tmp_path / "open")
    secret.save(tmp_path / "sealed", passphrase="pass")
    with pytest.raises(FileExistsError):
        secret.save(tmp_path / "open")
    for name, passphrase in (("open", None), ("sealed", "pass")):
        again = hesc.LeveledSecretKey.load(params, tmp_path / name, passphrase=passphrase)
        close(again.decrypt(back), [1, 4, 9])
    with pytest.raises(hesc.DecryptionError, match="passphrase"):
        hesc.LeveledSecretKey.load(params, tmp_path / "sealed", passphrase="other")
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(secret)
    for data in (full[:100], full[:-1], b"", sent + b"x"):
        with pytest.raises(hesc.WireError):
            public.read(data, 3)


def test_results_to_share_hide_the_error() -> None:
    secret, public = hesc.leveled_keygen(hesc.LeveledParams.recommended("ckks"))
    numbers = np.linspace(-1, 1, 100)
    vector = public.encrypt(numbers)
    shared = secret.decrypt_shared(vector)
    grid = 2.0 ** (np.ceil(np.log2(vector.error_bound)) + 10)
    np.testing.assert_array_equal(shared / grid, np.round(shared / grid))
    np.testing.assert_allclose(shared, numbers, atol=grid)
    # What differs from the rounded exact numbers lies at a border of the grid.
    off = shared != np.round(numbers / grid) * grid
    assert np.all(np.abs(np.abs((numbers[off] / grid) % 1) - 0.5) < vector.error_bound / grid)
    flooded = secret.decrypt_shared(vector, guard_bits=12, flood=True)
    assert 0 < np.std(flooded - numbers) < 2.0**14 * vector.error_bound
    exact, keys = hesc.leveled_keygen(hesc.LeveledParams.recommended("bfv"), products=False)
    with pytest.raises(hesc.ParameterError, match="exact"):
        exact.decrypt_shared(keys.encrypt([1]))


def test_presets_reach_what_their_names_say() -> None:
    for name in hesc.LeveledParams.presets():
        params = hesc.LeveledParams.preset(name)
        expected = "hestd2018" if name.startswith("hestd2018_") else "guidelines2024"
        assert params.native.assurance == expected
        assert all(q < 2**50 for q in [*params.coeff_moduli, *params.special_moduli])
        assert name in repr(params)


def test_mistakes_are_named(keys: Keys) -> None:
    secret, public = keys
    scheme = secret.params.scheme
    with pytest.raises(hesc.ShapeError, match="one dimension"):
        public.encrypt([[1, 2]])
    with pytest.raises(hesc.ShapeError, match="slots"):
        public.encrypt(np.zeros(secret.params.slot_count + 1, dtype=np.int64))
    with pytest.raises(hesc.OutOfRangeError):
        public.encrypt(np.array(["a"]))
    wrong = np.array([np.nan]) if scheme == "ckks" else np.array([0.5])
    with pytest.raises(hesc.OutOfRangeError):
        public.encrypt(wrong)
    a = public.encrypt([1, 2])
    with pytest.raises(hesc.ShapeError, match="do not go together"):
        a + np.array([1, 2, 3])
    other_secret, other_public = hesc.leveled_keygen(secret.params, products=False)
    with pytest.raises(hesc.KeyMismatchError):
        a + other_public.encrypt([1])
    with pytest.raises(hesc.KeyMismatchError):
        other_secret.decrypt(a)
    with pytest.raises(hesc.ParameterError, match="relinearisation"):
        other_public.encrypt([1]).square()
    with pytest.raises(hesc.ParameterError, match="rotations"):
        other_public.encrypt([1, 2]).rotate(1)
    with pytest.raises(hesc.ParameterError, match="choose one of"):
        hesc.LeveledParams.preset("rsa_4096")
    for masked in (public.encrypt, secret.encrypt_to_bytes):
        with pytest.raises(hesc.OutOfRangeError, match="masked"):
            masked(np.ma.masked_array([1, 2], mask=[True, False]))
    with pytest.raises(hesc.SecurityError, match="2024"):
        hesc.LeveledParams.lattice(
            scheme,
            secret.params.ring_degree // 2,
            secret.params.coeff_moduli,
            special_moduli=secret.params.special_moduli,
            plain_modulus=secret.params.plain_modulus,
            scale=secret.params.scale,
        )


def test_depth_ends_with_an_error(keys: Keys) -> None:
    secret, public = keys
    ckks = secret.params.scheme == "ckks"
    a = public.encrypt([1, -1], bound=1.0 if ckks else None)
    depth = 0
    try:
        while True:
            a = a.square()
            depth += 1
            close(secret.decrypt(a), [1, 1])
    except hesc.NoiseBudgetError:
        assert depth == {"bfv": 4, "bgv": 3, "ckks": 3}[secret.params.scheme]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["scheme"])
def test_stored_vectors(case: dict[str, Any], tmp_path: Path) -> None:
    def stored(key: str) -> bytes:
        return base64.b64decode(case[key])

    left, right = (np.array(case[f"{side}_values"]) for side in ("left", "right"))
    params = hesc.LeveledParams.from_bytes(stored("params"), assurance="insecure")
    assert params.to_bytes() == stored("params")
    (tmp_path / "secret").write_bytes(stored("secret"))
    secret = hesc.LeveledSecretKey.load(params, tmp_path / "secret")
    public = hesc.PublicKeys.from_bytes(
        params, {name: stored(name) for name in ("public", "relin", "galois")}
    )
    product = public.read(stored("product"), 4)
    close(secret.decrypt(product), left * right)
    # The keys still do what they did.
    x = public.read(stored("left"), 4)
    close(secret.decrypt(x.square()), left**2)
    close(secret.decrypt(x.rotate(1))[:3], left[1:])
    close(secret.decrypt(public.encrypt(right)), right)

    degree = params.ring_degree
    ternary = wire.read_leveled_secret(stored("secret"), degree)
    assert wire.read_vector(stored("product"))[:2] == (4, 1)
    head, parts = wire.read_leveled(stored("product"), degree, params.coeff_moduli)
    numbers, modulus = leveled.phase(parts, ternary, params.coeff_moduli)
    factor, scale, t = head[3], head[4], params.plain_modulus
    if t is None:
        close(leveled.decrypt_ckks(numbers, scale, 4).real, left * right)
    elif params.scheme == "bfv":
        assert leveled.decrypt_bfv(numbers, modulus, t, 4) == (left * right).tolist()
    else:
        assert leveled.decrypt_bgv(numbers, factor, t, 4) == (left * right).tolist()


EVALUATION = """
import pickle, sys, hesc
name, forms, x, y = pickle.load(sys.stdin.buffer)
public = hesc.PublicKeys.from_bytes(hesc.LeveledParams.preset(name), forms)
x, y = (public.read(data, 3) for data in (x, y))
results = [x + y, x * y, x.square(), x.rotate(1), (x * y).mod_switch_to(1)]
sys.stdout.buffer.write(b"".join(result.to_bytes() for result in results))
"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_threads_compute_what_one_does(scheme: str) -> None:
    name = f"{scheme}_8192"
    _, public = hesc.leveled_keygen(hesc.LeveledParams.preset(name), rotations=[1, -2])
    bound = 4.0 if scheme == "ckks" else None
    x, y = (public.encrypt([1, 2, i], bound=bound).to_bytes() for i in (3, 4))
    task = pickle.dumps((name, public.to_bytes(), x, y))
    one, two = (
        subprocess.run(
            [sys.executable, "-c", EVALUATION],
            input=task,
            stdout=subprocess.PIPE,
            env={**os.environ, "RAYON_NUM_THREADS": threads},
            check=True,
        ).stdout
        for threads in "12"
    )
    assert one == two


def different_data(scheme: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two vectors of one shape that have nothing in common, not even their largest number."""
    if scheme == "ckks":
        return np.full(5, 1e-9), np.linspace(-1, 1, 5)
    return np.zeros(5, dtype=np.int64), np.array([1, -1, 500, -300, 7])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_on_the_wire_but_residues_depends_on_the_data(scheme: str) -> None:
    """Encryptions of different data differ in the seed and the residues alone, in every form.

    So do results of one program on them: numbers that travel are functions of the program and of
    what was declared. Operands in the clear show their size up to a power of two and no more.
    """
    params = hesc.LeveledParams.recommended(scheme)
    secret, public = hesc.leveled_keygen(params, rotations=[1, -4])

    def forms(data: NDArray[Any], operand: NDArray[Any]) -> list[bytes]:
        x = public.encrypt(data)
        y = public.read(secret.encrypt_to_bytes(data), len(data))
        results = [x, y, x + y, x * y, x * operand, x + operand, x.rotate(1)]
        return [result.to_bytes() for result in results]

    one, other = different_data(scheme)
    operands: tuple[NDArray[Any], NDArray[Any]]
    if scheme == "ckks":
        # Of one size up to a power of two.
        operands = (np.linspace(-1, 1, 5), np.array([0.6, 0.1, 0.0, -0.7, 0.2]))
    else:
        rng = np.random.default_rng(5)
        operand = rng.integers(-9, 10, 5)
        # The norms of both are the same.
        operands = (operand, -operand)
    for first, second in zip(forms(one, operands[0]), forms(other, operands[1]), strict=True):
        heads = [wire.leveled_head(data) for data in (first, second)]
        assert heads[0] == heads[1]
        assert len(first) == len(second)
    seeded = [secret.encrypt_to_bytes(data) for data in (one, other)]
    heads = [wire.seeded_head(data) for data in seeded]
    assert heads[0] == heads[1]


def test_bounds_are_declared_and_never_found_out() -> None:
    params = hesc.LeveledParams.recommended("ckks")
    assert params.bound == 1.0
    secret, public = hesc.leveled_keygen(params, products=False)
    for encrypt in (public.encrypt, secret.encrypt_to_bytes):
        with pytest.raises(hesc.OutOfRangeError, match="bound="):
            encrypt([0.5, 1.5])
        with pytest.raises(hesc.OutOfRangeError, match="bound="):
            encrypt([1 + 1j])
        for wrong in (0.0, -1.0, np.inf, np.nan):
            with pytest.raises(hesc.ParameterError, match="bound"):
                encrypt([0.0], bound=wrong)
        # A bound beyond the modulus is refused before anything is encrypted.
        with pytest.raises(hesc.NoiseBudgetError):
            encrypt([1.0], bound=1e40)
    close(secret.decrypt(public.encrypt([0.5, 1.5], bound=2.0)), [0.5, 1.5])
    # Numbers of the unit circle may be rounded outwards.
    circle = np.exp(1j * np.arange(100))
    np.testing.assert_allclose(secret.decrypt(public.encrypt(circle)), circle, atol=1e-5)
    wide = hesc.LeveledParams.recommended("ckks", bound=8.0)
    assert wide != params
    again = hesc.LeveledParams.from_bytes(wide.to_bytes())
    assert (again, again.name, again.bound) == (wide, "ckks_8192", 8.0)
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(hesc.ParameterError, match="bound"):
            hesc.LeveledParams.recommended("ckks", bound=wrong)
    with pytest.raises(hesc.ParameterError, match="bound"):
        hesc.LeveledParams.recommended("bfv", bound=2.0)


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_integers_come_back_or_are_refused(scheme: str) -> None:
    params = hesc.LeveledParams.recommended(scheme)
    secret, public = hesc.leveled_keygen(params, rotations=[1])
    smallest, largest = params.integer_range
    assert params.plain_modulus == largest - smallest + 1
    ends = [smallest, -1, 0, largest]
    close(secret.decrypt(public.encrypt(ends)), ends)
    close(secret.decrypt(public.read(secret.encrypt_to_bytes(ends), 4)), ends)
    one = public.encrypt([1, 1])
    close(secret.decrypt(one * largest), [largest, largest])
    assert params.plain_modulus is not None
    calls: list[Callable[[Any], Any]] = [
        lambda wrong: public.encrypt([wrong]),
        lambda wrong: secret.encrypt_to_bytes([wrong]),
        lambda wrong: public.encrypt(np.array([wrong])),
        lambda wrong: one * wrong,
        lambda wrong: one + wrong,
        lambda wrong: one - [wrong, 0],
        lambda wrong: one * [0, wrong],
        lambda wrong: one.polynomial([0, wrong]),
        lambda wrong: hesc.leveled.Matrix(params, [[wrong]]),
    ]
    for wrong in (largest + 1, smallest - 1, params.plain_modulus - 1, 2**63, 2**64 - 5, 2**70):
        for call in calls:
            with pytest.raises(hesc.OutOfRangeError, match="integers"):
                call(wrong)
    with pytest.raises(hesc.ParameterError, match="integers"):
        _ = hesc.LeveledParams.recommended("ckks").integer_range
    with pytest.raises(hesc.ParameterError, match="bound"):
        public.encrypt([1], bound=2.0)
