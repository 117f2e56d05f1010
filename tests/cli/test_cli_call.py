"""``headgate call``: one request to a file or a server, and its answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Shell
from tests.cli.conftest import KNOWN
from tests.cli.terminals import on_terminal
from tests.server.processes import LIBRARY, Serving, run, serve_http


class Called:
    """Calls the operation of the shelf; what that got."""

    def __init__(self, shell: Shell, shelf: Path) -> None:
        self._shell = shell
        self._shelf = shelf

    def __call__(self, *words: str, given: str = "") -> Any:
        done = self._shell("call", "get_types", *words, "-s", "shelf.py:shelf", cwd=self._shelf, given=given)
        assert done.code == 0, done.err
        return json.loads(done.out)


@pytest.fixture
def called(shell: Shell, shelf: Path) -> Called:
    return Called(shell, shelf)


def test_values_are_read_by_the_declared_type(called: Called) -> None:
    words = ("text=007", "maybe=null", "number=7", "ratio=0.5", "yes=true", 'words=["a"]', "anything=[1]", "size=large")
    assert called(*words) == {
        "text": "007",
        "maybe": None,
        "number": 7,
        "ratio": 0.5,
        "yes": True,
        "words": ["a"],
        "anything": [1],
        "size": "large",
    }


def test_a_text_may_look_like_anything(called: Called) -> None:
    assert called("text=true")["text"] == "true"
    assert called("text=null")["text"] == "null"
    assert called("text=")["text"] == ""
    assert called("text=a=b")["text"] == "a=b"
    assert called("maybe={}", "anything=not JSON") | {"text": "x"} == {
        **called("text=x"),
        "maybe": "{}",
        "anything": "not JSON",
    }


def test_json_says_exactly_what_is_meant(called: Called) -> None:
    assert called('anything:="7"')["anything"] == "7"
    assert called("--params", '{"number": 5, "text": "x"}', "number=6")["number"] == 6
    assert called("--params", "-", given='{"text": "piped"}')["text"] == "piped"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("isbn",), "'isbn' is not name=value"),
        (("=5",), "'=5' is not name=value"),
        (("isbn:=x",), "the value of 'isbn' is not JSON: "),
        (("--params", "{"), "--params is not JSON: "),
        (("--params", "[]"), "--params must be a JSON object, such as "),
    ],
)
def test_words_that_are_no_parameters_are_wrong_usage(shell: Shell, words: tuple[str, ...], message: str) -> None:
    done = shell("call", "get_book", "-s", LIBRARY, *words)
    assert done.code == 2
    assert done.err.startswith(f"headgate: {message}")
    assert done.err.count("\n") == 1


def test_an_error_of_the_operation_is_a_line_for_each_problem(shell: Shell) -> None:
    done = shell("call", "create_loan", "isbn=1", "mebmer_id=m1", "-s", LIBRARY)
    assert done.code == 1
    assert done.out == ""
    codes = [line.split(": ")[1] for line in done.err.splitlines()]
    assert codes[0] == "VALIDATION_MISSING_PARAM"
    assert {"VALIDATION_UNKNOWN_PARAM", "VALIDATION_PATTERN_MISMATCH"} <= set(codes)
    assert "Did you mean 'member_id'?" in done.err


def test_an_unknown_operation_gets_the_nearest_name() -> None:
    done = run("call", "get_bok", "isbn=1", "-s", LIBRARY)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "headgate: NOT_FOUND_OPERATION: Unknown operation: 'get_bok'. Did you mean 'get_book'?\n"


def test_the_envelope_is_printed_on_one_line_for_programs(shell: Shell) -> None:
    right = shell("call", "list_books", "limit=1", "--json", "-s", LIBRARY)
    wrong = shell("call", "list_books", "limit=0", "--json", "-s", LIBRARY)
    assert (right.code, wrong.code) == (0, 1)
    assert right.out.count("\n") == wrong.out.count("\n") == 1
    assert json.loads(right.out)["success"] is True
    assert json.loads(wrong.out)["error"]["code"] == "VALIDATION_OUT_OF_RANGE"


def test_warnings_go_beside_the_answer(shell: Shell) -> None:
    done = shell("call", "list_readers", "-s", LIBRARY)
    assert done.code == 0
    assert json.loads(done.out)[0]["name"] == "Ada"
    assert done.err.startswith("headgate: warning: ")


def test_what_a_module_prints_is_not_the_answer(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    done = shell("call", "get_noise", "-s", "noisy.py", cwd=tmp_path)
    assert json.loads(done.out) == "quiet"
    assert "loading" in done.err
    assert "working" in done.err


NOISY = '''
print("loading")
from headgate import Adapter
noisy = Adapter("noisy")

@noisy.read
async def get_noise() -> str:
    """Make noise."""
    print("working")
    return "quiet"
'''


def test_answers_are_utf8_whatever_the_locale_says() -> None:
    done = run("call", "create_member", "name=Zoë", "pin=1234", "-s", LIBRARY, env={"PYTHONIOENCODING": "ascii"})
    assert json.loads(done.stdout)["name"] == "Zoë"


def test_a_server_is_called_like_a_file(shell: Shell, library: Serving) -> None:
    done = shell("call", "search_books", "query=austen", "-s", library.url, env=KNOWN)
    assert done.code == 0, done.err
    assert json.loads(done.out)[0]["title"] == "Pride and Prejudice"
    lent = shell("call", "create_loan", "isbn=9780141439518", "member_id=m1", "pin=1815", "-s", library.url, env=KNOWN)
    assert json.loads(lent.out)["isbn"] == "9780141439518"
    unknown = shell("call", "get_bok", env={"HEADGATE_SOURCE": library.url, **KNOWN})
    assert (unknown.code, "Did you mean 'get_book'?" in unknown.err) == (1, True)


def test_a_server_in_single_mode_is_called_the_same_way(shell: Shell) -> None:
    with serve_http(LIBRARY, "--mode", "single", "--prefix", "lib_") as serving:
        done = shell("call", "list_members", "-s", serving.url)
    assert json.loads(done.out)[0]["name"] == "Ada"


def test_json_is_coloured_on_a_terminal_only() -> None:
    shown = on_terminal("call", "list_books", "limit=1", "-s", LIBRARY)
    assert shown.is_coloured
    assert shown.code == 0
    plain = run("call", "list_books", "limit=1", "-s", LIBRARY)
    assert (plain.returncode, "\x1b[" in plain.stdout) == (0, False)


def test_complaints_are_coloured_on_a_terminal_unless_its_owner_wants_none() -> None:
    words = ("call", "get_bok", "-s", LIBRARY)
    coloured, plain = on_terminal(*words), on_terminal(*words, NO_COLOR="1")
    assert coloured.text.startswith("\x1b[31mheadgate:\x1b[0m NOT_FOUND_OPERATION")
    assert plain.text.startswith("headgate: NOT_FOUND_OPERATION")
