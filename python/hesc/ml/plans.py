"""What client and server of a model agree upon, who holds what, and who learns what."""

from __future__ import annotations

import base64
import binascii
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError, WireError
from hesc.inputs import real_array, unmasked
from hesc.ml import conclusions, documents, transforms
from hesc.ml.conclusions import LINKS
from hesc.ml.disclosure import table
from hesc.ring_products.plans import Plan, Sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.transforms import Transform

_CIPHERTEXTS: Final = 64
"""Of a query: enough that seeds and heads do not count, few enough to show progress."""

_SETTINGS: Final = {
    "outsourced": "the model is encrypted too: hesc.networks evaluates encrypted models on streams",
    "one_side_clear": "write setting='client_server' where the server's model is what is clear",
    "many_parties": "hesc.linkage has three parties; models of several owners are not here",
}
_DISCLOSURES: Final = {
    "class": "the client decrypts scores, so it sees them, and learns more than a class. "
    "Comparisons under encryption would do: hesc.gates, or hesc.integers with argmax",
    "products": "the server adds up products before it answers; only scores come back",
    "distances": "for distances see hesc.codes",
}


def check_wishes(setting: str, disclose: str) -> None:
    """Refuses a setting that is not this one, and a disclosure that would not be kept.

    Raises:
        ParameterError: with the reason, and what would do.

    """
    if setting != "client_server":
        known = _SETTINGS.get(str(setting), f"known are client_server, {', '.join(_SETTINGS)}")
        raise ParameterError(
            f"setting={setting!r} is not what ring products do, whose server knows its model: "
            f"{known}; here, take setting='client_server'"
        )
    if disclose != "scores":
        known = _DISCLOSURES.get(str(disclose), "there is no such disclosure")
        raise ParameterError(f"disclose={disclose!r} is refused: {known}; else disclose='scores'")


class Clipped(NamedTuple):
    """Features ready to be encrypted."""

    features: NDArray[np.float64]
    """After transforms, within the ranges."""
    values: int
    """How many were beyond, and were brought to the end of their range."""
    samples: int
    """In how many samples."""


