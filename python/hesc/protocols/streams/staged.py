"""Two ways to evaluate the network on streams, stage by stage: the paper's and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc._support.stages import Run, Stopwatch
from hesc.secret import SecretEncryptor, keygen
from hesc.streams.arrays import EncryptedArray
from hesc.streams.encoding import Encoder
from hesc.streams.encryptor import Encryptor, encrypt_streams
from hesc.streams.networks.layered import COPIES, LayeredModel
from hesc.streams.networks.monomial import MODEL_DIMENSION, QUERY_DIMENSION, MonomialModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.params.stream_params import StreamParams
    from hesc.secret import SecretKey
    from hesc.streams.arrays import Answer, SeededArray
    from hesc.streams.networks import SquareNetwork


def _read(secret: SecretKey, answer: Answer, clock: Stopwatch) -> NDArray[np.float64]:
    """The client's last steps, each timed."""
    counts = secret.counts(answer)
    clock("Dec")
    readout = counts.separate()
    clock("Separation")
    values = readout.values()
    clock("S2B")
    return values.reshape(answer.shape)


class Layered:
    """The paper's algorithm and layout: one stream per ciphertext, weights encrypted."""

    def __init__(
        self,
        network: SquareNetwork,
        params: StreamParams,
        *,
        stream_length: int = 1024,
        digits: int = 1,
        base: int = 6,
        generator: str = "bernoulli",
        seed: int = 0,
    ) -> None:
        self._network = network
        self._secret, self._public = keygen(params)
        encryptor = Encryptor(
            self._public,
            stream_length,
            generator=generator,
            layout="one_per_block",
            first_dimension=COPIES,
            random_state=seed,
        )
        self._model = LayeredModel.encrypt(network, encryptor)
        self._generator = generator
        self._length = stream_length
        self._fuse = [base] * (digits - 1) if digits > 1 else None

    def run(self, features: NDArray[np.float64]) -> Run:
        """Milliseconds of each stage and the outputs (samples, outputs)."""
        clock = Stopwatch()
        z = self._network.preprocessing.normalise(features)
        # Fresh draws for every query; dimensions are those that the model does not use.
        encoder = Encoder(self._length, generator=self._generator)
        encoded = [encoder.encode(z) for _ in range(COPIES)]
        clock("B2S")
        query = encrypt_streams(self._public, encoded, "one_per_block")
        clock("Enc")
        hidden = self._model.hidden(query)
        clock("FC1")
        squares = self._model.squares(hidden)
        clock("ACT")
        outputs = self._model.outputs(squares)
        clock("FC2")
        answer = outputs.answer(fuse=self._fuse, compact=False)
        clock("Fusion")
        values = _read(self._secret, answer, clock)
        self.bytes_up = sum(len(copy.to_bytes()) for copy in query)
        self.bytes_down = len(answer.to_bytes())
        return clock.milliseconds, values


class Monomial:
    """Our best mode: monomials times coefficients, side by side, seeded, fused, compact.

    The query is encrypted with the client's secret key, or with the public one on demand.
    """

    def __init__(
        self,
        network: SquareNetwork,
        params: StreamParams,
        *,
        stream_length: int = 64,
        secret_key: bool = True,
        seed: int | None = None,
    ) -> None:
        self._network = network
        self._secret, public = keygen(params)
        self._public = None if secret_key else public
        if params.scheme == "pad":
            # The key owner encrypts the model too.
            encryptor = SecretEncryptor(
                self._secret, stream_length, first_dimension=MODEL_DIMENSION, random_state=seed
            )
            self._model = MonomialModel.encrypted_by(encryptor, network)
        else:
            self._model = MonomialModel.encrypt(
                network, public, stream_length=stream_length, random_state=seed
            )
        self._length = stream_length
        self._seed = seed

    def run(self, features: NDArray[np.float64]) -> Run:
        """Milliseconds of each stage and the outputs (samples, outputs)."""
        clock = Stopwatch()
        monomials = self._network.preprocessing.monomials(features)
        # The model's seed is its owner's: another one here.
        encoder = Encoder(
            self._length,
            first_dimension=QUERY_DIMENSION,
            random_state=None if self._seed is None else self._seed + 1_000_003,
        )
        encoded = encoder.encode(monomials)
        clock("B2S")
        query: EncryptedArray | SeededArray
        if self._public is None:
            query = self._secret.encrypt_streams(encoded, "side_by_side")
        else:
            (query,) = encrypt_streams(self._public, [encoded], "side_by_side")
        clock("Enc")
        received = query if isinstance(query, EncryptedArray) else query.expand()
        answer = self._model.answer(received)
        clock("FC2")
        values = _read(self._secret, answer, clock)
        self.bytes_up, self.bytes_down = len(query.to_bytes()), len(answer.to_bytes())
        return clock.milliseconds, values
