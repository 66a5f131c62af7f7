"""Long sequences of operations on encrypted arrays against the same ones in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

import hesc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PARAMS = hesc.Params.preset("bfv_2048_slots")
SECRET, PUBLIC = hesc.keygen(PARAMS, mode="simulate")
LENGTH = 1024
NUMBERS = st.sampled_from([-2.0, -1.0, -0.25, 0.0, 0.5, 1.0, 3.0])


class Pair(NamedTuple):
    """An encrypted array, its exact values, and the draws that its elements may contain."""

    array: hesc.EncryptedArray
    values: NDArray[np.float64]
    draws: frozenset[int]
    constants: bool


class Arrays(RuleBasedStateMachine):
    """Values stay within seven of the stated standard errors, and shapes are numpy's.

    Products are refused if, and only if, both factors contain one draw or have constants added.
    Bernoulli streams: a value beyond seven standard errors has a probability below 10^-9.
    """

    pairs: Bundle[Pair] = Bundle("pairs")

    def __init__(self) -> None:
        super().__init__()
        self.encryptor: hesc.Encryptor | None = None
        self.last: Pair | None = None

    def kept(self, pair: Pair) -> Pair:
        self.last = pair
        return pair

    @rule(
        target=pairs,
        shape=st.sampled_from([(), (1,), (2,), (3,), (2, 3), (3, 1), (1, 3)]),
        seed=st.integers(0, 2**32),
    )
    def encrypt(self, shape: tuple[int, ...], seed: int) -> Any:
        if self.encryptor is None:
            self.encryptor = hesc.Encryptor(
                PUBLIC, LENGTH, generator="bernoulli", layout="one_per_block", random_state=seed
            )
        values = np.asarray(np.random.default_rng(seed).uniform(-1, 1, shape))
        draw = self.encryptor.encoder.next_dimension
        array = self.encryptor.encrypt(values)
        return self.kept(Pair(array, values, frozenset([draw]), constants=False))

    def both(
        self,
        a: Pair,
        b: Pair,
        operation: Callable[[object, object], object],
        *,
        product: bool,
    ) -> Any:
        try:
            expected = np.asarray(operation(a.values, b.values))
        except ValueError:
            expected = None
        refusals: list[type[Exception]] = []
        if expected is None:
            refusals.append(hesc.ShapeError)
        if product and a.draws & b.draws:
            refusals.append(hesc.CorrelationError)
        if product and (a.constants or b.constants):
            refusals.append(hesc.ShapeError)
        if refusals:
            with pytest.raises(tuple(refusals)):
                operation(a.array, b.array)
            return multiple()
        assert expected is not None
        array = operation(a.array, b.array)
        assert isinstance(array, hesc.EncryptedArray)
        constants = a.constants or b.constants
        return self.kept(Pair(array, expected, a.draws | b.draws, constants))

    @rule(target=pairs, a=pairs, b=pairs)
    def multiply(self, a: Pair, b: Pair) -> Any:
        terms = a.array.native.terms_per_element * b.array.native.terms_per_element
        if not (terms <= 16):
            return multiple()
        return self.both(a, b, lambda x, y: x * y, product=True)  # type: ignore[operator]

    @rule(target=pairs, a=pairs, b=pairs)
    def add(self, a: Pair, b: Pair) -> Any:
        if not (a.array.native.terms_per_element + b.array.native.terms_per_element <= 16):
            return multiple()
        return self.both(a, b, lambda x, y: x + y, product=False)  # type: ignore[operator]

    @rule(target=pairs, a=pairs, b=pairs)
    def subtract(self, a: Pair, b: Pair) -> Any:
        if not (a.array.native.terms_per_element + b.array.native.terms_per_element <= 16):
            return multiple()
        return self.both(a, b, lambda x, y: x - y, product=False)  # type: ignore[operator]

    @rule(target=pairs, a=pairs, number=NUMBERS)
    def scale(self, a: Pair, number: float) -> Any:
        scaled = (number * a.array, a.values * number)
        return self.kept(Pair(*scaled, a.draws, constants=a.constants))

    @rule(target=pairs, a=pairs, number=NUMBERS)
    def shift(self, a: Pair, number: float) -> Any:
        return self.kept(Pair(number - a.array, number - a.values, a.draws, constants=True))

    @rule(target=pairs, a=pairs, axis=st.sampled_from([None, 0, -1]))
    def sum(self, a: Pair, axis: int | None) -> Any:
        if not (axis is None or a.values.ndim):
            return multiple()
        if not (a.array.native.terms_per_element * a.values.size <= 24):
            return multiple()
        total = np.asarray(a.values.sum(axis=axis))
        return self.kept(Pair(a.array.sum(axis), total, a.draws, a.constants))

    @rule(target=pairs, a=pairs, seed=st.integers(0, 2**32))
    def multiplexed(self, a: Pair, seed: int) -> Any:
        single = a.array.native.terms_per_element == 1 and not a.constants
        if not (single and a.values.ndim):
            return multiple()
        weights = np.random.default_rng(seed).uniform(0.1, 1, a.values.shape[0])
        try:
            array = a.array.multiplexed_sum(0, coefficients=weights, random_state=seed)
        except hesc.ShapeError:
            # Elements of different weights.
            return multiple()
        total = np.tensordot(weights, a.values, axes=(0, 0))
        # Selections of one seed share their choices.
        draws = a.draws | {-1 - seed}
        return self.kept(Pair(array, np.asarray(total), draws, constants=False))

    @rule(target=pairs, a=pairs)
    def transpose(self, a: Pair) -> Any:
        return self.kept(a._replace(array=a.array.T, values=a.values.T))

    @rule(target=pairs, a=pairs)
    def flatten(self, a: Pair) -> Any:
        flat = a.array.reshape(-1), a.values.reshape(-1)
        return self.kept(Pair(*flat, a.draws, a.constants))

    @rule(target=pairs, a=pairs, index=st.sampled_from([0, -1, slice(None, None, -1), None]))
    def take(self, a: Pair, index: int | slice | None) -> Any:
        if not (a.values.ndim or index is None):
            return multiple()
        taken = np.asarray(a.values[index])
        return self.kept(Pair(a.array[index], taken, a.draws, a.constants))

    @rule(target=pairs, a=pairs, b=pairs)
    def join(self, a: Pair, b: Pair) -> Any:
        if not (a.values.ndim == b.values.ndim == 1):
            return multiple()
        if a.array.native.terms_per_element != b.array.native.terms_per_element:
            return multiple()
        joined = hesc.EncryptedArray.concatenate([a.array, b.array])
        values = np.concatenate([a.values, b.values])
        return self.kept(Pair(joined, values, a.draws | b.draws, a.constants or b.constants))

    @rule(target=pairs, a=pairs)
    def split(self, a: Pair) -> Any:
        if not (a.values.ndim):
            return multiple()
        rows = zip(a.array, a.values, strict=True)
        return multiple(*(Pair(x, np.asarray(v), a.draws, a.constants) for x, v in rows))

    @rule(target=pairs, a=pairs)
    def travel(self, a: Pair) -> Any:
        read = hesc.EncryptedArray.from_bytes(SECRET.params, a.array.to_bytes())
        return self.kept(a._replace(array=read))

    @invariant()
    def values_are_within_their_errors(self) -> None:
        if self.last is None:
            return
        array, values, *_ = self.last
        self.last = None
        assert array.shape == values.shape
        answer = hesc.Answer.from_bytes(SECRET.params, array.answer().to_bytes())
        found, error = hesc.Decryptor(SECRET).decrypt(answer, return_std=True)
        assert np.all(np.abs(found - values) <= 7 * error + 1e-9), (found, values, error)


TestArrays = Arrays.TestCase
TestArrays.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
