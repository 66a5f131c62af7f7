"""Whole pipelines on tables of numbers and words, as people have them, served unchanged."""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc.cli import files
from hesc.cli.batches import batches
from hesc.ml import (
    Classes,
    ClientFolder,
    LinearClient,
    LinearPlan,
    LinearServer,
    Network,
    Outsourced,
    Parties,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateNeighbours,
    PrivateRegressor,
    Scores,
    Search,
    ServerFolder,
)

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 400
SECRET = "a word that no error repeats"  # noqa: S105 - a cell


def people(seed: int = 0, rows: int = ROWS) -> tuple[Any, Any]:
    """A table of made-up people: numbers, words, gaps; and whether they have savings."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows).astype(float)
    jobs = rng.choice(["clerk", "nurse", "smith", "baker"], rows, p=[0.4, 0.3, 0.25, 0.05])
    frame = pd.DataFrame(
        {
            "name": [f"person {at}" for at in range(rows)],
            "age": np.where(rng.random(rows) < 0.1, np.nan, age),
            "job": np.where(rng.random(rows) < 0.1, np.nan, jobs.astype(object)),
            "city": pd.Categorical(rng.choice(["Rome", "Oslo", "Bonn"], rows)),
            "income": rng.lognormal(10, 1, rows),
            "children": rng.integers(0, 5, rows),
            "owner": rng.random(rows) < 0.5,
        }
    )
    score = age / 60 + (jobs == "nurse") + (frame["city"] == "Oslo") + rng.normal(0, 0.3, rows)
    return frame, np.where(score > 1.8, "saves", "spends")


X, Y = people()


def in_polars(frame: Any) -> Any:
    """The same table in polars, where what is missing is None."""
    cells = frame.astype(object).where(frame.notna(), None)
    return pl.DataFrame({name: cells[name].tolist() for name in frame.columns})


def before() -> Any:
    """What people put before a model."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.1),
    )
    logarithms = make_pipeline(FunctionTransformer(np.log1p), StandardScaler())
    return make_column_transformer(
        (numbers, ["age", "children"]),
        (logarithms, ["income"]),
        (words, ["job", "city"]),
        ("passthrough", ["owner"]),
    )


def model() -> Any:
    return make_pipeline(before(), LogisticRegression())


@pytest.fixture(scope="module")
def private() -> PrivateClassifier:
    found = PrivateClassifier(model()).fit(X, Y)
    found.plan(X)
    return found


# The estimators


def test_a_mixed_table_is_served(private: PrivateClassifier) -> None:
    run = private.run(X, progress=False)
    assert private.score(X, Y) > 0.8
    assert np.abs(run.scores - private.decision_function(X)).max() < 7 * run.error
    assert (run.predictions == private.predict(X)).mean() > 0.99
    assert private.plan(X).agreement > 0.99
    plain = model().fit(X, Y)
    np.testing.assert_array_equal(private.predict(X), plain.predict(X))
    np.testing.assert_array_equal(private.predict_proba(X), plain.predict_proba(X))


def test_both_sides_from_bytes(private: PrivateClassifier) -> None:
    client = LinearClient(LinearPlan.from_bytes(private.client().plan.to_bytes()))
    server = LinearServer.from_bytes(private.server().to_bytes())
    assert client.plan.names == list(X.columns)
    for rows in (X[:30], in_polars(X[:30])):
        query = client.encrypt(rows)
        found = client.decrypt(server.answer(query.data), query=query.data)
        assert (found.predictions == private.predict(X[:30])).all()


def test_a_saved_deployment(private: PrivateClassifier, tmp_path: Path) -> None:
    folder = private.save(tmp_path / "people", sample=40)
    client = ClientFolder.open(folder / "client").client()
    server = ServerFolder.open(folder / "server").server()
    query = client.encrypt(X[:50])
    found = client.decrypt(server.answer(query.data), query=query.data)
    assert (found.predictions == private.predict(X[:50])).all()
    report = (folder / "report.html").read_text()
    assert "CATEGORIES" in report
    assert "person 7" not in report


