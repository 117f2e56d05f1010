"""One call that checks a server, for test suites and scripts."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio

from headgate.adapter.adapter import Adapter
from headgate.client.wires import Command, Era, InProcess, Place, Url
from headgate.conformance.choice import chosen_checks, out_of, rights_of
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.openers import opener_of, opener_of_adapter
from headgate.conformance.probe import Opener, Options
from headgate.conformance.report import Report
from headgate.conformance.reports.reproducing import Way, header_shown, without_secrets
from headgate.conformance.running import Event, Finished, examine
from headgate.conformance.values import Check
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.databases import is_database
from headgate.sources.gate.opening import database_adapter
from headgate.sources.gate.specs import DatabaseSpec
from headgate.sources.modules import load_adapter

__all__ = ["Checked", "check_server", "opener_of_target", "place_of", "way_of"]

Checked: TypeAlias = "str | Sequence[str] | Adapter | Place"
"""What can be checked: a URL, a command and its words, a source that headgate serves, an adapter."""

_COMMAND: Final = "stdio:"
_OPENING_SECONDS: Final = 30.0


def check_server(
    target: Checked,
    *,
    level: int = 1,
    allow: str | Iterable[str] = (),
    fixtures: Fixtures | Mapping[str, Any] | Path | None = None,
    only: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    timeout: float = 10.0,
    time_limit: float = 600.0,
    operations: int = 100,
    era: Era = "auto",
    on_event: Callable[[Event], None] = lambda _event: None,
) -> Report:
    """Check a server and give the report; ``report.raise_for_failures()`` makes a failing test of it.

    ``target`` is a URL, a list of words that starts a server over stdio, ``module:adapter``, a database, or an adapter.
    Only READ operations are called unless ``allow`` names others, such as ``"create,update,delete"``.
    AdapterError if something is wrong with what is asked for, and Unreachable if there is no server.
    """
    options = Options(
        allowed=rights_of(allow),
        fixtures=_fixtures(fixtures),
        seconds=timeout,
        most_operations=operations,
        era=era,
    )
    checks = chosen_checks(level=level, only=only)
    opener = opener_of_target(target, headers=headers, seconds=min(_OPENING_SECONDS, time_limit))

    async def work() -> Report:
        return await _finished(opener, options, _name_of(target), level, checks, time_limit, on_event)

    rights = (*_words("--allow", ",".join(sorted(options.allowed)).lower()), *_words("--fixtures", fixtures))
    return replace(anyio.run(work), way=way_of(target, headers or {}, rights))


def _words(option: str, value: object) -> tuple[str, ...]:
    return (option, str(value)) if value and isinstance(value, str | Path) else ()


def way_of(target: Checked, headers: Mapping[str, str], rights: tuple[str, ...]) -> Way | None:
    """How a server is named on the command line; None for what is only known to this process."""
    if isinstance(target, Adapter | InProcess):
        return None
    place = target if isinstance(target, Url | Command) else place_of(target, headers)
    sent = {**headers, **(place.headers if isinstance(place, Url) else {})}
    options = tuple(word for name, value in sent.items() for word in ("--header", header_shown(f"{name}: {value}")))
    match place:
        case Command(words):
            return Way.of(None, words, rights=rights)
        case Url(url):
            return Way.of(url, options=options, rights=rights)
        case _:
            return Way.of(str(target), rights=rights)


def _name_of(target: Checked) -> str:
    match target:
        case str():
            return without_secrets(target)
        case Adapter():
            return target.name
        case Url(url):
            return without_secrets(url)
        case InProcess():
            return "a server in this process"
        case Command(words):
            return str(Way.of(None, words))
        case _:
            return str(Way.of(None, tuple(target)))


async def _finished(
    opener: Opener,
    options: Options,
    target: str,
    level: int,
    checks: Sequence[Check],
    seconds: float,
    on_event: Callable[[Event], None],
) -> Report:
    report: Report | None = None
    highest = max([level, *(check.level for check in checks)])
    async for event in examine(opener, options, target=target, level=highest, checks=checks, seconds=seconds):
        on_event(event)
        if isinstance(event, Finished):
            report = event.report
    assert report is not None  # noqa: S101  (a run ends with it)
    return replace(report, out_of=out_of(checks, level))


def _fixtures(given: Fixtures | Mapping[str, Any] | Path | None) -> Fixtures:
    if isinstance(given, Fixtures):
        return given
    if isinstance(given, Path):
        return Fixtures.read(given)
    return Fixtures.of(given or {}, "fixtures")


def place_of(target: str | Sequence[str], headers: Mapping[str, str] | None = None) -> Place | None:
    """Where a server is that runs or is started; None for everything that headgate would serve itself."""
    if not isinstance(target, str):
        return Command(tuple(target))
    if target.startswith(("http://", "https://")):
        return Url(target, headers or {})
    if target.startswith(_COMMAND):
        return Command(tuple(shlex.split(target.removeprefix(_COMMAND))))
    return None


def opener_of_target(
    target: Checked, *, headers: Mapping[str, str] | None = None, seconds: float = _OPENING_SECONDS
) -> Opener:
    """The way to whatever can be checked."""
    if isinstance(target, Adapter):
        return opener_of_adapter(target)
    if isinstance(target, Url | Command | InProcess):
        return opener_of(target, seconds=seconds)
    place = place_of(target, headers)
    if place is not None:
        return opener_of(place, seconds=seconds)
    if not isinstance(target, str) or not target:
        raise AdapterError(
            "a target is a URL, a command as a list of words, 'module:adapter', a database or an adapter"
        )
    return opener_of_adapter(_adapter(target))


def _adapter(source: str) -> Adapter:
    return database_adapter(source, DatabaseSpec()) if is_database(source) else load_adapter(source)
