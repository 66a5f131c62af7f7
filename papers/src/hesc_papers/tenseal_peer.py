"""Linear scores as TenSEAL has them: an encrypted vector times weights in the clear, by CKKS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError

try:
    import tenseal
except ImportError as error:
    raise HescError("TenSEAL is an optional peer: pip install './papers[tenseal]'") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc_papers.linear_models import LinearModel

_DEGREE: Final = 4096
_BITS: Final = (40, 20, 40)


class _Product:
    """Client and server, which exchange bytes; keys for rotations are there before."""

    RATIO: Final = "vs_tenseal"
    NOTE: Final = (
        "TenSEAL: N = 4096, primes of 40, 20 and 40 bits, one thread, CKKSVector.mm and a "
        "CKKSVector.dot for each output; ratios are of the faster and of the smaller; its rotation "
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
        self._model = model
        self.sizes = (0, 0)

    def run(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of samples, one after the other."""
        return np.array([self._one(sample) for sample in samples])

    def _one(self, sample: NDArray[np.float64]) -> list[float]:
        query = tenseal.ckks_vector(self._client, sample.tolist()).serialize()
        received = tenseal.ckks_vector_from(self._server, query)
        answers = [vector.serialize() for vector in self._scores(received)]
        self.sizes = (len(query), sum(map(len, answers)))
        found = [tenseal.ckks_vector_from(self._client, data).decrypt() for data in answers]
        return [score for scores in found for score in scores]

    def _scores(self, received: Any) -> list[Any]:
        """The server's part: vectors that have all scores one after the other."""
        raise NotImplementedError

    def row(self) -> dict[str, Any]:
        """The columns of the report that this peer fills."""
        up, down = self.sizes
        bits = float(sum(_BITS[:-1]))
        return {"ring degree": _DEGREE, "bits of q": bits, "bytes up": up, "bytes down": down}


class MatrixProduct(_Product):
    """A product with the matrix: one answer."""

    def __init__(self, model: LinearModel) -> None:
        super().__init__(model)
        self._weights = model.weights.T.tolist()
        self._intercepts = model.intercepts.tolist()

    def _scores(self, received: Any) -> list[Any]:
        return [received.mm(self._weights) + self._intercepts]


class DotProducts(_Product):
    """An inner product for each output: faster, with an answer each."""

    def __init__(self, model: LinearModel) -> None:
        super().__init__(model)
        self._rows = list(zip(model.weights.tolist(), model.intercepts.tolist(), strict=True))

    def _scores(self, received: Any) -> list[Any]:
        return [received.dot(row).add([intercept]) for row, intercept in self._rows]


class Matrices:
    """Products of matrices as TenSEAL has them: tensors with a ciphertext for each entry.

    Args:
        scheme: "bfv" or "ckks", at ring degree 8192.

    """

    def __init__(self, scheme: str) -> None:
        self._ckks = scheme == "ckks"
        if self._ckks:
            self._context: Any = tenseal.context(
                tenseal.SCHEME_TYPE.CKKS, 8192, coeff_mod_bit_sizes=[60, 40, 40, 60], n_threads=1
            )
            self._context.global_scale = 2**40
            self._context.generate_galois_keys()
        else:
            self._context = tenseal.context(
                tenseal.SCHEME_TYPE.BFV, 8192, plain_modulus=1032193, n_threads=1
            )

    def plain(self, matrix: NDArray[Any]) -> Any:
        """A matrix in the clear."""
        return tenseal.plain_tensor(matrix.tolist(), dtype="float" if self._ckks else "int")

    def encrypt(self, matrix: NDArray[Any]) -> Any:
        """An encrypted matrix."""
        plain = self.plain(matrix)
        if self._ckks:
            return tenseal.ckks_tensor(self._context, plain, batch=False)
        return tenseal.bfv_tensor(self._context, plain, batch=False)

    def row(self, numbers: NDArray[Any]) -> Any:
        """A matrix of one row for CKKS: a vector in one ciphertext, which takes clear matrices."""
        return tenseal.ckks_vector(self._context, numbers.tolist())

    @staticmethod
    def decrypt(product: Any, shape: tuple[int, int]) -> NDArray[Any]:
        """A product's entries."""
        found = product.decrypt()
        return np.array(found if isinstance(found, list) else found.tolist()).reshape(shape)
