"""Gate circuits on encrypted bits: results, noise, refusals.

Most tests run on the insecure set, whose bootstraps take a quarter of a millisecond; its noise
before lookups is that of the secure one.
"""

from __future__ import annotations

import base64
import json
import pickle
import signal
import struct
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hesc
from hesc import gates
from hesc.gates.secret import bit_noise, decrypt_bits, decrypt_outputs
from hesc_papers.hsiao2022sche_circuits import array_multiplier, comparator, ripple_carry_adder
from tests import reading
from tests.second_implementation import bits as second
from tests.second_implementation import wire

VECTORS = Path(__file__).parents[1] / "vectors" / "bits.json"

if TYPE_CHECKING:
    from collections.abc import Callable


class Parties(NamedTuple):
    """A key owner and a server."""

    secret: hesc.SecretKey
    public: hesc.PublicKeys
    server: gates.Evaluator

    def run(self, circuit: gates.Circuit, *numbers: np.ndarray) -> list[np.ndarray]:
        """What the server computes, decrypted."""
        inputs = [
            gates.encrypt_numbers(self.public, values, width)
            for values, width in zip(numbers, circuit.inputs, strict=True)
        ]
        outputs = self.server(circuit, *inputs, progress=False)
        return [gates.to_numbers(decrypt_bits(self.secret, bits)) for bits in outputs]


def parties(name: str) -> Parties:
    secret, public = hesc.keygen(hesc.Params.preset(name), bootstrapping=True)
    server = gates.Evaluator(hesc.PublicKeys.from_bytes(secret.params, public.to_bytes()))
    return Parties(secret, public, server)


@pytest.fixture(scope="module")
def quick() -> Parties:
    return parties("insecure_tfhe_512")


@pytest.fixture(scope="module")
def secure() -> Parties:
    return parties("tfhe_2048")


CIRCUITS: list[tuple[gates.Circuit, Callable[..., np.ndarray]]] = [
    (ripple_carry_adder(8), lambda a, b: a + b),
    (array_multiplier(4), lambda a, b: a * b),
    (comparator(8), lambda a, b: a < b),
    (gates.stream_multiplier("AND", 16), lambda a, b: a & b),
    (gates.stream_multiplier("XOR", 16), lambda a, b: a ^ b),
    (gates.popcount(16), np.bitwise_count),
]


@pytest.mark.parametrize(("circuit", "expected"), CIRCUITS)
def test_circuits_compute_on_encrypted_bits_what_numpy_does(
    quick: Parties, circuit: gates.Circuit, expected: Callable[..., np.ndarray]
) -> None:
    rng = np.random.default_rng(1)
    numbers = [rng.integers(0, 2**width, 20) for width in circuit.inputs]
    np.testing.assert_array_equal(quick.run(circuit, *numbers)[0], expected(*numbers))


def random_circuit(draw: st.DrawFn) -> gates.Circuit:
    builder = gates.Builder(4, 3)
    wires = [wire for group in builder.inputs for wire in group]
    for _ in range(draw(st.integers(1, 25))):
        a, b, c = (draw(st.sampled_from(wires)) for _ in range(3))
        kind = draw(st.integers(0, 8))
        names = ("AND", "OR", "XOR", "NAND", "NOR", "XNOR")
        if kind < 6:
            wires.append(builder.gate(names[kind], a, b))
        elif kind == 6:
            wires.append(builder.mux(a, b, c))
        elif kind == 7:
            wires.append(builder.invert(a))
        else:
            wires.append(builder.constant(draw(st.booleans())))
    outputs = draw(st.lists(st.sampled_from(wires), min_size=1, max_size=8))
    return builder.finish(outputs)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_random_circuits_are_the_same_in_the_clear_and_encrypted(
    quick: Parties, data: st.DataObject
) -> None:
    circuit = data.draw(st.composite(random_circuit)())
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    numbers = [rng.integers(0, 2**width, 4) for width in circuit.inputs]
    expected = circuit(*numbers)
    precision = gates.Precision.of(quick.secret.params)
    inputs = [
        gates.encrypt_numbers(quick.public, x, w) for x, w in zip(numbers, (4, 3), strict=True)
    ]
    for gate_by_gate in (False, True):
        program = circuit.compile(precision, gate_by_gate=gate_by_gate)
        (found,) = quick.server(program, *inputs, progress=False)
        bits = decrypt_bits(quick.secret, found)
        np.testing.assert_array_equal(gates.to_numbers(bits), expected[0])


def test_a_bootstrap_after_each_gate_is_what_the_paper_counts(quick: Parties) -> None:
    precision = gates.Precision.of(quick.secret.params)
    for circuit in (ripple_carry_adder(4), array_multiplier(3), comparator(4)):
        program = circuit.compile(precision, gate_by_gate=True)
        assert program.bootstraps == circuit.bootstraps
        numbers = [np.arange(2**width) for width in circuit.inputs]
        numbers = [np.resize(values, 8) for values in numbers]
        inputs = [
            gates.encrypt_numbers(quick.public, x, w)
            for x, w in zip(numbers, circuit.inputs, strict=True)
        ]
        (found,) = quick.server(program, *inputs, progress=False)
        np.testing.assert_array_equal(
            gates.to_numbers(decrypt_bits(quick.secret, found)), circuit(*numbers)[0]
        )


