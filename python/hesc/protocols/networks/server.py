"""The server of a network. Nothing that it imports can decrypt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.polynomial import polynomial

from hesc._native import NoiseBudgetError, ParameterError, WireError
from hesc._support import documents
from hesc.protocols import wire
from hesc.protocols.networks.plan import NetworkPlan
from hesc.protocols.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hesc.protocols.networks.packing import Packing
    from hesc.vectors.encrypted_vectors import EncryptedVector

    Array = NDArray[np.float64]

SQUARE: Final = (0.0, 0.0, 1.0)
"""The polynomial that is one product."""
_DEGREE: Final = 32


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


def _write_layers(layers: tuple[Served, ...]) -> list[dict[str, Any]]:
    return [
        {
            "weights": documents.packed(layer.weights),
            "intercepts": documents.packed(layer.intercepts),
            "coefficients": documents.packed(layer.coefficients),
        }
        for layer in layers
    ]


def _read_layers(value: Any, what: str, earlier: wire.Earlier) -> tuple[Served, ...]:
    widths = earlier["plan"].widths
    if not isinstance(value, list) or len(value) != len(widths) - 1:
        raise WireError(f"{what} are as many as its plan says")
    sides = zip(widths, widths[1:], value, strict=False)
    return tuple(_read_layer(*side) for side in sides)


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


class NetworkServer(Server[NetworkPlan]):
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

    plan_type: ClassVar[type[NetworkPlan]] = NetworkPlan
    fields: ClassVar[Mapping[str, Mapping[str, wire.Codec]]] = {
        "layers": wire.declared(wire.Codec(_write_layers, _read_layers))
    }

    def __init__(
        self, plan: NetworkPlan, layers: tuple[Served, ...], *, keys: bytes | None = None
    ) -> None:
        super().__init__(plan, keys=keys)
        widths = [*(layer.weights.shape[1] for layer in layers[:1])]
        widths += [layer.weights.shape[0] for layer in layers]
        if tuple(widths) != plan.widths:
            raise ParameterError("layers of a server have other widths than its plan says")
        self._layers = layers

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return {"layers": self._layers}

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """The scores of all samples of a ciphertext.

        Raises:
            WireError, ParameterError, KeyMismatchError, ShapeError: as `answer`.

        """
        del samples  # A ciphertext has all slots, whatever lies in them.
        if self.keys is None:
            raise ParameterError("the server has no keys: give keys=, client.public_keys()")
        vector = self.plan.vector(parts[0]).with_keys(self.keys)
        if vector.complex_values:
            raise WireError("the ciphertext of a query has real numbers")
        if vector.level != len(self.plan.params.levels):
            raise WireError("the ciphertext of a query is at the highest level")
        return [evaluated(self.plan.packing, self._layers, vector).to_bytes()]
