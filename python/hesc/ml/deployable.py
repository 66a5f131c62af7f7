"""`save`: what estimators of private models have in common once they are planned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError
from hesc.inputs import whole
from hesc.ml import deployment
from hesc.ml.samples import check_names
from hesc.new_files import check_new

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.measuring import Measured

SAMPLE: Final = 256
"""Rows that the report's run encrypts, at most, unless told otherwise."""


class Deployable:
    """Writes deployment folders. A class that has it makes plans, clients and servers."""

    if TYPE_CHECKING:

        def _rows(self, X: ArrayLike) -> NDArray[np.float64]: ...

    def save(
        self,
        path: str | PathLike[str],
        X: ArrayLike | None = None,
        *,
        sample: int = SAMPLE,
        commands: Sequence[str] = (),
    ) -> Path:
        """Writes the plan as a folder for clients, one for the server, and a report.

        Args:
            path: the new folder. Inside, `client/` is for any client, `server/` **has the weights
                in the clear**, and `report.html` is for you. No secret key is written.
            X: rows that the report's run encrypts; None takes a sample of those that `plan` was
                given. Their values are not in the report, their errors and how many keep their
                class are.
            sample: how many of them at most, spread evenly; 0 for a report without a run. A plan
                that hides weights runs no more than it answers.
            commands: lines of a shell that made this, which the report repeats.

        Returns:
            The folder.

        Raises:
            ParameterError: there is no plan.
            ImportError: jinja2 or matplotlib is missing: `pip install 'hesc[ml]'`.
            OSError: something of that name is there, or the disk is full.

        Cost: the run, one pair of keys, and drawing.

        """
        from hesc.ml import report

        check_new({"path": Path(path)})
        whole(sample, "sample", 0)
        private: Any = self
        client = private.client()
        plan = client.plan
        keys = client.public_keys() if plan.needs_keys else None
        server = private.server(keys=keys)
        check_names(X, plan.names)
        measured = self._measured(client, server, X, sample)
        data, model = plan.to_bytes(), server.to_bytes()
        page = report.page(
            plan,
            measured,
            name=Path(path).name,
            files={"client/plan.json": data, "server/plan.json": data, "server/server.json": model},
            commands=commands,
        )
        return deployment.write(path, data, model, page)

    def _measured(
        self, client: Any, server: Any, X: ArrayLike | None, sample: int
    ) -> Measured | None:
        from hesc.ml.measuring import measure

        rows: NDArray[np.float64] | None = (
            self.__dict__.get("_sample") if X is None else self._rows(X)
        )
        left = getattr(server, "answers_left", None)
        if left is not None:
            sample = min(sample, left // max(1, server.plan.ring.shape[0]))
        if rows is None or not len(rows) or not sample:
            return None
        rows = spread_out(rows, sample)
        scores, predictions = self._truth(rows)
        if len(scores) != len(rows):
            raise ParameterError("the model gives another number of scores than samples")
        return measure(client, server, rows, np.asarray(scores), predictions)

    def _truth(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Scores that decrypted ones are held against, and what the fitted model predicts."""
        private: Any = self
        predictions = private.estimator_.predict(rows)
        scored = getattr(private, "decision_function", None)
        return predictions if scored is None else scored(rows), predictions


def spread_out(rows: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Rows at even distances, so many at most; a copy."""
    places = np.unique(np.linspace(0, len(rows) - 1, most).astype(np.intp))
    return rows[places].copy()
