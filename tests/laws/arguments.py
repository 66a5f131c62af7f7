"""Calls that are right, of every public function, constructor and method: see `test_arguments`."""

from __future__ import annotations

import inspect
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import httpx
import numpy as np
import pyarrow as pa

import hesc
from hesc import _native, batch, codes, gates, integers, logarithms, packing, ring_products, search
from hesc import vectors as leveled
from hesc.codes import encrypted_codes
from hesc.codes import secret as codes_secret
from hesc.gates import secret as gates_secret
from hesc.integers import secret as integers_secret
from hesc.integers import transciphering
from hesc.logarithms import secret as logarithms_secret
from hesc.ml import deployment
from hesc.packing import secret as packing_secret
from hesc.protocols import linkage
from hesc.protocols.linkage.blocking import Pass
from hesc.protocols.linkage.client import Matcher
from hesc.ring_products import secret as products_secret
from hesc.streams import networks
from hesc.streams.encryptor import encrypt_streams
from hesc.streams.iris import load_network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PACKAGES: Final = (
    "hesc", "hesc.codes", "hesc.gates", "hesc.integers", "hesc.vectors", "hesc.protocols.linkage",
    "hesc.protocols.linkage.client", "hesc.search", "hesc.batch",
    "hesc.logarithms", "hesc.streams.networks", "hesc.packing", "hesc.ring_products",
    "hesc.integers.transciphering", "hesc.codes.secret", "hesc.gates.secret",
    "hesc.integers.secret", "hesc.logarithms.secret", "hesc.packing.secret",
    "hesc.ring_products.secret",
)  # fmt: skip

LEFT_OUT: Final = {
    # Made by the package itself, from objects of its own.
    "hesc.streams.encoding.EncodedArray", "hesc.vectors.keys.PublicKeys",
    "hesc.streams.polynomials.summation.Summation",
    "hesc.streams.polynomials.summation.Summation.for_sum",
    "hesc.streams.polynomials.summation.Summation.sums",
    "hesc.streams.polynomials.summation.Summation.sum",
    "hesc.secret.secret_key.SecretKey.write", "hesc.integers.bootstrapped.BootstrappedIntegers",
    "hesc.integers.bootstrapped.IntegerAnswer",
    "hesc.integers.encrypted_integers.EncryptedIntegers", "hesc.integers.expressions.Integers",
    "hesc.integers.layouts.PackedIntegers", "hesc.integers.layouts.SlotwiseArray",
    "hesc.integers.integer_plans.IntegerPlan", "hesc.integers.slotwise.SlotwiseIntegers",
    "hesc.integers.slotwise.SlotwiseTruths", "hesc.integers.slotwise.Slotwise.highest",
    "hesc.integers.slotwise.Slotwise.inner", "hesc.integers.slotwise.Slotwise.part",
    "hesc.integers.slotwise.Slotwise.only", "hesc.integers.slotwise.Slotwise.every",
    "hesc.integers.slotwise.Slotwise.where", "hesc.integers.slotwise.Slotwise.turns",
    "hesc.packing.slots.EncryptedSlots.masked", "hesc.packing.slots.EncryptedSlots.carried",
    "hesc.packing.slots.EncryptedSlots.summed", "hesc.gates.circuit.Precision",
    "hesc._native.scc",
    # Of messages, for the package's own modules.
    "hesc.protocols.search.client.SearchClient.decrypt_parts",
    "hesc.protocols.search.client.SearchClient.encrypt_parts",
    "hesc.protocols.search.client.SearchClient.read_keys",
    "hesc.protocols.search.index.Index.answers", "hesc.protocols.search.plan.SearchPlan",
    "hesc.protocols.search.plan.SearchPlan.rounded",
    "hesc.protocols.search.plan.SearchPlan.smallest",
    "hesc.protocols.search.plan.SearchPlan.values_of",
    "hesc.protocols.search.server.SearchServer.compute",
    "hesc.protocols.search.server.SearchServer.read_keys",
    "hesc.protocols.linkage.plan.LinkagePlan.count",
    "hesc.protocols.linkage.plan.LinkagePlan.lengths",
    "hesc.protocols.linkage.plan.LinkagePlan.opened",
    # As those of the other face, of the same flows.
    "hesc.ml.remote.faces.AsyncClient.decision_function",
    "hesc.ml.remote.faces.AsyncClient.predict", "hesc.ml.remote.faces.AsyncClient.predict_proba",
    "hesc.ml.remote.faces.AsyncClient.search",
    # As decision_function, of a model whose scores give probabilities.
    "hesc.ml.remote.faces.Client.predict_proba",
    # Take evaluation keys, searches or bootstraps, seconds a call: their own tests have wrong ones.
    "hesc.gates.circuit.Precision.of",
    "hesc.gates.encrypted.Evaluator", "hesc.gates.encrypted.Evaluator.answer",
    "hesc.gates.encrypted.Evaluator.gate", "hesc.gates.encrypted.Evaluator.pack",
    "hesc.gates.encrypted.Evaluator.program", "hesc.gates.encrypted.Evaluator.refresh",
    "hesc.gates.encrypted.Evaluator.seconds",
    "hesc.gates.answers.BitAnswer.from_bytes", "hesc.gates.encrypted.EncryptedBits.of_streams",
    "hesc.integers.bootstrapped.BootstrappedIntegers.answer",
    "hesc.integers.bootstrapped.BootstrappedIntegers.encrypt",
    "hesc.integers.bootstrapped.BootstrappedIntegers.from_bytes",
    "hesc.integers.bootstrapped.BootstrappedIntegers.pack",
    "hesc.integers.bootstrapped.IntegerAnswer.from_bytes",
    "hesc.integers.layouts.PackedIntegers.unpack", "hesc.integers.integer_plans.evaluate",
    "hesc.integers.integer_plans.plan", "hesc.integers.slotwise.SlotwiseTruths.where",
    "hesc.integers.slotwise.SlotwiseIntegers.divided",
    "hesc.params.parameter_set.Params.cyclotomic", "hesc.params.parameter_set.Params.tfhe",
    "hesc.integers.layouts.SlotwiseArray.from_bytes",
    "hesc.integers.layouts.PackedIntegers.from_bytes", "hesc.vectors.keys.PublicKeys.only",
    "hesc.vectors.keys.PublicKeys.require", "hesc.secret.secret_key.SecretKey.with_bootstrapping",
    "hesc.packing.moves.Spread", "hesc.packing.moves.gather",
    "hesc.packing.slots.EncryptedSlots.extract", "hesc.packing.slots.EncryptedSlots.frobenius",
    "hesc.packing.slots.EncryptedSlots.rotate", "hesc.packing.slots.EncryptedSlots.unpack",
    "hesc.packing.slots.sum_of_products",
    "hesc.integers.transciphering.secret.CipherKey.encrypt_to_bytes",
    "hesc.gates.secret.decrypt_outputs",
    "hesc.secret.secret_key.SecretKey.decrypt_shared",
    "hesc.integers.secret.decrypt_slotwise",
    "hesc.integers.transciphering.aes.AesDecipherer",
    "hesc.integers.transciphering.aes.AesDecipherer.decipher",
    "hesc.integers.transciphering.deciphering.Decipherer",
    "hesc.integers.transciphering.deciphering.Decipherer.decipher",
    "hesc.integers.transciphering.deciphering.plan",
    "hesc.protocols.linkage.server.Comparer.pieces",
    "hesc.vectors.encrypted_vectors.EncryptedVector.rotate_rows",
}  # fmt: skip
"""What is not called here, and why."""


