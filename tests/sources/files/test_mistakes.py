"""Every mistake of a file is told: where, what was expected, what was found, and what to do."""

import re
from typing import Any

import pytest

from headgate.sources.files import definitions
from headgate.sources.files.mistakes import path_of, shown
from tests.sources.files.texts import GET_ITEM, HEAD, changed, file_of, head, mistakes_in, mistakes_in_text, text_of

AT = re.compile(r"(?i)at\s+\S+")
PARAM = "operations.read.0.params.id"
OP = "operations.read[0]"
PATH = f"{OP}.params.id"

TYPE = "SCHEMA_INVALID_TYPE"
MISSING = "SCHEMA_MISSING_FIELD"
NAME = "SCHEMA_INVALID_NAME"
TWICE = "SCHEMA_DUPLICATE_NAME"
REFERENCE = "SCHEMA_UNRESOLVED_REF"
PLUGIN = "PLUGIN_NOT_FOUND"
AUTH = "AUTH_CONFIG_INVALID"
MAPPING = "PROTOCOL_INVALID_MAPPING"


def op(steps: str, value: Any) -> dict[str, Any]:
    """A file whose one operation has a value replaced."""
    return changed(f"operations.read.0.{steps}".rstrip("."), value)


def param(steps: str, value: Any) -> dict[str, Any]:
    """A file whose one parameter has a value replaced."""
    return changed(f"{PARAM}.{steps}".rstrip("."), value)


