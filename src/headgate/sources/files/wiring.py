"""How the operations of an adapter are written as requests: what each maps to, and where its parameters go."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.adapter.adapter import Adapter
from headgate.adapter.operations import DRY_RUN, INPUT, Operation
from headgate.adapter.parameters import Parameter
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.tables import FORMAT
from headgate.sources.files.building import FileCall
from headgate.sources.files.choosing import FIELDS
from headgate.sources.files.paging import AFTER, FIRST
from headgate.sources.files.plugins.calls import CALL, HEADGATE, MCP, OPERATION, TOOL, TOOLS
from headgate.sources.files.plugins.formats import NOTHING
from headgate.sources.files.values import AdapterFile, Auth, Entry, Sent, Target

__all__ = ["Wired", "Wiring", "mcp_target", "source_target", "unfolded", "wiring_of"]


@dataclass(frozen=True)
class Wired:
    """What the file says of one operation's request."""

    maps_to: str
    parameters: tuple[Parameter, ...]
    sent: Mapping[str, Sent] = field(default_factory=dict)
    entry: Entry | None = None
    """What another file has said of it."""


@dataclass(frozen=True)
class Wiring:
    """The target of a file, and how to get there."""

    target: Target
    operations: Mapping[str, Wired]
    auth: Auth = field(default_factory=Auth)
    file: AdapterFile | None = None
    """The file that the adapter itself was read from."""


def source_target(source: str) -> Target:
    """The target of a file that stands for a source of this machine."""
    return Target(
        transport=HEADGATE.name, protocol=OPERATION.name, serialization=NOTHING.name, options={"source": source}
    )


def mcp_target(options: Mapping[str, object]) -> Target:
    """The target of a file that stands for an MCP server: its command or URL; of secrets only their variables."""
    return Target(transport=MCP.name, protocol=TOOLS.name, serialization=NOTHING.name, options=options)


def wiring_of(adapter: Adapter, target: Target | None = None) -> Wiring:
    """How an adapter's operations are reached: through a target, or as the adapter's own file says."""
    if target is None:
        return _of_file(adapter)
    make = _tool if target.transport == MCP.name else _call
    return Wiring(target, {name: make(operation) for name, operation in adapter.operations.items()})


def _of_file(adapter: Adapter) -> Wiring:
    calls = {name: one.function for name, one in adapter.operations.items() if isinstance(one.function, FileCall)}
    files = {id(call.file): call.file for call in calls.values()}
    if len(files) != 1 or len(calls) != len(adapter.operations):
        raise AdapterError(
            f"Adapter '{adapter.name}' does not say where its operations are carried out: name its source, for "
            "the file to refer to."
        )
    file = next(iter(files.values()))
    wired = {name: _from_entry(adapter.operations[name], call.entry) for name, call in calls.items()}
    return Wiring(file.target, wired, file.auth, file)


def _from_entry(operation: Operation, entry: Entry) -> Wired:
    """The request as the file before had it; what the operation has beyond that was made of it."""
    made = {FIRST, AFTER} if entry.paging else set()
    made |= {FIELDS} if entry.fields is not None else set()
    kept = [one for one in _own(operation) if one.name not in made]
    if entry.folded:
        kept = [one for one in kept if one.name != INPUT] + unfolded(operation)
    return Wired(entry.maps_to, tuple(kept), entry.sent, entry)


def unfolded(operation: Operation) -> list[Parameter]:
    """The fields of an ``input`` that was made of parameters, as these parameters."""
    given = operation.parameter(INPUT)
    schema = given.schema if given else {}
    required = schema.get("required", ())
    return [Parameter(name, one, required=name in required) for name, one in schema.get("properties", {}).items()]


def _own(operation: Operation) -> tuple[Parameter, ...]:
    """The parameters without those that the engine adds and answers itself: a dry run, and another form of a list."""
    added = {DRY_RUN: operation.tries_nothing, FORMAT: operation.tabular}
    return tuple(one for one in operation.parameters if not added.get(one.name))


def _call(operation: Operation) -> Wired:
    return Wired(f"{CALL} {operation.name}", _own(operation))


def _tool(operation: Operation) -> Wired:
    if operation.origin is None:
        raise AdapterError(f"Operation '{operation.name}' does not say which tool of the MCP server it is.")
    return Wired(f"{TOOL} {operation.origin.own_name}", _own(operation))
