"""A model as its client is given it, and who sees what: nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc._native import HescError, OutOfRangeError, WireError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc.models import samples, transforms
from hesc.models.conclusions import LINKS, Concluding
from hesc.models.described import Described
from hesc.models.layers import ACTIVATIONS, Layer, Network
from hesc.models.trees import TreeEnsemble
from hesc.protocols import labels
from hesc.protocols.disclosure import Disclosing, Disclosure, model_kind
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.models.samples import Clipped

    Array = NDArray[np.float64]

_ROWS = 4096
"""Samples that are computed at a time."""
_LAYERS = 64
_WIDEST = 1 << 16
"""Features of a sample."""
_TREES = ("roots", "features", "left", "right")
"""Arrays of trees that are places."""


@dataclass(frozen=True, eq=False)
class ClearPlan(Disclosing, Concluding):
    """The model itself, for anybody: with `setting="one_side_clear"` it is nobody's secret.

    A client computes with it, by numpy alone, and sends nothing to anybody. There is no server, no
    key and no error beside that of doubles.
    """

    kind: ClassVar[str] = "clear plan"
    error: ClassVar[float | None] = None
    needs_keys: ClassVar[bool] = False
    encrypts_publicly: ClassVar[bool] = False
    rows: ClassVar[int] = _ROWS
    """Samples that are computed at a time."""
    described: Described
    """What is computed."""
    transformer: bool = False
    """Whether outputs are transformed samples."""

    @property
    def names(self) -> list[str]:
        """Names of the features, or none."""
        return self.described.names

    @property
    def inputs(self) -> int:
        """Features of a sample."""
        return self.described.inputs

    @property
    def classes(self) -> NDArray[Any] | None:
        """A classifier's classes; None of other models."""
        return self.described.classes

    @property
    def link(self) -> str:
        """One of `hesc.models.conclusions.LINKS`."""
        return self.described.link

    def sizes(self, _samples: int = 1) -> Sizes:
        """Bytes up and down: none."""
        return Sizes(0, 0)

    def prepared(self, given: ArrayLike, *, clip: bool = False) -> Clipped:
        """Samples after the transforms. There are no ranges, hence nothing to `clip`.

        Raises:
            OutOfRangeError: what is no finite number.
            ShapeError: rows of another length, columns of other names.

        """
        width = self.described.steps[-1].widths[1] if self.described.steps else self.inputs
        ranges = np.full(width, -np.inf), np.full(width, np.inf)
        steps = self.described.steps
        return samples.prepared(
            given, inputs=self.inputs, names=self.names, steps=steps, ranges=ranges, clip=clip
        )

    @usual_floats
    def raw(self, features: Array) -> Array:
        """A row of outputs for each row of features after the transforms.

        Raises:
            OutOfRangeError: outputs beyond what doubles hold.

        """
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.described.model.scores(features)
        if not np.isfinite(found).all():
            raise OutOfRangeError("scores of these samples are beyond what doubles hold")
        # Of shares of two classes, each with roundings of its own, the greater one is the class.
        shares = self.classes is not None and _are_shares(self.described.model)
        return (found[:, 1:] - found[:, :1]) / 2 if shares else found

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with errors and bytes."""
        model, classes = self.described.model, self.classes
        count = None if classes is None else len(classes)
        what = model_kind(count, transformer=self.transformer)
        size = f"{len(self.to_bytes())} bytes"
        form = (
            f"{len(model.roots)} trees of {len(model.features)} nodes in all"
            if isinstance(model, TreeEnsemble)
            else f"layers of {', '.join(str(len(layer.intercepts)) for layer in model.layers)}"
        )
        discloses = [f"the whole model ({form}, {size})"]
        discloses += ["names of features"] * bool(self.names)
        discloses += ["names of classes"] * (classes is not None)
        rows = {
            "setting": "one_side_clear: the model is nobody's secret; the samples are the client's",
            "server": "there is none; nothing is sent, and nobody sees a sample",
            "client": "has the model and computes with it whatever it likes, scores among it",
            "is given": "; ".join([*discloses, *(x.discloses for x in self.described.steps)]),
            "queries": "none: nobody counts them",
            "error": "none beside that of doubles",
            "bytes": "0 up, 0 down; no keys",
        }
        title = f"Public {what}: {self.inputs} features, computed by the client, nothing encrypted"
        return Disclosure(title, rows)

    def __repr__(self) -> str:
        return f"<hesc.ml.ClearPlan: {self.inputs} features>"

    def to_bytes(self) -> bytes:
        """The wire form, for a client: **the model in the clear**."""
        found = self.described
        fields = {
            "inputs": found.inputs,
            "names": found.names,
            "steps": transforms.described(found.steps),
            "model": _model_document(found.model),
            "classes": labels.described_or_none(found.classes),
            "link": found.link,
            "transformer": self.transformer,
        }
        return documents.write(self.kind, fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> ClearPlan:
        """A plan from its wire form.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        fields = {"inputs", "names", "steps", "model", "classes", "link", "transformer"}
        given = documents.read(data, cls.kind, fields)
        inputs = given["inputs"]
        names = documents.read_names(given["names"], inputs)
        if inputs > _WIDEST:
            raise WireError(f"a clear plan has 1 to {_WIDEST} features")
        steps, width = transforms.read(given["steps"], inputs)
        model = _model_of(given["model"], width)
        outputs = 1 if _are_shares(model) and given["classes"] is not None else model.outputs
        classes = labels.read_for_scores(given["classes"], outputs)
        link = documents.one_of(given["link"], LINKS, "a link")
        transformer = given["transformer"]
        if type(transformer) is not bool or (transformer and classes is not None):
            raise WireError("a plan of a transformer has no classes")
        described = Described(inputs, names, steps, model, classes, link)
        return cls(described, transformer=transformer)


