"""A badge for a README: which level of conformance was shown."""

from html import escape
from typing import Final

from headgate.conformance.reports.shown import Shown
from headgate.conformance.reports.text import verdict_line
from headgate.protocol.visible import visible

__all__ = ["badge_of"]

_LABEL: Final = "MCP-AQL"
_NARROW: Final = frozenset("fijlrt1 .,:;·'-()[]!|")
_WIDE: Final = frozenset("mwMW")
_PADDING: Final = 7
_COLOURS: Final = {0: "#b3261e", 1: "#0b61a4", 2: "#2b7a3d"}
"""White letters can be read on each of them, and on the next."""
_IN_PART: Final = "#5b4b8a"


def badge_of(shown: Shown) -> str:
    """The badge as an SVG that needs nothing else."""
    words, colour = _said(shown)
    left, right = _width(_LABEL), _width(words)
    width = left + right
    title = escape(visible(f"{_LABEL}: {verdict_line(shown)}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<clipPath id="edge{width}"><rect width="{width}" height="20" rx="4"/></clipPath>'
        f'<g clip-path="url(#edge{width})"><rect width="{left}" height="20" fill="#3c4043"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f"{_text(_LABEL, 0, left)}{_text(words, left, right)}</g></svg>\n"
    )


def _said(shown: Shown) -> tuple[str, str]:
    """The words and their colour. What was tried in part has both of its own."""
    if not shown.reached:
        return "failing", _COLOURS[0]
    if shown.out_of:
        return shown.scope, _IN_PART
    if shown.rights_lacking:
        return f"level {shown.reached} · {'tried in part' if shown.allowed else 'read only'}", _IN_PART
    return f"level {shown.reached}", _COLOURS.get(shown.reached, _COLOURS[2])


def _width(text: str) -> int:
    return round(sum(map(_sign, text))) + 2 * _PADDING


def _sign(sign: str) -> float:
    """How wide a sign is about; a browser makes the whole exactly as wide as it is said to be."""
    if sign in _NARROW:
        return 4.2
    if sign in _WIDE:
        return 10.2
    return 7.4 if sign.isupper() else 6.7


def _text(text: str, start: int, width: int) -> str:
    return f'<text x="{start + _PADDING}" y="14" textLength="{width - 2 * _PADDING}">{escape(text)}</text>'
