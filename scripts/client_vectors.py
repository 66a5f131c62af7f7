"""Writes vectors/client/: what clients make of tables, by scikit-learn, and what they refuse.

The tests of the crate hesc-client and those of Python read them. Run: python -m
scripts.client_vectors
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from hesc._support.documents import packed
from hesc.models import transforms
from hesc.models.steps import transforms_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Step = dict[str, Any]

TARGET = Path(__file__).parents[1] / "vectors" / "client"
RNG = np.random.default_rng(43)
NUMBERS = RNG.normal(size=(24, 3)).round(2)
HOLES = np.where(RNG.random((24, 3)) < 0.2, np.nan, NUMBERS)
WORDS: list[list[str | None]] = [
    [["red", "grün", "blue", "red"][i % 4] for i in range(12)],
    [["yes", None, "no"][i % 3] for i in range(12)],
]
Y = np.arange(12) % 5
TEXTS = [
    "The quick brown fox, the lazy dog.",
    "Füchse & Hunde: ÄÖÜ äöü ß İstanbul ΟΔΟΣ",
    "naïve café CAFÉ cafe\u0301 ﬁne ² ½ x_1 a b",
    "",
    "  tabs\tand\x1flines\n\n of   spaces\u00a0\u2003here ",
    "一二 三 число числа ЧИСЛО нет क्षेत्र นี้ 🦊🦊 don't e-mail",
]
NAMED = {
    "abs": np.abs,
    "arctan": np.arctan,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "logit": special.logit,
    "negative": np.negative,
    "reciprocal": np.reciprocal,
    "sigmoid": special.expit,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
}
EXACT = {"abs", "negative", "reciprocal", "sqrt", "square"}


def case(
    name: str,
    steps: list[Step],
    features: Any,
    *,
    numbers: NDArray[np.float64] | None = None,
    words: list[list[str | None]] | None = None,
    tolerance: float = 0.0,
) -> Step:
    """A table, its steps, and what scikit-learn makes of it."""
    columns = words or []
    if numbers is None:
        numbers = np.full((len(columns[0]), len(columns)), np.nan)
    dense = features.toarray() if hasattr(features, "toarray") else features
    return {
        "name": name,
        "inputs": numbers.shape[1],
        "steps": steps,
        "numbers": packed(numbers),
        "words": columns,
        "features": packed(np.asarray(dense, dtype=np.float64)),
        "tolerance": tolerance,
    }


def of_numbers() -> Iterator[Step]:
    """Scalers and the like, as extraction describes them."""
    exact: list[Any] = [
        StandardScaler(),
        RobustScaler(),
        MaxAbsScaler(),
        MinMaxScaler(),
        MinMaxScaler(clip=True),
        PolynomialFeatures(3),
        KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    ]
    near: list[Any] = [PCA(2), PCA(2, whiten=True)]
    near += [Nystroem(kernel, n_components=5, random_state=0) for kernel in transforms.KERNELS]
    for part in exact + near:
        part.fit(NUMBERS)
        steps = transforms.described(transforms_of(part))
        room = 1e-12 if part in near else 0.0
        name = repr(part).replace("\n", "")
        yield case(name, steps, part.transform(NUMBERS), numbers=NUMBERS, tolerance=room)
    scaler = StandardScaler().fit(HOLES)
    imputer = SimpleImputer(strategy="median").fit(scaler.transform(HOLES))
    scaled = transforms.described(transforms_of(scaler))
    fill = {"step": "fill", "values": imputer.statistics_.tolist(), "missing": None}
    yield case(
        "missing numbers pass a scaler and are filled",
        [*scaled, fill],
        imputer.transform(scaler.transform(HOLES)),
        numbers=HOLES,
    )
    indicator = MissingIndicator(features="all").fit(HOLES)
    told = {"step": "is_missing", "inputs": 3, "missing": None}
    yield case("missing numbers are told", [told], indicator.transform(HOLES), numbers=HOLES)
    zeros = np.where(RNG.random((24, 3)) < 0.3, 0.0, NUMBERS)
    imputer = SimpleImputer(missing_values=0, strategy="mean").fit(zeros)
    fill = {"step": "fill", "values": imputer.statistics_.tolist(), "missing": 0}
    yield case("zeros are filled", [fill], imputer.transform(zeros), numbers=zeros)
    for norm in ("l1", "l2", "max"):
        rows = np.vstack([NUMBERS, np.zeros((1, 3))])
        step = {"step": "normalise", "inputs": 3, "norm": norm}
        yield case(
            norm, [step], Normalizer(norm).fit_transform(rows), numbers=rows, tolerance=4e-16
        )
    # Edges that cells lie on, and one next to them; scikit-learn's trees compare so.
    rows = np.column_stack([NUMBERS[:, 0], HOLES[:, 2]])
    first, second = np.sort(NUMBERS[:3, 0]), np.sort(np.nextafter(NUMBERS[3:6, 2], 9.0))
    exceeds = {
        "step": "exceeds",
        "inputs": 2,
        "features": packed(np.array([1.0, 0.0])),
        "counts": packed(np.array([3.0, 3.0])),
        "missing": packed(np.array([1.0, 0.0])),
        "edges": packed(np.concatenate([second, first])),
    }
    told = MissingIndicator(features="all").fit_transform(rows[:, 1:])
    found = np.column_stack([rows[:, 1:] > second, told, rows[:, :1] > first])
    yield case("edges that numbers exceed", [exceeds], found, numbers=rows)
    # Ranges, of one column and of both, what is missing, and everything.
    low, high, gone = found[:, :3], found[:, 4:], found[:, 3]
    boxes = {
        "step": "inside",
        "inputs": 7,
        "conditions": packed(np.array([2.0, 3.0, 1.0, 0.0, 1.0])),
        "negated": packed(np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0])),
        "terms": packed(np.array([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0])),
        "columns": packed(np.array([0.0, 2, 1, 3, 4, 6, 3, 0, 3])),
    }
    inside = [
        (low[:, 0] == 1) & (low[:, 2] == 0),
        (low[:, 1] == 1) & (gone == 0) & (high[:, 0] == 0) & (high[:, 2] == 0),
        gone == 1,
        np.ones(len(rows)),
        (low[:, 0] == 1) | (gone == 1),
    ]
    yield case(
        "boxes that rows lie inside", [exceeds, boxes], np.column_stack(inside), numbers=rows
    )


def of_functions() -> Iterator[Step]:
    """Functions, powers and quantiles."""
    shares = RNG.random((24, 3)) * 0.98 + 0.01
    for name, function in NAMED.items():
        step = {"step": "function", "inputs": 3, "function": name}
        room = 0.0 if name in EXACT else 1e-15
        yield case(name, [step], function(shares), numbers=shares, tolerance=room)
    counts = np.floor(10 * shares)
    logs = np.where(counts > 0, np.log(np.maximum(counts, 1)) + 1, 0)
    step = {"step": "function", "inputs": 3, "function": "log_counts"}
    yield case("log_counts", [step], logs, numbers=counts, tolerance=1e-15)
    for method, rows in (("yeo-johnson", NUMBERS), ("box-cox", shares)):
        power = PowerTransformer(method, standardize=False).fit(rows)
        for lambdas in (power.lambdas_, np.array([0.0, 2.0, -1.5])):
            power.lambdas_ = lambdas
            name = method.replace("-", "_")
            step = {"step": "power", "method": name, "lambdas": packed(lambdas)}
            yield case(
                f"{method}, {lambdas}", [step], power.transform(rows), numbers=rows, tolerance=1e-14
            )
    coarse = NUMBERS.round(0)
    beyond = np.concatenate([coarse, coarse + 0.25, 10 * NUMBERS])
    for output in ("uniform", "normal"):
        part = QuantileTransformer(n_quantiles=9, output_distribution=output).fit(coarse)
        step = {
            "step": "quantiles",
            "references": packed(part.references_),
            "quantiles": packed(part.quantiles_),
            "output": output,
        }
        room = 0.0 if output == "uniform" else 1e-14
        yield case(output, [step], part.transform(beyond), numbers=beyond, tolerance=room)


def codes(categories: list[Any], unknown: Any, missing: Any, values: Any = None) -> Step:
    """A column of codes, by their places unless others are given."""
    own = np.arange(len(categories), dtype=np.float64) if values is None else values
    return {
        "categories": categories,
        "codes": packed(np.asarray(own, dtype=np.float64)),
        "unknown": unknown,
        "missing": missing,
    }


def of_words() -> Iterator[Step]:
    """Categories as codes, as ones among zeros, and as rows of a table."""
    # None is a category like others to OrdinalEncoder.
    x = np.array([[np.nan if word is None else word for word in own] for own in WORDS], object).T
    seen = x[:9]
    ordinal = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    ).fit(seen[:2])
    columns = [
        codes(words, -1, -2 if len(words) < len(own) else -1)
        for own in ordinal.categories_
        for words in [[c for c in own if isinstance(c, str)]]
    ]
    step = {"step": "codes", "columns": columns}
    yield case("OrdinalEncoder", [step], ordinal.transform(x), words=WORDS)
    hot = OneHotEncoder(handle_unknown="ignore").fit(seen[:2])
    sizes = [len(own) for own in hot.categories_]
    columns = [
        codes(words, -1, len(words) if len(words) < len(own) else -1)
        for own in hot.categories_
        for words in [[c for c in own if isinstance(c, str)]]
    ]
    ones = {"step": "one_hot", "sizes": sizes}
    yield case(
        "OneHotEncoder",
        [{"step": "codes", "columns": columns}, ones],
        hot.transform(x),
        words=WORDS,
    )
    target = TargetEncoder(target_type="multiclass", random_state=0).fit(x[:, :1], Y)
    own = target.categories_[0].tolist()
    table = np.array(target.encodings_).T
    steps = [
        {"step": "codes", "columns": [codes(own, len(own), len(own))]},
        {"step": "lookup", "tables": [packed(np.vstack([table, target.target_mean_]))]},
    ]
    yield case("TargetEncoder", steps, target.transform(x[:, :1]), words=WORDS[:1])
    both = ColumnTransformer(
        [
            ("words", OneHotEncoder(), [0]),
            ("numbers", StandardScaler(), [2]),
        ]
    )
    mixed = np.column_stack([x, NUMBERS[:12, 0].astype(object)])
    own = OneHotEncoder().fit(x[:, :1]).categories_[0].tolist()
    expected = both.fit_transform(mixed)
    scaler = transforms.described(transforms_of(both.named_transformers_["numbers"]))
    branches = [
        {
            "columns": [0],
            "steps": [
                {"step": "codes", "columns": [codes(own, None, None)]},
                {"step": "one_hot", "sizes": [len(own)]},
            ],
        },
        {"columns": [2], "steps": scaler},
    ]
    rows = np.column_stack([np.full((12, 1), np.nan), np.zeros((12, 1)), NUMBERS[:12, 0]])
    yield case(
        "ColumnTransformer",
        [{"step": "branches", "inputs": 3, "branches": branches}],
        expected,
        numbers=rows,
        words=WORDS[:1],
    )


def of_texts() -> Iterator[Step]:
    """Texts as counts."""
    options: dict[str, list[Any]] = {
        "lowercase": [True, False],
        "strip_accents": [None, "ascii", "unicode"],
        "analyzer": ["word", "char", "char_wb"],
        "ngram_range": [(1, 2), (2, 4)],
    }
    words: list[list[str | None]] = [list(TEXTS)]
    for chosen in itertools.product(*options.values()):
        given = dict(zip(options, chosen, strict=True))
        binary, stop = given["lowercase"], ["the", "cafe"] if given["analyzer"] == "word" else None
        step = {
            "step": "tokens",
            "lowercase": given["lowercase"],
            "accents": given["strip_accents"],
            "analyzer": given["analyzer"],
            "letters": 2,
            "ngrams": list(given["ngram_range"]),
            "stop_words": stop or [],
            "binary": binary,
        }
        counter = CountVectorizer(**given, stop_words=stop, binary=binary).fit(TEXTS[:4])
        vocabulary = {"vocabulary": counter.get_feature_names_out().tolist(), "hashed": None}
        yield case(f"counted, {given}", [step | vocabulary], counter.transform(TEXTS), words=words)
        for alternate in (True, False)[: 1 + (chosen[0] is False)]:
            hashing = HashingVectorizer(
                **given,
                stop_words=stop,
                binary=binary,
                n_features=16,
                alternate_sign=alternate,
                norm=None,
            )
            hashed = {"vocabulary": None, "hashed": {"features": 16, "alternate": alternate}}
            name = f"hashed, {given}, {alternate}"
            yield case(name, [step | hashed], hashing.transform(TEXTS), words=words)
    pattern = r"(?u)\b\w+\b"
    tfidf = TfidfVectorizer(sublinear_tf=True, token_pattern=pattern).fit(TEXTS)
    step = {
        "step": "tokens",
        "lowercase": True,
        "accents": None,
        "analyzer": "word",
        "letters": 1,
        "ngrams": [1, 1],
        "stop_words": [],
        "vocabulary": tfidf.get_feature_names_out().tolist(),
        "hashed": None,
        "binary": False,
    }
    count = len(tfidf.idf_)
    steps = [
        step,
        {"step": "function", "inputs": count, "function": "log_counts"},
        {"step": "affine", "centre": packed(np.zeros(count)), "factor": packed(tfidf.idf_)},
        {"step": "normalise", "inputs": count, "norm": "l2"},
    ]
    yield case("TfidfVectorizer", steps, tfidf.transform(TEXTS), words=words, tolerance=1e-15)


def refused() -> Iterator[Step]:
    """Documents that no client reads, by what is wrong with them."""
    two = packed(np.zeros(2))
    ones = packed(np.ones(2))
    sound: dict[str, Step] = {
        "affine": {"centre": two, "factor": two},
        "standard": {"centre": two, "scale": ones},
        "clip": {"low": two, "high": ones},
        "projection": {"centre": two, "matrix": packed(np.ones((1, 2)))},
        "monomials": {"inputs": 2, "factors": packed(np.zeros((1, 1)))},
        "kernel": {
            "kernel": "rbf",
            "components": packed(np.ones((1, 2))),
            "matrix": packed(np.ones((1, 1))),
            "options": packed(np.ones(3)),
        },
        "bins": {
            "inputs": 2,
            "features": packed(np.array([[0.0, -1]])),
            "counts": packed(np.array([[1.0, 0]])),
            "edges": packed(np.zeros(1)),
        },
        "exceeds": {
            "inputs": 2,
            "features": packed(np.array([1.0, 0.0])),
            "counts": packed(np.array([2.0, 1.0])),
            "missing": packed(np.array([0.0, 1.0])),
            "edges": packed(np.array([-1.5, 0.5, 2.0])),
        },
        "inside": {
            "inputs": 2,
            "conditions": packed(np.array([2.0, 1.0])),
            "negated": packed(np.array([0.0, 1.0, 0.0])),
            "terms": packed(np.array([1.0, 2.0, 1.0])),
            "columns": packed(np.array([0.0, 0.0, 1.0, 1.0])),
        },
        "branches": {"inputs": 2, "branches": [{"columns": [0], "steps": []}]},
        "codes": {"columns": [codes([1.5], None, None), codes([2], 0, "missing")]},
        "one_hot": {"sizes": [1, 2]},
        "lookup": {"tables": [packed(np.ones((1, 1)))] * 2},
        "fill": {"values": [1, 2], "missing": None},
        "is_missing": {"inputs": 2, "missing": None},
        "function": {"inputs": 2, "function": "abs"},
        "power": {"method": "yeo_johnson", "lambdas": two},
        "quantiles": {
            "references": packed(np.array([0.0, 1.0])),
            "quantiles": packed(np.array([[0.0, 0.0], [1.0, 1.0]])),
            "output": "normal",
        },
        "normalise": {"inputs": 2, "norm": "l2"},
    }
    lies: list[Any] = [
        None,
        0,
        -1,
        3,
        0.5,
        1e300,
        True,
        "x",
        "",
        [],
        [[]],
        {},
        packed(np.ones(1)),
        packed(np.ones(3)),
        packed(np.full((3, 3), 7.5)),
        packed(np.array([np.nan, 1.0])),
        {"shape": [2], "f8": "AAAA"},
        {"shape": [1 << 31, 1 << 31], "f8": ""},
        {"shape": [0], "f8": ""},
        {"shape": [2], "f8": two["f8"][:-1] + "B"},
    ]
    taken = {("is_missing", "missing"), ("fill", "missing")}
    for name, fields in sound.items():
        whole = {"step": name, **fields}
        yield {"name": f"{name} is sound", "steps": [whole], "sound": True}
        yield {"name": f"{name} has more fields", "steps": [whole | {"more": 1}]}
        for field in fields:
            less = {key: value for key, value in whole.items() if key != field}
            yield {"name": f"{name} without {field}", "steps": [less]}
            for place, lie in enumerate(lies):
                if (name, field) in taken and not isinstance(lie, bool | list | dict):
                    continue
                if whole[field] != lie or isinstance(lie, bool):
                    yield {"name": f"{name}, {field}, lie {place}", "steps": [whole | {field: lie}]}
    yield {"name": "no list", "steps": {}}
    yield {"name": "no step", "steps": [1]}
    yield {"name": "another step", "steps": [{"step": "exec", "inputs": 2}]}
    yield {
        "name": "words that end as features",
        "steps": [{"step": "fill", "values": ["a", "b"], "missing": None}],
    }


def texts() -> list[str]:
    """Damaged texts."""
    sound = json.dumps([{"step": "function", "inputs": 2, "function": "abs"}])
    return [
        "",
        "[",
        sound + "x",
        sound[:-1],
        sound.replace("2", "2e999"),
        sound.replace("2", "NaN"),
        sound.replace('"inputs": 2', '"inputs": 2, "inputs": 2'),
        sound.replace("abs", "abs\u00e9"),
        sound.replace("abs", "\\ud800"),
        "[" * 1000 + "]" * 1000,
        "[" + "[]," * (1 << 20) + "[]]",
    ]


def main() -> None:
    """All files."""
    TARGET.mkdir(exist_ok=True)
    for file, cases in {
        "numbers": of_numbers(),
        "functions": of_functions(),
        "words": of_words(),
        "texts": of_texts(),
    }.items():
        (TARGET / f"{file}.json").write_text(json.dumps(list(cases), indent=0) + "\n")
    # What is none by chance: a lie that makes sense beside the other fields.
    found = [given for given in refused() if given.get("sound") or not _reads(given["steps"])]
    damaged = [text for text in texts() if len(text) < 1 << 12]
    document = {"inputs": 2, "steps": found, "texts": damaged}
    (TARGET / "refused.json").write_text(json.dumps(document, indent=0) + "\n")


def _reads(steps: Any) -> bool:
    from hesc._native import Steps, WireError

    try:
        Steps(json.dumps(steps).encode(), 2)
    except WireError:
        return False
    return True


if __name__ == "__main__":
    main()
