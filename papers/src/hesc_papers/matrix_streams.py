"""Products of encrypted matrices by streams: lengths chosen by the law of errors, and measured.

A term of an entry is an addition of ciphertexts, and sums are lists of places: no product of
ciphertexts, no rotation and no key but the public one. What it costs is bytes of the answer, which
holds every term, and that the key owner sees every term. Sums by selection (koseki2022hesc
algorithm 3, the conventional way) answer with one stream for each entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc_papers.matrix_slots import timed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.params import StreamParams

KINDS: Final = ("both encrypted", "right in the clear", "both encrypted, selected")
# Root mean squares that entries shall keep.
WANTED: Final = (0.1, 0.025)
SET: Final = "bfv_1024"
SELECTING: Final = "bfv_2048_slots"
LENGTHS: Final = (64, 128, 256, 512, 1024)
# What a stream may have at most where a mask selects: the whole block.
LONGEST: Final = 2048
# Bytes of ciphertexts that a product may take at once, by concatenation and by selection, which
# copies every term for its mask.
MOST_BYTES: Final = {False: 1 << 31, True: 5 << 28}
# Entries that a figure of errors is of, about.
ENTRIES: Final = 4000


def stated(kind: str, inner: int, stream_length: int) -> float:
    """Root mean square error of entries, of matrices uniform in [-1, 1] and Sobol streams.

    Terms err independently: concatenated, their variances add. A selection shows one term at each
    position, `(inner^2 - f^2) / L`, and the mean of `f^2` is `inner / 9`.
    """
    if kind.endswith("selected"):
        return math.sqrt((inner**2 - inner / 9) / stream_length)
    rng, law = np.random.default_rng(0), hesc.Encoder(stream_length, random_state=0)
    x, y = rng.uniform(-1, 1, (2, 1000))
    if kind == "both encrypted":
        variances = law.predicted_error(x * y, 2) ** 2
    else:
        variances = y**2 * law.predicted_error(x) ** 2
    return math.sqrt(inner * float(np.mean(variances)))


def _root_mean_square(arrays: list[NDArray[Any]]) -> float:
    return float(np.sqrt(np.mean(np.square(arrays))))


@dataclass(frozen=True)
class StreamProduct:
    """Products of matrices of a shape by streams of a length."""

    kind: str
    shape: tuple[int, int, int]
    stream_length: int

    @classmethod
    def all(cls, shape: tuple[int, int, int]) -> list[StreamProduct]:
        """By concatenation with the shortest streams for each wanted error; by selection once."""
        found = []
        for kind in KINDS[:2]:
            for wanted in WANTED:
                fit = [n for n in LENGTHS if stated(kind, shape[1], n) <= wanted]
                found += [cls(kind, shape, fit[0])] if fit else []
        return [*dict.fromkeys(found), cls(KINDS[2], shape, LONGEST)]

    @property
    def params(self) -> StreamParams:
        """Selections are products with masks, which take slots."""
        found: StreamParams = hesc.Params.preset(SELECTING if self._selects else SET)
        return found

    @property
    def _selects(self) -> bool:
        return self.kind.endswith("selected")

    @property
    def _clear(self) -> bool:
        return self.kind.endswith("clear")

    @property
    def band(self) -> int:
        """Rows of the left matrix that are multiplied at once: all, or a part of as many others.

        No row meets another, so that what one band takes all take.
        """
        rows, inner, columns = self.shape
        if self._clear:
            return rows
        params = self.params
        degree = params.ring_degree or 0
        row = 8 * degree * len(params.coeff_moduli) * inner * columns * self.stream_length // degree
        fit = [
            n for n in range(1, rows + 1) if rows % n == 0 and n * row <= MOST_BYTES[self._selects]
        ]
        return fit[-1] if fit else 1

    def encrypt(
        self, public: hesc.PublicKeys, matrices: tuple[NDArray[Any], NDArray[Any]], seed: int
    ) -> tuple[hesc.EncryptedArray, Any]:
        """Both matrices, or the left one and numbers; the right one as its transpose."""
        left, right = (
            hesc.Encryptor(
                public, self.stream_length, first_dimension=place, random_state=2 * seed + place
            )
            for place in range(2)
        )
        x, y = matrices
        return left.encrypt(x), y if self._clear else right.encrypt(y.T)

    def multiply(self, x: hesc.EncryptedArray, y: Any, seed: int) -> hesc.EncryptedArray:
        """The encrypted product of the first band of rows."""
        product: hesc.EncryptedArray
        x = x[: self.band]
        if self._selects:
            terms = x[:, np.newaxis, :] * y[np.newaxis, :, :]
            product = terms.multiplexed_sum(axis=-1, random_state=seed)
        else:
            product = x @ (y if self._clear else y.T)
        return product

    def _matrices(self, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
        rows, inner, columns = self.shape
        rng = np.random.default_rng(seed)
        return rng.uniform(-1, 1, (rows, inner)), rng.uniform(-1, 1, (inner, columns))

    def errors(self, draws: int) -> tuple[float, float]:
        """Root mean square of the errors, and of these over the reported ones.

        What encrypts nothing has the same streams.
        """
        secret, public = hesc.keygen(self.params, mode="simulate")
        decryptor = hesc.Decryptor(secret)
        found, scaled = [], []
        for seed in range(draws):
            matrices = self._matrices(seed)
            product = self.multiply(*self.encrypt(public, matrices, seed), seed)
            values, reported = decryptor.decrypt(product, return_std=True)
            found.append(values - matrices[0][: self.band] @ matrices[1])
            scaled.append(found[-1] / reported)
        return _root_mean_square(found), _root_mean_square(scaled)

    def row(self, rounds: int, *, quick: bool) -> dict[str, Any]:
        """What is counted and measured; of a band as often as there are bands."""
        rows, inner, columns = self.shape
        bands = rows // self.band
        secret, public = hesc.keygen(self.params)
        decryptor, matrices = hesc.Decryptor(secret), self._matrices(0)
        operands = self.encrypt(public, matrices, 0)
        product = self.multiply(*operands, 0)
        answer = product.answer()
        values, reported = decryptor.decrypt(answer, return_std=True)
        exact = matrices[0][: self.band] @ matrices[1]
        if np.abs((values - exact) / reported).max() > 6:
            raise RuntimeError("an entry is further off than six of its standard errors")
        timing = timed(lambda: self.multiply(*operands, 0).answer(), rounds)
        error, scaled = self.errors(3 if quick else max(3, ENTRIES // (self.band * columns)))
        seeded = hesc.SecretEncryptor(secret, self.stream_length)
        encrypted = matrices[: 1 if self._clear else 2]
        blocks = [operand.native.blocks for operand in operands[: len(encrypted)]]
        return {
            "candidate": f"hesc: streams of {self.stream_length}, "
            f"{' x '.join(map(str, self.shape))}, {self.kind}",
            "ciphertexts up": sum(blocks),
            "down": bands * product.native.blocks,
            "rows at once": self.band,
            "products": 0,
            "masks": rows * inner * columns if self._selects else 0,
            "rotations": 0,
            "depth": 0,
            "levels": 0,
            "keys for them": 0,
            "MB of keys": len(public.to_bytes()) / 1e6,
            "MB up": sum(len(seeded.encrypt(matrix).to_bytes()) for matrix in encrypted) / 1e6,
            "MB down": bands * len(answer.to_bytes()) / 1e6,
            "ms": 1e3 * bands * timing.seconds,
            "T": bands * timing.units,
            "ms to encrypt": 1e3 * timed(lambda: self.encrypt(public, matrices, 0), rounds).seconds,
            "ms to decrypt": 1e3 * bands * timed(lambda: decryptor.decrypt(answer), rounds).seconds,
            "error": error,
            "error stated": stated(self.kind, inner, self.stream_length),
            "over reported": scaled,
        }
