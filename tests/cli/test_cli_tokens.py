"""``headgate tokens``: what a source costs, as a table, JSON or a chart, and whether headgate before it pays."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from rich.console import Console

from headgate.cli.tokens_table import print_table
from headgate.cli.tokens_words import Prices, about_task, break_even, chart_of, joined, rows_of, verdict
from headgate.server.spending import Bill, Spending, Task
from tests.cli.commands import Done, Shell
from tests.cli.desks import CALLED, TOOLS, desk
from tests.cli.terminals import on_terminal
from tests.server.processes import LIBRARY

GITHUB = "benchmarks.github:adapter"
ROOT = Path(__file__).parent.parent.parent


def rows(done: Done) -> dict[str, list[str]]:
    return {cells[0]: cells[1:] for line in done.out.splitlines() if len(cells := line.split("\t")) > 1}


def sentences(done: Done) -> str:
    return "\n".join(line for line in done.out.splitlines() if "\t" not in line)


def told(shell: Shell, *words: str) -> dict[str, Any]:
    done = shell("tokens", *words, "--json", cwd=ROOT)
    found: dict[str, Any] = json.loads(done.out)
    assert (done.code, done.out.count("\n")) == (0, 1)
    return found


def bill(listed: tuple[int, int, int], *, operations: int = 10, discovery: int = 100, call: int = 20) -> Bill:
    """A bill of two calls, each of them 10 tokens as a discrete tool's."""

    def served(way: str, tokens: int) -> Spending:
        return Spending(way, 1, tokens, discovery, (discovery, discovery, call, call), 2)

    discrete = Spending("discrete", operations, listed[0], steps=(10, 10))
    task = Task("get book", ("get_book", "get_loan"))
    return Bill(operations, True, task, discrete, served("semantic", listed[1]), served("single", listed[2]))


def test_in_a_pipe_there_is_a_line_for_each_figure(shell: Shell) -> None:
    done = shell("tokens", GITHUB, cwd=ROOT)
    found = rows(done)
    assert (done.code, done.err) == (0, "")
    assert found["tools"] == ["89", "5", "1"]
    assert found["discovery: search"][0] == "-"
    assert list(found) == [
        "",
        "tools",
        "tools/list",
        "discovery: list all",
        "discovery: search",
        "discovery: describe those",
        "a task of 3 calls",
        "  read anew every turn",
    ]
    assert "\x1b" not in done.out


def test_on_a_terminal_there_is_a_table_with_bars() -> None:
    shown = on_terminal("tokens", LIBRARY)
    assert shown.is_coloured
    assert "\u2588" in shown.text
    assert "It does not pay" in shown.text or "It pays" in shown.text
    assert shown.code == 0


def test_without_a_source_the_demo_is_counted(shell: Shell) -> None:
    assert "It pays: a task of 3 calls costs" in sentences(shell("tokens"))


def test_as_json_there_is_everything_that_was_counted(shell: Shell) -> None:
    found = told(shell, GITHUB, "--price", "2", "--sessions", "10")
    ways = found["ways"]
    assert (found["operations"], found["exact"], len(found["task"]["call"])) == (89, True, 3)
    for way in ("semantic", "single"):
        one = ways[way]
        assert one["task"] == one["tools_list"] + one["discovery"]["search"] + one["discovery"]["detail"] + one["calls"]
        assert found["cost"][way]["task"] == pytest.approx(one["task"] * 10 * 2 / 1e6)
        assert found["cost"][way]["task_read_every_turn"] > found["cost"][way]["task"]
        assert found["break_even"][way]["calls"] > 3
    assert "discovery" not in ways["discrete"]
    assert found["verdict"][0].startswith("It pays")


def test_more_calls_cost_more_and_there_are_as_many_as_were_asked_for(shell: Shell) -> None:
    few, many = told(shell, GITHUB), told(shell, GITHUB, "--calls", "20")
    assert len(many["task"]["call"]) == 20
    assert many["ways"]["single"]["task"] > few["ways"]["single"]["task"]
    assert "a task of 20 calls" in many["verdict"][0]
    assert "a task of 1 call costs" in told(shell, GITHUB, "--calls", "1")["verdict"][0]