WRONG: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("no name", head(name=None), "name", MISSING, "Add 'name:'"),
    ("name in capitals", head(name="GitHub"), "name", NAME, "Begin with a letter"),
    ("short name", head(name="x"), "name", NAME, "Begin with a letter"),
    ("long name", head(name="a" * 65), "name", NAME, "Begin with a letter"),
    ("name with markup", head(name="<b>x</b>"), "name", NAME, "Begin with a letter"),
    ("name is a number", head(name=5), "name", TYPE, "quotes"),
    ("another type", head(type="persona"), "type", TYPE, "Choose"),
    ("version is a number", head(version=1.0), "version", TYPE, "in quotes"),
    ("version is short", head(version="1.0"), "version", TYPE, "three numbers"),
    ("empty description", head(description=" "), "description", TYPE, "quotes"),
    ("long description", head(description="x" * 3000), "description", TYPE, "Shorten"),
    ("unknown field", head(opperations={}), "opperations", NAME, "'operations'"),
    ("no target", head(target=None), "target", MISSING, "Add 'target:'"),
    ("target is a text", head(target="https://x"), "target", TYPE, "indented"),
    ("no base url", changed("target", {**HEAD["target"], "base_url": None}), "target.base_url", TYPE, ""),
    (
        "base url missing",
        changed("target", {key: value for key, value in HEAD["target"].items() if key != "base_url"}),
        "target.base_url",
        MISSING,
        "https",
    ),
    (
        "reserved by paging",
        op(
            "",
            {
                **GET_ITEM,
                "params": {"id": {"type": "string", "required": True}, "first": {"type": "integer"}},
                "pagination": {"style": "page"},
            },
        ),
        f"{OP}.params.first",
        TWICE,
        "Rename",
    ),
    (
        "pages of a post",
        op("", {"name": "search_items", "maps_to": "POST /search", "rationale": "x", "pagination": {"style": "page"}}),
        f"{OP}.maps_to",
        MAPPING,
        "Remove",
    ),
    ("example params", op("examples", [{"params": 5}]), f"{OP}.examples[0].params", TYPE, "Write"),
    ("long parameter", op("params." + "p" * 70, {"type": "string"}), f"{OP}.params.{'p' * 61}", NAME, "sent_as"),
    ("plain http", changed("target.base_url", "http://api.example.com"), "target.base_url", TYPE, "localhost"),
    ("slash behind", changed("target.base_url", "https://x.example/"), "target.base_url", TYPE, "'https://x.example'"),
    ("query in url", changed("target.base_url", "https://x.example?a=1"), "target.base_url", TYPE, "'?'"),
    ("no url", changed("target.base_url", "example"), "target.base_url", TYPE, "scheme"),
    ("ftp", changed("target.base_url", "ftp://x.example"), "target.base_url", TYPE, "scheme"),
    ("unknown transport", changed("target.transport", "htpp"), "target.transport", PLUGIN, "'http'"),
    ("unknown protocol", changed("target.protocol", "graphql"), "target.protocol", PLUGIN, "install"),
    ("unknown serialization", changed("target.serialization", "jsn"), "target.serialization", PLUGIN, "'json'"),
    ("plugins that do not fit", changed("target.protocol", "operation"), "target.transport", PLUGIN, "Change"),
    ("unknown target field", changed("target.retries", 3), "target.retries", NAME, "Remove"),
    ("auth without type", head(auth={"token_env": "X"}), "auth.type", AUTH, "Add 'type:'"),
    ("unknown auth", head(auth={"type": "oauth"}), "auth.type", PLUGIN, "Choose"),
    ("unknown auth field", head(auth={"type": "bearer", "token": "X"}), "auth.token", NAME, "Remove"),
    ("key without name", head(auth={"type": "api_key", "key_env": "K"}), "auth", AUTH, "header_name"),
    ("key nowhere", head(auth={"type": "api_key", "header_name": "K", "in": "body"}), "auth", AUTH, "cookie"),
    ("other bearer", head(auth={"type": "bearer", "header": "X-Token"}), "auth", AUTH, "api_key"),
    ("no variable", head(auth={"type": "bearer", "token_env": "my token"}), "auth", AUTH, "variable"),
    ("trust without level", head(trust={"by": "me"}), "trust.level", MISSING, "Add 'level:'"),
    ("unknown trust", head(trust={"level": "certifed"}), "trust.level", TYPE, "'certified'"),
    ("unknown profile", head(profile="crud"), "profile", TYPE, "'crude'"),
    ("operations is a list", head(operations=[GET_ITEM]), "operations", TYPE, "indented"),
    ("no operations", head(operations={"read": []}), "operations", TYPE, "Add one"),
    ("unknown category", head(operations={"reed": [GET_ITEM]}), "operations.reed", NAME, "'read'"),
    ("category is a mapping", head(operations={"read": GET_ITEM}), "operations.read", TYPE, "'- '"),
    ("operation is a text", head(operations={"read": ["x"]}), OP, TYPE, "indented"),
    ("no operation name", op("", {"maps_to": "GET /x"}), f"{OP}.name", MISSING, "Add"),
    ("no mapping", op("", {"name": "get_x"}), f"{OP}.maps_to", MISSING, "Add"),
    ("camel operation", op("name", "getItem"), f"{OP}.name", NAME, "get_book"),
    ("long operation", op("name", "g" * 65), f"{OP}.name", NAME, "get_book"),
    ("reserved operation", op("name", "introspect"), f"{OP}.name", NAME, "another"),
    ("unknown operation field", op("parms", {}), f"{OP}.parms", NAME, "'params'"),
    ("unknown method", op("maps_to", "FETCH /items/{id}"), f"{OP}.maps_to", MAPPING, "GET"),
    ("no path", op("maps_to", "GET"), f"{OP}.maps_to", MAPPING, "GET"),
    ("relative path", op("maps_to", "GET items/{id}"), f"{OP}.maps_to", MAPPING, "GET"),
    ("path with query", op("maps_to", "GET /items/{id}?a=1"), f"{OP}.maps_to", MAPPING, "GET"),
    ("path that goes up", op("maps_to", "GET /a/../{id}"), f"{OP}.maps_to", MAPPING, "GET"),
    ("open brace", op("maps_to", "GET /items/{id"), f"{OP}.maps_to", MAPPING, "GET"),
    ("unknown placeholder", op("maps_to", "GET /items/{key}"), f"{OP}.maps_to", REFERENCE, "Add 'key"),
    ("optional placeholder", param("required", False), f"{OP}.maps_to", TYPE, "required: true"),
    ("read that deletes", op("maps_to", "DELETE /items/{id}"), f"{OP}.maps_to", MAPPING, "category"),
    ("read that posts", op("maps_to", "POST /items/{id}"), f"{OP}.maps_to", MAPPING, "rationale"),
    ("read named like a change", op("name", "delete_item"), OP, TYPE, "rationale"),
    ("parameter is a text", param("", "string"), PATH, TYPE, "indented"),
    ("no type", param("", {"required": True}), f"{PATH}.type", MISSING, "string"),
    ("type by another name", param("type", "int"), f"{PATH}.type", TYPE, "'integer'"),
    ("type misspelt", param("type", "strng"), f"{PATH}.type", TYPE, "'string'"),
    ("keyword misspelt", param("requird", True), f"{PATH}.requird", NAME, "'required'"),
    ("required is a text", param("required", "yes"), f"{PATH}.required", TYPE, "true"),
    ("minimum is a text", param("minimum", "1"), f"{PATH}.minimum", TYPE, "Correct"),
    ("enum is a text", param("enum", "a"), f"{PATH}.enum", TYPE, "Correct"),
    ("pattern is none", param("pattern", "("), f"{PATH}.pattern", TYPE, "Correct"),
    (
        "items are odd",
        param("", {"type": "array", "required": True, "items": {"type": 3}}),
        f"{PATH}.items.type",
        TYPE,
        "Choose",
    ),
    ("default does not fit", param("default", 5), f"{PATH}.default", TYPE, "default"),
    ("schema beside type", param("schema", {}), f"{PATH}.type", TYPE, "'schema'"),
    ("place is odd", param("in", "cookie"), f"{PATH}.in", TYPE, "Choose"),
    ("reserved parameter", op("params.operation", {"type": "string"}), f"{OP}.params.operation", NAME, "sent_as"),
    ("two of one name", op("params.ID", {"type": "string"}), f"{OP}.params.ID", TWICE, "sent_as"),
    (
        "parameter with a control",
        op("params", {"id": {"type": "string", "required": True}, "a\x1b[31m": {"type": "string"}}),
        f"{OP}.params.a\N{REPLACEMENT CHARACTER}[31m",
        NAME,
        "sent_as",
    ),
    ("removal date", param("deprecated", {"removal_date": "soon"}), f"{PATH}.deprecated.removal_date", TYPE, "year"),
    (
        "reference to nowhere",
        param("", {"$ref": "#/schemas/Id", "required": True}),
        f"{PATH}.$ref",
        REFERENCE,
        "below 'schemas'",
    ),
    (
        "reference outside",
        param("", {"$ref": "https://x.example/a.json", "required": True}),
        f"{PATH}.$ref",
        REFERENCE,
        "below 'schemas'",
    ),
    ("unknown danger", op("danger_level", "save"), f"{OP}.danger_level", TYPE, "'safe'"),
    (
        "danger twice",
        op("", {**GET_ITEM, "danger_level": "safe", "danger": {"level": "safe"}}),
        f"{OP}.danger_level",
        TYPE,
        "Keep",
    ),
    ("danger without level", op("danger", {"reasons": ["x"]}), f"{OP}.danger.level", MISSING, "Add"),
    (
        "long cooldown",
        op("danger", {"level": "safe", "cooldown_seconds": 999}),
        f"{OP}.danger.cooldown_seconds",
        TYPE,
        "quotes",
    ),
    ("message names nothing", op("danger", {"level": "safe", "confirmation_message": "{x}?"}), OP, TYPE, "'{x}'"),
    ("example without params", op("examples", [{"id": 1}]), f"{OP}.examples[0].params", MISSING, "Add"),
    ("example that is refused", op("examples", [{"params": {"id": 5}}]), OP, TYPE, "example"),
    ("unknown paging style", op("pagination", {"style": "pages"}), f"{OP}.pagination.style", TYPE, "'page'"),
    ("paging without style", op("pagination", {"max_limit": 5}), f"{OP}.pagination.style", MISSING, "Add"),
    (
        "page above the largest",
        op("pagination", {"style": "page", "default_limit": 9, "max_limit": 5}),
        f"{OP}.pagination.default_limit",
        TYPE,
        "Lower",
    ),
    ("fields without support", op("default_fields", ["id"]), f"{OP}.default_fields", TYPE, "Add"),
    ("rules that are none", op("rules", {"anyOf": 5}), f"{OP}.rules.anyOf", TYPE, "Correct"),
    ("background of a read", op("background", True), OP, TYPE, "execute"),
    ("background is odd", op("background", {"retries": -1}), f"{OP}.background", TYPE, "Correct"),
    (
        "unknown endpoint limit",
        head(rate_limits={"api_limits": [{"scope": "endpoint", "endpoint": "POST /x", "limit": 1, "window": "day"}]}),
        "rate_limits.api_limits[0].endpoint",
        REFERENCE,
        "maps_to",
    ),
    (
        "response is odd",
        op("response", {"type": "object", "properties": 3}),
        f"{OP}.response.properties",
        TYPE,
        "Correct",
    ),
]