class Call(NamedTuple):
    """A callable, and arguments that it takes."""

    name: str
    function: Callable[..., Any]
    right: dict[str, Any]


def _defined_in(module: Any) -> list[str]:
    """Public functions and classes that a module defines itself."""
    found = inspect.getmembers(module, lambda f: inspect.isfunction(f) or inspect.isclass(f))
    return [n for n, f in found if f.__module__ == module.__name__ and not n.startswith("_")]


def public() -> set[str]:
    """What the packages offer that takes arguments, by name."""
    found = set()
    for package in PACKAGES:
        module = import_module(package)
        for offered in getattr(module, "__all__", _defined_in(module)):
            for name, function in _parts(getattr(module, offered)):
                if _arguments(function):
                    found.add(name)
    return found


def _parts(offered: Any) -> Iterator[tuple[str, Any]]:
    """A function, or a class and its methods; errors, tuples and constants have their own laws."""
    if not callable(offered) or not _module(offered).startswith("hesc"):
        return
    name = _name(offered)
    if not inspect.isclass(offered):
        yield name, offered
    elif not issubclass(offered, Exception | tuple):
        # What takes a compiled object is for the package's own modules, and so is what compiled
        # classes hand down: it takes flat rows.
        if not {"native", "of"} & set(_arguments(offered)):
            yield name, offered
        for method, function in inspect.getmembers(offered, callable):
            of_class = getattr(function, "__qualname__", "").startswith(offered.__qualname__)
            compiled = not inspect.isfunction(function) and not inspect.ismethod(function)
            if of_class and not compiled and not method.startswith("_"):
                yield f"{name}.{method}", function


def _module(offered: Any) -> str:
    """Where a function or class is from; methods of compiled classes say only whose they are."""
    owner = getattr(offered, "__qualname__", "").partition(".")[0]
    compiled = getattr(_native, owner, None)
    return getattr(offered, "__module__", None) or getattr(compiled, "__module__", None) or ""


def _name(offered: Any) -> str:
    return f"{_module(offered)}.{getattr(offered, '__qualname__', '')}"


def _arguments(function: Any) -> list[str]:
    try:
        return [name for name in inspect.signature(function).parameters if name != "self"]
    except ValueError:
        return []


def _of(function: Callable[..., Any], **right: Any) -> Call:
    return Call(_name(function), function, right)


def _several(function: Callable[..., Any], **right: Any) -> Call:
    """Of arguments that are given by place."""
    call = _of(function, **right)
    return call._replace(function=lambda **given: function(*given.values()))


def calls(folder: Path) -> Iterator[Call]:
    """All of them; files are written to the folder."""
    yield from _streams()
    yield from _secret_keys(folder)
    yield from _vectors()
    yield from _codes()
    yield from _gates()
    yield from _integers()
    yield from _products()
    yield from _networks(folder)
    yield from _searches(folder)
    yield from _batches(folder)
    yield from _remote()


def _remote() -> Iterator[Call]:
    """A client of a service that is a function of this process."""
    records = [[0.5, 0.25], [1.0, -1.0], [0.0, 0.5]]
    plan = search.SearchPlan.of_vectors(records, records="public", keys=False)
    server = search.SearchServer.of(search.Index(plan, records))

    def answered(request: httpx.Request) -> httpx.Response:
        body = b'{"budgets": {}}'
        if request.method == "POST":
            body = server.answer(request.read())
        elif request.url.path.endswith("plan.json"):
            body = plan.to_bytes()
        return httpx.Response(200, stream=httpx.ByteStream(body))

    options: dict[str, Any] = {
        "url": "https://example.org", "token": "token", "model": plan.digest.hex(), "jobs": False,
        "at_once": 2, "patience": 0.0, "timeout": 1.0, "insecure_http": False, "show": None,
        "passphrase": "words",
    }  # fmt: skip
    yield _of(hesc.Client, **options)
    yield _of(hesc.AsyncClient, **options)
    yield _of(hesc.ServiceError, said="words", problem="budget", status=403)
    client = hesc.Client(**options, transport=httpx.MockTransport(answered))
    for asks in (client.predict, client.decision_function):
        yield _of(asks, samples=records, clip=False)
    yield _of(client.search, queries=records, count=2, clip=False)
    yield _of(client.answers, queries=[client.local.encrypt(records).data])


