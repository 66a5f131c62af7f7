"""`hesc compile`: a deployment folder from a model's file."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import fields
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import typer

from hesc._native import HescError, ParameterError
from hesc.cli.batches import opened
from hesc.cli.csv_files import Column
from hesc.cli.terminal import JsonFile, check_outputs, reading, write_text
from hesc.models.boosters.saved_models import begins_as_json
from hesc.protocols.classes.options import Classes
from hesc.protocols.linear.options import Scores
from hesc.protocols.outsourced.options import Outsourced
from hesc.protocols.owners.options import Parties
from hesc.streams.networks import SquareNetwork

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.protocols.candidates.served import Choice

_DIGITS: Final = 18
_HEAD: Final = 4096
ROWS: Final = 4096
"""Rows read at a time."""


def compile_model(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The model: .onnx; .json or .ubj of XGBoost, .txt of LightGBM, .json of CatBoost; "
            "or .json, a network of hesc.streams.networks.",
        ),
    ],
    data: Annotated[
        Path, typer.Option(help="Training data, a CSV file with a header; features alone.")
    ],
    out: Annotated[Path, typer.Option(help="New folder for the deployment.")],
    max_error: Annotated[
        float | None, typer.Option(help="Root mean square of a score's error that is wanted.")
    ] = None,
    setting: Annotated[
        str,
        typer.Option(help="Who holds what: client_server, outsourced or many_parties."),
    ] = "client_server",
    disclose: Annotated[
        str, typer.Option(help="What the client learns: scores or class.")
    ] = "scores",
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Hide the weights from the client.")
    ] = False,
    answers: Annotated[
        int | None, typer.Option(help="Numbers that hidden weights give in all.")
    ] = None,
    own_model: Annotated[
        bool,
        typer.Option("--own-model", help="With --setting outsourced: the client owns the model."),
    ] = False,
    party: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN,COLUMN",
            help="With --setting many_parties: whose columns these are; once for each party.",
        ),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|thresholds",
            help="Public bins of each feature, for trees: how many, or the trees' own.",
        ),
    ] = None,
    refit: Annotated[
        str | None,
        typer.Option(
            help="'additive' fits a sum of functions of single features to trees that are none."
        ),
    ] = None,
    min_fidelity: Annotated[
        float | None,
        typer.Option(help="Share of classes, or of variance, that trees in bins must keep."),
    ] = None,
    move: Annotated[
        str | None,
        typer.Option(
            help="'nearest' moves thresholds of trees that are computed exactly to the nearest of "
            "--bins."
        ),
    ] = None,
    sum_bits: Annotated[
        int | None, typer.Option(help="Bits of scores of trees that are computed exactly.")
    ] = None,
    min_agreement: Annotated[
        float | None, typer.Option(help="Share of classes that stay, where they are compared.")
    ] = None,
    feature_bits: Annotated[
        int | None, typer.Option(help="Bits of a feature, where classes are compared.")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="What compares classes: binary, bootstrapped or another of hesc.integers.ENGINES."
        ),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Samples that go together, where classes are compared.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option("--params", help="Preset of a network on streams: see hesc params."),
    ] = None,
    stream_length: Annotated[
        int | None, typer.Option(min=1, help="Bits of a stream, of a network on streams.")
    ] = None,
    ranges: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Least and greatest value of every encrypted feature."),
    ] = None,
    ranges_from: Annotated[
        Path | None,
        typer.Option(help="CSV file with a header and two rows, least and greatest values."),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(help="Column that is no feature, such as the target; may be repeated."),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="latency|throughput|bytes|memory",
            help="What is to be least: of all plans that keep the other options the best is made.",
        ),
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, help="Rows that the report's run encrypts, at most.")
    ] = 256,
    json_file: JsonFile = None,
) -> None:
    """Plans a model and writes folders for client and server, and a report to read first.

    Least and greatest values of the data become public ranges, unless --ranges says otherwise.

    Example: hesc compile model.onnx --data train.csv --leave-out target --out credit
    """
    check_outputs({"--out": out}, json_file)
    if ranges is not None and ranges_from is not None:
        raise ParameterError("--ranges and --ranges-from say the same; give one of them")
    private = _loaded(model)
    without = leave_out or []
    takes_missing = _takes_missing(private)
    names, rows = _read(data, private, without, missing=takes_missing)
    expected = private.n_features_in_
    if len(names) != expected:
        raise HescError(
            f"{data} has {len(names)} columns, the model {expected} features; name those that are "
            f"none by --leave-out"
        )
    if not takes_missing and np.isnan(rows).any():
        raise HescError(f"{data} has missing cells, which this model does not take; impute them")
    limits: Any = ranges
    if ranges_from is not None:
        found, pair = _read(ranges_from, private, without, absent=True)
        if len(pair) != 2 or found != names:
            raise HescError(
                f"{ranges_from} has two rows, least and greatest values, and the columns of {data}"
            )
        limits = (pair[0], pair[1])
    given: dict[str, Any] = {
        "ranges": limits,
        "max_error": max_error,
        "hidden": hidden,
        "answers": answers,
        "own_model": own_model,
        "parties": None if party is None else _parties(party),
        "bins": _number_of(bins),
        "refit": refit,
        "min_fidelity": min_fidelity,
        "move": move,
        "sum_bits": sum_bits,
        "min_agreement": min_agreement,
        "bits": feature_bits,
        "engine": engine,
        "batch": batch,
        "preset": preset,
        "stream_length": stream_length,
    }
    given = {name: value for name, value in given.items() if not (value is None or value is False)}
    own = {} if hasattr(private, "feature_names_in_") else {"names": names}
    options = _options(private, setting, disclose, given)
    if not given and (setting, disclose) == ("client_server", "scores"):
        # Nobody asked for these: an objective may choose others of the same roles.
        options = None
    plan = private.plan(rows, options, objective=objective, **own)
    try:
        private.save(out, sample=sample, commands=[shlex.join(["hesc", *sys.argv[1:]])])
    except ImportError as error:
        raise ParameterError(str(error)) from error
    one = plan.sizes(1)
    figures = {
        "features": plan.inputs,
        "error": plan.error,
        "agreement": plan.agreement,
        "bytes_up": one.up,
        "bytes_down": one.down,
        "rows_of_a_query": plan.rows,
    }
    if objective is not None:
        figures |= {"objective": objective, "candidates": _candidates(private.decision_)}
    write_text(json_file, json.dumps(figures) + "\n")
    if json_file != "-":
        typer.echo(plan)
        if objective is not None:
            typer.echo(private.decision_)
        typer.echo(f"read {out / 'report.html'} before you give {out / 'client'} away")


def _candidates(found: Choice) -> list[dict[str, Any]]:
    """Figures of each candidate that is feasible, the best first, and why others were not taken."""
    reasons = found.reasons()
    rows = [
        {
            "candidate": estimate.way,
            "parameters": estimate.parameters,
            "seconds": estimate.seconds(found.calibration.times),
            "bytes_up": estimate.up,
            "bytes_down": estimate.down,
            "bytes_held": estimate.held,
            "error": estimate.error,
            "not_taken": reasons.get(estimate.way),
        }
        for estimate in (*found.estimates, *found.unserved)
    ]
    return rows + [{"candidate": way, "not_taken": why} for way, why, _ in found.infeasible]


_KINDS: Final[dict[tuple[str, str], type]] = {
    ("client_server", "scores"): Scores,
    ("client_server", "class"): Classes,
    ("outsourced", "scores"): Outsourced,
    ("many_parties", "scores"): Parties,
}
"""Classes of options by --setting and --disclose."""
_FLAGS: Final = {"bits": "feature-bits", "parties": "party", "preset": "params"}
"""Names of options of the command where they are not those of a class."""


def _options(private: Any, setting: str, disclose: str, given: dict[str, Any]) -> Any:
    """Options of a plan, as the command line has them.

    Raises:
        ParameterError: what no plan is made of, or an option that such a plan does not take.

    """
    kind = _KINDS.get((setting, disclose))
    if kind is None:
        served = "; ".join(f"--setting {who} --disclose {what}" for who, what in _KINDS)
        raise ParameterError(
            f"--setting {setting[:40]} --disclose {disclose[:40]} is not served. Served are "
            f"{served}"
        )
    if kind is Scores:
        kind = _of_scores(private, given)
    known = [field.name for field in fields(kind)]
    flags = [f"--{_FLAGS.get(name, name.replace('_', '-'))}" for name in given if name not in known]
    if flags:
        raise ParameterError(
            f"{', '.join(flags)}: not of a plan of this model with --setting {setting} --disclose "
            f"{disclose}, {kind.__name__}(), which takes {', '.join(known)}"
        )
    if kind is Parties and "parties" not in given:
        raise ParameterError("--setting many_parties takes --party, once for each party")
    return kind(**given)


def _of_scores(private: Any, given: dict[str, Any]) -> type:
    """Options of a model whose client learns scores: those that alone have what is given."""
    # What such a model is planned with where nothing else is asked.
    first: type = next(iter(private._backends))  # noqa: SLF001 - its table of options
    default = private._default_options()  # noqa: SLF001 - those that its trees have
    if default is None or set(given) <= {field.name for field in fields(first)}:
        return first
    return type(default)


def _number_of(bins: str | None) -> int | str | None:
    """What --bins says, as `plan` takes it: other texts are for it to refuse."""
    # Python reads no number of thousands of digits.
    short = bins is not None and len(bins) <= _DIGITS
    return int(bins) if bins is not None and short and bins.isascii() and bins.isdigit() else bins


def _parties(given: list[str]) -> dict[str, list[str]]:
    """Columns by party, of texts such as `bank=income,debt`."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, columns = text.partition("=")
        if not equals or name in found:
            raise ParameterError("--party is NAME=COLUMN,COLUMN, with each name once")
        found[name] = [column.strip() for column in columns.split(",")]
    return found


