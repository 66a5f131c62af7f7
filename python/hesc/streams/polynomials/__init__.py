"""Polynomials of encrypted numbers, and where to spend the length of their streams."""

from hesc.streams.polynomials.allocation import PolynomialPlan
from hesc.streams.polynomials.polynomial import EncryptedPolynomial, Polynomial

__all__ = ["EncryptedPolynomial", "Polynomial", "PolynomialPlan"]
