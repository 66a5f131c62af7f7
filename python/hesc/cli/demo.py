"""`hesc demo`."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hesc._support.stages import medians
from hesc.cli.terminal import check_outputs, write_text
from hesc.params import Params
from hesc.protocols.linkage.blocking import SIZES
from hesc.streams.iris import Split, load_network, load_split

if TYPE_CHECKING:
    from hesc._support.stages import Staged

_HELP: Final = """Runs on real data, from encryption to answer.

Example: hesc demo iris
"""
app = typer.Typer(help=_HELP, no_args_is_help=True)

SETS = {
    "bfv": "bfv_1024_fusion",
    "ckks": "ckks_1024",
    "gm": "gm_3072",
    "pad": "pad_1024",
    "elgamal": "elgamal_ffdhe3072",
    "ec-elgamal": "ec_elgamal_ristretto255",
}
FEBRL: Final = 5000
"""People of FEBRL's fourth data set, for either party."""
# A run that takes longer says so beforehand.
LONG_SECONDS = 5.0
STAGES = ("B2S", "Enc", "FC1", "ACT", "FC2", "Fusion", "Dec", "Separation", "S2B")


@app.callback()
def group() -> None:
    """Runs on real data, from encryption to answer."""


@app.command(
    epilog="Example: [bold]hesc demo iris --scheme ckks --json -[/]",
)
def iris(
    scheme: Annotated[str, typer.Option(help="bfv, ckks, gm, pad, elgamal or ec-elgamal.")] = "bfv",
    rounds: Annotated[int, typer.Option(min=1, help="Times each flower is classified.")] = 3,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write figures to this new file, - for stdout.")
    ] = None,
) -> None:
    """Classifies 30 Iris flowers that the server never sees, with a model it never sees.

    Two ways: the algorithm of the paper koseki2022hesc, and ours.
    """
    # It is client, model owner and server in one; a command that only serves loads no keys.
    from hesc.protocols.streams.staged import Layered, Monomial

    console = Console(stderr=json_file == "-")
    if scheme not in SETS:
        raise typer.BadParameter(f"choose one of {', '.join(SETS)}", param_hint="--scheme")
    check_outputs({}, json_file)
    params = Params.preset(SETS[scheme])
    console.print(f"parameters: {params!r}", highlight=False)
    network, split = load_network(), load_split()
    ways: dict[str, Staged] = {}
    if params.ring_degree is None:
        console.print(
            "the paper's algorithm is left out: "
            + (
                "it has the client encrypt under a public key, and pads have none"
                if scheme == "pad"
                else "with a ciphertext for each bit it would decrypt 303 x 1024 of them for each "
                "flower"
            )
        )
    else:
        ways["paper: one stream per ciphertext, L=1024"] = Layered(network, params)
    ways["ours: monomials side by side, L=64"] = Monomial(network, params)
    figures = [_measure(name, way, split, rounds, console) for name, way in ways.items()]
    exact = float(np.mean(network.predict(split.test_features) == split.test_classes))
    document = json.dumps(
        {"parameters": repr(params), "float_accuracy": exact, "ways": figures}, indent=1
    )
    write_text(json_file, document + "\n")
    console.print(_table(figures))
    console.print(f"accuracy in floating point: {exact:.1%} of {len(split.test_classes)} flowers")
    console.print(
        "What the server saw: ciphertexts of the model and of each query, their sizes, the "
        "layout, the stream length and the sizes of coefficients that it scales by. It held no "
        "key. What the client sees besides the answer stands in SECURITY.md."
    )


