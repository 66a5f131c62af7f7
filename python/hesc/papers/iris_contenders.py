"""hesc's own contenders for the Iris tables, in the form of the peers: stages and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._native import primes_of_bits
from hesc.arrays import EncryptedArray
from hesc.encoding import Encoder
from hesc.encryptor import Encryptor
from hesc.leveled import LeveledParams
from hesc.networks.layered import COPIES, LayeredModel
from hesc.networks.monomial import QUERY_DIMENSION, MonomialModel
from hesc.papers.report import Stopwatch
from hesc.secret import keygen, leveled_keygen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.arrays import Answer, SeededArray
    from hesc.leveled import EncryptedVector
    from hesc.networks import SquareNetwork
    from hesc.params import Params
    from hesc.secret import SecretKey

Run = tuple[dict[str, float], "NDArray[np.float64]"]


def _read(secret: SecretKey, answer: Answer, clock: Stopwatch) -> NDArray[np.float64]:
    """The client's last steps, each timed."""
    counts = secret.decrypt(answer)
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
        params: Params,
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
        query = self._public.encrypt_streams(encoded, "one_per_block")
        clock("Enc")
        hidden = self._model.hidden(query)
        clock("FC1")
        squares = self._model.squares(hidden)
        clock("ACT")
        outputs = self._model.outputs(squares)
        clock("FC2")
        answer = outputs.answer(fuse=self._fuse)
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
        params: Params,
        *,
        stream_length: int = 64,
        secret_key: bool = True,
        seed: int | None = None,
    ) -> None:
        self._network = network
        self._secret, public = keygen(params)
        self._public = None if secret_key else public
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
            (query,) = self._public.encrypt_streams([encoded], "side_by_side")
        clock("Enc")
        received = query if isinstance(query, EncryptedArray) else query.expand()
        answer = self._model.answer(received)
        clock("FC2")
        values = _read(self._secret, answer, clock)
        self.bytes_up, self.bytes_down = len(query.to_bytes()), len(answer.to_bytes())
        return clock.milliseconds, values


class LeveledNetwork:
    """The network exactly, with products of ciphertexts; the model is encrypted too.

    Slots are (output, hidden, input), 4 by 4 by 4, as for SEAL: one encrypted sample, three
    products of ciphertexts, four rotations.
    """

    SIDE = 4
    PRECISION = 16.0
    """BFV: inputs and weights are multiples of 1/16; five factors stay below t / 2."""
    PLAIN_BITS = 26

    def __init__(self, network: SquareNetwork, scheme: str) -> None:
        self._network, self._exact = network, scheme != "ckks"
        params = LeveledParams.recommended(scheme)
        if self._exact:
            params = LeveledParams.lattice(
                scheme,
                params.ring_degree,
                params.coeff_moduli,
                special_moduli=params.special_moduli,
                plain_modulus=primes_of_bits(params.ring_degree, [self.PLAIN_BITS])[0],
            )
        steps = [1, 2, self.SIDE, 2 * self.SIDE]
        self._secret, self._public = leveled_keygen(params, rotations=steps)
        # A bias meets products of two (five) scaled factors.
        self._model = [
            self._encrypt(tile, power)
            for tile, power in zip(slot_cube(network, self.SIDE), (1, 2, 1, 5), strict=True)
        ]

    def _encrypt(self, values: NDArray[np.float64], power: int) -> EncryptedVector:
        if not self._exact:
            return self._public.encrypt(values)
        scaled = np.rint(values * self.PRECISION**power)
        return self._public.encrypt(scaled.astype(np.int64))

    @staticmethod
    def _sum(vector: EncryptedVector, steps: tuple[int, int]) -> EncryptedVector:
        for step in steps:
            vector = vector + vector.rotate(step)
        return vector

    def run(self, features: NDArray[np.float64]) -> Run:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        w1, b1, w2, b2 = self._model
        clock = Stopwatch()
        z = self._network.preprocessing.normalise(features)[0]
        query = self._encrypt(np.tile(z, self.SIDE**2), 1)
        clock("Enc")
        hidden = self._sum(query * w1, (2, 1)) + b1
        clock("FC1")
        squares = hidden.square()
        clock("ACT")
        output = self._sum(squares * w2, (2 * self.SIDE, self.SIDE)) + b2
        clock("FC2")
        values = self._secret.decrypt(output)
        clock("Dec")
        self.bytes_up, self.bytes_down = len(query.to_bytes()), len(output.to_bytes())
        outputs = values[: self.SIDE**3 : self.SIDE**2][: len(self._network.classes)]
        scale = self.PRECISION**5 if self._exact else 1.0
        return clock.milliseconds, outputs / scale


def slot_cube(network: SquareNetwork, side: int) -> tuple[NDArray[np.float64], ...]:
    """Weights of the hidden layer, its bias, weights of the output layer and its bias in slots."""
    cube = np.zeros((4, side, side, side))
    outputs = len(network.classes)
    cube[0] = network.hidden_weights[np.newaxis]
    # The sums over inputs are right where the input index is 0 only.
    cube[1, :, :, 0] = network.hidden_bias
    cube[2, :outputs, :, 0] = network.output_weights
    cube[3, :outputs, 0, 0] = network.output_bias
    return tuple(tile.ravel() for tile in cube)
