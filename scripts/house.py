"""How many concepts, rooms and lines the tree has: `python -m scripts.house`.

Everything is read from text: nothing of hesc is imported, so that earlier commits are measured by
the same rules. `--at` names a commit, or `.` for the working tree, and may be given several times:

    python -m scripts.house --at 822cf3b --at . --markdown

prints before and after beside each other.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import tarfile
import tempfile
import tokenize
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).parents[1]
LEANING: Final = ("Of", "Their", "Its", "And", "That", "As")
"""First words of docstrings that lean on what stands before them."""
KINDS_OF: Final[dict[str, dict[str, int]]] = {
    "documents": {"documents.write": 0, "documents.read": 1},
    "frames": {"frames.join": 0, "frames.split": 1},
    "messages": {"Message": 0, "Message.read": 1, "Message.from_bytes": 1},
}
"""Containers of messages in Python: their calls, and which argument is the kind."""
MODELS: Final = ("ml", "models", "protocols")
"""Packages about models and what is computed on them, whose rooms are counted too."""
KEEPERS: Final = {"secret", "client"}
"""Names of files that may hold a secret key, in any package."""
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """A Python file: its dotted name, its path from the root and its syntax tree."""

    name: str
    path: str
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    """What names at its top level are assigned."""

    def __post_init__(self) -> None:
        self.constants = _assigned(self.tree)

    @property
    def short(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


def modules(root: Path, package: str) -> dict[str, Module]:
    """The Python files below `root` / `package`, by dotted names that begin with the package's."""
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to((root / package).parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, str(path.relative_to(root)), ast.parse(path.read_text()))
    return found


def _assigned(tree: ast.Module | ast.ClassDef) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
            case ast.Assign(targets=targets, value=value):
                found |= {item.id: value for item in targets if isinstance(item, ast.Name)}
    return found


# Rooms and imports


def room(name: str, base: str) -> str | None:
    """The room of package `base` that a module lies in: a folder or file at the package's top.

    `__init__` and `__main__` are no rooms, and modules outside `base` lie in none.
    """
    first = name.removeprefix(f"{base}.").split(".")[0]
    return first if name.startswith(f"{base}.") and first != "__main__" else None