def _batches(folder: Path) -> Iterator[Call]:
    """Callables of paths, of a deployment of two features and two records."""
    records = [[0.5, 0.25], [1.0, -1.0]]
    options: dict[str, Any] = {"records": "public", "keys": False, "names": ["a", "b"]}
    plan = search.SearchPlan.of_vectors(records, **options)
    data = plan.to_bytes()
    server = search.SearchServer(plan, plan.records_of(records)).to_bytes()
    sides = {"client": {"plan.json": data}, "server": {"plan.json": data, "server.json": server}}
    deployment.write(folder / "batch", plan, sides, b"<html></html>")
    secret = folder / "batch.key"
    search.SearchClient(plan).secret.save(secret)
    asks: dict[str, Any] = {"client": folder / "batch" / "client", "secret": secret}
    encrypts = batch.Encrypt(**asks, keep=["id"])
    answers = batch.Answer(folder / "batch" / "server")
    decrypts = batch.Decrypt(**asks, best=1)
    rows = pa.table({"a": [0.5], "b": [0.25], "id": [1]})
    asked = encrypts(rows)
    yield _of(
        batch.Encrypt, **asks, keys=None, passphrase_file=None, clip=False, keep=["id"],
        ignore_extra=False,
    )  # fmt: skip
    yield _of(
        batch.Answer, server=folder / "batch" / "server", keys=None, index=None, parts=None,
        state=None, files=None, answers=None,
    )  # fmt: skip
    yield _of(batch.Decrypt, **asks, passphrase_file=None, probabilities=False, best=1)
    for step, table in ((encrypts, rows), (answers, asked), (decrypts, answers(asked))):
        name = f"{type(step).__module__}.{type(step).__name__}.applied"
        yield Call(name, step, {"table": table})


def _searches(folder: Path) -> Iterator[Call]:
    records = [[0.5, 0.25], [1.0, -1.0], [0.0, 0.5]]
    options: dict[str, Any] = {
        "sample": records, "records": "public", "metric": "euclidean", "bits": 4, "norm": 2.0,
        "query_norm": 2.0, "keys": None, "shared": None, "names": [], "most_records": 9,
    }  # fmt: skip
    plan = search.SearchPlan.of_vectors(**options)
    # Keys take a second a call.
    yield _of(search.SearchPlan.of_vectors, **options | {"keys": False})
    yield _of(search.SearchPlan.of_codes, bits=5, records="public", most_records=3, keys=False)
    yield _of(plan.prepared, given=records, clip=False)
    yield _of(plan.records_of, given=records)
    yield _of(plan.sizes, samples=3)
    yield _of(search.SearchPlan.from_bytes, data=plan.to_bytes())
    index = search.Index(plan, records)
    client = search.SearchClient(plan)
    public_keys = client.public_keys()
    yield _of(search.SearchClient, plan=plan, secret=client.secret, keys=public_keys)
    server = search.SearchServer.of(index)
    yield _of(search.SearchServer, plan=plan, vectors=plan.records_of(records), keys=None)
    yield _of(search.SearchServer.of, index=index, keys=None)
    query = client.encrypt(records).data
    yield _of(client.encrypt, samples=records, clip=False)
    yield _of(server.answer, query=query)
    yield _of(client.decrypt, answer=server.answer(query), query=query, samples=3)
    path = index.save(folder / "index")
    copy = iter(range(10**6))
    yield Call(
        "hesc.protocols.search.index.Index",
        search.Index,
        {"plan": plan, "vectors": records},
    )
    yield _of(search.Index.open, plan=plan, path=path, part=(0, 1))
    yield Call(
        "hesc.protocols.search.index.Index.save",
        lambda path: search.Index(plan, records).save(path),
        {"path": folder / f"index {next(copy)}"},
    )
    for name, right in (
        ("append", {"vectors": records}),
        ("append_entries", {"entries": plan.records_of(records)}),
        ("replace", {"record": 1, "vector": [0.5, 0.5]}),
        ("remove", {"record": 1}),
        ("vector", {"record": 1}),
    ):
        yield Call(
            f"hesc.protocols.search.index.Index.{name}", partial(_changed, plan, records, name),
            right,
        )  # fmt: skip


def _changed(plan: Any, records: Any, name: str, **given: Any) -> Any:
    """A method of an index of its own."""
    return getattr(search.Index(plan, records), name)(**given)


