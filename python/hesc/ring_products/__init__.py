"""Linear scores of encrypted features: one product in the ring, no evaluation keys.

A client encrypts features in the coefficients of a polynomial; a server multiplies with a
polynomial of its weights and sends back the coefficients that hold scores, with few bits.

    plan = RingProductPlan.of_model(weights, intercepts, low=0, high=16, error=0.01)
    secret, keys = hesc.keygen(plan.params, products=False)     # client
    query = encrypt_features(secret, plan, samples)
    model = ring_products.Model(plan, weights, intercepts)              # server
    answer = model.evaluate(query)
    decrypt_scores(secret, plan, answer).values                          # client

**Whoever owns the key reads the weights out of such an answer.** Where they are to be hidden, the
model's owner makes the plan with `RingProductPlan.hiding`, and gives the model the client's public
keys. Where the *server* must not know them the plan is `RingProductPlan.encrypted`, and the
server's an `EncryptedModel`: whoever owns the key still reads the weights out of its answers.

Nothing in this package can decrypt but `hesc.ring_products.secret`.
"""

from __future__ import annotations

from hesc._native import RingProductPlan
from hesc.ring_products.models import EncryptedModel, Model
from hesc.ring_products.plans import Bounds

__all__ = ["Bounds", "EncryptedModel", "Model", "RingProductPlan"]
