"""The plugin for pytest: ``pytest --headgate-check URL`` has one test for each check of conformance.

Nothing of headgate is loaded unless that option is given.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from headgate.conformance.report import Report
    from headgate.conformance.values import Check, CheckResult

__all__ = ["pytest_addoption", "pytest_collection_modifyitems"]

_OPTION: Final = "headgate_check"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("headgate", "conformance to MCP-AQL")
    add = group.addoption
    add("--headgate-check", metavar="TARGET", help="check the MCP-AQL server: a URL, a command, module:adapter")
    add("--headgate-level", metavar="N", type=int, default=1, help="the level of conformance, 1 (default) or 2")
    add("--headgate-allow", metavar="LIST", default="", help="what may be called beside READ: create,update,…")
    add("--headgate-fixtures", metavar="FILE", type=Path, help="values that introspection does not tell, in TOML")
    add("--headgate-header", metavar="'NAME: VALUE'", action="append", default=[], help="a header for a URL")
    add("--headgate-warnings", action="store_true", help="have warnings fail too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the checks after the other tests, to be chosen among as they are."""
    if config.getoption(_OPTION):
        items.extend(Conformance.from_parent(session, name="conformance").collect())


class Conformance(pytest.Collector):
    """A server and its checks. It is looked at once, when the first of them is run."""

    _report: "Report | None" = None

    def collect(self) -> Iterator["ConformanceItem"]:
        """One test for each check of the level."""
        from headgate.conformance.choice import chosen_checks  # noqa: PLC0415
        from headgate.protocol.adapter_errors import AdapterError  # noqa: PLC0415

        try:
            checks = chosen_checks(level=self.config.getoption("headgate_level"))
        except AdapterError as error:
            raise pytest.UsageError(f"--headgate-level: {error}") from None
        for check in checks:
            yield ConformanceItem.from_parent(self, name=check.id, check=check)

    @property
    def report(self) -> "Report":
        """What became of all checks."""
        if self._report is None:
            self._report = self._checked()
        return self._report

    def result(self, check: "Check") -> "CheckResult":
        """What became of a check."""
        return next(result for result in self.report.results if result.check.id == check.id)

    def _checked(self) -> "Report":
        from headgate.client.wires import Unreachable  # noqa: PLC0415
        from headgate.conformance.checking import check_server  # noqa: PLC0415
        from headgate.protocol.adapter_errors import AdapterError  # noqa: PLC0415

        option = self.config.getoption
        try:
            return check_server(
                _target(option(_OPTION)),
                level=option("headgate_level"),
                only=[item.name for item in self.session.items if isinstance(item, ConformanceItem)],
                allow=option("headgate_allow"),
                fixtures=option("headgate_fixtures"),
                headers=dict(_header(given) for given in option("headgate_header")),
            )
        except (AdapterError, Unreachable) as error:
            pytest.exit(f"--headgate-check: {error}", returncode=pytest.ExitCode.USAGE_ERROR)


def _target(given: str) -> "str | list[str]":
    """A target that has several words is a command."""
    return shlex.split(given) if " " in given and "://" not in given else given


def _header(given: str) -> tuple[str, str]:
    name, _, value = given.partition(":")
    return name.strip(), value.strip()


class ConformanceItem(pytest.Item):
    """One check as a test."""

    def __init__(self, *, check: "Check", **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        self.check = check

    def runtest(self) -> None:
        """Pass, fail or be skipped, as the check was; what is warned of stands in the report of the test."""
        from headgate.conformance.report import told_of  # noqa: PLC0415
        from headgate.conformance.values import Verdict  # noqa: PLC0415

        assert isinstance(self.parent, Conformance)  # noqa: S101  (there is no other)
        result = self.parent.result(self.check)
        told = "\n".join(told_of(result, self.parent.report.way))
        if result.verdict is Verdict.SKIP:
            pytest.skip(result.reason)
        if result.verdict is Verdict.FAIL or (
            result.verdict is Verdict.WARN and self.config.getoption("headgate_warnings")
        ):
            raise _Failed(told)
        if result.verdict is Verdict.WARN:
            self.add_report_section("call", "warning", told)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: None = None) -> str:  # type: ignore[override]
        """The findings, without a trace of ours."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """What it is called."""
        return self.path, None, f"conformance: {self.name}"


class _Failed(Exception):
    """What the check found."""
