"""Binary codes: what they are against plain Python, distances against numpy, refusals."""

from __future__ import annotations

import copy
import hmac
import pickle
from typing import Any

import numpy as np
import pytest

import hesc
from hesc import codes
from hesc.codes import Field, HashKey, RecordCoder, SignProjection
from hesc.codes.encrypted_codes import EncryptedCodes, EncryptedDistances
from hesc.codes.secret import decrypt_distances, encrypt_codes
from hesc.params import StreamParams

KEY = HashKey(bytes(range(32)))
Party = tuple[StreamParams, hesc.SecretKey, hesc.PublicKeys]


@pytest.fixture(scope="module")
def party() -> Party:
    params = hesc.Params.preset("bfv_1024_distances")
    return params, *hesc.keygen(params)


def distances(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One bit after the other."""
    different: np.ndarray[Any, Any] = (a[:, None, :] != b[None, :, :]).sum(axis=2)
    return different


@pytest.mark.parametrize(
    ("records", "clear", "bits"), [(1, 1, 64), (1025, 2, 64), (7, 300, 128), (60, 40, 960)]
)
def test_encrypted_distances_are_numpys(party: Party, records: int, clear: int, bits: int) -> None:
    params, secret, public = party
    rng = np.random.default_rng(bits)
    sent, compared = (rng.integers(0, 2, (rows, bits)) for rows in (records, clear))
    sent[0], compared[0] = 0, 1
    expected = distances(compared, sent)
    rows = codes.packed(compared)
    asked = EncryptedCodes.from_bytes(params, encrypt_codes(secret, codes.packed(sent)))
    assert (len(asked), asked.bits) == (records, bits)
    answer = EncryptedDistances.from_bytes(params, asked.distances(rows).to_bytes())
    assert answer.shape == (clear, records)
    assert np.array_equal(decrypt_distances(secret, answer), expected)
    assert np.array_equal(codes.hamming(rows, codes.packed(sent)), expected)
    if bits == 64:
        under_public = EncryptedCodes.encrypt(public, codes.packed(sent))
        again = pickle.loads(pickle.dumps(under_public))  # noqa: S301 - our own
        assert np.array_equal(decrypt_distances(secret, again.distances(rows)), expected)


def test_noise_has_no_room_to_hide_in_the_small_ring(party: Party) -> None:
    _, _, public = party
    encrypted = EncryptedCodes.encrypt(public, np.zeros((1, 1), np.uint64))
    one = np.zeros((1, 1), np.uint64)
    with pytest.raises(hesc.NoiseBudgetError, match="bits"):
        encrypted.hidden_distances(public, one, coefficients=1024)
    with pytest.raises(hesc.ParameterError, match="every coefficient"):
        encrypted.hidden_distances(public, one, coefficients=1023)
    with pytest.raises(hesc.ParameterError, match="at least 40"):
        encrypted.hidden_distances(public, one, coefficients=1024, statistical_bits=39)


def test_codes_of_others_are_refused(party: Party) -> None:
    params, secret, _ = party
    asked = EncryptedCodes.from_bytes(params, encrypt_codes(secret, np.zeros((2, 2), np.uint64)))
    answer = asked.distances(np.ones((3, 2), np.uint64))
    with pytest.raises(hesc.ShapeError, match="192 bits have no distance"):
        asked.distances(np.zeros((1, 3), np.uint64))
    stranger, _ = hesc.keygen(params)
    with pytest.raises(hesc.KeyMismatchError, match="key pair"):
        decrypt_distances(stranger, answer)
    with pytest.raises(hesc.ParameterError, match="from_bytes reads one"):
        decrypt_distances(secret, answer.to_bytes())  # type: ignore[arg-type]
    with pytest.raises(hesc.ParameterError, match="wrap"):
        encrypt_codes(secret, np.zeros((1, 16), np.uint64))
    other = hesc.Params.preset("gm_3072")
    with pytest.raises(hesc.ParameterError, match="bfv_1024_distances"):
        EncryptedCodes.from_bytes(other, encrypt_codes(secret, np.zeros((1, 1), np.uint64)))
    with pytest.raises(TypeError, match="encrypted"):
        bool(asked == answer)
    data = bytearray(answer.to_bytes())
    data[40] ^= 1
    with pytest.raises(hesc.WireError, match="checksum"):
        EncryptedDistances.from_bytes(params, bytes(data))


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (np.zeros((2, 63)), hesc.ShapeError),
        (np.full((2, 64), 0.5), hesc.ShapeError),
        (np.full((2, 64), 2), hesc.OutOfRangeError),
        (np.zeros((0, 64), int), hesc.ShapeError),
        (np.zeros(64, int), hesc.ShapeError),
        (np.ma.masked_array(np.zeros((1, 64), int), True), hesc.ShapeError),
    ],
)
def test_what_are_no_bits_is_refused(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        codes.packed(bad)


def test_rows_and_bits_are_the_same() -> None:
    bits = np.random.default_rng(1).integers(0, 2, (9, 192))
    rows = codes.packed(bits)
    assert rows.shape == (9, 3)
    assert int(rows[4, 1]) == sum(int(bit) << i for i, bit in enumerate(bits[4, 64:128]))
    assert np.array_equal(codes.unpacked(rows), bits)
    with pytest.raises(hesc.ShapeError, match="uint64"):
        codes.hamming(rows.astype(np.int64), rows)
    with pytest.raises(hesc.ShapeError, match="no distance"):
        codes.hamming(rows, rows[:, :2])
    assert codes.nearest(np.array([[5, 2, 2, 9]]), 3).tolist() == [[1, 2, 0]]
    with pytest.raises(hesc.OutOfRangeError, match="count"):
        codes.nearest(np.array([1, 2]), 3)


@pytest.mark.parametrize("words", [1, 3, 255, 256, 1023, 1024, 1025, 1500, 40_000])
def test_distances_are_exact_however_long_codes_are(words: int) -> None:
    rng = np.random.default_rng(words)
    a = rng.integers(0, 2**64, (3, words), dtype=np.uint64)
    b = np.concatenate([~a, a, rng.integers(0, 2**64, (2, words), dtype=np.uint64)])
    x, y = ([int.from_bytes(row.tobytes(), "little") for row in rows] for rows in (a, b))
    expected = [[(one ^ other).bit_count() for other in y] for one in x]
    found = codes.hamming(a, b)
    assert found.tolist() == expected
    assert np.diagonal(found).tolist() == [64 * words] * 3


def test_the_longest_codes_of_vectors_and_records_have_their_distances() -> None:
    longest = 1 << 16
    coder = SignProjection(3, bits=longest, random_state=1)
    v = np.array([[1.0, 2.0, 3.0], [-3.0, 1.0, 0.5]])
    found = codes.hamming(coder.encode(v), coder.encode(-v))
    assert found.diagonal().tolist() == [longest, longest]
    assert coder.angles(found).diagonal() == pytest.approx([np.pi, np.pi])
    makers: list[Any] = [
        lambda bits: SignProjection(3, bits=bits, random_state=1),
        lambda bits: RecordCoder(KEY, [Field("name")], bits=bits),
    ]
    for make in makers:
        assert make(longest).bits == longest
        with pytest.raises(hesc.OutOfRangeError, match="bits"):
            make(longest + 64)


def test_angles_are_read_off_distances() -> None:
    """Each bit differs with probability angle / pi, over projections."""
    rng = np.random.default_rng(5)
    bits, pairs = 1024, 200
    a, b = rng.standard_normal((2, pairs, 20))
    b[: pairs // 2] = a[: pairs // 2] + 0.2 * b[: pairs // 2]
    coder = SignProjection(20, bits=bits, random_state=3)
    found = coder.angles(codes.hamming(coder.encode(a), coder.encode(b)).diagonal())
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    share = np.arccos(cosines) / np.pi
    deviations = (found / np.pi - share) / np.sqrt(share * (1 - share) / bits)
    # A binomial of 1024 bits beyond six deviations: below 1e-7 for each of 200 pairs, and the
    # seeds are fixed.
    assert np.abs(deviations).max() < 6
    assert np.array_equal(coder.encode(1e300 * a), coder.encode(a))
    for bad in (np.zeros((1, 20)), np.full((1, 20), np.nan), np.full((1, 20), np.inf)):
        with pytest.raises(hesc.OutOfRangeError):
            coder.encode(bad)
    with pytest.raises(hesc.ShapeError):
        coder.encode(a[:, :19])
    with pytest.raises(hesc.OutOfRangeError, match="1024"):
        coder.angles(np.array([1025]))


FIELDS = (Field("name"), Field("born", 1, positional=True, hashes=3))
TABLE: dict[str, list[object]] = {
    "name": ["Anna ", None, "bo"],
    "born": ["1970", "19", float("nan")],
}


def in_plain_python(kind: str, bits: int) -> list[list[int]]:
    """Codes of TABLE by their definition."""
    pieces = [
        [
            ("name", " a", 6),
            ("name", "an", 6),
            ("name", "nn", 6),
            ("name", "na", 6),
            ("name", "a ", 6),
        ]
        + [("born", f"{at}:{digit}", 3) for at, digit in enumerate("1970")],
        [("born", "0:1", 3), ("born", "1:9", 3)],
        [("name", " b", 6), ("name", "bo", 6), ("name", "o ", 6)],
    ]
    rows = []
    for record in pieces:
        sums = [0] * bits
        for field, piece, hashes in record:
            message = f"{kind} {bits} {len(field)} {field}{piece}".encode()
            if kind == "bloom":
                digest = hmac.new(bytes(range(32)), message, "sha512").digest()
                for at in range(hashes):
                    sums[int.from_bytes(digest[4 * at : 4 * at + 4], "little") % bits] = 1
            else:
                for at in range(bits):
                    block = (at // 512).to_bytes(4, "little")
                    digest = hmac.new(bytes(range(32)), block + message, "sha512").digest()
                    bit = digest[at % 512 // 8] >> (7 - at % 8) & 1
                    sums[at] += hashes if bit else -hashes
        rows.append([int(total > 0) for total in sums])
    return rows


@pytest.mark.parametrize("kind", ["bloom", "simhash"])
@pytest.mark.parametrize("bits", [64, 640])
def test_codes_of_records_are_what_is_written(kind: str, bits: int) -> None:
    found = RecordCoder(KEY, FIELDS, bits=bits, kind=kind).encode(TABLE)
    assert codes.unpacked(found).tolist() == in_plain_python(kind, bits)
    assert not np.array_equal(
        found, RecordCoder(HashKey.generate(), FIELDS, bits=bits, kind=kind).encode(TABLE)
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zo\u00eb", "Zoe\u0308"),  # composed and not
        ("\u212bngstr\u00f6m", "a\u030angstro\u0308m"),  # the sign of the unit
        ("Stra\u00dfe", "STRASSE"),
        ("\uff2d\uff29\uff2b\uff21", "mika"),  # full width
        ("\ufb01nn", "FINN"),  # a ligature
        ("\u03b1\u0345\u0301", "\u03b1\u0301\u0345"),  # marks in another order
        ("\u00a0ann ", "ann"),  # blanks of another kind
        ("\u017fara", "sara"),  # the long s
    ],
)
def test_values_that_unicode_writes_in_several_ways_have_one_code(one: str, other: str) -> None:
    """Two systems write names of one person differently; the columns' names as well."""
    coder = RecordCoder(KEY, [Field("x"), Field("y", positional=True)])
    found = coder.encode({"x": [one, other], "y": [one, other]})
    assert np.array_equal(found[0], found[1])
    names = [Field(name) for name in ("Zo\u00eb", "Zoe\u0308")]
    codes_of = [RecordCoder(KEY, [of]).encode({of.name: ["a"]}) for of in names]
    assert np.array_equal(codes_of[0], codes_of[1])


def test_letters_with_marks_are_letters_of_their_own() -> None:
    coder = RecordCoder(KEY, [Field("x")])
    found = coder.encode({"x": ["zoe", "zo\u00eb", "zo\u00e9"]})
    assert len({row.tobytes() for row in found}) == 3


def test_what_is_missing_is_missing_however_it_is_written() -> None:
    coder = RecordCoder(KEY, FIELDS)
    empty = coder.encode({"name": ["ann", ""], "born": ["1", ""]})
    pandas = pytest.importorskip("pandas")
    for missing in (None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT):
        found = coder.encode({"name": ["ann", missing], "born": ["1", ""]})
        assert np.array_equal(found, empty)
    names = pandas.array(["ann", None], dtype="string")
    assert np.array_equal(coder.encode(pandas.DataFrame({"name": names, "born": ["1", ""]})), empty)


@pytest.mark.parametrize("half", ["a\ud800b", "\udfff"])
def test_half_a_pair_of_surrogates_is_refused_by_its_column(half: str) -> None:
    """As JSON's escapes and damaged files give them; the value is not repeated."""
    coder = RecordCoder(KEY, FIELDS)
    with pytest.raises(hesc.ParameterError, match="column 'name' holds half a pair") as caught:
        coder.encode({"name": ["ann", half], "born": ["1", "2"]})
    assert half not in str(caught.value)
    for call in (lambda: Field(half), lambda: Field("x").pieces(half)):
        with pytest.raises(hesc.ParameterError, match="half a pair of surrogates"):
            call()


def test_what_are_no_records_is_refused() -> None:
    coder = RecordCoder(KEY, FIELDS)
    with pytest.raises(hesc.ParameterError, match="no column 'born'"):
        coder.encode({"name": ["a"]})
    with pytest.raises(hesc.ShapeError, match="one length"):
        coder.encode({"name": ["a"], "born": ["1", "2"]})
    with pytest.raises(hesc.ShapeError, match="at least 1"):
        coder.encode({"name": [], "born": []})
    with pytest.raises(hesc.OutOfRangeError, match="holds a int") as caught:
        coder.encode({"name": ["a"], "born": [19700101]})
    assert "1970" not in str(caught.value)
    with pytest.raises(hesc.ParameterError, match="kind"):
        RecordCoder(KEY, FIELDS, kind="minhash")
    with pytest.raises(hesc.ParameterError, match="name of its own"):
        RecordCoder(KEY, [FIELDS[0], FIELDS[0]])
    # Names that are one in NFC: values of the one column would set the bits of the other's.
    with pytest.raises(hesc.ParameterError, match="name of its own"):
        RecordCoder(KEY, [Field("N\u00e9"), Field("Ne\u0301")])
    with pytest.raises(hesc.ParameterError, match="32 bytes"):
        HashKey(b"short")
    for forbidden in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="secret_bytes"):
            forbidden(KEY)
    assert "\\x" not in repr(KEY)
