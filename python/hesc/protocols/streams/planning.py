"""Plans of networks on streams: transforms, scales, bytes, and how many classes errors change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support.inputs import one_name, whole
from hesc.models import transforms
from hesc.models.samples import spread_out
from hesc.params import Params, wire_sizes
from hesc.protocols.streams import square_estimators
from hesc.protocols.streams.plan import ASSURANCES, COSTS, LAYOUTS, SCHEMES, StreamPlan
from hesc.secret import Decryptor, SecretEncryptor, keygen
from hesc.streams.encryptor import Encryptor, resolve_layout
from hesc.streams.networks.monomial import (
    MODEL_DIMENSION,
    QUERY_DIMENSION,
    MonomialModel,
    largest,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.streams.options import Streams
    from hesc.streams.arrays import Answer, SeededArray
    from hesc.streams.networks import SquareNetwork

    Array = NDArray[np.float64]


def make(
    network: SquareNetwork,
    rows: Rows,
    options: Streams,
    *,
    names: list[str],
) -> StreamPlan:
    """Plans a network; bytes are counted on simulated queries.

    Args:
        network: what the server computes.
        rows: samples that agreement is predicted of, a thousand of them.
        options: parameters, length and layout of the streams.
        names: of the features, or none.

    Raises:
        ParameterError: parameters that are weak, or not for such networks; streams that do not fit.
        OutOfRangeError: a network whose products overflow.

    """
    preset, layout = options.preset, options.layout
    params = Params.preset(preset)
    length = whole(options.stream_length, "stream_length", 1, 1 << 16)
    one_name(layout, "layout", ("auto", *LAYOUTS))
    if params.scheme not in SCHEMES or params.assurance not in ASSURANCES:
        raise ParameterError(
            f"{preset} does not keep the security guidelines of 2024, or is for other "
            f"computations; choose a set of {', '.join(SCHEMES)} with 128 bits"
        )
    public = network.preprocessing
    steps = [*square_estimators.scaling(public), square_estimators.products(public)]
    coefficients = network.coefficients()

    def plan(costs: dict[str, int], agreement: float | None = None) -> StreamPlan:
        return StreamPlan(
            inputs=public.inputs,
            names=names,
            steps=steps,
            classes=np.array(network.classes),
            scales=largest(coefficients),
            preset=preset,
            stream_length=length,
            layout=resolve_layout(layout, length, params),
            costs=costs,
            agreement=agreement,
        )

    draft = plan(dict.fromkeys(COSTS, 1))
    try:
        draft.check()
    except WireError as error:
        raise ParameterError(str(error)) from error
    some: Any = rows[spread_out(len(rows))]
    features = transforms.transformed(steps, some)
    found = simulated(draft, coefficients, features, 0).argmax(axis=1)
    agreement = float((found == network.predict(some)).mean())
    return plan(_costs(draft, coefficients, features[:1]), agreement)


def simulated(
    plan: StreamPlan, coefficients: Array, features: Array, random_state: int | None
) -> Array:
    """Outputs as streams give them, whose bits nobody encrypts.

    Args:
        plan: lengths, layout and scales.
        coefficients: of the network, (outputs, monomials).
        features: products of features, a row for each sample.
        random_state: of the streams; None takes the system's.

    """
    # One per block differs in ciphertexts, which are none here, and not in bits.
    secret, public = keygen(plan.params.simulated())
    options: dict[str, Any] = {"layout": plan.layout, "random_state": random_state}
    model = _model(plan, coefficients, public, **options)
    outputs = []
    for first in range(0, len(features), plan.rows):
        encryptor = Encryptor(
            public, plan.stream_length, first_dimension=QUERY_DIMENSION, **options
        )
        if random_state is not None:
            options["random_state"] += 1
        query = encryptor.encrypt(features[first : first + plan.rows])
        outputs.append(Decryptor(secret).decrypt(model.evaluate(query)))
    return np.concatenate(outputs)


def _model(plan: StreamPlan, coefficients: Array, public: Any, **options: Any) -> MonomialModel:
    encryptor = Encryptor(public, plan.stream_length, first_dimension=MODEL_DIMENSION, **options)
    return MonomialModel.scaled_by(encryptor, coefficients, plan.scales)


def _costs(plan: StreamPlan, coefficients: Array, features: Array) -> dict[str, int]:
    """Bytes of ciphertexts beside samples and for each: those of one sample and of two."""
    params = plan.params
    secret, public = keygen(params.counted())
    model = _model(plan, coefficients, public, layout=plan.layout)

    def bytes_of(samples: int) -> tuple[int, int]:
        encryptor = SecretEncryptor(
            secret, plan.stream_length, layout=plan.layout, first_dimension=QUERY_DIMENSION
        )
        query: SeededArray = encryptor.encrypt(np.repeat(features, samples, axis=0))
        answer: Answer = model.answer(query.expand())
        return wire_sizes.streams(params, query), wire_sizes.streams(
            params, answer, secret=1, public=1
        )

    costs: dict[str, int] = {}
    for name, one, two in zip(("query", "answer"), bytes_of(1), bytes_of(2), strict=True):
        costs |= {name: max(1, 2 * one - two), f"{name}_sample": max(1, two - one)}
    return costs
