"""Writes crates/hesc-stochastic/data/joe_kuo.txt from scipy's copy of `new-joe-kuo-6.21201`.

Run: python scripts/joe_kuo_table.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.stats

DIMENSIONS = 1024
TARGET = Path(__file__).parents[1] / "crates/hesc-stochastic/data/joe_kuo.txt"


def main() -> None:
    """One line a dimension from the second on: primitive polynomial, then initial numbers."""
    source = Path(scipy.stats.__file__).parent / "_sobol_direction_numbers.npz"
    with np.load(source) as table:
        polynomials, initial = table["poly"], table["vinit"]
    lines = [
        "# Sobol direction numbers of Joe and Kuo (2008), file new-joe-kuo-6.21201 (BSD licence),",
        "# from scipy's copy. Regenerate: python scripts/joe_kuo_table.py",
        "# Dimensions 1 to 1023, a line each: primitive polynomial with all its bits, m_1 m_2 ...",
    ]
    for polynomial, numbers in zip(polynomials[1:DIMENSIONS], initial[1:DIMENSIONS], strict=True):
        degree = int(polynomial).bit_length() - 1
        lines.append(" ".join(str(int(x)) for x in [polynomial, *numbers[:degree]]))
    TARGET.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