def test_the_secure_set_multiplies_and_adds(secure: Parties) -> None:
    assert secure.secret.params.assurance == "guidelines2024"
    a, b = np.array([201, 77]), np.array([187, 240])
    np.testing.assert_array_equal(secure.run(ripple_carry_adder(8), a, b)[0], a + b)
    (product,) = secure.run(array_multiplier(4), a & 15, b & 15)
    np.testing.assert_array_equal(product, (a & 15) * (b & 15))


def test_noise_stays_within_the_model(secure: Parties) -> None:
    """False alarms: fewer than one in 10^5 runs.

    Fresh noise is a sum of products with binary polynomials, whose mean is a half: half of its
    variance is that of a random walk along the coefficients, and as scattered as a single square
    (twelve times its mean: 10^-6). What bootstraps give is independent, and modelled with a margin
    of a quarter: the mean of 80 squares is twice its expectation with probability 3 * 10^-7, and
    that of 160 seven quarters of it with 10^-8.
    """
    params, server = secure.secret.params, secure.server
    bits = np.arange(512) % 4 > 1, np.arange(512) % 2
    a, b = (gates.encrypt_bits(secure.public, values) for values in bits)
    fresh, allowed = bit_noise(secure.secret, a)
    assert 0.2 * allowed < fresh < 12 * allowed < gates.Precision.of(params).bit
    product = server.gate("AND", a[:160], b[:160])
    parities, model = bit_noise(secure.secret, product)
    assert 0.3 * model < parities < 1.4 * model
    np.testing.assert_array_equal(decrypt_bits(secure.secret, product), [0, 0, 0, 1] * 40)
    # Packing adds what switching keys does; a bootstrap takes it away again.
    packed = server.pack(product)
    noisier, model = bit_noise(secure.secret, packed)
    assert parities < noisier < 1.6 * model
    refreshed = server.refresh(packed[:80], progress=False)
    measured, model = bit_noise(secure.secret, refreshed)
    assert model == pytest.approx(gates.Precision.of(params).bit)
    assert measured < 1.6 * model


def test_products_of_streams_need_no_bootstrap(secure: Parties) -> None:
    """A thousand products of eight bits' precision: each bit of each product."""
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 2, (2, 1000, 256))
    left, right = (gates.encrypt_bits(secure.public, bits) for bits in (a, b))
    product = left ^ right
    assert (product.native.is_packed, product.are_parities) == (True, True)
    np.testing.assert_array_equal(decrypt_bits(secure.secret, product), a ^ b)
    # The same, bit by bit, as a program.
    program = secure.server.program(gates.stream_multiplier("XOR", 256))
    assert program.bootstraps == 0
    found, calls = [], []
    for rows in np.split(np.arange(1000), 50):
        (bits,) = secure.server(
            program, left[rows], right[rows], progress=lambda *done: calls.append(done)
        )
        found.append(decrypt_bits(secure.secret, bits))
    np.testing.assert_array_equal(np.concatenate(found), a ^ b)
    assert set(calls) == {(0, 0)}


def test_activations_follow_a_stochastic_layer(quick: Parties) -> None:
    """x * w summed, rectified, and thresholded, without decryption."""
    x, w = np.array([[0.75, -0.5], [-0.25, 0.5]]), np.array([0.5, -0.75])
    encryptor = hesc.Encryptor(quick.public, stream_length=32, random_state=1)
    sums = (encryptor.encrypt(x) * encryptor.encrypt(w)).sum(axis=1)
    bits = gates.EncryptedBits.of_streams(sums)
    assert bits.shape == (2, 64)
    clear = 1 - 2 * decrypt_bits(quick.secret, bits).mean(axis=1)
    np.testing.assert_allclose(2 * clear, hesc.Decryptor(quick.secret).decrypt(sums))
    (rectified,) = quick.server(gates.relu(64), bits, progress=False)
    values = 1 - 2 * decrypt_bits(quick.secret, rectified).mean(axis=1)
    np.testing.assert_allclose(values, np.maximum(clear, 0))
    (signs,) = quick.server(gates.sign(64), bits, progress=False)
    np.testing.assert_array_equal(decrypt_bits(quick.secret, signs)[:, 0], clear <= 0)
    # The next layer multiplies the rectified streams again, with weights of another order: 64 bits
    # deviate by 0.1.
    weights = np.random.default_rng(5).permuted(np.tile([0, 0, 0, 1], (2, 16)), axis=1)
    products = decrypt_bits(quick.secret, rectified ^ gates.encrypt_bits(quick.public, weights))
    np.testing.assert_allclose(1 - 2 * products.mean(axis=1), values / 2, atol=0.3)


