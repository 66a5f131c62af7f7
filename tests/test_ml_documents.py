"""Plans and servers from bytes that somebody else made."""

from __future__ import annotations

import base64
import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

import hesc
from hesc._support import documents, strict_json
from hesc.ml import LinearPlan, LinearServer, PrivateClassifier
from hesc.protocols import registry
from tests.lying_documents import STRANGE, check_reader

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y = load_iris(return_X_y=True)


def plan_bytes() -> bytes:
    pipeline = make_pipeline(
        MinMaxScaler(clip=True),
        PCA(3),
        PolynomialFeatures(2),
        Nystroem(n_components=5, random_state=0),
        RidgeClassifier(),
    )
    made = PrivateClassifier(pipeline).fit(X, Y)
    data: bytes = made.plan(X).to_bytes()
    return data


def server_bytes() -> bytes:
    made = PrivateClassifier(RidgeClassifier()).fit(X, Y)
    made.plan(X)
    data: bytes = made.server().to_bytes()
    return data


@pytest.mark.parametrize("kind", [LinearPlan, LinearServer])
def test_documents_with_something_else_in_any_place(kind: Any) -> None:
    """Refused with an error of ours, or read as a plan that says the same again."""
    data = plan_bytes() if kind is LinearPlan else server_bytes()
    assert check_reader(data, kind.from_bytes) > 10 * len(STRANGE)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b" x",
        lambda _: b"[" * 100_000,
        lambda data: b"\xff" + data,
        lambda data: data.replace(b'"inputs":4', b'"inputs":NaN'),
        lambda data: data.replace(b'"inputs":4', b'"inputs":4,"inputs":4'),
        lambda data: data.replace(b'"inputs":4', b'"inputs":' + b"4" * 5000),
        lambda data: data.replace(b'"inputs":4', b'"inputs":5'),
        lambda data: data.replace(b"hesc.ml plan 1", b"hesc.ml plan 2"),
        lambda data: data.replace(b'"link":"none"', b'"link":"none","code":"x"'),
        lambda data: data.decode(),
        pickle.dumps,
        lambda _: b"",
    ],
)
def test_damaged_plans_are_refused(damage: Callable[[Any], Any]) -> None:
    data = plan_bytes()
    assert damage(data) != data
    with pytest.raises(hesc.WireError):
        LinearPlan.from_bytes(damage(data))


@pytest.mark.parametrize("protocol", STRANGE)
def test_documents_of_no_protocol_are_refused(protocol: Any) -> None:
    """Whatever stands where the protocol's name belongs, lists and mappings too."""
    for data, read in (
        (plan_bytes(), registry.read_plan),
        (server_bytes(), registry.read_server),
    ):
        changed = json.dumps(json.loads(data) | {"protocol": protocol}).encode()
        with pytest.raises(hesc.WireError, match="no protocol"):
            read(changed)


def test_a_server_of_other_weights_is_refused() -> None:
    document = json.loads(server_bytes())
    weights = np.frombuffer(base64.b64decode(document["weights"]["f8"])).reshape(3, 4)
    for strange in (weights * 100, weights * np.nan, weights[:2]):
        fields = {"shape": list(strange.shape), "f8": base64.b64encode(strange.tobytes()).decode()}
        with pytest.raises(hesc.HescError):
            LinearServer.from_bytes(json.dumps(document | {"weights": fields}).encode())


def test_numbers_and_bytes_have_one_form() -> None:
    """Base64 leaves bits behind the last byte, which may be anything."""
    document = json.loads(server_bytes())
    weights, second = document["weights"], base64.b64encode(bytes(8 * 2)).decode()
    assert second.endswith("A==")
    for value in (second[:-3] + "B==", second[:-3] + "P=="):
        assert base64.b64decode(value, validate=True) == bytes(8 * 2)
        with pytest.raises(hesc.WireError, match="damaged bytes"):
            documents.unpacked({"shape": [2], "f8": value}, 1, "numbers")
        with pytest.raises(hesc.WireError, match="damaged bytes"):
            documents.bytes_of(value, "a model")
    assert documents.unpacked({"shape": [2], "f8": second}, 1, "numbers").tolist() == [0, 0]
    assert documents.unpacked(weights, 2, "weights").shape == (3, 4)


