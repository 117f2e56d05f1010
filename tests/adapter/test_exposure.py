"""Which tool each operation belongs to (Spec 3.3, 6.2)."""

from typing import Any

import pytest

from headgate import AdapterError, Category, Mode, Operation
from headgate.adapter.exposure import Exposure
from headgate.protocol.profiles import PROFILES


async def nothing() -> None:
    """Do nothing."""


def made(**fields: Any) -> Operation:
    return Operation(**{"name": "get_thing", "category": Category.READ, "function": nothing, "summary": "x", **fields})


@pytest.mark.parametrize("prefix", ["", "_", "github_", "a1_b2_", "x" * 18 + "_"])
def test_a_prefix_of_the_right_form_is_taken(prefix: str) -> None:
    assert Exposure(prefix=prefix).tool("read") == f"{prefix}mcp_aql_read"


@pytest.mark.parametrize("prefix", ["github", "GitHub_", "git-hub_", "git hub_", "x" * 19 + "_", "é_", "a_\n"])
def test_any_other_prefix_is_refused(prefix: str) -> None:
    with pytest.raises(
        AdapterError, match="must be lower-case letters, digits and underscores, end with an underscore"
    ):
        Exposure(prefix=prefix)


def test_an_operation_goes_where_the_author_wants_it_if_the_profile_has_that_family() -> None:
    content, crude = Exposure(profile=PROFILES["content"]), Exposure()
    assert content.family_of(made(endpoint="curate")).name == "curate"
    assert content.family_of(made()).name == "search"
    assert crude.family_of(made(endpoint="curate")).name == "read"


@pytest.mark.parametrize(
    ("mode", "tool"), [(Mode.SEMANTIC, "x_mcp_aql_read"), (Mode.ALL, "x_mcp_aql_read"), (Mode.SINGLE, "x_mcp_aql")]
)
def test_the_tool_of_an_operation_depends_on_the_mode(mode: Mode, tool: str) -> None:
    assert Exposure(mode=mode, prefix="x_").tool_of(made()) == tool
