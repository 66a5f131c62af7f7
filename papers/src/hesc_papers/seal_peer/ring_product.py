"""The trick of ring products with SEAL: features and weights in coefficients, one product.

BFV, since the wheel sets coefficients of its plaintexts: at `N = 1024` the 27 bits that SEAL allows
hold no plaintext modulus for these scores beside the noise of ten outputs' weights, so that
`N = 2048` with one prime of 54 bits is the smallest set. Pixels are whole numbers, hence exact;
weights are rounded to the scale that fills the plaintext modulus. Weights wait as evaluations;
queries are encrypted under the secret key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import seal

from hesc_papers.seal_peer.setup import make, primes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc_papers.linear_models import LinearModel

_DEGREE: Final = 2048
_PLAIN_MODULUS: Final = 1 << 20


class RingProduct:
    """Client and server, which exchange bytes."""

    RATIO: Final = "vs_seal_ring_product"
    NOTE: Final = (
        "SEAL: the same product of polynomials in BFV, one prime of 54 bits, plaintext modulus "
        "2^20; its wheel writes both parts of a query, and no seed"
    )

    def __init__(self, model: LinearModel) -> None:
        setting = make(
            "bfv",
            _DEGREE,
            primes(_DEGREE, [54]),
            plain_modulus=_PLAIN_MODULUS,
            packing="coefficients",
        )
        self._setting = setting
        self._outputs, self._features = model.weights.shape
        # Pixels less 8 are from -8 to 8.
        self._middle = (model.low + model.high) / 2
        largest = (np.abs(model.weights) * (model.high - model.low) / 2).sum(axis=1).max()
        self._scale = (_PLAIN_MODULUS / 2 - 9 * self._features) / largest
        rows = np.rint(model.weights * self._scale).astype(np.int64)
        polynomial = rows[:, ::-1].reshape(-1)
        plain = setting.encoder.encode(polynomial % _PLAIN_MODULUS)
        first = setting.context.first_parms_id()
        self._weights = setting.evaluator.transform_to_ntt(plain, first)
        self._places = self._features * (1 + np.arange(self._outputs)) - 1
        self._constants = model.weights @ self._middle + model.intercepts
        self.sizes = (0, 0)

    def run(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of samples, one after the other."""
        return np.array([self._one(sample) for sample in samples])

    def _one(self, sample: NDArray[np.float64]) -> NDArray[np.float64]:
        setting = self._setting
        features = np.rint(sample - self._middle).astype(np.int64) % _PLAIN_MODULUS
        query = setting.encryptor.encrypt_symmetric(setting.encoder.encode(features)).to_string()
        # Server.
        product: Any = seal.Ciphertext()
        product.load_bytes(setting.context, query)
        setting.evaluator.transform_to_ntt_inplace(product)
        setting.evaluator.multiply_plain_inplace(product, self._weights)
        setting.evaluator.transform_from_ntt_inplace(product)
        answer = product.to_string()
        # Client.
        found: Any = seal.Ciphertext()
        found.load_bytes(setting.context, answer)
        values = setting.encoder.decode(setting.decryptor.decrypt(found))[self._places]
        centred = np.where(values >= _PLAIN_MODULUS // 2, values - _PLAIN_MODULUS, values)
        self.sizes = (len(query), len(answer))
        scores: NDArray[np.float64] = centred / self._scale + self._constants
        return scores

    def row(self) -> dict[str, Any]:
        """The columns of the report that this peer fills."""
        up, down = self.sizes
        return {"ring degree": _DEGREE, "bits of q": 54.0, "bytes up": up, "bytes down": down}
