"""What another command runs is done, though it stands in quotes; what is only quoted is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.autonomy import Tier
from headgate.safety.autonomy.executed import executed, tried
from headgate.safety.autonomy.scoring import score
from tests.safety.labelled_actions import takes

RUNNERS = ["watch", "watch -n 1", "env", "xargs", "timeout 5", "nohup", "time", "nice -n 5", "ssh db1", "bash -c"]
CODE = ["python -c", "python3 -c", "perl -e", "ruby -e", "node -e", "php -r", "node --eval", "vim x -c", "psql shop -c"]


@pytest.mark.parametrize("before", ["", "view it with ", "list them via ", "read it; "])
@pytest.mark.parametrize("runner", [*RUNNERS, *CODE])
@pytest.mark.parametrize("quotes", ['""', "''", "“”", "``"])
def test_what_is_quoted_after_a_command_that_runs_it_is_done(before: str, runner: str, quotes: str) -> None:
    assert {*executed(f"{before}{runner} {quotes[0]}rm x{quotes[1]}")} == {"rm x"}


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("ls $(x)", ["x"]),
        ("ls $(x $(y))", ["x $(y"]),
        ("diff <(x) <(y)", ["x", "y"]),
        ("echo $((1 + 2))", []),
        ("ls `x`", ["x"]),
        ("read about `x`", []),
        ("less '+!x y'", ["x y"]),
        ("print the output of running `x`", ["x"]),
        ("read the word 'x'", []),
        ('watch the film "x"', []),
        ("grep -e 'x' notes", []),
        ("nothing is run", []),
    ],
)
def test_commands_inside_of_others_are_found(text: str, runs: list[str]) -> None:
    assert [*executed(text)] == runs


@pytest.mark.parametrize(
    ("text", "tries"),
    [
        ("see what happens on x -y", ["x -y"]),
        ("see what comes of x", ["x"]),
        ("show me what x prints", ["x"]),
        ("explain what x prints", []),
        ("show x", []),
    ],
)
def test_what_one_wants_to_see_the_end_of_is_found(text: str, tries: list[str]) -> None:
    assert [*tried(text)] == tries


@pytest.mark.parametrize(
    "hint",
    [
        "watch the logs",
        'explain the command "rm -r /"',
        'note the time "noon"',
        'watch "kubectl get pods"',
        "watch -n5 'df -h'",
        'print the output of "git status"',
        "explain the output of `git status`",
        "show the output of the tests",
        "show the result of the query",
        "show what the tests print",
        "see what happens on Monday",
        "ls $(pwd)",
        "cat $(git rev-parse --show-toplevel)/README.md",
        "read about `terraform destroy`",
        'explain "rm -r /" in simple words',
        "grep foo notes.txt > /dev/null",
        "ls 2>/dev/null",
        "cat README.md 2>&1",
        "find values > 30",
        "show rows where a > b",
        "sort -u names.txt",
        "open('/srv/ledger.csv').read()",
        "open('/srv/ledger.csv', 'r')",
        "curl https://example.com/blog/how-to-delete-a-branch",
        "curl https://example.com/search?q=delete",
        "open the firewall documentation",
        "read the queue",
        "wait until the queue is empty",
        'summarise the results from "Experiment 4"',
        'describe the effect of "caffeine" on sleep',
        "docker ps --all",
        "list users and groups",
        "check disk space and memory usage",
        "read the notes and private letters",
        "list templates and template files",
    ],
)
def test_nothing_of_this_makes_looking_wait(hint: str) -> None:
    assert takes(hint) is Tier.ADVISORY, score(hint)


def test_what_is_run_and_not_known_says_so() -> None:
    assert score("ls $(./x.sh)").factors[0] == "It runs something of which it is not known what it does"


@pytest.mark.parametrize(
    "hint", ["ls " + "$(ls " * 9, "ls " + " ".join(f"$(ls {at}.txt)" for at in range(99))], ids=["deep", "many"]
)
def test_more_than_can_be_read_must_be_verified(hint: str) -> None:
    assert takes(hint) is Tier.VERIFY
    assert "It runs more than can be read" in score(hint).factors


@given(st.text(max_size=80))
def test_what_is_found_stands_in_the_text(text: str) -> None:
    assert all(one in text for one in (*executed(text), *tried(text)))


@given(st.text("$(<>)`'\"+!: watchenvlsx", max_size=60))
def test_signs_in_any_order_are_read(text: str) -> None:
    assert all(one in text for one in executed(text))
    assert 0 <= score(text).score <= 100
