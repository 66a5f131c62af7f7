"""Parameter sets: named presets and checked sets of one's own.

`Params` are sets for streams, `LeveledParams` those for vectors.
"""

from hesc.params.streams import Params, checked_params
from hesc.params.vectors import Dimension, LeveledParams

__all__ = ["Dimension", "LeveledParams", "Params", "checked_params"]
