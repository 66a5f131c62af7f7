"""Writes vectors/products.json: linear scores and distances of codes under encryption.

Made once from fresh noise. The tests decrypt them with hesc and with the second implementation,
and compute on with what is stored. Run: python -m scripts.product_vectors
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import hesc
from hesc._native import primes_of_bits
from hesc.codes import EncryptedGallery, GalleryPlan, hamming
from hesc.codes.encrypted_codes import EncryptedCodes
from hesc.codes.secret import encrypt_codes, encrypt_gallery, encrypt_probes
from hesc.ring_products import EncryptedModel, Model
from hesc.ring_products import RingProductPlan as Plan
from hesc.ring_products.secret import decrypt_scores, encrypt_features, encrypt_model

TARGET = Path(__file__).parents[1] / "vectors" / "products.json"
RNG = np.random.default_rng(19)
LOW, HIGH = np.array([-1.0, 0.0, 2.0, -3.0]), np.array([1.0, 16.0, 2.0, 5.0])
WEIGHTS, INTERCEPTS = RNG.normal(size=(3, 4)).round(3), np.array([0.5, -2.0, 7.0])
SAMPLES = RNG.uniform(LOW, HIGH, (2, 4)).round(3)
BOUNDS: dict[str, Any] = {
    "low": LOW,
    "high": HIGH,
    "error": 0.5,
    "weights_l1": 64.0,
    "weights_l2": 64.0,
    "offset": 128.0,
}


def _text(**parts: bytes) -> dict[str, str]:
    return {key: base64.b64encode(data).decode() for key, data in parts.items()}


def _key(secret: hesc.SecretKey | hesc.SecretKey) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        secret.save(path)
        return path.read_bytes()


def ring_product(name: str) -> dict[str, Any]:
    """A plan, a query of two samples, a model where it travels, and the answer."""
    plan = {
        "open": lambda: Plan.of_model(WEIGHTS, INTERCEPTS, low=LOW, high=HIGH, error=0.05),
        "hidden": lambda: Plan.hiding((3, 4), answers=300, **BOUNDS),
        "secret": lambda: Plan.encrypted((3, 4), **BOUNDS),
        "public": lambda: Plan.encrypted((3, 4), under="public", **BOUNDS),
    }[name]()
    secret, keys = hesc.keygen(plan.params, products=False)
    query = encrypt_features(secret, plan, SAMPLES)
    parts = {"plan": plan.to_bytes(), "secret": _key(secret), "query": query}
    if plan.encrypted_under is None:
        model = Model(plan, WEIGHTS, INTERCEPTS, keys=keys if name == "hidden" else None)
        parts["answer"] = model.evaluate(query)
    else:
        parts["model"] = (
            encrypt_model(secret, plan, WEIGHTS, INTERCEPTS)
            if name == "secret"
            else EncryptedModel.encrypt(plan, keys, WEIGHTS, INTERCEPTS)
        )
        parts["answer"] = EncryptedModel.from_bytes(plan, parts["model"]).evaluate(query)
    scores = decrypt_scores(secret, plan, parts["answer"]).values
    return {"weights": name, "scores": scores.tolist(), **_text(**parts)}


def columns() -> dict[str, Any]:
    """Columns of a few codes in a small ring (insecure), and distances to clear codes."""
    degree = 256
    params = hesc.Params.lattice(
        "bfv",
        ring_degree=degree,
        coeff_moduli=primes_of_bits(2 * degree, [27]),
        packing="coefficients",
        plain_modulus=128,
        assurance="insecure",
    )
    secret, _ = hesc.keygen(params)
    sent, clear = (RNG.integers(0, 2**64, (count, 1), dtype=np.uint64) for count in (40, 3))
    encrypted = encrypt_codes(secret, sent)
    distances = EncryptedCodes.from_bytes(params, encrypted).distances(clear)
    return {
        "clear": clear.tolist(),
        "plain_modulus": 128,
        "distances": hamming(clear, sent).tolist(),
        **_text(
            params=params.to_bytes(),
            secret=_key(secret),
            columns=encrypted,
            answer=distances.to_bytes(),
        ),
    }


def gallery() -> dict[str, Any]:
    """A gallery of two blocks, two probes, and all distances in parts."""
    plan = GalleryPlan(128, piece=64)
    secret, _ = hesc.keygen(plan.params, products=False)
    codes = RNG.integers(0, 2**64, (40, 2), dtype=np.uint64)
    probes = codes[[5, 39]] ^ np.array([[1, 0], [0, 7 << 60]], dtype=np.uint64)
    sent, asked = encrypt_gallery(secret, plan, codes), encrypt_probes(secret, plan, probes)
    parts = list(EncryptedGallery.from_bytes(plan, sent).answers(asked, records=32))
    return {
        "gallery_codes": codes.tolist(),
        "probe_codes": probes.tolist(),
        "parts": [base64.b64encode(part).decode() for part in parts],
        **_text(plan=plan.to_bytes(), secret=_key(secret), gallery=sent, probes=asked),
    }


def main() -> None:
    """All that is stored."""
    stored = {
        "low": LOW.tolist(),
        "high": HIGH.tolist(),
        "model": WEIGHTS.tolist(),
        "intercepts": INTERCEPTS.tolist(),
        "samples": SAMPLES.tolist(),
        "ring_products": [ring_product(name) for name in ("open", "hidden", "secret", "public")],
        "columns": columns(),
        "gallery": gallery(),
    }
    TARGET.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
