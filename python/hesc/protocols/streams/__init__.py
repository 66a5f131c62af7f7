"""Networks of one square layer on streams of encrypted bits, with an encrypted model.

    plan = PrivateSquareNetwork.from_network(network).plan(X)     # the model's owner
    client = StreamClient(plan)                                   # samples and key
    model = StreamOwner.from_bytes(data).encrypt_model(client.public_keys())     # the owner, once
    server = StreamServer.from_bytes(model)                       # neither samples nor weights
    client.decrypt(server.answer(client.encrypt(samples).data))

The client sends products of its features, the server multiplies them by encrypted coefficients and
adds up: see `hesc.streams.networks.monomial`. `candidates` times the paper's algorithm beside it.
"""

from __future__ import annotations
