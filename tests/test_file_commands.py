"""`hesc network` on any length, with wrong files, without room: right answers, or nothing left."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

import hesc
from hesc.cli import network
from hesc.cli.tables import read_rows
from hesc.cli.terminal import read_passphrase
from hesc.streams.iris import load_network, load_split
from hesc.streams.networks import ModelFormatError, Preprocessing
from hesc.streams.networks.batches import BatchWriter, read_batches
from hesc.streams.networks.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

NETWORK, SPLIT = load_network(), load_split()
MODEL = Path(hesc.__file__).parent / "streams" / "iris" / "network.json"


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class Desk(NamedTuple):
    """What a client and a model owner have prepared in a folder."""

    public: Path
    secret: Path
    model: Path
    preprocessing: Path


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    at = tmp_path_factory.mktemp("desk")
    found = Desk(at / "keys", at / "s.key", at / "model.hesc", at / "p.json")
    network.keygen(found.public, found.secret)
    network.encrypt_model(MODEL, found.public, found.model, found.preprocessing)
    return found


def _answer(desk: Desk, features: Path, at: Path) -> Path:
    network.encrypt(features, desk.preprocessing, desk.public, at / "q")
    network.evaluate(desk.model, at / "q", desk.public, at / "a")
    return at / "a"


def test_files_of_any_length(desk: Desk, tmp_path: Path) -> None:
    """More samples than a batch holds, and the last batch not full."""
    features = np.tile(SPLIT.test_features, (5, 1))[:-7]
    np.savetxt(tmp_path / "f.csv", features, delimiter=",", header="a, comment\n\n")
    answer = _answer(desk, tmp_path / "f.csv", tmp_path)
    network.decrypt(answer, desk.secret, desk.preprocessing, desk.public, str(tmp_path / "j"))
    samples = json.loads((tmp_path / "j").read_text())["samples"]
    assert len(samples) == len(features) == 143
    outputs = np.array([sample["outputs"] for sample in samples])
    assert np.sqrt(np.mean((outputs - NETWORK.values(features)) ** 2)) < 0.4
    expected = [NETWORK.classes[i] for i in NETWORK.predict(features)]
    assert np.mean([s["class"] == e for s, e in zip(samples, expected, strict=True)]) > 0.95


def test_answers_name_their_query(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of another query, of a part, in another order: refused where the query is there."""
    np.savetxt(tmp_path / "f.csv", np.tile(SPLIT.test_features, (5, 1)), delimiter=",")
    answer = _answer(desk, tmp_path / "f.csv", tmp_path)
    sides = desk.secret, desk.preprocessing, desk.public
    network.decrypt(answer, *sides, str(tmp_path / "j"), query=tmp_path / "q")
    names = re.findall(r"\(query ([0-9a-f]{12})\)", capsys.readouterr().err)
    assert len(names) == 3
    assert len(set(names)) == 1
    with answer.open("rb") as file:
        parts = list(read_batches(file, Message.ANSWER))
    assert len(parts) == 3
    short = parts[2][32:]
    for at, found in enumerate(
        ([parts[1], parts[0], parts[2]], parts[:2], [*parts, parts[2]], [parts[0][:32] + short])
    ):
        with (tmp_path / f"a{at}").open("xb") as file:
            writer = BatchWriter(file, Message.ANSWER)
            for part in found:
                writer.write(part)
            writer.finish()
        match = "2[0-9] samples, the query of 64" if at == 3 else f"not to {names[0]}"
        with pytest.raises(hesc.WireError, match=match):
            network.decrypt(tmp_path / f"a{at}", *sides, str(tmp_path / "x"), query=tmp_path / "q")
        assert not (tmp_path / "x").exists()


def test_files_in_the_wrong_order(desk: Desk, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "f.csv", SPLIT.test_features[:3], delimiter=",")
    answer = _answer(desk, tmp_path / "f.csv", tmp_path)
    for model, query in ((tmp_path / "q", desk.model), (desk.model, desk.model), (answer, answer)):
        with pytest.raises(hesc.WireError, match="order of the files"):
            network.evaluate(model, query, desk.public, tmp_path / "out")
    with pytest.raises(hesc.WireError, match="encrypted query, where an answer"):
        network.decrypt(tmp_path / "q", desk.secret, desk.preprocessing, desk.public)
    assert _names(tmp_path) == ["a", "f.csv", "q"]


