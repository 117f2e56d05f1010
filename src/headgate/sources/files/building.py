"""From what a file says to an adapter: one connection, and an operation for each entry."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import Context
from headgate.adapter.functions import TRYING
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.adapter.origins import Inferred, Origin, Provenance
from headgate.adapter.tabular import offering_tables
from headgate.safety.danger import classify
from headgate.sources.files.paging import PAGE
from headgate.sources.files.plugins.interfaces import Connection, Plan, Surroundings
from headgate.sources.files.plugins.registry import AUTHS, PROTOCOLS, SERIALIZATIONS, TRANSPORTS
from headgate.sources.files.values import CONTEXT, AdapterFile, Entry

__all__ = ["FileCall", "adapter_from", "connection_for", "operation_of"]


@dataclass(frozen=True)
class FileCall:
    """The handler of an operation: what stands in the file, carried out."""

    entry: Entry
    file: AdapterFile
    plan: Plan
    connection: Connection

    async def __call__(self, **values: Any) -> object:
        """The answer to a call with these values."""
        context: Context | None = values.pop(CONTEXT, None)
        return await self.plan.call(values, self.connection, context)


def connection_for(file: AdapterFile, here: Surroundings) -> Connection:
    """The way to a file's target. Nothing is sent yet."""
    auth = AUTHS.named(file.auth.type)
    transport = TRANSPORTS.named(file.target.transport)
    return transport.connect(file.target, auth.credentials(file.auth, file.name), here)


def adapter_from(file: AdapterFile, connection: Connection) -> Adapter:
    """The adapter that a file describes, over a connection."""
    adapter = Adapter(file.name, file.description, version=file.version, profile=file.profile, trust=file.trust)
    protocol = PROTOCOLS.named(file.target.protocol)
    serialization = SERIALIZATIONS.named(file.target.serialization)
    for entry in file.entries:
        plan = protocol.plan(entry, file.target, serialization)
        adapter.add(operation_of(entry, FileCall(entry, file, plan, connection), checked=True))
    return adapter


def operation_of(entry: Entry, function: Callable[..., Awaitable[object]], *, checked: bool = False) -> Operation:
    """The operation of an entry. An AdapterError says which rule it breaks, unless it is ``checked`` to break none."""
    tries_nothing = not entry.category.read_only and all(one.name != DRY_RUN for one in entry.parameters)
    made = Operation(
        name=entry.name,
        category=entry.category,
        function=function,
        parameters=(*entry.parameters, TRYING) if tries_nothing else entry.parameters,
        summary=entry.summary,
        description=entry.description,
        returns=dict(PAGE) if entry.paging else entry.returns,
        returns_description=entry.returns_description,
        definitions=entry.definitions,
        examples=entry.examples,
        endpoint=entry.endpoint,
        deprecated=entry.deprecated,
        locks=entry.locks,
        rationale=entry.rationale,
        context_parameter=CONTEXT,
        danger=entry.danger,
        tries_nothing=tries_nothing,
        background=entry.background,
        rules=entry.rules,
        group=entry.group,
        checked=checked,
    )
    return offering_tables(replace(made, origin=_origin(made, entry), checked=True))


def _origin(operation: Operation, entry: Entry) -> Origin:
    """The file itself says all there is to say; where it does not speak of danger, category and name do."""
    classified = classify(operation)
    provenance = Provenance.DIRECT if entry.danger else Provenance.NORMALIZED
    return Origin(
        own_name=entry.name,
        maps_to=entry.maps_to,
        category=Inferred(entry.category.value, 1.0, Provenance.DIRECT, ("the adapter file says so",)),
        danger=Inferred(classified.level.value, 1.0, provenance, (classified.origin,)),
    )
