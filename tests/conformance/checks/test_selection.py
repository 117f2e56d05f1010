"""Fields, filters and orders: a collection that does it right, and one fault at a time."""

from collections.abc import Callable

import pytest

from tests.conformance.checks.shelf import Json, Shelf, found_wrong, results_on, verdicts

pytestmark = pytest.mark.anyio


async def test_a_collection_that_selects_rightly_passes() -> None:
    """Every check holds."""
    assert set(verdicts(await results_on(Shelf(), "selection.")).values()) == {"PASS"}


def _ignoring(name: str) -> Callable[[Json], Json]:
    return lambda params: {key: value for key, value in params.items() if key != name}


def _ignoring_unknown(name: str) -> Callable[[Json], Json]:
    """What names a field that there is not is left out without a word."""
    return lambda params: {k: v for k, v in params.items() if k != name or "no_such_field" not in str(v)}


def _empty_when_filtered(params: Json, answer: Json) -> Json:
    if "filter" in params and "items" in answer["data"]:
        answer["data"]["items"] = []
    return answer


def _too_few(params: Json, answer: Json) -> Json:
    if isinstance(params.get("fields"), list):
        answer["data"]["items"] = [dict(list(item.items())[:1]) for item in answer["data"]["items"]]
    return answer


def _bare(params: Json, answer: Json) -> Json:
    if isinstance(params.get("fields"), list):
        answer["data"]["items"] = [next(iter(item.values())) for item in answer["data"]["items"]]
    return answer


def _only_within_the_page(params: Json, answer: Json) -> Json:
    """The page is sorted, and the collection is not."""
    if "sort" in params:
        by = params["sort"]["field"]
        items = Shelf().items[4:8] if params["sort"]["order"] == "asc" else Shelf().items[:4]
        answer["data"]["items"] = sorted(items, key=lambda item: item[by], reverse=params["sort"]["order"] == "desc")
    return answer


def _preset_refused(params: Json, answer: Json) -> Json:
    is_refused = params.get("fields") == "standard"
    return {"success": False, "error": {"code": "VALIDATION_INVALID_VALUE", "message": "No"}} if is_refused else answer


def _swapped(params: Json) -> Json:
    fields = params.get("fields")
    other = {"minimal": "full", "full": "minimal"}
    return params | ({"fields": other.get(fields, fields)} if isinstance(fields, str) else {})


def _always_minimal(params: Json) -> Json:
    return params | ({"fields": "minimal"} if isinstance(params.get("fields"), str) else {})


def _always_upwards(params: Json) -> Json:
    return params | ({"sort": {**params["sort"], "order": "asc"}} if "sort" in params else {})


@pytest.mark.parametrize(
    ("shelf", "check"),
    [
        pytest.param(Shelf(before=_ignoring("fields")), "selection.fields", id="fields ignored"),
        pytest.param(Shelf(after=_too_few), "selection.fields", id="a field is missing"),
        pytest.param(Shelf(after=_bare), "selection.fields", id="no objects any more"),
        pytest.param(Shelf(after=_preset_refused), "selection.presets", id="a preset is refused"),
        pytest.param(Shelf(before=_swapped), "selection.presets", id="minimal gives most"),
        pytest.param(Shelf(before=_always_minimal), "selection.presets", id="full gives least"),
        pytest.param(Shelf(before=_ignoring_unknown("fields")), "selection.unknown-field-refused", id="any field"),
        pytest.param(Shelf(before=_ignoring("filter")), "selection.filter", id="filter ignored"),
        pytest.param(Shelf(after=_empty_when_filtered), "selection.filter", id="a filter finds nothing"),
        pytest.param(Shelf(before=_ignoring_unknown("filter")), "selection.unknown-filter-refused", id="any key"),
        pytest.param(Shelf(before=_ignoring("sort")), "selection.sort", id="sort ignored"),
        pytest.param(Shelf(before=_always_upwards), "selection.sort", id="desc ignored"),
        pytest.param(Shelf(after=_only_within_the_page), "selection.sort", id="only the page is sorted"),
        pytest.param(Shelf(before=_ignoring_unknown("sort")), "selection.unknown-sort-refused", id="any order"),
    ],
)
async def test_a_fault_of_selection_is_found(shelf: Shelf, check: str) -> None:
    """By the check that is meant for it."""
    results = await results_on(shelf, "selection.")
    assert check in found_wrong(results)
    assert verdicts(results)[check] == "WARN"


async def test_an_ignored_filter_is_told_with_a_value_that_was_not_asked_for() -> None:
    """The words say what came, and what was asked for."""
    results = await results_on(Shelf(before=_ignoring("filter")), "selection.filter")
    words = results["selection.filter"].broken[0].words
    assert words == "'list_tales' gave an item with 'genre' 'poetry' although the filter was 'novel'"


async def test_fields_that_cannot_be_filtered_or_sorted_by_are_left() -> None:
    """Where none can, nothing is held against the server."""

    def after(params: Json, answer: Json) -> Json:
        refused = "filter" in params or "sort" in params
        return {"success": False, "error": {"code": "VALIDATION_INVALID_VALUE", "message": "No"}} if refused else answer

    results = await results_on(Shelf(after=after), "selection.filter", "selection.sort")
    assert set(verdicts(results).values()) == {"SKIP"}
    assert "no field was found" in results["selection.sort"].reason


async def test_a_selection_that_gives_nothing_is_not_judged() -> None:
    """A list in 'fields' that empties the answer cannot be compared."""

    def after(params: Json, answer: Json) -> Json:
        if isinstance(params.get("fields"), list):
            answer["data"]["items"] = []
        return answer

    assert verdicts(await results_on(Shelf(after=after), "selection.fields")) == {"selection.fields": "SKIP"}


async def test_an_identifier_may_come_beside_the_fields_that_were_asked_for() -> None:
    """So may metadata."""

    def after(params: Json, answer: Json) -> Json:
        for item in answer["data"].get("items", []):
            item.update({"id": 1, "_etag": "x"})
        return answer

    assert not found_wrong(await results_on(Shelf(after=after), "selection."))


async def test_the_older_form_of_sorting_is_used_where_only_that_is_declared() -> None:
    """A field's name in 'sort', and the direction in 'order'."""

    def declare(told: dict[str, Json]) -> None:
        for one in told.values():
            kept = [row for row in one["parameters"] if row["name"] != "sort"]
            texts = [{"name": name, "type": "string", "required": False} for name in ("sort", "order")]
            one["parameters"] = kept + texts

    def before(params: Json) -> Json:
        if "sort" in params:
            params["sort"] = {"field": params["sort"], "order": params.pop("order")}
        return params

    assert verdicts(await results_on(Shelf(declare=declare, before=before), "selection.sort")) == {
        "selection.sort": "PASS"
    }
    assert verdicts(await results_on(Shelf(declare=declare, before=_ignoring("sort")), "selection.sort")) == {
        "selection.sort": "WARN"
    }


async def test_what_is_not_declared_is_not_asked_for() -> None:
    """No parameter, no check."""

    def declare(told: dict[str, Json]) -> None:
        for one in told.values():
            one["parameters"] = [row for row in one["parameters"] if row["name"] in ("query", "name", "first")]

    assert set(verdicts(await results_on(Shelf(declare=declare), "selection.")).values()) == {"SKIP"}