def test_bits_of_streams_have_no_weight(quick: Parties) -> None:
    """A weight is a number beside the bits: 1 or -1, which turns them round, and no other."""
    for representation, negated in (("inverted_bipolar", True), ("unipolar", False)):
        encryptor = hesc.Encryptor(
            quick.public, stream_length=32, representation=representation, random_state=1
        )
        x = encryptor.encrypt([0.25, 0.75])
        bits = decrypt_bits(quick.secret, gates.EncryptedBits.of_streams(x))
        if negated:
            turned = decrypt_bits(quick.secret, gates.EncryptedBits.of_streams(-1.0 * x))
            np.testing.assert_array_equal(turned, 1 - bits)
        for weight in (2.0, 0.5, -2.0, 0.0) if negated else (2.0, 0.5, -1.0, 0.0):
            with pytest.raises(hesc.HescError, match="weight"):
                gates.EncryptedBits.of_streams(weight * x)
        with pytest.raises(hesc.HescError, match="weight"):
            gates.EncryptedBits.of_streams(x * np.array([1.0, 3.0]))


def test_activation_circuits_count_choose_and_spread() -> None:
    counts = np.arange(17)
    streams = (1 << counts.astype(np.uint64)) - 1
    (rectified,) = gates.relu(16)(streams)
    np.testing.assert_array_equal(np.bitwise_count(rectified), np.minimum(counts, 8))
    np.testing.assert_array_equal(gates.sign(16)(streams)[0], counts >= 8)
    (spread,) = gates.stream(4)(np.arange(16))
    np.testing.assert_array_equal(np.bitwise_count(spread), np.arange(16))
    # Every half of a stream has half of the ones, but for one.
    halves = np.bitwise_count(spread & 0xFF), np.bitwise_count(spread >> 8)
    assert np.abs(halves[0].astype(int) - halves[1]).max() <= 1
    streams = (1 << np.arange(13, dtype=np.uint64)) - 1
    for ones in (1, 5, 8, 12):
        np.testing.assert_array_equal(gates.at_least(12, ones)(streams)[0], np.arange(13) >= ones)
    for ones in (0, 13):
        with pytest.raises(hesc.ParameterError, match="number of ones"):
            gates.at_least(12, ones)
    with pytest.raises(hesc.ParameterError, match="power of two"):
        gates.relu(12)
    with pytest.raises(hesc.ParameterError):
        gates.stream(21)


def test_bits_travel_and_come_home(quick: Parties) -> None:
    params = quick.secret.params
    bits = np.random.default_rng(3).integers(0, 2, (3, 5, 100))
    sent = gates.encrypt_bits(quick.public, bits)
    received = gates.EncryptedBits.from_bytes(params, sent.to_bytes())
    assert received.shape == (3, 5, 100)
    chosen = received[1:, :, ::7]
    np.testing.assert_array_equal(decrypt_bits(quick.secret, chosen), bits[1:, :, ::7])
    with pytest.raises(hesc.ParameterError, match="pack"):
        chosen.to_bytes()
    packed = quick.server.pack(chosen)
    assert gates.EncryptedBits.from_bytes(params, packed.to_bytes()).are_parities
    data = quick.server.answer(chosen).to_bytes()
    assert len(data) < len(sent.to_bytes()) / 4
    answer = gates.BitAnswer.from_bytes(params, data)
    np.testing.assert_array_equal(decrypt_bits(quick.secret, answer), bits[1:, :, ::7])
    assert not (~sent).are_parities
    joined = gates.concatenate([sent, ~sent])
    np.testing.assert_array_equal(
        decrypt_bits(quick.secret, joined), np.concatenate([bits, 1 - bits])
    )
    np.testing.assert_array_equal(decrypt_bits(quick.secret, ~packed), 1 - bits[1:, :, ::7])
    # The exclusive or with public bits is no parity.
    mask = bits[0, 0]
    masked = mask ^ sent
    assert not masked.are_parities
    np.testing.assert_array_equal(decrypt_bits(quick.secret, masked), bits ^ mask)
    for damaged in (data[:-1], data[:40] + b"\xff" + data[41:], sent.to_bytes(), b""):
        with pytest.raises(hesc.WireError):
            gates.BitAnswer.from_bytes(params, damaged)
    key = quick.public.to_bytes()
    with pytest.raises(hesc.WireError):
        hesc.PublicKeys.from_bytes(params, key[:-40] + key[-39:])


