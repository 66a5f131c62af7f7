"""Arguments of a kind that nothing takes: an error of ours that says what to give instead."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc import codes, gates, integers, logarithms, ring_products
from hesc.codes import encrypted_codes
from hesc.codes.secret import gallery_distances
from hesc.gates.secret import decrypt_bits
from hesc.integers import transciphering

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: tuple[Any, ...] = (None, 5, "abc", [], {}, np.array([1, 2]))
NO_BYTES: tuple[Any, ...] = (None, 5, "abc", [1], np.array([1, 2]), object())


class Given(NamedTuple):
    """What there is to call with."""

    params: Any
    secret: hesc.SecretKey
    public: hesc.PublicKeys
    slots: hesc.PublicKeys
    bits: Any


@cache
def given() -> Given:
    params = hesc.Params.preset("bfv_1024_distances")
    secret, public = hesc.keygen(params)
    _, slots = hesc.keygen(hesc.Params.preset("bgv_4369"), products=False)
    return Given(params, secret, public, slots, hesc.Params.preset("insecure_tfhe_512"))


@pytest.mark.parametrize("data", NO_BYTES, ids=lambda data: type(data).__name__)
def test_what_is_no_bytes_is_not_read(data: Any) -> None:
    g = given()
    calls: list[Callable[[], object]] = [
        lambda: hesc.Answer.from_bytes(g.params, data),
        lambda: hesc.EncryptedArray.from_bytes(g.params, data),
        lambda: hesc.SeededArray.from_bytes(g.params, data),
        lambda: hesc.PublicKeys.from_bytes(g.params, data),
        lambda: encrypted_codes.EncryptedCodes.from_bytes(g.params, data),
        lambda: encrypted_codes.EncryptedDistances.from_bytes(g.params, data),
        lambda: gates.BitAnswer.from_bytes(g.bits, data),
        lambda: gates.EncryptedBits.from_bytes(g.bits, data),
        lambda: hesc.PublicKeys.from_bytes(g.bits, data),
        lambda: integers.read(g.slots.params, data),
        lambda: integers.EncryptedIntegers.from_bytes(g.slots.params, data),
        lambda: integers.BootstrappedIntegers.from_bytes(g.bits, data),
        lambda: integers.IntegerAnswer.from_bytes(g.bits, data),
        lambda: ring_products.RingProductPlan.from_bytes(data),
        lambda: logarithms.LogarithmPlan.from_bytes(data),
        lambda: codes.GalleryPlan.from_bytes(data),
        lambda: transciphering.StreamCipherMessage.from_bytes(data),
        lambda: hesc.CipherKey.from_bytes(data),
    ]
    for call in calls:
        with pytest.raises(hesc.ParameterError, match=f"from bytes.*got {type(data).__name__}"):
            call()


def test_bytes_of_any_type_are_read() -> None:
    g = given()
    data = hesc.Encryptor(g.public, 64).encrypt([0.5]).to_bytes()
    for form in (bytearray(data), memoryview(data)):
        read: Any = form
        assert hesc.EncryptedArray.from_bytes(g.params, read).to_bytes() == data


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_names_are_names(kind: Any) -> None:
    g = given()

    def add(a: Any, b: Any) -> Any:
        return a + b

    key, fields = codes.HashKey.generate(), [codes.Field("x")]
    calls: list[tuple[str, Callable[[], object]]] = [
        ("layout", lambda: hesc.Encryptor(g.public, 64, layout=kind)),
        ("layout", lambda: hesc.SecretEncryptor(g.secret, 64, layout=kind)),
        ("representation", lambda: hesc.Encoder(64, representation=kind)),
        ("kind", lambda: codes.RecordCoder(key, fields, kind=kind)),
    ]
    if kind is not None:
        calls += [
            ("generator", lambda: hesc.Encoder(64, generator=kind)),
            ("engine", lambda: integers.plan(add, "uint8", "uint8", engine=kind)),
            ("layout", lambda: integers.plan(add, "uint8", "uint8", layout=kind)),
            ("upload", lambda: integers.plan(add, "uint8", "uint8", upload=kind)),
            ("answer", lambda: integers.plan(add, "uint8", "uint8", answer=kind)),
        ]
    for text, call in calls:
        with pytest.raises(hesc.ParameterError, match=text):
            call()


def test_plans_take_functions_of_their_inputs() -> None:
    others: tuple[Any, ...] = (None, 5, "a + b", [], np.array([1]))
    for function in others:
        with pytest.raises(hesc.ParameterError, match="takes a function of integers first"):
            integers.plan(function, "uint8")
    with pytest.raises(hesc.ParameterError, match=r"does not take 1 inputs.*missing"):
        integers.plan(lambda a, b: a + b, "uint8")
    with pytest.raises(hesc.ParameterError, match=r"does not take 2 inputs.*too many"):
        integers.plan(lambda a: a, "uint8", "uint8")

    def broken(_: Any) -> Any:
        raise KeyError("its own")

    # What the function itself raises is its author's to see.
    with pytest.raises(KeyError, match="its own"):
        integers.plan(broken, "uint8")


def test_servers_are_evaluators() -> None:
    plan = integers.plan(lambda a, b: a + b, "uint8", "uint8", engine="binary")
    _, public = hesc.keygen(plan.params, **plan.keys)
    a: Any = integers.encrypt(public, [1, 2], "uint8", layout=plan.upload)
    b: Any = integers.encrypt(public, [1, 2], "uint8", layout=plan.upload)
    others: tuple[Any, ...] = (5, "x", [], given().secret)
    for server in others:
        with pytest.raises(hesc.ParameterError, match=r"server is of the type .*Evaluator"):
            plan(a, b, server=server)
        with pytest.raises(hesc.ParameterError, match=r"server is of the type .*Evaluator"):
            integers.evaluate(a + b, server=server)


def test_rows_of_integers_form_arrays() -> None:
    keys = given().slots
    cipher = hesc.CipherKey.generate()
    jagged: Any = [[1], [2, 3]]
    calls: list[Callable[[], object]] = [
        lambda: integers.encrypt(keys, jagged),
        lambda: integers.encrypt(keys, jagged, "uint8"),
        lambda: cipher.encrypt(jagged, "uint8", shape=transciphering.Shape(4, 4)),
    ]
    for call in calls:
        with pytest.raises(hesc.ShapeError, match="form no array"):
            call()


@pytest.mark.parametrize("count", [10**9, 10**30])
def test_endless_ranges_are_not_written_out(count: int) -> None:
    """At once: numpy would take eight gigabytes for the first, or give up at the second."""
    numbers: Any = range(count)
    leveled = hesc.keygen(hesc.Params.preset("bfv_4096"), products=False)[1]
    calls: list[Callable[[], object]] = [
        lambda: integers.encrypt(given().slots, numbers, "uint8"),
        lambda: leveled.encrypt(numbers),
        lambda: hesc.Encoder(64).encode(numbers),
        lambda: hesc.Polynomial(numbers),
        lambda: gates.to_bits(numbers, 64),
        lambda: codes.packed(numbers),
    ]
    for call in calls:
        with pytest.raises(hesc.ShapeError, match="range of more than"):
            call()
    assert len(integers.encrypt(given().slots, range(5), "uint8")) == 5


def test_records_are_tables_of_texts() -> None:
    key = codes.HashKey.generate()
    for fields in (None, 5, "x", codes.Field("x")):
        with pytest.raises(hesc.ParameterError, match="fields are a list"):
            codes.RecordCoder(key, fields)  # type: ignore[arg-type]
    coder = codes.RecordCoder(key, [codes.Field("x")])
    for column in ("uint8", b"uint8", 5, None):
        wrong: Any = {"x": column}
        with pytest.raises(hesc.ParameterError, match="column 'x' is of the type"):
            coder.encode(wrong)
    for table in (None, 5, [1], "x"):
        with pytest.raises(hesc.ParameterError, match="no column 'x'; give columns by name"):
            coder.encode(table)  # type: ignore[arg-type]
    assert coder.encode({"x": ["uint8"]}).shape == (1, 8)
    for value in (None, 5, b"a"):
        with pytest.raises(hesc.ParameterError, match="make it text"):
            codes.Field("x").pieces(value)  # type: ignore[arg-type]
    with pytest.raises(hesc.ParameterError, match="positional"):
        codes.Field("x", positional="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("bits", [None, 5, "abc", b"abc"])
def test_only_encrypted_bits_are_decrypted(bits: Any) -> None:
    secret, _ = hesc.keygen(given().bits)
    with pytest.raises(hesc.ParameterError, match="bits is of the type"):
        decrypt_bits(secret, bits)


def test_what_multiplies_logarithms_takes_lists_and_mappings() -> None:
    factors = [logarithms.Factor(2), logarithms.Factor(2, source="clear")]
    plan = logarithms.LogarithmPlan.elementwise(factors, error=0.05)
    evaluator = logarithms.LogarithmEvaluator(plan, clear={1: [0.5, 0.25]})
    calls: list[Callable[[], object]] = [
        *(
            lambda bad=bad: logarithms.LogarithmEvaluator(plan, shared=bad)
            for bad in (None, 5, b"x", [5])
        ),
        *(lambda bad=bad: logarithms.LogarithmEvaluator(plan, clear=bad) for bad in (5, b"x", [1])),
        *(lambda bad=bad: evaluator.evaluate(bad) for bad in (None, 5, b"x", [None])),
        *(lambda bad=bad: logarithms.Factor(source=bad) for bad in (5, None, np.array([]))),
        *(lambda bad=bad: logarithms.Factor(shared=bad) for bad in (5, None, np.zeros(0))),
        *(lambda bad=bad: hesc.powers(bad) for bad in (True, None, "x", 5)),
    ]
    for call in calls:
        with pytest.raises(hesc.ParameterError):
            call()
    gallery = codes.GalleryPlan(64)
    secret, _ = hesc.keygen(gallery.params, products=False)
    for bad in (None, 5, b"x"):
        with pytest.raises(hesc.ParameterError, match="parts are several answers"):
            gallery_distances(secret, gallery, bad)  # type: ignore[arg-type]


def test_numbers_that_python_does_not_write_are_out_of_range() -> None:
    for huge in (10**5000, -(10**5000)):
        with pytest.raises(hesc.OutOfRangeError, match="very many digits"):
            hesc.Params.pad(block_length=huge)
