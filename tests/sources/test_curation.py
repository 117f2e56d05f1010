"""What an operator says of a source's operations, and every mistake in it."""

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from headgate.adapter.functions import TRYING
from headgate.adapter.operations import Operation
from headgate.adapter.origins import Inferred, Origin, Provenance
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel
from headgate.sources.curation import Choice, Curation, curated, read_curation
from tests.support import ROOT

FILE = """
include = ["list_*", "GET *", "createIssue"]
exclude = ["*_admin_*"]

[operations.createIssue]
name = "open_issue"
category = "create"
danger = "reversible"
description = "Open an issue. It is seen by all."
group = "issues"

[operations."GET /users/{id}"]
danger = {level = "destructive", reasons = ["Counted"], confirmation_message = "Look at {id}?", cooldown_seconds = 3}

[operations.list_secrets]
hide = true
"""


async def handler(**values: Any) -> object:
    return values


def operation(name: str = "create_issue", *, origin: Origin | None = None, danger: Danger | None = None) -> Operation:
    return Operation(
        name,
        Category.CREATE,
        handler,
        (TRYING,),
        summary="Makes one.",
        description="Makes one.",
        danger=danger,
        origin=origin,
    )


def foreign(*, needs_review: bool = True) -> Origin:
    guess = Inferred("CREATE", 0.3, Provenance.HEURISTIC, ("name: 'create' (CREATE)",))
    risk = Inferred("reversible", 0.3, Provenance.HEURISTIC)
    return Origin(
        own_name="createIssue", maps_to="TOOL createIssue", category=guess, danger=risk, needs_review=needs_review
    )


@pytest.fixture
def curation(tmp_path: Path) -> Curation:
    (tmp_path / "review.toml").write_text(FILE)
    return read_curation(tmp_path / "review.toml")


@pytest.mark.parametrize(
    ("name", "own", "is_picked"),
    [
        ("list_users", "listUsers", True),
        ("get_users", "GET /users", True),
        ("create_issue", "createIssue", True),
        ("delete_issue", "deleteIssue", False),
        ("list_admin_users", "listAdminUsers", False),
        ("list_secrets", "listSecrets", False),
    ],
)
def test_operations_are_picked_by_either_name_and_exclusion_wins(
    curation: Curation, name: str, own: str, is_picked: bool
) -> None:
    assert curation.picks(name, own) is is_picked
    assert Curation().picks(name, own)


def test_a_choice_is_found_by_either_name(curation: Curation) -> None:
    choice = curation.choice("create_issue", "createIssue")
    assert choice == Choice(
        name="open_issue",
        category=Category.CREATE,
        danger=Danger(DangerLevel.REVERSIBLE),
        description="Open an issue. It is seen by all.",
        group="issues",
    )
    grave = curation.choice("get_user", "GET /users/{id}")
    assert grave is not None
    assert grave.danger == Danger(DangerLevel.DESTRUCTIVE, ("Counted",), "Look at {id}?", 3.0)
    assert curation.choice("list_secrets", "listSecrets") == Choice(hide=True)
    assert curation.choice("list_users", "listUsers") is None


