"""Which sources are adapter files; told by the name, or by the head of the file."""

import re
from pathlib import Path
from typing import Final

__all__ = ["SUFFIX", "is_adapter_file"]

SUFFIX: Final = "-adapter.md"
"""How the name of an adapter file ends (Adapter Element Type 1.3)."""

_HEAD_BYTES: Final = 65_536
_SAYS_SO: Final = re.compile(r"""^type:\s*["']?adapter["']?\s*(#.*)?$""", re.MULTILINE)


def is_adapter_file(source: str) -> bool:
    """Whether a source is an adapter file: by its name, or a Markdown file whose head says that it is one."""
    if "://" in source or not source.endswith(".md"):
        return False
    return source.endswith(SUFFIX) or _says_so(Path(source))


def _says_so(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).decode("utf-8-sig", "replace")
    return head.startswith("---") and _SAYS_SO.search(head.partition("\n---")[0]) is not None
