"""Writes vectors/trees.json: a model of trees, a plan, a query and its answer.

Made once from fresh noise. The tests decrypt them with hesc and with the second implementation,
and compute on with what is stored. Run: python -m scripts.tree_vectors
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from hesc.ml import PrivateClassifier, Trees

TARGET = Path(__file__).parents[1] / "vectors" / "trees.json"
ROW = 77


def case(model: Any, structure: Any) -> dict[str, Any]:
    """What both sides have of one model, and what is decrypted of one sample."""
    x, y = load_iris(return_X_y=True)
    private = PrivateClassifier(model).fit(x, y)
    plan = private.plan(x, Trees(structure=structure), table=False)
    client = private.client()
    server = private.server(keys=client.public_keys())
    query = client.encrypt(x[ROW : ROW + 1]).data
    answer = server.answer(query)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        client.secret.save(path)
        secret = path.read_bytes()
    parts = {
        "plan": plan.to_bytes(),
        "server": private.server().to_bytes(),
        "keys": client.public_keys(),
        "secret": secret,
        "query": query,
        "answer": answer,
    }
    found = client.decrypt(answer).scores / plan.unit
    return {
        "sample": x[ROW].tolist(),
        "sums": np.rint(found).reshape(-1).astype(int).tolist(),
        **{name: base64.b64encode(data).decode() for name, data in parts.items()},
    }


def main() -> None:
    """All cases."""
    cases = {
        "forest": RandomForestClassifier(3, max_depth=3, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=4, max_depth=3, random_state=0),
    }
    found = {name: case(model, "hidden") for name, model in cases.items()}
    found["public"] = case(cases["forest"], "public")
    TARGET.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