@dataclass(frozen=True, eq=False)
class PrivatePlan:
    """Public, and the same on both sides: ranges, transforms, names, and the ring product's plan.

    `PrivateClassifier.plan` and `PrivateRegressor.plan` make one; print it to read who holds and
    learns what. Its wire form is what a client is given.
    """

    kind: ClassVar[str] = "plan"
    """Of its document."""
    ring: Plan
    """Sizes and scales."""
    steps: list[Transform]
    """What the client does with features before it encrypts them."""
    inputs: int
    """Features of a sample before that."""
    names: list[str]
    """Their names, or none."""
    classes: NDArray[Any] | None
    """Of a classifier."""
    link: str
    """One of `LINKS`."""
    agreement: float | None = None
    """Of a classifier's maker: the least share of rows that is expected to keep its class."""

    @property
    def error(self) -> float:
        """The root mean square of a score's error, at most."""
        return self.ring.error

    @property
    def hidden(self) -> bool:
        """Whether weights are hidden from the client, as far as scores leave them hidden."""
        return self.ring.answers is not None

    @property
    def needs_keys(self) -> bool:
        """Whether the server is given the client's public keys before it answers."""
        return self.hidden

    @property
    def rows(self) -> int:
        """Samples of one query, at most; more of them go as several."""
        return min(self.ring.most_samples, _CIPHERTEXTS * self.ring.capacity)

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes up and down for so many samples, over as many queries as they take."""
        whole, rest = divmod(samples, self.rows)
        parts = [(whole, self.rows)] * (whole > 0) + [(1, rest)] * (rest > 0)
        found = [(times, self.ring.sizes(count)) for times, count in parts]
        return Sizes(sum(t * s.up for t, s in found), sum(t * s.down for t, s in found))

    def prepared(self, samples: ArrayLike, *, clip: bool = False) -> Clipped:
        """Samples as they are encrypted.

        Args:
            samples: a row of features for each, as the model's owner has them; the columns of a
                DataFrame have the plan's names.
            clip: bring values beyond the ranges to their ends instead of refusing them.

        Raises:
            OutOfRangeError: a value beyond its range, or one that is no number.
            ShapeError: rows of another length, columns of other names.

        """
        self._check_names(samples)
        x = real_array(unmasked(samples, "samples"), "samples")
        if x.ndim != 2 or x.shape[1] != self.inputs or not len(x):
            raise ShapeError(f"samples are rows of {self.inputs} features; got the shape {x.shape}")
        x = transforms.transformed(self.steps, x)
        low, high = self.ring.ranges
        beyond = (x < low) | (x > high)
        if beyond.any() and not clip:
            # Places, no values.
            row, column = np.argwhere(beyond)[0]
            name = f" ({self.names[column]!r})" if self.names and not self.steps else ""
            raise OutOfRangeError(
                f"feature {column}{name} of sample {row} is beyond its declared range, as "
                f"{beyond.sum()} values in all; declare wider ranges=, or clip=True to bring them "
                f"to the ends"
            )
        return Clipped(np.clip(x, low, high), int(beyond.sum()), int(beyond.any(axis=1).sum()))

    def _check_names(self, samples: ArrayLike) -> None:
        columns = getattr(samples, "columns", None)
        if columns is None or not self.names or list(columns) == self.names:
            return
        raise ShapeError(
            f"columns are named otherwise than the plan's features, or in another order; select "
            f"them by plan.names, which begins with {self.names[:3]}"
        )

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of outputs in scikit-learn's form: a row where a model has one output."""
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Classes by the highest score, or the scores of a regressor themselves."""
        return conclusions.predictions(self.classes, scores)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of all classes, by the link.

        Raises:
            ParameterError: a model whose scores give none.

        """
        return conclusions.probabilities(self.link, scores)

    def __str__(self) -> str:
        most = 100 if self.ring.answers is None else self.ring.answers // self.ring.shape[0]
        counts = sorted({1, min(100, max(1, most))})
        return table(
            self.ring,
            {samples: self.sizes(samples) for samples in counts},
            steps=self.steps,
            named=bool(self.names),
            classes=None if self.classes is None else len(self.classes),
            probabilities=self.link != "none",
            agreement=self.agreement,
        )

    def __repr__(self) -> str:
        what = "regressor" if self.classes is None else f"{len(self.classes)} classes"
        return f"<hesc.ml.PrivatePlan: {what}, {self.ring!r}>"

    def to_bytes(self) -> bytes:
        """The wire form, for a client."""
        fields = {
            "ring": base64.b64encode(self.ring.to_bytes()).decode(),
            "inputs": self.inputs,
            "names": self.names,
            "steps": transforms.described(self.steps),
            "classes": None if self.classes is None else _described(self.classes),
            "link": self.link,
        }
        return documents.write(self.kind, fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> PrivatePlan:
        """A plan from its wire form.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        names = {"ring", "inputs", "names", "steps", "classes", "link"}
        given = documents.read(data, cls.kind, names)
        try:
            ring = Plan.from_bytes(base64.b64decode(given["ring"], validate=True))
        except (binascii.Error, TypeError, ValueError) as error:
            raise WireError(f"the ring product of a plan of hesc.ml: {error}") from error
        inputs, names_of = given["inputs"], documents.text_list(given["names"], "names")
        if type(inputs) is not int or inputs < 1 or len(names_of) not in {0, inputs}:
            raise WireError("a plan of hesc.ml has a number of features, and as many names or none")
        steps, width = transforms.read(given["steps"], inputs)
        outputs, features = ring.shape
        if width != features:
            raise WireError("the transforms of a plan give another number of features than it has")
        classes = None if given["classes"] is None else _classes(given["classes"])
        if classes is not None and outputs != (1 if len(classes) == 2 else len(classes)):
            raise WireError("a plan has another number of classes than of scores")
        link = documents.one_of(given["link"], LINKS, "a link")
        return cls(ring, steps, inputs, names_of, classes, link)


_LABELS: Final = {"bool": bool, "int": int, "float": float, "str": str}


def _described(classes: NDArray[Any]) -> dict[str, Any]:
    values = classes.tolist()
    for name, kind in _LABELS.items():
        if all(type(value) is kind for value in values) and _are_apart(values):
            return {"type": name, "values": values}
    raise ParameterError(
        f"a client is told classes that are texts of {documents.NAME} letters at most, whole "
        "numbers, finite numbers or truth values; encode others first "
        "(sklearn.preprocessing.LabelEncoder)"
    )


def _are_apart(values: list[Any]) -> bool:
    """Whether labels are all different, finite where they are numbers, and no longer than names."""
    texts = all(documents.is_name(value) for value in values if isinstance(value, str))
    numbers = all(math.isfinite(value) for value in values if isinstance(value, float))
    return texts and numbers and len(set(values)) == len(values)


def _classes(value: object) -> NDArray[Any]:
    given = documents.exactly(value, {"type", "values"}, "list of classes")
    kind = _LABELS[documents.one_of(given["type"], tuple(_LABELS), "a type of classes")]
    values = given["values"]
    if not isinstance(values, list) or len(values) < 2 or any(type(x) is not kind for x in values):
        raise WireError("the classes of a plan are two or more, of the type that is named")
    if not _are_apart(values):
        raise WireError("the classes of a plan are finite numbers or names, each another")
    if kind is int and any(abs(x) >= 1 << 63 for x in values):
        raise WireError("classes that are whole numbers are below 2^63")
    return np.array(values)
