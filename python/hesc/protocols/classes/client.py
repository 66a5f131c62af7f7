"""The client of a decision: it encrypts quantised features and reads classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc import integers
from hesc._native import DecryptionError, KeyMismatchError, ParameterError
from hesc._support.inputs import as_many
from hesc.integers import IntegerAnswer
from hesc.integers.secret import decrypt_integers, encrypt_integers
from hesc.models.samples import Result
from hesc.protocols.classes.plan import ClassPlan
from hesc.protocols.classes.whole_models import index_kind
from hesc.protocols.client import PartsClient

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.vectors.keys import PublicKeys

_PROBES: Final = 64
"""Bits that a pair of keys is tried on."""


class ClassClient(PartsClient[Result]):
    """Encrypts samples as whole numbers for a server that compares, and reads classes."""

    plan_type: ClassVar[type[ClassPlan]] = ClassPlan
    plan: ClassPlan

    def _reads(self, keys: PublicKeys) -> bool:
        """Whether public keys are of the secret key's pair, by bits that they encrypt."""
        bits = np.arange(_PROBES) % 2
        try:
            found = decrypt_integers(self.secret, integers.encrypt(keys, bits, "uint1"))
        except (KeyMismatchError, DecryptionError):
            return False
        return np.array_equal(found, bits)

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """A ciphertext, or block of encrypted bits, for each word of features."""
        words = self.plan.words
        numbers = words.numbers(self.plan.quantised(features))
        return [
            self._word(word, str(kind)) for word, kind in zip(numbers, words.kinds, strict=True)
        ]

    def _word(self, numbers: NDArray[Any], kind: str) -> bytes:
        if not self.plan.encrypts_publicly:
            made: bytes = encrypt_integers(self.secret, numbers, kind, layout=self.plan.upload)
            return made
        if self.keys is None:
            raise ParameterError(
                "bits that bootstrap are encrypted under the public key: give keys=, the bytes "
                "that public_keys() gave when the secret key was made"
            )
        return integers.encrypt(self.keys, numbers, kind).to_bytes()

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """The class of each sample.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        params: Any = self.plan.params
        read = IntegerAnswer.from_bytes if self.plan.encrypts_publicly else integers.read
        places = np.asarray(decrypt_integers(self.secret, read(params, parts[0])))
        classes = len(self.plan.classes)
        if places.dtype != index_kind(classes).numpy:
            raise DecryptionError("the answer holds other numbers than places of classes")
        as_many(len(places), samples)
        if (places >= classes).any():
            raise DecryptionError("the answer names a class that there is not")
        return Result(self.plan.predictions(places), None, None)
