"""What may be asked of a plan that computes trees exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hesc.models.additive import Binning


@dataclass(frozen=True, kw_only=True, eq=False)
class Trees:
    """The client learns scores of trees that are computed as they are; the server knows the model.

    Scores are the model's own to the plan's unit, which is a power of two.
    """

    bins: Binning = "thresholds"
    """The **public edges** that the client compares its features with: "thresholds", those of the
    trees; a list of edges for each feature, among which all thresholds are; or how many bins a
    feature has, of as many rows each as nearly as may be."""
    move: Literal["nearest"] | None = None
    """Where a threshold is no edge: None refuses it, and "nearest" moves it to the nearest edge.
    **That is another model**, whose fidelity the plan reports."""
    min_fidelity: float | None = None
    """Where thresholds are moved: the least share of rows of the fitted model's class, or of the
    variance of a regressor's predictions, 0.9 by default; less is refused."""
    sum_bits: int = 17
    """Bits of a sum of leaves, from 8 to 27: the unit is the finest power of two that they hold.
    More of them make scores finer and messages longer."""
    samples: int = 1000
    """Samples of its choice that a client may have answered, as you mean to allow it: the plan says
    how good a copy of the model they give. Nothing counts them."""
    structure: Literal["hidden", "public"] = "hidden"
    """"hidden": the client is told edges, and numbers of trees and leaves. **"public"**: it is told
    the trees but for what their leaves say, finds its leaves itself, and messages are shorter by
    far. Values of leaves follow from as many scores as there are leaves then."""
