"""The tools as a host sees them: few, cheap, and with an index of the operations inside their descriptions."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headgate.adapter.adapter import Adapter
from headgate.adapter.exposure import Exposure
from headgate.adapter.introspection import INTROSPECT
from headgate.adapter.operations import Operation
from headgate.protocol.categories import is_destructive, is_read_only
from headgate.protocol.names import singular
from headgate.protocol.profiles import Mode
from headgate.protocol.tokens import estimate

__all__ = ["INPUT_SCHEMA", "ToolCard", "default_budget", "input_schema", "tool_cards"]

INPUT_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "operation": {"type": "string"},
        "params": {"type": "object"},
        "operations": {"type": "array", "items": {"type": "object"}},
    },
}
"""One shape for every tool, without required fields or unions, which some hosts refuse: the server validates."""


def input_schema(adapter: Adapter) -> dict[str, Any]:
    """What a tool takes; where changes can be undone, a batch may also be kept or undone together."""
    if not adapter.collections.transactions:
        return dict(INPUT_SCHEMA)
    together = {"transaction": {"type": "boolean", "description": "All operations or none."}}
    return {**INPUT_SCHEMA, "properties": {**INPUT_SCHEMA["properties"], **together}}


_BUDGET: Final = {Mode.SEMANTIC: 475, Mode.SINGLE: 205, Mode.ALL: 520}


@dataclass(frozen=True, slots=True)
class ToolCard:
    """One tool: its family (None for the single one), its words, and what it may do."""

    name: str
    family: str | None
    description: str
    read_only: bool
    destructive: bool


def default_budget(mode: Mode) -> int:
    """How many tokens all descriptions together may cost."""
    return _BUDGET[mode]


@dataclass(frozen=True, slots=True)
class _Tool:
    family: str | None
    purpose: str
    operations: tuple[Operation, ...]
    has_index: bool = True

    def index(self, level: int) -> str:
        """What it holds, the poorer the higher the level."""
        if not self.has_index:
            return ""
        if level < len(_NAMING):
            return _NAMING[level](self.operations)
        most = _MOST_GROUPS if self.family else 4 * _MOST_GROUPS
        return _groups(round(most * _SHARES[level - len(_NAMING)]), self.operations)


def tool_cards(operations: Mapping[str, Operation], exposure: Exposure, budget: int | None) -> list[ToolCard]:
    """The tools of an adapter. A family without operations has no tool."""
    tools = _tools(tuple(operations.values()), exposure)
    allowed = default_budget(exposure.mode) if budget is None else budget
    help_tool = exposure.tool_of(operations[INTROSPECT])
    indexes = _indexes(tools, allowed - sum(estimate(_frame(tool, help_tool, "")) for tool in tools))
    return [
        ToolCard(
            exposure.tool(tool.family),
            tool.family,
            _frame(tool, help_tool, index),
            is_read_only(operation.category for operation in tool.operations),
            is_destructive(operation.category for operation in tool.operations),
        )
        for tool, index in zip(tools, indexes, strict=True)
    ]


def _tools(operations: tuple[Operation, ...], exposure: Exposure) -> list[_Tool]:
    if exposure.mode is Mode.SINGLE:
        return [_Tool(None, "All operations", operations)]
    families = [
        _Tool(family.name, family.purpose, tuple(o for o in operations if exposure.family_of(o) is family))
        for family in exposure.profile.families
    ]
    filled = [tool for tool in families if tool.operations]
    single = _Tool(None, "All operations of the other tools", operations, has_index=False)
    return [*filled, single] if exposure.mode is Mode.ALL else filled


def _frame(tool: _Tool, help_tool: str, index: str) -> str:
    """Purpose, index, and how to learn more: the part that is never left out."""
    holds_help = any(operation.name == INTROSPECT for operation in tool.operations)
    if holds_help:
        more = (
            'Find: {"operation":"introspect","params":{"query":"search","name":"words","format":"compact"}}; '
            'parameters: "query":"operations","names":["…"].'
        )
    else:
        name = min((operation.name for operation in tool.operations), key=estimate)
        more = f'Call {{"operation":"{name}","params":{{…}}}}; see introspect in {help_tool}.'
    return f"{tool.purpose}{index or '. '}{more}"


def _indexes(tools: Sequence[_Tool], budget: int) -> list[str]:
    """An index for each tool, as rich as the budget allows. Of the richest, the most expensive gives way first."""
    levels = [0] * len(tools)
    texts = [tool.index(0) for tool in tools]
    costs = [estimate(text) for text in texts]
    while sum(costs) > budget and min(levels) < _POOREST:
        place = min(range(len(tools)), key=lambda place: (levels[place], -costs[place]))
        levels[place] += 1
        texts[place] = tools[place].index(levels[place])
        costs[place] = estimate(texts[place])
    return texts


def _with_parameters(operations: Sequence[Operation]) -> str:
    shown = (f"{o.name}({', '.join(p.name for p in o.parameters if p.required)})" for o in operations)
    return _listed(shown)


def _listed(shown: Iterable[str]) -> str:
    """Names apart by spaces alone: a comma behind each is a third of what they cost."""
    return f": {' '.join(shown)}. "


def _names(operations: Sequence[Operation]) -> str:
    return _listed(operation.name for operation in operations)


def _by_verb(operations: Sequence[Operation]) -> str:
    """All names, a quarter cheaper: ``get_{book loan}``."""
    verbs: dict[str, list[str]] = {}
    for operation in operations:
        verb, _, resource = operation.name.partition("_")
        verbs.setdefault(verb, []).append(resource)
    shown = (
        f"{verb}_{{{' '.join(resources)}}}" if len(resources) > 1 else f"{verb}_{resources[0]}".rstrip("_")
        for verb, resources in verbs.items()
    )
    return _listed(shown)


def _groups(most: int, operations: Sequence[Operation]) -> str:
    """Counts by resource, so that an agent knows what to search for."""
    groups: dict[str, list[list[str]]] = {}
    for operation in operations:
        words = [singular(word) for word in operation.resource.split("_") if word] or [operation.name]
        groups.setdefault(words[0], []).append(words)
    largest = sorted(groups.values(), key=len, reverse=True)[:most]
    shown = [_common(group) + (f" {len(group)}" if len(group) > 1 else "") for group in largest]
    rest = f"{len(groups) - len(shown)} more" if len(groups) > len(shown) else ""
    on = f" on: {', '.join(filter(None, [*shown, rest]))}" if shown else ""
    return f". {len(operations)} operations{on}. Search for the one you need. "


def _common(group: Sequence[Sequence[str]]) -> str:
    """The words that all names of a group begin with."""
    together = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*group, strict=False))
    return "_".join(column[0] for column in together)


_NAMING: Final[tuple[Callable[[Sequence[Operation]], str], ...]] = (_with_parameters, _names, _by_verb)
"""The indexes that name every operation, from rich to poor. Where none has room, groups are counted."""

_MOST_GROUPS: Final = 8
_SHARES: Final = (1.0, 0.6, 0.3, 0.0)
_POOREST: Final = len(_NAMING) + len(_SHARES) - 1
