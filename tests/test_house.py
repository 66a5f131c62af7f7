"""The counters of `scripts.house` on snippets, and limits that the tree keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from scripts import house

if TYPE_CHECKING:
    from pathlib import Path

LIMITS: Final = {
    "rooms, hesc": 19,  # `batch` came last
    "rooms, hesc.ml": 20,
    "rooms, hesc.models": 20,
    "rooms, hesc.protocols": 25,
    "arrows in circles, hesc": 0,
    "arrows in circles, hesc.ml": 0,
    "arrows in circles, hesc.models": 0,
    "arrows in circles, hesc.protocols": 0,
    "circles of modules": 0,
    "plan classes in Python": 12,  # two of these say what others share
    "containers of messages": 2,
    "kinds of messages": 50,
    "names of files that stand for several": 0,
    "names of classes that stand for several": 0,
    "methods that only forward": 0,
    "docstrings that lean, public": 0,
    "docstrings that lean, private": 0,
    "public names": 222,
    "arguments of `plan()`": 4,  # options, names, table, and the objective that chooses a plan
}


def _package(folder: Path, files: dict[str, str]) -> dict[str, house.Module]:
    for name, text in files.items():
        path = folder / "hesc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return house.modules(folder, "hesc")


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    return house.measure(house.ROOT).counts


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_kept(counts: dict[str, int], name: str) -> None:
    assert counts[name] <= LIMITS[name]


def test_rooms_stand_on_floors(tmp_path: Path) -> None:
    found = _package(
        tmp_path,
        {
            "__init__.py": "from hesc.a import x",
            "__main__.py": "import hesc.a",
            "a.py": "from hesc.b import one",
            "b/__init__.py": "",
            "b/one.py": "def f():\n    from hesc import c",
            "b/two.py": "import hesc.b.one",
            "c.py": "",
        },
    )
    floors = house.floors(found, "hesc")
    assert floors.rooms == ["a", "b", "c"]
    assert floors.arrows == {("a", "b"), ("b", "c")}
    assert (floors.count, floors.circles, floors.up) == (3, [], 0)
    assert house.module_circles(found) == []


def test_circles_are_found_where_imports_are_lazy_or_for_types(tmp_path: Path) -> None:
    found = _package(
        tmp_path,
        {
            "a.py": "if TYPE_CHECKING:\n    from hesc.b import x",
            "b.py": "def f():\n    import hesc.c",
            "c.py": "from hesc import a",
            "d.py": "from hesc import a",
        },
    )
    floors = house.floors(found, "hesc")
    assert floors.circles == [["a", "b", "c"]]
    assert (floors.count, floors.up) == (2, 3)
    assert house.module_circles(found) == [["hesc.a", "hesc.b", "hesc.c"]]


_MESSAGES: Final = """from hesc.names import QUERY as ASKED
frames.join(ASKED, parts)
documents.write("plan", fields)
class Server:
    kind = "server"
    def to_bytes(self):
        return documents.write(self.kind, fields)
    def message(self, kind):
        return frames.join(f"network {kind}", parts)
    def answer(self):
        return self.message("answer")
    def again(self):
        return self.message(kind="keys")
class Other(Server):
    kind = "other server"