def _streams() -> Iterator[Call]:  # noqa: PLR0915 - a list
    params = hesc.Params.insecure_plain()
    secret, key = hesc.keygen(params)
    encryptor = hesc.Encryptor(key, 64, random_state=1)
    encoder = hesc.Encoder(64, random_state=1)
    streams, others = encoder.encode([0.5, 0.25]), encoder.encode([0.5, 0.25])
    array, other = (encryptor.encrypt([[0.5], [0.25]]) for _ in range(2))
    up = hesc.SecretEncryptor(secret, 64, random_state=1)
    polynomial = hesc.Polynomial([0, 1, 0.5])
    inputs = polynomial.encrypt_inputs(encryptor, [0.5])
    summation = polynomial.summation(64)
    yield _of(
        hesc.Encoder, stream_length=64, generator="sobol", representation="unipolar",
        first_dimension=0, factors=2, random_state=0,
    )  # fmt: skip
    yield _of(encoder.encode, values=[0.5])
    yield _of(encoder.encode_factors, values=[[0.5], [0.5]])
    yield _of(encoder.error_bound, factors=2, failure_probability=1e-9)
    yield _of(encoder.predicted_error, values=[0.5], factors=2)
    yield _of(streams.correlation, other=others)
    yield _of(streams.delayed, positions=1)
    yield _of(streams.multiplexed_sum, probabilities=[0.5, 0.5], random_state=1)
    yield _of(streams.shuffled, random_state=1)
    yield _of(streams.__mul__, other=others)
    yield _of(streams.__and__, other=others)
    yield _of(hesc.Encryptor, public=key, stream_length=64, layout="auto", generator="sobol")
    yield _of(hesc.SecretEncryptor, secret=secret, stream_length=64, layout="auto")
    for of in (encryptor, up):
        yield _of(of.encrypt, values=[0.5])
        yield _of(of.encrypt_copies, values=[0.5], copies=2)
        yield _of(of.encrypt_factors, values=[[0.5], [0.5]])
    yield _of(encryptor.encrypt_batches, values=[0.5], batch_size=1)
    yield _of(encrypt_streams, public=key, encoded=[streams], layout="auto")
    yield _of(secret.encrypt_streams, encoded=streams, layout="auto")
    yield _of(hesc.PublicKeys.from_bytes, params=params, data=key.to_bytes())
    yield _of(hesc.Answer.from_bytes, params=params, data=array.answer().to_bytes())
    yield _of(hesc.EncryptedArray.from_bytes, params=params, data=array.to_bytes())
    yield _of(hesc.SeededArray.from_bytes, params=params, data=up.encrypt([0.5]).to_bytes())
    yield _of(array.allocated_sum, axis=0, coefficients=[1.0, 1.0], pieces=[1, 1], granularity=1)
    yield _of(array.answer, fuse=1, compact=None)
    yield _of(array.broadcast_to, shape=(2, 2))
    yield _several(array.reshape, shape=2)
    yield _of(array.__getitem__, key=0)
    yield _of(array.__mul__, other=other)
    yield _of(array.__add__, other=other)
    yield _of(array.__sub__, other=other)
    yield _of(array.__truediv__, other=2.0)
    yield _of(array.__pow__, exponent=1)
    yield _of(array.__matmul__, other=other.T)
    yield _of(hesc.EncryptedArray.concatenate, arrays=[array, other], axis=0)
    yield _of(hesc.EncryptedArray.weighted_sum, arrays=[array, other], weights=[1.0, 1.0])
    yield _of(array.sum, axis=0)
    yield _of(array.mean, axis=0)
    yield _of(array.multiplexed_sum, axis=0, coefficients=[1.0, 1.0], random_state=1)
    yield _of(encryptor.encrypt([0.5, 0.5]).multiply_encoded, constants=encoder.encode([0.5, 0.5]))
    yield _of(array.rerandomise, public=key)
    yield _of(hesc.powers, copies=encryptor.encrypt_copies([0.5], 2))
    yield _of(hesc.Polynomial, coefficients=[0, 1])
    yield _of(
        polynomial.summation, stream_length=64, method="mixed", ciphertexts=1, granularity=2,
        random_state=0,
    )  # fmt: skip
    yield _of(polynomial.encrypt, encryptor=encryptor)
    yield Call(
        "hesc.streams.polynomials.polynomial.Polynomial.encrypt_inputs",
        lambda encryptor, values, repetitions: polynomial.encrypt_inputs(
            encryptor, values, repetitions=repetitions
        ),
        {"encryptor": encryptor, "values": [0.5], "repetitions": 1},
    )
    yield _of(polynomial.evaluate, inputs=inputs, summation=summation)
    yield _of(polynomial.monomials, copies=[encryptor.encrypt_copies([0.5], 2)])
    yield Call(
        "hesc.streams.polynomials.summation.Summation.predicted_error",
        lambda values, draws, generator: summation.predicted_error(
            values, draws=draws, generator=generator
        ),
        {"values": [0.5], "draws": 2, "generator": "sobol"},
    )
    yield _of(hesc.Params.preset, name="bfv_1024")
    yield _of(hesc.Params.presets, encoding="streams")
    lattice = hesc.Params.preset("bfv_1024")
    yield _of(hesc.Params.recommended, scheme="bfv", encoding="streams")
    yield _of(
        hesc.Params.lattice, scheme="bfv", ring_degree=1024, coeff_moduli=lattice.coeff_moduli,
        packing=lattice.packing, plain_modulus=lattice.plain_modulus, assurance="guidelines2024",
    )  # fmt: skip
    yield _of(hesc.Params.elgamal, group="ristretto255", max_count=64)
    yield _of(hesc.Params.pad, block_length=1024)
    yield _of(hesc.Params.insecure_plain, block_length=1024, plain_modulus=2)
    yield _of(hesc.Params.from_bytes, data=lattice.to_bytes(), assurance="guidelines2024")
    slots = hesc.Params.lattice(
        "bgv", 8192, hesc.Params.preset("bgv_8192").coeff_moduli, special_moduli=[],
        plain_modulus=65537,
    )  # fmt: skip
    yield _of(hesc.Params.unipolar_slots, vectors=slots)