def test_brackets_in_a_pattern_are_themselves() -> None:
    curation = Curation.of({"exclude": ["GET /x[1]"]}, "here")
    assert not curation.picks("get_x", "GET /x[1]")
    assert curation.picks("get_x", "GET /x1")


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("# nothing yet\n")
    assert read_curation(tmp_path / "empty.toml") == Curation()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"includes": ["x"]}, "key 'includes': there is no such key; known are include, exclude, operations. Did"),
        ({"include": 3}, "key 'include': this must be a text or a list of texts, not the number 3"),
        ({"operations": []}, "key 'operations': this must be a table of operations, not a list"),
        ({"operations": {"x": 1}}, "operation 'x': this must be a table, not the number 1"),
        ({"operations": {"x": {}}}, "operation 'x': it is empty and so says nothing"),
        ({"operations": {"x": {"categroy": "read"}}}, "Did you mean 'category'?"),
        ({"operations": {"x": {"category": "raed"}}}, "operation 'x', key 'category': 'raed' is not known; it may be"),
        ({"operations": {"x": {"danger": "dangerus"}}}, "Did you mean 'dangerous'?"),
        ({"operations": {"x": {"danger": {"level": "safe", "reason": "y"}}}}, "Did you mean 'reasons'?"),
        ({"operations": {"x": {"danger": {"reasons": "y"}}}}, "the key 'level' is missing: add it"),
        ({"operations": {"x": {"danger": {"level": "safe", "cooldown_seconds": 500}}}}, "cooldown of 500 seconds"),
        ({"operations": {"x": {"name": "openIssue"}}}, "'openIssue' is no name of an operation"),
        ({"operations": {"x": {"name": "o" * 65}}}, "is no name of an operation"),
        ({"operations": {"x": {"name": "introspect"}}}, "is a name of the protocol itself"),
        ({"operations": {"x": {"group": "two\nlines"}}}, "a group is one line"),
        ({"operations": {"x": {"hide": "yes"}}}, "this must be true or false, not the text 'yes'"),
        ({"operations": {"x": {"name": "z"}, "y": {"name": "z"}}}, "operation 'x' is to have this name as well"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_to_do(content: dict[str, object], said: str) -> None:
    with pytest.raises(AdapterError) as refused:
        Curation.of(content, "review.toml")
    assert str(refused.value).startswith("review.toml: ")
    assert said in str(refused.value)


def test_all_mistakes_are_told_at_once() -> None:
    content = {"include": 3, "operations": {"x": {"category": "raed", "hide": 1}}}
    with pytest.raises(AdapterError) as refused:
        Curation.of(content, "review.toml")
    assert len(str(refused.value).splitlines()) == 3


def test_what_is_not_confirmed_counts_for_nothing_yet() -> None:
    content = {"operations": {"x": {"category": "read", "hide": True, "confirmed": False}}}
    curation = Curation.of(content, "here")
    assert curation.choice("x", "x") is None
    assert curation.picks("x", "x")
    assert curation.entry("y", "x") == Choice(category=Category.READ, hide=True, confirmed=False)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="there is no such file"):
        read_curation(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_text("include = [")
    with pytest.raises(AdapterError, match="it is no TOML from here on"):
        read_curation(tmp_path / "odd.toml")


def test_two_names_may_be_one_if_only_one_of_them_is_served() -> None:
    content = {"operations": {"x": {"name": "z"}, "y": {"name": "z", "hide": True}}}
    assert len(Curation.of(content, "here").operations) == 2


def test_what_means_nothing_is_told_with_the_nearest_name(curation: Curation) -> None:
    assert curation.unused(["list_users", "list_secret", "GET /users/{id}", "x_admin_y"]) == [
        "no operation is meant by the entry 'createIssue'.",
        "no operation is meant by the entry 'list_secrets'. Did you mean 'list_secret'?",
        "no operation is meant by the pattern of 'include' 'createIssue'.",
    ]
    wrong = Curation.of({"exclude": ["*_x"]}, "here")
    assert wrong.unused(["a_y"]) == ["no operation is meant by the pattern of 'exclude' '*_x'."]


def test_an_operation_is_made_as_its_operator_wants_it(curation: Curation) -> None:
    choice = curation.choice("create_issue", "createIssue")
    assert choice is not None
    made = curated(operation(origin=foreign()), choice)
    assert (made.name, made.group, made.danger) == ("open_issue", "issues", Danger(DangerLevel.REVERSIBLE))
    assert (made.summary, made.description) == ("Open an issue.", "Open an issue. It is seen by all.")
    assert made.origin is not None
    assert (made.origin.own_name, made.origin.needs_review) == ("createIssue", False)
    for told, value in ((made.origin.category, "CREATE"), (made.origin.danger, "reversible")):
        assert (told.value, told.confidence, told.provenance) == (value, 1.0, Provenance.OVERRIDE)


def test_what_is_not_said_stays_as_it_is() -> None:
    made = curated(operation(origin=foreign()), Choice(name="open_issue"))
    assert made.origin == foreign()
    assert (made.summary, made.danger, made.group) == ("Makes one.", None, "")


def test_a_category_that_its_source_has_not_applied_is_no_override() -> None:
    made = curated(operation(origin=foreign()), Choice(category=Category.DELETE))
    assert made.category is Category.CREATE
    assert made.origin == foreign()


def test_an_operation_of_an_author_keeps_what_it_was_called() -> None:
    made = curated(operation(), Choice(name="open_issue", danger=Danger(DangerLevel.DESTRUCTIVE)))
    assert made.origin is not None
    assert (made.origin.own_name, made.origin.maps_to) == ("create_issue", "CALL create_issue")
    assert (made.origin.category.value, made.origin.category.provenance) == ("CREATE", Provenance.DIRECT)
    declared = curated(operation(danger=Danger(DangerLevel.DANGEROUS)), Choice(group="issues")).origin
    assert declared is not None
    assert (declared.danger.value, declared.danger.provenance) == ("dangerous", Provenance.DIRECT)


def test_a_message_that_names_no_parameter_is_refused() -> None:
    choice = Choice(danger=Danger(DangerLevel.DESTRUCTIVE, confirmation_message="Really {who}?"))
    with pytest.raises(AdapterError, match="who"):
        curated(operation(), choice)


def test_the_files_that_the_documentation_shows_are_right() -> None:
    page = (ROOT / "docs" / "review.md").read_text()
    shown = [Curation.of(tomllib.loads(one), "page") for one in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)]
    assert [list(one.operations) for one in shown] == [
        ["createIssue", "DELETE /issues/{id}", "rebuild_index"],
        ["open_nodes"],
    ]


def test_every_key_is_documented() -> None:
    page = (ROOT / "docs" / "review.md").read_text()
    keys = [one.name for kind in (Curation, Choice, Danger) for one in dataclasses.fields(kind)]
    keys.remove("shared")  # which no file says: it follows from how many sources there are
    assert [key for key in keys if f"`{key}`" not in page] == []