def test_signed_numbers_are_subtracted_compared_and_chosen(quick: Parties) -> None:
    """Beside numpy, all outputs of several circuits in one answer."""
    rng = np.random.default_rng(12)
    a, b = rng.integers(-128, 128, (2, 40), dtype=np.int8)
    a[:4], b[:4] = [-128, 127, -1, 5], [127, -128, -1, 5]
    x, y = (gates.encrypt_numbers(quick.public, v, 8, signed=True) for v in (a, b))
    outputs = [
        bits
        for circuit in (
            gates.subtractor(8),
            gates.equal(8),
            gates.maximum(8, signed=True),
            gates.minimum(8, signed=True),
            gates.less(8, signed=True),
        )
        for bits in quick.server(circuit, x, y, progress=False)
    ]
    outputs += quick.server(gates.absolute(8), x, progress=False)
    data = quick.server.answer(*outputs).to_bytes()
    answer = gates.BitAnswer.from_bytes(quick.secret.params, data)
    assert answer.shapes == [bits.shape for bits in outputs]
    found = decrypt_outputs(quick.secret, answer)
    difference, borrow, same, largest, smallest, less, size = found
    wrapped = np.array(a, dtype=np.int64) - b
    np.testing.assert_array_equal(
        gates.to_numbers(difference, signed=True), wrapped.astype(np.int8)
    )
    np.testing.assert_array_equal(borrow[..., 0], a.view(np.uint8) < b.view(np.uint8))
    np.testing.assert_array_equal(same[..., 0], a == b)
    np.testing.assert_array_equal(gates.to_numbers(largest, signed=True), np.maximum(a, b))
    np.testing.assert_array_equal(gates.to_numbers(smallest, signed=True), np.minimum(a, b))
    np.testing.assert_array_equal(less[..., 0], a < b)
    np.testing.assert_array_equal(gates.to_numbers(size, signed=True), np.abs(a))
    alone = sum(len(quick.server.answer(bits).to_bytes()) for bits in outputs)
    assert len(data) < alone


def test_answers_of_several_outputs_are_read_as_such(quick: Parties) -> None:
    params = quick.secret.params
    bits = np.random.default_rng(5).integers(0, 2, (3, 4))
    x = gates.encrypt_bits(quick.public, bits)
    answer = quick.server.answer(x, x[0], x[1, 1], x.reshape(2, 1, 6))
    expected = [bits, bits[0], bits[1, 1], bits.reshape(2, 1, 6)]
    for read in (answer, pickle.loads(pickle.dumps(answer))):  # noqa: S301 - our own
        found = decrypt_outputs(quick.secret, read)
        assert len(found) == 4
        for own, known in zip(found, expected, strict=True):
            np.testing.assert_array_equal(own, known)
    with pytest.raises(hesc.ShapeError, match="decrypt_outputs"):
        decrypt_bits(quick.secret, answer)
    single = quick.server.answer(x)
    np.testing.assert_array_equal(decrypt_outputs(quick.secret, single)[0], bits)
    for wrong in ((), (x,) * 256):
        with pytest.raises(hesc.ShapeError, match="1 to 255"):
            quick.server.answer(*wrong)
    with pytest.raises(hesc.ParameterError, match="encrypted bits"):
        quick.server.answer(x, bits)  # type: ignore[arg-type]
    stranger = gates.encrypt_bits(hesc.keygen(params)[1], bits)
    with pytest.raises(hesc.KeyMismatchError):
        quick.server.answer(x, stranger)
    with pytest.raises(hesc.ParameterError, match="BitAnswer"):
        decrypt_outputs(quick.secret, x)  # type: ignore[arg-type]
    data = answer.to_bytes()
    inside = single.to_bytes()
    liars = [
        data[:1],
        data[:2],
        data[:10],
        data[:-1],
        data[:1] + b"\x03" + data[2:],
        data[:1] + b"\xff" + data[2:],
        # One output, none, and an empty one beside the whole.
        b"\x00\x01" + b"\x02\x03\x00\x00\x00\x04\x00\x00\x00" + inside,
        b"\x00\x00" + inside,
        b"\x00\x02" + b"\x01\x0c\x00\x00\x00" + b"\x01\x00\x00\x00\x00" + inside,
    ]
    for lie in liars:
        with pytest.raises(hesc.WireError):
            gates.BitAnswer.from_bytes(params, lie)


def test_bits_and_parities_are_refreshed(quick: Parties) -> None:
    bits = np.random.default_rng(8).integers(0, 2, (2, 40))
    encrypted = gates.encrypt_bits(quick.public, bits)
    for stale in (encrypted, encrypted ^ encrypted[::-1], quick.server.pack(encrypted)):
        fresh = quick.server.refresh(stale)
        assert not fresh.are_parities
        np.testing.assert_array_equal(
            decrypt_bits(quick.secret, fresh), decrypt_bits(quick.secret, stale)
        )