def _secret_keys(folder: Path) -> Iterator[Call]:
    params = hesc.Params.preset("bfv_1024_distances")
    secret, key = hesc.keygen(params)
    array = hesc.Encryptor(key, 64).encrypt([0.5])
    bits = hesc.Params.preset("insecure_tfhe_512")
    of_bits, public_of_bits = hesc.keygen(bits)
    encrypted = gates.encrypt_bits(public_of_bits, [0, 1])
    names = iter(range(10**6))
    secret.save(folder / "secret.key")
    yield _of(hesc.keygen, params=params, mode="encrypt")
    yield _of(hesc.Decryptor, secret=secret)
    yield _of(hesc.Decryptor(secret).decrypt, encrypted=array, return_std=True)
    yield _of(secret.counts, answer=array.answer())
    yield _of(gates_secret.decrypt_bits, secret=of_bits, bits=encrypted)
    yield _of(gates_secret.bit_noise, secret=of_bits, bits=encrypted)
    yield _of(hesc.SecretKey.load, params=params, path=folder / "secret.key", passphrase=None)

    def new(path: Any) -> Any:
        return folder / f"{next(names)}.key" if path is folder else path

    yield Call(
        "hesc.secret.secret_key.SecretKey.save",
        lambda path, passphrase: secret.save(new(path), passphrase=passphrase),
        {"path": folder, "passphrase": None},
    )
    ckks = hesc.Params.preset("ckks_4096")
    leveled_secret, _ = hesc.keygen(ckks, products=False)
    leveled_secret.save(folder / "leveled.key")
    yield Call(
        "hesc.secret.secret_key.SecretKey.save",
        lambda path, passphrase: leveled_secret.save(new(path), passphrase=passphrase),
        {"path": folder, "passphrase": None},
    )
    yield _of(
        hesc.SecretKey.load, params=ckks, path=folder / "leveled.key", passphrase=None,
        shared=0.0,
    )  # fmt: skip


def _vectors() -> Iterator[Call]:
    params = hesc.Params.recommended("ckks", encoding="vectors", ring_degree=8192)
    secret, keys = hesc.keygen(params, rotations=[1], products=True)
    vector = keys.encrypt([0.5, 0.25])
    yield _of(hesc.Params.preset, name="ckks_4096", bound=1.0)
    yield _of(
        hesc.Params.recommended, scheme="ckks", encoding="vectors", ring_degree=4096, bound=1.0
    )
    yield _of(hesc.Params.from_bytes, data=params.to_bytes(), assurance="guidelines2024")
    yield _of(
        hesc.Params.lattice, scheme="ckks", ring_degree=8192,
        coeff_moduli=params.coeff_moduli, special_moduli=params.special_moduli, ring_index=None,
        levels=(), plain_modulus=None, scale=params.scale, bound=1.0, assurance="guidelines2024",
    )  # fmt: skip
    small = hesc.Params.preset("ckks_4096")
    yield _of(
        hesc.keygen, params=small, products=False, rotations=[1], conjugate=False,
        slot_rotations=(), unpacking=False, spreading=False,
    )  # fmt: skip
    yield _of(keys.encrypt, values=[0.5], bound=1.0)
    yield _of(vector.with_keys, keys=keys)
    yield _of(hesc.EncryptedVector.from_bytes, params=params, data=vector.to_bytes(), length=2)
    yield _of(hesc.PublicKeys.from_bytes, params=params, data=keys.to_bytes(), parts=[])
    yield _of(vector.dot, other=vector)
    yield _of(vector.mod_switch_to, level=1)
    yield _of(vector.polynomial, coefficients=[0.0, 1.0])
    yield _of(vector.rotate, steps=1)
    yield _of(vector.rotate_many, steps=[1])
    yield _of(vector.sum, axis=0)
    yield _of(vector.mean, axis=0)
    for method in (vector.__mul__, vector.__add__, vector.__sub__, vector.__matmul__):
        yield _of(method, other=vector)
    yield _of(vector.__truediv__, other=2.0)
    yield _of(vector.__pow__, exponent=1)
    yield _of(leveled.Matrix, params=params, values=[[1.0, 0.5]], level=2)
    plan = leveled.MatrixProduct(params, (1, 2), (2, 1), clear="left")
    yield _of(
        leveled.MatrixProduct, params=params, left=(1, 2), right=(2, 1), clear=None, bounds=None,
        objective="bytes",
    )  # fmt: skip
    yield _of(plan.right, values=[[0.5], [0.25]])
    yield _of(leveled.MatrixProduct(params, (1, 2), (2, 1)).left, values=[[0.5, 0.25]])
    yield _of(plan.follows, first=plan)
    laid = [keys.encrypt(each) for each in plan.right([[0.5], [0.25]])]
    yield _of(plan.multiply, left=[[0.5, 0.5]], right=laid)
    yield _of(plan.matrix, vectors=[np.zeros(plan.lengths[2])])
    yield _of(leveled.dot_rotations, length=4)
    yield _of(leveled.matrix_rotations, rows=4, columns=2)
    yield _of(secret.encrypt_to_bytes, values=[0.5], bound=1.0)
    yield _of(secret.decrypt, vector=vector)
    yield _of(secret.noise_budget, ciphertext=vector)


