"""What a page shows: commands with what they print, requests with their answers, and how both are compared."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Block", "Exchange", "Typed", "blocks", "exchanges", "masked", "same", "sections", "typed"]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MASKS = (
    (r"\b(conf|quota_continue|appr|sess|req|exec)_[\w-]*…?", r"\1_…"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "CHALLENGE"),
    (r"\b(?:[2-9A-Z]{4}-){6}[2-9A-Z]{4}\b", "CODE"),
    (r"\d{4}-\d\d-\d\d(T[\d:.]+Z| [\d:]+ UTC)", "TIME"),
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
    (r"[\d.]+ ms\b", "N ms"),
    (r"\b\d+ (s|min) ago; expires in \d+ (s|min)", "A WHILE ago"),
    (r"\bin \d+ (s|min),", "in A WHILE,"),
)


@dataclass(frozen=True)
class Block:
    """A block of a page, and the heading under which it stands."""

    heading: str
    language: str
    text: str


@dataclass(frozen=True)
class Typed:
    """A command as it was typed, and what it printed; nothing if that is not shown."""

    words: str
    printed: str


@dataclass(frozen=True)
class Exchange:
    """A request and its answer, as they are shown."""

    request: str
    answer: str


def sections(page: Path) -> dict[str, str]:
    """What stands under each heading of a page. A line of a block is no heading, whatever it begins with."""
    found: dict[str, str] = {}
    heading, inside = "", False
    for line in page.read_text().splitlines(keepends=True):
        inside ^= line.startswith("```")
        if line.startswith("#") and not inside:
            heading = line.strip("# \n")
            found.setdefault(heading, "")
        else:
            found[heading] += line
    return found


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    for heading, section in sections(page).items():
        for language, text in _BLOCK.findall(section):
            yield Block(heading, language, text)


def typed(block: Block) -> Iterator[Typed]:
    """The commands of a block: after a ``>`` with what they print, or bare lines without."""
    if block.language:
        return
    if block.text.startswith("> "):
        for one in re.split(r"^> ", block.text, flags=re.MULTILINE)[1:]:
            words, _, printed = one.partition("\n")
            yield Typed(words.strip(), printed)
    else:
        for line in block.text.splitlines():
            words = line.split("  #")[0].strip()
            if words.startswith(("headgate ", "HEADGATE_", "export ")):
                yield Typed(words, "")


def exchanges(block: Block) -> Iterator[Exchange]:
    """The requests of a block, each with its answer."""
    if not block.language and block.text.startswith("→ "):
        for one in re.split(r"^→ ", block.text, flags=re.MULTILINE)[1:]:
            request, _, answer = one.partition("← ")
            yield Exchange(request, answer)


def masked(text: str) -> str:
    """A text in which whatever differs from one run to the next is the same."""
    for pattern, stand_in in _MASKS:
        text = re.sub(pattern, stand_in, text)
    return text


def same(shown: str, seen: str) -> bool:
    """Whether what is shown is what was seen, however it is broken into lines and columns."""
    return bool(_plain(masked(shown)) == _plain(masked(seen)))


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
