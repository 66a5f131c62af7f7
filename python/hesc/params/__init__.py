"""Parameter sets: named presets and checked sets of one's own.

`Params` makes sets of all kinds. Those for streams are `StreamParams`, those for vectors
`VectorParams`; who uses `hesc.Params` meets neither by name.
"""

from hesc.params.parameter_set import Params
from hesc.params.stream_params import StreamParams
from hesc.params.vectors import Dimension, VectorParams

__all__ = ["Dimension", "Params", "StreamParams", "VectorParams"]