def test_commands_read_files_as_pandas_does(
    private: PrivateClassifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words, gaps and truth values of a CSV file; columns in any order."""
    folder = private.save(tmp_path / "people", sample=0)
    client, server = folder / "client", folder / "server"
    X[X.columns[::-1]].to_csv(tmp_path / "people.csv", index=False)
    files.keygen(client, tmp_path / "key")
    files.encrypt(tmp_path / "people.csv", client, tmp_path / "key", tmp_path / "q")
    files.evaluate(tmp_path / "q", server, tmp_path / "a")
    files.decrypt(tmp_path / "a", client, tmp_path / "key", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv")["prediction"]
    assert (found == private.predict(X)).mean() > 0.99
    # Another kind of cell is refused by its place.
    (tmp_path / "bad.csv").write_text("name,age,job,city,income,children,owner\nA,old,b,c,1,2,True")
    with pytest.raises(hesc.HescError, match=r"line 2: column 2 \('age'\) holds no number"):
        files.encrypt(tmp_path / "bad.csv", client, tmp_path / "key", tmp_path / "bad")
    capsys.readouterr()


def test_what_a_client_is_given_is_said(private: PrivateClassifier) -> None:
    said = str(private.client().plan)
    for what in ("CATEGORIES", "missing cells", "functions", "which columns"):
        assert what in said
    # Scalers that end branches are folded into weights.
    assert "centres" not in said


def test_the_form_of_a_table_does_not_matter(private: PrivateClassifier) -> None:
    prepared = private.client().plan.prepared
    expected = prepared(X).features
    forms = [
        X.to_numpy(dtype=object),
        X.to_numpy(dtype=object).tolist(),
        in_polars(X),
        X.convert_dtypes(),
        X.astype({"job": "category", "city": object, "children": "Int32"}),
        X.astype({"age": "float32", "children": "float16", "owner": "boolean"}),
    ]
    for form in forms:
        np.testing.assert_array_equal(prepared(form).features, expected)
    holes = X.astype(object).where(X.notna(), None)
    np.testing.assert_array_equal(prepared(holes).features, expected)


def test_arrow_tables() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(X)
    made = PrivateClassifier(model()).fit(table, Y)
    plan = made.plan(table)
    np.testing.assert_array_equal(plan.prepared(table).features, plan.prepared(X).features)


def test_polars_from_the_beginning() -> None:
    table = in_polars(X).with_columns(pl.col("age").cast(pl.Float32))
    parts = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["income", "children"]),
        (OneHotEncoder(handle_unknown="ignore"), ["job", "city"]),
        remainder="drop",
    )
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(table, Y)
    made.plan(table)
    assert (made.predict(table, fhe="execute", progress=False) == made.predict(table)).mean() > 0.99


def test_fitted_models_are_taken_as_they_are() -> None:
    fitted = model().fit(X, Y)
    made = PrivateClassifier.from_fitted(fitted)
    plan = made.plan(X)
    assert plan.names == list(X.columns)
    assert fitted[0].feature_names_in_.tolist() == plan.names
    np.testing.assert_array_equal(made.predict(X), fitted.predict(X))
    assert (made.predict(X, fhe="simulate") == made.predict(X)).mean() > 0.99


def test_columns_by_number_mask_slice_and_function() -> None:
    """And a remainder: scikit-learn resolves them all when it is fitted."""
    mask = [name == "owner" for name in X.columns]
    parts = make_column_transformer(
        (OneHotEncoder(), [3]),
        ("passthrough", mask),
        ("drop", slice(0, 1)),
        (SimpleImputer(), make_column_selector("age")),
        ("drop", ["job"]),
        remainder=StandardScaler(),
        sparse_threshold=0,
    )
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(X, Y)
    made.plan(X)
    assert (made.predict(X, fhe="execute", progress=False) == made.predict(X)).mean() > 0.99


def test_frames_between_steps() -> None:
    parts = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["city"]),
        ("passthrough", ["children", "income"]),
        verbose_feature_names_out=False,
    )
    second = make_column_transformer(
        (StandardScaler(), ["income"]), ("passthrough", ["city_Oslo", "children"])
    )
    for final in (LogisticRegression(), GaussianNB()):
        pipeline = make_pipeline(parts, second, final).set_output(transform="pandas")
        made = PrivateClassifier(pipeline).fit(X, Y)
        made.plan(X)
        assert (made.predict(X, fhe="simulate") == made.predict(X)).mean() > 0.99


def test_selections_and_unions() -> None:
    words = make_pipeline(OneHotEncoder(), SelectKBest(k=3))
    union = FeatureUnion(
        [("a", StandardScaler()), ("b", FunctionTransformer(np.sqrt))],
        transformer_weights={"a": 2.0},
    )
    parts = make_column_transformer((words, ["city", "children"]), (union, ["income", "children"]))
    made = PrivateClassifier(make_pipeline(parts, StandardScaler(), LogisticRegression()))
    made.fit(X, Y).plan(X)
    assert (made.predict(X, fhe="execute", progress=False) == made.predict(X)).mean() > 0.99


def test_targets_by_category() -> None:
    parts = make_column_transformer(
        (TargetEncoder(), ["job", "city"]), ("passthrough", ["children"])
    )
    target = X["income"].to_numpy() / 1e4
    made = PrivateRegressor(make_pipeline(parts, Ridge())).fit(X, target)
    plan = made.plan(X)
    assert "MEAN TARGETS" in str(plan)
    error = np.abs(made.predict(X, fhe="execute", progress=False) - made.predict(X)).max()
    assert error < 7 * plan.error
    # An unknown word has the mean of all rows.
    fresh = X[:5].assign(job="astronaut")
    assert np.isfinite(made.predict(fresh, fhe="simulate")).all()


# Other protocols


def test_classes_alone() -> None:
    made = PrivateClassifier(
        make_pipeline(before(), DecisionTreeClassifier(max_depth=3, random_state=0))
    ).fit(X, Y)
    made.plan(X, Classes(bits=4, min_agreement=0.9))
    found = made.predict(X[:60], fhe="simulate")
    assert (found == made.predict(X[:60])).mean() > 0.9


def test_trees_in_bins_behind_encoders() -> None:
    trees = HistGradientBoostingClassifier(max_depth=1, max_iter=20, random_state=0)
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    parts = make_column_transformer(
        (make_pipeline(encoder, SimpleImputer()), ["job", "city"]),
        (SimpleImputer(), ["age", "income"]),
    )
    made = PrivateClassifier(make_pipeline(parts, trees)).fit(X, Y)
    made.plan(X, Scores(bins="thresholds"))
    assert (made.predict(X, fhe="execute", progress=False) == made.predict(X)).mean() > 0.98
    forest = RandomForestClassifier(5, random_state=0)
    other = PrivateClassifier(make_pipeline(parts, forest)).fit(X, Y)
    assert other.plan(X, Scores(refit="additive", min_fidelity=0.5)).fidelity is not None


def test_networks() -> None:
    network = MLPClassifier((4,), activation="tanh", alpha=1, max_iter=2000, random_state=0)
    made = PrivateMLPClassifier(make_pipeline(before(), network)).fit(X, Y)
    made.plan(X, Network())
    assert (made.predict(X[:20], fhe="simulate") == made.predict(X[:20])).mean() > 0.9


def test_neighbours() -> None:
    made = PrivateNeighbours(make_pipeline(before(), KNeighborsClassifier())).fit(X, Y)
    made.plan(X, Search(records="public"))
    found = made.predict(X[:20], fhe="execute", progress=False)
    assert (found == made.predict(X[:20])).mean() > 0.8


def test_encrypted_models() -> None:
    made = PrivateClassifier(model()).fit(X, Y)
    made.plan(X, Outsourced())
    assert (made.predict(X[:50], fhe="execute", progress=False) == made.predict(X[:50])).all()


def test_several_owners_of_a_table_are_refused() -> None:
    made = PrivateClassifier(model()).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match=r"mix columns \(branches\)"):
        made.plan(X, Parties({"bank": [0, 1, 2], "clinic": [3, 4, 5, 6]}))


# Ranges


def test_ranges_by_name() -> None:
    made = PrivateClassifier(model()).fit(X, Y)
    plan = made.plan(X, Scores(ranges={"age": (0, 120)}))
    low, high = plan.ranges
    assert (low[0], high[0]) == (0, 120)
    with pytest.raises(hesc.ParameterError, match="not encrypted by itself; those that are: 'age'"):
        made.plan(X, Scores(ranges={"job": (0, 120)}))
    with pytest.raises(hesc.ShapeError, match="mapping"):
        made.plan(X, Scores(ranges={"age": 7}))  # type: ignore[dict-item]


def test_ranges_of_a_column_are_those_of_all_that_it_becomes() -> None:
    """Two branches read it: samples in its range are in range of both."""
    parts = make_column_transformer(
        (StandardScaler(), ["income", "children"]), ("passthrough", ["children"])
    )
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression(max_iter=999))).fit(X, Y)
    low, high = made.plan(X, Scores(ranges={"children": (-1, 99)})).ranges
    assert low.tolist()[1:] == [-1, -1]
    assert high.tolist()[1:] == [99, 99]
    assert high[0] < 1e9
    assert made.run(X[:1].assign(children=98), fhe="simulate").clipped == 0


def test_a_category_that_no_planning_row_has_is_in_range() -> None:
    made = PrivateClassifier(model()).fit(X, Y)
    plan = made.plan(X[X["city"] != "Bonn"])
    assert plan.prepared(X[X["city"] == "Bonn"][:1]).values == 0


def test_ranges_of_ones_alone_are_refused() -> None:
    parts = make_column_transformer((OneHotEncoder(), ["city", "owner"]))
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match="takes no ranges="):
        made.plan(X, Scores(ranges=(0, 1)))
    low, high = made.plan(X).ranges
    assert (low == 0).all()
    assert (high == 1).all()


# Texts and sparse rows

TEXTS = [" ".join(row) for row in X[["job", "city"]].astype(str).to_numpy()]


@pytest.mark.parametrize(
    "vectorizer",
    [
        TfidfVectorizer(),
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, stop_words="english", min_df=2),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), norm=None),
        HashingVectorizer(n_features=64),
        make_union(TfidfVectorizer(), HashingVectorizer(n_features=16)),
        make_pipeline(TfidfVectorizer(), TruncatedSVD(4, random_state=0)),
    ],
    ids=["tfidf", "bigrams", "letters", "hashed", "union", "svd"],
)
def test_texts(vectorizer: Any) -> None:
    made = PrivateClassifier(make_pipeline(vectorizer, LogisticRegression())).fit(TEXTS, Y)
    plan = made.plan(TEXTS)
    assert plan.inputs == 1
    found = made.predict(TEXTS, fhe="execute", progress=False)
    assert (found == made.predict(TEXTS)).mean() > 0.99
    for form in (pd.Series(TEXTS), np.array(TEXTS), pl.Series(TEXTS), [[text] for text in TEXTS]):
        expected = plan.prepared(TEXTS).features
        np.testing.assert_array_equal(plan.prepared(form).features, expected)
        np.testing.assert_array_equal(made.predict(form), made.predict(TEXTS))


def test_texts_beside_columns() -> None:
    table = X.assign(text=TEXTS)
    parts = make_column_transformer((TfidfVectorizer(), "text"), (StandardScaler(), ["income"]))
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(table, Y)
    assert "VOCABULARY" in str(made.plan(table))
    assert (made.predict(table, fhe="execute", progress=False) == made.predict(table)).mean() > 0.99


def test_sparse_rows() -> None:
    rows = TfidfVectorizer().fit_transform(TEXTS)
    for matrix in (rows, sparse.csc_array(rows), sparse.coo_matrix(rows)):
        made = PrivateClassifier(make_pipeline(MaxAbsScaler(), LogisticRegression()))
        made.fit(matrix, Y).plan(matrix)
        run = made.run(matrix, progress=False)
        assert np.abs(run.scores - made.decision_function(matrix)).max() < 7 * run.error
        np.testing.assert_array_equal(made.predict(matrix), made.predict(rows.toarray()))


# Refusals


def test_unknown_words_do_what_scikit_learn_does() -> None:
    parts = make_column_transformer((OneHotEncoder(), ["job", "city"]))
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(X, Y)
    plan = made.plan(X)
    fresh = X[:4].assign(job=[*X["job"][:3], SECRET])
    for refused in (plan.prepared, made.predict, made.decision_function):
        with pytest.raises(ValueError, match="sample") as error:
            refused(fresh)
        assert SECRET not in str(error.value)


def test_missing_cells_that_nothing_fills_are_refused_by_name() -> None:
    parts = make_column_transformer(("passthrough", ["children", "income"]))
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(X, Y)
    plan = made.plan(X)
    holes = X.assign(income=[None, *X["income"][1:]])
    with pytest.raises(hesc.OutOfRangeError, match="income"):
        plan.prepared(holes)


def test_other_columns_are_refused() -> None:
    made = PrivateClassifier(model()).fit(X, Y)
    plan = made.plan(X)
    for other in (X[X.columns[::-1]], X.drop(columns="job"), X.assign(more=1)):
        with pytest.raises(hesc.ShapeError, match="columns are named otherwise"):
            plan.prepared(other)
        with pytest.raises(ValueError, match="feature names"):
            made.predict(other)
    with pytest.raises(hesc.ShapeError, match="rows of 7 features"):
        plan.prepared(X.to_numpy(dtype=object)[:, :3])


@pytest.mark.parametrize(
    ("column", "cell", "what"),
    [
        ("age", SECRET, "'age' holds words"),
        ("age", dt.date(2026, 1, 1), "'age' holds dates"),
        ("job", 77_777, "'job' holds numbers"),
        ("job", b"clerk", "'job' holds cells of the type bytes"),
        ("income", 10**400, "'income' holds a number beyond doubles"),
    ],
    ids=lambda x: str(type(x)),
)
def test_cells_of_another_kind(
    private: PrivateClassifier, column: str, cell: Any, what: str
) -> None:
    table = X[:3].astype({column: object})
    table.loc[1, column] = cell
    with pytest.raises(hesc.OutOfRangeError, match=what) as error:
        private.client().plan.prepared(table)
    assert str(cell)[:200] not in str(error.value)


def test_dates_are_refused() -> None:
    table = X.assign(age=pd.Timestamp("2026-01-01"))
    made = PrivateClassifier(model()).fit(X, Y)
    with pytest.raises(hesc.OutOfRangeError, match="'age' holds dates"):
        made.plan(X).prepared(table)
    with pytest.raises(hesc.ShapeError, match="dates"):
        made.plan(X).prepared(np.full((2, 7), np.datetime64("2026-01-01")))


def test_texts_that_no_model_was_fitted_to(private: PrivateClassifier) -> None:
    with pytest.raises(hesc.ShapeError, match="rows of 7 features"):
        private.client().plan.prepared(TEXTS)
    with pytest.raises(hesc.ShapeError, match="lazy"):
        private.client().plan.prepared(in_polars(X).lazy())
    with pytest.raises(hesc.ShapeError, match="same number of cells"):
        private.client().plan.prepared([[1, 2], [3]])


def test_errors_of_fits_repeat_no_cell() -> None:
    table = X.assign(age=SECRET)
    with pytest.raises(ValueError, match="are texts") as error:
        PrivateClassifier(model()).fit(table, Y)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (FunctionTransformer(lambda x: x), r"FunctionTransformer\(a lambda\) is code"),
        (FunctionTransformer(np.clip, kw_args={"a_min": 0}), "numpy.log1p"),
        (make_pipeline(TfidfVectorizer(tokenizer=str.split)), "tokenizer"),
        (HashingVectorizer(), r"n_features=2\*\*14"),
        (TfidfVectorizer(token_pattern="x"), "token_pattern"),
    ],
    ids=["lambda", "function", "tokenizer", "hashes", "pattern"],
)
def test_code_is_refused_before_a_fit(part: Any, words: str) -> None:
    with pytest.raises(hesc.ParameterError, match=words):
        PrivateClassifier(make_pipeline(part, LogisticRegression())).fit(X, Y)


@pytest.mark.parametrize("word", ["a\nb", "\x1b[2J", "x" * 1001], ids=["line", "escape", "long"])
def test_categories_that_could_forge_what_is_printed(word: str) -> None:
    table = X.assign(job=[word, *["clerk"] * (ROWS - 1)])
    parts = make_column_transformer((OneHotEncoder(), ["job"]))
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(table, Y)
    with pytest.raises(hesc.ParameterError, match="'job' has a category") as error:
        made.plan(table)
    assert word not in str(error.value)


def test_cells_may_hold_what_no_category_does(private: PrivateClassifier) -> None:
    plan = private.client().plan
    table = X[:2].assign(job=["\x00\n", "y" * 100_000])
    assert plan.prepared(table).features.shape[0] == 2


def test_a_table_is_not_written() -> None:
    kept = X.copy(deep=True)
    made = PrivateClassifier(model()).fit(X, Y)
    made.plan(X)
    made.predict(X[:5], fhe="execute", progress=False)
    pd.testing.assert_frame_equal(X, kept)


def test_no_sample_and_a_name_twice_are_refused(private: PrivateClassifier) -> None:
    with pytest.raises(hesc.ShapeError, match=r"got the shape \(0, "):
        private.predict(X[:0], fhe="execute", progress=False)
    with pytest.raises(hesc.ShapeError, match="two columns of the table have one name"):
        private.predict(pd.concat([X, X[["job"]]], axis=1), fhe="execute", progress=False)


@pytest.mark.parametrize("word", ["NA", " ", "None"])
def test_words_of_files_that_stand_for_nothing_elsewhere(word: str, tmp_path: Path) -> None:
    """A model that knows such a word as a category is told that word."""
    table = X.assign(job=np.where(X.index % 3, "clerk", word))
    parts = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]))
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(table, Y)
    plan = made.plan(table)
    path = tmp_path / "rows.csv"
    rows = [dict.fromkeys(plan.names, "1") | {"job": cell} for cell in (word, "NULL")]
    lines = [plan.names, *(list(row.values()) for row in rows)]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    with path.open("rb") as file:
        ((_, batch),) = batches(file, plan, ignore_extra=False)
    assert batch[:, plan.names.index("job")].tolist() == [word, None]


def test_what_sparse_rows_are_to_others_is_refused() -> None:
    """Of a sparse matrix QuantileTransformer leaves zeros alone, and clients do not."""
    rows = np.random.default_rng(0).integers(0, 3, (ROWS, 3)).astype(float)
    part = QuantileTransformer(n_quantiles=10)
    made = PrivateClassifier(make_pipeline(part, LogisticRegression())).fit(rows, Y)
    with pytest.raises(hesc.ShapeError, match=r"QuantileTransformer takes .* X\.toarray"):
        made.predict(sparse.csr_matrix(rows))


@pytest.mark.parametrize("kind", ["datetime64[s]", "timedelta64[ns]"])
def test_dates_are_no_numbers(kind: str) -> None:
    rows = np.random.default_rng(0).integers(0, 50, (ROWS, 2)).astype(float)
    made = PrivateClassifier(LogisticRegression()).fit(rows, Y)
    for dates in (rows.astype(kind), pd.DataFrame(rows).assign(a=rows[:, 0].astype(kind))):
        with pytest.raises(hesc.ShapeError, match="samples are dates"):
            made.predict(dates)


def test_tables_inside_of_what_is_made_of_others_are_refused_by_name() -> None:
    inner = make_pipeline(before(), LogisticRegression())
    with pytest.raises(hesc.ParameterError, match=r"nearest: make_pipeline\(columns, OneVsRest"):
        PrivateClassifier(OneVsRestClassifier(inner)).fit(X, Y)


def test_an_indicator_that_refuses_new_gaps_is_refused_by_name() -> None:
    rows = np.random.default_rng(0).normal(size=(ROWS, 3))
    rows[::7, 1] = np.nan
    parts = make_union(SimpleImputer(), MissingIndicator())
    made = PrivateClassifier(make_pipeline(parts, LogisticRegression())).fit(rows, Y)
    with pytest.raises(hesc.ParameterError, match="error_on_new=False"):
        made.plan(rows)


def test_commands_read_parquet(private: PrivateClassifier, tmp_path: Path) -> None:
    """The same samples as those of the table that was written."""
    plan = private.client().plan
    path = tmp_path / "people.parquet"
    X[X.columns[::-1]].assign(job=X["job"].astype("category")).to_parquet(path)
    with path.open("rb") as file:
        found = [batch for _, batch in batches(file, plan, ignore_extra=False)]
    features = plan.prepared(np.concatenate(found), clip=True).features
    np.testing.assert_array_equal(features, plan.prepared(X, clip=True).features)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda table: table.assign(age="old"), r"column 2 \('age'\) holds no numbers"),
        (lambda table: table.assign(job=dt.datetime(2020, 1, 1)), r"\('job'\) holds dates"),
        (lambda table: table.assign(age=np.inf), r"\('age'\) holds no finite number"),
        (lambda table: table.drop(columns="job"), "there is no column 'job'"),
        (lambda table: table[:0], "it has no row"),
    ],
)
def test_tables_of_parquet_that_are_refused(
    private: PrivateClassifier, tmp_path: Path, change: Any, text: str
) -> None:
    path = tmp_path / "people.parquet"
    change(X).to_parquet(path)
    with path.open("rb") as file, pytest.raises(hesc.HescError, match=text):
        list(batches(file, private.client().plan, ignore_extra=False))


def test_damaged_tables_of_parquet(private: PrivateClassifier, tmp_path: Path) -> None:
    X.to_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    rng = np.random.default_rng(0)
    for place in range(40):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), 1 + place % 5):
            data[at] ^= 1 << int(rng.integers(8))
        path = tmp_path / f"{place}.parquet"
        path.write_bytes(data if place % 4 else data[: len(data) // 2])
        with path.open("rb") as file, contextlib.suppress(hesc.HescError):
            list(batches(file, private.client().plan, ignore_extra=False))


def test_a_value_beyond_its_range_is_named_by_its_column(private: PrivateClassifier) -> None:
    plan = private.client().plan
    with pytest.raises(hesc.OutOfRangeError, match=r"feature \d+ \('income'\) of sample 1"):
        plan.prepared(X[:2].assign(income=[X["income"].median(), 1e9]))