@app.command(
    epilog="Example: [bold]hesc demo linkage --records 20000 --sizes private[/]",
)
def linkage(
    records: Annotated[
        int,
        typer.Option(
            min=100,
            max=1 << 24,
            help="People of each party: FEBRL's 5,000, or in blocks as many like them.",
        ),
    ] = 5000,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Compare block by block; how sizes of blocks are told: told, padded or private."
        ),
    ] = None,
    epsilon: Annotated[
        float, typer.Option(min=0.01, max=100.0, help="Of private sizes, for all passes.")
    ] = 1.0,
    overlap: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of people that both have, in blocks.")
    ] = 1.0,
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Print the plan of the blocks, and link nothing.")
    ] = False,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write figures to this new file, - for stdout.")
    ] = None,
) -> None:
    """Two parties find whom both know, and a third, which decrypts, learns no name.

    Every person of one party is compared to every one of the other, by codes of 512 bits; in
    blocks, to those that share a key. What blocks tell to whom is printed before anything runs.
    """
    # It is all three parties in one; a command of one of them loads no others' keys.
    from hesc.protocols.linkage.demonstration import link, link_people, prepare_people

    console = Console(stderr=json_file == "-")
    check_outputs({}, json_file)
    if sizes is None:
        if records > FEBRL or plan_only:
            raise typer.BadParameter(
                f"more than {FEBRL:,} people, and --plan, are for blocks: add --sizes private",
                param_hint="--records",
            )
        run = link(records, progress=True)
    else:
        if sizes not in SIZES:
            raise typer.BadParameter(f"choose one of {', '.join(SIZES)}", param_hint="--sizes")
        prepared = prepare_people(records, sizes, epsilon=epsilon, overlap=overlap)
        console.print(str(prepared.plan), highlight=False, markup=False)
        console.print(
            f"chosen to find {prepared.choice.coverage:.4f} of known pairs, by "
            f"{prepared.plan.coefficients:,} distances in {len(prepared.plan.blocks)} blocks",
            highlight=False,
        )
        if plan_only:
            return
        run = link_people(prepared, progress=True)
    table = Table(title=f"{records:,} by {records:,} people", title_justify="left")
    table.add_column("")
    table.add_column("seconds", justify="right")
    table.add_column("bytes sent", justify="right")
    for step in run.steps:
        size = "" if step.sent is None else f"{step.sent:,}"
        table.add_row(step.name, f"{step.seconds:.2f}", size)
    table.add_row("all", f"{run.seconds:.2f}", f"{run.sent:,}")
    console.print(table)
    console.print(
        f"threshold {run.threshold.distance} of {run.plan.bits} bits, chosen on {run.training} "
        f"pairs; on the {run.tested} others: precision {run.found.precision:.4f}, recall "
        f"{run.found.recall:.4f}, F1 {run.found.f1:.4f}",
        highlight=False,
    )
    if sizes is None:
        console.print(str(run.plan), highlight=False, markup=False)
    document = json.dumps(run.figures(), indent=1) + "\n"
    write_text(json_file, document)


def _measure(name: str, way: Staged, split: Split, rounds: int, console: Console) -> dict[str, Any]:
    """Classifies every test flower, one at a time."""
    runs, hits = [], 0
    flowers = list(zip(split.test_features, split.test_classes, strict=True)) * rounds
    started = time.perf_counter()
    way.run(split.test_features[:1])
    seconds = (time.perf_counter() - started) * len(flowers)
    if seconds > LONG_SECONDS:
        console.print(
            f"{name}: {len(flowers)} inferences will take about {seconds:.0f} seconds; "
            f"--rounds 1 takes the least"
        )
    for flower, label in track(flowers, description=name, console=console, transient=True):
        stages, outputs = way.run(flower[np.newaxis])
        runs.append(stages)
        hits += int(np.argmax(outputs) == label)
    return {
        "way": name,
        "milliseconds": medians(runs),
        "accuracy": hits / len(flowers),
        "bytes_up": way.bytes_up,
        "bytes_down": way.bytes_down,
    }


def _table(figures: list[dict[str, Any]]) -> Table:
    """Stages as rows, ways as columns."""
    table = Table(title="One inference, median milliseconds", title_justify="left")
    table.add_column("stage")
    for figure in figures:
        table.add_column(figure["way"], justify="right")
    for stage in (*STAGES, "Total"):
        cells = [figure["milliseconds"].get(stage) for figure in figures]
        if any(cell is not None for cell in cells):
            table.add_row(stage, *("" if cell is None else f"{cell:.4f}" for cell in cells))
    for label, key in (("bytes up", "bytes_up"), ("bytes down", "bytes_down")):
        table.add_row(label, *(f"{figure[key]:,}" for figure in figures))
    table.add_row("accuracy", *(f"{figure['accuracy']:.1%}" for figure in figures))
    return table
