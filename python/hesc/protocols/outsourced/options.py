"""What may be asked of a plan whose server has the model under encryption."""

from __future__ import annotations

from dataclasses import dataclass

from hesc.protocols.linear.options import ScoreOptions


@dataclass(frozen=True, kw_only=True, eq=False)
class Outsourced(ScoreOptions):
    """The server has the model under encryption, by its owner, and knows neither it nor samples.

    The client, whose key it is, learns scores and **can compute the weights**: from the client an
    encrypted model is not hidden.
    """

    own_model: bool = False
    """The model is the client's own, who encrypts it under the secret key: models of a third,
    answers of half the bytes or less."""