def test_sums_are_for_so_many_sessions_this_price(shell: Shell) -> None:
    found = rows(shell("tokens", GITHUB, "--price", "3", cwd=ROOT))
    task = int(found["a task of 3 calls"][0].replace(",", ""))
    assert float(found["1,000 sessions with such a task"][0]) == pytest.approx(task * 1000 * 3 / 1e6, abs=0.005)
    assert "1 session with such a task" in rows(shell("tokens", GITHUB, "--price", "3", "--sessions", "1", cwd=ROOT))


def test_the_tools_of_an_mcp_server_are_counted_as_it_lists_them_and_none_is_called(
    shell: Shell, tmp_path: Path
) -> None:
    from headgate.server.counting import exact_counter

    found = told(shell, desk(tmp_path))
    assert found["ways"]["discrete"]["tools_list"] == exact_counter().of_tools(TOOLS)
    assert not (tmp_path / CALLED).exists()


def test_a_tool_that_is_not_served_is_not_counted_either_and_that_is_told(shell: Shell, tmp_path: Path) -> None:
    served = [tool for tool in TOOLS if tool["name"] in ("list_notes", "updateNote")]
    listed = tmp_path / "headgate.toml"
    command = desk(tmp_path).removeprefix("stdio:")
    listed.write_text(f'[sources.notes]\nsource = "stdio:{command}"\ninclude = ["list_notes", "update_note"]\n')
    done = shell("tokens", str(listed))
    assert (done.code, rows(done)["tools"][0]) == (0, "2")
    assert done.err == (
        "headgate: of 'notes' 2 tools are not served, and not counted: 'frobNotes' and 'delete note!'; "
        "where it is not by your own choice, 'headgate review' says why\n"
    )
    found = told(shell, str(listed))
    assert found["left_out"] == {"notes": ["frobNotes", "delete note!"]}
    alone = told(shell, desk(tmp_path, *(tool["name"] for tool in served)))
    assert found["ways"]["discrete"] == alone["ways"]["discrete"]
    assert "left_out" not in alone


def test_a_command_after_two_dashes_is_a_server(shell: Shell, tmp_path: Path) -> None:
    command = desk(tmp_path).removeprefix("stdio:").split()
    done = shell("tokens", "--json", "--", *command)
    assert json.loads(done.out)["operations"] == len(TOOLS)


def test_several_sources_are_counted_together(shell: Shell, tmp_path: Path) -> None:
    alone = told(shell, LIBRARY)
    both = told(shell, LIBRARY, desk(tmp_path))
    assert both["operations"] == alone["operations"] + len(TOOLS)
    assert both["ways"]["discrete"]["tools"] == alone["ways"]["discrete"]["tools"] + len(TOOLS)


def test_a_source_that_does_not_open_is_told_and_the_others_are_counted(shell: Shell) -> None:
    done = shell("tokens", LIBRARY, "stdio:false")
    assert (done.code, "tools/list" in rows(done)) == (3, True)
    assert "is left out" in done.err
    assert list(told_failing(shell, LIBRARY, "stdio:false")["failed"]) == ["false"]


def test_a_source_alone_that_does_not_open_could_not_be_opened(shell: Shell) -> None:
    alone = shell("tokens", "stdio:false")
    assert (alone.code, alone.out) == (3, "")
    assert "source 'false' could not be opened: " in alone.err
    assert list(told_failing(shell, "stdio:false")) == ["failed"]


def told_failing(shell: Shell, *words: str) -> dict[str, Any]:
    done = shell("tokens", *words, "--json")
    found: dict[str, Any] = json.loads(done.out)
    assert done.code == 3
    return found


