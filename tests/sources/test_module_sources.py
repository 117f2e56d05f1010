"""Adapters out of Python modules and files, and what is said if there is none."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate import AdapterError
from headgate.sources.modules import forget_modules, load_adapter, module_file

ONE = "from headgate import Adapter\nlibrary = Adapter('library')\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that the program was started in."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_module_here_is_found_by_its_name(folder: Path) -> None:
    (folder / "here_by_name.py").write_text(ONE)
    assert load_adapter("here_by_name:library").name == "library"
    assert module_file("here_by_name:library") == folder / "here_by_name.py"


def test_a_module_of_a_package_is_found(folder: Path) -> None:
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("")
    (folder / "pack" / "inner.py").write_text(ONE)
    assert load_adapter("pack.inner:library").name == "library"


def test_a_file_is_found_wherever_it_is(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "file.py").write_text(ONE)
    assert load_adapter("deep/file.py:library").name == "library"
    assert load_adapter(str(folder / "deep" / "file.py")).name == "library"
    assert module_file("deep/file.py:library") == folder / "deep" / "file.py"


def test_a_file_finds_its_neighbours_from_wherever_it_is_started(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "neighbour_of_file.py").write_text("NAME = 'borrowed'")
    (folder / "deep" / "file.py").write_text(
        "from headgate import Adapter\nfrom neighbour_of_file import NAME\nlibrary = Adapter(NAME)"
    )
    assert load_adapter("deep/file.py").name == "borrowed"


def test_a_file_may_be_called_like_a_module_that_others_need(folder: Path) -> None:
    import json

    (folder / "json.py").write_text(ONE)
    assert load_adapter("json.py").name == "library"
    assert sys.modules["json"] is json


def test_the_only_adapter_needs_no_name_even_if_it_has_two(folder: Path) -> None:
    (folder / "alone.py").write_text(ONE + "other_name = library\n")
    assert load_adapter("alone").name == "library"
    assert load_adapter("alone:").name == "library"


MISTAKES = {
    "no module": ("no_such_module:x", "There is no module 'no_such_module' here or among the installed packages"),
    "no package": ("no_such.module:x", "There is no module 'no_such.module' here or among the installed packages"),
    "no name at all": (
        "http//x:y",
        "'http//x' is neither a module such as 'package.module' nor a file such as 'library.py'",
    ),
    "no file": ("nowhere.py:x", "There is no file 'nowhere.py'"),
    "a folder": ("folder.py", "There is no file 'folder.py'"),
    "no adapter": ("empty.py", "Say which adapter of 'empty.py' to serve, as in 'empty.py:NAME'; found: none"),
    "which adapter": ("two.py", "Say which adapter of 'two.py' to serve, as in 'two.py:NAME'; found: first, second"),
    "not that adapter": (
        "two.py:secnod",
        "'two.py' has no adapter named 'secnod'; it has first, second. Did you mean 'second'?",
    ),
    "none of that name": ("empty.py:x", "'empty.py' has no adapter named 'x'; it has none"),
    "no Python": (
        "latin.py",
        "'latin.py' cannot be loaded: SyntaxError: invalid syntax (latin.py, line 1)",
    ),
    "a name that is not there": (
        "broken.py",
        "'broken.py' cannot be loaded: NameError: name 'nothing' is not defined (broken.py, line 2)",
    ),
    "a module that is not there": (
        "lacking.py",
        "'lacking.py' cannot be loaded: ModuleNotFoundError: No module named 'no_such_thing' (lacking.py, line 1)",
    ),
    "the same by name": (
        "lacking:x",
        "'lacking' cannot be loaded: ModuleNotFoundError: No module named 'no_such_thing' (lacking.py, line 1)",
    ),
    "a program": ("leaving.py", "'leaving.py' cannot be loaded: it ends the program when it is imported"),
    "a bad adapter": ("bad.py", "An adapter needs a name."),
}


@pytest.mark.parametrize(("source", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_source_that_is_none_is_named(folder: Path, source: str, message: str) -> None:
    (folder / "folder.py").mkdir()
    (folder / "empty.py").write_text("")
    (folder / "two.py").write_text("from headgate import Adapter\nfirst = Adapter('a')\nsecond = Adapter('b')")
    (folder / "latin.py").write_text("non est Python")
    (folder / "broken.py").write_text("import sys\nnothing")
    (folder / "lacking.py").write_text("import no_such_thing")
    (folder / "leaving.py").write_text("import sys\nsys.exit(0)")
    (folder / "bad.py").write_text("from headgate import Adapter\nx = Adapter('')")
    with pytest.raises(AdapterError) as refused:
        load_adapter(source)
    assert str(refused.value) == message


def test_a_file_that_cannot_be_loaded_leaves_nothing_behind(folder: Path) -> None:
    (folder / "broken.py").write_text("nothing")
    before = set(sys.modules)
    with pytest.raises(AdapterError):
        load_adapter("broken.py")
    assert set(sys.modules) == before
    assert module_file("broken.py") is None


def test_what_has_no_file_cannot_be_watched(folder: Path) -> None:
    assert module_file("sys") is None
    assert module_file("never_loaded") is None


def test_forgotten_modules_are_read_anew_with_all_that_they_import(folder: Path) -> None:
    (folder / "words_of_shelf.py").write_text("NAME = 'first'")
    source = "from headgate import Adapter\nimport words_of_shelf\nshelf = Adapter(words_of_shelf.NAME)"
    (folder / "shelf_again.py").write_text(source)
    assert load_adapter("shelf_again").name == "first"
    (folder / "words_of_shelf.py").write_text("NAME = 'second'")
    assert load_adapter("shelf_again").name == "first"
    forget_modules(folder)
    assert load_adapter("shelf_again").name == "second"


def test_forgetting_keeps_what_is_installed_or_ours(folder: Path) -> None:
    import rich as installed

    import headgate

    ours = Path(headgate.__file__).parent
    forget_modules(ours)
    assert sys.modules["headgate"] is headgate
    forget_modules(Path(installed.__file__).parent)
    assert sys.modules["rich"] is installed
