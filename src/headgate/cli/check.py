"""``headgate check``: whether a server keeps to MCP-AQL, with the request for every finding."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from headgate.cli.check_catalogue import explain_check, list_checks
from headgate.cli.check_choices import Choosing, Looking, Reporting, write_file
from headgate.cli.check_targets import Reached, Reaching, opened_server
from headgate.cli.exits import FAILED, OK
from headgate.cli.guards import Guarding
from headgate.cli.output import complain, console, guarded, print_line, told
from headgate.cli.progress import progress
from headgate.cli.targets import DatabaseChoices
from headgate.client.targets import only
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.visible import visible
from headgate.server.settings import SettingError
from headgate.sources.gate.recognizing import is_server_list, kind_of_source
from headgate.sources.gate.specs import SourceKind

if TYPE_CHECKING:
    from headgate.client.wires import Answer
    from headgate.conformance.report import Report
    from headgate.conformance.reports.shown import Shown

__all__ = ["check"]

_WIDEST: Final = 100


def check(
    target: Annotated[
        str | None,
        Parameter(
            help="The http(s) URL of a server, or its command after --; any source that serve takes, which is then "
            "served here; a saved report or an evidence bundle in JSON. Without one: the built-in demo."
        ),
    ] = None,
    /,
    *,
    choosing: Choosing = Choosing(),  # noqa: B008  (frozen)
    looking: Looking = Looking(),  # noqa: B008  (frozen)
    reporting: Reporting = Reporting(),  # noqa: B008  (frozen)
    send: Annotated[
        str | None,
        Parameter(
            help='Send one request, such as \'{"tool": "mcp_aql_read", "arguments": {…}}\', print the answer, and end.',
            allow_leading_hyphen=True,
            show_default=False,
        ),
    ] = None,
    list_all: Annotated[
        bool, Parameter(name="--list", help="Show all checks, and end.", negative=(), show_default=False)
    ] = False,
    explain: Annotated[
        str | None, Parameter(help="Show what one check looks for, why and how, and end.", show_default=False)
    ] = None,
    reaching: Reaching = Reaching(),  # noqa: B008  (frozen)
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
) -> int:
    """Check whether a server in any language keeps to MCP-AQL.

    Only READ operations are called, unless --allow names others. Every finding comes with the exact request, the
    answer, the section of the specification, and a command that shows it again.

    Exit code 0: all passed; 1: a MUST failed; 2: only warnings; 3: wrong usage, or there is no server.
    """

    async def work() -> int:
        with _usage_is_configuration():
            if list_all:
                return list_checks(choosing, reporting)
            if explain is not None:
                return explain_check(explain)
            saved = _saved(target, choosing, reporting)
            if saved is not None:
                return _show(saved, reporting)
            reporting.check(choosing)
            options = looking.options()
            async with opened_server(target, reaching, database, guarding, looking) as server:
                if send is not None:
                    return await _send(server, send, looking.timeout)
                report = await _run(server, choosing, looking, options)
            return _settled(report, server, choosing, reporting)

    with told(notes=False):
        try:
            return guarded(work)
        except KeyboardInterrupt:
            complain("interrupted: there is no report")
            raise


@contextmanager
def _usage_is_configuration() -> Iterator[None]:
    """Have every mistake end with 3: here 2 is the word for warnings."""
    from headgate.client.wires import WireError  # noqa: PLC0415  (most of a second of imports)

    try:
        yield
    except (SettingError, WireError) as error:
        raise AdapterError(str(error)) from None
    except BaseExceptionGroup as group:
        alone = only(group)
        if isinstance(alone, SettingError | WireError):
            raise AdapterError(str(alone)) from None
        raise


def _saved(target: str | None, choosing: Choosing, reporting: Reporting) -> "Shown | None":
    """The report in a file, or what is to be said of an evidence bundle in one; None for everything else."""
    from headgate.conformance.reports.json_report import is_report, read_report  # noqa: PLC0415

    path = Path(target) if target and target.lower().endswith(".json") else None
    if path is None or not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # as a source it is told what is wrong with it
    if is_report(content):
        reporting.refuse_for_saved()
        return read_report(content)
    shown = _bundle(path, content, choosing, reporting)
    if shown is None and not is_server_list(str(path)) and kind_of_source(str(path)) is SourceKind.MODULE:
        raise SettingError(_nothing_known(path, content))
    return shown


def _nothing_known(path: Path, content: object) -> str:
    """What is said of JSON that is nothing which can be checked."""
    if isinstance(content, dict) and "baseline" in content:
        return f"'{path}' is a baseline, which --baseline takes: name the server too"
    return (
        f"'{path}' cannot be checked: expected is a saved report, an evidence bundle, a list of MCP servers with a key "
        "'mcpServers', or an OpenAPI document with a key 'openapi'"
    )


def _bundle(path: Path, content: Any, choosing: Choosing, reporting: Reporting) -> "Shown | None":
    from headgate.conformance.evidence.bundle import is_bundle  # noqa: PLC0415
    from headgate.conformance.evidence.judging import judge_bundle  # noqa: PLC0415
    from headgate.conformance.reports.json_report import read_report  # noqa: PLC0415

    if not is_bundle(path):
        return None
    reporting.refuse_for_saved()
    judged = judge_bundle(content, choosing.told_level, choosing.told_tier, choosing.category)
    shown = read_report(judged.wire())
    return replace(shown, subject=replace(shown.subject, target=str(path)))


async def _run(server: Reached, choosing: Choosing, looking: Looking, options: Any) -> "Report":
    from headgate.conformance.choice import out_of  # noqa: PLC0415
    from headgate.conformance.running import Began, Finished, Started, examine  # noqa: PLC0415

    checks = choosing.checks()
    level = max([choosing.level, *(check.level for check in checks)])
    report: Report | None = None
    done = total = 0
    with progress("Checking") as bar:
        run = examine(
            server.opener, options, target=str(server.way), level=level, checks=checks, seconds=looking.time_limit
        )
        async for event in run:
            match event:
                case Started(_, total):
                    bar(0, total, "")
                case Began(check):
                    bar(done, total, check.id)
                    done += 1
                case Finished(report):
                    pass
    assert report is not None  # noqa: S101  (a run ends with it)
    return replace(report, out_of=out_of(checks, choosing.level))


def _settled(report: "Report", server: Reached, choosing: Choosing, reporting: Reporting) -> int:
    """Compare a report with what is known, write what is to be written, and show it."""
    from headgate._version import __version__  # noqa: PLC0415
    from headgate.conformance.reports.shown import shown_of  # noqa: PLC0415

    whole = replace(report, results=(*report.results, *choosing.transcripts()))
    baseline = reporting.known(whole)
    way = replace(server.way, transcript=choosing.transcript_words)
    shown = shown_of(whole, way, baseline=baseline, secrets=server.secrets, checker=f"headgate {__version__}")
    return _show(shown, reporting)


def _show(shown: "Shown", reporting: Reporting) -> int:
    from headgate.conformance.reports.formats import FORMATS  # noqa: PLC0415
    from headgate.conformance.reports.text import text_of, verdict_line  # noqa: PLC0415

    if reporting.output is not None:
        plain = f"{text_of(shown, verbose=reporting.verbose).plain}\n" if reporting.is_text else ""
        write_file(reporting.output, plain or FORMATS[reporting.form](shown))
        complain(f"written to '{reporting.output}'")
        complain(verdict_line(shown))
    elif reporting.is_text:
        terminal = console()
        width = min(terminal.width, _WIDEST) if terminal.is_terminal else 80
        terminal.print(text_of(shown, verbose=reporting.verbose, width=width), soft_wrap=True)
    else:
        sys.stdout.write(FORMATS[reporting.form](shown))
    return shown.exit_code


@dataclass(frozen=True, slots=True)
class _Request:
    tool: str
    arguments: object


def _request(text: str) -> _Request:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise SettingError("--send must be JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("tool"), str) or "arguments" not in found:
        raise SettingError('--send must be an object such as \'{"tool": "mcp_aql_read", "arguments": {}}\'')
    return _Request(found["tool"], found["arguments"])


async def _answer(server: Reached, request: _Request, seconds: float) -> "Answer":
    async with server.opener(era=server.era) as wire:
        return await wire.call(request.tool, request.arguments, seconds=seconds)


async def _send(server: Reached, text: str, seconds: float) -> int:
    """Send a request as it is, and print what came of it."""
    from headgate.client.wires import Lost, NotOpened, Refused, Silent, Unreachable  # noqa: PLC0415
    from headgate.conformance.reports.shortening import spelt  # noqa: PLC0415

    request = _request(text)
    try:
        answer = await _answer(server, request, seconds)
    except Unreachable:
        raise
    except Refused as error:
        complain(visible(f"error {error.code} of JSON-RPC: {error}"))
        return FAILED
    except (Silent, Lost, NotOpened) as error:
        complain(visible(str(error)))
        return FAILED
    alone = answer.text is not None and len(answer.blocks) == 1
    print_line(visible(answer.text or "") if alone else spelt(answer.raw))
    return OK