def test_a_server_that_speaks_mcp_aql_is_refused(shell: Shell) -> None:
    done = shell("tokens", "--", sys.executable, "-c", "from headgate.cli import main; main()", "serve", LIBRARY)
    assert (done.code, done.out) == (2, "")
    assert "speaks MCP-AQL itself" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--calls", "0"), "--calls must be a number from 1 to 1000, not 0"),
        (("--calls", "2.5"), 'unable to convert "2.5" into a whole number'),
        (("--price", "-1"), "--price must be a number from 0 to 1,000,000, not -1"),
        (("--price", "nan"), "--price must be a number from 0 to 1,000,000, not nan"),
        (("--price", "1e300"), "--price must be a number from 0 to 1,000,000, not 1e+300"),
        (("--price", "1", "--sessions", "0"), "--sessions must be a number from 1 to 1,000,000,000,000, not 0"),
        (("--price", "1", "--sessions", "1e3"), 'unable to convert "1e3" into a whole number'),
        (("--sessions", "5"), "--sessions says what a sum is for: add --price"),
        (("--chart", "tokens.gif"), "--chart 'tokens.gif' must end with .svg or .png"),
        (("--profile", "cruel"), "cruel"),
    ],
)
def test_what_makes_no_sense_is_refused(shell: Shell, words: tuple[str, ...], said: str) -> None:
    done = shell("tokens", LIBRARY, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_list_of_servers_that_has_none_is_told(shell: Shell, tmp_path: Path) -> None:
    empty = tmp_path / "servers.json"
    empty.write_text('{"mcpServers": {}}')
    for words in ((), ("--json",)):
        done = shell("tokens", str(empty), *words)
        assert (done.code, done.out) == (2, "")
        assert "There is no source to look at" in done.err


def test_several_sources_are_named_in_a_chart_as_people_name_several() -> None:
    assert [joined(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert joined(["a", "b", "c", "d"]) == "a, b and 2 more"


def test_a_source_without_a_name_is_not_the_demo(shell: Shell) -> None:
    done = shell("tokens", "")
    assert (done.code, done.out) == (3, "")
    assert "'' is neither a module" in done.err


def test_charts_are_drawn_by_their_endings(shell: Shell, tmp_path: Path) -> None:
    vector, pixels = tmp_path / "tokens.svg", tmp_path / "tokens.PNG"
    done = shell("tokens", LIBRARY, "--chart", str(vector), "--chart", str(pixels))
    assert done.code == 0
    assert vector.read_text().startswith("<svg ")
    with Image.open(pixels) as image:
        assert image.format == "PNG"
    assert done.err == f"headgate: drawn into '{vector}'\nheadgate: drawn into '{pixels}'\n"


def test_a_chart_that_cannot_be_written_is_told(shell: Shell, tmp_path: Path) -> None:
    done = shell("tokens", LIBRARY, "--chart", str(tmp_path / "none" / "tokens.svg"))
    assert (done.code, done.out) == (2, ""), "before anything is counted"
    assert f"cannot be written: there is no folder '{tmp_path / 'none'}'" in done.err
    (tmp_path / "folder.svg").mkdir()
    done = shell("tokens", LIBRARY, "--chart", str(tmp_path / "folder.svg"))
    assert done.code == 2
    assert "folder.svg' cannot be written: Is a directory" in done.err


def test_without_pillow_a_png_is_refused_with_what_to_install(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    done = shell("tokens", LIBRARY, "--chart", str(tmp_path / "tokens.png"))
    assert done.code == 2
    assert "pip install pillow" in done.err
    assert done.out == "", "before anything is counted"


def test_without_o200k_every_figure_is_about(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    done = shell("tokens", GITHUB, "--price", "3", cwd=ROOT)
    figures = [cell for name, cells in rows(done).items() if name not in ("", "tools") for cell in cells]
    assert done.code == 0
    assert [cell for cell in figures if cell != "-" and not cell.startswith("about ")] == []
    assert "costs about " in sentences(done)
    assert "pip install 'bpe-openai>=0.1.4'" in done.err
    assert told(shell, GITHUB)["exact"] is False


def test_it_says_where_it_does_not_pay_and_why_one_may_do_it_anyway() -> None:
    said = list(verdict(bill((268, 345, 127), operations=6)))
    assert said[0] == (
        "It does not pay: 6 operations as discrete tools cost 268 tokens, less than 345 in semantic mode: serving this "
        "behind headgate costs 77 tokens more a session. A task of 2 calls costs 297 tokens more in semantic mode, "
        "79 tokens more as a single tool."
    )
    assert said[1].startswith("Reasons to do it anyway: ")


def test_where_the_list_is_shorter_and_the_task_is_not_it_says_both() -> None:
    [first, *_] = verdict(bill((268, 200, 127), operations=6))
    assert first.startswith(
        "It does not pay: 6 operations as discrete tools cost 268 tokens, 68 more than 200 in semantic mode, but "
        "finding them costs 200, and calling them 20 more. A task of 2 calls"
    )


def test_one_operation_is_one_discrete_tool() -> None:
    [first, *_] = verdict(bill((50, 120, 110), operations=1))
    assert "1 operation as a discrete tool costs 50 tokens, less than 120" in first


def test_where_only_a_single_tool_pays_it_says_so() -> None:
    [first, *rest] = verdict(bill((600, 500, 127)))
    assert first == (
        "It pays as a single tool only: a task of 2 calls costs 253 tokens less (41%) as a single tool, "
        "120 tokens more in semantic mode."
    )
    assert not any("anyway" in line for line in rest)


def test_estimates_that_are_close_to_each_other_say_nothing() -> None:
    close, sure, how_long = verdict(replace(bill((340, 100, 20)), is_exact=False))
    assert close == (
        "Whether it pays in semantic mode is too close to tell by estimates, which may be off by a fifth: "
        "a task of 2 calls costs about 20 tokens less (6%) in semantic mode."
    )
    assert sure == "It pays as a single tool: about 100 tokens less (28%)."
    assert how_long.startswith("As a single tool, a session that calls more than about ")
    [close, sure] = verdict(replace(bill((340, 100, 250)), is_exact=False))
    assert sure == "It does not pay as a single tool: about 130 tokens more."


def test_where_it_pays_it_says_for_how_long() -> None:
    pays, semantic, single = verdict(bill((10_000, 500, 200), operations=100))
    assert pays == (
        "It pays: a task of 2 calls costs 9,280 tokens less (93%) in semantic mode, 9,580 tokens less (96%) as a "
        "single tool."
    )
    assert semantic == "In semantic mode, a session that calls more than about 930 times loses it again."
    assert single.startswith("As a single tool, a session that calls more than about ")


def test_only_where_it_pays_for_the_task_it_says_for_how_long() -> None:
    dear = bill((268, 40, 400), operations=6, discovery=5, call=110)
    assert dear.semantic.before_calls < dear.discrete.listed, "it would pay for one call"
    assert list(verdict(bill((10_000, 540, 540), call=10)))[1:] == [], "nothing uses it up"
    assert break_even(dear, dear.semantic) == 2, "as the two lines of the task cross"
    assert break_even(dear, dear.single) is None
    assert [line for line in verdict(dear) if line.startswith("As a single tool, a session")] == []


def test_where_the_calls_cost_it_says_so() -> None:
    [first, *_] = verdict(bill((268, 200, 400), operations=6, discovery=5, call=110))
    assert "but finding them costs 10, and calling them 200 more." in first


def test_where_both_cost_the_same_it_says_so() -> None:
    even = bill((350, 100, 100), discovery=100, call=35)
    assert even.semantic.task == even.discrete.task
    assert "costs as many tokens in semantic mode" in next(iter(verdict(even)))


def test_a_source_without_operations_spares_nothing() -> None:
    empty = Bill(0, True, None, Spending("discrete", 0, 1), Spending("semantic", 1, 90), Spending("single", 1, 80))
    [said] = verdict(empty)
    assert said.startswith("There are no operations, so nothing can be spared: ")
    assert said.endswith(": tools/list costs 90 in semantic mode and 80 as a single tool, against 1.")
    chart = chart_of(empty, "nothing")
    assert (len(chart.groups), chart.footnote) == (1, "Counted with o200k.")
    assert break_even(empty, empty.single) is None


def test_break_even_is_where_both_cost_the_same() -> None:
    """740 before the calls, and each of them 10 dearer than a discrete tool's."""
    large = bill((10_000, 540, 540), operations=100)
    assert break_even(large, large.semantic) == (10_000 - 740) // 10
    cheap = bill((10_000, 540, 540), operations=100, call=10)
    assert break_even(cheap, cheap.semantic) is None, "nothing uses it up"


def test_each_operation_of_a_task_is_named_once_with_how_often_it_is_called(shell: Shell) -> None:
    said = sentences(shell("tokens", "examples/library.py:library", "--calls", "1000", cwd=ROOT))
    assert "call get_book 1,000 times." in said


def test_what_is_not_counted_is_said() -> None:
    one = bill((268, 345, 127))
    said = replace(one, task=Task("drop", ("drop_it",), may_be_confirmed=True, is_followed=True))
    [line] = about_task(said)
    assert "confirmed here" in line
    assert "following it costs more" in line
    [line] = about_task(one)
    assert line.endswith("left out.")


def test_small_sums_and_shares_show_what_they_are() -> None:
    one = bill((100_000, 100, 99), discovery=10)
    sums = {row[0]: row[1:] for row in rows_of(one, Prices(0.0001, 1))}["1 session with such a task"]
    assert sums == ("0.000010", "0.000000016", "0.000000016")
    nothing = {row[0]: row[1:] for row in rows_of(one, Prices(0, 1))}["1 session with such a task"]
    assert nothing == ("0.00", "0.00", "0.00"), "a model of one's own"
    assert [bar.note for bar in chart_of(one, "desk").groups[0].bars] == ["", "0.1%", "0.1%"]


@pytest.mark.parametrize("width", [20, 30, 50, 70, 90])
def test_on_a_narrow_terminal_no_figure_is_cut(width: int) -> None:
    written = io.StringIO()
    one = bill((100_000, 50_000, 25_000))
    print_table(Console(file=written, force_terminal=True, width=width), one, Prices(2.0, 1000))
    said = written.getvalue()
    assert "\u2026" not in said
    for figure in ("100,000", "50,000", "25,000", "200.04"):
        assert figure in said
    bars = [line.count("\u2588") for line in said.splitlines() if "\u2588" in line]
    assert bars == [] or bars[0] == pytest.approx(2 * bars[1], abs=1)
    assert bool(bars) == (width >= 50)


def test_money_is_counted_by_the_million() -> None:
    assert Prices(3.0, 1000).of(2000) == pytest.approx(6.0)
    assert Prices(None, 1000).of(2000) == 0


def test_on_a_terminal_the_bars_are_as_long_as_the_figures() -> None:
    written = io.StringIO()
    one = bill((1000, 500, 250))
    print_table(Console(file=written, force_terminal=True, width=120), one, Prices(2.0, 1000))
    lines = [line for line in written.getvalue().splitlines() if "\u2588" in line]
    assert [line.count("\u2588") for line in lines[:3]] == [40, 20, 10]
    assert "It pays" in written.getvalue()
    assert "2.04" in written.getvalue(), "1,020 tokens a task, 1,000 sessions, 2 for a million"


def test_nothing_has_no_bar() -> None:
    empty = Bill(0, True, None, Spending("discrete", 0, 0), Spending("semantic", 0, 0), Spending("single", 0, 0))
    written = io.StringIO()
    print_table(Console(file=written, force_terminal=True, width=120), empty, Prices(None, 1))
    assert "\u2588" not in written.getvalue()
    assert "nothing can be spared" in written.getvalue()


def test_a_chart_has_a_bar_for_each_way_and_says_how_much_less_or_more(shell: Shell) -> None:
    chart = chart_of(bill((1000, 500, 2000)), "desk")
    assert chart.title == "What 10 operations of desk cost a model"
    before, task = chart.groups
    assert [(bar.value, bar.note) for bar in before.bars] == [(1000, ""), (500, "50%"), (2000, "2.0 times as much")]
    assert task.label == "A task of 2 calls, discovery included"
