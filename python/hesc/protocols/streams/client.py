"""The client of a network on streams: it encrypts products of features and reads outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hesc._native import WireError
from hesc.protocols.client import PartsClient
from hesc.protocols.streams.plan import StreamPlan
from hesc.secret import Decryptor, SecretEncryptor
from hesc.streams.arrays import Answer, answer_claims
from hesc.streams.networks.monomial import QUERY_DIMENSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class StreamResult(NamedTuple):
    """What an answer says, for the client's eyes: whoever it is shown to learns of the key."""

    predictions: NDArray[Any]
    """Classes by the highest output."""
    scores: NDArray[np.float64]
    """Outputs of the network, a row for each sample and a column for each class."""
    error: float
    """The root mean square of the scores' errors, at most, as the plan states it."""
    errors: NDArray[np.float64]
    """Standard errors of the scores, each by what its own bits tell."""


class StreamClient(PartsClient[StreamResult]):
    """A plan and a secret key: see `ModelClient`, whose arguments and methods it has."""

    plan_type = StreamPlan
    plan: StreamPlan

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """Streams of the products of features, in one array."""
        # Queries meet the model and never each other: each takes the one dimension anew.
        encryptor = SecretEncryptor(
            self.secret,
            self.plan.stream_length,
            layout=self.plan.layout,
            first_dimension=QUERY_DIMENSION,
        )
        return [encryptor.encrypt(features).to_bytes()]

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> StreamResult:
        """Outputs with their errors, and classes.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`; outputs of
                another number of samples, classes or bits, before they are read.

        """
        shape, length = answer_claims(parts[0])
        if (shape, length) != ((samples, self.plan.outputs), self.plan.stream_length):
            raise WireError(
                f"an answer of shape {shape}, of streams of {length} bits, is none of {samples} "
                f"samples and {self.plan.outputs} classes, of {self.plan.stream_length} bits"
            )
        answer = Answer.from_bytes(self.plan.params, parts[0])
        values, errors = Decryptor(self.secret).decrypt(answer, return_std=True)
        return StreamResult(self.plan.predictions(values), values, self.plan.error, errors)
