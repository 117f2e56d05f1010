"""Whether a server keeps to MCP-AQL: seen from outside, with the request for every finding."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgate.conformance.checking import check_server
    from headgate.conformance.report import NotConformant, Report

__all__ = ["NotConformant", "Report", "check_server"]


def __getattr__(name: str) -> Any:
    """What a test suite wants, loaded when it does: pytest looks in here in every run."""
    if name == "check_server":
        from headgate.conformance.checking import check_server  # noqa: PLC0415

        return check_server
    if name in ("NotConformant", "Report"):
        from headgate.conformance import report  # noqa: PLC0415

        return getattr(report, name)
    raise AttributeError(f"module 'headgate.conformance' has no attribute '{name}'")
