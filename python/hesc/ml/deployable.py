"""`save`: what estimators of private models have in common once they are planned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc._support.inputs import whole
from hesc._support.new_files import check_new
from hesc._support.progress import waiting
from hesc.ml import deployment
from hesc.models import extraction
from hesc.models.samples import check_names
from hesc.protocols.measuring import SAMPLE, spread_out

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.measuring import MeasuredRun


class Deployable:
    """Writes deployment folders. A class that has it makes plans, clients and servers."""

    if TYPE_CHECKING:

        def _rows(self, X: ArrayLike) -> Rows: ...

    @usual_floats
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
                that hides weights runs no more than it answers, one of classes alone one query.
            commands: lines of a shell that made this, which the report repeats.

        Returns:
            The folder.

        Raises:
            ParameterError: there is no plan.
            ImportError: jinja2 is missing; the error has the line that installs it. Without
                matplotlib the report has no pictures.
            OSError: something of that name is there, or the disk is full.

        Cost: the run, one pair of keys, and drawing.

        """
        from hesc.ml import report

        check_new({"path": Path(path)})
        whole(sample, "sample", 0)
        private: Any = self
        backend = private._served()  # noqa: SLF001 - of the same object
        check_names(X, backend.plan.names)
        with waiting("keys, and encrypted samples for the report"):
            client, server = backend.parties()
            measured = self._measured(backend, client, server, X, sample)
        sides = backend.sides(server)
        files = {f"{side}/{file}": data for side in sides for file, data in sides[side].items()}
        page = report.page(
            backend.plan,
            measured,
            name=Path(path).name,
            files=files,
            own=X is None,
            commands=commands,
            decision=private.__dict__.get("_decision"),
        )
        return deployment.write(path, backend.plan, sides, page)

    def _measured(
        self, backend: Any, client: Any, server: Any, X: ArrayLike | None, sample: int
    ) -> MeasuredRun | None:
        rows: Rows = backend.sample if X is None else self._rows(X)
        most = backend.most_measured(server)
        sample = sample if most is None else min(sample, most)
        if not len(rows) or not sample:
            return None
        rows = spread_out(rows, sample)
        scores, predictions = self._truth(rows)
        scores = np.asarray(backend.truth(rows, scores))
        if len(scores) != len(rows):
            raise ParameterError("the model gives another number of scores than samples")
        found: MeasuredRun | None = backend.measured(client, server, rows, scores, predictions)
        return found

    def _truth(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Scores and predictions of the fitted model."""
        private: Any = self
        predictions = extraction.predicted(private.estimator_, rows)
        # Not decision_function, which would miss the names of these rows' columns.
        scores = private._clear_scores(rows)  # noqa: SLF001 - of the same object
        return scores[:, 0] if scores.shape[1] == 1 else scores, predictions
