"""The options of ``headgate check``: what is looked at, how, and what is said of it."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from cyclopts import Parameter

from headgate.cli.options import WHOLE
from headgate.cli.output import complain
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.server.settings import SettingError

if TYPE_CHECKING:
    from headgate.conformance.baseline import Baseline
    from headgate.conformance.report import Report
    from headgate.conformance.values import Check, CheckResult

__all__ = ["Choosing", "Looking", "Reporting", "write_file"]

_FORMATS: Final = ("text", "json", "markdown", "junit", "html", "badge")
_TIERS: Final = ("1", "2", "both")
_ERAS: Final = ("auto", "modern", "legacy")


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        question = did_you_mean(nearest(value, known))
        raise SettingError(f"{option} must be one of {', '.join(known)}, not '{value}'{question}")
    return value


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Choosing:
    """Which checks are run."""

    level: Annotated[
        int,
        Parameter(name=["--level", "-l"], help="The level of conformance, 1 or 2; 1 unless said.", show_default=False),
    ] = 1
    category: Annotated[
        str | None,
        Parameter(
            name=["--category", "-c"], help="Only the checks of one area, such as 'Error Quality'.", show_default=False
        ),
    ] = None
    tier: Annotated[
        str,
        Parameter(
            help="Of the semantic evaluation: 1 leaves it out, 2 judges meaning alone; both unless said.",
            show_default=False,
        ),
    ] = "both"
    only: Annotated[
        tuple[str, ...],
        Parameter(help="Only this check, of whatever level; may be repeated.", negative=(), show_default=False),
    ] = ()
    transcript: Annotated[
        Path | None,
        Parameter(help="A JSON file of what a model did with the server, to be judged too.", show_default=False),
    ] = None

    def checks(self) -> "tuple[Check, ...]":
        """The checks that are meant; what is wrong is a mistake in how the command is used."""
        from headgate.conformance.choice import chosen_checks  # noqa: PLC0415  (all checks are imported)
        from headgate.conformance.evidence.transcripts import TRANSCRIPT  # noqa: PLC0415

        only = tuple(one for one in self.only if self.transcript is None or one != TRANSCRIPT.id)
        if self.only and not only:
            return ()  # the transcript alone
        found = chosen_checks(level=self.told_level, only=only, category=self.category, semantic=self.told_tier != "1")
        if not found:
            raise SettingError("no check is left: --category, --only, --tier and --level leave out all of them")
        return found

    def transcripts(self) -> "tuple[CheckResult, ...]":
        """What is to be said of a model's transcript, if there is one."""
        if self.transcript is None:
            return ()
        from headgate.conformance.evidence.transcripts import transcript_results  # noqa: PLC0415

        return tuple(transcript_results(self.transcript, self.told_tier))

    @property
    def transcript_words(self) -> tuple[str, ...]:
        """What to write to have the same transcript judged again."""
        return ("--transcript", str(self.transcript)) if self.transcript is not None else ()

    @property
    def told_level(self) -> int:
        """The level, if it is one."""
        if self.level not in (1, 2):
            raise SettingError(f"--level must be 1 or 2, not {self.level}")
        return self.level

    @property
    def told_tier(self) -> Literal["1", "2", "both"]:
        """The tier, if it is one."""
        return cast("Literal['1', '2', 'both']", _one_of("--tier", self.tier, _TIERS))

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.category and not self.only and self.tier == "both"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Looking:
    """How a server is looked at."""

    allow: Annotated[
        str,
        Parameter(
            help="What may be called beside READ: create,update,delete,execute; what is made is deleted again.",
            show_default=False,
        ),
    ] = ""
    fixtures: Annotated[
        Path | None,
        Parameter(help="A TOML file of values that introspection does not tell.", show_default=False),
    ] = None
    timeout: Annotated[
        float, Parameter(help="Seconds that an answer may take; 10 unless said.", show_default=False)
    ] = 10.0
    time_limit: Annotated[
        float, Parameter(help="Seconds that the run may take; 600 unless said.", show_default=False)
    ] = 600.0
    operations: Annotated[
        int, Parameter(help="How many operations are looked at in full; 100 unless said.", show_default=False), WHOLE
    ] = 100
    era: Annotated[
        str, Parameter(help="Which MCP is spoken: auto, modern or legacy; auto unless said.", show_default=False)
    ] = "auto"
    other_mode: Annotated[
        str | None,
        Parameter(
            help="The URL, or stdio: and the command, of the same server in another endpoint mode.", show_default=False
        ),
    ] = None

    def options(self) -> Any:
        """The same as values; what is wrong with them is a mistake in how the command is used."""
        from headgate.conformance.choice import rights_of  # noqa: PLC0415
        from headgate.conformance.fixtures import Fixtures  # noqa: PLC0415
        from headgate.conformance.probe import Options  # noqa: PLC0415

        for option, value in (("--timeout", self.timeout), ("--time-limit", self.time_limit)):
            if not 0 < value < math.inf:
                raise SettingError(f"{option} must be more than 0 seconds, not {value:g}")
        if self.operations < 1:
            raise SettingError(f"--operations must be 1 or more, not {self.operations}")
        return Options(
            allowed=rights_of(self.allow),
            fixtures=Fixtures.read(self.fixtures) if self.fixtures else Fixtures(),
            seconds=self.timeout,
            most_operations=self.operations,
            era=_one_of("--era", self.era, _ERAS),  # type: ignore[arg-type]
        )

    def repeated(self) -> tuple[str, ...]:
        """What to write to look at a server in the same way."""
        words: list[str] = []
        if self.allow:
            words += ["--allow", self.allow]
        if self.fixtures:
            words += ["--fixtures", str(self.fixtures)]
        return tuple(words)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reporting:
    """What is said of a server, and where."""

    form: Annotated[
        str,
        Parameter(
            name=["--format", "-f"],
            help="text, json, markdown, junit, html or badge; text unless said.",
            show_default=False,
        ),
    ] = "text"
    output: Annotated[
        Path | None,
        Parameter(name=["--output", "-o"], help="The file to write. Without one: standard output.", show_default=False),
    ] = None
    baseline: Annotated[
        Path | None,
        Parameter(
            help="A file of known findings: only new ones count, and vanished ones are told.", show_default=False
        ),
    ] = None
    write_baseline: Annotated[
        Path | None,
        Parameter(help="Write all that is wrong now to a file, for --baseline.", show_default=False),
    ] = None
    verbose: Annotated[
        bool,
        Parameter(help="Show every check and every finding.", negative=(), show_default=False),
    ] = False

    @property
    def is_text(self) -> bool:
        """Whether it is for a person to read here."""
        return _one_of("--format", self.form, _FORMATS) == "text"

    def check(self, choosing: Choosing) -> None:
        """Refuse what makes no sense before anything is asked."""
        if not self.is_text and self.form == "badge" and not choosing.is_whole:
            raise SettingError("a badge is for a whole run: leave out --category, --only and --tier")
        choosing.checks()
        self._read()

    def refuse_for_saved(self) -> None:
        """Refuse what only makes sense for a run."""
        _one_of("--format", self.form, _FORMATS)
        if self.baseline or self.write_baseline:
            raise SettingError("--baseline and --write-baseline are for a run: this file is one that was saved")

    def known(self, report: "Report") -> "Baseline":
        """What is known to be wrong; what is written down now is known from now on."""
        from headgate.conformance.baseline import baseline_of  # noqa: PLC0415

        if self.write_baseline is None:
            return self._read()
        found = baseline_of(report)
        write_file(self.write_baseline, json.dumps(found.wire(), ensure_ascii=False, indent=2) + "\n")
        many = "finding is" if len(found.known) == 1 else "findings are"
        complain(f"{len(found.known)} known {many} written to '{self.write_baseline}'")
        return found

    def _read(self) -> "Baseline":
        from headgate.conformance.baseline import Baseline  # noqa: PLC0415

        return Baseline.read(self.baseline) if self.baseline is not None else Baseline()


def write_file(path: Path, text: str) -> None:
    """Write what was asked for; what cannot be written is a mistake in how the command is used."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingError(f"'{path}' cannot be written: {error.strerror}") from None
