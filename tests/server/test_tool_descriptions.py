"""What a host shows to a model: few tools, cheap, honest, and with the way to everything else."""

import json
import re

import mcp_types as types
import pytest
from mcp import Client

from benchmarks.github import github as described_github
from benchmarks.task import MOST, TASKS, task_costs
from headgate import Adapter, Category, mcp_server
from headgate.protocol.profiles import PROFILES
from headgate.protocol.tokens import estimate
from tests.server.github import adapter_of, github, many
from tests.server.o200k import cost

pytestmark = pytest.mark.anyio


async def tools_of(adapter: Adapter, **settings: object) -> list[types.Tool]:
    async with Client(mcp_server(adapter, **settings)) as client:
        return (await client.list_tools()).tools


def array_cost(tools: list[types.Tool]) -> int:
    """The tokens of the whole ``tools`` array as compact JSON."""
    wire = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    return cost(json.dumps(wire, separators=(",", ":"), ensure_ascii=False))


def descriptions(tools: list[types.Tool]) -> str:
    return "".join(tool.description or "" for tool in tools)


def hints(tool: types.Tool) -> tuple[bool, bool]:
    """What the annotations mean: what they leave unsaid is as MCP says."""
    told = tool.annotations
    assert told
    read_only = told.read_only_hint or False
    return read_only, not read_only and told.destructive_hint is not False


@pytest.mark.parametrize(("mode", "most"), [("semantic", 700), ("single", 250)])
@pytest.mark.parametrize("adapter", [github(), described_github()], ids=["names", "words"])
async def test_89_operations_cost_no_more_than_promised(adapter: Adapter, mode: str, most: int) -> None:
    assert len(adapter.operations) == 89
    assert array_cost(await tools_of(adapter, mode=mode)) <= most


async def test_a_task_of_three_operations_costs_no_more_than_promised_with_all_that_leads_to_it() -> None:
    _, together = await task_costs(cost)
    assert together.keys() == TASKS.keys()
    assert max(together.values()) <= MOST


async def test_an_agent_sees_all_89_names_without_asking() -> None:
    shown = descriptions(await tools_of(github()))
    expanded = {
        f"{verb}_{resource}"
        for verb, resources in re.findall(r"(\w+)_\{([^}]*)\}", shown)
        for resource in resources.split()
    }
    assert [name for name in github().operations if name not in expanded and name not in shown] == []


@pytest.mark.parametrize("mode", ["semantic", "single"])
async def test_ten_thousand_operations_cost_as_much_as_a_hundred(mode: str) -> None:
    few, lots = array_cost(await tools_of(many(100), mode=mode)), array_cost(await tools_of(many(10_000), mode=mode))
    assert lots <= few + 5


@pytest.mark.parametrize("count", [1, 10, 89, 300, 1000])
@pytest.mark.parametrize("budget", [250, 600, 2000])
async def test_the_budget_is_kept(count: int, budget: int) -> None:
    assert cost(descriptions(await tools_of(many(count), index_tokens=budget))) <= budget


async def test_a_budget_too_small_for_anything_still_leaves_the_way_to_introspection() -> None:
    tools = await tools_of(github(), index_tokens=0)
    assert all("introspect" in (tool.description or "") for tool in tools)
    assert [re.search(r"\d+ operations", tool.description or "") is not None for tool in tools] == [True] * 5


async def test_with_room_the_index_has_the_required_parameters_too() -> None:
    tools = await tools_of(adapter_of({"get_issue": Category.READ, "list_issues": Category.READ}))
    assert "get_issue(owner, repo) list_issues(owner, repo)" in descriptions(tools)


@pytest.mark.parametrize("mode", ["semantic", "single", "all"])
@pytest.mark.parametrize("profile", PROFILES)
async def test_every_description_has_purpose_operations_and_a_request_to_start_with(profile: str, mode: str) -> None:
    purposes = {f"mcp_aql_{family.name}": family.purpose for family in PROFILES[profile].families}
    for tool in await tools_of(github(), profile=profile, mode=mode):
        assert tool.description
        assert "introspect" in tool.description
        assert tool.description.startswith(purposes.get(tool.name, "All operations"))
        assert re.search(r'\{"operation":"\w+","params":\{', tool.description)
        assert tool.name == "mcp_aql" or re.match(r"[^:.]+(: \w|\. \d+ operations)", tool.description)


async def test_a_tool_without_introspection_says_which_tool_has_it() -> None:
    tools = await tools_of(github(), prefix="hub_")
    without = [tool for tool in tools if tool.name != "hub_mcp_aql_read"]
    assert len(without) == 4
    assert all("introspect in hub_mcp_aql_read" in (tool.description or "") for tool in without)


async def every_index(adapter: Adapter) -> str:
    """The descriptions for every budget, from none to plenty."""
    return "\n".join([descriptions(await tools_of(adapter, index_tokens=budget)) for budget in range(40, 160, 2)])