"""


def test_kinds_of_messages_are_followed_to_texts(tmp_path: Path) -> None:
    found = _package(
        tmp_path,
        {
            "names.py": 'QUERY = "query"',
            "a.py": _MESSAGES,
            "b.py": "class Message(Enum):\n    MODEL = 1\n    ANSWER = 2",
        },
    )
    assert house.Kinds(found).count() == {
        "documents": ["other server", "plan", "server"],
        "frames": ["network answer", "network keys", "query"],
        "hesc.b": ["ANSWER", "MODEL"],
    }
    frame = {"crates/a/src/wire.rs": "pub enum Kind {\n    /// One.\n    A = 1,\n    B = 2,\n}\n"}
    assert house.frame_kinds(frame) == ["A", "B"]


def test_plans_are_counted_by_name(tmp_path: Path) -> None:
    found = _package(tmp_path, {"a.py": "class Plan: ...\nclass _APlan: ...\nclass Planner: ..."})
    assert house.plan_classes(found) == ["hesc.a.Plan", "hesc.a._APlan"]
    rust = {
        "crates/a/src/plan.rs": "pub struct Plan {\npub(crate) struct SlotPlan;\npub enum APlan {",
        "crates/hesc-py/src/plan.rs": "pub struct Plan {",
    }
    assert len(house.plan_structs(rust)) == 2
    assert house.plan_bindings("class SlotPlan:\nclass Slots:\n") == ["SlotPlan"]


def test_protocols_may_have_the_same_files(tmp_path: Path) -> None:
    plans = "class Plan: ..."
    files = {"protocols/one/plans.py": plans, "protocols/two/plans.py": plans, "a/__init__.py": ""}
    assert not house.shared_files(_package(tmp_path, files))
    # What their files share lies beside them, and what needs a secret key has one name everywhere.
    files = {f"{folder}/{name}.py": "" for folder in "ab" for name in ("secret", "client")}
    files["protocols/plans.py"] = ""
    assert not house.shared_files(_package(tmp_path, files))
    found = _package(tmp_path, {"a/plans.py": plans, "b/__init__.py": ""})
    assert house.shared_files(found) == {"plans": 2}
    assert house.shared_classes(found) == {"Plan": 2}


def test_methods_that_forward_are_found(tmp_path: Path) -> None:
    text = '''
class A:
    def x(self):
        """It."""
        return self._native.x
    def y(self, a):
        return self._native.y(a, "b", c=a.native)
    def z(self, a):
        return self._native.z(a + 1)
    def own(self):
        return self.x()
    def __len__(self):
        return self._native.count
'''
    assert house.forwards(_package(tmp_path, {"a.py": text})) == ["hesc.a.A.x", "hesc.a.A.y"]


def test_methods_that_several_classes_have_are_no_forwards(tmp_path: Path) -> None:
    one = "class A(Base):\n    def x(self):\n        return self._a.x()\n"
    other = "class B:\n    def x(self):\n        return 1\n"
    base = "class Base(Rest[int]): ...\nclass Rest:\n    x: int\n"
    apart = {"a/one.py": one, "b/other.py": other}
    assert house.forwards(_package(tmp_path / "1", apart)) == ["hesc.a.one.A.x"]
    assert not house.forwards(_package(tmp_path / "2", apart | {"a/other.py": other}))
    # What it is derived from, wherever that stands.
    assert not house.forwards(_package(tmp_path / "3", apart | {"c/base.py": base}))


def test_docstrings_that_lean_are_found(tmp_path: Path) -> None:
    text = '''
"""Of the module."""
A = 1
"""Their number."""
class _B:
    """Assert nothing."""
    c: int
    """And a number."""
    def d(self):
        """
        As many as there are."""
def off():
    """Offers."""
'''
    found = house.leaning(_package(tmp_path, {"a.py": text}))
    assert [each.public for each in found] == [True, True, False, False]


def test_public_names_and_arguments_are_counted(tmp_path: Path) -> None:
    found = _package(
        tmp_path,
        {
            "__init__.py": '__all__ = ["a", "b"]',
            "ml/__init__.py": '__all__ = ["a"]',
            "ml/a.py": "class A:\n    def plan(self, X, *, a=1, b=2): ...",
        },
    )
    assert (house.public_names(found), house.plan_arguments(found)) == (3, 2)


def test_lines_of_code_are_those_that_do_something() -> None:
    python = (
        '"""A\nmodule."""\n\n# A note.\nx = """a\nb"""\n\n\ndef f():\n    """It."""\n    return (\n'
    )
    assert house.python_lines(python + "        1  # One.\n    )\n") == 6
    rust = (
        "//! A crate.\n\n/* a\nb */\nfn f() {\n    let a = \"// {\";\n    let b = '{'; // It.\n}\n"
    )
    inside = '    #[test]\n    fn g() { assert!("}" != "{"); }\n'
    tests = f"\n#[cfg(test)]\nmod tests {{\n{inside}}}\nfn h() {{}}\n"
    assert house.rust_lines(rust + tests) == 5


def test_twins_are_counted_outside_tests() -> None:
    text = "fn shell() { a.shell() }\nfn fresh_traces() {}\n"
    tests = "#[cfg(test)]\nmod tests {\n    fn outlines() { b.shell() }\n}\n"
    rust = {"crates/hesc-schemes/src/a.rs": text + tests, "crates/hesc-math/src/a.rs": text}
    assert house.twin_functions(rust) == ["shell", "fresh_traces"]
    assert house.shells(rust) == 2


def test_a_table_has_a_column_for_each_tree() -> None:
    found = {
        "822cf3b": house.House({"rooms": 3}, {}, {"papers": 5}),
        ".": house.House({"rooms": 2}, {}, {}),
    }
    assert house.table(found, markdown=True).splitlines() == [
        "| what | 822cf3b | working tree |",
        "| --- | ---: | ---: |",
        "| rooms | 3 | 2 |",
        "| papers | 5 | 0 |",
    ]
    assert house.table(found, markdown=False).splitlines()[2].split() == ["papers", "5", "0"]
