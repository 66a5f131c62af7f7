"""Files are there whole or not at all, nothing is overwritten, inputs are bounded."""

from __future__ import annotations

import ast
import errno
import itertools
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc._support import new_files as new_files_module
from hesc._support.new_files import (
    check_new,
    new_file,
    new_files,
    new_folder,
    read_whole,
    replace_file,
)
from hesc.secret import wants_passphrase
from hesc.streams.iris import load_network

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PARAMS = hesc.Params.preset("bfv_1024")


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    with new_file(path) as part:
        part.write_bytes(b"all")
        assert part.suffix == ".png"
        assert not path.exists()
    assert path.read_bytes() == b"all"
    assert _names(tmp_path) == ["a.png"]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with new_files(tmp_path / "a", tmp_path / "b") as (first, _):
            first.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert _names(tmp_path) == []


def _write_files(folder: Path) -> None:
    with new_files(folder / "a", folder / "b") as parts:
        for part in parts:
            part.write_bytes(b"all")


def _write_folder(folder: Path) -> None:
    with new_folder(folder / "a") as part:
        (part / "inside").write_bytes(b"all")


def _replace(folder: Path) -> None:
    replace_file(folder / "a", b"new")


def _interrupted(work: Callable[[Path], None], folder: Path, at: int) -> bool:
    """Does it with an interrupt before step `at`; whether there are that many.

    Steps are those of the interpreter in `new_files`, and lines of what it calls.
    """
    steps = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal steps
        frame.f_trace_opcodes = frame.f_code.co_filename == new_files_module.__file__
        if event == ("opcode" if frame.f_trace_opcodes else "line"):
            steps += 1
            if steps == at:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work(folder)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