def test_strangers_keys_and_other_circuits_inputs_are_refused(quick: Parties) -> None:
    stranger = parties("insecure_tfhe_512")
    bits = gates.encrypt_bits(quick.public, np.ones((2, 8), dtype=int))
    foreign = gates.encrypt_bits(stranger.public, np.ones((2, 8), dtype=int))
    adder = ripple_carry_adder(8)
    for refuse in (
        lambda: quick.server(adder, bits, foreign),
        lambda: stranger.server(adder, bits, bits),
        lambda: decrypt_bits(stranger.secret, bits),
        lambda: bits ^ foreign,
        lambda: stranger.server.pack(bits),
        lambda: stranger.server.refresh(bits),
        lambda: gates.concatenate([bits, foreign]),
    ):
        with pytest.raises(hesc.KeyMismatchError, match="key pair"):
            refuse()
    with pytest.raises(hesc.ShapeError, match="the circuit has"):
        quick.server(adder, bits)
    # As many bits as one lane has, in two.
    for wrong in (bits[:, :7], bits[:, :4], bits[0, 0]):
        with pytest.raises(hesc.ShapeError, match="the circuit has"):
            quick.server(adder, wrong, wrong)
    with pytest.raises(hesc.ShapeError, match="pair"):
        quick.server.gate("AND", bits, bits[:1])
    for probability in (float("nan"), 1.0, float("-inf")):
        with pytest.raises(hesc.OutOfRangeError, match="log2_failure"):
            quick.server.refresh(bits, log2_failure=probability)
    with pytest.raises(hesc.ShapeError, match="lanes"):
        quick.server(adder, bits, bits[:1])
    with pytest.raises(hesc.ShapeError):
        bits ^ bits[:, :4]
    with pytest.raises(hesc.OutOfRangeError):
        gates.encrypt_bits(quick.public, [0, 2])
    with pytest.raises(hesc.OutOfRangeError):
        gates.encrypt_numbers(quick.public, [256], 8)
    with pytest.raises(hesc.ParameterError, match="differ"):
        gates.EncryptedBits.from_bytes(hesc.Params.preset("tfhe_2048"), bits.to_bytes())
    _, other = hesc.keygen(hesc.Params.recommended("bfv", encoding="streams"))
    with pytest.raises(hesc.ParameterError, match="tfhe"):
        gates.encrypt_bits(other, [1])
    with pytest.raises(hesc.ParameterError, match="single bits"):
        gates.Precision.of(other.params)


def test_programs_are_kept_for_their_probability_of_failure_only(quick: Parties) -> None:
    circuit = array_multiplier(4)
    program = quick.server.program(circuit)
    assert program.log2_failure <= -128
    assert quick.server.program(circuit) is program
    for impossible in (-1e6, -1e7):
        with pytest.raises(hesc.NoiseBudgetError):
            quick.server.program(circuit, impossible)


def test_programs_for_less_noise_are_refused(quick: Parties) -> None:
    optimistic = gates.Precision(bit=1e-12, lookup=(1e-9, 1e-9))
    program = ripple_carry_adder(2).compile(optimistic)
    bits = gates.encrypt_bits(quick.public, [0, 1])
    with pytest.raises(hesc.NoiseBudgetError, match="less noise"):
        quick.server(program, bits, bits)
    # A circuit that the noise leaves no room for is refused before it runs.
    with pytest.raises(hesc.NoiseBudgetError):
        quick.server(array_multiplier(4), bits, bits, log2_failure=-1e6)


def with_variance(data: bytes, variance: float) -> bytes:
    """Encrypted bits that claim another noise."""
    body = wire.open_frame(data, "encrypted bits")
    dimensions, nested = second.shape(body)
    blocks = bytearray(wire.open_frame(nested, "ciphertexts"))
    struct.pack_into("<d", blocks, 45, variance)
    nested = wire.frame("ciphertexts", bytes(blocks))
    head = body[: 1 + 8 * len(dimensions)]
    return wire.frame("encrypted bits", head + struct.pack("<Q", len(nested)) + nested)


def test_noise_that_no_honest_bit_has_is_refused(quick: Parties) -> None:
    params = quick.secret.params
    data = gates.encrypt_bits(quick.public, [0, 1]).to_bytes()
    noisy = gates.EncryptedBits.from_bytes(params, with_variance(data, 1e-7))
    with pytest.raises(hesc.NoiseBudgetError, match="noisier"):
        quick.server(ripple_carry_adder(2), noisy, noisy)
    for variance in (0.0, -1.0, 1e-3, float("inf"), float("nan")):
        with pytest.raises(hesc.WireError):
            gates.EncryptedBits.from_bytes(params, with_variance(data, variance))


def test_the_failure_probability_is_chosen(quick: Parties) -> None:
    circuit = array_multiplier(8)
    for log2_failure in (-128.0, -40.0):
        program = quick.server.program(circuit, log2_failure)
        assert program.log2_failure <= log2_failure
        assert quick.server.program(circuit, log2_failure) is program
    # On a faster set the smaller probability takes more bootstraps.
    params = hesc.Params.preset("tfhe_2048_40")
    assert params.assurance == "guidelines2024"
    often = gates.Precision.of(params, log2_failure=-40)
    assert circuit.compile(often).log2_failure <= -40
    seldom = circuit.compile(gates.Precision.of(params))
    assert seldom.log2_failure <= -128
    assert seldom.bootstraps > circuit.compile(often).bootstraps
    secret, public = hesc.keygen(params, bootstrapping=True)
    server = gates.Evaluator(public)
    a, b = (gates.encrypt_numbers(public, number, 8) for number in (201, 187))
    (total,) = server(ripple_carry_adder(8), a, b, log2_failure=-40, progress=False)
    assert gates.to_numbers(decrypt_bits(secret, total)) == 388


