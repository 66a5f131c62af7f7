"""Errors of sums of monomials where no law is known: measured on streams in the clear."""

from __future__ import annotations

import operator
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError
from hesc.streams.encoding import Encoder
from hesc.streams.encryptor import repeated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.streams.encoding import EncodedArray, EncoderOptions

# Bits of streams that are held at a time, as bytes.
_BITS: Final = 1 << 22
# Bits that are encoded for one call.
_MOST_BITS: Final = 1 << 40


class Summed(NamedTuple):
    """A sum of monomials, as a `Summation` has it."""

    coefficients: NDArray[np.float64]
    exponents: Sequence[tuple[int, ...]]
    stream_length: int
    at_random: bool
    kept: NDArray[np.bool_] | None
    """Which of a stream's pieces each monomial keeps; all of them without it."""


def measured_error(
    summed: Summed,
    values: Sequence[NDArray[np.float64]],
    options: EncoderOptions,
    draws: int,
) -> NDArray[np.float64]:
    """The root mean square error of so many draws, for each of the values.

    Streams are what an encryptor with these options makes of the values, in its first calls: the
    encodings are those that are encrypted, so that nothing has to be.

    Raises:
        OutOfRangeError: more than is encoded in a quarter of an hour, or values beyond streams.

    """
    shape = values[0].shape
    bits = summed.stream_length * len(summed.exponents)
    if bits * values[0].size * draws > _MOST_BITS:
        raise OutOfRangeError(
            f"{values[0].size:,} values in {draws} draws of streams of {summed.stream_length:,} "
            "bits would be encoded for a quarter of an hour and more; give some of the values, or "
            "take fewer draws"
        )
    flat = [np.ascontiguousarray(value).reshape(-1) for value in values]
    found = np.empty(values[0].size)
    # Whole values, so that what is held at a time does not grow with their number.
    size = max(1, _BITS // max(1, bits))
    # Nothing is refused where it is encoded.
    for first in range(0, max(1, found.size), size):
        some = [value[first : first + size] for value in flat]
        found[first : first + size] = _measured(summed, some, options.copy(), draws)
    return found.reshape(shape)


def _measured(
    summed: Summed,
    values: Sequence[NDArray[np.float64]],
    options: EncoderOptions,
    draws: int,
) -> NDArray[np.float64]:
    """`measured_error` of a row of values, in the memory of one draw of all."""
    shape = values[0].shape
    degrees = [max(powers) for powers in zip(*summed.exponents, strict=True)]
    row = max(1, values[0].size) * summed.stream_length * len(summed.exponents)
    at_once = max(1, _BITS // row)
    # One seed for all: batches of draws go on where the one before ended.
    seeds = np.random.default_rng(options["random_state"])
    exact = np.tensordot(summed.coefficients, _exact(summed, values), axes=1)
    squares = np.zeros(shape)
    for first in range(0, draws, at_once):
        count = min(at_once, draws - first)
        options["random_state"] = int(seeds.integers(2**63))
        encoder = Encoder(summed.stream_length, **options)
        copies = [
            encoder.encode_factors(repeated(np.broadcast_to(value, (count, *shape)), degree))
            if degree
            else []
            for value, degree in zip(values, degrees, strict=True)
        ]
        unipolar = options.get("representation") == "unipolar"
        found = _sums(summed, copies, seeds, count, unipolar=unipolar)
        squares += np.sum((found - exact) ** 2, axis=0)
    error: NDArray[np.float64] = np.sqrt(squares / draws)
    return error


def _exact(summed: Summed, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.array(
        [
            np.prod([x**power for x, power in zip(values, key, strict=True)], axis=0)
            for key in summed.exponents
        ]
    )


def _monomials(summed: Summed, copies: Sequence[Sequence[EncodedArray]]) -> Iterator[EncodedArray]:
    """Products in the order in which `hesc.Polynomial` multiplies."""
    for key in summed.exponents:
        powers = (own[:power] for own, power in zip(copies, key, strict=True))
        first, *others = chain.from_iterable(powers)
        yield reduce(operator.mul, others, first)


def _sums(
    summed: Summed,
    copies: Sequence[Sequence[EncodedArray]],
    seeds: np.random.Generator,
    draws: int,
    *,
    unipolar: bool,
) -> NDArray[np.float64]:
    """What the sum decrypts to, a row for each draw."""

    def value(share: NDArray[np.float64]) -> NDArray[np.float64]:
        return share if unipolar else 1 - 2 * share

    monomials = _monomials(summed, copies)
    a = summed.coefficients
    if summed.at_random:
        weight = np.abs(a).sum()
        size = (draws, summed.stream_length)
        chosen = seeds.choice(len(a), p=np.abs(a) / weight, size=size)
        total = 0.0
        for k, monomial in enumerate(monomials):
            bits = monomial.bits
            mask = (chosen == k).reshape(draws, *(1,) * (bits.ndim - 2), -1)
            total = total + np.sign(a[k]) * np.sum(mask * value(bits.astype(np.float64)), axis=-1)
        return np.asarray(weight * total / summed.stream_length)
    total = 0.0
    for k, monomial in enumerate(monomials):
        if summed.kept is None:
            found = monomial.values
        else:
            bits = monomial.bits
            pieces = bits.reshape(*bits.shape[:-1], summed.kept.shape[1], -1)
            found = value(pieces[..., summed.kept[k], :].mean(axis=(-2, -1)))
        total = total + a[k] * found
    return np.asarray(total)