def test_batches_are_strict(tmp_path: Path) -> None:
    path = tmp_path / "q"
    with path.open("xb") as file:
        writer = BatchWriter(file, Message.QUERY)
        for batch in (b"one", b"three"):
            writer.write(batch)
        writer.finish()

    def read(data: bytes) -> list[bytes]:
        path.write_bytes(data)
        with path.open("rb") as query:
            return list(read_batches(query, Message.QUERY))

    whole = path.read_bytes()
    assert read(whole) == [b"one", b"three"]
    # Cut anywhere, also between batches; with something behind; a batch left out; too long a batch.
    first, second = 8 + 12 + 3, 8 + 12 + 3 + 12 + 5
    wrong = [whole[:cut] for cut in range(len(whole))]
    wrong += [whole + b"\0", whole[:8] + whole[first:], whole[:first] + whole[second:]]
    wrong += [whole[:8] + (1 << 40).to_bytes(8, "little") + whole[16:]]
    wrong += [whole[:8] + bytes(20)]
    wrong += [
        whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
        for at in range(len(whole))
        for bit in range(8)
    ]
    for data in wrong:
        with pytest.raises(hesc.WireError):
            read(data)
    with Path("/dev/zero").open("rb") as endless, pytest.raises(hesc.WireError):
        list(read_batches(endless, Message.QUERY))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "empty"),
        (b"# only a comment\n\n", "empty"),
        (b"1,2\n3\n", "line 2: it holds 1 numbers, the first 2"),
        (b"1,2\n\n \r\n3,4\n", "line 2: it is empty"),
        (b"1\n2\n\n", "line 3: it is empty"),
        (b"1,2\n3,x[/]\n", r"line 2: 'x\[/\]' is no number"),
        (b"1,\n", "'' is no number"),
        (b"1_0,2\n", "'1_0' is no number"),
        (b"1,\xff\n", "no text"),
        (b"1," * (1 << 20), "longer than any row"),
    ],
)
def test_bad_tables_are_refused(data: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(data)
    with (
        (tmp_path / "f.csv").open("rb") as file,
        pytest.raises(hesc.HescError, match=problem),
    ):
        list(read_rows(file, 2))


def test_tables_are_read_a_few_rows_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(b"\xef\xbb\xbf1, 2\r\n# two\n3,4 # five\n-5e-1,6\n\n")
    with (tmp_path / "f.csv").open("rb") as file:
        batches = [batch.tolist() for batch in read_rows(file, 2)]
    assert batches == [[[1, 2], [3, 4]], [[-0.5, 6]]]
    with Path("/dev/zero").open("rb") as file, pytest.raises(hesc.HescError, match="longer than"):
        list(read_rows(file, 2))


def test_no_output_takes_the_place_of_a_file(desk: Desk, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "f.csv", SPLIT.test_features[:3], delimiter=",")
    answer = _answer(desk, tmp_path / "f.csv", tmp_path)
    keys = desk.secret.read_bytes()
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    with pytest.raises(hesc.HescError, match="--out and --preprocessing are one file"):
        network.encrypt_model(MODEL, desk.public, tmp_path / "mm", tmp_path / "mm")
    for taken in (desk.secret, link):
        with pytest.raises(FileExistsError, match="--json"):
            network.decrypt(answer, desk.secret, desk.preprocessing, desk.public, str(taken))
        with pytest.raises(FileExistsError, match="--out"):
            network.evaluate(desk.model, tmp_path / "q", desk.public, taken)
        with pytest.raises(FileExistsError, match="--out"):
            network.encrypt(tmp_path / "f.csv", desk.preprocessing, desk.public, taken)
        with pytest.raises(FileExistsError, match="--preprocessing"):
            network.encrypt_model(MODEL, desk.public, tmp_path / "mm", taken)
        with pytest.raises(FileExistsError, match="--secret"):
            network.keygen(tmp_path / "new", taken)
    assert desk.secret.read_bytes() == keys
    assert _names(tmp_path) == ["a", "f.csv", "link", "q"]


def test_keys_are_made_together_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make it first"):
        network.keygen(tmp_path / "new", tmp_path / "nodir" / "s.key")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "public.hesc").write_bytes(b"kept")
    with pytest.raises(FileExistsError, match="--public"):
        network.keygen(tmp_path / "half", tmp_path / "s.key")
    with pytest.raises(FileExistsError, match="is no folder"):
        network.keygen(tmp_path / "half" / "public.hesc", tmp_path / "s.key")
    assert _names(tmp_path) == ["half"]
    assert _names(tmp_path / "half") == ["public.hesc"]


