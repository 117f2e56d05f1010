"""The manifest of requirements and the tests, bound both ways: no row unproved, no behaviour test without a row."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
MANIFEST = TESTS.parent / "src" / "headgate" / "conformance" / "requirements.toml"
LEVELS = {"MUST", "SHOULD"}
CAPABILITIES = {"client", "conformance"}
"""What a row may wait for."""


@dataclass(frozen=True)
class Row:
    id: str
    section: str
    level: str
    text: str
    open: str | None = None
    unseen: str | None = None

    @property
    def document(self) -> str:
        return self.section.partition(" ")[0]


@dataclass(frozen=True)
class Mark:
    """One test function and the rows that it, its class or its module says it proves."""

    place: str
    in_spec: bool
    ids: tuple[str, ...]


def rows() -> list[Row]:
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    return [Row(**entry) for entry in manifest["requirement"]]


def marks() -> list[Mark]:
    ours = [path for path in sorted(TESTS.rglob("*.py")) if not {".venv", "node_modules"} & set(path.parts)]
    return [mark for path in ours for mark in marks_in(path, TESTS)]


def marks_in(path: Path, root: Path) -> Iterator[Mark]:
    """The marks of a file, read without importing it."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    outer = tuple(row for node in module.body if _assigns_pytestmark(node) for row in _proved(node))
    for name, function, inherited in _tests(module.body, outer):
        decorated = [row for decorator in function.decorator_list for row in _proved(decorator)]
        inside = path.relative_to(root)
        yield Mark(f"{inside}::{name}", inside.parts[0] == "spec", (*inherited, *decorated))


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _tests(
    body: list[ast.stmt], inherited: tuple[str, ...], prefix: str = ""
) -> Iterator[tuple[str, Function, tuple[str, ...]]]:
    for node in body:
        if isinstance(node, Function) and node.name.startswith("test"):
            yield prefix + node.name, node, inherited
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            own = [row for decorator in node.decorator_list for row in _proved(decorator)]
            own += [row for inner in node.body if _assigns_pytestmark(inner) for row in _proved(inner)]
            yield from _tests(node.body, (*inherited, *own), f"{prefix}{node.name}::")


def _assigns_pytestmark(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets)


def _proved(node: ast.AST) -> Iterator[str]:
    """The ids in every ``proves(...)`` inside a node: a decorator, or the marks of a parametrized case in it."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "proves":
            for argument in call.args:
                assert isinstance(argument, ast.Constant), f"line {call.lineno}: a row id must be written out"
                assert isinstance(argument.value, str), f"line {call.lineno}: a row id is a text"
                yield argument.value


MARKED = """
import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.proves("module")]

@pytest.mark.proves("one", "two")
def test_function(): ...

@pytest.mark.parametrize("case", [pytest.param(1, marks=pytest.mark.proves("case")), 2])
async def test_cases(case): ...

@pytest.mark.proves("class")
class TestClass:
    pytestmark = pytest.mark.proves("inner")

    def test_method(self): ...

    def helper(self): ...
"""


def test_marks_are_found_on_functions_cases_classes_and_modules(tmp_path: Path) -> None:
    folder = tmp_path / "spec"
    folder.mkdir()
    file = folder / "test_marked.py"
    file.write_text(MARKED)
    assert list(marks_in(file, tmp_path)) == [
        Mark("spec/test_marked.py::test_function", True, ("module", "one", "two")),
        Mark("spec/test_marked.py::test_cases", True, ("module", "case")),
        Mark("spec/test_marked.py::TestClass::test_method", True, ("module", "class", "inner")),
    ]


def test_every_row_is_well_formed() -> None:
    found = rows()
    repeated = [row_id for row_id, count in Counter(row.id for row in found).items() if count > 1]
    assert not repeated, f"ids that stand twice: {repeated}"
    assert not [row.id for row in found if row.level not in LEVELS]
    assert not [row.id for row in found if not row.text.strip() or not row.section.strip()]
    unknown = {row.id: row.open for row in found if row.open is not None and row.open not in CAPABILITIES}
    assert not unknown, f"rows that wait for something unheard of: {unknown}"


def test_every_row_that_is_not_open_is_proved_by_a_test() -> None:
    proved = {row for mark in marks() for row in mark.ids}
    unproved = [row.id for row in rows() if row.open is None and row.id not in proved]
    assert not unproved, f"{len(unproved)} rows without a test:\n" + "\n".join(unproved)


def test_every_mark_names_a_row_that_exists_and_is_not_open() -> None:
    by_id = {row.id: row for row in rows()}
    strangers = [f"{mark.place}: {row}" for mark in marks() for row in mark.ids if row not in by_id]
    assert not strangers, "marks that name no row:\n" + "\n".join(strangers)
    early = [f"{mark.place}: {row}" for mark in marks() for row in mark.ids if by_id[row].open is not None]
    assert not early, "marks that name an open row:\n" + "\n".join(early)


def test_every_behaviour_test_proves_some_row() -> None:
    idle = [mark.place for mark in marks() if mark.in_spec and not mark.ids]
    assert not idle, "tests in tests/spec that prove no row:\n" + "\n".join(idle)


def test_print_how_much_is_proved() -> None:
    found = rows()
    proved = Counter((row.document, row.level) for row in found if row.open is None)
    waiting = Counter(row.open for row in found if row.open is not None)
    behaviours = [mark for mark in marks() if mark.in_spec]
    for (document, level), count in sorted(proved.items()):
        print(f"{document:>14} {level:<6} {count:>4} proved")  # noqa: T201
    for capability, count in sorted(waiting.items()):
        print(f"{'open':>14} {capability:<12} {count:>4}")  # noqa: T201
    print(f"{len(found)} rows, {sum(proved.values())} proved by {len(behaviours)} tests")  # noqa: T201
    assert sum(proved.values()) + sum(waiting.values()) == len(found)
