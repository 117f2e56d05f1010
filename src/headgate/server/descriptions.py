"""The tools as a host sees them: few, cheap, and with an index of the operations inside their descriptions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headgate.adapter.exposure import Exposure
from headgate.adapter.introspection import INTROSPECT
from headgate.adapter.operations import Operation
from headgate.protocol.categories import is_destructive, is_read_only
from headgate.protocol.profiles import Mode
from headgate.server.tokens import estimate

__all__ = ["INPUT_SCHEMA", "ToolCard", "default_budget", "tool_cards"]

INPUT_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "operation": {"type": "string"},
        "params": {"type": "object"},
        "operations": {"type": "array", "items": {"type": "object"}},
    },
}
"""One shape for every tool, without required fields or unions, which some hosts refuse: the server validates."""

_BUDGET: Final = {Mode.SEMANTIC: 600, Mode.SINGLE: 200, Mode.ALL: 600}


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
        return _LEVELS[level](self.operations) if self.has_index else ""


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
            'Details: {"operation":"introspect","params":{"query":"operations","name":"…"}}; '
            'find: {"query":"search","name":"words"}. Several at once: "operations".'
        )
    else:
        name = tool.operations[0].name
        more = f'Example: {{"operation":"{name}","params":{{…}}}}. Parameters: introspect in {help_tool}.'
    return f"{tool.purpose}. {index}{more}"


def _indexes(tools: Sequence[_Tool], budget: int) -> list[str]:
    """An index for each tool, as rich as the budget allows. All are shortened alike, the most expensive one first."""
    levels = [0] * len(tools)
    while True:
        texts = [tool.index(level) for tool, level in zip(tools, levels, strict=True)]
        costs = [estimate(text) for text in texts]
        if sum(costs) <= budget:
            return texts
        can_give_way = [place for place, level in enumerate(levels) if level < len(_LEVELS) - 1]
        if not can_give_way:
            return texts
        levels[max(can_give_way, key=lambda place: (-levels[place], costs[place]))] += 1


def _with_parameters(operations: Sequence[Operation]) -> str:
    shown = (f"{o.name}({', '.join(p.name for p in o.parameters if p.required)})" for o in operations)
    return f"Operations: {', '.join(shown)}. "


def _names(operations: Sequence[Operation]) -> str:
    return f"Operations: {', '.join(operation.name for operation in operations)}. "


def _groups(most: int, operations: Sequence[Operation]) -> str:
    """Counts by resource, so that an agent knows what to search for."""
    if not most:
        return f"{len(operations)} operations; search for the one you need. "
    counts = Counter(_group(operation) for operation in operations)
    shown = [f"{group} {count}" for group, count in counts.most_common(most)]
    rest = len(counts) - len(shown)
    more = f", {rest} more" if rest > 0 else ""
    return f"{len(operations)} operations on: {', '.join(shown)}{more}. Search for the one you need. "


def _group(operation: Operation) -> str:
    return operation.resource.partition("_")[0]


_LEVELS: Final = (
    _with_parameters,
    _names,
    lambda operations: _groups(30, operations),
    lambda operations: _groups(12, operations),
    lambda operations: _groups(4, operations),
    lambda operations: _groups(0, operations),
)
