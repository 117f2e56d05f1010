"""Summaries: a collection that counts rightly, and one fault at a time."""

import pytest

from tests.conformance.checks.shelf import Json, Shelf, found_wrong, results_on, verdicts

pytestmark = pytest.mark.anyio


async def test_a_collection_that_counts_rightly_passes() -> None:
    """Every check holds."""
    assert set(verdicts(await results_on(Shelf(), "aggregation.")).values()) == {"PASS"}


def _counted(wrong: object) -> Shelf:
    def after(_params: Json, answer: Json) -> Json:
        if "total" in answer["data"].get("aggregations", {}):
            answer["data"]["aggregations"]["total"] = wrong
        return answer

    return Shelf(after=after)


def _grouped(wrong: object) -> Shelf:
    def after(_params: Json, answer: Json) -> Json:
        if "by_field" in answer["data"].get("aggregations", {}):
            answer["data"]["aggregations"]["by_field"] = wrong
        return answer

    return Shelf(after=after)


def _elsewhere(_params: Json, answer: Json) -> Json:
    if "aggregations" in answer["data"]:
        answer["data"]["summary"] = answer["data"].pop("aggregations")
    return answer


def _with_items(params: Json) -> Json:
    return params | ({"include_items": True} if "aggregate" in params else {})


def _never_with_items(params: Json) -> Json:
    return {key: value for key, value in params.items() if key != "include_items"}


@pytest.mark.parametrize(
    ("shelf", "check"),
    [
        pytest.param(_counted(5), "aggregation.count", id="fewer than were seen"),
        pytest.param(_counted(80), "aggregation.count", id="more than there are"),
        pytest.param(_counted("8"), "aggregation.count", id="a text"),
        pytest.param(Shelf(after=_elsewhere), "aggregation.count", id="under another name"),
        pytest.param(_grouped({"novel": 1}), "aggregation.groups", id="groups that do not sum up"),
        pytest.param(_grouped([1, 2]), "aggregation.groups", id="a list of groups"),
        pytest.param(_grouped({"novel": "eight"}), "aggregation.groups", id="no numbers"),
        pytest.param(Shelf(before=_with_items), "aggregation.summary-only", id="items nobody asked for"),
        pytest.param(Shelf(before=_never_with_items), "aggregation.summary-only", id="no items although asked for"),
    ],
)
async def test_a_fault_of_summaries_is_found(shelf: Shelf, check: str) -> None:
    """By the check that is meant for it."""
    results = await results_on(shelf, "aggregation.")
    assert check in found_wrong(results)
    assert verdicts(results)[check] == "WARN"


async def test_a_count_of_the_page_alone_is_found() -> None:
    """Where more items follow than one page has."""
    shelf = Shelf()
    shelf.items = [{**shelf.items[0], "id": number} for number in range(30)]

    def after(_params: Json, answer: Json) -> Json:
        if "aggregations" in answer["data"]:
            answer["data"]["aggregations"] = {"total": 12}
        return answer

    shelf.after = after
    assert found_wrong(await results_on(shelf, "aggregation.count")) == {"aggregation.count"}


async def test_a_count_that_contradicts_the_total_of_pages_is_found() -> None:
    """The same server says two numbers."""

    def after(_params: Json, answer: Json) -> Json:
        if "pageInfo" in answer["data"]:
            answer["data"]["pageInfo"] |= {"totalCount": 9}
        return answer

    assert found_wrong(await results_on(Shelf(after=after), "aggregation.count")) == {"aggregation.count"}


async def test_groups_that_were_left_out_with_a_warning_are_no_fault() -> None:
    """A server may give the largest groups only, if it says so."""

    def after(_params: Json, answer: Json) -> Json:
        summaries = answer["data"].get("aggregations", {})
        if "by_field" in summaries:
            answer["warnings"] = [{"code": "VALIDATION_TRUNCATED_WARNING", "message": "Only one group is shown"}]
            summaries["by_field"] = dict(list(summaries["by_field"].items())[:1])
        return answer

    results = await results_on(Shelf(after=after), "aggregation.groups")
    assert not found_wrong(results)
    assert "no field was found" in results["aggregation.groups"].reason


async def test_counts_may_stand_under_the_name_of_their_function() -> None:
    """Several functions give an object for each group."""

    def after(_params: Json, answer: Json) -> Json:
        summaries = answer["data"].get("aggregations", {})
        if "by_field" in summaries:
            summaries["by_field"] = {key: {"count": value} for key, value in summaries["by_field"].items()}
        return answer

    assert not found_wrong(await results_on(Shelf(after=after), "aggregation."))


async def test_a_server_that_refuses_summaries_is_not_judged() -> None:
    """What is wrong with its refusal, other checks see."""

    def after(params: Json, answer: Json) -> Json:
        is_summary = "aggregate" in params
        return {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "No"}} if is_summary else answer

    assert set(verdicts(await results_on(Shelf(after=after), "aggregation.")).values()) == {"SKIP"}


async def test_only_fields_that_are_declared_groupable_are_grouped_by() -> None:
    """The introspection of the operation goes before the items."""
    asked: list[str] = []

    def declare(told: dict[str, Json]) -> None:
        told["list_tales"]["aggregation_support"] = {"supported": True, "groupable_fields": ["title"]}

    def before(params: Json) -> Json:
        asked.extend(how["group_by"] for how in params.get("aggregate", {}).values() if "group_by" in how)
        return params

    shelf = Shelf(declare=declare, before=before)
    assert not found_wrong(await results_on(shelf, "aggregation.groups"))
    assert asked[0] == "title"
