"""Writes vectors/encoders.json with the second implementation; the tests hold hesc against it.

Run: python -m scripts.encoder_vectors
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.second_implementation.encoders import encode

TARGET = Path(__file__).parents[1] / "vectors" / "encoders.json"
GENERATORS = (
    *("bernoulli", "exact_weight", "lfsr", "sobol", "plain_sobol", "halton", "hammersley"),
    *("lattice", "clock_division", "rotation", "coprime_lengths", "joint"),
)
# Deterministic products have two factors, and lengths of their own.
LENGTHS = {
    "clock_division": (49, 196),
    "rotation": (49, 196),
    "coprime_lengths": (72, 210),
}
VALUES = {"inverted_bipolar": [-1.0, -0.75, 0.1, 0.333, 1.0], "unipolar": [0.0, 0.25, 0.9, 1.0]}


def main() -> None:
    """One case for each generator, representation and length."""
    cases = []
    for generator in GENERATORS:
        for representation, values in VALUES.items():
            for number, length in enumerate(LENGTHS.get(generator, (7, 64, 200))):
                arguments = (generator, representation, length, number, 1234567 + number)
                streams = encode(*arguments, values)
                cases.append(
                    {
                        "name": f"{generator}-{representation}-{length}",
                        "generator": generator,
                        "representation": representation,
                        "stream_length": length,
                        "dimension": number,
                        "random_state": 1234567 + number,
                        "values": values,
                        "streams": ["".join(map(str, stream)) for stream in streams],
                    }
                )
    TARGET.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
