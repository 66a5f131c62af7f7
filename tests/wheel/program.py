"""Keys, a prediction and a gate, on hesc and numpy alone: what `make wheel-test` runs.

An argument names another set for the gate.
"""

import sys

import numpy as np

import hesc
from hesc import gates, ring_products
from hesc.gates.secret import decrypt_outputs
from hesc.ring_products.secret import decrypt_scores, encrypt_features

weights, intercepts = np.array([[1.0, -2.0], [0.5, 4.0]]), np.array([1.0, 0.0])
samples = np.array([[3.0, 5.0], [9.0, 0.5]])
plan = ring_products.RingProductPlan.of_model(weights, intercepts, low=0, high=16, error=0.1)
secret, _ = hesc.keygen(plan.params, products=False)
query = encrypt_features(secret, plan, samples)
answer = ring_products.Model(plan, weights, intercepts).evaluate(query)
scores = decrypt_scores(secret, plan, answer).values
predicted = scores.argmax(axis=1)
assert predicted.tolist() == [1, 0], scores

builder = gates.Builder(1, 1)
(a,), (b,) = builder.inputs
circuit = builder.finish([builder.gate("AND", a, b)])
params = hesc.Params.preset(sys.argv[1] if sys.argv[1:] else "tfhe_2048")
secret, public = hesc.keygen(params, bootstrapping=True)
x, y = (gates.encrypt_numbers(public, bits, width=1) for bits in ([0, 1, 1], [1, 0, 1]))
server = gates.Evaluator(public)
(found,) = decrypt_outputs(secret, server.answer(*server(circuit, x, y)))
assert gates.to_numbers(found).tolist() == [0, 0, 1], found
print(f"hesc {hesc.__version__}: keys, a prediction and a gate")