def _are_shares(model: Network | TreeEnsemble) -> bool:
    """Whether trees give shares of two classes, which one score is made of."""
    return isinstance(model, TreeEnsemble) and model.outputs == 2


def _model_document(model: Network | TreeEnsemble) -> dict[str, Any]:
    if isinstance(model, Network):
        layers = [
            {
                "weights": documents.packed(layer.weights),
                "intercepts": documents.packed(layer.intercepts),
                "activation": layer.activation,
            }
            for layer in model.layers
        ]
        return {"model": "layers", "layers": layers}
    arrays = (*_TREES, "thresholds", "values", "offset", "divisor")
    return {"model": "trees"} | {
        name: documents.packed(np.atleast_1d(np.asarray(getattr(model, name), dtype=np.float64)))
        for name in arrays
    }


def _model_of(value: object, width: int) -> Network | TreeEnsemble:
    """Layers or trees of so many features, from a document."""
    found = value.get("model") if isinstance(value, dict) else None
    kind = documents.one_of(found, ("layers", "trees"), "a model")
    try:
        model = _layers(value) if kind == "layers" else _trees(value, width)
    except HescError as error:
        if isinstance(error, WireError):
            raise
        raise WireError(f"the model of a clear plan: {error}") from error
    if model.inputs != width:
        raise WireError("the model of a clear plan takes other features than there are")
    return model


def _layers(value: object) -> Network:
    listed = documents.exactly(value, {"model", "layers"}, "model of layers")["layers"]
    if not isinstance(listed, list) or not 1 <= len(listed) <= _LAYERS:
        raise WireError(f"a model has from 1 to {_LAYERS} layers")
    layers = []
    for item in listed:
        given = documents.exactly(item, {"weights", "intercepts", "activation"}, "layer")
        weights = documents.unpacked(given["weights"], 2, "weights")
        intercepts = documents.unpacked(given["intercepts"], 1, "intercepts")
        activation = documents.one_of(given["activation"], tuple(ACTIVATIONS), "an activation")
        layers.append(Layer(weights, intercepts, activation))
    return Network(tuple(layers))


def _trees(value: object, width: int) -> TreeEnsemble:
    names = {*_TREES, "thresholds", "values", "offset", "divisor"}
    given = documents.exactly(value, {"model", *names}, "model of trees")
    found = {
        name: documents.unpacked(given[name], 2 if name == "values" else 1, name) for name in names
    }
    for name in _TREES:
        places = found[name]
        if (places != np.floor(places)).any() or (np.abs(places) > 1 << 32).any():
            raise WireError(f"{name} of trees are whole numbers")
        found[name] = places.astype(np.int64)
    parts: dict[str, Any] = found
    if parts["divisor"].shape != (1,):
        raise WireError("sums of trees are divided by one number")
    parts["divisor"] = float(parts["divisor"][0])
    return TreeEnsemble(width, **parts)