HOSTILE = {
    "objects": b"{},",
    "lists": b"[],",
    "names": b'{"":0},',
    "texts": b'"",',
    "numbers": b"0,",
    "depth": b"[[],",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_more_parts_than_documents_have_are_never_made_objects(
    unit: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes are counted first, for those who read any kind and those who ask which one it is."""
    data = b"[" + unit * (strict_json.VALUES // (strict_json.parts(unit) - 1) + 1) + b"0]"
    assert len(data) < documents.LARGEST

    def loads(*_: Any, **__: Any) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(json, "loads", loads)
    with pytest.raises(hesc.WireError):
        documents.read(data, "plan", {"names"})
    with pytest.raises(hesc.WireError):
        documents.kind_of(data)
    with pytest.raises(ValueError, match="parts"):
        strict_json.parsed(data.decode())


@pytest.mark.parametrize(
    "encoded",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-32-le"),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.replace("a", "\ud800").encode(errors="surrogatepass"),
    ],
    ids=["utf-16", "utf-32", "mark", "surrogate"],
)
def test_texts_are_utf_8_and_nothing_else(encoded: Callable[[str], bytes]) -> None:
    """Encodings are not guessed at: halves of pairs would take microseconds each."""
    with pytest.raises(ValueError, match=r"."):
        strict_json.parsed(encoded('{"a":1}'))
    with pytest.raises(hesc.WireError):
        documents.kind_of(encoded(plan_bytes().decode()))


def test_letters_beyond_ascii_are_escaped_or_refused() -> None:
    """One of them in a long text would make all its letters four bytes wide before it is looked at.

    What is written has none of them.
    """
    names = ["\u00e9", "\U0001f600", "a"]
    data = documents.write("plan", {"names": names})
    assert data.isascii()
    assert documents.read(data, "plan", {"names"}) == {"names": names}
    plain = json.dumps(json.loads(data), ensure_ascii=False).encode()
    with pytest.raises(hesc.WireError, match="ASCII"):
        documents.read(plain, "plan", {"names"})


def test_documents_of_as_many_names_as_there_may_be_are_read() -> None:
    """With commas and brackets in them; and what no reader takes is not written."""
    names = [f"{place}: [a, b], {{c}}" for place in range(1 << 16)]
    assert documents.read(documents.write("plan", {"names": names}), "plan", {"names"}) == {
        "names": names
    }
    with pytest.raises(hesc.ParameterError, match="parts, which no reader takes"):
        documents.write("plan", {"names": names * 4})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_text_has_more_values_than_parts(value: Any) -> None:
    """However it is written: names of objects are counted beside their values."""

    def count(inner: Any) -> int:
        if isinstance(inner, dict):
            return 1 + len(inner) + sum(map(count, inner.values()))
        return 1 + sum(map(count, inner)) if isinstance(inner, list) else 1

    for text in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        assert strict_json.parts(text) >= count(value)
        data = text.encode("utf-8", errors="surrogatepass")
        assert strict_json.parts(data) == strict_json.parts(text)
        assert strict_json.parts(text.encode("utf-16", errors="surrogatepass")) >= count(value)


def test_plans_that_were_read_and_used_are_copied() -> None:
    plan = LinearPlan.from_bytes(
        PrivateClassifier(RidgeClassifier()).fit(X, Y).plan(X, table=False).to_bytes()
    )
    assert plan.core.digest == plan.digest
    ready = plan.prepared(X[:3])
    for other in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):  # noqa: S301 - its own
        assert other.to_bytes() == plan.to_bytes()
        assert np.array_equal(other.prepared(X[:3]).features, ready.features)
        assert other.core.digest == plan.digest
