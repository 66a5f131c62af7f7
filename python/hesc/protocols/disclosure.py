"""Who holds and learns what under a plan, in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from hesc.models import transforms
from hesc.models.conclusions import INVERSES, PROBABILITIES, is_mean
from hesc.ring_products.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hesc.models.fidelity import Fidelity
    from hesc.models.transforms import Transform
    from hesc.protocols.copies import Copy
    from hesc.ring_products.parts import Ring
    from hesc.ring_products.plans import Sizes


TIES: Final = "; where scores tie, or nearly, their errors choose"
"""What is said beside a share of classes that are kept: votes of trees often tie."""
_CALIBRATION: Final = (
    "scores of training rows at which the share of their class changes, which calibrate"
)
"""What functions of scores say."""
_SHOWN: Final = 40
"""Letters of a name that tables print: a long one would be wrapped into lines of its own."""


class Disclosure(NamedTuple):
    """What a plan says of itself: to print, and as HTML in notebooks and reports."""

    title: str
    """What is computed."""
    rows: Mapping[str, str]
    """What each line is about, and what it says."""

    def __str__(self) -> str:
        width = max(map(len, self.rows))
        lines = (f"  {name:<{width}}  {text}" for name, text in self.rows.items())
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        """The same as a table of HTML, which notebooks show; every text is escaped."""
        rows = "".join(
            f"<tr><th style='text-align: left; vertical-align: top'>{escape(name)}</th>"
            f"<td style='text-align: left'>{escape(text)}</td></tr>"
            for name, text in self.rows.items()
        )
        return f"<p><strong>{escape(self.title)}</strong></p><table>{rows}</table>"


class Disclosing(ABC):
    """What plans of all kinds have in common: they say who holds and who learns what."""

    @abstractmethod
    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""

    def __str__(self) -> str:
        return str(self.disclosure())

    def _repr_html_(self) -> str:
        return self.disclosure()._repr_html_()


def table(
    ring: Ring,
    sizes: dict[int, Sizes],
    *,
    steps: Sequence[Transform],
    named: bool,
    classes: int | None,
    link: str,
    calibrated: bool,
    agreement: float | None,
    fidelity: Fidelity | None,
    copy: Copy | None = None,
) -> Disclosure:
    """Roles, disclosure, error and bytes of a plan, a line for each.

    Args:
        ring: sizes and scales.
        sizes: bytes by numbers of samples.
        steps: what the client does with its features.
        named: whether it is told their names.
        classes: how many a classifier has.
        link: how probabilities or predictions follow from the scores, if they do.
        calibrated: whether that takes functions which the client is given.
        agreement: the share of rows that keeps its class.
        fidelity: how near what is computed comes to the model that was fitted.
        copy: of a plan that hides weights, what its answers give away.

    """
    outputs, features = ring.shape
    each = "a score" if outputs == 1 else f"{outputs} scores"
    sees = f"sees its samples, {each} for each"
    if classes is not None:
        sees += ", and its class" + (" and probabilities" if link in PROBABILITIES else "")
    elif link in INVERSES:
        sees += f", and its prediction, which is {link} of that"
    if is_mean(link):
        sees += ", which are those of several models: their probabilities are averaged"
    given = [f"ranges of {features} features"]
    given += ["bounds of weights, as powers of two"] * (ring.encrypted_under is not None)
    given += [_CALIBRATION] * calibrated
    given += ["their names"] * named + ["names of classes"] * (classes is not None)
    rows = {
        **_roles(ring, sees),
        "client is given": "; ".join([*given, *transforms.disclosed(steps)]),
        "weights": _weights(ring),
        "queries": f"{features + 1} samples with their scores give a linear model away, even "
        "one with hidden weights",
        "error": f"{ring.error:.3g}, the root mean square of a score's error, at most, in units of "
        f"{units(classes, link)}: over servers, which round their weights once; "
        f"of one of them {ring.deployment_error:.3g} at most, with 99 % probability",
    }
    if copy is not None:
        rows["copies"] = str(copy)
    if fidelity is not None:
        rows["fidelity"] = str(fidelity)
    if agreement is not None:
        rows["agreement"] = (
            f"{100 * agreement:.2f} % of the rows planned with keep their class{TIES}"
        )
    rows["bytes"] = "; ".join(
        f"{size.up} up, {size.down} down for {samples} sample{'s' * (samples > 1)}"
        for samples, size in sizes.items()
    )
    rows["ring"] = (
        f"N = {ring.params.ring_degree}, {secure(ring.params.assurance)}; a score decrypts "
        "wrongly with a probability below 2^-128"
    )
    if (count := len(parts_of(ring))) > 1:
        rows["parts"] = (
            f"features go in {count} ring products, one in {count} in each: the client sees the "
            f"{count} sums that each score is made of, and 2^-128 is of each sum"
        )
    what = model_kind(classes)
    return Disclosure(f"Private {what}: {features} encrypted features, {each} a sample", rows)


def shown(name: str) -> str:
    """A name of the model owner's as tables print it: in quotes, and cut where it is long."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def model_kind(classes: int | None) -> str:
    """What a model is, in words."""
    if classes is not None:
        return f"classifier of {classes} classes"
    return "regressor"


def units(classes: int | None, link: str = "none") -> str:
    """What errors of scores are counted in."""
    if link in INVERSES:
        return f"the scores (predictions are {link} of them)"
    return "the target" if classes is None else "scores (decision_function)"


def secure(assurance: str) -> str:
    """An assurance of parameters in words."""
    return f"128-bit security by {assurance}" if assurance == "guidelines2024" else assurance


def _roles(ring: Ring, sees: str) -> dict[str, str]:
    if ring.encrypted_under is None:
        return {
            "setting": "client_server: the server holds the weights, the client samples and key",
            "server": "sees how many samples there are, the plan, the key's name; no sample, no "
            "score",
            "client": sees,
        }
    key, size = ring.encrypted_under, ring.model_size
    own = key == "secret"
    owner = (
        "the client itself, who encrypts them under its secret key"
        if own
        else "encrypts them under the client's public key, sees the plan; no sample, no score"
    )
    holders = "samples, model and key" if own else "samples and key, an owner the model"
    return {
        "setting": f"outsourced: the client holds {holders}; the server holds neither",
        "server": "sees how many samples there are, the plan, the key's name; no sample, no "
        "weight, no score",
        "client": sees,
        "owner": owner,
        "model": f"{size} bytes under the client's {key} key, given to the server once",
    }


def _weights(ring: Ring) -> str:
    if ring.encrypted_under == "secret":
        return "the client's own, encrypted: the server learns their number and the bounds"
    if ring.encrypted_under == "public":
        return (
            "hidden from the server alone: THE CLIENT CAN COMPUTE ALL OF THEM from its first query "
            "and the answer to it"
        )
    if ring.answers is None:
        return (
            "THE CLIENT CAN COMPUTE ALL OF THEM from the first answer (hidden=True hides them "
            "by noise, for a few answers)"
        )
    return (
        f"hidden from an honest client, but for bounds (powers of two) and what scores say: "
        f"{ring.answers} numbers in all, {ring.shape[0]} a sample, then the server refuses, under "
        f"whichever plan of this model"
    )
