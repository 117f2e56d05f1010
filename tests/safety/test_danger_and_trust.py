"""How dangerous an operation is taken to be, and how the trust in an adapter changes."""

from typing import Any

import pytest

from headgate import Adapter
from headgate.adapter.operations import Operation
from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.safety.danger import classify
from headgate.safety.trusting import TrustError, change_trust, effective_trust, recorded_trust
from headgate.store.sql import SqlStore


def operation(name: str, category: str, danger: str | None = None) -> Operation:
    adapter = Adapter("things")

    async def handler(input: dict[str, Any]) -> None:  # noqa: A002
        """Do something."""

    getattr(adapter, category)(name=name, danger=danger, rationale="because")(handler)
    return adapter.operations[name]


BY_CATEGORY = {
    "read": "safe",
    "create": "reversible",
    "update": "reversible",
    "execute": "reversible",
    "delete": "destructive",
}

BY_NAME = """
dangerous  force_push             close_permanently    bulk_delete_users  override_lock
dangerous  bypass_check           sync_without_backup  purge_cache
forbidden  drop_table             delete_all_users     delete_all         truncate_log
forbidden  reset_database         destroy_cluster      wipe_disk          deploy_production
reversible enforce_rule           pushed_force         refresh_drop       outreset_x
reversible production_deploy      get_and_change       list_and_change    check_out
forbidden  force_drop_production  drop_permanently     purge_production
"""
NAMED = [(level, name) for level, *names in map(str.split, BY_NAME.strip().splitlines()) for name in names]


@pytest.mark.parametrize(("category", "level"), BY_CATEGORY.items())
def test_without_more_the_category_tells(category: str, level: str) -> None:
    found = classify(operation("handle_thing", category))
    assert (found.level, found.origin) == (level, "category")
    assert bool(found.danger.reasons) is (level != "safe"), "there is a reason for what is not safe"


@pytest.mark.parametrize(("level", "name"), NAMED, ids=[f"{name} is {level}" for level, name in NAMED])
def test_a_name_tells_more_and_the_highest_wins(level: str, name: str) -> None:
    assert classify(operation(name, "execute")).level == level


@pytest.mark.parametrize("name", ["get_thing", "list_things", "search_things", "count_things", "check_thing"])
@pytest.mark.parametrize("category", ["create", "update", "execute", "delete"])
def test_a_harmless_name_makes_nothing_safer_than_its_category(name: str, category: str) -> None:
    assert classify(operation(name, category)).level == BY_CATEGORY[category]


@pytest.mark.parametrize("name", ["purge_things", "drop_things"])
def test_a_dangerous_name_counts_for_reading_too(name: str) -> None:
    assert classify(operation(name, "read")).level.is_grave


@pytest.mark.parametrize("level", DangerLevel)
def test_an_explicit_declaration_overrides_and_the_operators_overrides_the_authors(level: DangerLevel) -> None:
    declared = operation("wipe_disk", "delete", level.value)
    assert (classify(declared).level, classify(declared).origin) == (level, "declared")
    other = DangerLevel.DANGEROUS
    assert (classify(declared, Danger(other)).level, classify(declared, Danger(other)).origin) == (other, "policy")


# Trust.


async def raised(store: SqlStore, *levels: Trust, before: Trust = Trust.UNTESTED) -> list[str]:
    for level in levels:
        await change_trust(store, "things", level, by="root", reason="checked", now=1e9, before=before)
    recorded = await recorded_trust(store, "things")
    assert recorded is not None
    return [str(change["to"]) for change in recorded.history]


@pytest.mark.anyio
async def test_trust_rises_one_level_at_a_time_and_falls_at_once_and_all_is_kept(store: SqlStore) -> None:
    ladder = list(Trust)[1:]
    assert await raised(store, *ladder, Trust.UNTESTED, Trust.GENERATED) == [*ladder, "untested", "generated"]
    events = [(row.entry.event, row.entry.caller, row.entry.details["to"]) async for row in store.rows()]
    assert events == [("trust", "root", level) for level in [*ladder, "untested", "generated"]]


@pytest.mark.anyio
@pytest.mark.parametrize("old", Trust)
@pytest.mark.parametrize("new", Trust)
async def test_only_a_step_up_or_a_fall_is_a_change(store: SqlStore, old: Trust, new: Trust) -> None:
    if new.rank == old.rank + 1 or new.rank < old.rank:
        assert await raised(store, new, before=old) == [new]
        return
    with pytest.raises(TrustError):
        await raised(store, new, before=old)
    assert await recorded_trust(store, "things") is None
    assert [row async for row in store.rows()] == []


@pytest.mark.anyio
async def test_what_counts_is_asked_for_then_recorded_then_the_origin_then_validated(store: SqlStore) -> None:
    assert await effective_trust(store, "things", None, None, 1e9) is Trust.VALIDATED
    assert await effective_trust(store, "things", None, Trust.UNTESTED, 1e9) is Trust.UNTESTED
    await raised(store, Trust.GENERATED)
    assert await effective_trust(store, "things", None, Trust.CERTIFIED, 1e9) is Trust.GENERATED
    assert await effective_trust(store, "things", Trust.GENERATED, None, 1e9) is Trust.GENERATED
    assert len([row async for row in store.rows()]) == 1, "what is on record already is no change"
    assert await effective_trust(store, "things", Trust.CERTIFIED, None, 1e9) is Trust.CERTIFIED
    last = [row.entry async for row in store.rows()][-1]
    assert dict(last.details) == {"from": "generated", "to": "certified", "by": "configuration"}
