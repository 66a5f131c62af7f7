"""Keys that servers compute with, and ciphertexts that are bound to them. Nothing can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hesc._native import ParameterError
from hesc._support.inputs import of_kind
from hesc._support.pickling import ByWireForm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hesc import _native
    from hesc.params.vectors import VectorParams

NO_RELIN = "products need the relinearisation key; make the keys with products=True"


class EvaluationKeys(ByWireForm):
    """The keys of `hesc.PublicKeys` that products and rotations need, None where there are none."""

    params: VectorParams

    relin: _native.RelinKey | None
    """The key that brings products back to two components."""
    galois: _native.GaloisKeys | None
    """The keys that move values."""


class Bindable:
    """Ciphertexts that are read without keys; `with_keys` binds those that products need.

    Results are bound if an operand is, so that one of them is enough.
    """

    params: VectorParams
    keys: EvaluationKeys | None

    def with_keys(self: BindableT, keys: EvaluationKeys) -> BindableT:
        """The same values, to be computed with under these keys: `hesc.PublicKeys`.

        Raises:
            ParameterError: keys of another parameter set. Those of another secret key are refused
                by what computes with them.

        """
        of_kind(keys, "keys", EvaluationKeys, "give the public keys that keygen returns")
        if keys.params != self.params:
            raise ParameterError(
                f"these keys are of {keys.params.name} and the {type(self).__name__} of "
                f"{self.params.name}; give those of one set"
            )
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound.keys = keys
        return bound

    def __reduce__(self) -> tuple[Any, ...]:
        whole: Any = self
        return _restored, (type(self), self.params, whole.to_bytes(), self.keys)


BindableT = TypeVar("BindableT", bound=Bindable)


class OneCiphertext(Bindable):
    """Values in one ciphertext, and what it tells without a key."""

    def __init__(
        self, params: VectorParams, native: _native.Ciphertext, keys: EvaluationKeys | None
    ) -> None:
        self.params = params
        self.native = native
        self.keys = keys
        #: Which of `params.levels` it is at, the lowest is 1; each CKKS product takes one.
        self.level = native.level
        #: Bits of room before an operation is refused, from public data.
        self.noise_budget = native.noise_budget


def _restored(kind: Any, params: VectorParams, data: bytes, keys: EvaluationKeys | None) -> Any:
    """What a pickle holds; keys that several ciphertexts are bound to travel once."""
    read = kind.from_bytes(params, data)
    return read if keys is None else read.with_keys(keys)


def keys_of(*operands: Bindable) -> EvaluationKeys | None:
    """What a result is bound to: the keys of the first operand that has some."""
    return next((operand.keys for operand in operands if operand.keys is not None), None)


def relin_of(operands: Iterable[Bindable]) -> _native.RelinKey:
    """The key that brings products back to two components, of whichever operand has it.

    Raises:
        ParameterError: none has.

    """
    bound = _bound(operands, "products")
    found = next((keys.relin for keys in bound if keys.relin is not None), None)
    if found is None:
        raise ParameterError(NO_RELIN)
    return found


def galois_of(operands: Iterable[Bindable], remedy: str) -> _native.GaloisKeys:
    """The keys that move values, of whichever operand has them.

    Raises:
        ParameterError: none has; `remedy` is how keys are made with them.

    """
    bound = _bound(operands, "rotations")
    found = next((keys.galois for keys in bound if keys.galois is not None), None)
    if found is None:
        raise ParameterError(f"rotations need keys; make them with {remedy}")
    return found


def _bound(operands: Iterable[Bindable], what: str) -> list[EvaluationKeys]:
    bound = [operand.keys for operand in operands if operand.keys is not None]
    if not bound:
        raise ParameterError(
            f"{what} need public keys, and ciphertexts are read without: bind them first, "
            "x.with_keys(public)"
        )
    return bound
