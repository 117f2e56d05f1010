"""What agents ask for in the market, and what they are told."""

from typing import Any

from tests.spec.wires import Aql, data_of, error_of

__all__ = ["DEADLY", "GRAVE", "HARMLESS", "POLICY", "RISKY", "ask", "begin", "blocked", "report", "start"]

POLICY = """
[[rule]]
name = "a person decides"
decision = "confirm"
confirm = "person"
operations = ["update_item", "rename_item", "create_notice"]
reason = "The stall is everybody's"

[confirmation]
elicit = false

[autonomy]
start = "free"
"""

HARMLESS = "read the list of items"
RISKY = "send the list of items to 212 subscribers"
GRAVE = "lower the price of item 4"
DEADLY = "rm -rf /srv/market"


async def ask(agent: Aql, family: str, operation: str, **params: Any) -> str:
    """Ask for something that a person must approve; the id of what waits now."""
    error = error_of(await agent.send(family, operation, params), "CONFIRMATION_REQUIRED")
    return str(error["details"]["approval_id"])


async def begin(agent: Aql, operation: str, **params: Any) -> str:
    """Begin something that takes long; the id of the execution."""
    return str(data_of(await agent.execute(operation, **params))["execution_id"])


async def start(agent: Aql, name: str, task: str = "") -> None:
    """Begin to work under the safety loop."""
    data_of(await agent.execute("execute_agent", element_name=name, task=task))


async def report(agent: Aql, name: str, hint: str = HARMLESS, **more: Any) -> dict[str, Any]:
    """Report a step; the directive that answers it."""
    envelope = await agent.create("record_execution_step", element_name=name, next_action_hint=hint, **more)
    directive = data_of(envelope)["directive"]
    assert isinstance(directive, dict)
    return directive


async def blocked(agent: Aql, name: str, hint: str = DEADLY) -> None:
    """Begin, and be blocked at once."""
    await start(agent, name)
    assert (await report(agent, name, hint))["stopped"] is True
