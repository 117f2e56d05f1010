"""What ``review`` and ``export`` look at: sources that are opened, looked at and closed, each by itself."""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import anyio
from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.gates import OPENING_SECONDS, SourceChoices
from headgate.cli.guards import configured
from headgate.cli.options import option
from headgate.cli.output import complain
from headgate.cli.starting import waiting_told
from headgate.cli.targets import DatabaseChoices
from headgate.protocol.adapter_errors import AdapterError
from headgate.server.settings import SettingError
from headgate.sources.gate.opening import source_of
from headgate.sources.gate.planning import Choices, specs_of
from headgate.sources.gate.specs import SourceKind, SourceSpec

if TYPE_CHECKING:
    from headgate.sources.mcp.captures import Capture

__all__ = ["Found", "Looked", "Reaching", "Sources", "looked_at"]

Sources: TypeAlias = Annotated[
    str,
    Parameter(
        help="Any sources that serve takes: MCP servers, OpenAPI documents, adapter files, modules, databases, or a "
        "headgate.toml; a command after -- is an MCP server. Without one: the demo.",
    ),
]

_DEMO: Final = SourceSpec(name="bookshop", kind=SourceKind.DEMO)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reaching(SourceChoices):
    """How sources are reached."""

    start_timeout: Annotated[
        float, option("Seconds that a source may take to open; 120 unless said.", "HEADGATE_START_TIMEOUT")
    ] = OPENING_SECONDS


@dataclass(frozen=True, slots=True)
class Found:
    """One source as it is now. What the adapter holds is closed: it can be looked at, not called."""

    spec: SourceSpec
    adapter: Adapter
    capture: "Capture | None" = None
    """What an MCP server listed, word for word."""


@dataclass(slots=True)
class Looked:
    """The sources that could be opened, in the order in which they are named."""

    found: list[Found] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    """Why the others could not, by their names."""
    are_several: bool = False
    done: set[str] = field(default_factory=set)
    """Those of which it is known whether they open."""

    @property
    def failed(self) -> int:
        """How many could not be opened."""
        return len(self.problems)


async def looked_at(
    sources: Sequence[str], source: str | None, reaching: Reaching, database: DatabaseChoices
) -> Looked:
    """All sources side by side. One that does not open is told of, and the others are looked at all the same."""
    choices = reaching.choices(database.spec(), os.environ)
    specs = _specs((*sources, source), choices)
    if not specs:
        raise SettingError("There is no source to look at: what was named lists none, or all of them are disabled")
    looked = Looked(are_several=len(specs) > 1)
    with redirect_stdout(sys.stderr):  # what a module prints is not the answer
        async with anyio.create_task_group() as telling:
            telling.start_soon(
                waiting_told, lambda: [spec.name for spec in specs if spec.name not in looked.done], sys.stderr
            )
            async with anyio.create_task_group() as tasks:
                for spec in specs:
                    tasks.start_soon(_look, spec, looked, reaching.start_timeout)
            telling.cancel_scope.cancel()
    looked.found.sort(key=lambda one: specs.index(one.spec))
    return looked


def _specs(words: Sequence[str | None], choices: Choices) -> list[SourceSpec]:
    config = configured(*words, choices=choices)
    if config.plan is not None:
        return [spec for spec in config.plan.sources if not spec.disabled]
    return [_DEMO] if config.source is None else list(specs_of([config.source], choices))


async def _look(spec: SourceSpec, looked: Looked, seconds: float) -> None:
    """Open, look and close in one task, since a source may hold what belongs to its task."""
    try:
        made = source_of(spec)
        try:
            with anyio.fail_after(seconds):
                adapter = await made.open()
            looked.found.append(Found(spec, adapter, getattr(made, "capture", None)))
        finally:
            with anyio.CancelScope(shield=True):
                await made.close()
    except AdapterError as error:
        _fail(spec, looked, str(error))
    except TimeoutError:
        _fail(spec, looked, f"it did not answer within {seconds:g} s")
    finally:
        looked.done.add(spec.name)


def _fail(spec: SourceSpec, looked: Looked, problem: str) -> None:
    looked.problems[spec.name] = problem
    complain(f"source '{spec.name}' {'is left out' if looked.are_several else 'could not be opened'}: {problem}")