def _codes() -> Iterator[Call]:  # noqa: PLR0915 - a list
    params = hesc.Params.preset("bfv_1024_distances")
    secret, public = hesc.keygen(params)
    key = codes.HashKey.generate()
    coder = codes.RecordCoder(key, [codes.Field("x")], bits=64)
    rows = coder.encode({"x": ["ab", "cd"]})
    encrypted = encrypted_codes.EncryptedCodes.encrypt(public, rows)
    distances = encrypted.distances(rows)
    plan = codes.GalleryPlan(64)
    owner, _ = hesc.keygen(plan.params, products=False)
    gallery_bytes, probes = (
        codes_secret.encrypt_gallery(owner, plan, rows),
        codes_secret.encrypt_probes(owner, plan, rows),
    )
    gallery = codes.EncryptedGallery.from_bytes(plan, gallery_bytes)
    projection = codes.SignProjection(2, random_state=0)
    yield _of(codes.Field, name="x", grams=2, positional=False, hashes=2)
    yield _of(codes.Field("x").pieces, value="ab")
    yield _of(codes.Field("x").text, value="ab")
    yield _of(codes.HashKey, data=bytes(32))
    yield _of(key.digest, message=b"x")
    yield _of(codes.RecordCoder, key=key, fields=[codes.Field("x")], bits=64, kind="bloom")
    yield _of(coder.encode, table={"x": ["ab"]})
    yield Call("a column", lambda column: coder.encode({"x": column}), {"column": ["ab"]})
    yield Call("a value", lambda value: coder.encode({"x": [value]}), {"value": "ab"})
    yield _of(codes.SignProjection, dimension=2, bits=64, random_state=1)
    yield _of(projection.encode, vectors=[[0.5, 1]])
    yield _of(projection.angles, distances=[1])
    yield _of(codes.hamming, a=rows, b=rows)
    yield _of(codes.nearest, distances=[[1, 2]], count=1)
    yield _of(codes.packed, bits=np.zeros((1, 64), int))
    yield _of(codes.unpacked, codes=rows)
    yield _of(codes_secret.encrypt_codes, secret=secret, codes=rows)
    yield _of(codes_secret.decrypt_distances, secret=secret, encrypted=distances)
    yield _of(encrypted_codes.EncryptedCodes.encrypt, public=public, codes=rows)
    yield _of(encrypted_codes.EncryptedCodes.from_bytes, params=params, data=encrypted.to_bytes())
    yield _of(
        encrypted_codes.EncryptedDistances.from_bytes, params=params, data=distances.to_bytes()
    )
    yield _of(encrypted.distances, codes=rows)
    yield _of(encrypted.coefficients, codes=1)
    yield _of(codes.GalleryPlan, bits=64, piece=64)
    yield _of(codes.GalleryPlan.from_bytes, data=plan.to_bytes())
    yield _of(plan.sizes, records=1, probes=1)
    yield _of(codes_secret.encrypt_gallery, secret=owner, plan=plan, codes=rows)
    yield _of(codes_secret.encrypt_probes, secret=owner, plan=plan, codes=rows)
    yield _of(
        codes_secret.gallery_distances,
        secret=owner,
        plan=plan,
        parts=list(gallery.answers(probes)),
    )
    yield _of(codes.EncryptedGallery.from_bytes, plan=plan, data=gallery_bytes)
    yield Call(
        "hesc.codes.galleries.EncryptedGallery.answers",
        lambda probes, records: list(gallery.answers(probes, records=records)),
        {"probes": probes, "records": 8192},
    )
    agreed = linkage.LinkagePlan(2, 2, 64)
    matcher = Matcher(agreed)
    matcher_public = matcher.public_keys()
    sender = linkage.Sender(agreed, matcher_public, rows)
    comparer = linkage.Comparer(agreed, matcher_public, rows)
    (piece,) = comparer.pieces(sender.messages())
    matcher.read(piece)
    answer = matcher.answer(64)
    matcher_keys = hesc.PublicKeys.from_bytes(agreed.params, matcher_public)
    hiding = encrypted_codes.EncryptedCodes.encrypt(matcher_keys, rows)
    yield _of(
        hiding.hidden_distances, public=matcher_keys, codes=rows,
        coefficients=hiding.coefficients(len(rows)), statistical_bits=40,
    )  # fmt: skip
    yield _of(linkage.LinkagePlan, sent=2, compared=2, bits=512)
    yield _of(linkage.LinkagePlan.from_bytes, data=agreed.to_bytes())
    passes = [Pass("name", 2)]
    yield _of(
        linkage.LinkagePlan.of_blocks, passes=passes, sizes="private", sent=[2, 0],
        compared=[2, 1], bits=64, epsilon=1.0, delta=2.0**-40,
    )  # fmt: skip
    divided = linkage.LinkagePlan.of_blocks(passes, "told", [2, 0], [2, 1], bits=64)
    yield _of(divided.block, number=0)
    yield _of(Matcher(divided).block, number=0)
    yield _of(linkage.Sender, plan=agreed, keys=matcher_public, codes=rows)
    yield _of(linkage.Comparer, plan=agreed, keys=matcher_public, codes=rows)
    yield _of(Matcher, plan=agreed, secret=matcher.secret, keys=matcher_public)
    yield _of(sender.matched, answer=answer)
    yield _of(comparer.matched, answer=answer)
    yield _of(matcher.matches, threshold=3)
    yield _of(matcher.answer, threshold=3)
    yield Call(
        "hesc.protocols.linkage.client.Matcher.read",
        lambda piece: Matcher(agreed, secret=matcher.secret).read(piece),
        {"piece": piece},
    )
    yield _of(linkage.quality, found=[[0, 0]], true=[[0, 0]])
    yield _of(linkage.choose_threshold, sent=rows, compared=rows, true=[[0, 0], [1, 1]])


def _gates() -> Iterator[Call]:
    params = hesc.Params.preset("insecure_tfhe_512")
    _, public = hesc.keygen(params)
    bits = gates.encrypt_bits(public, [0, 1, 1])
    for function in filter(inspect.isfunction, map(gates.__dict__.get, gates.__all__)):
        wanted = _arguments(function)
        if set(wanted) <= {
            "width", "stream_length", "ones", "count", "adder", "signed",
        }:  # fmt: skip
            given = {"adder": "ripple", "signed": False}
            yield _of(function, **{argument: given.get(argument, 4) for argument in wanted})
    circuit = gates.integers.adder(1, adder="ripple")
    yield _of(gates.stream_multiplier, gate="AND", stream_length=4)
    yield _of(gates.Circuit.from_bristol, text=circuit.to_bristol())
    yield _several(gates.Builder, inputs=2)
    builder = gates.Builder(2)
    a, b = builder.inputs[0]
    yield _of(builder.gate, name="AND", a=a, b=b)
    yield _of(builder.mux, choice=a, one=a, zero=b)
    yield _of(builder.invert, a=a)
    yield _of(builder.constant, bit=1)
    yield _several(builder.append, circuit=circuit, inputs=[a, b])
    yield _several(builder.finish, outputs=[a])
    yield _of(gates.to_bits, numbers=[1], width=4, signed=False)
    yield _of(gates.to_numbers, bits=[[0, 1]], signed=False)
    yield _of(gates.encrypt_bits, public=public, bits=[0, 1])
    yield _of(gates.encrypt_numbers, public=public, numbers=[1], width=2, signed=False)
    yield _of(gates.concatenate, parts=[bits, bits])
    yield _several(bits.reshape, shape=3)
    yield _of(bits.__getitem__, index=0)
    yield _of(bits.__xor__, other=bits)
    yield _of(gates.EncryptedBits.from_bytes, params=params, data=bits.to_bytes())