def test_an_evaluation_tells_how_far_it_is_and_can_be_ended(secure: Parties) -> None:
    a = gates.encrypt_numbers(secure.public, [3, 5], 4)
    calls: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        calls.append((done, total))
        if done >= 2:
            raise KeyboardInterrupt

    circuit = array_multiplier(4)
    total = 2 * secure.server.program(circuit).bootstraps
    with pytest.raises(KeyboardInterrupt):
        secure.server(circuit, a, a, progress=stop)
    assert all(of == total for _, of in calls)
    assert 2 <= calls[-1][0] < total
    # Nothing is lost: the same inputs give the product.
    calls.clear()
    (product,) = secure.server(circuit, a, a, progress=lambda *done: calls.append(done))
    np.testing.assert_array_equal(gates.to_numbers(decrypt_bits(secure.secret, product)), [9, 25])
    assert calls[-1] == (total, total)
    assert calls == sorted(calls)
    seconds = secure.server.seconds(circuit, lanes=2)
    assert seconds is not None
    assert 0 < seconds < 60


def test_weights_below_128_bits_are_refused() -> None:
    params = hesc.Params.preset("insecure_tfhe_512")
    assert params.assurance == "insecure"
    with pytest.raises(hesc.SecurityError, match=r"below 512.* is below 128-bit security"):
        hesc.Params.from_bytes(params.to_bytes())
    again = hesc.Params.from_bytes(params.to_bytes(), assurance="insecure")
    assert (again, again.name) == (params, "insecure_tfhe_512")
    secure = hesc.Params.recommended("tfhe")
    assert hesc.Params.from_bytes(secure.to_bytes()).name == "tfhe_2048"
    own = hesc.Params.tfhe(
        ring_degree=2048,
        lwe_dimension=900,
        log2_ring_noise=-48,
        log2_lwe_noise=-19,
        bootstrap=(23, 1),
        keyswitch=(3, 5),
        packing=(16, 1),
    )
    assert (own.name, own.assurance) == ("tfhe_custom", "guidelines2024")
    with pytest.raises(hesc.ParameterError, match="power of two"):
        hesc.Params.tfhe(
            ring_degree=1000,
            lwe_dimension=900,
            log2_ring_noise=-20,
            log2_lwe_noise=-19,
            bootstrap=(23, 1),
            keyswitch=(3, 5),
            packing=(16, 1),
        )
    assert (secure.ring_degree, secure.plain_modulus, secure.packing) == (2048, 16, "coefficients")


def test_streams_of_this_scheme_are_streams_of_any(secure: Parties) -> None:
    encryptor = hesc.Encryptor(secure.public, stream_length=1024)
    x, y = encryptor.encrypt([0.5, -0.25, 0.9]), encryptor.encrypt([-0.75, 0.5, 0.3])
    values = hesc.Decryptor(secure.secret).decrypt(x * y + x)
    np.testing.assert_allclose(values, [0.125, -0.375, 1.17], atol=0.02)
    seeded = hesc.SecretEncryptor(secure.secret, 1024).encrypt([0.5]).expand()
    again = hesc.EncryptedArray.from_bytes(seeded.params, seeded.to_bytes())
    assert hesc.Decryptor(secure.secret).decrypt(again)[0] == pytest.approx(0.5, abs=0.01)


def test_known_answers(tmp_path: Path) -> None:
    stored = json.loads(VECTORS.read_text())
    names = ("params", "secret", "public", "fresh", "sum", "conjunction", "answer")
    data = {name: base64.b64decode(stored[name]) for name in names}
    params = hesc.Params.from_bytes(data["params"], assurance="insecure")
    assert params == hesc.Params.preset(stored["preset"])
    (tmp_path / "secret").write_bytes(data["secret"])
    (tmp_path / "secret").chmod(0o600)
    secret = hesc.SecretKey.load(params, tmp_path / "secret")
    assert reading.public_keys(params, public=data["public"]).public.to_bytes() == data["public"]
    key = second.secret(data["secret"], params.ring_degree or 0)
    a, b = np.array(stored["a"]), np.array(stored["b"])
    expected = {"fresh": a, "sum": a ^ b, "conjunction": a & b, "answer": a & b}
    for name, bits in expected.items():
        kind = gates.BitAnswer if name == "answer" else gates.EncryptedBits
        read = kind.from_bytes(params, data[name])
        assert read.to_bytes() == data[name]
        np.testing.assert_array_equal(decrypt_bits(secret, read), bits)
        np.testing.assert_array_equal(second.decrypt(data[name], key), bits)


