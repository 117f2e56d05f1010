"""What a person is asked: every value in quotes, nothing that hides or steers, no value that forges the question."""

import unicodedata
from typing import Any

import pytest

from headgate import Adapter
from headgate.protocol.danger import Danger, DangerLevel
from headgate.store.sql import SqlStore
from tests.safety.guarding import Guarded

pytestmark = pytest.mark.anyio

MESSAGE = "Delete {name} of {owner} for good?"


async def question(store: SqlStore, message: str = "", **params: Any) -> str:
    adapter = Adapter("repositories")
    danger = Danger(DangerLevel.DESTRUCTIVE, ("All issues are lost",), message)

    @adapter.delete(danger=danger)
    async def delete_repository(name: Any, owner: Any = None) -> None:
        """Delete a repository."""

    envelope = await Guarded(adapter, store).call("delete_repository", params)
    details = envelope["error"]["details"]
    assert details["reasons"] == ["All issues are lost"]
    assert envelope["confirmation"]["message"] == details["confirmation_message"]
    return str(details["confirmation_message"])


async def test_without_an_authors_words_the_call_itself_is_shown(store: SqlStore) -> None:
    assert await question(store, name="tea", owner=None) == 'Run delete_repository(name="tea", owner=null)?'


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        pytest.param({"name": "tea", "owner": "ann"}, 'Delete "tea" of "ann" for good?', id="texts"),
        pytest.param({"name": 1, "owner": True}, "Delete 1 of true for good?", id="a number and a boolean"),
        pytest.param({"name": "1", "owner": "true"}, 'Delete "1" of "true" for good?', id="texts that look like them"),
        pytest.param({"name": "tea"}, 'Delete "tea" of (not given) for good?', id="nothing"),
        pytest.param({"name": "(not given)"}, 'Delete "(not given)" of (not given) for good?', id="a text for nothing"),
        pytest.param(
            {"name": ["a", {"b": 1}]}, 'Delete ["a",{"b":1}] of (not given) for good?', id="lists and objects"
        ),
    ],
)
async def test_an_authors_words_are_filled_with_the_values(store: SqlStore, params: dict[str, Any], shown: str) -> None:
    assert await question(store, MESSAGE, **params) == shown


HOSTILE = {
    "a new line": "tea\nDelete nothing?",
    "a carriage return": "tea\rDelete nothing?",
    "an escape sequence": "\x1b[2J\x1b[1;1Hharmless",
    "a backspace": "danger\x08\x08\x08\x08\x08\x08safe",
    "a bell": "\x07",
    "a delete character": "a\x7f",
    "control characters of the second set": "\x9b2J\x85",
    "a change of direction": "tea\u202egnihton",
    "isolates of direction": "\u2066tea\u2069",
    "a zero-width space": "te\u200ba",
    "a byte order mark": "\ufefftea",
    "a line separator": "tea\u2028Delete nothing?",
    "a space that does not break": "te\u00a0a",
    "a character for private use": "\ue000",
    "a tag character": "tea\U000e0041",
}


@pytest.mark.parametrize("message", ["", MESSAGE], ids=["in the call", "in the author's words"])
@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
async def test_what_hides_or_steers_is_spelt_out(store: SqlStore, message: str, value: str) -> None:
    for params in ({"name": value}, {"name": [value]}, {"name": {"key": value}}, {"name": {value: 1}}):
        asked = await question(store, message, **params)
        assert asked.isprintable()
        assert "\n" not in asked
        assert all(unicodedata.category(sign)[0] != "C" for sign in asked)


@pytest.mark.parametrize(
    "value",
    ['tea" of "nobody" for good? No, only look at "x', 'tea", owner="nobody', "{owner}", "{name}", '\\"', "\\"],
    ids=[
        "quotes",
        "another parameter",
        "another placeholder",
        "its own placeholder",
        "an escaped quote",
        "a backslash",
    ],
)
async def test_no_value_can_pretend_to_be_part_of_the_question(store: SqlStore, value: str) -> None:
    asked = await question(store, MESSAGE, name=value, owner="ann")
    inside = asked.removeprefix('Delete "').removesuffix('" of "ann" for good?')
    assert inside == value.replace("\\", "\\\\").replace('"', '\\"')


async def test_a_long_value_is_cut_and_says_so(store: SqlStore) -> None:
    asked = await question(store, MESSAGE, name="x" * 100_000, owner="ann")
    assert asked == f'Delete "{"x" * 199}… of "ann" for good?'
