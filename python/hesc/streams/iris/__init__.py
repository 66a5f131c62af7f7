"""The Iris flowers: data, the trained network of koseki2022hesc section 4.3, and its training."""

from __future__ import annotations

from importlib.resources import as_file, files

from hesc.streams.iris.data import Split, load_split
from hesc.streams.networks import SquareNetwork


def load_network() -> SquareNetwork:
    """The network that ships with hesc; `python -m hesc.streams.iris.train` makes it again."""
    with as_file(files("hesc.streams.iris") / "network.json") as path:
        return SquareNetwork.load(path)


__all__ = ["Split", "load_network", "load_split"]