def test_evaluation_keys_hide_bits_under_the_stated_noise(tmp_path: Path) -> None:
    """Read again in plain Python. False alarms: one in 10^7 runs.

    Too little noise would give the secret away, and too much would end in wrong bits.
    """
    secret, public = hesc.keygen(hesc.Params.preset("insecure_tfhe_512"))
    secret.save(tmp_path / "secret")
    data = (tmp_path / "secret").read_bytes()
    ring, small = second.secret(data, 512), second.small_secret(data, 512, 64)
    keys = [secret.with_bootstrapping(public).bootstrapping.to_bytes() for _ in range(2)]
    found = [second.key_errors(key, ring, small, [(23, 1), (3, 5), (16, 1)]) for key in keys]
    for part, log2_noise in enumerate((-50.0, -30.0, -50.0)):
        shares = np.concatenate([errors[part] for errors in found]) / 2.0 ** (64 + log2_noise)
        assert abs(shares.mean()) < 6 / np.sqrt(shares.size)
        assert abs(np.square(shares).mean() - 1) < 6 * np.sqrt(2 / shares.size)
        # Every row of every key has its own; those for key switches are single words.
        assert shares.shape[1] == 1 or len(np.unique(shares, axis=0)) == len(shares)
    assert keys[0][46:78] != keys[1][46:78]  # The seeds.


def test_noise_of_dependent_operands_stays_within_the_model(quick: Parties) -> None:
    """Equal operands, copies with fresh randomness, the same lookup twice, and sums of them.

    False alarms: none for equal operands, whose noise is what the model says exactly but for its
    margin; fewer than one in 10^7 runs else, since what is added is independent or smaller, and the
    margin is 0.87 with a deviation of 0.12 over 190 keys.
    """
    secret, server = quick.secret, quick.server
    values = np.random.default_rng(4).integers(0, 2, 256)
    bits = gates.encrypt_bits(quick.public, values)
    (fresh,) = server(gates.stream_multiplier("AND", 256), bits, bits, progress=False)
    (again,) = server(gates.stream_multiplier("AND", 256), bits, bits, progress=False)
    single, allowed = bit_noise(secret, fresh)
    margin = 1.1 * single / allowed
    assert margin < 1.7
    refreshed = server.refresh(fresh, progress=False)
    for start in (bits, refreshed, ~refreshed, fresh):
        # The noise of fresh encryptions scatters from key to key; their sums' does not any more.
        single, allowed = bit_noise(secret, start)
        total, sums = start, 0
        # Until the model refuses; what it allows is right.
        while sums < 40:
            try:
                total = total ^ total
            except hesc.NoiseBudgetError:
                break
            sums += 1
            measured, model = bit_noise(secret, total)
            assert measured / model < 1.01 * single / allowed
            assert not decrypt_bits(secret, total).any()
        assert 4 <= sums < 40
    for other in (again, server.refresh(fresh, progress=False)):
        measured, model = bit_noise(secret, fresh ^ other)
        assert measured < margin * model
    # Packing has a scatter of its own.
    packed = server.pack(fresh)
    single, allowed = bit_noise(secret, packed)
    doubled, model = bit_noise(secret, packed ^ packed)
    assert doubled / model < 1.1 * single / allowed
    # A circuit's inputs may be copies: all its lookups are then the same, and so is their noise.
    builder = gates.Builder(20, 20)
    products = [builder.gate("AND", a, b) for a, b in zip(*builder.inputs, strict=True)]
    while len(products) > 1:
        products = [*products[2:], builder.gate("XOR", *products[:2])]
    copies = bits[np.zeros((64, 20), dtype=int) + np.arange(64)[:, None]]
    (total,) = server(builder.finish(products), copies, copies, progress=False)
    measured, model = bit_noise(secret, total)
    assert measured < margin * model
    assert not decrypt_bits(secret, total).any()


def test_what_a_program_gives_decrypts_also_where_failures_are_allowed(quick: Parties) -> None:
    """An output that the key owner would refuse is refused before any bootstrap."""
    builder = gates.Builder(300)
    ((total, *rest),) = builder.inputs
    for bit in rest:
        total = builder.gate("XOR", total, bit)
    circuit = builder.finish([total])
    bits = np.random.default_rng(5).integers(0, 2, (4, 300))
    encrypted = gates.encrypt_bits(quick.public, bits)
    for log2_failure in (-128.0, -40.0, -2.0):
        program = quick.server.program(circuit, log2_failure)
        assert program.bootstraps <= 12
        (found,) = quick.server(program, encrypted, progress=False)
        answer = quick.server.answer(found)
        np.testing.assert_array_equal(
            decrypt_bits(quick.secret, answer)[:, 0], np.bitwise_xor.reduce(bits, axis=1)
        )
    noisy = gates.Precision(1e-7, (1.5e-6, 4.7e-6), log2_failure=-10)
    with pytest.raises(hesc.NoiseBudgetError, match="too noisy to be decrypted"):
        gates.stream_multiplier("XOR", 4).compile(gates.Precision(1e-6, noisy.lookup, -10))


