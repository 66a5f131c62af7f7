"""What both sides of a ring product agree upon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import of_kind, real_array, whole, wire_bytes
from hesc.params.parameter_set import explained
from hesc.params.vectors import VectorParams

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


_UP: Final = 1 + 1e-9
"""Sums in another order are a little larger."""


class Sizes(NamedTuple):
    """Bytes on the wire, the same whatever the numbers are."""

    up: int
    """Bytes of a query."""
    down: int
    """Bytes of the answer to a query."""


class Bounds(NamedTuple):
    """What a plan is told of weights that it must not give away; see `Plan.hiding`."""

    weights_l1: float
    weights_l2: float
    offset: float

    @classmethod
    @explained
    def of_model(
        cls, weights: ArrayLike, intercepts: ArrayLike = 0.0, *, low: ArrayLike, high: ArrayLike
    ) -> Bounds:
        """The least powers of two that a model keeps to, which say little of it.

        Args:
            weights: a row for each output, or one row.
            intercepts: what is added to each output, or one number for all.
            low: the least declared value of each feature, or one for all.
            high: the greatest.

        Raises:
            OutOfRangeError: scores that doubles do not hold.
            ParameterError, ShapeError: numbers, ranges or shapes that cannot be.

        """
        rows = weight_rows(weights)
        outputs, features = rows.shape
        sizes = _native.RingProductPlan.bounds_of(
            rows.reshape(-1),
            spread(intercepts, outputs, "intercepts"),
            spread(low, features, "low"),
            spread(high, features, "high"),
        )
        # Half of the largest double, since bounds are rounded up.
        if not all(size < 2.0**1022 for size in sizes):
            raise OutOfRangeError(
                "weights times ranges are beyond what doubles hold, or no numbers; scale features "
                "or weights"
            )
        return cls(*map(power_above, sizes))


def power_above(size: float) -> float:
    """A power of two that is not less, nor was before rounding; zero of zero."""
    return float(2.0 ** np.ceil(np.log2(size * _UP))) if size > 0 else 0.0


class Plan:
    """Ranges, bounds, sizes and scales of a ring product: public, and the same on both sides.

    `Plan.of_model` makes one where the key owner may know the weights, `Plan.hiding` where not,
    `Plan.encrypted` where the server must not.
    The smallest ring is taken in which scores have the wanted error, and in it the fewest bits of
    an answer; a score is beyond its range, or decrypts wrongly, with a probability below 2^-128.
    """

    def __init__(self, native: _native.RingProductPlan) -> None:
        remedy = "Plan.of_model, Plan.hiding, Plan.encrypted or Plan.from_bytes makes it"
        self.native = of_kind(native, "native", _native.RingProductPlan, remedy)

    @classmethod
    @explained
    def of_model(
        cls,
        weights: ArrayLike,
        intercepts: ArrayLike = 0.0,
        *,
        low: ArrayLike,
        high: ArrayLike,
        error: float,
    ) -> Plan:
        """A plan for weights that the key owner may know: from the plan he learns their norms.

        Args:
            weights: a row for each output, (outputs, features), or one row.
            intercepts: what is added to each output, or one number for all.
            low: the least declared value of each feature, or one for all. Features beyond are
                refused when they are encrypted; the wider the ranges, the more bits an error takes.
                Whoever takes them from data to be hidden publishes what he saw.
            high: the greatest.
            error: the root mean square of a score's error that is wanted, in units of the scores,
                over servers as `Plan.error` is. What it is beside is the exact score of these
                doubles, however much of weights times features cancels.

        Raises:
            NoiseBudgetError: no set reaches this error.
            ParameterError, ShapeError: ranges or shapes that cannot be.

        """
        rows = weight_rows(weights)
        outputs, features = rows.shape
        native = _native.RingProductPlan.of_model(
            rows.reshape(-1),
            spread(intercepts, outputs, "intercepts"),
            spread(low, features, "low"),
            spread(high, features, "high"),
            error,
        )
        return cls(native)

    @classmethod
    @explained
    def hiding(
        cls,
        shape: tuple[int, int],
        *,
        low: ArrayLike,
        high: ArrayLike,
        error: float,
        weights_l1: float,
        weights_l2: float,
        answers: int,
        offset: float = 0.0,
        centres: ArrayLike = 0.0,
        statistical_bits: int = 40,
    ) -> Plan:
        """A plan for weights that are hidden from the key owner, by bounds that are public.

        With `h` half the width of each feature's range, declare for a model that may change bounds
        that it will keep, such as powers of two (`Bounds.of_model` finds the least):

        Args:
            shape: outputs and features.
            low: the least declared value of each feature, or one for all.
            high: the greatest.
            error: as for `of_model`; the noise that hides weights counts.
            weights_l1: what the sum of `abs(w) * h` stays within for each output.
            weights_l2: what the root of the sum of `(w * h)**2` over all outputs stays within.
            answers: numbers that the model gives in all its life (samples times outputs): more of
                them need more noise. It counts them, and gives no more.
            offset: what each output at the middle of all ranges, intercept included, stays within,
                less its centre.
            centres: public numbers that are added to the outputs after decryption.
            statistical_bits: `s`, at least 40: with and without what it hides, noise differs by a
                divergence of `2**-s / 24` over all answers, a statistical distance of
                `2**-(s / 2 + 3)`: `2**-23` for 40.

        **As many scores as a model has numbers give it away, whatever hides them**: `features + 1`
        samples and a linear solver do. Let `answers` and whom you serve be less than that.

        Raises:
            NoiseBudgetError: no set reaches this error beside the noise.
            ParameterError, ShapeError: bounds or shapes that cannot be.

        """
        hiding = whole(answers, "answers", 1, 2**50), whole(statistical_bits, "bits", 40, 128)
        bounds = offset, weights_l1, weights_l2
        return cls._declared(shape, (low, high, centres), bounds, error, hiding=hiding)

    @classmethod
    @explained
    def encrypted(
        cls,
        shape: tuple[int, int],
        *,
        low: ArrayLike,
        high: ArrayLike,
        error: float,
        weights_l1: float,
        weights_l2: float,
        offset: float = 0.0,
        centres: ArrayLike = 0.0,
        under: str = "secret",
    ) -> Plan:
        """A plan for weights that the server must not see, by bounds that are public.

        The server then has an `EncryptedModel` and multiplies two ciphertexts. **The owner of the
        key finds the weights in the answers**: this is for models of his own, or for owners of
        models who keep them from servers alone.

        Args:
            shape: outputs and features.
            low: the least declared value of each feature, or one for all.
            high: the greatest.
            error: as for `of_model`.
            weights_l1: what the sum of `abs(w) * h` stays within for each output, `h` half the
                width of each feature's range.
            weights_l2: what the root of the sum of `(w * h)**2` over all outputs stays within.
            offset: what each output at the middle of all ranges, intercept included, stays within,
                less its centre. More than zero: a second ciphertext comes with the model.
            centres: public numbers that are added to the outputs after decryption.
            under: "secret" where who asks encrypts the model himself (`secret.encrypt_model`);
                "public" where somebody else does (`EncryptedModel.encrypt`): more noise, and
                answers with a third part, of more than twice the bytes.

        Raises:
            NoiseBudgetError: no set reaches this error.
            ParameterError, ShapeError: bounds or shapes that cannot be.

        """
        bounds = offset, weights_l1, weights_l2
        return cls._declared(shape, (low, high, centres), bounds, error, encrypted=under)

    @classmethod
    def _declared(
        cls,
        shape: tuple[int, int],
        public: tuple[ArrayLike, ArrayLike, ArrayLike],
        bounds: tuple[float, float, float],
        error: float,
        *,
        hiding: tuple[int, int] | None = None,
        encrypted: str | None = None,
    ) -> Plan:
        """A plan for weights known by their bounds; `public` are ranges and centres."""
        outputs, features = _shape(shape)
        low, high, centres = public
        offset, weights_l1, weights_l2 = bounds
        native = _native.RingProductPlan.declared(
            low=spread(low, features, "low"),
            high=spread(high, features, "high"),
            centres=spread(centres, outputs, "centres"),
            offset=offset,
            weights_l1=weights_l1,
            weights_l2=weights_l2,
            error=error,
            hiding=hiding,
            encrypted=encrypted,
        )
        return cls(native)

    @classmethod
    def from_bytes(cls, data: bytes) -> Plan:
        """A plan from its wire form. What it says of sizes and scales must follow from the rest.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        return cls(_native.RingProductPlan.from_bytes(wire_bytes(data)))

    def to_bytes(self) -> bytes:
        """The wire form: what the server is given, or gives."""
        return self.native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        outputs, features = self.shape
        hidden = "" if self.answers is None else f", hidden for {self.answers} answers"
        if self.encrypted_under is not None:
            hidden = f", weights under the {self.encrypted_under} key"
        return (
            f"<hesc.ring_products.Plan: {features} features to {outputs} outputs, error "
            f"{self.error:.2g}, N = {self.params.ring_degree}, {self.answer_bits} bits back"
            f"{hidden}>"
        )

    @property
    def params(self) -> VectorParams:
        """The set that keys are made for; plans of one set share keys."""
        return VectorParams(self.native.params)

    @property
    def shape(self) -> tuple[int, int]:
        """Outputs and features, as weights have them."""
        return self.native.outputs, self.native.features

    @property
    def error(self) -> float:
        """The root mean square of a score's error, at features and weights where it is largest.

        Over the noise of queries and keys, and over servers: each rounds or encrypts its weights
        once, and all its rows share these roundings. `deployment_error` is of one.
        """
        return self.native.error

    @property
    def deployment_error(self) -> float:
        """The root mean square of the errors of one server's rows, at most: with 99 % probability.

        However these rows are spread within their ranges, and for one key.
        """
        return self.native.deployment_error

    @property
    def answer_bits(self) -> int:
        """Bits of each coefficient of an answer."""
        return self.native.scales[2]

    @property
    def capacity(self) -> int:
        """Samples of one ciphertext: a query of fewer takes the same answer."""
        return self.native.samples[0]

    @property
    def most_samples(self) -> int:
        """Samples of a query, at most."""
        return self.native.samples[1]

    @property
    def answers(self) -> int | None:
        """Numbers that a model gives in all its life; None where its weights are not hidden."""
        return None if self.native.hiding is None else self.native.hiding[0]

    @property
    def encrypted_under(self) -> str | None:
        """The key that weights are encrypted under, "secret" or "public"; None: they are not."""
        return self.native.encrypted

    @property
    def model_size(self) -> int | None:
        """Bytes of an encrypted model; None where weights are not encrypted."""
        return None if self.native.encrypted is None else self.native.model_bytes()

    @property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest value of each feature."""
        return self.native.low, self.native.high

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes of a query of so many samples, and of its answer."""
        return Sizes(*self.native.bytes_of(whole(samples, "samples", 1, self.most_samples)))

    def errors_of(self, weights: ArrayLike, samples: ArrayLike) -> NDArray[np.float64]:
        """The law itself: the root mean square errors of scores, for these weights.

        Over the noise of encryption, keys and roundings, of weights among them, hence over servers;
        `error` is its largest value.

        Args:
            weights: those of the model.
            samples: one sample, or rows of up to `capacity` that share a ciphertext. Where weights
                are encrypted errors depend on all of them.

        """
        rows = weight_rows(weights)
        array = real_array(samples, "samples")
        if (
            rows.shape != self.shape
            or array.ndim not in {1, 2}
            or array.shape[-1:] != rows[0].shape
        ):
            raise ShapeError(
                f"the plan is for weights of shape {self.shape} and rows of features; got "
                f"{rows.shape} and {array.shape}"
            )
        errors = self.native.errors_of(rows.reshape(-1), array.reshape(-1))
        return errors.reshape(*array.shape[:-1], rows.shape[0])


def _shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Outputs and features, within what a ring has places for."""
    outputs, features = shape
    return whole(outputs, "outputs", 1, 32768), whole(features, "features", 1, 32768)


def weight_rows(weights: ArrayLike) -> NDArray[np.float64]:
    """A row of weights for each output, as doubles one after the other."""
    rows = real_array(weights, "weights")
    if rows.ndim == 1:
        rows = rows.reshape(1, -1)
    if rows.ndim != 2 or not rows.size:
        raise ShapeError(f"weights have a row for each output; got the shape {rows.shape}")
    return np.ascontiguousarray(rows)


def spread(values: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """One number for each of so many, or one for all; a copy, for plans keep them."""
    array = real_array(values, name)
    if array.shape not in {(), (count,)}:
        raise ShapeError(f"{name} are {count} numbers, or one; got the shape {array.shape}")
    return np.array(np.broadcast_to(array, (count,)))
