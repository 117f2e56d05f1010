"""``$ref``: what a reference in a document leads to, in it or in files beside it, and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import quoted
from headgate.sources.openapi.documents import OpenApiDocument, read_file
from headgate.sources.openapi.parsing import parsed

__all__ = ["Found", "References", "Target"]

_MOST_FILES: Final = 500
_MOST_HOPS: Final = 50


class Target(NamedTuple):
    """A place in a document: a file by its path below the folder, and a pointer in it."""

    file: str
    pointer: str


class Found(NamedTuple):
    """What stands in a place, and in which file, which is where its own references start from."""

    node: Any
    file: str


@dataclass
class References:
    """Follows the references of one document. What leads nowhere is noted, and stands for nothing."""

    document: OpenApiDocument
    notes: list[str] = field(default_factory=list)
    _files: dict[str, object] = field(default_factory=dict)

    def resolved(self, node: object, file: str) -> Found:
        """An object itself, or what it refers to in the end; an empty one if that is nothing."""
        for _ in range(_MOST_HOPS):
            reference = node.get("$ref") if isinstance(node, Mapping) else None
            if not isinstance(reference, str):
                return Found(node if isinstance(node, Mapping) else {}, file)
            target = self.target(reference, file)
            if target is None:
                return Found({}, file)
            node, file = self.at(target), target.file
        self._note("a reference that leads back to itself")
        return Found({}, file)

    def target(self, reference: str, file: str) -> Target | None:
        """The place that a reference names, or None if that is not one to go to."""
        where, _, pointer = reference.partition("#")
        if pointer and not pointer.startswith("/"):
            self._note(f"the reference {quoted(reference, 'of an odd form')}, which is no pointer")
            return None
        other = self._file(unquote(where), file) if where else file
        return None if other is None else Target(other, unquote(pointer))

    def at(self, target: Target) -> object:
        """What stands in a place; None if there is nothing."""
        here = self._tree(target.file)
        for step in target.pointer.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            here = _inside(here, key)
        if here is None:
            self._note(
                f"the reference {quoted(f'{target.file}#{target.pointer}', 'of an odd form')}, which leads nowhere"
            )
        return here

    def _file(self, where: str, file: str) -> str | None:
        """The file that a relative path means, seen from another one, as its path below the document's folder."""
        folder = self.document.folder
        if "://" in where or where.startswith("//") or folder is None:
            self._note(f"the reference {quoted(where, 'to elsewhere')}: nothing is fetched over the network")
            return None
        path = (folder / file).parent / where if file else folder / where
        full = path.resolve()
        if not full.is_relative_to(folder):
            self._note(f"the reference {quoted(where, 'to elsewhere')}, which leads out of the document's folder")
            return None
        own = self.document.path.resolve() if self.document.path else None
        return "" if full == own else str(full.relative_to(folder))

    def _tree(self, file: str) -> object:
        if not file:
            return self.document.tree
        if file not in self._files:
            self._files[file] = self._loaded(file)
        return self._files[file]

    def _loaded(self, file: str) -> object:
        if len(self._files) >= _MOST_FILES:
            raise AdapterError(f"'{self.document.where}' refers to more than {_MOST_FILES} files.")
        folder = self.document.folder or Path()
        try:
            return parsed(read_file(folder / file), Path(file).name)
        except AdapterError as error:
            self._note(f"a file that cannot be used: {error}")
            return {}

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that were read beside the document."""
        folder = self.document.folder
        return tuple(folder / file for file in self._files) if folder else ()

    def _note(self, what: str) -> None:
        note = f"it has {what}"
        if note not in self.notes:
            self.notes.append(note)


def _inside(node: object, key: str) -> object:
    if isinstance(node, Mapping):
        return node.get(key)
    if isinstance(node, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(node):
        return node[int(key)]
    return None
