"""Credentials that somebody has written into a file, where they do not belong: found, and never shown."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.sources.files.documents import Document
from headgate.sources.files.mistakes import Mistake, Steps, path_of

__all__ = ["Leak", "is_secret_name", "leaks_in", "mistake_of", "without_credentials", "without_secrets"]

_SHAPES: Final[Mapping[str, str]] = {
    "a GitHub token": r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}",
    "a GitLab token": r"glpat-[A-Za-z0-9_-]{20,}",
    "an Anthropic key": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "an OpenAI key": r"sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}",
    "a Stripe key": r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}",
    "a Slack token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}",
    "an AWS key": r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    "a Google key": r"AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}",
    "an npm token": r"npm_[A-Za-z0-9]{36}",
    "a PyPI token": r"pypi-AgE[A-Za-z0-9_-]{40,}",
    "a Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "a SendGrid key": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "a Shopify token": r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
    "a DigitalOcean token": r"do[opr]_v1_[a-f0-9]{64}",
    "a Telegram token": r"\d{8,10}:AA[A-Za-z0-9_-]{33}",
    "a JSON Web Token": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----",
}
_SHAPE: Final = re.compile("|".join(rf"(?P<s{place}>{shape})" for place, shape in enumerate(_SHAPES.values())))
_NAMES: Final = tuple(_SHAPES)
_AROUND: Final = re.compile(r"[A-Za-z0-9_]")
_AUTHORIZATION: Final = re.compile(
    r"(?i)\b(?:bearer|basic|authorization[\"']?\s*[:=]\s*[\"']?(?:token|apikey)?)\s+(?!bearer\b|basic\b)([^\s\"'`,;)]+)"
)
_USERINFO: Final = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{1,20}://([^\s/@:\"'`]*):([^\s/@\"'`]+)@")
_SECRET_KEY: Final = re.compile(
    r"(?i)(?:^|[_.\s-])(?:pass(?:word|wd|phrase)?|secrets?|tokens?|api[_-]?keys?|access[_-]?keys?|private[_-]?key|"
    r"credentials?|auth(?:orization)?|client[_-]?secret|bearer|key)(?:$|[_.\s-])"
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ASSIGNED: Final = re.compile(r"([A-Za-z][A-Za-z0-9_.-]{1,60})[\"'`]?\s*[:=]\s*[\"'`]?([A-Za-z0-9+/=_.~-]{16,})")
_ONE_WORD: Final = re.compile(r"[A-Za-z0-9+/=_.~-]+\Z")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
_HEX: Final = re.compile(r"[0-9a-f]+\Z|[0-9A-F]+\Z")
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z")
_PIECES: Final = re.compile(r"[_.~/-]")
_PLACEHOLDER: Final = re.compile(
    r"(?i)[<>{}$*…]|\.\.\.|x{3,}|your|example|placeholder|change.?me|redacted|dummy|sample|secret|password|0{6,}|"
    r"1234567|abcdef|123e4567|token"
)
_STARS: Final = "***"
_SHORTEST: Final = 16
_LOWEST_ENTROPY: Final = 3.4
_LOWEST_HEX_ENTROPY: Final = 2.8


@dataclass(frozen=True, slots=True)
class Leak:
    """That something looks like a credential, and where. What it is, is not kept."""

    kind: str
    line: int | None
    steps: Steps = ()
    is_key: bool = False
    """Whether it is the name of a field, so that no way to anything below may be told."""


def leaks_in(document: Document) -> list[Leak]:
    """The credentials of a file: in its values, its comments and its prose."""
    found = [
        Leak(kind, document.line_of((*steps, name)), steps, is_key=True)
        for steps, name in _keys(document.content)
        if (kind := _kind_of(name))
    ]
    found += [
        Leak(kind, document.line_of(steps), steps)
        for steps, text in _texts(document.content)
        if (kind := _kind_of(text) or _kind_under(steps, text))
    ]
    told = {leak.line for leak in found}
    lines = enumerate(document.text.split("\n"), 1)
    in_lines = (Leak(kind, number) for number, line in lines if number not in told and (kind := _kind_in_line(line)))
    is_known = {leak.kind for leak in found if leak.kind == "a private key"}
    return found + [leak for leak in in_lines if leak.kind not in is_known]


def mistake_of(leak: Leak) -> Mistake:
    """What to do about a credential."""
    return Mistake(
        code="AUTH_CONFIG_INVALID",
        path=path_of(leak.steps),
        expected="no credential in the file",
        found=f"something like {leak.kind}",
        fix="Remove it, revoke it if it was real, and name an environment variable instead, as 'token_env: API_TOKEN'.",
        line=leak.line,
    )


def without_credentials(text: str) -> str:
    """A text with stars in the place of whatever looks like a credential, for files that are written here."""
    for place, end in reversed([span for span, _ in _spans(text)]):
        text = f"{text[:place]}{_STARS}{text[end:]}"
    return text


def without_secrets(value: Any, steps: Steps = ()) -> Any:
    """Values with stars in the place of credentials, also of those that only their name gives away."""
    if isinstance(value, Mapping):
        return {name: without_secrets(child, (*steps, name)) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(child, (*steps, place)) for place, child in enumerate(value)]
    if not isinstance(value, str):
        return value
    cleared = without_credentials(value)
    is_told = _kind_under(steps, cleared) or any(_kind_in_line(line) for line in cleared.split("\n"))
    return _STARS if is_told else cleared


def _texts(content: object) -> Iterator[tuple[Steps, str]]:
    for steps, value in _walked(content):
        if isinstance(value, str):
            yield steps, value


def _keys(content: object) -> Iterator[tuple[Steps, str]]:
    for steps, value in _walked(content):
        if isinstance(value, Mapping):
            yield from ((steps, name) for name in value)


def _walked(content: object) -> Iterator[tuple[Steps, object]]:
    """Every value, however deep it stands."""
    waiting: list[tuple[Steps, object]] = [((), content)]
    while waiting:
        steps, value = waiting.pop()
        yield steps, value
        if isinstance(value, Mapping):
            waiting += (((*steps, name), child) for name, child in value.items())
        elif isinstance(value, list):
            waiting += (((*steps, place), child) for place, child in enumerate(value))


def _kind_of(text: str) -> str | None:
    """What a text holds that is a credential by its own form."""
    return next((kind for _, kind in _spans(text)), None)


def _spans(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    for found in _SHAPE.finditer(text):
        before = text[found.start() - 1 : found.start()]
        if not _AROUND.match(before) and not _PLACEHOLDER.search(_behind_prefix(found[0])):
            yield found.span(), _NAMES[int(str(found.lastgroup)[1:])]
    for found in _AUTHORIZATION.finditer(text):
        if _is_random(found[1]):
            yield found.span(1), "the value of an Authorization header"
    for found in _USERINFO.finditer(text):
        if not _PLACEHOLDER.search(found[2]) and found[2].lower() not in ("pass", "pw", "pwd"):
            yield found.span(2), "a password in a URL"


def _behind_prefix(token: str) -> str:
    """The random part of a token: what stands before it may well be called token or secret."""
    return token[8:] if not token.startswith("-----") else ""


def _kind_under(steps: Steps, text: str) -> str | None:
    """What a text is that stands under a name for secrets and looks like one."""
    names = [step for step in steps[-3:] if isinstance(step, str)]
    return "a secret" if any(is_secret_name(name) for name in names) and _is_random(text) else None


def _kind_in_line(line: str) -> str | None:
    if kind := _kind_of(line):
        return kind
    assigned = (found for found in _ASSIGNED.finditer(line) if is_secret_name(found[1]) and _is_random(found[2]))
    return "a secret" if next(assigned, None) else None


def is_secret_name(name: str) -> bool:
    """Whether a name is one for secrets."""
    return _SECRET_KEY.search(_CAMEL.sub("_", name)) is not None


def _is_random(text: str) -> bool:
    """Whether a text looks like something that a program has drawn, and neither like words nor like a name."""
    if len(text) < _SHORTEST or not _ONE_WORD.match(text) or _PLACEHOLDER.search(text) or _VARIABLE.match(text):
        return False
    return _UUID.match(text) is not None or any(_is_random_piece(piece) for piece in _PIECES.split(text.rstrip("=")))


def _is_random_piece(piece: str) -> bool:
    digits = sum(one.isdigit() for one in piece)
    letters = sum(one.isalpha() for one in piece)
    if len(piece) < _SHORTEST or digits < 2 or letters < 2:
        return False
    return _entropy(piece) >= (_LOWEST_HEX_ENTROPY if _HEX.match(piece) else _LOWEST_ENTROPY)


def _entropy(text: str) -> float:
    """Bits that each character carries."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
