"""What all plans have: fields declared once, a digest, sizes and who learns what; and of models."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hesc._native import ParameterError, WireError
from hesc.models import conclusions, samples, transforms
from hesc.params import wire_sizes
from hesc.protocols.disclosure import Disclosing
from hesc.protocols.message import Kind, Message
from hesc.protocols.wire import Documented

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hesc._native import Steps
    from hesc.models.conclusions import Isotonic
    from hesc.models.fidelity import Fidelity
    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform
    from hesc.ring_products.plans import Sizes

_HEADS: Final = 1 << 16
"""Bytes of a message that a plan's sizes may leave out, at most."""


class Plan(Documented, Disclosing):
    """Public, and the same on all sides: what they compute with, and what each learns.

    A plan is a frozen dataclass (`eq=False`) whose fields are declared for its wire form; see
    `hesc.protocols.wire`.
    """

    document: ClassVar[str] = "plan"
    roles: ClassVar[tuple[str, ...]] = ("client", "server")
    """Sides of the protocol, each a row of the table of who learns what."""

    @property
    @abstractmethod
    def params(self) -> Any:
        """The parameter set of the keys."""

    @property
    def key_parts(self) -> tuple[str, ...]:
        """Parts of the public keys that are given away, beside the public one itself."""
        return ()

    @property
    def key_options(self) -> dict[str, Any]:
        """Options of key generation, by name: what the key's owner makes."""
        return {}

    @property
    @abstractmethod
    def needs_keys(self) -> bool:
        """Whether somebody is given public keys before anything is computed."""

    @property
    def key_bytes(self) -> int:
        """Bytes of the public keys that a server is given; 0 where it is given none.

        Raises:
            ParameterError: a plan on streams, whose server is given none.

        """
        return wire_sizes.made_keys(self.params, **self.key_options) if self.needs_keys else 0

    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Bytes of the messages, in the order in which they are sent."""

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the wire form: what messages, manifests and people call this plan by."""
        return hashlib.sha256(self.to_bytes()).digest()

    def opened(self, data: bytes, kind: Kind, parts: int | None = None) -> Message:
        """A message of this plan from its wire form.

        Raises:
            WireError: damaged bytes, another kind or plan, other parts, or another number of
                samples than such a message has.

        """
        return Message.from_bytes(data, kind, plan=self.digest, parts=parts)


class ModelPlan(Plan):
    """A plan by which a model is served: samples of a client, and what it learns of each.

    Its declared fields are `inputs`, `names`, `steps` and `classes`, among others.
    """

    # What most plans have not: a plan that has it declares a field, or a property, of that name.
    link: str = "none"
    """How scores become probabilities: one of `hesc.models.conclusions.LINKS`."""
    calibration: Isotonic | None = None
    """Functions of scores whose values are shares of classes, where the link is isotonic."""
    parties: Mapping[str, Any] = MappingProxyType({})
    """Owners of columns, by name; none where all features of a sample are the client's."""
    fidelity: Fidelity | None = None
    """Where what is computed is not the model that was fitted: how near it comes."""
    compiled: ClassVar[tuple[str, ...]] = ("_computed",)
    """What a plan keeps of its compiled part, by its attributes' names."""
    prepares: ClassVar[bool] = False
    """Whether queries can be prepared before samples are known."""
    needs_query: bool = False
    """Whether an answer is read with the query that it is to."""
    has_index: bool = False
    """Whether the server's records are a file of their own, beside its folder."""
    seconds: float | None = None
    """What a query takes on one thread, where its maker predicted it."""

    if TYPE_CHECKING:
        inputs: int
        names: list[str]
        steps: list[Transform]
        classes: NDArray[Any] | None

        @property
        def rows(self) -> int:
            """Samples of one query, at most; more of them go as several."""

        @property
        def error(self) -> float | None:
            """The root mean square of a score's error, at most; None where nothing errs."""

        @property
        def ranges(self) -> tuple[NDArray[Any], NDArray[Any]]:
            """The least and the greatest value of each encrypted feature."""

    @property
    def error_in_words(self) -> str | None:
        """What `error` says of one answer; None where nothing errs."""
        if self.error is None:
            return None
        return (
            f"errors of scores have a root mean square of {self.error:.3g} at most, over servers "
            f"and samples, and single ones may be several times as large"
        )

    @property
    def agreement(self) -> float | None:
        """The least share of samples that keeps its class, where its maker counted it."""
        return None

    @property
    def deployment_error(self) -> float | None:
        """What one server's errors stay within with 99 % probability, where servers differ."""
        return None

    @property
    def samples_in_all(self) -> int | None:
        """Samples that the server answers in all its life; None where nothing is counted."""
        return None

    @property
    def encrypts_publicly(self) -> bool:
        """Whether a client encrypts under its public keys, and keeps them beside the secret one."""
        return False

    @abstractmethod
    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""

    def prepared(self, given: Samples, *, clip: bool = False) -> Clipped:
        """Samples as they are encrypted: after the client's transforms, within the ranges.

        Args:
            given: a row of features for each, as the model's owner has them; the columns of a
                DataFrame have the plan's names.
            clip: bring values beyond the ranges to their ends instead of refusing them.

        Raises:
            OutOfRangeError: a value beyond its range, or one that is no number.
            ShapeError: rows of another length, columns of other names.

        """
        return samples.prepared(
            given,
            names=self.names,
            steps=self._computed,
            ranges=self.ranges,
            clip=clip,
        )

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: fields. What is compiled of them is made again."""
        return {name: each for name, each in vars(self).items() if name not in self.compiled}

    @cached_property
    def _computed(self) -> Steps:
        """The client's transforms, ready: a sample takes less than reading them does."""
        return transforms.compiled(self.steps, self.inputs)

    def probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Probabilities of all classes, by the link.

        Raises:
            ParameterError: a model whose scores give none.

        """
        if self.classes is None:
            raise ParameterError("a regressor has no probabilities; its predictions are numbers")
        return conclusions.probabilities(
            self.link, scores, classes=len(self.classes), calibration=self.calibration
        )

    def longest(self, kind: Kind) -> int:
        """Bytes of a message of this plan, at most.

        Twice what the plan says, which is a bit off where noise does not travel whole.
        """
        size = self._full
        return _HEADS + 2 * (size.down if kind is Kind.ANSWER else size.up)

    @cached_property
    def _full(self) -> Sizes:
        """Bytes of a full query and its answer: every message is held against them."""
        return self.sizes(self.rows)

    def opened(self, data: bytes, kind: Kind, parts: int | None = None) -> Message:
        """A message of this plan from its wire form; longer ones, or of more samples, are refused.

        Nothing is allocated for one that is longer than the plan has any.
        """
        if isinstance(data, bytes) and len(data) > self.longest(kind):
            raise WireError(
                f"{kind.description} of this plan has {self.longest(kind)} bytes at most; this one "
                f"has {len(data)}"
            )
        found = super().opened(data, kind, parts)
        if found.samples > self.rows:
            raise WireError(
                f"{kind.description} of this plan has {self.rows} samples at most; this one says "
                f"{found.samples}"
            )
        return found
