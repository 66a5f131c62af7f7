"""What all parts of a service share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hesc.serve.admission import Admission
    from hesc.serve.figures import Figures
    from hesc.serve.key_files import KeyFiles
    from hesc.serve.served_models import ServedModel
    from hesc.serve.state.service_state import ServiceState
    from hesc.serve.tokens import TokenFile


class Shared(NamedTuple):
    """What all parts of a service share."""

    models: Mapping[str, ServedModel]
    """What is served, by the digests of plans."""
    tokens: TokenFile
    """Who may ask."""
    state: ServiceState
    """Answers, counts and jobs."""
    keys: KeyFiles
    """Public keys of clients."""
    admission: Admission
    """Bounds what is under way."""
    figures: Figures
    """What is counted of the service."""
