"""Warnings of what will go: once in a session, and the louder the nearer the day."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import pytest

from headgate import Category, Deprecated, Operation, Param, Session
from headgate.adapter.deprecations import deprecation_notices
from tests.adapter.making import operation

TODAY = datetime.now(UTC).date()


def old(deprecated: Deprecated | None = None, of_parameter: Deprecated | None = None) -> Operation:
    async def get_thing(thing_id: int, shelf: Annotated[str, Param(deprecated=of_parameter)] = "") -> None:
        """Get a thing."""

    return operation(get_thing, Category.READ, deprecated=deprecated)


def test_an_operation_that_will_go_warns_once_in_a_session() -> None:
    made, session = old(Deprecated("slow", "list_things")), Session()
    (notice,) = deprecation_notices(made, ["thing_id"], session)
    assert notice.code == "DEPRECATION_WARNING"
    assert notice.message == "The operation 'get_thing' is deprecated: use 'list_things' instead; slow."
    assert notice.details == {"type": "operation", "deprecated_item": "get_thing", "replacement": "list_things"}
    assert list(deprecation_notices(made, ["thing_id"], session)) == []
    assert len(list(deprecation_notices(made, ["thing_id"], Session()))) == 1


def test_a_parameter_that_will_go_warns_only_when_it_is_given() -> None:
    made, session = old(of_parameter=Deprecated(removal_date=TODAY + timedelta(days=99))), Session()
    assert list(deprecation_notices(made, ["thing_id"], session)) == []
    (notice,) = deprecation_notices(made, ["thing_id", "shelf"], session)
    assert notice.details == {
        "type": "parameter",
        "deprecated_item": "get_thing.shelf",
        "removal_date": (TODAY + timedelta(days=99)).isoformat(),
    }
    assert list(deprecation_notices(made, ["shelf"], session)) == []


def test_operation_and_parameter_warn_each_for_itself() -> None:
    made = old(Deprecated(), Deprecated())
    assert len(list(deprecation_notices(made, ["shelf"], Session()))) == 2


def test_what_will_stay_warns_of_nothing() -> None:
    assert list(deprecation_notices(old(), ["thing_id", "shelf"], Session())) == []


@pytest.mark.parametrize(
    ("days", "severity"),
    [(None, "low"), (31, "medium"), (365, "medium"), (30, "high"), (1, "high"), (0, "high"), (-5, "high")],
    ids=str,
)
def test_the_nearer_the_day_the_louder(days: int | None, severity: str) -> None:
    removal = None if days is None else datetime.now(UTC).date() + timedelta(days=days)
    (notice,) = deprecation_notices(old(Deprecated(removal_date=removal)), [], Session())
    assert notice.severity == severity


def test_an_ended_session_has_forgotten_what_it_heard() -> None:
    session = Session()
    session.state["seen"] = 1
    list(deprecation_notices(old(Deprecated()), [], session))
    session.end()
    assert (session.state, session.announced, session.ended) == ({}, set(), True)
