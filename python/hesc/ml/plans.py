"""What client and server of a model agree upon, who holds what, and who learns what."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hesc._native import ParameterError, WireError
from hesc.inputs import whole
from hesc.ml import conclusions, documents, fidelity, labels, transforms
from hesc.ml.conclusions import LINKS
from hesc.ml.disclosure import table
from hesc.ml.samples import Clipped, prepared
from hesc.ring_products.plans import Plan, Sizes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.fidelity import Fidelity
    from hesc.ml.transforms import Transform

_CIPHERTEXTS: Final = 64
"""Of a query: enough that seeds and heads do not count, few enough to show progress."""


_SETTINGS: Final = {
    "outsourced": "for an encrypted model see hesc.ring_products.Plan.encrypted; hesc.planner "
    "compares it with other ways",
    "one_side_clear": "a model that is nobody's secret is best computed by the client itself, in "
    "the clear, as hesc.planner shows",
    "many_parties": "hesc.logarithms multiplies what several owners encrypt; models on features "
    "of several owners are not here",
}
_DISCLOSURES: Final = {
    "class": "the client decrypts scores, so it sees them, and learns more than a class. "
    "hesc.ml.decisions.offers.offer compares on the server, which answers the class alone",
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
    fidelity: Fidelity | None = None
    """Where what is computed is not the model that was fitted: how near it comes."""
    transformer: bool = False
    """Whether outputs are transformed samples."""

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
        full, rest = divmod(whole(samples, "samples", 0), self.rows)
        parts = [(full, self.rows)] * (full > 0) + [(1, rest)] * (rest > 0)
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
        return prepared(
            samples,
            inputs=self.inputs,
            names=self.names,
            steps=self.steps,
            ranges=self.ring.ranges,
            clip=clip,
        )

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of outputs in scikit-learn's form: a row where a model has one output."""
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Classes by the highest score, or numbers: scores, of a transformer always in rows."""
        if self.transformer and scores.ndim == 1:
            return scores[:, None]
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
            fidelity=self.fidelity,
            transformer=self.transformer,
        )

    def __repr__(self) -> str:
        what = "transformer" if self.transformer else "regressor"
        what = what if self.classes is None else f"{len(self.classes)} classes"
        return f"<hesc.ml.PrivatePlan: {what}, {self.ring!r}>"

    def to_bytes(self) -> bytes:
        """The wire form, for a client."""
        fields = {
            "ring": base64.b64encode(self.ring.to_bytes()).decode(),
            "inputs": self.inputs,
            "names": self.names,
            "steps": transforms.described(self.steps),
            "classes": None if self.classes is None else labels.described(self.classes),
            "link": self.link,
            "fidelity": None if self.fidelity is None else self.fidelity.described(),
            "transformer": self.transformer,
        }
        return documents.write(self.kind, fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> PrivatePlan:
        """A plan from its wire form.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        names = {
            "ring",
            "inputs",
            "names",
            "steps",
            "classes",
            "link",
            "fidelity",
            "transformer",
        }
        given = documents.read(data, cls.kind, names)
        try:
            ring = Plan.from_bytes(base64.b64decode(given["ring"], validate=True))
        except (binascii.Error, TypeError, ValueError) as error:
            raise WireError(f"the ring product of a plan of hesc.ml: {error}") from error
        inputs = given["inputs"]
        names_of = documents.read_names(given["names"], inputs)
        steps, width = transforms.read(given["steps"], inputs)
        outputs, features = ring.shape
        if width != features:
            raise WireError("the transforms of a plan give another number of features than it has")
        classes = None if given["classes"] is None else labels.read(given["classes"])
        if classes is not None and outputs != (1 if len(classes) == 2 else len(classes)):
            raise WireError("a plan has another number of classes than of scores")
        link = documents.one_of(given["link"], LINKS, "a link")
        near = None if given["fidelity"] is None else fidelity.read(given["fidelity"])
        if type(given["transformer"]) is not bool or (given["transformer"] and classes is not None):
            raise WireError("a plan of a transformer has no classes")
        transformer: bool = given["transformer"]
        return cls(
            ring,
            steps,
            inputs,
            names_of,
            classes,
            link,
            fidelity=near,
            transformer=transformer,
        )
