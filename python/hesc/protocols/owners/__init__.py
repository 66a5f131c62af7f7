"""Linear models on features of several owners, each of whom encrypts its own columns.

    plan = private.plan(X, Parties({"bank": [0, 1], "clinic": [2, 3]}))
    client = OwnersClient(plan)                                    # the key, and no samples
    bank = Party(plan, "bank", client.public_keys())                # and so on
    server = private.server(keys=client.public_keys())              # the model in the clear
    pieces = [bank.encrypt(own_rows).data, clinic.encrypt(own_rows).data]
    client.decrypt(server.answer(pieces))

Row `i` of every party is of the same one: parties agree on the order of rows beforehand.
"""

from __future__ import annotations
