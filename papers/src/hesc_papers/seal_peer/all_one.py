"""`1 + x + ... + x^n` by products of SEAL's ciphertexts, as few and as flat as there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from hesc_papers.seal_peer.setup import Setting

# Scales closer than this are taken for equal: the primes of 30 bits are this near to 2^30.
_SAME_SCALE: Final = 1e-3


class Term(NamedTuple):
    """A ciphertext, the products below it, and the degree of what it holds."""

    ciphertext: Any
    depth: int
    degree: int


class AllOne:
    """Evaluates all-one polynomials.

    For odd n the polynomial is `1 + x` times that of degree (n - 1) / 2 in x^2; for even n it is 1
    plus the product of `x + x^2` and that of degree n / 2 - 1 in x^2. Degree 10 takes four
    products one after another, the least of both: a product doubles the degree at most.

    Products of the first `switched` levels are relinearised and, in CKKS, rescaled; later ones stay
    as they are, so that what is decrypted has more than two parts.

    BFV (`precision` given) computes with `p x` instead of x and with the homogeneous polynomial,
    whose constants are powers of p.
    """

    def __init__(self, setting: Setting, switched: int, *, precision: int | None = None) -> None:
        self.setting, self._switched, self._precision = setting, switched, precision
        self._relin = setting.keys.create_relin_keys() if switched else None
        # The primes of ciphertexts: SEAL keeps the last of several for keys.
        chain = setting.moduli
        self._primes = chain if len(chain) == 1 else chain[:-1]

    def __call__(self, x: Any, degree: int) -> Any:
        """The encrypted value for an encrypted x. Degrees from 1 on."""
        factors, one = self._factors(Term(x, 0, 1), degree)
        total = self._multiply(factors)
        return (self._plus_one(total) if one else total).ciphertext

    def _multiply(self, factors: list[Term]) -> Term:
        while len(factors) > 1:
            # The flattest two first.
            a, b, *factors = sorted(factors, key=lambda term: term.depth)
            factors.append(self._product(a, b))
        return factors[0]

    def _factors(self, x: Term, n: int) -> tuple[list[Term], bool]:
        """Factors of `1 + x + ... + x^n`, or of it less one, and whether that is to be added."""
        if n == 1:
            return [self._plus_one(x)], False
        if n == 2:
            return [x, self._plus_one(x)], True
        square = self._product(x, x)
        first = self._plus_one(x) if n % 2 else self._add(x, square)
        inner, one = self._factors(square, (n - 1) // 2)
        if one:
            inner = [self._plus_one(self._multiply(inner))]
        return [first, *inner], n % 2 == 0

    def _product(self, a: Term, b: Term) -> Term:
        evaluator = self.setting.evaluator
        depth = max(a.depth, b.depth) + 1
        left, right = self._same_level(a.ciphertext, b.ciphertext)
        product = (
            evaluator.square(left)
            if a.ciphertext is b.ciphertext
            else evaluator.multiply(left, right)
        )
        if depth <= self._switched:
            evaluator.relinearize_inplace(product, self._relin)
            if self._precision is None:
                evaluator.rescale_to_next_inplace(product)
        return Term(product, depth, a.degree + b.degree)

    def _same_level(self, a: Any, b: Any) -> tuple[Any, Any]:
        switch = self.setting.evaluator.mod_switch_to
        if a.coeff_modulus_size() > b.coeff_modulus_size():
            return switch(a, b.parms_id()), b
        if a.coeff_modulus_size() < b.coeff_modulus_size():
            return a, switch(b, a.parms_id())
        return a, b

    def _add(self, low: Term, high: Term) -> Term:
        """The sum of a term and of one of higher degree."""
        if self._precision is None:
            added = self._at(low.ciphertext, high.ciphertext)
        else:
            added = self._times(low.ciphertext, self._precision ** (high.degree - low.degree))
        total = self.setting.evaluator.add(added, high.ciphertext)
        return Term(total, max(low.depth, high.depth), high.degree)

    def _at(self, c: Any, other: Any) -> Any:
        """A ciphertext at the level and scale of another, which has as many primes or fewer."""
        evaluator, encoder = self.setting.evaluator, self.setting.encoder
        dropped = c.coeff_modulus_size() > other.coeff_modulus_size()
        if abs(c.scale() / other.scale() - 1) < _SAME_SCALE:
            result = evaluator.mod_switch_to(c, other.parms_id()) if dropped else c
        else:
            # A product with one in the clear takes what scale is missing.
            scale = other.scale() / c.scale()
            while c.coeff_modulus_size() > other.coeff_modulus_size() + 1:
                c = evaluator.mod_switch_to_next(c)
            if dropped:
                scale *= self._primes[other.coeff_modulus_size()]
            one = evaluator.mod_switch_to(encoder.encode(1.0, scale), c.parms_id())
            result = evaluator.multiply_plain(c, one)
            if dropped:
                evaluator.rescale_to_next_inplace(result)
        result.scale(other.scale())
        return result

    def _constant(self, value: int) -> Any:
        import seal

        return seal.Plaintext(f"{value:X}")

    def _times(self, c: Any, value: int) -> Any:
        return self.setting.evaluator.multiply_plain(c, self._constant(value))

    def _plus_one(self, term: Term) -> Term:
        evaluator, c = self.setting.evaluator, term.ciphertext
        if self._precision is None:
            one = self.setting.encoder.encode(1.0, c.scale())
            one = evaluator.mod_switch_to(one, c.parms_id())
        else:
            one = self._constant(self._precision**term.degree)
        return Term(evaluator.add_plain(c, one), term.depth, term.degree)
