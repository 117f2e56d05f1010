"""The pages of wrapped servers say what is measured."""

import re

import pytest

from tests.upstreams.table import PAGES, tables, with_tables

pytestmark = pytest.mark.anyio

_FAR = 0.1
"""How far tokens may be from what a page says: words of ours change more often than pages are written anew."""


async def test_the_pages_hold_the_tables_of_today(installed: None) -> None:
    found = await tables()
    for page in PAGES:
        said = page.read_text()
        now = with_tables(said, found)
        again = "run: python -m tests.upstreams.table --write"
        assert _without_tokens(said) == _without_tokens(now), f"{page.name} is out of date; {again}"
        for written, counted in zip(_tokens(said), _tokens(now), strict=True):
            assert abs(written - counted) <= counted * _FAR, f"tokens in {page.name} are out of date; {again}"


_ROW = re.compile(r"(?m)^(\| \S+ \| (?:\S* ?\| )?[\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|")


def _without_tokens(page: str) -> str:
    return _ROW.sub(r"\1 |", page)


def _tokens(page: str) -> list[int]:
    return [int(figure.replace(",", "")) for row in _ROW.findall(page) for figure in row[1:]]
