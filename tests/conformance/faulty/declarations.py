"""What the museum offers: every operation and parameter, told once."""

from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["DENY", "EXHIBIT_FIELDS", "HALLS", "LIMITS", "MOST_STEPS", "OPERATIONS", "Declared", "Wanted"]

HALLS: Final = ["north", "south", "garden"]
LIMITS: Final = {
    "max_request_size": 131072,
    "max_response_size": 1048576,
    "max_string_length": 65536,
    "max_array_elements": 100,
    "max_nesting_depth": 16,
}
DENY: Final = ("drop_*", "delete_all*", "rm -rf*")
MOST_STEPS: Final = 8


@dataclass(frozen=True)
class Wanted:
    """A parameter."""

    name: str
    type: str
    description: str
    required: bool = False
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Declared:
    """An operation."""

    name: str
    category: str
    description: str
    parameters: tuple[Wanted, ...]
    returns: tuple[str, str]
    example: dict[str, Any]
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The family of its tool."""
        return self.category.lower()


EXHIBIT_FIELDS: Final = (
    Wanted("title", "string", "What the exhibit is called", True, {"minLength": 1, "maxLength": 120}),
    Wanted(
        "year",
        "integer",
        "The year when it was made, negative before our era",
        True,
        {"minimum": -3000, "maximum": 2100},
    ),
    Wanted("hall", "string", "The hall where it stands", True, {"enum": HALLS}),
    Wanted("maker", "string", "Who made it", False, {"maxLength": 120}),
    Wanted("value", "number", "What it is insured for, in euros", False, {"minimum": 0}),
    Wanted("on_display", "boolean", "Whether visitors can see it", False, {"default": True}),
    Wanted(
        "acquired_on",
        "string",
        "The day when it came to the museum, in the museum's own time zone",
        False,
        {"format": "date"},
    ),
    Wanted("materials", "array", "What it consists of", False, {"items": {"type": "string"}}),
    Wanted("dimensions", "object", "Its measures: height_cm and width_cm are numbers, note is a text"),
)
_FIELD_NAMES: Final = "title, year, hall, maker, value, on_display, acquired_on, materials, dimensions"
_DRY_RUN: Final = Wanted("dry_run", "boolean", "Only tell what would happen", False, {"default": False})
_ID: Final = Wanted("exhibit_id", "string", "The id of the exhibit, such as 'ex_1'", True)
_TOKEN: Final = Wanted(
    "confirmation_token", "string", "The token of the question that was asked before, once a person agrees"
)
_FIELDS: Final = Wanted(
    "fields", "string | string[]", "Fields to show: 'minimal', 'standard', 'full', or a list of names"
)
_CURSORS: Final = (
    Wanted(
        "first", "integer", "How many from the start; cursor paging", False, {"default": 5, "minimum": 1, "maximum": 50}
    ),
    Wanted("after", "string", "Go on after this cursor; with 'first'"),
    Wanted("last", "integer", "How many from the end", False, {"minimum": 1, "maximum": 50}),
    Wanted("before", "string", "Go back before this cursor; with 'last'"),
)
_OFFSETS: Final = (
    Wanted("limit", "integer", "How many; offset paging", False, {"default": 3, "minimum": 1, "maximum": 50}),
    Wanted("offset", "integer", "How many to leave out first", False, {"default": 0, "minimum": 0}),
)
_PAGES: Final = (
    Wanted("page", "integer", "Which page, from 1; page paging", False, {"default": 1, "minimum": 1}),
    Wanted("page_size", "integer", "How many on a page", False, {"default": 3, "minimum": 1, "maximum": 50}),
)
_AGGREGATE: Final = (
    Wanted("aggregate", "object", "Summaries by label: count, group_by, sum, avg, min, max"),
    Wanted("include_items", "boolean", "Show the items beside the summaries", False, {"default": False}),
)


_SHARED: Final = (
    Wanted("filter", "object", "Only items whose fields have these values: any field that is no list and no object"),
    Wanted("sort", "object", "An object with 'field' (any field that can be filtered) and 'order', 'asc' or 'desc'"),
    _FIELDS,
)


def _summaries(groupable: list[str], numeric: list[str]) -> dict[str, Any]:
    functions = ["count", "group_by", "sum", "avg", "min", "max"]
    support = {"supported": True, "default_mode": "summary_only", "functions": functions}
    return {"aggregation_support": {**support, "groupable_fields": groupable, "numeric_fields": numeric}}


_EXHIBIT_SUMMARIES: Final = _summaries(["hall", "maker", "on_display"], ["year", "value"])
_LIFECYCLE: Final = {
    "lifecycle": {
        "states": ["running", "completed", "cancelled"],
        "supports_cancel": True,
        "supports_retry": False,
        "progress_reporting": True,
    }
}
_AGENT: Final = Wanted(
    "element_name", "string", "The agent that is supervised", True, {"minLength": 1, "maxLength": 100}
)

OPERATIONS: Final[tuple[Declared, ...]] = (
    Declared(
        "introspect",
        "READ",
        "Discover the operations and types of this server, or search operations by words.",
        (
            Wanted("query", "string", "What to introspect", True, {"enum": ["operations", "types", "search"]}),
            Wanted("name", "string", "An operation, a type, or the words to search for"),
        ),
        ("Introspection", "object"),
        {"query": "operations", "name": "list_exhibits"},
    ),
    Declared(
        "list_exhibits",
        "READ",
        "List the exhibits of the museum with cursors. Presets of fields: minimal (id, title), standard, full.",
        (*_SHARED, *_CURSORS, *_AGGREGATE),
        ("ExhibitPage", "object"),
        {"filter": {"hall": "north"}, "sort": {"field": "year", "order": "desc"}, "fields": "minimal", "first": 2},
        _EXHIBIT_SUMMARIES,
    ),
    Declared(
        "search_exhibits",
        "READ",
        "Search titles and makers for any of some words. Similar to list, but takes free text; cursor paging.",
        (
            Wanted("query", "string", "Words to look for; one that occurs is enough", True, {"minLength": 1}),
            *_SHARED,
            *_CURSORS,
            *_AGGREGATE,
        ),
        ("ExhibitPage", "object"),
        {"query": "bronze mirror", "fields": "minimal", "first": 3},
        _EXHIBIT_SUMMARIES,
    ),
    Declared(
        "get_exhibit",
        "READ",
        "Get one exhibit by its id, with all its fields.",
        (
            _ID,
            _FIELDS,
            Wanted(
                "preset",
                "string",
                "Deprecated: use 'fields' with the name of the preset instead",
                False,
                {"enum": ["minimal", "standard", "full"]},
            ),
        ),
        ("Exhibit", "object"),
        {"exhibit_id": "ex_1"},
    ),
    Declared(
        "list_rooms",
        "READ",
        "List the rooms of the building with floor and seats, in numbered pages.",
        (*_SHARED, *_PAGES),
        ("RoomPage", "object"),
        {"page": 1, "page_size": 2, "sort": {"field": "seats", "order": "asc"}},
    ),
    Declared(
        "list_loans",
        "READ",
        "List what is lent to other houses and until when, with limit and offset.",
        (*_SHARED, *_OFFSETS),
        ("LoanPage", "object"),
        {"limit": 2, "offset": 0, "filter": {"returned": False}},
    ),
    Declared(
        "query_loans",
        "READ",
        "Query loans, as list does, by conditions that must all hold, such as returned true. Offset paging.",
        (
            Wanted(
                "query", "object", "A grammar of conditions: borrower, exhibit_id, due_on, returned, and a value", True
            ),
            *_SHARED,
            *_OFFSETS,
        ),
        ("LoanPage", "object"),
        {"query": {"returned": False}, "sort": {"field": "due_on", "order": "asc"}, "fields": "minimal", "limit": 2},
    ),
    Declared(
        "get_execution",
        "READ",
        "Get the state and progress of one stocktaking.",
        (Wanted("execution_id", "string", "The id of the execution", True),),
        ("Execution", "object"),
        {"execution_id": "run_1"},
    ),
    Declared(
        "create_exhibit",
        "CREATE",
        "Create an exhibit that was acquired. The fields id, accession and created_at are read-only.",
        (*EXHIBIT_FIELDS, _DRY_RUN),
        ("Exhibit", "object"),
        {
            "title": "Clay lamp",
            "year": 120,
            "hall": "north",
            "maker": "Unknown workshop",
            "value": 350.5,
            "on_display": False,
            "acquired_on": "2026-01-20",
            "materials": ["clay"],
            "dimensions": {"height_cm": 6, "width_cm": 11},
        },
    ),
    Declared(
        "update_exhibit",
        "UPDATE",
        "Update fields of an exhibit; null removes an optional one. Read-only: id, accession, created_at.",
        (
            _ID,
            Wanted("input", "object", f"The new values; it may hold {_FIELD_NAMES}", True),
            Wanted("if_match", "string", "The _etag that the exhibit must still have"),
            _DRY_RUN,
        ),
        ("Exhibit", "object"),
        {"exhibit_id": "ex_1", "input": {"on_display": False}},
    ),
    Declared(
        "delete_exhibit",
        "DELETE",
        "Delete an exhibit from the books for good; a person must confirm it.",
        (_ID, _TOKEN, _DRY_RUN),
        ("Deletion", "object"),
        {"exhibit_id": "ex_1"},
    ),
    Declared(
        "execute_inventory",
        "EXECUTE",
        "Execute a stocktaking of a hall, which takes a while and reports its progress.",
        (Wanted("hall", "string", "The hall to count", False, {"enum": HALLS}),),
        ("Execution", "object"),
        {"hall": "north"},
        _LIFECYCLE,
    ),
    Declared(
        "cancel_execution",
        "EXECUTE",
        "Cancel a stocktaking that still runs; one that is over stays as it is.",
        (Wanted("execution_id", "string", "The id of the execution", True),),
        ("Execution", "object"),
        {"execution_id": "run_1"},
    ),
    Declared(
        "execute_agent",
        "EXECUTE",
        "Begin the supervised work of an agent; a person must confirm the start. It pauses after 8 steps.",
        (_AGENT, _TOKEN),
        ("SupervisedRun", "object"),
        {"element_name": "guide"},
    ),
    Declared(
        "record_execution_step",
        "CREATE",
        "Report what a supervised agent intends to do next. Denied: drop_*, delete_all*, rm -rf*.",
        (
            _AGENT,
            Wanted("next_action_hint", "string", "What it intends to do, in words", True, {"minLength": 1}),
            Wanted("step_description", "string", "What it did before"),
            Wanted("outcome", "string", "How that went", False, {"enum": ["success", "failure", "skipped"]}),
            Wanted("findings", "string", "What it saw"),
        ),
        ("SupervisedStep", "object"),
        {"element_name": "guide", "next_action_hint": "read_file on the floor plan"},
    ),
    Declared(
        "complete_execution",
        "EXECUTE",
        "End the supervised work of an agent that is done.",
        (_AGENT,),
        ("SupervisedRun", "object"),
        {"element_name": "guide"},
    ),
    Declared(
        "abort_execution",
        "EXECUTE",
        "Break off the supervised work of an agent.",
        (_AGENT, Wanted("reason", "string", "Why it is broken off")),
        ("SupervisedRun", "object"),
        {"element_name": "guide", "reason": "the visitor left"},
    ),
    Declared(
        "confirm_operation",
        "EXECUTE",
        "Confirm a paused action with the token that a person was shown elsewhere.",
        (
            Wanted("approval_id", "string", "The id of what waits", True),
            Wanted("token", "string", "The token from the person's own channel", True, {"sensitive": True}),
        ),
        ("Approval", "object"),
        {"approval_id": "approval_1", "token": "shown-on-the-desk"},
    ),
    Declared(
        "verify_challenge",
        "CREATE",
        "Submit the code that a person read elsewhere, to lift the block of an agent.",
        (
            Wanted("challenge_id", "string", "The id of the challenge", True),
            Wanted("code", "string", "The code from the person's own channel", True, {"sensitive": True}),
        ),
        ("Verification", "object"),
        {"challenge_id": "challenge_1", "code": "shown-on-the-desk"},
    ),
)
