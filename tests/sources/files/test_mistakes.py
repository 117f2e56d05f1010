"""Every mistake of a file is told: where, what was expected, what was found, and what to do."""

import re
from typing import Any

import pytest

from headgate.sources.files.mistakes import path_of, shown
from tests.sources.files.texts import GET_ITEM, HEAD, changed, file_of, head, mistakes_in, mistakes_in_text, text_of

AT = re.compile(r"(?i)at\s+\S+")
PARAM = "operations.read.0.params.id"
PATH = "operations.read[0].params.id"

WRONG: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("no name", head(name=None), "name", "SCHEMA_MISSING_FIELD", "Add 'name:'"),
    ("name in capitals", head(name="GitHub"), "name", "SCHEMA_INVALID_NAME", "Begin with a letter"),
    ("short name", head(name="x"), "name", "SCHEMA_INVALID_NAME", "Begin with a letter"),
    ("long name", head(name="a" * 65), "name", "SCHEMA_INVALID_NAME", "Begin with a letter"),
    ("name with markup", head(name="<b>x</b>"), "name", "SCHEMA_INVALID_NAME", "Begin with a letter"),
    ("name is a number", head(name=5), "name", "SCHEMA_INVALID_TYPE", "quotes"),
    ("another type", head(type="persona"), "type", "SCHEMA_INVALID_TYPE", "Choose"),
    ("version is a number", head(version=1.0), "version", "SCHEMA_INVALID_TYPE", "in quotes"),
    ("version is short", head(version="1.0"), "version", "SCHEMA_INVALID_TYPE", "three numbers"),
    ("empty description", head(description=" "), "description", "SCHEMA_INVALID_TYPE", "quotes"),
    ("long description", head(description="x" * 3000), "description", "SCHEMA_INVALID_TYPE", "Shorten"),
    ("unknown field", head(opperations={}), "opperations", "SCHEMA_INVALID_NAME", "'operations'"),
    ("no target", head(target=None), "target", "SCHEMA_MISSING_FIELD", "Add 'target:'"),
    ("target is a text", head(target="https://x"), "target", "SCHEMA_INVALID_TYPE", "indented"),
    ("no base url", changed("target", {**HEAD["target"], "base_url": None}), "target.base_url", "SCHEMA_INVALID_TYPE", ""),
    ("plain http", changed("target.base_url", "http://api.example.com"), "target.base_url", "SCHEMA_INVALID_TYPE", "localhost"),
    ("slash behind", changed("target.base_url", "https://x.example/"), "target.base_url", "SCHEMA_INVALID_TYPE", "'https://x.example'"),
    ("query in url", changed("target.base_url", "https://x.example?a=1"), "target.base_url", "SCHEMA_INVALID_TYPE", "'?'"),
    ("no url", changed("target.base_url", "example"), "target.base_url", "SCHEMA_INVALID_TYPE", "scheme"),
    ("ftp", changed("target.base_url", "ftp://x.example"), "target.base_url", "SCHEMA_INVALID_TYPE", "scheme"),
    ("unknown transport", changed("target.transport", "htpp"), "target.transport", "PLUGIN_NOT_FOUND", "'http'"),
    ("unknown protocol", changed("target.protocol", "graphql"), "target.protocol", "PLUGIN_NOT_FOUND", "install"),
    ("unknown serialization", changed("target.serialization", "jsn"), "target.serialization", "PLUGIN_NOT_FOUND", "'json'"),
    ("plugins that do not fit", changed("target.protocol", "operation"), "target.transport", "PLUGIN_NOT_FOUND", "Change"),
    ("unknown target field", changed("target.retries", 3), "target.retries", "SCHEMA_INVALID_NAME", "Remove"),
    ("auth without type", head(auth={"token_env": "X"}), "auth.type", "AUTH_CONFIG_INVALID", "Add 'type:'"),
    ("unknown auth", head(auth={"type": "oauth"}), "auth.type", "PLUGIN_NOT_FOUND", "Choose"),
    ("unknown auth field", head(auth={"type": "bearer", "token": "X"}), "auth.token", "SCHEMA_INVALID_NAME", "Remove"),
    ("key without name", head(auth={"type": "api_key", "key_env": "K"}), "auth", "AUTH_CONFIG_INVALID", "header_name"),
    ("key nowhere", head(auth={"type": "api_key", "header_name": "K", "in": "body"}), "auth", "AUTH_CONFIG_INVALID", "cookie"),
    ("other bearer", head(auth={"type": "bearer", "header": "X-Token"}), "auth", "AUTH_CONFIG_INVALID", "api_key"),
    ("no variable", head(auth={"type": "bearer", "token_env": "my token"}), "auth", "AUTH_CONFIG_INVALID", "variable"),
    ("trust without level", head(trust={"by": "me"}), "trust.level", "SCHEMA_MISSING_FIELD", "Add 'level:'"),
    ("unknown trust", head(trust={"level": "certifed"}), "trust.level", "SCHEMA_INVALID_TYPE", "'certified'"),
    ("unknown profile", head(profile="crud"), "profile", "SCHEMA_INVALID_TYPE", "'crude'"),
    ("operations is a list", head(operations=[GET_ITEM]), "operations", "SCHEMA_INVALID_TYPE", "indented"),
    ("no operations", head(operations={"read": []}), "operations", "SCHEMA_INVALID_TYPE", "Add one"),
    ("unknown category", head(operations={"reed": [GET_ITEM]}), "operations.reed", "SCHEMA_INVALID_NAME", "'read'"),
    ("category is a mapping", head(operations={"read": GET_ITEM}), "operations.read", "SCHEMA_INVALID_TYPE", "'- '"),
    ("operation is a text", head(operations={"read": ["x"]}), "operations.read[0]", "SCHEMA_INVALID_TYPE", "indented"),
    ("no operation name", changed("operations.read.0", {"maps_to": "GET /x"}), "operations.read[0].name", "SCHEMA_MISSING_FIELD", "Add"),
    ("no mapping", changed("operations.read.0", {"name": "get_x"}), "operations.read[0].maps_to", "SCHEMA_MISSING_FIELD", "Add"),
    ("camel operation", changed("operations.read.0.name", "getItem"), "operations.read[0].name", "SCHEMA_INVALID_NAME", "get_book"),
    ("long operation", changed("operations.read.0.name", "g" * 65), "operations.read[0].name", "SCHEMA_INVALID_NAME", "get_book"),
    ("reserved operation", changed("operations.read.0.name", "introspect"), "operations.read[0].name", "SCHEMA_INVALID_NAME", "another"),
    ("unknown operation field", changed("operations.read.0.parms", {}), "operations.read[0].parms", "SCHEMA_INVALID_NAME", "'params'"),
    ("unknown method", changed("operations.read.0.maps_to", "FETCH /items/{id}"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "GET"),
    ("no path", changed("operations.read.0.maps_to", "GET"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "GET"),
    ("relative path", changed("operations.read.0.maps_to", "GET items/{id}"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "GET"),
    ("path with query", changed("operations.read.0.maps_to", "GET /items/{id}?a=1"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "GET"),
    ("path that goes up", changed("operations.read.0.maps_to", "GET /a/../{id}"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "GET"),
    ("open brace", changed("operations.read.0.maps_to", "GET /items/{id"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "GET"),
    ("unknown placeholder", changed("operations.read.0.maps_to", "GET /items/{key}"), "operations.read[0].maps_to", "SCHEMA_UNRESOLVED_REF", "Add 'key"),
    ("optional placeholder", changed(f"{PARAM}.required", False), "operations.read[0].maps_to", "SCHEMA_INVALID_TYPE", "required: true"),
    ("read that deletes", changed("operations.read.0.maps_to", "DELETE /items/{id}"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "category"),
    ("read that posts", changed("operations.read.0.maps_to", "POST /items/{id}"), "operations.read[0].maps_to", "PROTOCOL_INVALID_MAPPING", "rationale"),
    ("read named like a change", changed("operations.read.0.name", "delete_item"), "operations.read[0]", "SCHEMA_INVALID_TYPE", "rationale"),
    ("parameter is a text", changed(PARAM, "string"), PATH, "SCHEMA_INVALID_TYPE", "indented"),
    ("no type", changed(PARAM, {"required": True}), f"{PATH}.type", "SCHEMA_MISSING_FIELD", "string"),
    ("type by another name", changed(f"{PARAM}.type", "int"), f"{PATH}.type", "SCHEMA_INVALID_TYPE", "'integer'"),
    ("type misspelt", changed(f"{PARAM}.type", "strng"), f"{PATH}.type", "SCHEMA_INVALID_TYPE", "'string'"),
    ("keyword misspelt", changed(f"{PARAM}.requird", True), f"{PATH}.requird", "SCHEMA_INVALID_NAME", "'required'"),
    ("required is a text", changed(f"{PARAM}.required", "yes"), f"{PATH}.required", "SCHEMA_INVALID_TYPE", "true"),
    ("minimum is a text", changed(f"{PARAM}.minimum", "1"), f"{PATH}.minimum", "SCHEMA_INVALID_TYPE", "Correct"),
    ("enum is a text", changed(f"{PARAM}.enum", "a"), f"{PATH}.enum", "SCHEMA_INVALID_TYPE", "Correct"),
    ("pattern is none", changed(f"{PARAM}.pattern", "("), f"{PATH}.pattern", "SCHEMA_INVALID_TYPE", "Correct"),
    ("items are odd", changed(PARAM, {"type": "array", "required": True, "items": {"type": 3}}), f"{PATH}.items.type", "SCHEMA_INVALID_TYPE", "Choose"),
    ("default does not fit", changed(f"{PARAM}.default", 5), f"{PATH}.default", "SCHEMA_INVALID_TYPE", "default"),
    ("schema beside type", changed(f"{PARAM}.schema", {}), f"{PATH}.type", "SCHEMA_INVALID_TYPE", "'schema'"),
    ("place is odd", changed(f"{PARAM}.in", "cookie"), f"{PATH}.in", "SCHEMA_INVALID_TYPE", "Choose"),
    ("reserved parameter", changed("operations.read.0.params.operation", {"type": "string"}), "operations.read[0].params.operation", "SCHEMA_INVALID_NAME", "sent_as"),
    ("two of one name", changed("operations.read.0.params.ID", {"type": "string"}), "operations.read[0].params.ID", "SCHEMA_DUPLICATE_NAME", "sent_as"),
    ("parameter with a control", changed("operations.read.0.params", {"id": {"type": "string", "required": True}, "a\x1b[31m": {"type": "string"}}), "operations.read[0].params.a\N{REPLACEMENT CHARACTER}[31m", "SCHEMA_INVALID_NAME", "sent_as"),
    ("removal date", changed(f"{PARAM}.deprecated", {"removal_date": "soon"}), f"{PATH}.deprecated.removal_date", "SCHEMA_INVALID_TYPE", "year"),
    ("reference to nowhere", changed(PARAM, {"$ref": "#/schemas/Id", "required": True}), f"{PATH}.$ref", "SCHEMA_UNRESOLVED_REF", "below 'schemas'"),
    ("reference outside", changed(PARAM, {"$ref": "https://x.example/a.json", "required": True}), f"{PATH}.$ref", "SCHEMA_UNRESOLVED_REF", "below 'schemas'"),
    ("unknown danger", changed("operations.read.0.danger_level", "save"), "operations.read[0].danger_level", "SCHEMA_INVALID_TYPE", "'safe'"),
    ("danger twice", changed("operations.read.0", {**GET_ITEM, "danger_level": "safe", "danger": {"level": "safe"}}), "operations.read[0].danger_level", "SCHEMA_INVALID_TYPE", "Keep"),
    ("danger without level", changed("operations.read.0.danger", {"reasons": ["x"]}), "operations.read[0].danger.level", "SCHEMA_MISSING_FIELD", "Add"),
    ("long cooldown", changed("operations.read.0.danger", {"level": "safe", "cooldown_seconds": 999}), "operations.read[0].danger.cooldown_seconds", "SCHEMA_INVALID_TYPE", "quotes"),
    ("message names nothing", changed("operations.read.0.danger", {"level": "safe", "confirmation_message": "{x}?"}), "operations.read[0]", "SCHEMA_INVALID_TYPE", "'{x}'"),
    ("example without params", changed("operations.read.0.examples", [{"id": 1}]), "operations.read[0].examples[0].params", "SCHEMA_MISSING_FIELD", "Add"),
    ("example that is refused", changed("operations.read.0.examples", [{"params": {"id": 5}}]), "operations.read[0]", "SCHEMA_INVALID_TYPE", "example"),
    ("unknown paging style", changed("operations.read.0.pagination", {"style": "pages"}), "operations.read[0].pagination.style", "SCHEMA_INVALID_TYPE", "'page'"),
    ("paging without style", changed("operations.read.0.pagination", {"max_limit": 5}), "operations.read[0].pagination.style", "SCHEMA_MISSING_FIELD", "Add"),
    ("page above the largest", changed("operations.read.0.pagination", {"style": "page", "default_limit": 9, "max_limit": 5}), "operations.read[0].pagination.default_limit", "SCHEMA_INVALID_TYPE", "Lower"),
    ("fields without support", changed("operations.read.0.default_fields", ["id"]), "operations.read[0].default_fields", "SCHEMA_INVALID_TYPE", "Add"),
    ("rules that are none", changed("operations.read.0.rules", {"anyOf": 5}), "operations.read[0].rules.anyOf", "SCHEMA_INVALID_TYPE", "Correct"),
    ("background of a read", changed("operations.read.0.background", True), "operations.read[0]", "SCHEMA_INVALID_TYPE", "execute"),
    ("background is odd", changed("operations.read.0.background", {"retries": -1}), "operations.read[0].background", "SCHEMA_INVALID_TYPE", "Correct"),
    ("unknown endpoint limit", head(rate_limits={"api_limits": [{"scope": "endpoint", "endpoint": "POST /x", "limit": 1, "window": "day"}]}), "rate_limits.api_limits[0].endpoint", "SCHEMA_UNRESOLVED_REF", "maps_to"),
    ("response is odd", changed("operations.read.0.response", {"type": "object", "properties": 3}), "operations.read[0].response.properties", "SCHEMA_INVALID_TYPE", "Correct"),
]  # fmt: skip


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
