"""What clients are tried on: a real shop of headgate, and servers that a table of answers is enough for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import anyio
from mcp.server import Server

from headgate import Adapter, Context, Deprecated, NotFound, Param
from tests.conformance.servers import toy_server

__all__ = ["Toy", "details", "shop"]


def shop(done: list[str] | None = None) -> Adapter:
    """An adapter with a little of everything; what was done is written down."""
    made = [] if done is None else done
    adapter = Adapter("shop")

    @adapter.read
    def get_order(order_id: int) -> dict[str, int]:
        """Read an order."""
        if order_id > 100:
            raise NotFound("order", order_id)
        return {"order_id": order_id}

    @adapter.read
    def list_orders(
        after: Annotated[str | None, Param(description="Go on after this.")] = None, first: int = 3
    ) -> dict[str, Any]:
        """List orders, from 1 to 10."""
        start = int(after or 0)
        items = list(range(start + 1, min(start + first, 10) + 1))
        return {"items": items, "pageInfo": {"hasNextPage": items[-1] < 10, "endCursor": str(items[-1])}}

    _add_changes(adapter, made)

    @adapter.read(deprecated=Deprecated(replacement="get_order"))
    def get_old_order(order_id: int) -> int:
        """Read an order as it was done once."""
        return order_id

    @adapter.execute
    def execute_reminder(to: Annotated[str, Param(description="Whom to remind.")]) -> str:
        """Remind somebody."""
        return f"{to} is reminded"

    _add_long_work(adapter)
    return adapter


def _add_changes(adapter: Adapter, made: list[str]) -> None:
    @adapter.create
    def create_note(text: str, pin: Annotated[str, Param(sensitive=True)] = "") -> str:
        """Write a note."""
        made.append(f"note {text}")
        return f"a note of {text}"

    @adapter.update
    def update_note(note_id: int, input: dict[str, str]) -> dict[str, str]:  # noqa: A002
        """Change a note."""
        made.append(f"update {note_id}")
        return input

    @adapter.delete
    def delete_order(order_id: int) -> str:
        """Delete an order."""
        made.append(f"delete {order_id}")
        return "gone"


def _add_long_work(adapter: Adapter) -> None:
    @adapter.execute(background=True)
    async def execute_count(to: int, ctx: Context) -> list[int]:
        """Count, which takes its time."""
        for number in range(to):
            await ctx.progress(number, to, f"at number {number}")
        return list(range(to))

    @adapter.execute(background=True)
    async def execute_forever() -> None:
        """Do not come to an end."""
        await anyio.sleep_forever()

    @adapter.execute(background=True)
    async def execute_in_vain() -> None:
        """Fail."""
        raise NotFound("order", 7)


def details(name: str, category: str = "READ", *parameters: str, **more: Any) -> dict[str, Any]:
    """An operation as introspection tells it; a parameter with a ``!`` is required."""
    told = [
        {"name": one.strip("!"), "type": "any", "required": one.endswith("!"), "description": "x"} for one in parameters
    ]
    return {
        "name": name,
        "semantic_category": category,
        "endpoint": category.lower(),
        "description": f"Does {name}.",
        "parameters": told,
        **more,
    }


@dataclass
class Toy:
    """A server that answers from a table, and remembers what it was asked."""

    operations: list[dict[str, Any]]
    answers: Mapping[str, Callable[[dict[str, Any]], object]]
    """What each operation answers to its parameters: data, or an envelope with ``success`` in it."""
    protocol: Mapping[str, Any] = field(default_factory=lambda: {"version": "1.0.0", "capabilities": {}})
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def server(self, *tools: str) -> Server[Any]:
        """The server with these tools; one that takes everything unless said."""
        return toy_server(self._answer, tools or ("mcp_aql",))

    @property
    def sent(self) -> list[dict[str, Any]]:
        """What was asked beside introspection."""
        return [arguments for _, arguments in self.requests if arguments.get("operation") != "introspect"]

    def _answer(self, tool: str, arguments: dict[str, Any]) -> object:
        self.requests.append((tool, arguments))
        operation, params = arguments.get("operation", ""), arguments.get("params", {})
        if operation in self.answers:
            return _enveloped(self.answers[operation](params))
        if operation == "introspect":
            return {"success": True, "data": self._introspected(params)}
        if "operations" in arguments:
            return _enveloped(self.answers["batch"](arguments))
        return {"success": False, "error": {"code": "NOT_FOUND_OPERATION", "message": f"Unknown: '{operation}'"}}

    def _introspected(self, params: dict[str, Any]) -> object:
        if params["query"] != "operations":
            return {"types": []}
        if "name" in params:
            return {"operation": next((one for one in self.operations if one["name"] == params["name"]), None)}
        return {"_protocol": self.protocol, "operations": self.operations}


def _enveloped(said: object) -> object:
    is_envelope = isinstance(said, str) or (isinstance(said, dict) and "success" in said)
    return said if is_envelope else {"success": True, "data": said}