@contextmanager
def _little_room() -> Iterator[None]:
    """Files end after 256 bytes, as on a full disk; not while pytest writes its own."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (256, before[1]))
    try:
        with pytest.raises(OSError, match="large"):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    features = tmp_path / "f.csv"
    features.write_text("1,2,3,4\n")
    with _little_room():
        network.keygen(tmp_path / "deep" / "new", tmp_path / "s.key")
    with _little_room():
        network.encrypt_model(MODEL, desk.public, tmp_path / "m", tmp_path / "p")
    with _little_room():
        network.encrypt(features, desk.preprocessing, desk.public, tmp_path / "q")
    assert _names(tmp_path) == ["f.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_command_that_is_ended_leaves_nothing(
    number: signal.Signals, desk: Desk, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "f.csv")
    options = ["--preprocessing", desk.preprocessing, "--public", desk.public, "--out", "q"]
    command = [sys.executable, "-m", "hesc", "network", "encrypt", "f.csv", *map(str, options)]
    with (
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process,
        # The command opens it too, and then waits for more rows.
        (tmp_path / "f.csv").open("w") as rows,
    ):
        rows.write("1,2,3,4\n" * 100)
        rows.flush()
        while len(_names(tmp_path)) < 2:
            time.sleep(0.01)
        process.send_signal(number)
        process.wait(20)
    assert process.returncode not in (0, None)
    assert _names(tmp_path) == ["f.csv"]


def test_passphrase_files_end_at_a_line_feed(tmp_path: Path) -> None:
    path = tmp_path / "words"
    for data, words in (
        (b"form\x0cfeed\nsecond", "form\x0cfeed"),
        (b"a\x0bb\x1cc\xe2\x80\xa8d\xc2\x85e\r\n", "a\x0bb\x1cc\u2028d\x85e"),
        (b"carriage\rreturn", "carriage\rreturn"),
        (b" spaces ", " spaces "),
    ):
        path.write_bytes(data)
        assert read_passphrase(path) == words
    for data, problem in ((b"\nx", "empty"), (b"\xff", "UTF-8"), (b"x" * 5000, "longer")):
        path.write_bytes(data)
        with pytest.raises(hesc.HescError, match=problem):
            read_passphrase(path)
    with pytest.raises(hesc.HescError, match="longer"):
        read_passphrase(Path("/dev/zero"))


def test_class_names_are_shown_as_they_are(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["[/red]", "[bold]iris", "[link=x]a[/link]"]
    document = json.loads(desk.preprocessing.read_text())
    (tmp_path / "p").write_text(json.dumps(document | {"classes": names}))
    np.savetxt(tmp_path / "f.csv", SPLIT.test_features[:9], delimiter=",")
    answer = _answer(desk, tmp_path / "f.csv", tmp_path)
    network.decrypt(answer, desk.secret, tmp_path / "p", desk.public)
    shown = capsys.readouterr().out
    assert all(name[:6] in shown for name in names)
    (tmp_path / "p").write_text(json.dumps(document | {"classes": ["a\x1b]0;b", "b", "c"]}))
    with pytest.raises(ModelFormatError, match="control characters"):
        Preprocessing.load(tmp_path / "p")


@pytest.mark.parametrize("count", [2, 4])
def test_answers_for_other_classes_are_refused(desk: Desk, tmp_path: Path, count: int) -> None:
    """Preprocessing of another network, with fewer classes or more, names none of the outputs."""
    np.savetxt(tmp_path / "f.csv", SPLIT.test_features[:2], delimiter=",")
    answer = _answer(desk, tmp_path / "f.csv", tmp_path)
    document = json.loads(desk.preprocessing.read_text())
    names = [f"class {number}" for number in range(count)]
    (tmp_path / "p").write_text(json.dumps(document | {"classes": names}))
    with pytest.raises(hesc.HescError, match=f"none of {count} classes"):
        network.decrypt(answer, desk.secret, tmp_path / "p", desk.public, str(tmp_path / "j"))
