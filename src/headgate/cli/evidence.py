"""What ``headgate export --evidence`` does: a server is tried, and what was seen is written down."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from headgate.cli import check_targets
from headgate.cli.check_choices import Looking
from headgate.cli.gates import SourceChoices
from headgate.cli.guards import Guarding
from headgate.cli.openings import Reaching
from headgate.cli.output import complain
from headgate.cli.targets import DatabaseChoices
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.visible import visible
from headgate.server.settings import SettingError

if TYPE_CHECKING:
    from headgate.conformance.evidence.judging import BundleReport
    from headgate.conformance.evidence.transcripts import Case
    from headgate.conformance.fixtures import Fixtures
    from headgate.conformance.probe import Opener

__all__ = ["EvidenceChoices", "captured"]

_RIGHTS: Final = frozenset({"create", "read", "update", "delete", "execute"})


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EvidenceChoices:
    """What is written down of a server, and how it is tried."""

    evidence: Annotated[
        Path | None,
        Parameter(
            help="Try an MCP-AQL server and write the evidence of its conformance to this file. Only READ operations "
            "are called, unless --allow names more, such as create,update,delete,execute.",
            show_default=False,
        ),
    ] = None
    fixtures: Annotated[
        Path | None,
        Parameter(help="A TOML file of values that introspection does not tell, for --evidence.", show_default=False),
    ] = None
    transcript: Annotated[
        Path | None,
        Parameter(help="A JSON file of a model's conversations to put into the evidence.", show_default=False),
    ] = None
    other_mode: Annotated[
        str | None,
        Parameter(help="The same server in its other mode, for --evidence: a URL or a command.", show_default=False),
    ] = None

    def refuse_alone(self) -> None:
        """Say that an option makes no sense without evidence."""
        if self.fixtures or self.transcript or self.other_mode:
            raise SettingError("--fixtures, --transcript and --other-mode are for --evidence")

    def known(self) -> tuple["Fixtures", Sequence["Case"]]:
        """What the files hold; what is wrong in them is a mistake in how the command is used."""
        from headgate.conformance.evidence.transcripts import read_transcripts  # noqa: PLC0415
        from headgate.conformance.fixtures import Fixtures  # noqa: PLC0415

        try:
            fixtures = Fixtures.read(self.fixtures) if self.fixtures else Fixtures()
            return fixtures, read_transcripts(self.transcript) if self.transcript else ()
        except AdapterError as error:
            raise SettingError(str(error)) from None


async def captured(
    targets: Sequence[str], choices: EvidenceChoices, reaching: Reaching, database: DatabaseChoices
) -> dict[str, Any]:
    """The evidence of one server; what it amounts to is told."""
    from headgate.client.wires import WireError  # noqa: PLC0415  (most of a second of imports)
    from headgate.conformance.evidence.capturing import capture  # noqa: PLC0415
    from headgate.conformance.evidence.judging import judge_bundle  # noqa: PLC0415
    from headgate.conformance.probe import Gone, Options, opened_probe  # noqa: PLC0415

    if len(targets) > 1:
        raise SettingError(f"evidence is of one server, not of {len(targets)}")
    fixtures, transcripts = choices.known()
    rights, reaching = _rights(reaching)
    try:
        async with (
            _opener(next(iter(targets), None), choices, reaching, database) as opener,
            opened_probe(opener, Options(allowed=rights, fixtures=fixtures)) as probe,
        ):
            bundle = await capture(probe, transcripts)
    except (WireError, Gone) as error:
        raise AdapterError(f"the server cannot be tried: {error}") from None
    for note in bundle["notes"]:
        complain(visible(note))
    _tell(judge_bundle(bundle, 2))
    return bundle


def _tell(report: "BundleReport") -> None:
    summary = report.wire()["summary"]
    complain(
        f"judged for level 2: {summary['passed']} passed, {summary['warned']} warned, {summary['failed']} failed, "
        f"{summary['skipped']} skipped"
    )


def _rights(reaching: Reaching) -> tuple[frozenset[str], Reaching]:
    """What ``--allow`` lets be called, and apart from it the addresses that it lets be reached."""
    given = [word.strip() for text in reaching.allow for word in text.split(",") if word.strip()]
    rights = [word for word in given if word.lower() in _RIGHTS]
    addresses = tuple(word for word in given if word not in rights)
    return frozenset(word.upper() for word in rights), replace(reaching, allow=addresses)


@dataclass(frozen=True, kw_only=True)
class _Reaching(check_targets.Reaching):
    """Sources are reached as this command was told."""

    told: Reaching

    def choices(self) -> SourceChoices:
        """What was told."""
        return self.told


@asynccontextmanager
async def _opener(
    target: str | None, choices: EvidenceChoices, reaching: Reaching, database: DatabaseChoices
) -> AsyncIterator["Opener"]:
    """The way to a server that runs or is started, or to a source that is served here."""
    if target is None and choices.other_mode is None:
        from headgate.conformance.openers import opener_of_adapter  # noqa: PLC0415

        async with check_targets.own_demo(database) as adapter:
            yield opener_of_adapter(adapter)
        return
    how = _Reaching(header=reaching.header, told=reaching)
    looking = Looking(other_mode=choices.other_mode)
    async with check_targets.opened_server(target, how, database, Guarding(), looking) as server:
        yield server.opener
