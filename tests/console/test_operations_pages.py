"""The explorer in the console: operations are found, described, and tried with a form; rules count there too."""

import re
from typing import Any

import httpx2
import pytest

from headgate import Adapter
from headgate.console.pages.operations import Field, _field, _read
from tests.console.desks import PERSON, Browser, desk, dumped, text_of

pytestmark = pytest.mark.anyio


def field_of(page: httpx2.Response, name: str) -> str:
    """The markup of one field of the form."""
    found = re.search(rf'<(?:input|select|textarea)[^>]*name="param\.{name}".*?(?=<div|</form)', page.text, re.DOTALL)
    assert found, page.text
    return found[0]


async def tried(browser: Browser, operation: str, **params: str) -> httpx2.Response:
    """The page after the form was sent."""
    token = {"token": params.pop("token")} if "token" in params else {}
    form = {f"param.{name}": value for name, value in params.items()}
    return await browser.post(f"/operations/{operation}", {**form, **token})


async def test_all_operations_are_listed_and_some_are_found() -> None:
    async with desk() as at:
        browser = await at.operator()
        listed = (await browser.get("/operations")).text
        for name in at.engine.introspector.operations:
            assert f'href="/operations/{name}"' in listed
        found = await browser.get("/operations?search=label")
        assert 'href="/operations/create_label"' in found.text
        assert 'href="/operations/update_item"' not in found.text
        assert 'value="label"' in found.text
        nothing = await browser.get("/operations?search=zzzzqqqq")
        assert "Nothing fits." in text_of(nothing)
        assert len(await at.audit()) == 1, "reading about them leaves no trace"


@pytest.mark.parametrize("words", ["<script>alert(1)</script>", "%00", "a" * 5000, "%ff", "\u202e", "%20"])
async def test_odd_words_find_nothing_or_something_and_break_nothing(words: str) -> None:
    async with desk() as at:
        page = await (await at.operator()).get(f"/operations?search={words}")
        assert page.status_code == 200
        assert "<script>alert" not in page.text


