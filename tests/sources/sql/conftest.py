"""Small databases on each server, for the tests of what runs statements on them."""

import threading
from collections.abc import Iterator

import pytest

from headgate.sources.sql import sqlite_driver
from tests.databases import Database as Made
from tests.databases import Server
from tests.sources.sql.places import TABLES, Place


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    event = threading.Event()

    def fold(value: object) -> object:
        event.set()
        return value

    monkeypatch.setattr(sqlite_driver, "fold", fold)
    return event


@pytest.fixture
def place(database: Made, started: threading.Event) -> Place:
    place = Place(database, started)
    place.rows(*TABLES)
    return place


@pytest.fixture(params=["postgresql", "mariadb"])
def remote(request: pytest.FixtureRequest, started: threading.Event) -> Iterator[Place]:
    server: Server = request.getfixturevalue(request.param)
    with server.fresh() as made:
        place = Place(made, started)
        place.rows(*TABLES)
        yield place


@pytest.fixture
def local(sqlite: Server, started: threading.Event) -> Iterator[Place]:
    with sqlite.fresh() as made:
        place = Place(made, started)
        place.rows(*TABLES)
        yield place