# Files that are open at an interrupt are closed by Python, which says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    ("work", "links"),
    [(_write_files, True), (_write_files, False), (_write_folder, True), (_replace, True)],
)
def test_an_interrupt_at_any_step_leaves_nothing_or_all(
    work: Callable[[Path], None], links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a signal's handler raises it, between any two steps: the returns of system calls too."""

    def without_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", without_links)
    # The disk is not what is looked at here.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    (tmp_path / "done").mkdir()
    work(tmp_path / "done")
    for at in itertools.count(1):
        folder = tmp_path / str(at)
        folder.mkdir()
        if work is _replace:
            (folder / "a").write_bytes(b"old")
        whole = _interrupted(work, folder, at)
        left = _names(folder)
        assert left in ([], _names(tmp_path / "done")), f"step {at} leaves {left}"
        assert work is not _replace or (folder / "a").read_bytes() in (b"old", b"new")
        for path in folder.rglob("*"):
            assert path.is_dir() or path.stat().st_size == 3, f"step {at} leaves half of {path}"
        if not whole:
            break
    assert at > 100


def test_what_somebody_else_made_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Be it empty, and under the second of two names."""

    def overtaken() -> None:
        with new_files(tmp_path / "a", tmp_path / "b") as parts:
            for part in parts:
                part.write_bytes(b"mine")
            (tmp_path / "b").touch()

    def without_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    for _ in range(2):
        with pytest.raises(FileExistsError, match="meanwhile"):
            overtaken()
        assert _names(tmp_path) == ["b"]
        (tmp_path / "b").unlink()
        monkeypatch.setattr(os, "link", without_links)


# Functions and methods that write a file that they are told.
_WRITERS = {
    "tofile", "savez", "savez_compressed", "savetxt", "savefig", "to_csv", "to_json", "to_parquet",
    "to_pickle", "copy2", "copyfile", "np.save", "numpy.save", "joblib.dump",
}  # fmt: skip
# Methods of the path that they write.
_OF_PATHS = {"write_text", "write_bytes", "touch"}
# Names beside those of the files, which `new_files` and `new_folder` give, and what is in memory.
_FREE = {"part", "parts", "folder", "file"}
# A mark of a hundred bytes, several times a second: one write in place, of the same length.
_IN_PLACE = "serve/state/seen.py"


def _written(call: ast.Call) -> str | None:
    """What a call writes to by name, if it does."""
    function, owner = ast.unparse(call.func), ""
    if isinstance(call.func, ast.Attribute):
        owner, name = ast.unparse(call.func.value), call.func.attr
    else:
        name = function
    target = ast.unparse(call.args[0]) if call.args else None
    if {name, function} & _WRITERS:
        return target
    if name in _OF_PATHS and owner:
        return owner
    if function == "os.open":
        return target if any(flag in ast.unparse(call) for flag in ("WR", "CREAT")) else None
    if name == "open":
        values = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
        modes = [value.value for value in values if isinstance(value, ast.Constant)]
        if any(isinstance(mode, str) and set(mode) & set("wax+") for mode in modes):
            return owner or target
    return None


def test_whatever_writes_files_does_it_by_new_files() -> None:
    """Whole or not at all, and never over another's: no call in the package writes otherwise."""
    package = Path(hesc.__file__).parent
    found, lawful = [], 0
    for source in sorted(package.rglob("*.py")):
        if source.name == "new_files.py" or str(source.relative_to(package)) == _IN_PLACE:
            continue
        calls = (x for x in ast.walk(ast.parse(source.read_text())) if isinstance(x, ast.Call))
        for node in calls:
            target = _written(node)
            # `params_part`, `parts[1]` and `folder / name` are free names.
            if target is None or target == "os.devnull":
                continue
            if _FREE & set("".join(c if c.isalnum() else " " for c in target).split()):
                lawful += 1
            else:
                found.append(f"{source.relative_to(package)}:{node.lineno} writes {target}")
    assert not found
    assert lawful > 10


def test_a_network_never_takes_the_place_of_a_file(tmp_path: Path) -> None:
    network = load_network()
    (tmp_path / "there").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("there")
    for name in ("there", "link"):
        with pytest.raises(FileExistsError, match="not overwritten"):
            network.save(tmp_path / name)
    assert (tmp_path / "there").read_bytes() == b"kept"
    network.save(tmp_path / "model")
    again = type(network).load(tmp_path / "model")
    assert np.array_equal(again.axes, network.axes)


def test_files_that_belong_together_appear_together(tmp_path: Path) -> None:
    def overtaken() -> None:
        with new_files(tmp_path / "a", tmp_path / "b") as parts:
            for part in parts:
                part.write_bytes(b"mine")
            (tmp_path / "b").write_bytes(b"somebody else's")

    with pytest.raises(FileExistsError, match="meanwhile"):
        overtaken()
    assert _names(tmp_path) == ["b"]
    assert (tmp_path / "b").read_bytes() == b"somebody else's"


@pytest.mark.parametrize("links", [True, False])
def test_nothing_is_overwritten(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file nor what a link points to, be there something or not."""

    def overtaken(name: str, path: Path) -> None:
        with new_file(path) as part:
            part.write_bytes(b"new")
            (tmp_path / name).rename(path)

    def without_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", without_links)
    (tmp_path / "there").write_bytes(b"kept")
    (tmp_path / "to it").symlink_to("there")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("there", "to it", "dangling"):
        with pytest.raises(FileExistsError, match="not overwritten"):
            check_new({"--out": tmp_path / name})
        path = tmp_path / f"late {name}"
        with pytest.raises(FileExistsError):
            overtaken(name, path)
        path.rename(tmp_path / name)
    assert (tmp_path / "there").read_bytes() == b"kept"
    assert _names(tmp_path) == ["dangling", "there", "to it"]
    with new_file(tmp_path / "free") as part:
        part.write_bytes(b"new")
    assert (tmp_path / "free").read_bytes() == b"new"


def test_outputs_are_checked_before_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    for name, error, message in (
        ("nodir/x", FileNotFoundError, "make it first"),
        ("file/x", NotADirectoryError, "no folder"),
        ("folder", FileExistsError, "not overwritten"),
        ("..", hesc.HescError, "names no file"),
    ):
        with pytest.raises(error, match=message):
            check_new({"--out": tmp_path / name})
    with pytest.raises(hesc.HescError, match="--a and --b are one file"):
        check_new({"--a": tmp_path / "x", "--b": tmp_path / "folder" / ".." / "x"})


def test_endless_inputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(hesc.HescError, match="longer than a key"):
        read_whole("/dev/zero", 1000, "a key")
    with pytest.raises(hesc.HescError, match="no file"):
        wants_passphrase("/dev/zero")
    (tmp_path / "exact").write_bytes(bytes(1000))
    assert len(read_whole(tmp_path / "exact", 1000, "a key")) == 1000


def _secret(path: Path) -> hesc.SecretKey:
    secret, _ = hesc.keygen(PARAMS)
    secret.save(path)
    return secret


def test_a_secret_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.key"
    _secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    hesc.SecretKey.load(PARAMS, path)
    for mode in (0o640, 0o604, 0o622, 0o777):
        path.chmod(mode)
        for use in (wants_passphrase, partial(hesc.SecretKey.load, PARAMS)):
            with pytest.raises(PermissionError, match="chmod 600"):
                use(path)
    path.chmod(0o400)
    hesc.SecretKey.load(PARAMS, path)


def test_a_secret_key_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where who runs may read everything."""
    path = tmp_path / "s.key"
    _secret(path)
    stranger = os.geteuid() + 1
    if os.geteuid() == 0:
        os.chown(path, stranger, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: stranger)
    for use in (wants_passphrase, partial(hesc.SecretKey.load, PARAMS)):
        with pytest.raises(PermissionError, match="chown"):
            use(path)


def test_the_bytes_of_a_key_file_do_not_pass_through_python(tmp_path: Path) -> None:
    """Python says to who listens which files it opens."""
    path, opened, listening = tmp_path / "s.key", [], True

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event == "open" and "s.key" in str(arguments[0]):
            opened.append(arguments)

    sys.addaudithook(listen)
    try:
        hesc.keygen(PARAMS)[0].save(path, passphrase="correct horse")
        made = len(opened)
        assert wants_passphrase(path)
        hesc.SecretKey.load(PARAMS, path, passphrase="correct horse")
        assert len(opened) == made
        path.read_bytes()
        assert len(opened) == made + 1
    finally:
        listening = False


def test_a_pipe_is_no_key_file(tmp_path: Path) -> None:
    """Nobody writes to it: opening it would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    for use in (wants_passphrase, partial(hesc.SecretKey.load, PARAMS)):
        with pytest.raises(hesc.ParameterError, match="no file"):
            use(tmp_path / "pipe")


def test_a_secret_key_never_takes_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError, match="not overwritten"):
        _secret(tmp_path / "link")
    with pytest.raises(FileNotFoundError, match="make it first"):
        _secret(tmp_path / "nodir" / "s.key")
    secret, _ = hesc.keygen(hesc.Params.preset("bfv_4096"), products=False)
    with pytest.raises(FileExistsError, match="not overwritten"):
        secret.save(tmp_path / "link")
    assert _names(tmp_path) == ["link"]
