"""The forms of a report, by the names that they are asked for with."""

from collections.abc import Callable, Mapping
from typing import Final

from headgate.conformance.reports.badge import badge_of
from headgate.conformance.reports.html import html_of
from headgate.conformance.reports.json_report import json_of
from headgate.conformance.reports.junit import junit_of
from headgate.conformance.reports.markdown import markdown_of
from headgate.conformance.reports.shown import Shown
from headgate.conformance.reports.text import text_of

__all__ = ["FORMATS"]

FORMATS: Final[Mapping[str, Callable[[Shown], str]]] = {
    "text": lambda shown: f"{text_of(shown).plain}\n",
    "json": json_of,
    "markdown": markdown_of,
    "junit": junit_of,
    "html": html_of,
    "badge": badge_of,
}
"""Each as a whole text, which ends with a line."""
