"""Specification 8.5: verbs, and names that belong to the protocol."""

import pytest

from examples.town_library import library_adapter
from headgate import Adapter, AdapterError, Category, Operation
from tests.spec.conftest import Serve
from tests.spec.wires import Aql

pytestmark = pytest.mark.anyio

RESERVED = [
    "introspect",
    "execute_agent",
    "record_execution_step",
    "complete_execution",
    "abort_execution",
    "confirm_operation",
    "verify_challenge",
]


async def handler() -> None: ...


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.proves("spec-8.5.4-reserved-names-refused")
def test_a_reserved_name_cannot_be_registered(name: str) -> None:
    adapter = Adapter("greedy")
    for category in (Category.CREATE, Category.READ, Category.DELETE, Category.EXECUTE):
        with pytest.raises(AdapterError, match="reserved"):
            adapter.add(Operation(name, category, handler, summary="Something of my own"))
    with pytest.raises(AdapterError, match="reserved"):
        adapter.read(name=name, description="Something of my own")(handler)
    assert not adapter.operations


@pytest.mark.parametrize(
    ("operation", "near", "rationale"),
    [
        ("search_notes", "list", "'list' knows no ranking by words"),
        ("upload_file", "create", "the content is transferred with it"),
        ("import_file", "create", "the content comes from elsewhere"),
        ("register_account", "create", "an account is entered into a register"),
    ],
)
@pytest.mark.proves("spec-8.5.3-other-verbs-rationale-documented", "spec-8.5.3-other-verbs-equivalent-named")
async def test_the_description_of_another_verb_says_why_and_names_the_canonical_one(
    aql: Aql, operation: str, near: str, rationale: str
) -> None:
    description = (await aql.operation(operation))["description"]
    assert f"'{near}'" in description
    assert rationale in description


@pytest.mark.parametrize(
    ("name", "category", "near"),
    [
        ("add_item", Category.CREATE, "create"),
        ("find_items", Category.READ, "list"),
        ("fetch_item", Category.READ, "get"),
        ("remove_item", Category.DELETE, "delete"),
        ("run_job", Category.EXECUTE, "execute"),
        ("stop_job", Category.EXECUTE, "cancel"),
    ],
)
@pytest.mark.proves("spec-8.5.3-other-verbs-rationale-documented", "spec-8.5.3-other-verbs-equivalent-named")
async def test_an_author_who_gives_no_reason_still_gets_one_and_the_nearest_verb(
    serve: Serve, name: str, category: Category, near: str
) -> None:
    adapter = Adapter("verbs")
    adapter.add(Operation(name, category, handler, summary="Something"))
    async with serve(adapter) as aql:
        description = (await aql.operation(name))["description"]
        assert f"Similar to '{near}'" in description
        assert f"'{name.partition('_')[0]}'" in description


@pytest.mark.proves("spec-8.5.3-other-verbs-equivalent-named")
async def test_the_description_of_a_canonical_verb_says_nothing_of_verbs(aql: Aql) -> None:
    for name in ("create_note", "get_note", "list_notes", "update_note", "delete_note", "execute_job", "cancel_job"):
        assert "Similar to" not in (await aql.operation(name))["description"]


@pytest.mark.proves(
    "spec-8.5.1-canonical-verbs-used", "spec-8.5.2-operation-names-verb-resource", "ops-6.2-canonical-verbs-used"
)
async def test_operations_that_come_with_headgate_follow_the_grammar_of_names(serve: Serve) -> None:
    canonical = {
        "CREATE": ["create"],
        "READ": ["get", "list"],
        "UPDATE": ["update"],
        "DELETE": ["delete"],
        "EXECUTE": ["execute", "cancel"],
    }
    adapter = library_adapter()
    async with serve(adapter) as aql:
        for name in adapter.operations:
            details = await aql.operation(name)
            verb, _, resource = name.partition("_")
            assert resource, name
            assert verb in canonical[details["semantic_category"]] or "Similar to '" in details["description"], name
