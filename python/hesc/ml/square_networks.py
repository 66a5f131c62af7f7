"""Networks of one square layer, whose server has neither samples nor weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from hesc._native import ParameterError
from hesc.ml.classifying import Classifying
from hesc.models.extraction import parts_of
from hesc.protocols.streams.options import Streams
from hesc.protocols.streams.square_estimators import GivenSquareNetwork

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.protocols.backend import Table
    from hesc.streams.networks import SquareNetwork


class PrivateSquareNetwork(Classifying):
    """A classifier with one layer of squares, on streams of encrypted bits.

    Samples and model are encrypted under the client's key; the client learns outputs that err as
    short streams do. `from_network` takes a network, and nothing is fitted here.

    Args:
        estimator: what `from_network` makes of a network.

    >>> from hesc.streams.iris import load_network, load_split
    >>> split = load_split()
    >>> private = PrivateSquareNetwork.from_network(load_network())
    >>> plan = private.plan(split.train_features)
    >>> private.predict(split.test_features[[0, 16]], fhe="execute", progress=False).tolist()
    ['setosa', 'virginica']

    """

    _finals = (GivenSquareNetwork,)
    _backends: ClassVar[Table] = {Streams: "hesc.protocols.streams.backend:StreamBackend"}

    @classmethod
    def from_network(cls, network: SquareNetwork) -> Self:
        """Around a network of `hesc.streams.networks`, such as `hesc.streams.iris.load_network()`.

        Raises:
            ParameterError: what is none.

        """
        from hesc.streams.networks import SquareNetwork

        if not isinstance(network, SquareNetwork):
            raise ParameterError(
                f"from_network takes a hesc.streams.networks.SquareNetwork, which "
                f"SquareNetwork.load reads; this is a {type(network).__name__}"
            )
        return cls.from_fitted(GivenSquareNetwork(network))

    @classmethod
    def _check(cls, estimator: Any) -> None:
        if type(estimator) is not GivenSquareNetwork:
            raise ParameterError(
                f"{type(estimator).__name__} is no network of one square layer: "
                f"PrivateSquareNetwork.from_network takes those of hesc.streams.networks; "
                f"PrivateMLPClassifier computes other networks"
            )

    def _clear_scores(self, rows: Any) -> NDArray[np.float64]:
        network: SquareNetwork = parts_of(self.estimator_)[-1].network
        return network.values(rows)
