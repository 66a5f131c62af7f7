"""The algorithm of koseki2022hesc section 4.3 on SEAL: one stream per ciphertext."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._support.stages import Stopwatch
from hesc.streams.encoding import Encoder
from hesc_papers.seal_peer.setup import make, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.streams.networks import SquareNetwork

    Array = NDArray[np.object_]

COPIES = 2
BASE = 6


class LayeredPeer:
    """HESC on SEAL's BFV or CKKS, with or without fusion in base 6.

    Streams are one block long: `ring_degree` bits, in the slots of BFV or in both parts of the
    complex slots of CKKS.
    """

    def __init__(
        self,
        network: SquareNetwork,
        scheme: str,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        *,
        plain_modulus: int | None = None,
        scale: float = 0.0,
        digits: int = 1,
        stream_length: int | None = None,
    ) -> None:
        self._network = network
        self._setting = make(scheme, ring_degree, coeff_moduli, plain_modulus=plain_modulus)
        self._ckks = scheme == "ckks"
        self._scale = scale
        self._length = stream_length or ring_degree
        self._ring_degree = ring_degree
        self._digits = digits
        # hesc's: encoding is no matter of the scheme.
        self._encoder = Encoder(self._length, generator="bernoulli")
        encrypt = self._encrypt
        # Allocated once: fresh pages would cost the peer a millisecond each run.
        results = len(network.classes) * (
            len(network.hidden_bias) * (network.preprocessing.inputs + 1) ** 2 + 1
        )
        self._counts = np.empty((results, ring_degree), dtype=np.int64)
        self._w1 = [encrypt(self._b2s(network.hidden_weights)) for _ in range(COPIES)]
        self._b1 = [encrypt(self._b2s(network.hidden_bias)) for _ in range(COPIES)]
        self._w2 = encrypt(self._b2s(network.output_weights))
        self._b2 = encrypt(self._b2s(network.output_bias))
        if digits > 1:
            self._base = self._setting.encoder.encode(np.full(ring_degree, BASE, dtype=np.int64))
            # The parity of each digit of a sum, the highest digit first.
            sums = np.arange(BASE**digits)
            self._parities = [
                (sums // BASE**height % BASE & 1).astype(np.uint8)
                for height in range(digits - 1, -1, -1)
            ]

    # Streams ------------------------------------------------------------------------------------

    def _b2s(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Bits (..., stream length) of inverted bipolar numbers, independent."""
        return self._encoder.encode(values).bits.astype(np.int64)

    def _encrypt(self, bits: NDArray[np.int64]) -> Array:
        encoder, encryptor = self._setting.encoder, self._setting.encryptor
        result = np.empty(bits.shape[:-1], dtype=object)
        for index in np.ndindex(result.shape):
            row = bits[index]
            if self._ckks:
                low, high = np.split(row.astype(np.float64), 2)
                plain = encoder.encode_complex(low + 1j * high, self._scale)
            else:
                plain = encoder.encode(row)
            result[index] = encryptor.encrypt(plain)
        return result

    def _decrypt(self, ciphertexts: list[Any]) -> NDArray[np.int64]:
        encoder, decryptor = self._setting.encoder, self._setting.decryptor
        counts = self._counts[: len(ciphertexts)]
        for row, ciphertext in zip(counts, ciphertexts, strict=True):
            plain = decryptor.decrypt(ciphertext)
            if self._ckks:
                values = encoder.decode_complex(plain)
                row[:] = np.rint(np.concatenate([values.real, values.imag]))
            else:
                # `decode` centres: digits may fill all of the modulus.
                row[:] = encoder.decode_uint64(plain)
        return counts[:, : self._length] if self._digits == 1 else counts

    def _add(self, left: Array, right: Array) -> Array:
        left, right = np.broadcast_arrays(left, right)
        add = self._setting.evaluator.add
        flat = [add(a, b) for a, b in zip(left.ravel(), right.ravel(), strict=True)]
        result = np.empty(len(flat), dtype=object)
        result[:] = flat
        return result.reshape(left.shape)

    # One inference --------------------------------------------------------------------------------

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs for one sample (1, inputs)."""
        clock = Stopwatch()
        z = self._network.preprocessing.normalise(features)[0]
        bits = [self._b2s(z) for _ in range(COPIES)]
        clock("B2S")
        query = [self._encrypt(copy) for copy in bits]
        clock("Enc")
        hidden = [
            np.concatenate([self._add(x[np.newaxis], w), b[:, np.newaxis]], axis=1)
            for x, w, b in zip(query, self._w1, self._b1, strict=True)
        ]
        clock("FC1")
        squares = self._add(hidden[0][:, :, np.newaxis], hidden[1][:, np.newaxis, :])
        clock("ACT")
        terms = squares.reshape(len(squares), -1)
        products = self._add(terms[np.newaxis], self._w2[:, :, np.newaxis])
        outputs = len(products)
        results = [*products.ravel(), *self._b2]
        clock("FC2")
        sent = self._fuse(results) if self._digits > 1 else results
        if self._digits > 1:
            clock("Fusion")
        counts = self._decrypt(sent)
        clock("Dec")
        if self._digits > 1:
            odd = self._separate(counts, len(results))
            clock("Separation")
        else:
            odd = np.bitwise_and(counts, 1, out=counts)
        values = 1 - 2 * odd.sum(axis=1, dtype=np.int64) / self._length
        sums = values[:-outputs].reshape(outputs, -1).sum(axis=1) + values[-outputs:]
        clock("S2B")
        self.bytes_up = sum(size(list(copy.ravel())) for copy in query)
        self.bytes_down = size(sent)
        return clock.milliseconds, sums

    def _fuse(self, results: list[Any]) -> list[Any]:
        evaluator, fused = self._setting.evaluator, []
        for start in range(0, len(results), self._digits):
            digit, *rest = results[start : start + self._digits]
            for lower in rest:
                digit = evaluator.multiply_plain(digit, self._base)
                evaluator.add_inplace(digit, lower)
            fused.append(digit)
        return fused

    def _separate(self, counts: NDArray[np.int64], results: int) -> NDArray[np.uint8]:
        """Parities (results, stream length)."""
        # The last ciphertext may hold fewer: its digits are the lowest.
        missing = -results % self._digits
        used = counts[:, : self._length]
        separated = np.stack([np.take(table, used) for table in self._parities], axis=1)
        separated = separated.reshape(-1, self._length)
        first = len(separated) - self._digits
        return np.delete(separated, np.s_[first : first + missing], axis=0)
