"""Networks of one square layer, whose server has neither samples nor weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from hesc._native import ParameterError
from hesc.ml.classifying import Classifying
from hesc.models.extraction import parts_of
from hesc.models.square import GivenSquareNetwork
from hesc.protocols.streams.planning import PRESET, STREAM_LENGTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hesc.protocols.backend import Table
    from hesc.protocols.streams.plan import StreamPlan
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
    _backends: ClassVar[Table] = {
        ("outsourced", "scores"): "hesc.protocols.streams.backend:StreamBackend"
    }

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

    def _clear_scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        network: SquareNetwork = parts_of(self.estimator_)[-1].network
        return network.values(rows)

    def plan(  # type: ignore[override]  # streams have other options
        self,
        X: ArrayLike,
        *,
        preset: str = PRESET,
        stream_length: int = STREAM_LENGTH,
        layout: str = "auto",
        names: Sequence[str] = (),
        table: bool | None = None,
    ) -> StreamPlan:
        """Chooses nothing, and says who learns what, errors and bytes: print what it returns.

        Args:
            X: rows of which a thousand tell how many classes errors change.
            preset: name of the parameters, of a scheme whose bits multiply by one addition.
            stream_length: bits of a stream; errors fall with its square root.
            layout: "side_by_side", "one_per_block" or "auto", which takes the first where it fits.
            names: of the features.
            table: whether to print the table of contenders, of which this has none; None prints it
                where Python is interactive or standard output is a terminal.

        Raises:
            ParameterError: parameters that are weak, or not for such networks; streams that do not
                fit.

        Cost: a pair of keys, and one encrypted sample to count bytes.

        """
        found: StreamPlan = self._planned_by(
            X,
            "outsourced",
            "scores",
            names,
            table=table,
            preset=preset,
            stream_length=stream_length,
            layout=layout,
        )
        return found
