"""Polynomials of encrypted numbers, and where to spend the length of their streams."""

from hesc.streams.polynomials.polynomial import EncryptedPolynomial, Polynomial
from hesc.streams.polynomials.summation import Summation

__all__ = ["EncryptedPolynomial", "Polynomial", "Summation"]
