"""What parameter sets of all schemes have in common."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar

from hesc._native import HescError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable


class _Compiled(Protocol):
    """A compiled set."""

    def to_bytes(self) -> bytes: ...
    @property
    def name(self) -> str: ...
    @property
    def scheme(self) -> str: ...
    @property
    def coeff_moduli(self) -> list[int]: ...
    @property
    def plain_modulus(self) -> int | None: ...
    @property
    def scale(self) -> float | None: ...
    @property
    def assurance(self) -> str: ...


N = TypeVar("N", bound=_Compiled)
P = ParamSpec("P")
R = TypeVar("R")


def explained(make: Callable[P, R]) -> Callable[P, R]:
    """Arguments of a type or size that nothing takes get an error of ours, which names the call."""

    @wraps(make)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return make(*args, **kwargs)
        except HescError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(
                f"{make.__qualname__}: {error}; its help says what it takes"
            ) from None

    return call


class ParameterSet(Generic[N]):
    """A checked, immutable set with a name. Two sets are equal if their wire forms are."""

    def __init__(self, native: N) -> None:
        self._native = native
        #: The preset's name, or one that says how secure a set of one's own is.
        self.name = native.name

    def to_bytes(self) -> bytes:
        """The wire form: a few hundred bytes at most."""
        return self._native.to_bytes()

    @property
    def native(self) -> N:
        """The compiled object, for this package's own modules."""
        return self._native

    @property
    def scheme(self) -> str:
        """The scheme's name."""
        return self._native.scheme

    @property
    def coeff_moduli(self) -> list[int]:
        """Primes whose product is the modulus of ciphertexts, `q`."""
        return self._native.coeff_moduli

    @property
    def plain_modulus(self) -> int | None:
        """The plaintext modulus, `t`; None for approximate numbers and without a ring."""
        return self._native.plain_modulus

    @property
    def scale(self) -> float | None:
        """What CKKS multiplies numbers with."""
        return self._native.scale

    @property
    def assurance(self) -> str:
        """`"guidelines2024"`, `"hestd2018"`, `"classical128"`, `"symmetric128"` or `"insecure"`.

        `"classical128"` is 128 bits as NIST SP 800-57 counts moduli of 3072 bits and curves of 256;
        RFC 7919 gives the group ffdhe3072 125.
        """
        return self._native.assurance

    def key_readers(self) -> dict[str, Callable[[bytes], Any]]:
        """The parts of `hesc.PublicKeys` that this set has, and what reads each of them."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.to_bytes(), self.assurance)


# A set has tables, and comes with each of its arrays.
@lru_cache(maxsize=8)
def _restored(kind: type[Any], data: bytes, assurance: str) -> Any:
    """The set of a pickle. Who reads pickles trusts them: it has the assurance that it had."""
    lower = assurance if assurance in ("hestd2018", "insecure") else "guidelines2024"
    return kind.from_bytes(data, assurance=lower)