def _integers() -> Iterator[Call]:  # noqa: PLR0915 - a list
    params = hesc.Params.preset("bgv_4369")
    secret, keys = hesc.keygen(params, products=False)
    x = integers.encrypt(keys, [1, 2, 3], "uint4")
    wide = integers.encrypt(keys, [1], "int16")
    fixed, moments = integers.FixedPoint("int16", 4), integers.Moments(2, [[3], [5]])
    both = integers.Moments(2, [[3], [3], [5], [5], [5]])
    slotwise = integers.Slotwise(params, "uint4")
    along = slotwise.encrypt(keys, [1])
    row = slotwise.slots_of([1])
    slots = packing.encrypt(keys, [1, 0, 1], content="numbers")
    cipher = hesc.CipherKey.generate()
    of_bytes = hesc.Params.cyclotomic(255, [50] * 10, [50], assurance="insecure")
    yield _of(transciphering.aes_plan, dtype="uint8", rounds=1, spare=1, params=of_bytes)
    shape = transciphering.Shape(4, 4)
    message = cipher.encrypt([1], "uint4", shape=shape)
    yield _of(integers.FixedPoint, dtype="int16", fraction_bits=4)
    yield _of(fixed.encode, numbers=[1.5])
    yield _of(fixed.decode, integers=[15])
    yield _of(fixed.multiply, a=wide, b=wide)
    yield _of(fixed.divide, a=wide, b=wide)
    tiny = integers.FloatingPoint(2, 1)
    yield _of(integers.FloatingPoint, exponent_bits=5, fraction_bits=10)
    yield _of(tiny.encode, numbers=[1.5])
    yield _of(tiny.decode, integers=[3])
    for unary in (tiny.negative, tiny.absolute):
        yield _of(unary, a=x)
    for binary in (tiny.add, tiny.subtract, tiny.multiply, tiny.less, tiny.equal):
        yield _of(binary, a=x, b=x)
    yield _of(integers.IntegerKind, width=4, signed=False, boolean=False)
    yield _of(integers.Moments, observations=2, sums=[[3], [5]])
    yield _of(moments.variance, ddof=1)
    yield _of(both.covariance, ddof=1)
    yield _of(integers.Slotwise, params=params, dtype="uint4")
    yield _of(slotwise.slots_of, numbers=[1])
    yield _of(slotwise.encrypt, keys=keys, numbers=[1])
    yield _of(slotwise.read, data=along.to_bytes(), count=1)
    yield _of(slotwise.truths_row, truths=True, count=1)
    yield _of(slotwise.numbers_of, row=row, count=1)
    yield _of(slotwise.truths_of, row=row, count=1)
    yield _of(along.slots_beside, other=1)
    yield _of(along.public, numbers=1)
    yield _of(along.__xor__, other=1)
    yield _of(integers.encrypt, keys=keys, numbers=[1], dtype="uint4", layout="sliced")
    yield _of(integers.read, params=params, data=x.to_bytes(), layout="sliced")
    yield _of(integers.EncryptedIntegers.from_bytes, params=params, data=x.to_bytes())
    for pair in (integers.maximum, integers.minimum):
        yield _of(pair, a=x, b=x)
    yield _of(integers.dot, a=[x], b=[x])
    for row_of in (integers.total, integers.median, integers.sort):
        yield _of(row_of, numbers=[x, x])
    yield _of(integers.where, condition=x == x, one=x, zero=x)  # noqa: PLR0124 - an expression
    yield _of(integers.sums, x=[x], y=[x])
    yield _of(x.astype, dtype="uint8")
    yield _of(x.__add__, other=1)
    yield _of(x.__lt__, other=1)
    yield _of(
        packing_secret.encrypt_slots,
        secret=secret,
        messages=[1, 0],
        content="numbers",
        level=1,
    )
    yield _of(packing_secret.decrypt_slots, secret=secret, slots=slots)
    yield _of(integers_secret.decrypt_integers, secret=secret, integers=x)
    yield _of(
        integers_secret.encrypt_integers,
        secret=secret,
        numbers=[1],
        dtype="uint4",
        layout="sliced",
    )
    yield _of(packing.encrypt, keys=keys, messages=[1, 0], content="numbers")
    yield _of(packing.EncryptedSlots.from_bytes, params=params, data=slots.to_bytes())
    yield _of(packing.pack, columns=[slots])
    yield _of(packing.spreading_elements, params=params)
    yield _of(slots.mod_switch_to, level=1)
    yield _of(slots.__add__, other=slots)
    yield _of(slots.__mul__, other=1)
    yield _of(cipher.encrypt, numbers=[1], dtype="uint4", shape=shape)
    yield _of(cipher.decrypt, message=message)
    yield _of(hesc.CipherKey.from_bytes, data=cipher.secret_bytes())
    yield _of(transciphering.StreamCipherMessage.from_bytes, data=message.to_bytes())
    yield _of(message.public_rows, run=0)


