"""Shares of tokens in words: what is less than all is not told as all of it."""

import pytest

from headgate.cli.tokens_words import chart_of, verdict
from headgate.server.spending import Bill, Spending, Task


def bill(discrete: int, served: int) -> Bill:
    """One whose tasks cost what the tools do, and nothing beside: discovery is free."""
    task = Task("desk", ("get_desk",))
    ways = Spending("discrete", 10, discrete), Spending("semantic", 5, served), Spending("single", 1, served)
    return Bill(10, True, task, *ways)


SHARES = {
    (1_000, 996): "99.6%",
    (1_000, 995): "99.5%",
    (1_000, 994): "99%",
    (1_000, 999): "99.9%",
    (100_000, 99_963): "99.96%",
    (3_000_000, 2_999_999): "99.99997%",
    (1_000, 1_000): "100%",
    (1_000, 504): "50%",
    (1_000, 4): "0.4%",
    (1_000, 0): "0%",
}


@pytest.mark.parametrize(("tokens", "shown"), SHARES.items(), ids=SHARES.values())
def test_a_share_is_only_all_where_it_is_all(tokens: tuple[int, int], shown: str) -> None:
    one = bill(*tokens)
    assert [bar.note for bar in chart_of(one, "desk").groups[0].bars] == ["", shown, shown]


def test_what_is_spared_is_not_all_where_something_is_left() -> None:
    assert next(verdict(bill(25_000, 100))) == (
        "It pays: a task of 1 call costs 24,900 tokens less (99.6%) in semantic mode, "
        "24,900 tokens less (99.6%) as a single tool."
    )
