"""What introspection tells of danger and policy: all that a caller may know, and nobody's name."""

from typing import Any

import pytest

from headgate import Adapter, Caller
from headgate.protocol.danger import Danger, DangerLevel
from headgate.store.sql import SqlStore
from tests.safety.guarding import Guarded
from tests.support import schema_errors

pytestmark = pytest.mark.anyio


def garden() -> Adapter:
    adapter = Adapter("garden")

    @adapter.read
    async def list_trees() -> list[str]:
        """List trees."""
        return []

    @adapter.delete(danger=Danger(DangerLevel.DESTRUCTIVE, ("It is gone",), "Fell {tree}?", 5.0, requires_reauth=True))
    async def delete_tree(tree: str) -> None:
        """Fell a tree."""

    @adapter.execute
    async def force_growth() -> None:
        """Force growth."""

    @adapter.execute
    async def wipe_garden() -> None:
        """Wipe the garden."""

    return adapter


RULES = """
[[rule]]
name = "trees"
decision = "confirm"
operations = ["delete_tree"]
callers = ["mallory@example.org", "!client:secret-desk", "scope:gardeners"]
when = {tree = {matches = "^oak-of-the-king"}}
reason = "Trees are old"
[[rule]]
name = "others"
decision = "deny"
categories = ["EXECUTE"]
affected_rows = {gt = 5}
"""


async def told(store: SqlStore, query: str, name: str | None = None, rules: str = RULES, **more: Any) -> Any:
    guard = Guarded(garden(), store, rules, **more)
    params = {"query": query, **({"name": name} if name else {})}
    envelope = await guard.call("introspect", params)
    assert envelope["success"], envelope
    return envelope["data"]


async def test_danger_is_told_with_all_that_follows_from_it(store: SqlStore) -> None:
    data = await told(store, "danger", rules="")
    assert data["trust"] == "validated"
    rows = {row["name"]: row for row in data["operations"]}
    assert rows["delete_tree"] == {
        "name": "delete_tree",
        "level": "destructive",
        "dangerous": True,
        "reasons": ["It is gone"],
        "origin": "declared",
        "decision": "confirm",
        "requires_confirmation": True,
        "confirmation_message": "Fell {tree}?",
        "cooldown_seconds": 5.0,
        "requires_reauth": True,
    }
    assert [(row["level"], row["origin"], row["decision"]) for row in rows.values()] == [
        ("safe", "category", "allow"),
        ("destructive", "declared", "confirm"),
        ("dangerous", "force_*", "deny"),
        ("forbidden", "wipe_*", "deny"),
    ]
    assert data["defaults"] == {
        "READ": "safe",
        "CREATE": "reversible",
        "UPDATE": "reversible",
        "EXECUTE": "reversible",
        "DELETE": "destructive",
    }


async def test_danger_of_one_operation_and_of_none(store: SqlStore) -> None:
    assert (await told(store, "danger", "list_trees", ""))["operation"]["level"] == "safe"
    assert await told(store, "danger", "nonsense", "") == {"operation": None}


async def test_policies_are_told_without_the_names_of_callers_or_the_values_of_conditions(store: SqlStore) -> None:
    data = await told(store, "policies")
    trees, others = data["rules"]
    assert trees == {
        "name": "trees",
        "decision": "confirm",
        "operations": ["delete_tree"],
        "parameters": ["tree"],
        "depends_on_caller": True,
        "confirmed_by": "client",
        "remembered_for_session": False,
        "reason": "Trees are old",
    }
    assert others["depends_on_affected_rows"] is True
    for name in ("mallory", "secret-desk", "gardeners", "oak-of-the-king"):
        assert name not in str(data)
    assert data["most_restrictive_wins"] is True
    assert data["confirmation"]["seconds"]["forbidden"] == 120


async def test_policies_of_one_operation_are_those_that_concern_it(store: SqlStore) -> None:
    for name, rules in (("delete_tree", ["trees"]), ("force_growth", ["others"]), ("list_trees", []), ("nonsense", [])):
        assert [rule["name"] for rule in (await told(store, "policies", name))["rules"]] == rules


async def test_danger_does_not_tell_how_rules_would_decide_for_others(store: SqlStore) -> None:
    rules = '[[rule]]\nname = "mallory"\ndecision = "deny"\ncallers = "mallory@example.org"'
    assert "mallory@" not in str(await told(store, "danger", rules=rules))


async def test_the_version_changes_with_the_policy_and_the_trust(store: SqlStore) -> None:
    versions = {
        (await told(store, "policies"))["version"],
        (await told(store, "policies", rules=""))["version"],
        (await told(store, "policies", trust="certified"))["version"],
    }
    assert len(versions) == 3
    assert (await told(store, "policies"))["version"] in versions


@pytest.mark.parametrize("name", ["delete_tree", "list_trees", "force_growth"])
async def test_descriptions_tell_a_model_and_keep_the_schema(store: SqlStore, name: str) -> None:
    guard = Guarded(garden(), store)
    envelope = await guard.call("introspect", {"query": "operations", "name": name}, caller=Caller(subject="ann"))
    assert schema_errors(envelope, "introspection-response") == []
    operation = envelope["data"]["operation"]
    has_token = "confirmation_token" in [one["name"] for one in operation["parameters"]]
    assert has_token is (name == "delete_tree")
    words = {"delete_tree": "CONFIRMATION_REQUIRED", "list_trees": "", "force_growth": "Denied here"}[name]
    assert words in operation["description"]
    assert ("Danger:" in operation["description"]) is (name != "list_trees")
