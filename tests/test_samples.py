"""The sample databases are the ones that are expected, and can be read."""

import sqlite3
from contextlib import closing

import pytest

from tests.samples import SAMPLES, sample


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_the_expected_version(name: str) -> None:
    assert sample(name).stat().st_size > 0


def test_northwind_has_spaces_in_names_composite_keys_and_views() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(sample("northwind").read_text(encoding="utf-8"))
        assert connection.execute('SELECT count(*) FROM "Order Details"').fetchone() == (2155,)
        keys = [row[1] for row in connection.execute('PRAGMA table_info("Order Details")') if row[5]]
        assert keys == ["OrderID", "ProductID"]
        assert connection.execute('SELECT count(*) FROM "Order Subtotals"').fetchone() == (830,)
