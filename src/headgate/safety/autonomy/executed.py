"""What a text has done though it stands in quotes, in a substitution, or as that of which one sees what comes."""

import re
from collections.abc import Iterator
from typing import Final

from headgate.safety.autonomy.lexicon import SHELL

__all__ = ["executed", "tried"]

_QUOTED: Final = r"(?:\"([^\"]+)\"|'([^']+)'|“([^”]+)”|`([^`]+)`)"
_RUNNERS: Final = (
    "watch|env|xargs|timeout|nohup|time|nice|ionice|setsid|stdbuf|strace|sudo|doas|parallel|entr|flock|chroot|nsenter|"
    "unshare|eval|wsl|invoke-expression|iex|start-process"
)
_DATABASES: Final = "psql|mysql|mariadb|sqlite3|duckdb|mongo|mongosh|redis-cli"
_INTERPRETERS: Final = (
    r"(?:ba|z|da|k|c|tc|fi)?sh|pwsh|powershell|cmd|su|python[\d.]*|perl|ruby|node|nodejs|deno|bun|php|lua|rscript|julia|"
    r"tclsh|expect|osascript|n?vim?|view|ex|emacs|less|more|man|gdb|lldb|tmux|screen|script|xterm"
    rf"|{_DATABASES}"
)
_OPTIONS: Final = r"(?:\s+(?:-\S+|\d+\w?|\w+=\S+)){0,6}"
_RUN: Final = re.compile(
    rf"(?<![\w.-])(?:(?<!\bthe )(?<!\ba )(?<!\bword )(?:{_RUNNERS}){_OPTIONS}|ssh{_OPTIONS}(?:\s+[\w.@-]+){_OPTIONS}"
    rf"|(?:{_INTERPRETERS})(?:\s+[\w./:@=-]+){{0,6}}?\s+(?:-\w{{0,4}}[cer]|-ex|/c|--(?:eval|exec|execute|command|cmd)))"
    rf"[\s=:]\s*{_QUOTED}|(?<![\w.-])(?:{_DATABASES})(?:\s+[\w./:@=-]+){{0,6}}?\s+{_QUOTED}"
)
"""A command that runs another one, with that in quotes."""
_ESCAPED: Final = re.compile(r"(?:(?<=[\s'\"])\+|:)!\s?([^'\"]+)")
"""What an editor or a pager hands to a shell."""
_SUBSTITUTED: Final = re.compile(r"[$<>]\((?!\()([^)]+)")
_TICKED: Final = re.compile(rf"(?:^|[;&|]\s?)(?:{'|'.join(sorted(SHELL))})\s[^`;&|]*`([^`]+)`")
_OUTPUT: Final = re.compile(
    r"\b(?:outputs?|outcome|results?|stdout|stderr|exit (?:code|status)|return value)\s+(?:of|(?<!results )from)\s+"
    rf"(?:(?:running|executing|calling|the|command|this|query)\s+){{0,3}}{_QUOTED}"
)
"""Who wants to see the output of something has to do it."""
_ALL: Final = (_RUN, _ESCAPED, _SUBSTITUTED, _TICKED, _OUTPUT)
_TRIED: Final = re.compile(
    r"\b(?:see|show|check|watch|print|log|test|try|verify|observe|display|report|record|capture)\s+(?:\w+\s+)?what\s+"
    r"(?:happens\s+(?:on|with|upon|after|under|for|at)\s+(.+)|comes\s+(?:of|from)\s+(.+)|(.{1,200}?)\s+(?:prints?|outputs?|returns?|says|writes|yields)\b)"
)
_SIGNS: Final = frozenset("\"'“`$<>!")


def executed(text: str) -> Iterator[str]:
    """The commands that a text runs inside of another one, as they are written."""
    if _SIGNS.isdisjoint(text):
        return
    for pattern in _ALL:
        for found in pattern.finditer(text):
            yield next(filter(None, found.groups())).strip()


def tried(text: str) -> Iterator[str]:
    """What may be a command of which one wants to see what comes."""
    if "what " in text:
        yield from (next(filter(None, found.groups())) for found in _TRIED.finditer(text))
