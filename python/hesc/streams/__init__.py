"""Stochastic numbers as streams of bits: encoding, encryption, arrays, polynomials, networks."""
