"""The part of `hesc:encodings` where the key owner encrypts everything: bit streams under pads."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc.streams.iris import load_network, load_split
from hesc.streams.networks.monomial import MODEL_DIMENSION, QUERY_DIMENSION, MonomialModel
from hesc_papers.encodings import Part, rounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc._support.studies import Options
    from hesc.streams.networks import SquareNetwork

STREAM_LENGTH: Final = 64
# Flowers in a query: all that there are, so that a call's own cost does not count.
FLOWERS: Final = 150
CANDIDATES: Final = {
    "hesc: iris, streams under pads": "pad_1024",
    "hesc: iris, streams on BFV": "bfv_1024",
    "hesc: iris, streams on BFV, fused": "bfv_1024_fusion",
}


class Party:
    """Client and server, which exchange bytes; the client encrypts the model as well."""

    def __init__(self, network: SquareNetwork, preset: str) -> None:
        self.params = hesc.Params.preset(preset)
        self.secret = hesc.keygen(self.params)[0]
        self._query = hesc.SecretEncryptor(
            self.secret, STREAM_LENGTH, first_dimension=QUERY_DIMENSION, random_state=1
        )
        owner = hesc.SecretEncryptor(
            self.secret, STREAM_LENGTH, first_dimension=MODEL_DIMENSION, random_state=2
        )
        model = MonomialModel.encrypted_by(owner, network).coefficients.to_bytes()
        self._server = MonomialModel(hesc.EncryptedArray.from_bytes(self.params, model))
        self._network = network
        self.sizes = [0, 0]

    def run(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Outputs (flowers, classes), by way of the bytes of query and answer."""
        # Encodings take a dimension each, and none may be the model's.
        self._query.encoder = hesc.Encoder(
            STREAM_LENGTH, first_dimension=QUERY_DIMENSION, random_state=1
        )
        query = self._query.encrypt(self._network.preprocessing.monomials(features)).to_bytes()
        received = hesc.EncryptedArray.from_bytes(self.params, query)
        answer = self._server.answer(received).to_bytes()
        self.sizes = [len(query), len(answer)]
        return hesc.Decryptor(self.secret).decrypt(hesc.Answer.from_bytes(self.params, answer))


def measured(options: Options) -> Part:
    """Round trips of 150 flowers and of one, bytes, and errors; all candidates in each round."""
    network, split = load_network(), load_split()
    features = np.resize(split.test_features, (FLOWERS, split.test_features.shape[1]))
    parties = {name: Party(network, preset) for name, preset in CANDIDATES.items()}
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds(quick=options.quick)):
        for name, party in parties.items():
            for flowers in (1, FLOWERS):
                start = time.perf_counter()
                party.run(features[:flowers])
                seconds = (time.perf_counter() - start) / flowers
                times.setdefault((name, flowers), []).append(seconds)
    exact = network.values(features)
    rows: list[dict[str, Any]] = []
    for name, party in parties.items():
        off = party.run(features) - exact
        up, down = (size / FLOWERS for size in party.sizes)
        rows.append(
            {
                "candidate": name,
                "ring degree": party.params.ring_degree,
                "us": 1e6 * statistics.median(times[name, FLOWERS]),
                "us alone": 1e6 * statistics.median(times[name, 1]),
                "bytes up": up,
                "bytes down": down,
                "error": float(np.sqrt(np.mean(np.square(off))) / exact.std()),
            }
        )
    ratios = {
        "pad.iris.total_us": rows[0]["us"],
        "pad.iris.alone_us": rows[0]["us alone"],
        "pad.iris.vs_bfv": min(row["us"] for row in rows[1:]) / rows[0]["us"],
        "pad.iris.bytes_vs_bfv": min(row["bytes up"] + row["bytes down"] for row in rows[1:])
        / (rows[0]["bytes up"] + rows[0]["bytes down"]),
    }
    notes = [
        f"iris: the network's outputs from streams of {STREAM_LENGTH} bits, each of {FLOWERS} "
        "flowers in one query and one alone, from numbers to numbers with the bytes made and read "
        "on both sides; the key owner encrypts queries and the model",
    ]
    return Part(rows, ratios, notes)
