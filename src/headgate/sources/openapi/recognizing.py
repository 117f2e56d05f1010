"""Which sources are OpenAPI documents; told by a name and the head of a file, without reading all of it."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

__all__ = ["SUFFIXES", "is_openapi"]

SUFFIXES: Final = (".json", ".yaml", ".yml")
_HEAD_BYTES: Final = 65_536
_SAID: Final = re.compile(r"""(?:^|[{,\s])["']?(?:openapi|swagger)["']?\s*:\s*["']?\d""", re.MULTILINE)
_PATHS: Final = re.compile(r"(?:^|/)(?:openapi|swagger|api-docs)(?:$|[./_-])", re.IGNORECASE)


def is_openapi(source: str) -> bool:
    """Whether a source is an OpenAPI document: a file that says so in its beginning, or a URL that is named like one.

    A document of Swagger 2.0 counts too, so that whoever gives one is told how to convert it.
    """
    scheme, separator, _ = source.partition("://")
    if separator:
        return scheme in ("http", "https") and _is_named_like_one(urlsplit(source).path)
    path = Path(source)
    return path.suffix.lower() in SUFFIXES and path.is_file() and _says_so(path)


def _is_named_like_one(path: str) -> bool:
    """Whether the path of a URL ends like a document, or has the word in it: other URLs may be servers of any kind."""
    return path.lower().endswith(SUFFIXES) or _PATHS.search(path) is not None


def _says_so(path: Path) -> bool:
    with path.open("rb") as file:
        head, tail = file.read(_HEAD_BYTES), b""
        if file.seek(0, 2) > _HEAD_BYTES:  # a program may have sorted the keys, which puts 'openapi' near an end
            file.seek(-_HEAD_BYTES, 2)
            tail = file.read()
    return any(_SAID.search(part.decode("utf-8-sig", "replace")) for part in (head, tail))
