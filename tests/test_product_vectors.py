"""Stored queries, models, galleries and answers: read by hesc and by the second implementation."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc.codes import EncryptedGallery, GalleryPlan, hamming
from hesc.codes.encrypted_codes import EncryptedCodes, EncryptedDistances
from hesc.codes.secret import decrypt_distances, gallery_distances
from hesc.ring_products import EncryptedModel, Model
from hesc.ring_products import RingProductPlan as Plan
from hesc.ring_products.secret import decrypt_scores
from tests.second_implementation import codes as second_codes
from tests.second_implementation import ring_products as second
from tests.second_implementation import wire

if TYPE_CHECKING:
    from hesc.params import VectorParams

STORED = json.loads((Path(__file__).parents[1] / "vectors" / "products.json").read_text())
WEIGHTS, INTERCEPTS = np.array(STORED["model"]), np.array(STORED["intercepts"])
SAMPLES = np.array(STORED["samples"])
EXACT = SAMPLES @ WEIGHTS.T + INTERCEPTS
# Names of a set and of a key pair, in the body of a secret key.
KEY_NAME = slice(16, 32)


def data(case: dict[str, Any], name: str) -> bytes:
    return base64.b64decode(case[name])


def key_of(
    params: VectorParams, case: dict[str, Any], folder: Path
) -> tuple[hesc.SecretKey, tuple[bytes, Any]]:
    """The key for hesc, and its name and coefficients for the second implementation."""
    path = folder / "secret"
    path.write_bytes(data(case, "secret"))
    path.chmod(0o600)
    name = wire.open_frame(data(case, "secret"), "secret")[KEY_NAME]
    ternary = wire.read_secret(data(case, "secret"), params.ring_degree or 0)
    return hesc.SecretKey.load(params, path), (name, ternary)


@pytest.mark.parametrize("case", STORED["ring_products"], ids=lambda case: case["weights"])
def test_ring_products(case: dict[str, Any], tmp_path: Path) -> None:
    """Answers decrypt to the last bit by both; queries and models by the second one as well."""
    plan = Plan.from_bytes(data(case, "plan"))
    secret, (name, ternary) = key_of(plan.params, case, tmp_path)
    read = second.read_plan(data(case, "plan"))
    found = decrypt_scores(secret, plan, data(case, "answer"))
    assert np.array_equal(found.values, case["scores"])
    assert np.abs(found.values - EXACT).max() < 7 * plan.error
    assert np.array_equal(second.decrypt(data(case, "answer"), read, ternary), found.values)
    # Roundings of one and a half, and fourteen deviations of noise.
    features = second.decrypt_features(data(case, "query"), read, ternary)
    assert np.abs(features - SAMPLES).max() < 50 / read.feature_scale * 8
    if plan.encrypted_under is None:
        if plan.answers is None:
            again = Model(plan, WEIGHTS, INTERCEPTS).evaluate(data(case, "query"))
            assert np.abs(decrypt_scores(secret, plan, again).values - EXACT).max() < 7 * plan.error
        return
    model = EncryptedModel.from_bytes(plan, data(case, "model"))
    # No randomness: the same ciphertexts give the same answer.
    assert model.evaluate(data(case, "query")) == data(case, "answer")
    half = (plan.ranges[1] - plan.ranges[0]) / 2
    middle = (plan.ranges[1] + plan.ranges[0]) / 2
    weights, added = second.decrypt_model(data(case, "model"), read, ternary)
    noise = 14 * 3.3 * (1 if plan.encrypted_under == "secret" else 53)
    assert np.abs(weights - WEIGHTS * half).max() < (noise + 2) / read.weight_scale
    scale = read.feature_scale * read.weight_scale
    assert np.abs(added - (WEIGHTS @ middle + INTERCEPTS)).max() < (noise + 1) / scale + 1e-9
    # What the second implementation encrypts.
    x = SAMPLES[1]
    query = second.encrypt_features(x, read, (name, ternary), bytes(range(32)))
    answer = model.evaluate(query)
    scores = decrypt_scores(secret, plan, answer).values
    assert np.abs(scores - EXACT[1]).max() < 7 * plan.error
    assert np.array_equal(second.decrypt(answer, read, ternary), scores)


def test_columns(tmp_path: Path) -> None:
    case = STORED["columns"]
    params = hesc.Params.from_bytes(data(case, "params"), assurance="insecure")
    (tmp_path / "secret").write_bytes(data(case, "secret"))
    (tmp_path / "secret").chmod(0o600)
    secret = hesc.SecretKey.load(params, tmp_path / "secret")
    clear = np.array(case["clear"], dtype=np.uint64)
    stored = EncryptedDistances.from_bytes(params, data(case, "answer"))
    again = EncryptedCodes.from_bytes(params, data(case, "columns")).distances(clear)
    assert again.to_bytes() == data(case, "answer")
    assert np.array_equal(decrypt_distances(secret, stored), case["distances"])
    ternary = wire.read_secret(data(case, "secret"), params.ring_degree or 0)
    found = second_codes.column_distances(data(case, "answer"), ternary, case["plain_modulus"])
    assert np.array_equal(found, case["distances"])


def test_galleries(tmp_path: Path) -> None:
    case = STORED["gallery"]
    plan = GalleryPlan.from_bytes(data(case, "plan"))
    secret, (name, ternary) = key_of(plan.params, case, tmp_path)
    read = second_codes.read_plan(data(case, "plan"))
    codes, probes = (
        np.array(case[key], dtype=np.uint64) for key in ("gallery_codes", "probe_codes")
    )
    expected = hamming(probes, codes)
    parts = [base64.b64decode(part) for part in case["parts"]]
    assert np.array_equal(gallery_distances(secret, plan, parts[::-1]), expected)
    gallery = EncryptedGallery.from_bytes(plan, data(case, "gallery"))
    assert list(gallery.answers(data(case, "probes"), records=32)) == parts
    for part in parts:
        probe, first, found = second_codes.gallery_distances(part, read, ternary)
        assert np.array_equal(found, expected[probe, first : first + len(found)])
    bits = [hesc.codes.unpacked(rows) for rows in (codes, probes)]
    found = second_codes.gallery_bits(data(case, "gallery"), read, ternary)
    assert np.array_equal(found, bits[0])
    assert np.array_equal(second_codes.probe_bits(data(case, "probes"), read, ternary), bits[1])
    asked = second_codes.encrypt_probe(
        bits[1][1].astype(np.int64), read, (name, ternary), bytes(range(32))
    )
    answer = list(gallery.answers(asked))
    assert np.array_equal(gallery_distances(secret, plan, answer), expected[1:])
