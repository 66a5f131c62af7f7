"""Deployment folders: whole or not at all, and read strictly; reports that tell no secrets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hesc
from hesc._support.new_files import new_folder
from hesc.ml import ClientFolder, Deployment, PrivateClassifier, Scores, ServerFolder
from hesc.protocols import folders, ledger, registry

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y = load_iris(return_X_y=True)


def planned(names: tuple[str, ...] = ("a", "b", "c", "d"), **wishes: Any) -> PrivateClassifier:
    made = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y)
    made.plan(X, Scores(**wishes), names=names)
    return made


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planned().save(tmp_path_factory.mktemp("deployments") / "iris", sample=40)


@pytest.fixture
def copied(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "copy"))


def files_of(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if not path.is_dir())
    return sorted(str(path.relative_to(folder)) for path in found)


def test_sides_meet_by_their_folders_alone(saved: Path, tmp_path: Path) -> None:
    """Scores are the model's, with errors as stated, and the key is kept."""
    made = planned()
    shutil.copytree(saved / "client", tmp_path / "c")
    shutil.copytree(saved / "server", tmp_path / "s")
    mine = ClientFolder.open(tmp_path / "c")
    client = mine.client()
    client.secret.save(tmp_path / "key", passphrase="words")
    answer = ServerFolder.open(tmp_path / "s").server().answer(client.encrypt(X).data)
    kept = mine.client(secret=mine.load_secret(tmp_path / "key", passphrase="words"))
    found = kept.decrypt(answer)
    z = (found.scores - made.decision_function(X)) / found.error
    # 450 normal errors at most: beyond 6 once in 10^6, and a root mean square above 1.2 likewise.
    assert np.abs(z).max() < 6
    assert np.sqrt(np.mean(z**2)) < 1.2
    assert (found.predictions == made.predict(X)).mean() > 0.97


def test_what_lies_where(saved: Path) -> None:
    assert files_of(saved) == [
        "client/manifest.json",
        "client/plan.json",
        "manifest.json",
        "report.html",
        "server/manifest.json",
        "server/plan.json",
        "server/server.json",
    ]
    found = Deployment.open(saved)
    assert found.client.plan.digest == found.server.plan.digest
    for side in (saved, saved / "client", saved / "server"):
        manifest = json.loads((side / "manifest.json").read_bytes())
        assert manifest["plan"] == found.client.plan.digest.hex()
    assert "server" in repr(found.server)
    assert b"weights" not in (saved / "client" / "plan.json").read_bytes()
    # Nothing says on which machine it was made, and the plan's bytes are one on both sides.
    again = planned().save(saved.parent / "again", sample=0)
    for name in ("client/plan.json", "server/server.json", "client/manifest.json"):
        assert (again / name).read_bytes() == (saved / name).read_bytes()