@pytest.mark.parametrize("name", ["nothing", "%00", "<b>", "introspect%20", "a" * 5000, "..."])
async def test_an_operation_that_does_not_exist_is_missing(name: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        assert (await browser.get(f"/operations/{name}")).status_code == 404
        assert (await browser.post(f"/operations/{name}")).status_code == 404


async def test_the_form_has_a_field_of_the_right_kind_for_each_parameter() -> None:
    async with desk() as at:
        browser = await at.operator()
        page = await browser.get("/operations/create_label")
        assert "Print a label." in text_of(page)
        assert "What stands on it." in text_of(page)
        assert field_of(page, "text").startswith("<input")
        assert "decimal" not in field_of(page, "text")
        assert 'inputmode="decimal"' in field_of(page, "count")
        assert 'inputmode="decimal"' in field_of(page, "share")
        for name, choices in {
            "urgent": ["true", "false"],
            "colour": ["red", "green"],
            "size": ["1", "2", "3"],
            "dry_run": ["true", "false"],
        }.items():
            assert re.findall(r"<option[^>]*>(\w+)</option>", field_of(page, name))[-len(choices) :] == choices
        assert field_of(page, "tags").startswith("<textarea")
        assert field_of(page, "note").startswith("<input"), "a text that may be missing is still a text"
        assert field_of(page, "extra").startswith("<textarea")
        assert page.text.count("needed") >= 2
        hidden = await browser.get("/operations/delete_account")
        assert 'type="password"' in field_of(hidden, "password")
        assert 'name="param.confirmation_token"' not in hidden.text
        assert "It takes no parameters." in text_of(await browser.get("/operations/get_nothing"))


async def test_what_was_typed_is_sent_with_the_right_types() -> None:
    async with desk() as at:
        browser = await at.operator()
        page = await tried(
            browser,
            "create_label",
            text="123",
            count="3",
            share="0.25",
            urgent="true",
            colour="green",
            size="2",
            tags='["a", "b"]',
            note="7",
            extra='{"x": [1, null]}',
        )
        assert page.status_code == 200
        assert at.made == [
            {
                "text": "123",
                "count": 3,
                "share": 0.25,
                "urgent": True,
                "colour": "green",
                "size": 2,
                "tags": ["a", "b"],
                "note": "7",
                "extra": {"x": [1, None]},
            }
        ]
        assert '"printed": 3' in text_of(page)
        assert 'value="123"' in page.text, "what was typed stays in the form"
        assert "<option selected>green</option>" in page.text
        at.made.clear()
        await tried(browser, "create_label", text="a", count="1", share="", urgent="", unknown="x", extra="plain words")
        [made] = at.made
        assert isinstance(made, dict)
        assert (made["share"], made["urgent"], made["extra"]) == (0.5, False, "plain words"), (
            "what is empty is not sent"
        )


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"count": "three"}, "'count' must be a number."),
        ({"count": "true"}, "'count' must be a number."),
        ({"count": '"3"'}, "'count' must be a number."),
        ({"count": "NaN"}, "'count' must be a number."),
        ({"count": "0x10"}, "'count' must be a number."),
        ({"count": "9" * 5000}, "'count' must be a number."),
        ({"count": "[" * 100_000}, "'count' must be a number."),
        ({"tags": '["a"'}, "'tags' must be JSON, such as {\"a\": 1} or [1, 2]: look into line 1, column 5."),
        ({"tags": "[NaN]"}, "'tags' must be JSON"),
        ({"tags": ' {"a": }'}, "'tags' must be JSON"),
        ({"tags": '"a'}, "'tags' must be JSON"),
        ({"tags": "[" * 100_000}, "'tags' must be JSON"),
    ],
    ids=lambda one: str(one)[:40],
)
async def test_what_cannot_be_read_is_told_and_nothing_is_sent(typed: dict[str, str], words: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        before = await dumped(at.store)
        page = await tried(browser, "create_label", **{"text": "kept", "count": "1", **typed})
        assert page.status_code == 422
        assert words in text_of(page)
        assert 'value="kept"' in page.text
        assert at.made == []
        assert await dumped(at.store) == before


@pytest.mark.parametrize(
    "typed",
    [
        {"colour": "blue"},
        {"size": "7"},
        {"urgent": "maybe"},
        {"text": ""},
        {"tags": "plain"},
        {"count": "1.5"},
        {"extra": '"\\ud800"'},
        {"count": "1e999"},
    ],
    ids=str,
)
async def test_what_the_server_does_not_take_is_answered_by_the_server(typed: dict[str, str]) -> None:
    async with desk() as at:
        browser = await at.operator()
        page = await tried(browser, "create_label", **{"text": "a", "count": "1", **typed})
        assert page.status_code == 200
        assert "VALIDATION_" in page.text or "MISSING" in page.text
        assert at.made == []


async def test_a_hidden_value_is_sent_and_not_shown() -> None:
    async with desk() as at:
        browser = await at.operator()
        page = await tried(browser, "delete_account", name="bo", password="tops3cret")  # noqa: S106
        assert "tops3cret" not in text_of(page)
        assert '"password": "***"' in text_of(page)
        assert 'type="password"' in field_of(page, "password")


async def test_what_must_be_confirmed_is_confirmed_in_the_same_sign_in_alone() -> None:
    rules = PERSON.replace('by = "person"\n', "")
    async with desk(rules) as at:
        ana, bo = await at.operator("ana"), await at.operator("ana")
        asked = await tried(ana, "delete_label", number="5")
        assert "CONFIRMATION_REQUIRED" in asked.text
        assert at.made == []
        found = re.search(r'name="token" value="(conf_[\w-]+)"', asked.text)
        assert found
        other = await tried(bo, "delete_label", number="5", token=found[1])
        assert "TOKEN_INVALID" in other.text, "not even the same person in another browser"
        changed = await tried(ana, "delete_label", number="6", token=found[1])
        assert "TOKEN_" in changed.text
        assert at.made == []
        done = await tried(ana, "delete_label", number="5", token=f" {found[1]} ")
        assert '"gone"' in text_of(done)
        assert at.made == ["delete 5"]
        again = await tried(ana, "delete_label", number="5", token=found[1])
        assert "TOKEN_ALREADY_USED" in again.text


async def test_what_a_person_must_approve_is_approved_on_its_page_first() -> None:
    async with desk() as at:
        browser = await at.operator()
        asked = await tried(browser, "delete_label", number="5")
        found = re.search(r'name="token" value="(appr_\w+)"', asked.text)
        assert found
        assert f'href="/approvals/{found[1]}"' in asked.text
        early = await tried(browser, "delete_label", number="5", token=found[1])
        assert "still waits for a person" in text_of(early)
        assert (await browser.post(f"/approvals/{found[1]}/approve")).status_code == 303
        done = await tried(browser, "delete_label", number="5", token=found[1])
        assert '"gone"' in text_of(done)
        assert [one.caller for one in await at.audit() if one.event == "executed"] == [
            '["console:ana","headgate console"]'
        ]


async def test_rules_count_for_operators_too() -> None:
    rules = f"{PERSON}\n[[rule]]\nname = 'never'\ndecision = 'deny'\noperations = ['create_label']\nreason = 'closed'\n"
    async with desk(rules) as at:
        page = await tried(await at.operator(), "create_label", text="a", count="1")
        assert "PERMISSION_DENIED" in page.text
        assert at.made == []


async def test_an_answer_that_breaks_is_shown_as_an_error() -> None:
    async with desk() as at:
        browser = await at.operator()
        page = await tried(browser, "delete_old", before="never", dry_run="true")
        assert page.status_code == 200
        assert "INTERNAL_ERROR" in page.text
        assert "Traceback" not in page.text


async def test_a_very_long_answer_is_cut_and_says_so() -> None:
    adapter = Adapter("long")

    @adapter.read
    def get_all() -> str:
        """Everything."""
        return "x" * 1_000_000

    async with desk(adapter=adapter) as at:
        page = await tried(await at.operator(), "get_all")
        assert "NOT ALL IS SHOWN" in page.text
        assert len(page.text) < 100_000


async def test_operators_are_not_counted_among_the_callers() -> None:
    async with desk() as at:
        browser = await at.operator()
        await browser.get("/operations")
        await tried(browser, "create_label", text="a", count="1")
        assert sum(minute.requests for minute in at.metrics.minutes()) == 0
        assert at.metrics.sessions == 0
        await at.call("get_nothing")
        assert sum(minute.requests for minute in at.metrics.minutes()) == 1


# fields


def made(**parameter: Any) -> Field:
    return _field({"name": "a", **parameter}, {})


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("string", "text"),
        ("string | null", "text"),
        ("null | string", "text"),
        ("string | number", "text"),
        ("integer", "number"),
        ("number", "number"),
        ("integer | null", "number"),
        ("integer | number", "number"),
        ("boolean", "choice"),
        ("boolean | null", "choice"),
        ("boolean | string", "json"),
        ("array", "json"),
        ("array | null", "json"),
        ("object", "json"),
        ("any", "json"),
        ("Address | null", "json"),
        ("string | object", "json"),
        (None, "json"),
    ],
)
def test_the_kind_of_a_field_follows_from_the_type(said: str | None, kind: str) -> None:
    assert made(type=said).kind == kind


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        ({"type": "string", "enum": ["true", "1"]}, "true", "true"),
        ({"type": "string", "enum": ["true", "1"]}, "1", "1"),
        ({"type": "integer", "enum": [1, 2]}, "1", 1),
        ({"type": "number", "enum": [0.5]}, "0.5", 0.5),
        ({"type": "boolean"}, "false", False),
        ({"type": "string | null", "enum": ["a", None]}, "a", "a"),
        ({"type": "any", "enum": [{"a": 1}]}, '{"a": 1}', {"a": 1}),
        ({"type": "integer"}, "-3", -3),
        ({"type": "integer"}, str(2**70), 2**70),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "string"}, "  a  ", "  a  "),
        ({"type": "any"}, "null", None),
        ({"type": "any"}, "12", 12),
        ({"type": "any"}, "12 Main Street", "12 Main Street"),
        ({"type": "any"}, "-x", "-x"),
        ({"type": "array"}, "[]", []),
    ],
    ids=str,
)
def test_a_field_is_read_as_the_value_that_is_meant(parameter: dict[str, Any], text: str, value: object) -> None:
    read = _read(made(**parameter), text)
    assert read == value
    assert type(read) is type(value)


def test_a_default_stands_in_a_field_only_where_something_must_stand() -> None:
    assert made(type="integer", default=7).value == ""
    assert made(type="integer", default=7, required=True).value == "7"
    assert made(type="string", default="x", required=True).value == "x"
    assert made(type="boolean", default=False, required=True).value == "false"
    assert made(type="string", default=None, required=True).value == ""
    assert _field({"name": "a", "type": "integer", "default": 7, "required": True}, {"a": "8"}).value == "8"
