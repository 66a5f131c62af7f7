"""Networks of random shapes and weights, in all three ways, against floating point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc.streams.networks import SquareNetwork
from hesc.streams.networks.layered import COPIES, LayeredModel, encrypt_query
from hesc.streams.networks.monomial import MonomialModel
from hesc_papers import conventional
from tests.laws.array_worlds import STEPS, Mode, Owner, Z, owner
from tests.laws.programs import (
    FLAG,
    OPERAND,
    Programs,
    between,
    drive,
    long_share,
    one_of,
    operation,
    search,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SETS: tuple[tuple[str, Mode], ...] = (
    ("insecure_plain", "encrypt"),
    ("bfv_1024_fusion", "encrypt"),
    ("bfv_1024_fusion", "simulate"),
    ("bfv_1024", "simulate"),
    ("ckks_1024", "simulate"),
    ("gm_3072", "simulate"),
)


class Kept(NamedTuple):
    """A network, and its model under the client's key."""

    network: SquareNetwork
    model: MonomialModel
    features: NDArray[np.float64]


class Networks(Programs[Kept]):
    """Outputs are within their errors of what floating point gives, whichever way they took."""

    name = "networks"

    def start(self) -> None:
        preset, mode = SETS[self.rng.integers(len(SETS))]
        self.preset = preset
        self.owner: Owner = owner(preset, mode)
        self.build(2, 2, 2, 1)

    def network(self, inputs: int, hidden: int, outputs: int) -> SquareNetwork:
        rng = self.rng

        def weights(*shape: int) -> NDArray[np.float64]:
            return np.where(rng.random(shape) < 0.1, 0.0, rng.uniform(-1, 1, shape))

        return SquareNetwork(
            center=rng.normal(size=inputs),
            axes=rng.normal(size=(inputs, inputs)),
            scale=rng.uniform(0.5, 3, inputs),
            hidden_weights=weights(hidden, inputs),
            hidden_bias=weights(hidden),
            output_weights=weights(outputs, hidden),
            output_bias=weights(outputs),
            classes=tuple(f"class {number}" for number in range(outputs)),
        )

    def build(self, inputs: int, hidden: int, outputs: int, samples: int) -> None:
        network = self.network(inputs, hidden, outputs)
        state = int(self.rng.integers(2**63))
        # Long streams tell one output from another; short ones lie side by side, and fuse.
        length = int(self.rng.choice([64, 4096]))
        model = MonomialModel.encrypt(
            network, self.owner.public, stream_length=length, random_state=state
        )
        data = model.coefficients.to_bytes()
        read = hesc.EncryptedArray.from_bytes(self.owner.secret.params, data)
        self.keep(Kept(network, MonomialModel(read), self.rng.normal(size=(samples, inputs))))

    def check(self, kept: Kept, encrypted: Any, reach: float, length: int, *, times: float) -> None:
        found, error = hesc.Decryptor(self.owner.secret).decrypt(encrypted, return_std=True)
        expected = kept.network.values(kept.features)
        assert found.shape == error.shape == expected.shape
        limit = times * error + reach * STEPS * 2 / length
        assert np.all(np.abs(found - expected) <= limit), (found, expected, error)
        self.agreed()

    @operation(
        inputs=between(1, 4), hidden=between(1, 5), outputs=between(1, 4), samples=between(1, 3)
    )
    def another(self, inputs: int, hidden: int, outputs: int, samples: int) -> None:
        self.build(inputs, hidden, outputs, samples)

    @operation(a=OPERAND, seeded=FLAG, fused=FLAG)
    def ours(self, a: int, seeded: bool, fused: bool) -> None:
        """One product between monomials and coefficients; answers fused and compact."""
        kept = self.pick(a)
        network, model, features = kept
        maker: Any = hesc.SecretEncryptor if seeded else hesc.Encryptor
        key = self.owner.secret if seeded else self.owner.public
        length = model.coefficients.stream_length
        encryptor = maker(key, length, random_state=int(self.rng.integers(2**63)))
        sent = encryptor.encrypt(network.preprocessing.monomials(features)).to_bytes()
        query = hesc.EncryptedArray.from_bytes(self.owner.secret.params, sent)
        result = model.answer(query) if fused else model.evaluate(query)
        reach = float(np.abs(network.coefficients()).max(axis=0).sum())
        self.check(kept, result, reach, length, times=2.5 * Z)

    @operation(a=OPERAND, length=one_of(256, 1000, 1024), selected=FLAG)
    def layer_by_layer(self, a: int, length: int, selected: bool) -> None:
        """The paper's way, and sums by random selection where the scheme has room for them."""
        kept = self.pick(a)
        options: Any = {"generator": "bernoulli", "layout": "one_per_block"}
        state = int(self.rng.integers(2**62))
        owned = hesc.Encryptor(
            self.owner.public, length, first_dimension=COPIES, random_state=state, **options
        )
        client = hesc.Encryptor(self.owner.public, length, random_state=state + 1, **options)
        model = LayeredModel.encrypt(kept.network, owned)
        query = encrypt_query(kept.network, client, kept.features)
        terms = (kept.network.preprocessing.inputs + 1) ** 2 * len(kept.network.hidden_bias) + 1
        if selected:
            if self.preset == "insecure_plain":
                array = conventional.evaluate(model, query, int(self.rng.integers(2**60)))
                self.check(kept, array, terms, length, times=Z)
            return
        try:
            array = model.evaluate(query)
            # Plans of one number of samples serve no other.
            alone = model.evaluate([copy[:1] for copy in query])
        except hesc.NoiseBudgetError:
            # Five factors are more than some sets hold.
            self.counts["no room"] += 1
            return
        self.check(kept, array, terms, length, times=Z)
        first = kept._replace(features=kept.features[:1])
        self.check(first, alone, terms, length, times=Z)

    @operation(a=OPERAND, how=one_of("model", "nothing", "columns", "keys", "features"))
    def misuse(self, a: int, how: str) -> None:
        network, model, features = self.pick(a)
        inputs = network.preprocessing.inputs
        monomials = network.preprocessing.monomials(features)
        params = self.owner.secret.params
        encryptor = hesc.Encryptor(self.owner.public, 64)
        wide = encryptor.encrypt(np.zeros((1, monomials.shape[1] + 1)))
        strange = hesc.Encryptor(self.owner.strange, model.coefficients.stream_length).encrypt(
            monomials
        )
        data = model.coefficients.to_bytes()
        calls: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
            "model": (lambda: model.evaluate(model.coefficients), hesc.CorrelationError),
            "nothing": (
                lambda: hesc.EncryptedArray.from_bytes(params, data[8:]),
                hesc.WireError,
            ),
            "columns": (lambda: model.evaluate(wide), hesc.ShapeError),
            "keys": (lambda: model.evaluate(strange), hesc.KeyMismatchError),
            "features": (lambda: network.values(np.zeros((1, inputs + 1))), hesc.ShapeError),
        }
        self.refused(*calls[how])


def test_random_networks() -> None:
    drive(Networks, 800, seed=1)


def test_shortest_networks() -> None:
    search(Networks, examples=5, steps=10)


@pytest.mark.long
def test_many_random_networks() -> None:
    drive(Networks, long_share(0.02), seed=1_000_000)
