"""Known answers of every scheme, in seconds: what `hesc doctor` runs.

Each test makes keys, encrypts, computes and decrypts, and compares with what the clear gives.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import _native
from hesc._native import ParameterError
from hesc.params import Params

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LENGTH: Final = 256
_DEVIATIONS: Final = 6
"""An answer of streams is wrong by so many standard errors once in five hundred million runs."""
_STREAMS: Final = {
    "streams on BFV": ("bfv_1024_fusion", {}),
    "streams on CKKS": ("ckks_1024", {}),
    "Goldwasser-Micali": ("gm_3072", {}),
    "pads": ("pad_1024", {}),
    "ElGamal, RFC 7919": ("elgamal_ffdhe3072", {}),
    "ElGamal, ristretto255": ("ec_elgamal_ristretto255", {}),
    "ElGamal, secp256r1": ("ec_elgamal_secp256r1", {}),
    "unipolar ElGamal": ("unipolar_elgamal_ristretto255", {"representation": "unipolar"}),
}
GATES: Final = "gates on encrypted bits"
_CLASSICAL: Final = {name for name in _STREAMS if "Micali" in name or "ElGamal" in name}


class SelfTest(NamedTuple):
    """How one scheme did."""

    scheme: str
    seconds: float
    error: str | None
    """What went wrong; None where the answer was the known one."""
    left_out: bool = False
    """This build does not have the scheme."""


def run() -> Iterator[SelfTest]:
    """Tests every scheme, one after the other."""
    for scheme, known_answer in SCHEMES.items():
        if (scheme == GATES and not has_gates()) or (scheme in _CLASSICAL and not has_classical()):
            yield SelfTest(scheme, 0.0, None, left_out=True)
            continue
        started = time.perf_counter()
        error = None
        try:
            known_answer()
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
        yield SelfTest(scheme, time.perf_counter() - started, error)


def has_gates() -> bool:
    """Whether this build has gates on encrypted bits, a feature of the compiled part."""
    return hasattr(_native, "encrypt_bits")


def has_classical() -> bool:
    """Whether this build has Goldwasser and Micali's scheme and ElGamal's, a feature too."""
    try:
        Params.preset("gm_3072")
    except ParameterError:
        return False
    return True


def _same(found: Any, expected: Any, tolerance: float = 0.0) -> None:
    if not np.allclose(found, expected, rtol=0, atol=tolerance):
        raise ArithmeticError(f"computed {found}, and {expected} is right")


def _streams(name: str, options: dict[str, Any]) -> None:
    """A product of two numbers, within its standard error."""
    from hesc.secret import Decryptor, SecretEncryptor, keygen

    params = Params.preset(name)
    secret, _ = keygen(params)
    encryptor = SecretEncryptor(secret, _LENGTH, **options)
    x, w = encryptor.encrypt([0.75]), encryptor.encrypt([0.5])
    value, error = Decryptor(secret).decrypt(x.expand() * w.expand(), return_std=True)
    _same(value, 0.375, _DEVIATIONS * float(np.max(error)))


def _vectors(scheme: str) -> None:
    """Squares of three numbers."""
    from hesc.secret import keygen

    secret, public = keygen(Params.recommended(scheme, encoding="vectors"))
    if scheme == "ckks":
        x, squares, tolerance = public.encrypt([0.5, -0.25, 1.0]), [0.25, 0.0625, 1.0], 1e-4
    else:
        x, squares, tolerance = public.encrypt([3, -7, 20], bound=20), [9, 49, 400], 0.0
    _same(secret.decrypt(x * x), squares, tolerance)


def _odd_ring() -> None:
    """A conjunction of bits in the slots of a ring of odd index."""
    from hesc import packing
    from hesc.packing.secret import decrypt_slots, encrypt_slots
    from hesc.secret import keygen

    params = Params.preset("bgv_4369")
    secret, keys = keygen(params, unpacking=True)
    rows = np.arange(256 * 16).reshape(256, 16) % 3 == 0
    upload = encrypt_slots(secret, rows.astype(np.uint8))
    columns = packing.EncryptedSlots.from_bytes(params, upload).with_keys(keys).unpack()
    answer = packing.pack([(columns[0] * (1 - columns[1])).mod_switch_to(1)]).to_bytes()
    found = decrypt_slots(secret, packing.EncryptedSlots.from_bytes(params, answer))[:, 0]
    _same(found, rows[:, 0] & ~rows[:, 1])


def _ring_products() -> None:
    """Two linear scores."""
    from hesc import ring_products
    from hesc.ring_products.secret import decrypt_scores, encrypt_features
    from hesc.secret import keygen

    weights, intercepts, x = np.array([[1.0, -2.0], [0.5, 4.0]]), np.array([1.0, 0.0]), [[3.0, 5.0]]
    plan = ring_products.RingProductPlan.of_model(weights, intercepts, low=0, high=16, error=0.5)
    secret, _ = keygen(plan.params, products=False)
    model = ring_products.Model(plan, weights, intercepts)
    answer = model.evaluate(encrypt_features(secret, plan, np.array(x)))
    scores = decrypt_scores(secret, plan, answer)
    _same(scores.values, [[-6.0, 21.5]], 8 * float(np.max(scores.error)))


def _integers() -> None:
    """A sum and a comparison of integers of eight bits."""
    from hesc import integers
    from hesc.integers.secret import decrypt_integers, encrypt_integers
    from hesc.secret import keygen

    plan = integers.plan(lambda a, b: integers.maximum(a + b, b), "uint8", "uint8", count=2)
    secret, public = keygen(plan.params)
    a, b = (
        integers.read(plan.params, encrypt_integers(secret, np.array(x, dtype=np.uint8)))
        for x in ([200, 3], [100, 4])
    )
    answer = plan(a.with_keys(public), b.with_keys(public)).to_bytes()
    _same(decrypt_integers(secret, integers.read(plan.params, answer)), [100, 7])


def _logarithms() -> None:
    """A sum of products."""
    from hesc import logarithms
    from hesc.logarithms import Factor, LogarithmPlan
    from hesc.logarithms.secret import decrypt_logarithms, encrypt_logarithms
    from hesc.secret import keygen

    matrix, samples = np.array([[0.5, -2.0]]), np.array([[0.5, 0.25]])
    weights = Factor((1, 2), bound=4.0, source="public", shared=True)
    plan = LogarithmPlan.sums([Factor(2), weights], error=0.05)
    secret, keys = keygen(plan.params, products=False)
    upload = encrypt_logarithms(secret, plan, 0, samples)
    gallery = logarithms.encrypt(plan, 1, keys, matrix)
    answer = logarithms.LogarithmEvaluator(plan, shared=[gallery]).evaluate([upload])
    found = decrypt_logarithms(secret, plan, answer)
    _same(found.values, [[-0.25]], 8 * float(np.max(found.error)))


def _codes() -> None:
    """Distances of binary codes."""
    from hesc.codes import packed
    from hesc.codes.encrypted_codes import EncryptedCodes, EncryptedDistances
    from hesc.codes.secret import decrypt_distances, encrypt_codes
    from hesc.secret import keygen

    params = Params.preset("bfv_1024_distances")
    secret, _ = keygen(params)
    gallery = packed(np.array([[0] * 64, [1] * 64], dtype=np.uint8))
    probe = packed(np.array([[1] * 5 + [0] * 59], dtype=np.uint8))
    asked = encrypt_codes(secret, probe)
    answer = EncryptedCodes.from_bytes(params, asked).distances(gallery).to_bytes()
    found = decrypt_distances(secret, EncryptedDistances.from_bytes(params, answer))
    _same(np.ravel(found), [5, 59])


def _search() -> None:
    """Cosines of an encrypted vector with two clear ones."""
    from hesc.protocols.search.client import SearchClient
    from hesc.protocols.search.index import Index
    from hesc.protocols.search.plan import SearchPlan
    from hesc.protocols.search.server import SearchServer

    vectors = np.array([[3.0, 4.0], [-4.0, 3.0]])
    plan = SearchPlan.of_vectors(vectors, records="public", bits=8, keys=True)
    client = SearchClient(plan)
    server = SearchServer.of(Index(plan, vectors), keys=client.public_keys())
    query = client.encrypt(vectors[:1]).data
    found = client.decrypt(server.answer(query), query=query)
    _same(found.values, [[1.0, 0.0]], plan.score_error.bound)


def _gates() -> None:
    """An AND of two bits, bootstrapped."""
    from hesc import gates
    from hesc.gates.secret import decrypt_outputs
    from hesc.secret import keygen

    builder = gates.Builder(1, 1)
    (a,), (b,) = builder.inputs
    circuit = builder.finish([builder.gate("AND", a, b)])
    secret, public = keygen(Params.recommended("tfhe"), bootstrapping=True)
    x, y = (gates.encrypt_numbers(public, bits, width=1) for bits in ([0, 1, 1], [1, 0, 1]))
    server = gates.Evaluator(public)
    answer = server.answer(*server(circuit, x, y, progress=False))
    (found,) = decrypt_outputs(secret, answer)
    _same(gates.to_numbers(found), [0, 0, 1])


SCHEMES: Final[dict[str, Callable[[], None]]] = {
    **{name: partial(_streams, *of) for name, of in _STREAMS.items()},
    **{f"vectors on {name.upper()}": partial(_vectors, name) for name in ("bfv", "bgv", "ckks")},
    "slots of odd rings": _odd_ring,
    "ring products": _ring_products,
    "integers in slots": _integers,
    "logarithms": _logarithms,
    "distances of codes": _codes,
    "search": _search,
    GATES: _gates,
}
