"""What headgate takes the tools of real servers for, measured against labels that were made by hand."""

import anyio
import pytest

from tests.upstreams.classified import Row, rows_of, score_of
from tests.upstreams.labels import LABELS
from tests.upstreams.listings import Tools, tools_of
from tests.upstreams.servers import SERVERS

_FOR_OTHER_CLIENTS = {("everything", "get-roots-list"), ("everything", "trigger-sampling-request")}
"""Tools that are listed only to clients with roots or a model of their own."""


@pytest.fixture(scope="module")
def listed(installed: None) -> dict[str, Tools]:
    """What every server lists."""

    async def ask() -> dict[str, Tools]:
        return {name: await tools_of(server) for name, server in SERVERS.items()}

    return anyio.run(ask)


@pytest.fixture(scope="module")
def rows(listed: dict[str, Tools]) -> list[Row]:
    """Every tool, classified."""
    return [row for name, tools in listed.items() for row in rows_of(name, tools)]


def test_every_tool_is_labelled_and_becomes_an_operation(listed: dict[str, Tools], rows: list[Row]) -> None:
    shown = {(name, tool) for name, tools in listed.items() for tool in tools}
    labelled = {(name, tool) for name, labels in LABELS.items() for tool in labels}
    assert {(row.server, row.origin.own_name) for row in rows} == shown
    assert labelled - shown == _FOR_OTHER_CLIENTS
    assert shown <= labelled


def test_nothing_that_changes_state_is_taken_for_reading(rows: list[Row]) -> None:
    assert [(row.server, row.origin.own_name) for row in rows if row.is_changing_read] == []


def test_categories_and_dangers_are_right_as_often_as_we_say(rows: list[Row]) -> None:
    score = score_of(rows)
    assert score.tools > 700
    assert score.category / score.tools >= 0.92
    assert score.best_category / score.tools >= 0.8
    assert score.danger / score.tools >= 0.87


def test_a_danger_that_is_played_down_is_rare(rows: list[Row]) -> None:
    played_down = [
        f"{row.server} {row.origin.own_name}: {row.danger} for {row.label}" for row in rows if row.is_played_down
    ]
    assert len(played_down) / len(rows) <= 0.01, played_down


def test_what_is_taken_for_the_wrong_category_is_mostly_marked_for_review(rows: list[Row]) -> None:
    wrong = [row for row in rows if not row.category_is_right]
    assert sum(row.origin.needs_review for row in wrong) >= len(wrong) * 0.6


def test_every_value_has_a_confidence_and_evidence(rows: list[Row]) -> None:
    for row in rows:
        for inferred in (row.origin.category, row.origin.danger):
            assert 0 <= inferred.confidence <= 1
            assert inferred.evidence or row.origin.needs_review
