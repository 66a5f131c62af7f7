"""Products of encrypted numbers: sums of their logarithms, on ciphertexts that are only added.

Each side encrypts its factors under one key; whoever computes adds ciphertexts; the key owner
decrypts every product and adds up those that belong together.

    factors = [Factor(64), Factor((10, 64), source="public", shared=True)]
    plan = logarithms.LogarithmPlan.sums(factors, error=0.01)           # all sides
    secret, keys = hesc.keygen(plan.params, products=False)     # key owner
    weights = logarithms.encrypt(plan, 1, keys, matrix)                 # a model's owner
    upload = encrypt_logarithms(secret, plan, 0, samples)                # key owner
    server = logarithms.LogarithmEvaluator(plan, shared=[weights])               # whoever computes
    answer = server.evaluate([upload])
    decrypt_logarithms(secret, plan, answer).values                      # key owner

**Whoever owns the key sees every product**, not only their sums.

Nothing in this package can decrypt but `hesc.logarithms.secret`.
"""

from __future__ import annotations

from hesc._native import Factor, LogarithmPlan
from hesc.logarithms.evaluator import LogarithmEvaluator, encrypt

__all__ = ["Factor", "LogarithmEvaluator", "LogarithmPlan", "encrypt"]
