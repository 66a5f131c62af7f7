"""The client of a decision: it encrypts quantised features and reads classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc import integers
from hesc._native import DecryptionError, KeyMismatchError, ParameterError
from hesc._support.inputs import of_kind
from hesc.integers import IntegerAnswer
from hesc.integers.secret import decrypt_integers, encrypt_integers
from hesc.models.samples import Result
from hesc.params.vectors import VectorParams
from hesc.protocols import frames
from hesc.protocols.classes.models import index_kind
from hesc.protocols.classes.plan import ClassPlan
from hesc.protocols.classes.server import ANSWER, QUERY, public_of
from hesc.protocols.holding import KeyHolder
from hesc.secret import SecretKey, keygen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.vectors.keys import PublicKeys


_PROBES: Final = 64
"""Bits that a pair of keys is tried on."""


class ClassClient(KeyHolder[Result]):
    """A plan and a secret key. Not printed with it, copied or pickled; needs no scikit-learn.

    Args:
        plan: what the model's owner sent, see `ClassPlan.from_bytes`. Print it before you use it.
        secret: a key of the plan's parameters that was kept, `SecretKey.load`; without it a new
            pair is made.
        keys: what `public_keys` gave when that key was made. Answers are read without them, and
            samples are encrypted without them where `plan.encrypts_publicly` is False.

    Raises:
        ParameterError, WireError: keys of other parameters, or damaged.
        KeyMismatchError: keys of another pair, where samples are encrypted under them.

    """

    plan: ClassPlan
    secret: SecretKey
    _takes_keys: ClassVar[bool] = True

    def __init__(
        self,
        plan: ClassPlan,
        *,
        secret: SecretKey | None = None,
        keys: bytes | None = None,
    ) -> None:
        self.plan = of_kind(plan, "plan", ClassPlan, "ClassPlan.from_bytes reads one")
        params = plan.params
        self._keys = keys
        self._public: PublicKeys | None = None
        if secret is not None:
            self.secret = of_kind(secret, "secret", SecretKey, "hesc.keygen's first")
            if secret.params.native.fingerprint != params.native.fingerprint:
                raise ParameterError(f"the secret key is of another set than {plan.preset}")
            if keys is not None:
                self._public = public_of(plan, keys)
                self._check_pair()
        elif keys is not None:
            raise ParameterError("keys= comes with the secret= that it was made with")
        elif isinstance(params, VectorParams):
            self.secret, public = keygen(params, unpacking=plan.upload == "packed")
            self._public = public
        else:
            self.secret, self._public = keygen(params)

    def _check_pair(self) -> None:
        """Refuses a public key of another pair, whose bits the secret one would not decrypt.

        It does not tell a key that was made to hide nothing: who keeps it sees to that.
        """
        if self._public is None or not self.plan.encrypts_publicly:
            return
        bits = np.arange(_PROBES) % 2
        found = decrypt_integers(self.secret, integers.encrypt(self._public, bits, "uint1"))
        if not np.array_equal(found, bits):
            raise KeyMismatchError("keys= are of another pair than the secret key; give its own")

    def _public_form(self) -> bytes | None:
        """Made once: tens of megabytes, `plan.costs["keys"]`."""
        if self._keys is None and self._public is not None:
            public = self._public
            if self.plan.encrypts_publicly:
                public = self.secret.with_bootstrapping(public)
            self._keys = public.to_bytes()
        return self._keys

    def _encrypted(self, features: NDArray[np.float64]) -> bytes:
        steps = self.plan.quantised(features)
        words = self.plan.words
        numbers = zip(words.numbers(steps), words.kinds, strict=True)
        parts = [self._word(word, str(kind)) for word, kind in numbers]
        return frames.join(QUERY, [self.plan.digest, *parts])

    def _word(self, numbers: NDArray[Any], kind: str) -> bytes:
        if not self.plan.encrypts_publicly:
            return encrypt_integers(self.secret, numbers, kind, layout=self.plan.upload)
        if self._public is None:
            raise ParameterError(
                "bits that bootstrap are encrypted under the public key: give keys=, the bytes "
                "that public_keys() gave when the secret key was made"
            )
        return integers.encrypt(self._public, numbers, kind).to_bytes()

    def _decrypted(self, answer: bytes) -> Result:
        named, data = frames.split(answer, ANSWER, 2)
        self.plan.check_named(named, "answer")
        params = self.plan.params
        sent: Any
        if isinstance(params, VectorParams):
            sent = integers.read(params, data)
        else:
            sent = IntegerAnswer.from_bytes(params, data)
        places = np.asarray(decrypt_integers(self.secret, sent))
        kind = index_kind(len(self.plan.classes))
        if len(places) > self.plan.rows or places.dtype != kind.numpy:
            raise DecryptionError("the answer holds other numbers than places of classes")
        if (places >= len(self.plan.classes)).any():
            raise DecryptionError("the answer names a class that there is not")
        return Result(self.plan.predictions(places), None, None)
