"""The network as SEAL's own users would evaluate it: leveled, multiplying ciphertexts.

Slots are (output, hidden, input), 4 by 4 by 4: one encrypted sample, three products of
ciphertexts, four rotations. The model is encrypted, as in koseki2022hesc. The tuned forms are what
stands against hesc's best mode: the query is encrypted with the secret key, and the last product
goes back as it is, for the client to sum its four slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._support.stages import Stopwatch
from hesc_papers.leveled_network import slot_cube
from hesc_papers.seal_peer.setup import make, primes, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.streams.networks import SquareNetwork
    from hesc_papers.seal_peer.setup import Setting

_SIDE = 4
# The rotations that sum the terms of hidden nodes, and those of outputs.
_HIDDEN: Final = (2, 1)
_OUTPUT: Final = (2 * _SIDE, _SIDE)


def _rotation_keys(setting: Setting, steps: Sequence[int]) -> Any:
    import seal

    keys = seal.GaloisKeys()
    setting.keys.create_galois_keys(list(steps), keys)
    return keys


def _outputs(values: NDArray[Any], network: SquareNetwork, *, summed: bool) -> NDArray[np.float64]:
    """The outputs in decrypted slots, whose terms are summed already or not."""
    cube = np.asarray(values[: _SIDE**3], dtype=np.float64).reshape(_SIDE, _SIDE, _SIDE)
    terms = cube[: len(network.classes), :, 0]
    return terms[:, 0] if summed else terms.sum(axis=1)


class LeveledCkks:
    """CKKS at N = 8192: the smallest ring whose modulus holds three levels and a key switch."""

    SCALE = 2.0**30

    def __init__(self, network: SquareNetwork) -> None:
        self._network = network
        setting = make("ckks", 8192, primes(8192, [40, 30, 30, 30, 40]))
        self._setting = setting
        self._relin = setting.keys.create_relin_keys()
        self._galois = _rotation_keys(setting, (*_HIDDEN, *_OUTPUT))
        self._model = [
            setting.encryptor.encrypt(setting.encoder.encode(tile, self.SCALE))
            for tile in slot_cube(network, _SIDE)
        ]

    def _product(self, a: Any, b: Any) -> Any:
        evaluator = self._setting.evaluator
        b = evaluator.mod_switch_to(b, a.parms_id())
        product = evaluator.square(a) if a is b else evaluator.multiply(a, b)
        evaluator.relinearize_inplace(product, self._relin)
        evaluator.rescale_to_next_inplace(product)
        # The primes are near 2^30: the difference of the scales is below the noise.
        product.scale(self.SCALE)
        return product

    def _sum(self, a: Any, steps: tuple[int, int]) -> Any:
        evaluator = self._setting.evaluator
        for step in steps:
            a = evaluator.add(a, evaluator.rotate_vector(a, step, self._galois))
        return a

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        w1, b1, w2, b2 = self._model
        evaluator = self._setting.evaluator
        clock = Stopwatch()
        z = self._network.preprocessing.normalise(features)[0]
        encoder = self._setting.encoder
        query = self._setting.encryptor.encrypt(
            encoder.encode(np.tile(z, _SIDE * _SIDE), self.SCALE)
        )
        clock("Enc")
        hidden = self._sum(self._product(query, w1), _HIDDEN)
        hidden = evaluator.add(hidden, evaluator.mod_switch_to(b1, hidden.parms_id()))
        clock("FC1")
        squares = evaluator.square(hidden)
        evaluator.relinearize_inplace(squares, self._relin)
        evaluator.rescale_to_next_inplace(squares)
        squares.scale(self.SCALE)
        clock("ACT")
        output = self._sum(self._product(squares, w2), _OUTPUT)
        output = evaluator.add(output, evaluator.mod_switch_to(b2, output.parms_id()))
        clock("FC2")
        values = encoder.decode(self._setting.decryptor.decrypt(output))
        outputs = _outputs(values, self._network, summed=True)
        clock("Dec")
        self.bytes_up, self.bytes_down = size([query]), size([output])
        return clock.milliseconds, outputs


class TunedCkks:
    """CKKS at N = 4096 with 17 bits of precision: errors below those of hesc's best mode.

    Scales are tracked instead of taken for equal, rotations come before the rescaling that makes
    their noise small, the last product is neither rescaled nor relinearised, and the client takes
    the mean of the copies of its sample that fill the slots.
    """

    SCALE = 2.0**17.3

    def __init__(self, network: SquareNetwork) -> None:
        self._network = network
        chain = primes(4096, [43, 18, 17, 31])
        setting = make("ckks", 4096, chain)
        self._setting = setting
        self._relin = setting.keys.create_relin_keys()
        self._galois = _rotation_keys(setting, _HIDDEN)
        self._copies = setting.encoder.slot_count() // _SIDE**3
        # The scales that products have where a bias meets them, as the server computes them.
        hidden = self.SCALE**2 / chain[2]
        squares = hidden**2 / chain[1]
        self._model = [
            self._encrypt(np.tile(tile, self._copies), scale, dropped)
            for tile, scale, dropped in zip(
                slot_cube(network, _SIDE),
                (self.SCALE, hidden, self.SCALE, squares * self.SCALE),
                (0, 1, 2, 2),
                strict=True,
            )
        ]

    def _encrypt(self, values: NDArray[np.float64], scale: float, dropped: int) -> Any:
        """A part of the model, without the primes that its operands no longer have."""
        setting = self._setting
        result = setting.encryptor.encrypt(setting.encoder.encode(values, scale))
        for _ in range(dropped):
            setting.evaluator.mod_switch_to_next_inplace(result)
        return result

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        w1, b1, w2, b2 = self._model
        setting, clock = self._setting, Stopwatch()
        evaluator, encoder = setting.evaluator, setting.encoder
        z = self._network.preprocessing.normalise(features)[0]
        query = setting.encryptor.encrypt_symmetric(
            encoder.encode(np.tile(z, self._copies * _SIDE**2), self.SCALE)
        )
        clock("Enc")
        hidden = evaluator.relinearize(evaluator.multiply(query, w1), self._relin)
        for step in _HIDDEN:
            evaluator.add_inplace(hidden, evaluator.rotate_vector(hidden, step, self._galois))
        evaluator.rescale_to_next_inplace(hidden)
        evaluator.add_inplace(hidden, b1)
        clock("FC1")
        squares = evaluator.relinearize(evaluator.square(hidden), self._relin)
        evaluator.rescale_to_next_inplace(squares)
        clock("ACT")
        output = evaluator.add(evaluator.multiply(squares, w2), b2)
        clock("FC2")
        values = encoder.decode(setting.decryptor.decrypt(output))
        copies = np.reshape(values, (self._copies, _SIDE**3))
        outputs = _outputs(copies.mean(axis=0), self._network, summed=False)
        clock("Dec")
        self.bytes_up, self.bytes_down = size([query]), size([output])
        return clock.milliseconds, outputs


class LeveledBfv:
    """BFV at N = 8192 with SEAL's default modulus and fixed-point numbers, as in the paper.

    `tuned`: two products are relinearised and two rotations remain.
    """

    PRECISION = 16.0
    """Inputs and weights are multiples of 1/16: five factors and the outputs stay below t / 2."""
    PLAIN_BITS = 26

    def __init__(self, network: SquareNetwork, *, tuned: bool = False) -> None:
        import seal

        self._tuned = tuned

        self._network = network
        moduli = [q.value() for q in seal.CoeffModulus.BFVDefault(8192)]
        t = seal.PlainModulus.Batching(8192, self.PLAIN_BITS).value()
        setting = make("bfv", 8192, moduli, plain_modulus=t)
        self._setting = setting
        self._relin = setting.keys.create_relin_keys()
        self._galois = _rotation_keys(setting, (*_HIDDEN, *_OUTPUT))
        # A bias meets products of two (five) scaled factors.
        powers = (1, 2, 1, 5)
        self._model = [
            setting.encryptor.encrypt(self._encode(tile * self.PRECISION**power))
            for tile, power in zip(slot_cube(network, _SIDE), powers, strict=True)
        ]

    def _encode(self, values: NDArray[np.float64]) -> Any:
        return self._setting.encoder.encode(np.rint(values).astype(np.int64))

    def _sum(self, a: Any, steps: tuple[int, int]) -> Any:
        evaluator = self._setting.evaluator
        for step in steps:
            a = evaluator.add(a, evaluator.rotate_rows(a, step, self._galois))
        return a

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        w1, b1, w2, b2 = self._model
        evaluator = self._setting.evaluator
        clock = Stopwatch()
        z = self._network.preprocessing.normalise(features)[0]
        encryptor = self._setting.encryptor
        encrypt = encryptor.encrypt_symmetric if self._tuned else encryptor.encrypt
        query = encrypt(self._encode(np.tile(z, _SIDE * _SIDE) * self.PRECISION))
        clock("Enc")
        products = evaluator.relinearize(evaluator.multiply(query, w1), self._relin)
        hidden = evaluator.add(self._sum(products, _HIDDEN), b1)
        clock("FC1")
        squares = evaluator.relinearize(evaluator.square(hidden), self._relin)
        clock("ACT")
        output = evaluator.multiply(squares, w2)
        if not self._tuned:
            evaluator.relinearize_inplace(output, self._relin)
            output = self._sum(output, _OUTPUT)
        output = evaluator.add(output, b2)
        clock("FC2")
        values = self._setting.encoder.decode(self._setting.decryptor.decrypt(output))
        scaled = _outputs(values, self._network, summed=not self._tuned)
        clock("Dec")
        self.bytes_up, self.bytes_down = size([query]), size([output])
        return clock.milliseconds, scaled / self.PRECISION**5


class BatchedCkks:
    """CKKS with a sample in each slot: 4096 inferences at once, no rotation.

    Queries are encrypted with the secret key; products are summed before they are relinearised.
    """

    SCALE = LeveledCkks.SCALE

    def __init__(self, network: SquareNetwork) -> None:
        self._network = network
        setting = make("ckks", 8192, primes(8192, [40, 30, 30, 30, 40]))
        self._setting = setting
        self._relin = setting.keys.create_relin_keys()

        def encrypt(values: NDArray[np.float64]) -> NDArray[np.object_]:
            result = np.empty(values.shape, dtype=object)
            for index in np.ndindex(values.shape):
                plain = setting.encoder.encode(float(values[index]), self.SCALE)
                result[index] = setting.encryptor.encrypt(plain)
            return result

        self._w1, self._b1 = encrypt(network.hidden_weights), encrypt(network.hidden_bias)
        self._w2, self._b2 = encrypt(network.output_weights), encrypt(network.output_bias)
        self.samples = setting.encoder.slot_count()

    def _affine(self, inputs: list[Any], weights: Any, bias: Any) -> Any:
        """One neuron: products are summed before they are relinearised."""
        evaluator = self._setting.evaluator
        level = inputs[0].parms_id()
        total = evaluator.add_many(
            [
                evaluator.multiply(x, evaluator.mod_switch_to(w, level))
                for x, w in zip(inputs, weights, strict=True)
            ]
        )
        neuron = self._finish(total)
        return evaluator.add(neuron, evaluator.mod_switch_to(bias, neuron.parms_id()))

    def _finish(self, product: Any) -> Any:
        evaluator = self._setting.evaluator
        evaluator.relinearize_inplace(product, self._relin)
        evaluator.rescale_to_next_inplace(product)
        product.scale(self.SCALE)
        return product

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage for a full batch, and the outputs (samples, outputs)."""
        setting, clock = self._setting, Stopwatch()
        z = self._network.preprocessing.normalise(features)
        query = [
            setting.encryptor.encrypt_symmetric(
                setting.encoder.encode(np.ascontiguousarray(column), self.SCALE)
            )
            for column in z.T
        ]
        clock("Enc")
        hidden = [
            self._affine(query, row, bias) for row, bias in zip(self._w1, self._b1, strict=True)
        ]
        clock("FC1")
        squares = [self._finish(setting.evaluator.square(neuron)) for neuron in hidden]
        clock("ACT")
        outputs = [
            self._affine(squares, row, bias) for row, bias in zip(self._w2, self._b2, strict=True)
        ]
        clock("FC2")
        values = [setting.encoder.decode(setting.decryptor.decrypt(output)) for output in outputs]
        clock("Dec")
        self.bytes_up, self.bytes_down = size(query), size(outputs)
        return clock.milliseconds, np.stack(values, axis=1)[: len(features)]