def imports(module: Module, known: Mapping[str, object]) -> set[str]:
    """The known modules that a module imports, at its top, in functions and for type checkers."""
    found = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {item.name for item in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            whole = {item.name: f"{node.module}.{item.name}" for item in node.names}
            found |= {name if name in known else node.module for name in whole.values()}
    return {name for name in found if name in known and name != module.name}


@dataclass(frozen=True)
class Floors:
    """How the rooms of a package stand on each other."""

    rooms: list[str]
    arrows: set[tuple[str, str]]
    """Pairs of rooms of which the first imports the second."""
    circles: list[list[str]]
    """Rooms that import each other, directly or through others: each such set once."""
    count: int
    """Rooms on the longest way down; rooms of a circle stand on one floor."""

    @property
    def up(self) -> int:
        """Arrows between rooms of one circle: each set of floors has some of them run up."""
        return sum(any({a, b} <= set(circle) for circle in self.circles) for a, b in self.arrows)


def floors(found: Mapping[str, Module], base: str) -> Floors:
    """The rooms of `base` and the arrows between them."""
    rooms = sorted({name for name in (room(module, base) for module in found) if name})
    arrows = set()
    for module in found.values():
        a = room(module.name, base)
        for other in imports(module, found):
            b = room(other, base)
            if a and b and a != b:
                arrows.add((a, b))
    sets = circles(rooms, arrows)
    standing = {name: name for name in rooms} | {name: each[0] for each in sets for name in each}
    below = defaultdict(set)
    for a, b in arrows:
        if standing[a] != standing[b]:
            below[standing[a]].add(standing[b])
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max(map(height, below[name]), default=0)
        return heights[name]

    return Floors(rooms, arrows, sets, max(map(height, standing.values()), default=0))


def circles(names: Sequence[str], arrows: set[tuple[str, str]]) -> list[list[str]]:
    """The sets of two or more names that reach each other along arrows."""
    ahead = defaultdict(set)
    for a, b in arrows:
        ahead[a].add(b)

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for other in ahead[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        return seen

    reach = {name: reached(name) for name in names}
    sets = {tuple(sorted(other for other in reach[name] if name in reach[other])) for name in names}
    return [list(each) for each in sorted(sets) if len(each) > 1]


def module_circles(found: Mapping[str, Module]) -> list[list[str]]:
    """The sets of modules that import each other, lazily and for type checkers too.

    Packages are left out: an `__init__` passes on the names of what stands below it.
    """
    files = {name: each for name, each in found.items() if not each.path.endswith("__init__.py")}
    arrows = {(name, other) for name, each in files.items() for other in imports(each, files)}
    return circles(sorted(files), arrows)


# Concepts


def plan_classes(found: Mapping[str, Module]) -> list[str]:
    """The Python classes called Plan or *Plan, private ones too, at the top of modules."""
    return sorted(
        f"{module.name}.{node.name}"
        for module in found.values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Plan")
    )


def plan_structs(rust: Mapping[str, str]) -> list[str]:
    """The public Rust structs called Plan or *Plan, without those of the bindings."""
    return sorted(
        f"{path}: {name}"
        for path, text in rust.items()
        if "/hesc-py/" not in f"/{path}"
        for name in re.findall(r"^ *pub(?:\([a-z]+\))? struct (\w*Plan)\b", text, re.MULTILINE)
    )


def plan_bindings(stub: str) -> list[str]:
    """The classes called Plan or *Plan of the compiled module, from its stub."""
    return re.findall(r"^class (\w*Plan)\b", stub, re.MULTILINE)


def frame_kinds(rust: Mapping[str, str]) -> list[str]:
    """The kinds of the Rust frame: variants of `enum Kind` in the file `wire.rs`, or in `wire/`."""
    found = []
    for path, text in rust.items():
        if re.search(r"/wire(\.rs|/)", path):
            for body in re.findall(r"^pub enum Kind \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
                found += re.findall(r"^ +(\w+)(?: = \w+)?,", body, re.MULTILINE)
    return found


class Kinds:
    """The kinds of messages that Python code writes and reads, by container.

    A kind is a text that reaches a call in `KINDS_OF` as that argument: as a literal, as a
    constant of this module or of one that it is imported from, as a name of the class or of one
    derived from it, or through a parameter of the function around, whose calls are then looked at.
    An enumeration called Message or MessageKind is a container too, and each of its members a kind.
    """

    def __init__(self, found: Mapping[str, Module]) -> None:
        self._modules = found
        self._places = [place for module in found.values() for place in _places(module)]

    def count(self) -> dict[str, list[str]]:
        """The kinds of each container that has any, sorted."""
        kinds = {}
        for container, calls in KINDS_OF.items():
            names: set[str] = set()
            for place in self._places:
                called = ast.unparse(place.call.func)
                if called in calls:
                    names |= self._texts(_argument(place.call, calls[called], "kind"), place, ())
            kinds[container] = sorted(names)
        for module in self._modules.values():
            for node in module.tree.body:
                match node:
                    case ast.ClassDef(name="Message" | "MessageKind", bases=bases):
                        if any(ast.unparse(base).endswith("Enum") for base in bases):
                            kinds[module.name] = sorted(_assigned(node))
        return {name: each for name, each in kinds.items() if each}

    def _texts(  # noqa: PLR0911 - a case each
        self, node: ast.expr | None, place: _Place, seen: tuple[str, ...]
    ) -> set[str]:
        match node:
            case ast.Constant(value=str(text)):
                return {text}
            case ast.JoinedStr(values=parts):
                every = [self._texts(part, place, seen) for part in parts]
                return {"".join(each) for each in product(*every)}
            case ast.FormattedValue(value=inner):
                return self._texts(inner, place, seen)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self._of_class(name, place, seen)
            case ast.Name(id=name) if place.function and name in _parameters(place.function):
                return self._given(name, place.function, place, seen)
            case ast.Name(id=name):
                return self._texts(self._constant(place.module, name), place, seen)
            case _:
                return set()

    def _of_class(self, name: str, place: _Place, seen: tuple[str, ...]) -> set[str]:
        own = place.owner.name if place.owner else None
        found: set[str] = set()
        for module in self._modules.values():
            for node in module.tree.body:
                match node:
                    case ast.ClassDef() if own in {node.name, *map(ast.unparse, node.bases)}:
                        there = _Place(place.call, module, node, None)
                        found |= self._texts(_assigned(node).get(name), there, seen)
        return found

    def _constant(self, module: Module, name: str) -> ast.expr | None:
        if name in module.constants:
            return module.constants[name]
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module in self._modules:
                for item in node.names:
                    if name == (item.asname or item.name):
                        return self._modules[node.module].constants.get(item.name)
        return None

    def _given(
        self, name: str, function: _FUNCTION, place: _Place, seen: tuple[str, ...]
    ) -> set[str]:
        key = f"{place.module.name}.{function.name}.{name}"
        if key in seen:
            return set()
        at = [each for each in _parameters(function) if each not in {"self", "cls"}].index(name)
        found: set[str] = set()
        for other in self._places:
            match other.call.func:
                case ast.Attribute(value=value, attr=called) if called == function.name:
                    ours = place.owner is not None or ast.unparse(value) == place.module.short
                case ast.Name(id=called) if called == function.name and place.owner is None:
                    ours = True
                case _:
                    ours = False
            if ours:
                found |= self._texts(_argument(other.call, at, name), other, (*seen, key))
        return found


@dataclass(frozen=True)
class _Place:
    """A call, and what stands around it."""

    call: ast.Call
    module: Module
    owner: ast.ClassDef | None
    function: _FUNCTION | None


def _places(module: Module) -> Iterator[_Place]:
    def inside(
        node: ast.AST, owner: ast.ClassDef | None, function: _FUNCTION | None
    ) -> Iterator[_Place]:
        if isinstance(node, ast.ClassDef):
            owner, function = node, None
        elif isinstance(node, _FUNCTION):
            function = node
        elif isinstance(node, ast.Call):
            yield _Place(node, module, owner, function)
        for child in ast.iter_child_nodes(node):
            yield from inside(child, owner, function)

    yield from inside(module.tree, None, None)


def _parameters(function: _FUNCTION) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _argument(call: ast.Call, at: int, name: str) -> ast.expr | None:
    for item in call.keywords:
        if item.arg == name:
            return item.value
    return call.args[at] if at < len(call.args) else None


def shared_files(found: Mapping[str, Module]) -> dict[str, int]:
    """Names of files that lie in more than one folder, with the number of folders.

    `__init__` and `__main__` do not count, nor do `secret` and `client`: wherever they lie, they
    hold what their package needs of a secret key, and what servers import is kept by these names
    (tests/test_servers.py). The folders right
    below `protocols` count as one, and with a file of the same name beside them: protocols have
    the same files, and what their files share lies there.
    """
    return _several(
        (module.short, module) for module in found.values() if module.short not in KEEPERS
    )


def shared_classes(found: Mapping[str, Module]) -> dict[str, int]:
    """Names of classes that stand at the top of more than one module, with the number of modules.

    Private classes count too; modules of one name in `protocols` and right below count as one.
    """
    return _several(
        (node.name, module)
        for module in found.values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    )


def _several(named: Iterator[tuple[str, Module]]) -> dict[str, int]:
    places = defaultdict(set)
    for name, module in named:
        if not module.path.endswith(("__init__.py", "__main__.py")):
            places[name].add(re.sub(r"\bprotocols/(\w+/)?", "protocols/", module.path))
    return {
        name: len(each)
        for name, each in sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))
        if len(each) > 1
    }


STATES: Final = r"\bfn (\w*(?:shell|outline|trace|planned|dry_)\w*)"


def twin_functions(rust: Mapping[str, str]) -> list[str]:
    """The Rust functions of `hesc-schemes` that have no words: shells, plans and dry runs."""
    return [
        name
        for path, text in rust.items()
        if path.startswith("crates/hesc-schemes/src/")
        for name in re.findall(STATES, without_tests(text))
    ]


def shells(rust: Mapping[str, str]) -> int:
    """How often Rust code outside tests calls `.shell()`."""
    return sum(without_tests(text).count(".shell()") for text in rust.values())


def forwards(found: Mapping[str, Module]) -> list[str]:
    """Methods and properties that only pass on to an attribute of `self`, and need not be there.

    Their body is one `return` or call of `self.a.b` or `self.a.b(...)`, with their own parameters,
    attributes of these or constants as arguments, if any. What the language asks for by name
    (`__len__`) does not count, nor does a name that other classes of the same package have too,
    or classes that the owner is derived from or that are derived from it: whoever calls it does
    not know which of them it has, and cannot reach through.
    """
    owners = [
        (module, node)
        for module in found.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    ]
    above = {
        node.name: {ast.unparse(base).split("[")[0] for base in node.bases} for _, node in owners
    }
    sharing = defaultdict(set)
    for module, node in owners:
        for name in _members(node):
            sharing[name].add((module.name.rpartition(".")[0], node.name))

    def is_shared(package: str, owner: str, name: str) -> bool:
        return any(
            other != owner
            and (there == package or other in _line(owner, above) or owner in _line(other, above))
            for there, other in sharing[name]
        )

    return [
        f"{module.name}.{owner.name}.{node.name}"
        for module, owner in owners
        for node in owner.body
        if isinstance(node, _FUNCTION)
        and _forwards(node)
        and not node.name.startswith("__")
        and not is_shared(module.name.rpartition(".")[0], owner.name, node.name)
    ]


def _members(owner: ast.ClassDef) -> set[str]:
    """Names of the methods and the declared fields of a class, for type checkers too."""
    return {
        node.name if isinstance(node, _FUNCTION) else ast.unparse(node.target)
        for node in ast.walk(owner)
        if isinstance(node, _FUNCTION | ast.AnnAssign)
    }


def _line(name: str, above: Mapping[str, set[str]]) -> set[str]:
    """The names of a class and of those that it is derived from, as far as they are known."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += above.get(one, ())
    return seen


def _forwards(function: _FUNCTION) -> bool:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return False
    value = body[0].value
    given: list[ast.expr] = []
    if isinstance(value, ast.Call):
        given = [*value.args, *(item.value for item in value.keywords)]
        value = value.func
    match value:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"))):
            plain = re.compile(r"[\w.]+|'[^']*'")
            return all(plain.fullmatch(ast.unparse(each)) for each in given)
    return False


def public_names(found: Mapping[str, Module]) -> int:
    """The names in `__all__` of all packages: a name that two of them offer counts twice."""
    return sum(
        len(value.elts)
        for module in found.values()
        if module.path.endswith("__init__.py")
        and isinstance(value := module.constants.get("__all__"), ast.List | ast.Tuple)
    )


def plan_arguments(found: Mapping[str, Module]) -> int:
    """The most arguments of a method about models called `plan`, besides `self` and the data."""
    return max(
        (
            len(_parameters(node)) - 2
            for module in found.values()
            if room(module.name, "hesc") in MODELS
            for node in ast.walk(module.tree)
            if isinstance(node, _FUNCTION) and node.name == "plan"
        ),
        default=0,
    )


@dataclass(frozen=True)
class Docstring:
    """A docstring: where it stands, its first line, and whether users meet it."""

    where: str
    first: str
    public: bool


def docstrings(module: Module) -> Iterator[Docstring]:
    """The docstrings of a file: of itself, classes, functions, and names with a text behind them.

    Private is what has a name that begins with one underscore, or lies in such a thing.
    """

    def inside(node: ast.AST, public: bool) -> Iterator[Docstring]:
        if isinstance(node, _DOCUMENTED):
            text = ast.get_docstring(node)
            if text:
                line = node.body[0].lineno
                yield Docstring(f"{module.path}:{line}", text.splitlines()[0], public)
        if isinstance(node, ast.Module | ast.ClassDef):
            for named, behind in zip(node.body, node.body[1:], strict=False):
                match behind:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        name = _name_of(named)
                        if name is not None and text.strip():
                            where = f"{module.path}:{behind.lineno}"
                            seen = public and not _private(name)
                            yield Docstring(where, text.strip().splitlines()[0], seen)
        for child in ast.iter_child_nodes(node):
            name = child.name if isinstance(child, ast.ClassDef | _FUNCTION) else ""
            yield from inside(child, public and not _private(name))

    yield from inside(module.tree, not any(map(_private, module.name.split("."))))


def _name_of(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return None


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def leaning(found: Mapping[str, Module]) -> list[Docstring]:
    """The docstrings that begin with a word of `LEANING`: they do not stand alone."""
    return [
        each
        for module in found.values()
        for each in docstrings(module)
        if re.match(rf"(?:{'|'.join(LEANING)})\b", each.first)
    ]


# Lines of code


def python_lines(text: str) -> int:
    """Lines of Python that have code: no blanks, comments, or texts that stand as statements."""
    texts = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in empty | {tokenize.ENDMARKER}:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - texts)


_RUST = re.compile(
    r"(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|"
    r'(?P<raw>\bb?r(?P<hashes>#*)".*?"(?P=hashes))|(?P<text>"(?:\\.|[^"\\])*")|'
    r"(?P<letter>'(?:\\[^\n]+?|[^'\\\n])')",
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """Rust without its comments; documentation is comments too."""
    return _RUST.sub(lambda m: "" if m["line"] or m["block"] else m[0], text)


def without_tests(text: str) -> str:
    """Rust without comments and without its inline tests, `#[cfg(test)] mod name { ... }`."""
    text = without_comments(text)
    # Braces in texts open nothing.
    blind = _RUST.sub(lambda m: re.sub(r"[{}]", " ", m[0]), text)
    kept, at = [], 0
    for head in re.finditer(r"^ *#\[cfg\(test\)\]\s+mod \w+ (?=\{)", blind, re.MULTILINE):
        if head.start() < at:
            continue
        kept.append(text[at : head.start()])
        depth, at = 0, head.end()
        for brace in re.finditer(r"[{}]", blind[head.end() :]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                at = head.end() + brace.end()
                break
    return "".join([*kept, text[at:]])


def rust_lines(text: str) -> int:
    """Lines of Rust that have code: no blanks, comments, documentation or inline tests."""
    return sum(bool(line.strip()) for line in without_tests(text).splitlines())


def lines_by_area(root: Path) -> dict[str, int]:
    """Lines of code of each room of `hesc`, each crate, the stub, papers, tests and scripts."""
    count: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if parts[:2] == ("python", "hesc"):
            area = "/".join(parts[:3]).removesuffix(".py")
        elif parts[0] in {"papers", "tests", "scripts", "examples"} and parts[1] != "build":
            area = parts[0]
        else:
            continue
        count[area] += python_lines(path.read_text())
    for path in sorted(root.glob("crates/*/**/*.rs")):
        crate, *inner = path.relative_to(root / "crates").parts
        if inner[0] != "target":
            area = "" if inner[0] == "src" else " tests, benches, examples"
            count[f"crates/{crate}{area}"] += rust_lines(path.read_text())
    return dict(sorted(count.items()))


# The whole


@dataclass
class House:
    """All counts of a tree, and what was counted."""

    counts: dict[str, int]
    """The rows of the table: what, and how many."""
    details: dict[str, object]
    """The things themselves, by the names of rows."""
    lines: dict[str, int] = field(default_factory=dict)
    """Lines of code by area, where they are counted: it takes longer than all else."""


def measure(root: Path) -> House:
    """Counts the tree below a folder, but for its lines."""
    hesc = modules(root, "python/hesc")
    papers = modules(root, "papers/src/hesc_papers")
    rust = {
        str(path.relative_to(root)): path.read_text()
        for path in sorted(root.glob("crates/*/src/**/*.rs"))
    }
    stub = root / "python/hesc/_native.pyi"
    tops = {name: floors(hesc, name) for name in ("hesc", *(f"hesc.{each}" for each in MODELS))}
    kinds = {"Rust frame": frame_kinds(rust)} | Kinds(hesc).count()
    lists: dict[str, Sequence[object] | Mapping[str, object]] = {
        **{f"rooms, {name}": each.rooms for name, each in tops.items()},
        "circles of modules": module_circles(hesc),
        "plan classes in Python": plan_classes(hesc),
        "plan structs in Rust": plan_structs(rust),
        "plan classes of the bindings": plan_bindings(stub.read_text()) if stub.exists() else [],
        "containers of messages": kinds,
        "names of files that stand for several": shared_files(hesc),
        "names of classes that stand for several": shared_classes(hesc),
        "functions called *shell*, *outline*, *trace*, *planned*, *dry*": twin_functions(rust),
        "methods that only forward": forwards(hesc),
    }
    counts: dict[str, int] = {}
    for name, items in lists.items():
        counts[name] = len(items)
        if name.startswith("rooms, "):
            each = tops[name.removeprefix("rooms, ")]
            counts[name.replace("rooms", "floors")] = each.count
            counts[name.replace("rooms", "arrows")] = len(each.arrows)
            counts[name.replace("rooms", "arrows in circles")] = each.up
        if name == "containers of messages":
            counts["kinds of messages"] = sum(map(len, kinds.values()))
    poor = leaning(hesc | papers)
    counts["calls of `.shell()`"] = shells(rust)
    counts["docstrings that lean, public"] = sum(each.public for each in poor)
    counts["docstrings that lean, private"] = sum(not each.public for each in poor)
    counts["public names"] = public_names(hesc)
    counts["arguments of `plan()`"] = plan_arguments(hesc)
    details: dict[str, object] = dict(lists)
    details["docstrings that lean"] = [f"{each.where}: {each.first}" for each in poor]
    return House(counts, details)


def with_lines(root: Path) -> House:
    """Counts the tree below a folder, and its lines."""
    found = measure(root)
    found.lines = lines_by_area(root)
    found.counts["lines of code"] = sum(found.lines.values())
    return found


def measure_at(commit: str) -> House:
    """Counts the tree of a commit, or the working tree where `commit` is `.`."""
    if commit == ".":
        return with_lines(ROOT)
    command = ["git", "archive", "--format=tar", commit]
    data = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S603
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder, filter="data")
        return with_lines(Path(folder))


def table(found: Mapping[str, House], *, markdown: bool) -> str:
    """Counts and lines, a column for each tree."""
    heads = ["" if name == "." else name for name in found]
    rows = [["what", *(head or "working tree" for head in heads)]]
    for part in ("counts", "lines"):
        each = [getattr(house, part) for house in found.values()]
        names = dict.fromkeys(name for values in each for name in values)
        rows += [[name, *(str(values.get(name, 0)) for values in each)] for name in names]
    if markdown:
        rows.insert(1, ["---", *("---:" for _ in found)])
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    wide = max(len(row[0]) for row in rows)
    return "\n".join(
        row[0].ljust(wide) + "".join(cell.rjust(max(14, len(cell) + 2)) for cell in row[1:])
        for row in rows
    )


def main() -> None:
    """Prints what the arguments ask for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--at", action="append", help="a commit, or . for the working tree")
    parser.add_argument("--json", action="store_true", help="with the things that were counted")
    parser.add_argument("--markdown", action="store_true", help="as a table of Markdown")
    given = parser.parse_args()
    found = {name: measure_at(name) for name in given.at or ["."]}
    if given.json:
        print(json.dumps({name: vars(house) for name, house in found.items()}, indent=1))
    else:
        print(table(found, markdown=given.markdown))


if __name__ == "__main__":
    main()