def test_nothing_is_overwritten_or_half_there(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = planned()
    with pytest.raises(FileExistsError, match="not overwritten"):
        made.save(saved)
    with pytest.raises(FileNotFoundError, match="make it first"):
        made.save(tmp_path / "no" / "x")
    with pytest.raises(hesc.OutOfRangeError, match="sample"):
        made.save(tmp_path / "x", sample=-1)
    with pytest.raises(hesc.ParameterError, match="no plan"):
        PrivateClassifier(RidgeClassifier()).fit(X, Y).save(tmp_path / "x")
    monkeypatch.setattr(folders, "MANIFEST", "nodir/manifest.json")
    with pytest.raises(FileNotFoundError):
        made.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_came_into_being_meanwhile_stays(tmp_path: Path) -> None:
    def meanwhile() -> None:
        with new_folder(tmp_path / "x") as part:
            (part / "mine").write_text("mine")
            (tmp_path / "x").mkdir()
            (tmp_path / "x" / "theirs").write_text("theirs")

    with pytest.raises(OSError, match="not empty"):
        meanwhile()
    assert files_of(tmp_path) == ["x/theirs"]


def rewritten(copied: Path, name: str, data: bytes, *, plan: str | None = None) -> None:
    """Puts a file into a folder and makes its manifests fit, as a liar would."""
    (copied / name).write_bytes(data)
    folder = (copied / name).parent
    while True:
        path = folder / "manifest.json"
        document = json.loads(path.read_bytes())
        for listed in document["files"]:
            found = (folder / listed).read_bytes()
            document["files"][listed] = {"bytes": len(found), "sha256": folders.digest(found)}
        if plan is not None and folder != copied:
            document["plan"] = plan
        path.write_text(json.dumps(document))
        if folder == copied:
            return
        folder = folder.parent


def instead(path: Path) -> Path:
    """The path, whose file or folder is elsewhere now."""
    copied = next(above for above in path.parents if above.name == "copy")
    path.rename(copied.with_name("elsewhere"))
    return path


DAMAGE: dict[str, Callable[[Path], object]] = {
    "extra file": lambda d: (d / "client" / "k.key").write_bytes(b""),
    "extra folder": lambda d: (d / "keys").mkdir(),
    "missing": lambda d: (d / "server" / "server.json").unlink(),
    "no manifest": lambda d: (d / "client" / "manifest.json").unlink(),
    "no client": lambda d: shutil.rmtree(d / "client"),
    "cut": lambda d: os.truncate(d / "server" / "server.json", 100),
    "empty report": lambda d: os.truncate(d / "report.html", 0),
    "longer": lambda d: os.truncate(d / "client" / "plan.json", 1 << 30),
    "folder": lambda d: instead(d / "report.html").mkdir(),
    "pipe": lambda d: os.mkfifo(instead(d / "report.html")),
    "link": lambda d: instead(d / "client" / "plan.json").symlink_to(d / "server" / "plan.json"),
    "linked folder": lambda d: instead(d / "client").symlink_to(d.with_name("elsewhere")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_folders_are_refused(copied: Path, damage: str) -> None:
    Deployment.open(copied)
    DAMAGE[damage](copied)
    with pytest.raises(hesc.WireError):
        Deployment.open(copied)


def test_other_versions_and_mixed_folders_are_refused(
    saved: Path, copied: Path, tmp_path: Path
) -> None:
    other = planned(("p", "q", "r", "s")).save(tmp_path / "other", sample=0)
    text = (copied / "client" / "manifest.json").read_text()
    (copied / "client" / "manifest.json").write_text(text.replace("manifest 1", "manifest 2"))
    with pytest.raises(hesc.WireError, match="version 1"):
        ClientFolder.open(copied / "client")
    with pytest.raises(hesc.WireError, match="is the server folder"):
        ClientFolder.open(_swapped(other))
    shutil.rmtree(copied)
    for side in ("client", "server"):
        shutil.copytree(saved, copied)
        shutil.rmtree(copied / side)
        shutil.copytree(other / side, copied / side)
        with pytest.raises(hesc.WireError, match="not what its manifest says"):
            Deployment.open(copied)
        rewritten(copied, "report.html", b"")
        with pytest.raises(hesc.WireError, match="different plans"):
            Deployment.open(copied)
        shutil.rmtree(copied)
    shutil.copytree(saved, copied)
    # Weights of one plan behind another: the server's own plan tells.
    model = (other / "server" / "server.json").read_bytes()
    rewritten(copied, "server/server.json", model)
    with pytest.raises(hesc.WireError, match="another plan than"):
        ServerFolder.open(copied / "server")
    plan = (other / "server" / "plan.json").read_bytes()
    (copied / "server" / "plan.json").write_bytes(plan)
    rewritten(copied, "server/server.json", model, plan=folders.digest(plan))
    ServerFolder.open(copied / "server")


def _swapped(other: Path) -> Path:
    """A folder that has a client's files and a server's manifest."""
    folder = other.parent / "swapped"
    shutil.copytree(other / "client", folder)
    shutil.copy(other / "server" / "manifest.json", folder / "manifest.json")
    return folder


def test_random_damage_is_refused(copied: Path) -> None:
    """A byte more, less or other, anywhere: SHA-256 or the schema notices every one of them."""
    rng = np.random.default_rng(5)
    names = files_of(copied)
    for case in range(300):
        path = copied / names[case % len(names)]
        original = path.read_bytes()
        changed = bytearray(original)
        at = int(rng.integers(len(changed)))
        match rng.integers(3):
            case 0:
                changed[at] ^= 1 << int(rng.integers(8))
            case 1:
                del changed[at : at + int(rng.integers(1, 50))]
            case _:
                changed.insert(at, int(rng.integers(256)))
        path.write_bytes(changed)
        try:
            found = Deployment.open(copied)
            # What the schema does not fix: who wrote it, and blanks, of the outermost.
            assert path == copied / "manifest.json"
            assert found.client.plan.names == ["a", "b", "c", "d"]
        except hesc.HescError:
            pass
        path.write_bytes(original)
    Deployment.open(copied)


STRANGE: list[Any] = [None, True, -1, 0, 2**70, 1e308, "", "x", "a" * 64, [], {}, [[]], {"a": 1}]


def test_lying_manifests_are_refused(copied: Path) -> None:
    """Well-formed manifests with something else in any place: errors of ours, or the same plan."""
    refused = 0
    for at in (copied / "client", copied / "server", copied):
        path = at / "manifest.json"
        original = json.loads(path.read_bytes())
        places: list[tuple[str, ...]] = [(name,) for name in original]
        places += [("files", name) for name in original["files"]]
        places += [
            ("files", name, what) for name in original["files"] for what in ("bytes", "sha256")
        ]
        for place in places:
            for strange in (*STRANGE, "removed", "more"):
                document = json.loads(json.dumps(original))
                inside = document
                for name in place[:-1]:
                    inside = inside[name]
                if strange == "removed":
                    del inside[place[-1]]
                elif strange == "more":
                    inside["../../etc/passwd"] = inside[place[-1]]
                else:
                    inside[place[-1]] = strange
                path.write_text(json.dumps(document))
                try:
                    kind = {"client": ClientFolder, "server": ServerFolder}.get(at.name, Deployment)
                    kind.open(at)  # type: ignore[attr-defined]
                    # The text that says who wrote it is free.
                    assert place == ("hesc",)
                except hesc.HescError:
                    refused += 1
        path.write_text(json.dumps(original))
    assert refused > 300


def test_folders_that_a_plan_does_not_have_are_refused(copied: Path) -> None:
    """With a manifest that fits, as a liar would write it."""
    manifest = json.loads((copied / "manifest.json").read_text())
    del manifest["files"]["server/manifest.json"]
    shutil.rmtree(copied / "server")
    with pytest.raises(hesc.WireError, match="list of files"):
        Deployment.open(copied)
    (copied / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(hesc.WireError, match="other folders than its plan"):
        Deployment.open(copied)


@pytest.mark.parametrize("name", ["client/plan.json", "server/server.json"])
def test_lying_documents_under_fitting_manifests_are_refused(copied: Path, name: str) -> None:
    """Hashes that fit say nothing of what is behind them: errors of ours alone, no crash."""
    rng = np.random.default_rng(6)
    original = (copied / name).read_bytes()
    refused = 0
    for _ in range(60):
        changed = bytearray(original)
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(changed)))
            changed[at] = int(rng.integers(32, 127))
        plan = folders.digest(bytes(changed)) if name.endswith("plan.json") else None
        rewritten(copied, name, bytes(changed), plan=plan)
        try:
            if plan is None:
                ServerFolder.open(copied / "server")
            else:
                client = ClientFolder.open(copied / "client")
                assert len(client.plan.to_bytes()) <= len(changed)
        except hesc.HescError:
            refused += 1
    assert refused > 20


def test_a_server_folder_is_opened_without_what_decrypts(saved: Path) -> None:
    code = """
import sys
from hesc.ml import ServerFolder
ServerFolder.open(sys.argv[1]).server()
unwanted = {"hesc.secret", "hesc.protocols.linear.client", "sklearn", "matplotlib", "jinja2"}
loaded = unwanted & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code, str(saved / "server")], check=True)


# Protocols ----------------------------------------------------------------------------------------


def test_every_protocol_is_there() -> None:
    for name, row in registry.PROTOCOLS.items():
        plan = row.loaded("plan")
        assert plan.protocol == name
        assert plan.document == "plan"
        if not row.has_model:
            assert row.loaded("client").plan_type is plan
            assert not row.sides
            continue
        for part in ("client", "server"):
            found = row.loaded(part)
            assert found.plan_type is plan
            assert found.__name__ == f"{row.stem}{part.capitalize()}"
        assert row.loaded("backend").__name__ == f"{row.stem}Backend"
        assert row.loaded("server").document == "server"
        assert row.sides[0] == "client"
        if row.has_owner:
            assert row.loaded("owner").plan_type is plan


def test_what_no_protocol_knows_is_refused(saved: Path) -> None:
    model = (saved / "server" / "server.json").read_bytes()
    plan = (saved / "client" / "plan.json").read_bytes()
    with pytest.raises(hesc.WireError, match="no plan"):
        registry.read_plan(model)
    with pytest.raises(hesc.WireError, match="no server"):
        registry.read_server(plan)
    for data in (
        b"",
        b"[]",
        b'{"format":1}',
        b'{"format":"hesc.ml plan 2"}',
        plan.replace(b'"protocol":"linear"', b'"protocol":"no"'),
        plan[:-1],
    ):
        with pytest.raises(hesc.WireError):
            registry.read_plan(data)
    not_one: Any = object()
    with pytest.raises(hesc.ParameterError, match="no plan"):
        registry.client_of(not_one)


# Hidden weights -----------------------------------------------------------------------------------


def test_hidden_weights_are_saved_and_want_keys(tmp_path: Path) -> None:
    """The keys that the report's run is made with are gone: a server takes its client's."""
    x, y = load_breast_cancer(return_X_y=True)
    made = PrivateClassifier(make_pipeline(StandardScaler(), RidgeClassifier())).fit(x, y)
    made.plan(x, Scores(hidden=True, max_error=0.05, answers=29))
    opened = Deployment.open(made.save(tmp_path / "d"))
    with pytest.raises(hesc.ParameterError, match="needs the client's public keys"):
        opened.server.server()
    client = opened.client.client()
    answer = opened.server.server(keys=client.public_keys()).answer(client.encrypt(x[:9]).data)
    assert np.abs(client.decrypt(answer).scores - made.decision_function(x[:9])).max() < 0.3
    assert "29 numbers in all" in (tmp_path / "d" / "report.html").read_text()


def test_keys_too_many_are_refused(saved: Path) -> None:
    with pytest.raises(hesc.ParameterError, match="needs no keys"):
        ServerFolder.open(saved / "server").server(keys=b"x")


def test_ledgers_count_over_runs(tmp_path: Path) -> None:
    path, name = tmp_path / "count", b"ab" * 16
    for expected in (0, 4, 8):
        with ledger.opened(path, name) as counted:
            assert counted.given == expected
            counted.spend(4, 12)
    with (
        ledger.opened(path, name) as counted,
        pytest.raises(hesc.ParameterError, match=r"12 numbers in all.*12 are given"),
    ):
        counted.spend(1, 12)
    with pytest.raises(hesc.WireError, match="another model's"), ledger.opened(path, b"cd" * 16):
        pass
    whole = path.read_bytes()
    for count in (b":-1", b":1e3", b':"12"', b":true"):
        path.write_bytes(whole.replace(b":12", count))
        with pytest.raises(hesc.WireError, match="damaged"), ledger.opened(path, name):
            pass
    salt = json.loads(whole)["salt"].encode()
    for data in (whole[:-1], whole.replace(salt, b"0"), whole.replace(salt, salt[::-1]), b"x"):
        path.write_bytes(data)
        with pytest.raises(hesc.WireError), ledger.opened(path, name):
            pass
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic"), ledger.opened(tmp_path / "link", name):
        pass