def interrupted(seconds: float, work: Callable[[], object]) -> float:
    """How long work goes on after an interrupt that comes after so many seconds."""
    sent = 0.0

    def send() -> None:
        nonlocal sent
        sent = time.process_time()
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.cancel()
    return time.process_time() - sent


def test_long_calls_end_when_interrupted(quick: Parties) -> None:
    """Each would take many seconds of processor time; a busy machine takes none away."""
    circuit = gates.popcount(2**15)
    precision = gates.Precision.of(quick.secret.params)
    assert interrupted(0.3, lambda: circuit.compile(precision)) < 3
    bits = gates.encrypt_bits(quick.public, np.ones(2**17, dtype=int))
    samples = bits[np.arange(2**17)]
    assert interrupted(0.3, lambda: quick.server.pack(samples)) < 3
    assert interrupted(0.3, lambda: quick.server.answer(samples)) < 3
    # What was given is as it was.
    assert decrypt_bits(quick.secret, quick.server.answer(samples[:100])).all()


def test_shapes_are_those_of_numpy_or_refused(quick: Parties) -> None:
    bits = gates.encrypt_bits(quick.public, [0, 1, 1, 0])
    one = quick.server.gate("AND", bits[1], bits[2])
    assert one.shape == ()
    assert decrypt_bits(quick.secret, quick.server.answer(one)) == 1
    assert bits.reshape(2, -1).shape == (2, 2)
    ragged: Any = [[0, 1], [1]]
    refusals: list[Callable[[], object]] = [
        lambda: bits.reshape(3),
        lambda: bits ^ [0, 1],
        lambda: gates.concatenate([one, one]),
        lambda: gates.concatenate([]),
        lambda: gates.encrypt_bits(quick.public, ragged),
    ]
    for refuse in refusals:
        with pytest.raises(hesc.ShapeError):
            refuse()


def test_arguments_that_are_none_are_named(quick: Parties) -> None:
    public, server = quick.public, quick.server
    bits = gates.encrypt_bits(public, [0, 1, 1, 0])
    masked: Any = np.ma.masked_array([0, 1, 1, 0], mask=[False, False, True, False])
    wrong: Any
    for wrong in (-1, 1.5, "8", True, None):
        for make in (
            gates.less,
            gates.integers.adder,
            gates.popcount,
            gates.relu,
            gates.sign,
            gates.stream,
            gates.scaled_adder,
            gates.weighted_adder,
            lambda width: gates.stream_multiplier("AND", width),
            lambda width: gates.at_least(8, width),
            lambda width: gates.encrypt_numbers(public, [1], width),
            lambda width: gates.to_bits([1], width),
            gates.Builder,
        ):
            with pytest.raises(
                (hesc.ShapeError, hesc.OutOfRangeError), match=r"whole number|not in"
            ):
                make(wrong)
    values: Any
    for values in (masked, ["0", "1"], [0.0, 1.0], [0, -1], [0, 2]):
        refusal = hesc.ShapeError if values is masked else hesc.OutOfRangeError
        with pytest.raises(refusal, match="bits"):
            gates.encrypt_bits(public, values)
        with pytest.raises(refusal, match="bits"):
            gates.to_numbers(values)
        with pytest.raises(refusal, match="bits"):
            bits ^ np.resize(values, 4)[:4] if values is not masked else bits ^ masked
    for values in (masked, "1101", [0.5], [-1]):
        with pytest.raises((hesc.ShapeError, hesc.OutOfRangeError), match=r"masked|integers"):
            ripple_carry_adder(4)(values, values)
    secret: Any = quick.secret
    key: Any = public.bootstrapping
    zeros: Any = np.zeros(4, dtype=int)
    name: Any = "AND"
    for refuse in (
        lambda: gates.encrypt_bits(secret, [1]),
        lambda: gates.encrypt_bits(key, [1]),
        lambda: gates.Evaluator(key),
        lambda: gates.Evaluator(secret),
        lambda: server(comparator(4), bits, zeros),
        lambda: server(name, bits, bits),
        lambda: server.gate("AND", bits, zeros),
        lambda: server.pack(zeros),
        lambda: server.answer(zeros),
        lambda: server.refresh(name),
        lambda: gates.concatenate([bits, zeros]),
        lambda: gates.Builder(2).append(name, [0, 1]),
    ):
        with pytest.raises(hesc.ParameterError, match="type"):
            refuse()
    for wrong in (-1, 0.5, "0"):
        with pytest.raises((hesc.ShapeError, hesc.OutOfRangeError), match="a wire"):
            gates.Builder(2).gate("AND", 0, wrong)
    # Streams of two key pairs.
    stranger = parties("insecure_tfhe_512")
    mine, theirs = (
        hesc.Encryptor(party.public, 8, random_state=seed).encrypt([0.5])
        for seed, party in enumerate((quick, stranger))
    )
    with pytest.raises(hesc.KeyMismatchError):
        gates.EncryptedBits.of_streams(hesc.EncryptedArray.concatenate([mine, theirs]))
