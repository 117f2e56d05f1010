"""Agents of the checker's own, under the supervision of a server's safety loop."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.agreeing import WANTED, call_agreed
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.survey import SeenOperation, entries
from headgate.conformance.values import Exchange

__all__ = [
    "DREADFUL",
    "HARMLESS",
    "START",
    "STEP",
    "Agent",
    "Blocked",
    "alarms_in",
    "begun_agent",
    "blocked_agent",
    "directive_in",
    "loop_mode",
    "may_go_on",
    "verification_in",
]

STEP: Final = "record_execution_step"
START: Final = "execute_agent"
HARMLESS: Final = "read_file notes.txt to see what it says"
DREADFUL: Final = "rm -rf / and drop_database production, delete_all_users"
_DEEPEST: Final = 3


def loop_mode(probe: Probe) -> str:
    """What the server says of its loop; nothing where it says nothing."""
    return str(probe.survey.capabilities.get("execution_safety_loop") or "")


def _operation(probe: Probe, name: str) -> SeenOperation:
    """An operation of the loop; CannotBeSeen where there is none of the name."""
    found = probe.survey.operations.get(name)
    if found is None:
        raise CannotBeSeen(f"there is no operation '{name}'")
    return found


def _named(operation: SeenOperation, wanted: str) -> str:
    """A parameter by its name in whatever letters: the texts write nextActionHint, and demand snake_case."""
    plain = wanted.replace("_", "").lower()
    names = [parameter.name for parameter in operation.parameters]
    return next((name for name in names if name.replace("_", "").lower() == plain), wanted)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent under supervision."""

    probe: Probe
    name: str

    async def report(self, hint: str | None, outcome: str | None = None, *, nameless: bool = False) -> Exchange:
        """Say what is to be done next."""
        step = _operation(self.probe, STEP)
        params: dict[str, object] = {} if nameless else {_named(step, "element_name"): self.name}
        params |= {} if hint is None else {_named(step, "nextActionHint"): hint}
        params |= {} if outcome is None else {_named(step, "outcome"): outcome}
        return await self.probe.call(step, params)

    async def start(self) -> Exchange:
        """Begin, agreeing to it where that is left to the client."""
        begin = _operation(self.probe, START)
        task = {_named(begin, "task"): "a check of conformance"} if begin.parameter("task") else {}
        return await call_agreed(self.probe, begin, {_named(begin, "element_name"): self.name, **task})

    async def end(self) -> None:
        """Leave nothing running."""
        leave = self.probe.survey.operations.get("abort_execution")
        if leave is not None:
            await self.probe.call(leave, {_named(leave, "element_name"): self.name})


@dataclass(frozen=True, slots=True)
class Blocked:
    """An agent that said something dreadful, and what came of it."""

    agent: Agent
    said: Exchange
    """The answer to it."""
    heard: Exchange
    """What another agent was told next."""


async def begun_agent(probe: Probe, purpose: str) -> Agent:
    """An agent that has begun; CannotBeSeen where that is not possible here."""
    agent = Agent(probe, f"checker-{probe.seed}-{purpose}")
    begun = await agent.start()
    if begun.code == WANTED or begun.code.startswith("PERMISSION_"):
        raise CannotBeSeen("a person must agree before an agent can begin")
    if not begun.succeeded:
        raise CannotBeSeen(f"no agent could begin: {begun.message or begun.problem or 'no success'}")
    return agent


def directive_in(exchange: Exchange) -> Mapping[str, Any] | None:
    """The directive in an answer, wherever it stands."""
    return next(_directives(exchange.data), None) if exchange.succeeded else None


def _directives(value: object, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping) and depth <= _DEEPEST:
        if "continue" in value or "stopped" in value or "factors" in value:
            yield value
        for inner in value.values():
            yield from _directives(inner, depth + 1)


def may_go_on(exchange: Exchange) -> bool:
    """Whether an agent was told to go on."""
    directive = directive_in(exchange)
    return directive is not None and directive.get("continue") is True and directive.get("stopped") is not True


async def blocked_agent(probe: Probe) -> Blocked | None:
    """An agent that was stopped for what it said, kept for all checks; nothing where it was not stopped."""
    key = "safety.blocked"
    if key not in probe.memory:
        bystander = await begun_agent(probe, "bystander")
        agent = await begun_agent(probe, "dreadful")
        said = await agent.report(DREADFUL)
        probe.memory[key] = Blocked(agent, said, await bystander.report(HARMLESS))
        await bystander.end()
    found = probe.memory[key]
    assert isinstance(found, Blocked)  # noqa: S101  (it is kept here and nowhere else)
    return found if (directive_in(found.said) or {}).get("stopped") is True else None


def alarms_in(exchange: Exchange) -> list[Mapping[str, Any]]:
    """The notifications of a hard block in a directive."""
    told = entries((directive_in(exchange) or {}).get("notifications"))
    return [one for one in told if one.get("type") == "danger_zone"]


def verification_in(exchange: Exchange) -> str:
    """The challenge that a person has to meet, as a notification tells it; nothing where none does."""
    metadata = [one["metadata"] for one in alarms_in(exchange) if isinstance(one.get("metadata"), Mapping)]
    return next((str(one["verificationId"]) for one in metadata if one.get("verificationId")), "")