async def test_groups_count_a_resource_once_whether_it_is_named_in_singular_or_plural() -> None:
    singular, plural = "branch category status address box", "branches categories statuses addresses boxes"
    names = [f"{verb}_{thing}" for verb in ("get", "show", "check") for thing in singular.split()]
    names += [f"{verb}_{things}" for verb in ("list", "count", "search") for things in plural.split()]
    shown = await every_index(adapter_of(dict.fromkeys(names, Category.READ)))
    assert "31 operations on: branch 6, category 6, status 6, address 6, box 6, introspect" in shown


async def test_groups_are_named_by_all_the_words_that_their_operations_share() -> None:
    names = "get_pull_request list_pull_requests get_pull_request_diff get_code search_code_alerts"
    verbs = "ask find give hold keep look make name open read show take tell walk write"
    requests = [f"{verb}_pull_request_of_somebody_else" for verb in verbs.split()]
    shown = await every_index(adapter_of(dict.fromkeys([*names.split(), *requests], Category.READ)))
    assert "operations on: pull_request 18, code 2, " in shown


async def test_operations_of_odd_names_are_listed_too() -> None:
    names = ("ping", "get_", "get__", "get_album", "get_artist", "x_1")
    shown = await every_index(adapter_of(dict.fromkeys(names, Category.READ)))
    assert ": ping get_ get__ get_album get_artist x_1 introspect." in shown
    assert ": ping get_{ _ album artist} x_1 introspect." in shown
    assert "7 operations" in shown


CRUDE = {
    "mcp_aql_create": (False, False),
    "mcp_aql_read": (True, False),
    "mcp_aql_update": (False, True),
    "mcp_aql_delete": (False, True),
    "mcp_aql_execute": (False, True),
}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, CRUDE),
        ({"mode": "single"}, {"mcp_aql": (False, True)}),
        ({"mode": "all"}, {**CRUDE, "mcp_aql": (False, True)}),
        ({"mode": "crude"}, CRUDE),
        ({"prefix": "hub_"}, {f"hub_{name}": value for name, value in CRUDE.items()}),
        (
            {"profile": "discover"},
            {
                "mcp_aql_discover": (True, False),
                "mcp_aql_query": (True, False),
                "mcp_aql_manage": (False, True),
                "mcp_aql_operate": (False, True),
            },
        ),
    ],
    ids=["semantic", "single", "all", "old-name", "prefix", "profile"],
)
async def test_annotations_say_what_a_tool_may_do(
    settings: dict[str, object], expected: dict[str, tuple[bool, bool]]
) -> None:
    assert {tool.name: hints(tool) for tool in await tools_of(github(), **settings)} == expected


async def test_a_family_that_adds_and_reads_is_neither_read_only_nor_destructive() -> None:
    adapter = adapter_of({"get_issue": Category.READ, "create_issue": Category.CREATE})
    assert {tool.name: hints(tool) for tool in await tools_of(adapter, mode="single")} == {"mcp_aql": (False, False)}


async def test_a_family_without_operations_has_no_tool() -> None:
    adapter = adapter_of({"get_issue": Category.READ})
    assert [tool.name for tool in await tools_of(adapter)] == ["mcp_aql_read"]


async def test_the_input_schema_has_nothing_that_hosts_are_known_to_refuse() -> None:
    for tool in await tools_of(github(), mode="all"):
        assert set(tool.input_schema) == {"type", "properties"}
        assert set(tool.input_schema["properties"]) == {"operation", "params", "operations"}


TEXTS = {
    "names": ", ".join(github().operations),
    "with parameters": ", ".join(f"{name}(owner, repo)" for name in github().operations),
    "numbered": ", ".join(f"get_thing_{number}" for number in range(100)),
    "counts": ", ".join(f"kind{number * 37} {number}" for number in range(60)),
    "abbreviated": "azmcp_kusto_cluster_get, azmcp_bicepschema_get, azmcp_sql_server_entra_admin_list, upd_cfg, ls_vpc",
    "JSON": 'Details: {"operation":"introspect","params":{"query":"operations","name":"…"}}; find: {"query":"search"}.',
    "English": "Add new resources; nothing existing is changed. Start and control what runs or reaches outside",
    "German": "Verwaltungsgerichtshof, Überprüfung, Rechnungspositionen",
    "Chinese": "文档管理系统,获取用户列表",
    "space": "a \n\n  b  12 345678",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_the_estimate_is_never_far_below_the_count(text: str) -> None:
    assert estimate(text) >= 0.8 * cost(text)


@pytest.mark.parametrize("name", ["names", "with parameters", "counts", "JSON", "English"])
async def test_the_estimate_wastes_little_of_the_budget(name: str) -> None:
    assert estimate(TEXTS[name]) <= 1.25 * cost(TEXTS[name])
