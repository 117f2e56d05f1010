"""One line for a shell that shows a finding again."""

import shlex
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from headgate.conformance.evidence.transcripts import TRANSCRIPT
from headgate.conformance.reports.shortening import exact_json
from headgate.conformance.values import Check, Finding
from headgate.protocol.visible import visible

__all__ = ["Way", "header_shown", "reproduction_of", "without_secrets"]

_LONGEST: Final = 1_500
_HIDDEN: Final = "***"
_TELLING: Final = ("token", "secret", "password", "passwd", "key", "auth", "credential", "signature", "sig", "code")


@dataclass(frozen=True, slots=True)
class Way:
    """How a server is named on the command line; nothing in it is a secret."""

    target: str | None = None
    command: tuple[str, ...] = ()
    """What stands after ``--``."""
    options: tuple[str, ...] = ()
    """What is needed to reach it, such as ``--header``."""
    rights: tuple[str, ...] = ()
    """What is needed to look at it in the same way, such as ``--allow``."""
    transcript: tuple[str, ...] = ()
    """What names the transcript that was judged too."""

    @classmethod
    def of(cls, target: str | None, command: tuple[str, ...] = (), **more: tuple[str, ...]) -> "Way":
        """The way with stars where somebody has written a secret into it."""
        shown = without_secrets(target) if target is not None else None
        return cls(shown, tuple(_hidden_words(command)), **more)

    def line(self, *words: str, with_rights: bool = False) -> str:
        """A command line to this server."""
        rights = self.rights if with_rights else ()
        target = (self.target,) if self.target is not None else ()
        command = ("--", *self.command) if self.command else ()
        return visible(shlex.join(["headgate", "check", *target, *self.options, *rights, *words, *command]))

    def __str__(self) -> str:
        return visible(shlex.join(self.command) if self.command else self.target or "the demo")


def reproduction_of(check: Check, finding: Finding, way: Way) -> str:
    """The request itself if there is one that shows it alone, or else the check."""
    if len(finding.exchanges) == 1:
        exchange = finding.exchanges[0]
        request = exact_json({"tool": exchange.tool, "arguments": exchange.arguments}, _LONGEST)
        if request is not None:
            return way.line("--send", request)
    if check.id == TRANSCRIPT.id:
        return way.line(*way.transcript, "--only", check.id) if way.transcript else ""
    return way.line("--only", check.id, with_rights=True)


def without_secrets(target: str) -> str:
    """A URL without its password and without values that are named like keys."""
    if "://" not in target:
        return target
    try:
        parts = urlsplit(target)
    except ValueError:
        return target
    user, at, host = parts.netloc.rpartition("@")
    name, colon, _password = user.partition(":")
    shown = parts._replace(netloc=f"{name}{f':{_HIDDEN}' if colon else ''}{at}{host}")
    query = parse_qsl(parts.query, keep_blank_values=True)
    if any(map(_is_telling, dict(query))):
        hidden = [(key, _HIDDEN if _is_telling(key) else value) for key, value in query]
        shown = shown._replace(query=urlencode(hidden, safe="*"))
    return shown.geturl()


def _is_telling(name: str) -> bool:
    words = name.lower().strip("-").replace("-", "_").split("_")
    return any(word.endswith(telling) for word in words for telling in _TELLING)


def _hidden_words(words: tuple[str, ...]) -> list[str]:
    """The words of a command, with stars for values of options that are named like keys."""
    shown: list[str] = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        name, equals, _value = word.partition("=")
        if before.startswith("-") and "=" not in before and _is_telling(before) and not word.startswith("-"):
            shown.append(_HIDDEN)
        elif equals and _is_telling(name):
            shown.append(f"{name}={_HIDDEN}")
        else:
            shown.append(without_secrets(word))
    return shown


def header_shown(given: str) -> str:
    """A header as it is repeated: with its variables, and never with a value that was written out."""
    name, _, value = given.partition(":")
    return given if "${" in value else f"{name.strip()}: {_HIDDEN}"
