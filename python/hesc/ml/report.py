"""`report.html`: who learns what, what was planned and what was measured, on one page.

The page is complete in itself: it loads nothing. It holds no row of data, no score and no weight,
for it lies beside what is given away; of the run on planning data it shows errors in units of the
stated one, and how many samples keep their class.
"""

from __future__ import annotations

import shlex
from importlib.metadata import version
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._support.extras import install_line
from hesc._support.progress import duration
from hesc.protocols.folders import digest
from hesc.protocols.registry import protocol_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hesc.protocols.measuring import MeasuredRun
    from hesc.protocols.plan import ModelPlan

_COUNTS: Final = (1, 10, 100, 1000)


class Row(NamedTuple):
    """A figure as planned and as measured."""

    name: str
    planned: str
    measured: str


def page(
    plan: ModelPlan,
    measured: MeasuredRun | None,
    *,
    name: str,
    files: Mapping[str, bytes],
    own: bool,
    commands: Sequence[str] = (),
    decision: object = None,
) -> bytes:
    """The page, in HTML.

    Args:
        plan: what it is about.
        measured: the run on encrypted samples, if there was one.
        name: of the deployment.
        files: contents by name, whose sizes and hashes are listed.
        own: whether the run was on rows that the plan was made with.
        commands: lines of a shell that made the deployment.
        decision: what an objective chose among, if one did: a text is made of it.

    Raises:
        ImportError: jinja2 is missing.

    """
    jinja2 = _templates()
    text = resources("hesc.ml").joinpath("report.html.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    title, roles = plan.disclosure()
    errors = None if measured is None else measured.errors
    html: str = environment.from_string(text).render(
        name=name,
        title=title,
        roles=list(roles.items()),
        rows=_rows(plan, measured),
        measured=measured,
        own=own,
        fidelity=plan.fidelity,
        pictures=None if errors is None else _pictures(errors),
        drawing=install_line("plots"),
        within=None if errors is None else _within(errors),
        bytes=[(count, *plan.sizes(count)) for count in _COUNTS if _is_allowed(plan, count)],
        files=[(file, len(data), digest(data)) for file, data in sorted(files.items())],
        needs_keys=plan.needs_keys,
        parties=[shlex.quote(name) for name in plan.parties],
        owned=protocol_of(plan).has_owner,
        encrypts_publicly=plan.encrypts_publicly,
        counts=plan.samples_in_all is not None,
        needs_query=plan.needs_query,
        indexed=plan.has_index,
        commands=list(commands),
        decision=None if decision is None else str(decision),
        version=version("hesc"),
    )
    # A name of a folder may be no text, of which no letter is lost to who reads the page.
    return html.encode(errors="backslashreplace")


def _templates() -> Any:
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise ImportError(
            f"a deployment has a report, which jinja2 makes and which is not installed: "
            f"{install_line('ml')}"
        ) from error
    return jinja2


def _pictures(errors: NDArray[np.float64]) -> list[str]:
    """Pictures of errors, in the template's order; none where matplotlib is missing."""
    try:
        from hesc.ml import plots

        return [plots.errors_in_order(errors), plots.errors_and_law(errors)]
    except ModuleNotFoundError:
        return []


def _rows(plan: ModelPlan, measured: MeasuredRun | None) -> list[Row]:
    rows = []
    none = "not measured"
    if plan.error:
        found = none
        if measured is not None and measured.errors is not None:
            spread = float(np.sqrt(np.mean(measured.errors**2))) * plan.error
            unsure = 2 / np.sqrt(2 * len(measured.errors))
            found = f"{spread:.3g} ± {spread * unsure:.1g} (two standard errors)"
        planned, of_one = f"≤ {plan.error:.3g}", plan.deployment_error
        if of_one is not None:
            planned += f" over servers; of one, as here, ≤ {of_one:.3g} with 99 % probability"
        rows.append(Row("root mean square of a score's error", planned, found))
    if plan.classes is not None:
        stated, counted = plan.agreement, getattr(plan, "counted", None)
        apart = None if counted is None else counted.rows
        of = "the rows planned with" if apart is None else f"{apart} rows kept apart"
        planned = "-" if stated is None else f"{100 * stated:.2f} % of {of}"
        found = none
        if measured is not None and measured.same is not None:
            share = 100 * measured.same / measured.samples
            found = f"{share:.2f} % ({measured.same} of {measured.samples})"
        rows.append(Row("samples that keep their class", planned, found))
    count = 1 if measured is None else measured.samples
    size = plan.sizes(count)
    up, down = (none, none) if measured is None else map(_bytes, measured.sizes)
    rows.append(Row(f"bytes up, {count} samples", _bytes(size.up), up))
    rows.append(Row(f"bytes down, {count} samples", _bytes(size.down), down))
    if measured is not None:
        each = plan.seconds
        known = {} if each is None else {"evaluate": duration(each * -(-count // plan.rows))}
        rows += [
            Row(f"{step}, {count} samples", known.get(step, "-"), duration(seconds))
            for step, seconds in measured.seconds.items()
        ]
    return rows


def _bytes(count: int) -> str:
    return f"{count:,}"


def _within(errors: Any) -> list[tuple[int, float, float]]:
    """Shares of errors within one, two and three stated ones, and the normal law's."""
    law = {1: 68.3, 2: 95.4, 3: 99.7}
    return [(n, 100 * float((np.abs(errors) <= n).mean()), share) for n, share in law.items()]


def _is_allowed(plan: ModelPlan, count: int) -> bool:
    """Whether a plan answers so many samples at all."""
    most = plan.samples_in_all
    return most is None or count <= most
