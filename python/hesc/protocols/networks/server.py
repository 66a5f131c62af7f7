"""The server of a network. Nothing that it imports can decrypt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Never

import numpy as np
from numpy.polynomial import polynomial

from hesc._native import NoiseBudgetError, ParameterError, WireError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind
from hesc.protocols.networks.plan import NetworkPlan
from hesc.vectors.keys import PublicKeys
from hesc.vectors.vectors import EncryptedVector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.protocols.networks.packing import Packing

    Array = NDArray[np.float64]

SQUARE: Final = (0.0, 0.0, 1.0)
"""The polynomial that is one product."""
_DEGREE: Final = 32
_LARGEST_KEYS: Final = 1 << 30


@dataclass(frozen=True, eq=False)
class Served:
    """A layer as it is computed: `polynomial(x @ weights.T + intercepts)` of numbers about 1."""

    weights: Array
    intercepts: Array
    coefficients: Array
    """From the constant on; 0 and 1 in the last layer."""

    def __call__(self, x: Array) -> Array:
        """In the clear, a row for each sample."""
        sums = x @ self.weights.T + self.intercepts
        return np.asarray(polynomial.polyval(sums, self.coefficients))


def evaluated(
    packing: Packing, layers: tuple[Served, ...], vector: EncryptedVector
) -> EncryptedVector:
    """Outputs of all samples of a ciphertext.

    Raises:
        NoiseBudgetError, ShapeError: more layers than the parameters have room for.
        ParameterError: keys missing.

    """
    for place, layer in enumerate(layers):
        sums = packing.times(layer.weights, vector)
        vector = sums + packing.spread(layer.intercepts)
        if place == len(layers) - 1:
            return _lowered(vector)
        if tuple(layer.coefficients) == SQUARE:
            vector = vector.square()
        else:
            vector = vector.polynomial(layer.coefficients)
    raise ParameterError("a network has layers")


def _lowered(vector: EncryptedVector) -> EncryptedVector:
    """At the lowest level that has room: the fewest bytes. Public data decide."""
    for level in range(1, vector.level):
        try:
            return vector.mod_switch_to(level)
        except NoiseBudgetError:
            continue
    return vector


class NetworkServer:
    """Weights in the clear that answer encrypted queries of one client.

    Args:
        plan: what both sides agreed upon.
        layers: as `hesc.protocols.networks.planning` prepares them: for features in
            [-1, 1] and scores in units of the plan's.
        keys: what the client's `public_keys` gave: to multiply and to rotate.

    Raises:
        ParameterError, KeyMismatchError, WireError: keys that are missing, damaged or of another
            set; layers of other widths than the plan's.

    """

    def __init__(
        self, plan: NetworkPlan, layers: tuple[Served, ...], *, keys: bytes | None = None
    ) -> None:
        self.plan = of_kind(plan, "plan", NetworkPlan, "PrivateMLPClassifier.plan makes it")
        widths = [*(layer.weights.shape[1] for layer in layers[:1])]
        widths += [layer.weights.shape[0] for layer in layers]
        if tuple(widths) != plan.widths:
            raise ParameterError("layers of a server have other widths than its plan says")
        self._layers = layers
        self._keys = None if keys is None else read_keys(plan, keys)

    def __repr__(self) -> str:
        return f"<hesc.protocols.networks.NetworkServer: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError("a NetworkServer is not pickled or copied; write to_bytes()")

    @usual_floats
    def answer(self, query: bytes) -> bytes:
        """The answer to a query, for whoever sent it.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, a query for another plan or
                of another client; a server that has no keys.

        """
        if self._keys is None:
            raise ParameterError(
                "a network multiplies and rotates under the client's keys: give keys=, the bytes "
                "of client.public_keys()"
            )
        count, data = self.plan.read_message("query", query)
        vector = EncryptedVector.from_bytes(self.plan.params, data).with_keys(self._keys)
        if len(vector) != self.plan.params.slot_count or vector.complex_values:
            raise WireError("the ciphertext of a query has all slots, of real numbers")
        if vector.level != len(self.plan.params.levels):
            raise WireError("the ciphertext of a query is at the highest level")
        found = evaluated(self.plan.packing, self._layers, vector)
        return self.plan.message("answer", count, found.to_bytes())

    def to_bytes(self) -> bytes:
        """NetworkPlan and **weights in the clear**: for who runs the server, and for no client."""
        layers = [
            {
                "weights": documents.packed(layer.weights),
                "intercepts": documents.packed(layer.intercepts),
                "coefficients": documents.packed(layer.coefficients),
            }
            for layer in self._layers
        ]
        fields = {"plan": self.plan.to_bytes().decode(), "layers": layers}
        return documents.write("network server", fields)

    @classmethod
    def from_bytes(cls, data: bytes, *, keys: bytes | None = None) -> NetworkServer:
        """What `to_bytes` wrote.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        given = documents.read(data, "network server", {"plan", "layers"})
        plan = NetworkPlan.from_bytes(documents.inner(given["plan"], "the plan of a server"))
        layers = given["layers"]
        if not isinstance(layers, list) or len(layers) != len(plan.widths) - 1:
            raise WireError("a server has as many layers as its plan says")
        sides = zip(plan.widths, plan.widths[1:], layers, strict=False)
        return cls(plan, tuple(_read_layer(*side) for side in sides), keys=keys)


def _read_layer(columns: int, rows: int, value: Any) -> Served:
    given = documents.exactly(value, {"weights", "intercepts", "coefficients"}, "layer")
    weights = documents.unpacked(given["weights"], 2, "weights")
    intercepts = documents.unpacked(given["intercepts"], 1, "intercepts")
    coefficients = documents.unpacked(given["coefficients"], 1, "coefficients")
    if weights.shape != (rows, columns) or intercepts.shape != (rows,):
        raise WireError("the weights of a server have another shape than its plan says")
    if not 2 <= len(coefficients) <= _DEGREE:
        raise WireError(f"polynomials of a server have from 2 to {_DEGREE} coefficients")
    return Served(weights, intercepts, coefficients)


def read_keys(plan: NetworkPlan, data: bytes) -> PublicKeys:
    """What `client.public_keys` gave, for the parameters of a plan.

    Raises:
        WireError: damaged bytes, or another object's.
        ParameterError: what is no bytes; keys of another set, or missing.

    """
    if not isinstance(data, bytes) or len(data) > _LARGEST_KEYS:
        raise ParameterError("keys are the bytes of client.public_keys()")
    # A network whose layers are one unit wide has nothing to rotate.
    turning = ["rotations"] if plan.packing.rotations() else []
    return PublicKeys.from_bytes(plan.params, data, parts=["relinearisation", *turning])
