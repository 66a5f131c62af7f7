"""Commands on a network's files: any length, in a wrong order, without room: right, or nothing."""

from __future__ import annotations

import csv
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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc._support.passphrase_files import read_passphrase
from hesc.cli import compiling, files, outsourcing
from hesc.ml import ClientFolder
from hesc.protocols.message import Kind, Message, MessageWriter, read_messages
from hesc.streams.iris import load_network, load_split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

NETWORK, SPLIT = load_network(), load_split()
MODEL = Path(hesc.__file__).parent / "streams" / "iris" / "network.json"


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _rows(path: Path, samples: Any) -> Path:
    np.savetxt(path, samples, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    return path


class Desk(NamedTuple):
    """What a client and a model owner have prepared in a folder."""

    client: Path
    owner: Path
    server: Path
    secret: Path
    keys: Path

    @property
    def digest(self) -> bytes:
        """The plan's."""
        return bytes(ClientFolder.open(self.client).plan.digest)


def _desk(at: Path, model: Path = MODEL) -> Desk:
    compiling.compile_model(model, _rows(at / "data.csv", SPLIT.train_features), at / "d", sample=0)
    found = Desk(at / "d" / "client", at / "d" / "owner", at / "server", at / "s.key", at / "keys")
    files.keygen(found.client, found.secret, found.keys)
    outsourcing.encrypt_model(found.owner, found.server, found.keys)
    return found


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return _desk(tmp_path_factory.mktemp("desk"))


def _answer(desk: Desk, features: Path, at: Path) -> Path:
    files.encrypt(features, desk.client, desk.secret, at / "q")
    files.evaluate(at / "q", desk.server, at / "a")
    return at / "a"


def _table(path: Path) -> tuple[list[str], NDArray[np.float64]]:
    """Predictions and outputs."""
    with path.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return [row[0] for row in rows], np.array([[float(x) for x in row[1:-1]] for row in rows])


def test_files_of_any_length(desk: Desk, tmp_path: Path) -> None:
    """More samples than a query holds, and the last query not full."""
    features = np.tile(SPLIT.test_features, (5, 1))[:-7]
    answer = _answer(desk, _rows(tmp_path / "f.csv", features), tmp_path)
    files.decrypt(answer, desk.client, desk.secret, tmp_path / "p")
    predictions, outputs = _table(tmp_path / "p")
    assert len(predictions) == len(features) == 143
    assert np.sqrt(np.mean((outputs - NETWORK.values(features)) ** 2)) < 0.4
    expected = [NETWORK.classes[i] for i in NETWORK.predict(features)]
    assert np.mean(np.array(predictions) == expected) > 0.95


def test_answers_name_their_query(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of another query, of a part, in another order: refused where the query is there."""
    answer = _answer(
        desk, _rows(tmp_path / "f.csv", np.tile(SPLIT.test_features, (5, 1))), tmp_path
    )
    sides = desk.client, desk.secret
    files.decrypt(answer, *sides, tmp_path / "p", query=tmp_path / "q")
    names = re.findall(r"\(query ([0-9a-f]{12})\)", capsys.readouterr().err)
    assert len(names) == 3
    assert len(set(names)) == 1
    with answer.open("rb") as file:
        parts = list(read_messages(file, Kind.ANSWER, desk.digest))
    assert len(parts) == 3
    first, _, last = (Message.from_bytes(part, Kind.ANSWER, plan=desk.digest) for part in parts)
    short = last._replace(query=first.query).to_bytes()
    wrong = ([parts[1], parts[0], parts[2]], parts[:2], [*parts, parts[2]], [short, *parts[1:]])
    for at, found in enumerate(wrong):
        with (tmp_path / f"a{at}").open("xb") as file:
            writer = MessageWriter(file, desk.digest)
            for part in found:
                writer.write(part)
            writer.finish()
        match = "2[0-9] samples, the query of 64" if at == 3 else f"not to {names[0]}"
        with pytest.raises(hesc.WireError, match=match):
            files.decrypt(tmp_path / f"a{at}", *sides, tmp_path / "x", query=tmp_path / "q")
        assert not (tmp_path / "x").exists()


def test_files_in_the_wrong_order(desk: Desk, tmp_path: Path) -> None:
    answer = _answer(desk, _rows(tmp_path / "f.csv", SPLIT.test_features[:3]), tmp_path)
    with pytest.raises(hesc.WireError, match="order of the files"):
        files.evaluate(answer, desk.server, tmp_path / "out")
    with pytest.raises(hesc.WireError, match="no file of hesc"):
        files.evaluate(desk.server / "server.json", desk.server, tmp_path / "out")
    with pytest.raises(hesc.WireError, match="a query, where an answer"):
        files.decrypt(tmp_path / "q", desk.client, desk.secret, tmp_path / "out")
    for folder in (desk.client, desk.owner):
        with pytest.raises(hesc.WireError, match="server folder"):
            files.evaluate(tmp_path / "q", folder, tmp_path / "out")
    assert _names(tmp_path) == ["a", "f.csv", "q"]


def test_keys_that_are_not_a_querys_are_named(desk: Desk, tmp_path: Path) -> None:
    answer = _answer(desk, _rows(tmp_path / "f.csv", SPLIT.test_features[:3]), tmp_path)
    params = ClientFolder.open(desk.client).plan.params
    hesc.keygen(params)[0].save(tmp_path / "another.key")
    other = hesc.Params.preset("pad_1024")
    hesc.keygen(other)[0].save(tmp_path / "foreign.key")
    out = tmp_path / "out"
    with pytest.raises(hesc.KeyMismatchError, match=r"another\.key is not the key that this query"):
        files.decrypt(answer, desk.client, tmp_path / "another.key", out)
    with pytest.raises(hesc.ParameterError, match=r"foreign\.key is no key of this plan"):
        files.decrypt(answer, desk.client, tmp_path / "foreign.key", out)
    with pytest.raises(FileNotFoundError) as missing:
        files.decrypt(answer, desk.client, tmp_path / "nobody's.key", out)
    assert missing.value.filename == str(tmp_path / "nobody's.key")
    assert not out.exists()


def test_files_of_messages_are_strict(tmp_path: Path) -> None:
    path, plan = tmp_path / "q", bytes(range(16))
    sent = [Message(Kind.QUERY, plan, 1, (part,)).to_bytes() for part in (b"one", b"three")]
    with path.open("xb") as file:
        writer = MessageWriter(file, plan)
        for message in sent:
            writer.write(message)
        writer.finish()

    def read(data: bytes) -> list[bytes]:
        path.write_bytes(data)
        with path.open("rb") as query:
            return list(read_messages(query, Kind.QUERY, plan))

    whole = path.read_bytes()
    assert read(whole) == sent
    # Cut anywhere, also between messages; with something behind; a message left out; too long a
    # part.
    first, second = len(sent[0]), len(sent[0]) + len(sent[1])
    wrong = [whole[:cut] for cut in range(len(whole))]
    wrong += [whole + b"\0", whole[first:], whole[:first] + whole[second:], whole[second:]]
    wrong += [whole[:48] + (1 << 30).to_bytes(4, "little") + whole[52:]]
    wrong += [
        whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
        for at in range(len(whole))
        for bit in range(8)
    ]
    for data in wrong:
        with pytest.raises(hesc.WireError):
            read(data)
    with Path("/dev/zero").open("rb") as endless, pytest.raises(hesc.WireError):
        list(read_messages(endless, Kind.QUERY, plan))


def test_no_output_takes_the_place_of_a_file(desk: Desk, tmp_path: Path) -> None:
    features = _rows(tmp_path / "f.csv", SPLIT.test_features[:3])
    answer = _answer(desk, features, tmp_path)
    keys = desk.secret.read_bytes()
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    with pytest.raises(hesc.HescError, match="--secret and --keys are one file"):
        files.keygen(desk.client, tmp_path / "kk", tmp_path / "kk")
    for taken in (desk.secret, link):
        for option in ("--json", "--out"):
            outputs: dict[str, Any] = {"out": tmp_path / "p", "json_file": str(taken)}
            if option == "--out":
                outputs = {"out": taken}
            with pytest.raises(FileExistsError, match=option):
                files.decrypt(answer, desk.client, desk.secret, **outputs)
        with pytest.raises(FileExistsError, match="--out"):
            files.evaluate(tmp_path / "q", desk.server, taken)
        with pytest.raises(FileExistsError, match="--out"):
            files.encrypt(features, desk.client, desk.secret, taken)
        with pytest.raises(FileExistsError, match="--out"):
            outsourcing.encrypt_model(desk.owner, taken, desk.keys)
        with pytest.raises(FileExistsError, match="--out"):
            compiling.compile_model(MODEL, features, taken)
        with pytest.raises(FileExistsError, match="--secret"):
            files.keygen(desk.client, taken, tmp_path / "new")
        with pytest.raises(FileExistsError, match="--keys"):
            files.keygen(desk.client, tmp_path / "new", taken)
    assert desk.secret.read_bytes() == keys
    assert _names(tmp_path) == ["a", "f.csv", "link", "q"]


def test_keys_are_made_together_or_not_at_all(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make it first"):
        files.keygen(desk.client, tmp_path / "nodir" / "s.key", tmp_path / "keys")
    with pytest.raises(FileNotFoundError, match="make it first"):
        files.keygen(desk.client, tmp_path / "s.key", tmp_path / "nodir" / "keys")
    with pytest.raises(hesc.ParameterError, match="give --keys, a new file"):
        files.keygen(desk.client, tmp_path / "s.key")
    (tmp_path / "kept").write_bytes(b"kept")
    with pytest.raises(FileExistsError, match="--keys"):
        files.keygen(desk.client, tmp_path / "s.key", tmp_path / "kept")
    for beside in (desk.client, desk.owner):
        with pytest.raises(hesc.HescError, match="lies in a deployment"):
            files.keygen(desk.client, beside / "s.key", tmp_path / "keys")
    assert _names(tmp_path) == ["kept"]


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
    features.write_text("a,b,c,d\n1,2,3,4\n")
    with _little_room():
        compiling.compile_model(MODEL, features, tmp_path / "d", sample=0)
    with _little_room():
        files.keygen(desk.client, tmp_path / "s.key", tmp_path / "keys")
    with _little_room():
        outsourcing.encrypt_model(desk.owner, tmp_path / "m", desk.keys)
    with _little_room():
        files.encrypt(features, desk.client, desk.secret, tmp_path / "q")
    assert _names(tmp_path) == ["f.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_command_that_is_ended_leaves_nothing(
    number: signal.Signals, desk: Desk, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "f.csv")
    options = ["--client", desk.client, "--secret", desk.secret, "--out", "q"]
    command = [sys.executable, "-m", "hesc", "encrypt", "f.csv", *map(str, options)]
    with (
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process,
        # The command opens it too, and then waits for more rows.
        (tmp_path / "f.csv").open("w") as rows,
    ):
        rows.write("a,b,c,d\n" + "1,2,3,4\n" * 100)
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


def test_class_names_are_written_as_they_are(tmp_path: Path) -> None:
    names = ["[/red]", "[bold]iris", "[link=x]a[/link]"]
    document = json.loads(MODEL.read_text())
    (tmp_path / "n.json").write_text(json.dumps(document | {"classes": names}))
    own = _desk(tmp_path, tmp_path / "n.json")
    answer = _answer(own, _rows(tmp_path / "f.csv", SPLIT.test_features[:9]), tmp_path)
    files.decrypt(answer, own.client, own.secret, tmp_path / "p")
    shown = (tmp_path / "p").read_text()
    assert all(f"score {name}" in shown for name in names)
    assert set(_table(tmp_path / "p")[0]) <= set(names)
    (tmp_path / "n2.json").write_text(json.dumps(document | {"classes": ["a\x1b]0;b", "b", "c"]}))
    with pytest.raises(hesc.HescError, match="control characters"):
        compiling.compile_model(tmp_path / "n2.json", tmp_path / "f.csv", tmp_path / "d2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_error": 0.1, "hidden": True}, "--max-error, --hidden: not of a plan of this model"),
        ({"disclose": "class"}, r"Classes\(\) is not served here"),
        ({"preset": "hestd2018_koseki_bfv_1024"}, "2024"),
        ({"stream_length": 1 << 17}, "stream_length"),
    ],
)
def test_options_of_other_models_are_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    data = _rows(tmp_path / "data.csv", SPLIT.train_features)
    with pytest.raises(hesc.HescError, match=message):
        compiling.compile_model(MODEL, data, tmp_path / "d", **options)
    assert _names(tmp_path) == ["data.csv"]
