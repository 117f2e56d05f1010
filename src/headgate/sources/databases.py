"""Which sources are databases; told without loading what databases need."""

from pathlib import Path
from typing import Final

__all__ = ["is_database"]

_MAGIC: Final = b"SQLite format 3\x00"
_SUFFIXES: Final = (".db", ".sqlite", ".sqlite3", ".db3")
_WEB: Final = ("http", "https")


def is_database(source: str) -> bool:
    """Whether a source is the URL of a database or a file of SQLite."""
    scheme, separator, _ = source.partition("://")
    if separator:
        return scheme not in _WEB
    path = Path(source)
    if path.suffix in _SUFFIXES or not path.is_file():
        return path.suffix in _SUFFIXES
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
