"""What plans of linear scores say alike in their documents: samples, transforms and conclusions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hesc._native import WireError
from hesc._support import documents
from hesc.models import fidelity, transforms
from hesc.models.conclusions import LINKS
from hesc.protocols import labels

if TYPE_CHECKING:
    from hesc.models.conclusions import Concluding

FIELDS: Final = frozenset({"inputs", "names", "steps", "classes", "link", "fidelity"})
"""Names of the fields."""


def described(plan: Any) -> dict[str, Any]:
    """The fields of a plan, for a document."""
    concluding: Concluding = plan
    return {
        "inputs": plan.inputs,
        "names": plan.names,
        "steps": transforms.described(plan.steps),
        "classes": labels.described_or_none(concluding.classes),
        "link": concluding.link,
        "fidelity": None if plan.fidelity is None else plan.fidelity.described(),
    }


def read(given: dict[str, Any], shape: tuple[int, int]) -> dict[str, Any]:
    """The fields from a document, by name.

    Args:
        given: a document's, `FIELDS` among them.
        shape: scores of a sample, and features after the transforms.

    Raises:
        WireError: fields that are none, or do not fit together.

    """
    inputs = given["inputs"]
    names = documents.read_names(given["names"], inputs)
    steps, width = transforms.read(given["steps"], inputs)
    outputs, features = shape
    if width != features:
        raise WireError("the transforms of a plan give another number of features than it has")
    classes = labels.read_for_scores(given["classes"], outputs)
    near = None if given["fidelity"] is None else fidelity.read(given["fidelity"])
    return {
        "inputs": inputs,
        "names": names,
        "steps": steps,
        "classes": classes,
        "link": documents.one_of(given["link"], LINKS, "a link"),
        "fidelity": near,
    }
