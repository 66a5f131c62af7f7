"""What Python and numpy would do with numbers, and nobody can do with encrypted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never


class Opaque:
    """Encrypted values: no numbers come out of them, and nothing in them can be compared.

    Python would make up an answer where none is given: `x == y` by identity, `if x:` by its length,
    `np.array(x)` an array of objects. These raise `TypeError` instead and say what to do.
    """

    # numpy arrays on the left defer to the operators of the subclass.
    __array_ufunc__ = None
    # Equality is refused, so that there is nothing to hash by.
    __hash__ = None  # type: ignore[assignment]

    def _refuse(self, what: str, instead: str) -> Never:
        raise TypeError(f"{what} of {type(self).__name__}: its values are encrypted; {instead}")

    if not TYPE_CHECKING:  # Type checkers would take `array * self` for numpy's product.

        def __array__(self, dtype: object = None, copy: object = None) -> Never:
            self._refuse(
                "no numpy array",
                "decrypt first, or join arrays with `concatenate` to stay encrypted",
            )

    def __bool__(self) -> bool:  # noqa: PLE0304 - it never returns
        self._refuse("no truth value", "decrypt first, or decide under encryption (hesc.gates)")

    def __float__(self) -> float:
        self._refuse("no number", "decrypt first")

    def __int__(self) -> int:
        self._refuse("no number", "decrypt first")

    def __complex__(self) -> complex:
        self._refuse("no number", "decrypt first")

    def __contains__(self, value: object) -> bool:
        self._refuse("no membership", "decrypt first")

    def __eq__(self, other: object) -> Any:
        self._refuse("no comparison", "decrypt first, or compare under encryption (hesc.gates)")

    def __ne__(self, other: object) -> Any:
        self._refuse("no comparison", "decrypt first, or compare under encryption (hesc.gates)")

    def __lt__(self, other: object) -> Any:
        self._refuse("no comparison", "decrypt first, or compare under encryption (hesc.gates)")

    __le__ = __gt__ = __ge__ = __lt__

    def __abs__(self) -> Any:
        self._refuse("no absolute value", "decrypt first, or use a gate circuit (hesc.gates)")