def _products() -> Iterator[Call]:
    factors = [logarithms.Factor(2), logarithms.Factor(2, source="clear")]
    agreed = logarithms.LogarithmPlan.elementwise(factors, error=0.05)
    secret, _ = hesc.keygen(agreed.params, products=False)
    up = logarithms_secret.encrypt_logarithms(secret, agreed, 0, [0.5, 0.5])
    evaluator = logarithms.LogarithmEvaluator(agreed, clear={1: [0.5, 0.5]})
    yield _of(logarithms.Factor, shape=2, bound=1.0, source="secret", shared=False)
    yield _of(logarithms.LogarithmPlan.elementwise, factors=factors, error=0.05)
    yield _of(logarithms.LogarithmPlan.sums, factors=factors, error=0.05, weights=1.0)
    yield _of(
        logarithms.LogarithmPlan.polynomial, factors=factors, exponents=[[[1, 1]], [[1, 1]]],
        coefficients=[1.0],
        error=0.05,
    )  # fmt: skip
    yield _of(logarithms.LogarithmPlan.from_bytes, data=agreed.to_bytes())
    yield _of(agreed.sizes, samples=1)
    yield _several(agreed.errors_of, a=[0.5, 0.5], b=[0.5, 0.5])
    yield _of(logarithms.LogarithmEvaluator, plan=agreed, shared=(), clear={1: [0.5, 0.5]})
    yield _of(evaluator.evaluate, uploads=[up])
    yield _of(
        logarithms_secret.encrypt_logarithms,
        secret=secret,
        plan=agreed,
        factor=0,
        values=[0.5, 0.5],
    )
    yield _of(
        logarithms_secret.decrypt_logarithms,
        secret=secret,
        plan=agreed,
        answer=evaluator.evaluate([up]),
    )
    public_plan = logarithms.LogarithmPlan.elementwise(
        [logarithms.Factor(2, source="public")], error=0.05
    )
    _, public = hesc.keygen(public_plan.params, products=False)
    yield _of(logarithms.encrypt, plan=public_plan, factor=0, keys=public, values=[0.5, 0.5])

    plan = ring_products.RingProductPlan.of_model([[0.5, 0.25]], low=0, high=1, error=0.01)
    owner, _ = hesc.keygen(plan.params, products=False)
    model = ring_products.Model(plan, [[0.5, 0.25]])
    query = products_secret.encrypt_features(owner, plan, [[0.5, 0.5]])
    bounds: dict[str, Any] = {"weights_l1": 1.0, "weights_l2": 1.0, "offset": 0.0, "centres": 0.0}
    ranges: dict[str, Any] = {"low": 0, "high": 1}
    yield _of(ring_products.Bounds.of_model, weights=[[0.5]], intercepts=0.0, **ranges)
    yield _of(
        ring_products.RingProductPlan.of_model,
        weights=[[0.5]],
        intercepts=0.0,
        error=0.01,
        **ranges,
    )
    yield _of(
        ring_products.RingProductPlan.hiding, shape=(1, 1), error=0.01, answers=10,
        statistical_bits=40, **bounds, **ranges,
    )  # fmt: skip
    yield _of(
        ring_products.RingProductPlan.encrypted,
        shape=(1, 1),
        error=0.01,
        under="secret",
        **bounds,
        **ranges,
    )
    yield _of(plan.errors_of, weights=[[0.5, 0.25]], samples=[[0.5, 0.5]])
    yield _of(plan.sizes, samples=1)
    yield _of(ring_products.RingProductPlan.from_bytes, data=plan.to_bytes())
    yield _of(ring_products.Model, plan=plan, weights=[[0.5, 0.25]], intercepts=0.0, keys=None)
    yield _of(model.evaluate, query=query)
    yield _of(products_secret.encrypt_features, secret=owner, plan=plan, samples=[[0.5, 0.5]])
    yield _of(
        products_secret.decrypt_scores,
        secret=owner,
        plan=plan,
        answer=model.evaluate(query),
    )
    hidden = {
        under: ring_products.RingProductPlan.encrypted(
            (1, 2), error=0.01, weights_l1=1, weights_l2=1, offset=1, under=under, low=0, high=1
        )
        for under in ("secret", "public")
    }
    for under, encrypted_plan in hidden.items():
        asking, keys = hesc.keygen(encrypted_plan.params, products=False)
        right: dict[str, Any] = {"plan": encrypted_plan, "weights": [[0.5, 0.25]], "intercepts": 0}
        if under == "public":
            yield _of(ring_products.EncryptedModel.encrypt, keys=keys, **right)
            continue
        yield _of(products_secret.encrypt_model, secret=asking, **right)
        data = products_secret.encrypt_model(asking, **right)
        read = ring_products.EncryptedModel.from_bytes(encrypted_plan, data)
        yield _of(ring_products.EncryptedModel.from_bytes, plan=encrypted_plan, data=data)
        asked = products_secret.encrypt_features(asking, encrypted_plan, [[0.5, 0.5]])
        yield _of(read.evaluate, query=asked)


def _networks(folder: Path) -> Iterator[Call]:
    network = load_network()
    network.save(folder / "network")
    names = iter(range(10**6))
    arrays = {name: getattr(network, name) for name in _arguments(networks.SquareNetwork)}
    yield _of(networks.SquareNetwork, **arrays)
    yield _of(
        networks.Preprocessing,
        **{name: arrays[name] for name in _arguments(networks.Preprocessing)},
    )
    yield _of(networks.SquareNetwork.load, path=folder / "network")
    yield Call(
        "hesc.streams.networks.square.SquareNetwork.save",
        lambda path: network.save(folder / f"{next(names)}.json" if path is folder else path),
        {"path": folder},
    )
    yield _of(network.predict, features=np.zeros((1, 4)))
    yield _of(network.values, features=np.zeros((1, 4)))
    yield _of(network.preprocessing.normalise, features=np.zeros((1, 4)))
    yield _of(network.preprocessing.monomials, features=np.zeros((1, 4)))