@pytest.mark.parametrize(("values", "path", "code", "fix"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_mistake_has_its_place_its_code_and_the_way_out(
    values: dict[str, Any], path: str, code: str, fix: str
) -> None:
    found = mistakes_in(values)
    told = [one for one in found if one.path == path and one.code == code]
    assert told, [(one.path, one.code) for one in found]
    assert fix in told[0].fix
    assert told[0].line
    assert told[0].expected
    assert told[0].found


@pytest.mark.parametrize("values", [row[1] for row in WRONG], ids=[row[0] for row in WRONG])
def test_no_message_can_be_taken_for_a_stack_trace(values: dict[str, Any]) -> None:
    for one in mistakes_in(values):
        if one.path != "operations.read[0]":  # where the words are those of the operation itself
            assert not AT.search(one.sentence), one.sentence


def test_the_line_is_the_one_in_the_file() -> None:
    text = text_of(changed(f"{PARAM}.type", "int"))
    expected = next(number for number, line in enumerate(text.split("\n"), 1) if "type: int" in line)
    assert [one.line for one in mistakes_in_text(text)] == [expected]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    broken = changed(f"{PARAM}.type", "int", changed("version", 1, changed("target.transport", "pigeon")))
    broken["operations"]["read"].append({"name": "get_item", "maps_to": "GET /x"})
    broken["operations"]["read"].append({"name": "Bad", "maps_to": "GETS /x"})
    found = mistakes_in(broken)
    assert [one.path for one in found] == [
        "version",
        "target.transport",
        "operations.read[0].params.id.type",
        "operations.read[1].name",
        "operations.read[2].name",
    ]


def test_a_very_wrong_file_is_told_in_part() -> None:
    many = [{"name": f"Bad{n}", "maps_to": "GET /x"} for n in range(200)]
    found = mistakes_in(head(operations={"read": many}))
    assert len(found) == 200


def test_more_operations_than_can_be_served_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "_MOST_OPERATIONS", 1)
    more = {**GET_ITEM, "name": "get_more"}
    (found,) = mistakes_in(head(operations={"read": [GET_ITEM, more]}))
    assert (found.path, found.found) == ("operations", "2 operations")


def test_two_operations_of_one_name_are_told_across_categories() -> None:
    create = {"name": "get_item", "maps_to": "POST /items", "description": "x"}
    found = mistakes_in(head(operations={"read": [GET_ITEM], "create": [create]}))
    assert [(one.path, one.code) for one in found] == [("operations.create[0].name", "SCHEMA_DUPLICATE_NAME")]
    assert "operations.read[0]" in found[0].found


def test_a_schema_that_stands_for_itself_is_refused() -> None:
    ring = {"A": {"$ref": "#/schemas/B"}, "B": {"anyOf": [{"$ref": "#/schemas/A"}, {"type": "null"}]}}
    found = mistakes_in(head(schemas=ring))
    assert [(one.path, one.code) for one in found] == [
        ("schemas.A", "SCHEMA_UNRESOLVED_REF"),
        ("schemas.B", "SCHEMA_UNRESOLVED_REF"),
    ]


def test_a_schema_may_contain_itself() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/schemas/Tree"}}}
    values = head(schemas={"Tree": tree})
    values["operations"]["read"][0]["params"]["tree"] = {"$ref": "#/schemas/Tree"}
    entry = file_of(values).entries[0]
    assert entry.definitions == {"Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}}


def test_a_mistake_is_told_to_programs_too() -> None:
    wire = mistakes_in(head(name="X"))[0].wire()
    assert wire == {
        "code": "SCHEMA_INVALID_NAME",
        "path": "name",
        "expected": "2 to 64 lower-case letters, digits and hyphens, such as 'github-api'",
        "found": "'X'",
        "fix": "Begin with a letter, and do not end with a hyphen.",
        "line": 2,
    }


def test_a_path_is_written_as_people_do_and_has_an_end() -> None:
    assert path_of(("operations", "read", 2, "params", "id", "type")) == "operations.read[2].params.id.type"
    assert path_of(()) == ""
    assert len(path_of(("x" * 60,) * 10)) < 250


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"),
        (True, "true"),
        (3, "the number 3"),
        ("", "an empty text"),
        ("it's\n", "'it\N{REPLACEMENT CHARACTER}s\N{REPLACEMENT CHARACTER}'"),
        ({"a": 1}, "a mapping"),
        ([1], "a list"),
    ],
)
def test_a_value_is_shown_on_one_line(value: object, words: str) -> None:
    assert shown(value) == words


def test_a_long_value_is_cut() -> None:
    assert len(shown("x" * 10_000)) < 80
    assert len(shown(10**500)) < 100
