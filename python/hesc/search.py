"""Private search: encrypted queries against records that a server has in the clear.

The client learns the score of its query with every record, exactly but for rounding; the server
learns neither query nor scores. Records are such as every client may have: enough queries give all
of them away. docs/search.md is the tutorial.

>>> import numpy as np
>>> from hesc.search import Index, SearchClient, SearchPlan, SearchServer
>>> vectors = np.random.default_rng(0).normal(size=(2000, 64))
>>> plan = SearchPlan.of_vectors(vectors, metric="cosine", bits=6, records="public")
>>> index, client = Index(plan, vectors), SearchClient(plan)
>>> server = SearchServer.of(index, keys=client.public_keys() if plan.needs_keys else None)
>>> query = client.encrypt(vectors[[7, 1000]] + 0.1).data
>>> found = client.decrypt(server.answer(query), query=query)
>>> found.best(3).indices[:, 0].tolist()
[7, 1000]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from hesc.protocols.search.index import Index
from hesc.protocols.search.plan import SearchPlan
from hesc.protocols.search.server import SearchServer

if TYPE_CHECKING:
    from hesc.protocols.search.client import SearchClient

__all__ = ["Index", "SearchClient", "SearchPlan", "SearchServer"]


def __getattr__(name: str) -> object:
    """The client is loaded when it is asked for: a server loads nothing that decrypts."""
    if name != "SearchClient":
        raise AttributeError(f"module 'hesc.search' has no attribute {name!r}")
    return import_module("hesc.protocols.search.client").SearchClient
