"""Linear models that the server has under encryption: samples, model and scores hidden from it.

    plan = private.plan(X, Outsourced())              # the model's owner
    client = OutsourcedClient(plan)                           # samples and key
    owner = OutsourcedOwner.from_bytes(data)                  # the model
    model = owner.encrypt_model(client.public_keys())         # once
    server = OutsourcedServer.from_bytes(model)               # neither samples nor weights
    client.decrypt(server.answer(client.encrypt(samples).data))

**Whoever owns the key can compute the weights** from a query and its answer: the model is hidden
from the server alone. A client whose own model it is encrypts it under the secret key.
"""

from __future__ import annotations
