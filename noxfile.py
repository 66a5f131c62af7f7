"""hesc's wheel beside versions of what it builds on: `make matrix`, after `make wheel`.

A cell is a Python and versions of scikit-learn, numpy, pandas and polars. Pythons that are not here
are skipped, and said so; the public workflow has them.
"""

from pathlib import Path

import nox

ROOT = Path(__file__).parent
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
# The oldest that hesc takes, one between, the newest.
CELLS = {
    "oldest": ["scikit-learn==1.6.*", "numpy==2.0.*", "pandas==2.2.*", "polars==1.20.*"],
    "between": ["scikit-learn==1.7.*", "numpy==2.2.*", "pandas==2.3.*", "polars==1.30.*"],
    "newest": ["scikit-learn", "numpy", "pandas", "polars"],
}
# Wheels of these begin with versions of numpy and pandas after the oldest that hesc takes.
TOO_NEW = {("3.13", "oldest"), ("3.14", "oldest"), ("3.14", "between")}
TESTS = [
    "tests/test_tables.py",
    "tests/test_ml_tables.py",
    "tests/test_ml_estimators.py",
    "tests/test_ml_newcomers.py",
]

nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
@nox.parametrize("cell", list(CELLS))
def matrix(session: nox.Session, cell: str) -> None:
    """Estimators and tables on one cell."""
    if (session.python, cell) in TOO_NEW:
        session.skip("there are no wheels of these versions for this Python")
    (wheel,) = (ROOT / "target" / "dist").glob("*.whl")
    drawing = ["jinja2", "matplotlib"]
    session.install("--only-binary=:all:", *CELLS[cell], *drawing, "hypothesis", "pytest")
    session.install("--no-deps", "--force-reinstall", str(wheel))
    session.install("rich", "typer", "scipy")
    # Other versions warn of other things.
    session.run("pytest", "-W", "default", *TESTS, env={"PYTHONPATH": ""})
