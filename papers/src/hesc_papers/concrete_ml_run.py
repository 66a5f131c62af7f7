"""Run by the interpreter that has Concrete ML, which knows neither hesc nor its numpy.

`python concrete_ml_run.py MODEL FILE.npz RUNS`: fits the model on the file's training rows, and
prints accuracy, times and bytes as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from importlib.metadata import version
from typing import Any

import numpy as np


def model(name: str) -> Any:
    """The peer's model, with the settings that it has by default."""
    from concrete.ml import sklearn as private

    models: dict[str, Any] = {
        "logistic": lambda: private.LogisticRegression(max_iter=2000),
        "svm": lambda: private.LinearSVC(random_state=0),
        "ridge": private.Ridge,
        "tree": lambda: private.DecisionTreeClassifier(max_depth=3, random_state=0),
        "forest": lambda: private.RandomForestClassifier(random_state=0),
        "xgboost": private.XGBClassifier,
    }
    return models[name]()


def main(name: str, file: str, runs: int) -> dict[str, Any]:
    """Fits, compiles, and takes one sample after the other through client and server."""
    from concrete.ml.deployment import FHEModelClient, FHEModelDev, FHEModelServer

    with np.load(file, allow_pickle=False) as given:
        train, learnt, test, right = (given[key] for key in ("train", "learnt", "test", "right"))
    made = model(name)
    made.fit(train, learnt)
    begin = time.perf_counter()
    made.compile(train)
    compiled = time.perf_counter() - begin
    # The values of what is encrypted, computed in the clear.
    found = np.asarray(made.predict(test, fhe="disable")).reshape(len(test), -1)[:, 0]
    with tempfile.TemporaryDirectory() as folder:
        FHEModelDev(folder + "/model", made).save()
        client = FHEModelClient(folder + "/model", key_dir=folder + "/keys")
        server = FHEModelServer(folder + "/model")
        server.load()
        begin = time.perf_counter()
        keys = client.get_serialized_evaluation_keys()
        keygen = time.perf_counter() - begin
        times: list[float] = []
        up = down = 0
        for number in range(runs + 1):
            row = test[number % len(test)][None]
            start = time.perf_counter()
            query = client.quantize_encrypt_serialize(row)
            answer = server.run(query, serialized_evaluation_keys=keys)
            client.deserialize_decrypt_dequantize(answer)
            times.append(time.perf_counter() - start)
            up, down = len(query), len(answer)
            if sum(times) > 120:
                break
    return {
        "found": found.tolist(),
        "right": right.tolist(),
        "seconds": statistics.median(times[1:] or times),
        "runs": len(times),
        "up": up,
        "down": down,
        "keys": len(keys),
        "compile": compiled,
        "keygen": keygen,
        "version": version("concrete-ml"),
        "python": version("concrete-python"),
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
