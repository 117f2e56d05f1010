"""An OpenAPI document: what it says, and where it came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import quoted
from headgate.sources.openapi.parsing import parsed

__all__ = ["MAX_DOCUMENT_BYTES", "OpenApiDocument", "document_of", "read_document", "read_file"]

MAX_DOCUMENT_BYTES: Final = 32_000_000
"""How large a document may be; the largest known ones have a third of it."""

_VERSIONS: Final = ("3.0", "3.1", "3.2")


@dataclass(frozen=True, slots=True)
class OpenApiDocument:
    """A document that can be used. ``folder`` is what its references may lead into, ``url`` what its server is near."""

    tree: Mapping[str, Any] = field(repr=False)
    where: str
    path: Path | None = None
    url: str | None = None

    @property
    def title(self) -> str:
        """What it calls itself."""
        info = self.tree.get("info")
        return str(info.get("title") or "") if isinstance(info, Mapping) else ""

    @property
    def folder(self) -> Path | None:
        """The folder that it lies in, if it is a file."""
        return self.path.resolve().parent if self.path else None


def read_document(path: Path) -> OpenApiDocument:
    """The document in a file. An AdapterError says why it cannot be used."""
    return document_of(read_file(path), path.name, path=path)


def read_file(path: Path, most: int = MAX_DOCUMENT_BYTES) -> str:
    """The text of a file that is not too large."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise AdapterError(f"There is no file '{path.name}'.") from None
    except OSError:
        raise AdapterError(f"The file '{path.name}' cannot be read.") from None
    if len(content) > most:
        raise AdapterError(f"The file '{path.name}' is larger than the {most:,} bytes that a document may have.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AdapterError(f"The file '{path.name}' is not UTF-8.") from None


def document_of(text: str, where: str, *, path: Path | None = None, url: str | None = None) -> OpenApiDocument:
    """The document that a text is. An AdapterError says what is wrong, and of older versions how to convert them."""
    tree = parsed(text, where)
    if not isinstance(tree, dict):
        raise AdapterError(
            f"'{where}' is no OpenAPI document: it must be an object with 'openapi', 'info' and 'paths'."
        )
    _check_version(tree, where)
    if not any(isinstance(tree.get(key), dict) for key in ("paths", "webhooks", "components")):
        raise AdapterError(f"'{where}' has no 'paths': there is nothing to call.")
    return OpenApiDocument(tree, where, path, url)


def _check_version(tree: Mapping[str, Any], where: str) -> None:
    if "swagger" in tree:
        raise AdapterError(
            f"'{where}' is a document of Swagger {quoted(str(tree['swagger']), '2.0')}; headgate reads OpenAPI 3.0 and "
            f"3.1. Convert it, for instance with 'npx swagger2openapi {where}', and serve the result."
        )
    if "openapi" not in tree:
        raise AdapterError(f"'{where}' is no OpenAPI document: it has no field 'openapi' with its version.")
    if not str(tree["openapi"]).startswith(_VERSIONS):
        raise AdapterError(
            f"'{where}' is of OpenAPI {quoted(str(tree['openapi']), 'an unknown version')}; 3.0 and 3.1 are read."
        )
