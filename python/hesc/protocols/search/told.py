"""What a plan of a search says of itself: who holds and learns what, errors and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc.models import transforms
from hesc.protocols.disclosure import Disclosure, secure

if TYPE_CHECKING:
    from hesc.protocols.search.agreed import Agreed

_TELLS: Final = {
    "inner": "the inner product",
    "cosine": "the cosine of the angle",
    "euclidean": "the Euclidean distance",
    "hamming": "the Hamming distance",
}
_WEIGHTS: Final = {
    "uniform": "each with one vote",
    "distance": "each with the inverse of its distance as its vote",
}


def table(plan: Agreed) -> Disclosure:
    """Roles, disclosure, error and bytes of a plan, a line for each."""
    native, size = plan.native, plan.sizes()
    told = _TELLS[plan.metric]
    concludes = "which are nearest"
    given = ["lengths of vectors", "how many records there are"]
    if plan.labels is not None:
        concludes = "which are nearest, shares of their votes and a class"
        given = [f"the class of each of {plan.most_records} records", "names of classes", *given]
    given += ["names of features"] * bool(plan.names)
    rows = {
        "setting": "client_server: the server holds the records, the client samples and key",
        "server": "sees how many samples there are, the plan, the key's name; no sample, no "
        "score. IT LEARNS FROM WHAT IS FETCHED AFTERWARDS: who asks it for a record that was found "
        "shows what was looked for",
        "client": f"sees its samples, {told} of each to EVERY record, and so {concludes}",
        "client is given": "; ".join([*given, *transforms.disclosed(plan.steps)]),
        "records": "PUBLIC, as whoever planned it said: every client can compute all of them",
        "queries": _queries(plan),
    }
    if plan.neighbours:
        rows["votes"] = (
            f"the {plan.neighbours} nearest of {plan.most_records}, {_WEIGHTS[plan.weights]}; of "
            "equally near ones the earlier record counts as nearer"
        )
    rows["error"] = _error(plan)
    if plan.agreement is not None:
        rows["agreement"] = (
            f"{100 * plan.agreement:.2f} % of {plan.tried} rows have the class of exact nearest "
            "neighbours; a row that is itself a record was not its own neighbour, copies of it were"
        )
    rows["bytes"] = f"{size.up} up, {size.down} down for a sample, of a full index"
    if plan.expanded:
        rows["keys"] = f"{plan.key_bytes} bytes, once, for the server"
    memory = native.index_sizes(plan.most_records)[1]
    rows["memory"] = (
        f"{memory} bytes at the server for a full index, and {plan.constants} for each query while "
        "it is answered"
    )
    rows["ring"] = (
        f"N = {native.block}, {secure(plan.params.assurance)}; a score decrypts wrongly with a "
        "probability below 2^-128"
    )
    what = "search" if plan.classes is None else f"classifier of {len(plan.classes)} classes"
    title = (
        f"Private nearest neighbours, {what}: up to {plan.most_records} records of "
        f"{plan.dimensions} features"
    )
    return Disclosure(title, rows)


def _queries(plan: Agreed) -> str:
    fewer = ", and of bits far fewer do (159 of 512)" if plan.metric == "hamming" else ""
    return (
        f"{plan.dimensions} samples with their scores give EVERY record away, whatever encrypts "
        f"them{fewer}; no count of answers hides anything, since clients put theirs together"
    )


def _error(plan: Agreed) -> str:
    if plan.metric == "hamming":
        return "none: distances of codes are exact"
    found = plan.score_error
    how = "where roundings are spread evenly"
    if plan.dependence > 1:
        how = "as measured among vectors planned with, whose roundings depend on each other"
    exact = (
        "none beside rounding: scores of rounded vectors are exact"
        if plan.classes is None
        else "none beside rounding: distances of rounded vectors are exact"
    )
    return (
        f"{exact}, and err by {found.rms:.3g} (root mean square, {how}), never by more than "
        f"{found.bound:.3g}"
    )
