"""Writes vectors/logarithms.json: plans, keys, uploads and answers of products by logarithms.

Made once from fresh noise and roundings. The tests decrypt them with hesc and with the second
implementation, which also adds up the uploads again, to the last bit of the answer.
Run: python -m scripts.logarithm_vectors
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

import hesc
from hesc import logarithms
from hesc.logarithms import Factor
from hesc.logarithms import LogarithmPlan as Plan
from hesc.logarithms.secret import decrypt_logarithms, encrypt_logarithms

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = Path(__file__).parents[1] / "vectors" / "logarithms.json"


def plans() -> dict[str, Plan]:
    """Other shapes, sources and sums; two rings."""
    matrix = Factor((2, 3), bound=[[1.0, 2.0, 4.0], [0.5, 1.0, 8.0]], source="public", shared=True)
    return {
        "matrix times vector": Plan.sums(
            [Factor(3, bound=2.0, source="public"), matrix], error=0.3
        ),
        "with a clear factor": Plan.elementwise(
            [Factor((2, 1), source="public"), Factor(2, source="clear", bound=3.0)], error=0.01
        ),
        "secret keys": Plan.polynomial(
            [Factor(2), Factor(2, source="secret", bound=[1, 5])],
            [[[1, 0], [0, 2], [0, 0]], [[1, 1], [0, 3], [0, 1]]],
            [[1.0, -0.5, 0.0], [0.0, 2.0, 3.0]],
            error=1,
        ),
    }


def text(data: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(data).decode()


def numbers(factor: Factor, samples: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Within the bounds, with a zero, the bound and a power of two among them."""
    shape = factor.shape if factor.shared else (samples, *factor.shape)
    shares = generator.uniform(-1, 1, shape)
    flat = shares.reshape(-1)
    flat[: min(3, flat.size)] = [-1, 0.25, 0][: min(3, flat.size)]
    return np.round(shares, 6) * factor.bounds


def main() -> None:
    """Everything that parties of each plan exchange."""
    generator, cases = np.random.default_rng(19), []
    for name, plan in plans().items():
        secret, keys = hesc.keygen(plan.params, products=False)
        given = [numbers(factor, 3, generator) for factor in plan.factors]
        clear: dict[int, NDArray[np.float64]] = {}
        shared: list[bytes] = []
        uploads: list[bytes] = []
        for at, (factor, values) in enumerate(zip(plan.factors, given, strict=True)):
            if factor.source == "clear":
                clear[at] = values
            elif factor.source == "public":
                upload = logarithms.encrypt(plan, at, keys, values)
                (shared if factor.shared else uploads).append(upload)
            else:
                uploads.append(encrypt_logarithms(secret, plan, at, values))
        server = logarithms.LogarithmEvaluator(plan, shared=shared, clear=clear)
        answer = server.evaluate(uploads)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "secret"
            secret.save(path)
            key = path.read_bytes()
        cases.append(
            {
                "name": name,
                "plan": text(plan.to_bytes()),
                "secret": text(key),
                "numbers": [values.tolist() for values in given],
                "shared": [text(upload) for upload in shared],
                "uploads": [text(upload) for upload in uploads],
                "answer": text(answer),
                "products": decrypt_logarithms(secret, plan, answer).products.tolist(),
            }
        )
    TARGET.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
