"""Ways to a server in another mode, and the table of checks."""

import pytest

from headgate.client.wires import Command, NotOpened, Url
from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.openers import opener_of
from headgate.conformance.probe import Unswitchable
from headgate.conformance.registry import check
from headgate.conformance.values import Area, Demand


@pytest.mark.anyio
async def test_a_command_is_started_anew_with_the_mode_in_its_environment() -> None:
    opener = opener_of(Command(("sh", "-c", 'echo "$MCP_AQL_ENDPOINT_MODE" >&2; exit 3')))
    with pytest.raises(NotOpened, match="single"):
        async with opener(mode="single"):
            pass


def test_a_server_that_runs_cannot_be_had_in_another_mode() -> None:
    with pytest.raises(Unswitchable, match="--other-mode"):
        opener_of(Url("http://127.0.0.1:1/mcp"))(mode="single")


@pytest.mark.anyio
async def test_the_same_server_in_its_other_mode_is_taken_where_it_is_named() -> None:
    opener = opener_of(Url("http://127.0.0.1:1/mcp"), other=Command(("sh", "-c", "echo other >&2; exit 3")))
    with pytest.raises(NotOpened, match="other"):
        async with opener(mode="single"):
            pass


def test_two_checks_cannot_have_one_id() -> None:
    enter = check(
        "transport.opens",
        "Twice.",
        section="specification 1",
        demand=Demand.MUST,
        area=Area.FORMAT,
        level=1,
        how="Never.",
    )
    assert ALL_CHECKS  # they are entered when they are imported
    with pytest.raises(ValueError, match=r"two checks 'transport\.opens'"):
        enter(lambda _probe: iter(()))  # type: ignore[arg-type, return-value]
