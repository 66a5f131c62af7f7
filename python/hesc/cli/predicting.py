"""`hesc predict`: samples through a model that is nobody's secret, and that the client has."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from hesc._native import ParameterError
from hesc._support.new_files import for_owner
from hesc.cli.batches import IgnoreExtra, after, batches, write_rows
from hesc.cli.files import check_apart, warn_of_formulas
from hesc.cli.terminal import JsonFile, check_outputs, new_result, reading, tell
from hesc.ml.clear.client import ClearClient
from hesc.ml.clear.plans import ClearPlan
from hesc.ml.deployment import ClientFolder


def predict(
    rows: Annotated[Path, typer.Argument(help="Samples, a CSV file with a header.")],
    client: Annotated[Path, typer.Option("--client", help="The folder client/ of a deployment.")],
    out: Annotated[Path, typer.Option(help="New CSV file for the predictions.")],
    ignore_extra: IgnoreExtra = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add columns of probabilities.")
    ] = False,
    json_file: JsonFile = None,
) -> None:
    """Predicts by a model that its owner published (setting one_side_clear); nothing is sent.

    Example: hesc predict rows.csv --client credit/client --out predictions.csv
    """
    check_outputs({"--out": out}, json_file)
    plan = ClientFolder.open(client).plan
    check_apart({"--out": out}, client, json_file)
    if not isinstance(plan, ClearPlan):
        raise ParameterError(
            "this plan's model is at its server: hesc keygen, encrypt, eval and decrypt predict "
            "by it"
        )
    opened = ClearClient(plan)
    count = 0
    with (
        reading(rows, "predicting") as file,
        new_result(out, json_file) as (part, beside),
        open(part, "x", newline="", encoding="utf-8", opener=for_owner) as table,
    ):
        for first, batch in batches(file, plan, ignore_extra=ignore_extra):
            with after(first):
                found = opened.results(batch)
                shares = plan.probabilities(found.scores) if probabilities else None
            write_rows(table, plan, found, shares, header=not count)
            count += len(batch)
        table.flush()
        warn_of_formulas(plan.classes)
        tell(beside, {"samples": count}, f"predictions: {count}: {out}")
