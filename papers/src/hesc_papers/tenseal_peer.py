"""Linear scores as TenSEAL has them: an encrypted vector times a matrix in the clear, by CKKS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError

try:
    import tenseal
except ImportError as error:
    raise HescError("TenSEAL is an optional peer: pip install 'hesc-papers[tenseal]'") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc_papers.linear_models import LinearModel

_DEGREE: Final = 4096
_BITS: Final = (40, 20, 40)


class MatrixProduct:
    """Client and server, which exchange bytes; keys for rotations are there before."""

    RATIO: Final = "vs_tenseal"
    NOTE: Final = (
        "TenSEAL: CKKSVector.mm, N = 4096, primes of 40, 20 and 40 bits, one thread; its rotation "
        "keys, sent once, are not counted"
    )

    def __init__(self, model: LinearModel) -> None:
        self._client: Any = tenseal.context(
            tenseal.SCHEME_TYPE.CKKS, _DEGREE, coeff_mod_bit_sizes=list(_BITS), n_threads=1
        )
        self._client.global_scale = 2**20
        self._client.generate_galois_keys()
        public = self._client.serialize(save_secret_key=False, save_galois_keys=True)
        self._server: Any = tenseal.context_from(public, n_threads=1)
        self._weights = model.weights.T.tolist()
        self._intercepts = model.intercepts.tolist()
        self.sizes = (0, 0)

    def run(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of samples, one after the other."""
        return np.array([self._one(sample) for sample in samples])

    def _one(self, sample: NDArray[np.float64]) -> list[float]:
        query = tenseal.ckks_vector(self._client, sample.tolist()).serialize()
        received = tenseal.ckks_vector_from(self._server, query)
        answer = (received.mm(self._weights) + self._intercepts).serialize()
        self.sizes = (len(query), len(answer))
        scores: list[float] = tenseal.ckks_vector_from(self._client, answer).decrypt()
        return scores

    def row(self) -> dict[str, Any]:
        """Its columns of the report."""
        up, down = self.sizes
        bits = float(sum(_BITS[:-1]))
        return {"ring degree": _DEGREE, "bits of q": bits, "bytes up": up, "bytes down": down}