def _loaded(model: Path) -> Any:
    try:
        if _is_boosted(model):
            from hesc.ml.boosters import load_booster

            return load_booster(model)
        if model.suffix == ".json":
            from hesc.ml.square_networks import PrivateSquareNetwork

            return PrivateSquareNetwork.from_network(SquareNetwork.load(model))
        from hesc.ml.onnx import load_onnx  # type: ignore[import-not-found, unused-ignore]

        return load_onnx(model)
    except ImportError as error:
        raise ParameterError(
            f"models cannot be read: {error}. From Python, hesc.ml's estimators write "
            f"deployments with save(); see docs/deploy.md"
        ) from error


def _takes_missing(private: Any) -> bool:
    """Whether cells of the data may be missing: for the model, whatever a plan of it takes."""
    from hesc.models import extraction

    return extraction.takes_missing(private.estimator_)


def _is_boosted(model: Path) -> bool:
    """Whether a file is one that XGBoost, LightGBM or CatBoost saved, by its name and beginning."""
    if model.suffix != ".json":
        return model.suffix in {".ubj", ".txt"}
    with model.open("rb") as file:
        return begins_as_json(file.read(_HEAD))


def _read(
    path: Path, private: Any, without: list[str], *, absent: bool = False, missing: bool = False
) -> tuple[list[str], NDArray[np.float64]]:
    """Features by name. All of them are in memory: ranges and errors are of all rows.

    Args:
        path: of the table.
        private: the model, whose names are wanted, if it has any.
        without: columns that are left out.
        absent: whether these may be absent.
        missing: whether cells may be.

    """
    with reading(path, "reading") as file:
        table = opened(file)
        unknown = [name for name in without if name not in table.header]
        if unknown and not absent:
            raise HescError(f"{path} has no column {unknown[0]!r}, which --leave-out names")
        wanted = [str(name) for name in getattr(private, "feature_names_in_", [])]
        if not wanted:
            table.chosen([], None)
            wanted = [name for name in table.header if name not in set(without)]
        places = table.chosen(wanted, None, ignore_extra=bool(without))
        extra = set(table.header) - set(wanted) - set(without)
        if extra:
            raise HescError(
                f"{path} has the column {min(extra)!r}, which is no feature of the model; name it "
                f"by --leave-out"
            )
        columns = [Column("number", ())] * len(places) * missing
        return wanted, np.concatenate(list(table.batches(places, ROWS, columns)))
