"""``headgate ops``: what there is, for people and for programs."""

import json
import subprocess
from pathlib import Path

from tests.cli.commands import Shell
from tests.cli.conftest import KNOWN
from tests.cli.terminals import on_terminal
from tests.server.processes import HEADGATE, LIBRARY, PATIENCE, Serving, environment

MANY = '''
from headgate import Adapter
many = Adapter("many")
for number in range(1200):
    @many.read(name=f"get_thing_{number}")
    async def get_thing() -> None:
        """Nothing."""
'''


def test_in_a_pipe_every_operation_is_one_line_with_tabs(shell: Shell) -> None:
    done = shell("ops", "-s", LIBRARY)
    assert done.code == 0
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert rows[0] == ["list_books", "READ", "read", "List the books of the library, by title."]
    assert all(len(row) == 4 for row in rows)
    assert "\x1b" not in done.out


def test_on_a_terminal_there_is_a_table_with_colour(shelf: Path) -> None:
    shown = on_terminal("ops", "-s", str(shelf / "shelf.py"))
    assert shown.is_coloured
    assert shown.text.startswith("\x1b[1moperation")
    assert "[red]Not a colour.[/]" in shown.text


def test_one_operation_is_shown_in_full(shell: Shell) -> None:
    done = shell("ops", "create_loan", "-s", LIBRARY)
    assert done.code == 0
    for part in (
        "create_loan  CREATE  via mcp_aql_create",
        r"isbn  string, required, pattern ^\d{13}$",
        "days  integer, default 21, minimum 1, maximum 60",
        "returns Loan",
        'example {"operation":"create_loan","params":{"isbn":"9780553380163"',
    ):
        assert part in done.out
    assert on_terminal("ops", "create_loan", "-s", LIBRARY).is_coloured
    assert "weeks  integer | null, default null, minimum 1, maximum 8" in done.out


def test_parameters_without_a_description_have_a_line_each(shell: Shell, shelf: Path) -> None:
    done = shell("ops", "get_types", "-s", "shelf.py", cwd=shelf)
    assert "\n  number  integer, default 0\n  ratio  number, default 0.0\n  yes  boolean, default false\n" in done.out


def test_one_operation_is_shown_as_json(shell: Shell) -> None:
    assert json.loads(shell("ops", "get_book", "--json", "-s", LIBRARY).out)["operation"]["name"] == "get_book"


def test_a_name_that_is_none_gets_the_nearest(shell: Shell) -> None:
    done = shell("ops", "get_bok", "-s", LIBRARY)
    assert (done.code, done.out) == (1, "")
    assert done.err == "headgate: There is no operation 'get_bok'. Did you mean 'get_book'?\n"
    as_json = shell("ops", "get_bok", "--json", "-s", LIBRARY)
    assert (as_json.code, as_json.out) == (1, '{"operation":null}\n')


def test_words_find_operations_the_best_first(shell: Shell) -> None:
    words = ("ops", "--search", "lend a book", "-s", LIBRARY)
    assert shell(*words).out.startswith("create_loan\t")
    assert json.loads(shell(*words, "--json").out)["operations"][0]["name"] == "create_loan"


def test_words_that_find_nothing_are_said_to(shell: Shell) -> None:
    done = shell("ops", "--search", "zebra", "-s", LIBRARY)
    assert (done.code, done.out, done.err) == (0, "", "headgate: Nothing matches 'zebra'\n")
    empty = shell("ops", "--search", " ", "-s", LIBRARY)
    assert (empty.code, empty.err) == (2, "headgate: --search needs words, such as 'lend a book'\n")


def test_a_server_shows_the_same_as_its_source(shell: Shell, library: Serving) -> None:
    assert shell("ops", "-s", library.url, env=KNOWN).out == shell("ops", "-s", LIBRARY).out


def test_all_pages_of_a_large_source_are_shown(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(MANY)
    done = shell("ops", "-s", "many:many", cwd=tmp_path)
    assert done.out.count("\n") == 1201
    everything = json.loads(shell("ops", "-s", "many:many", "--json", cwd=tmp_path).out)
    assert len(everything["operations"]) == 1201
    assert "page" not in everything["_protocol"]


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [HEADGATE, "ops", "-s", LIBRARY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 0
