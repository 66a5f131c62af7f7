"""Networks with hidden layers on encrypted samples: CKKS, the server's weights in the clear.

Activations are polynomials: squares are themselves, others are fitted, with the error stated.
"""
