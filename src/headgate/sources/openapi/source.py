"""OpenAPI documents as a source: from a file or a URL to an adapter, and again when the file changes."""

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from watchfiles import Change, awatch

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.curation import Choice, Curation, curated
from headgate.sources.http.decoding import text_of
from headgate.sources.http.messages import OutRequest
from headgate.sources.http.sender import Sender
from headgate.sources.naming import snake
from headgate.sources.openapi.building import METHODS, Builder, Place
from headgate.sources.openapi.connections import Connections
from headgate.sources.openapi.documents import MAX_DOCUMENT_BYTES, OpenApiDocument, document_of, read_document
from headgate.sources.openapi.inputs import Shaping
from headgate.sources.openapi.naming import Spot, name_spots
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.recognizing import SUFFIXES
from headgate.sources.openapi.references import References
from headgate.sources.openapi.schemas import Schemas
from headgate.sources.openapi.servers import NoServer
from headgate.sources.openapi.words import DESCRIPTION, plain

__all__ = ["OpenApiSource", "openapi_adapter"]

_LOG: Final = logging.getLogger("headgate")
_MOST_OPERATIONS: Final = 20_000
_MOST_NOTES: Final = 20
_SUCCESS: Final = 200


def openapi_adapter(
    document: OpenApiDocument | str | Path,
    options: OpenApiOptions | None = None,
    curation: Curation | None = None,
    *,
    name: str = "",
) -> Adapter:
    """The adapter of a document. What cannot be used in it is left out, and said in the log."""
    read = document if isinstance(document, OpenApiDocument) else read_document(Path(document))
    said, called = options or OpenApiOptions(), name or _own_name(read)
    return _Import(read, said, curation or Curation(), Connections(called, said.bounds)).adapter()


def _own_name(document: OpenApiDocument) -> str:
    """What a document is called if nobody says it: its file without endings, else its title."""
    if document.path is not None:
        return snake(document.path.name.partition(".")[0])
    return snake(plain(document.title, 40)) if document.title else "openapi"


@dataclass
class _Import:
    """The making of one adapter."""

    document: OpenApiDocument
    options: OpenApiOptions
    curation: Curation
    connections: Connections
    notes: list[str] = field(default_factory=list)
    files: tuple[Path, ...] = ()
    """What was read beside the document."""

    @property
    def name(self) -> str:
        """What the adapter is called."""
        return self.connections.name

    def adapter(self) -> Adapter:
        """All operations that are wanted."""
        references = References(self.document)
        shaping = Shaping(Schemas(references))
        builder = Builder(self.document, self.options, references, shaping, self.connections, self.name)
        places = {place.spot: place for place in self._places(references)}
        names = name_spots(list(places))
        adapter = self._empty()
        for spot, place in places.items():
            self._add(adapter, builder, names[spot], place)
        self.notes += [f"curation: {note}" for note in self.curation.unused(_known(names))]
        self._tell([*self.notes, *references.notes])
        self.files = references.files
        adapter.on_close(self.connections.close)
        return adapter

    def _empty(self) -> Adapter:
        info = self.document.tree.get("info")
        said: Mapping[str, Any] = info if isinstance(info, Mapping) else {}
        title = plain(said.get("title"), 100)
        words = ". ".join(one for one in (title, plain(said.get("description"), DESCRIPTION)) if one)
        return Adapter(self.name, words, version=plain(str(said.get("version") or ""), 40) or "0.1.0")

    def _places(self, references: References) -> Iterator[Place]:
        paths = self.document.tree.get("paths")
        count = 0
        for path, given in paths.items() if isinstance(paths, Mapping) else ():
            item, file = references.resolved(given, "")
            if isinstance(given, Mapping) and "$ref" in given:
                item = {**item, **{key: value for key, value in given.items() if key != "$ref"}}
            for method in METHODS:
                node = item.get(method)
                if isinstance(node, Mapping):
                    count += 1
                    if count > _MOST_OPERATIONS:
                        raise AdapterError(
                            f"'{self.document.where}' has more than {_MOST_OPERATIONS:,} operations: split it, or "
                            "leave some out."
                        )
                    yield Place(Spot(method.upper(), str(path), _id_of(node)), node, item, file)

    def _add(self, adapter: Adapter, builder: Builder, name: str, place: Place) -> None:
        choice = self._choice(name, place.spot)
        if not self._picks(name, place.spot):
            return
        try:
            operation = builder.operation(name, place, choice)
            adapter.add(curated(operation, choice) if choice else operation)
        except AdapterError as error:
            if isinstance(error, NoServer) and not adapter.operations:
                raise
            self.notes.append(f"'{plain(place.spot.maps_to, 120)}' is left out: {error}")

    def _picks(self, name: str, spot: Spot) -> bool:
        """Whether an operation is wanted, by any of its three names."""
        choice = self._choice(name, spot)
        return self.curation.picks(name, spot.own_name) if choice is None or not choice.hide else False

    def _choice(self, name: str, spot: Spot) -> Choice | None:
        return self.curation.choice(name, spot.own_name) or self.curation.choice(name, spot.maps_to)

    def _tell(self, notes: list[str]) -> None:
        for note in notes[:_MOST_NOTES]:
            _LOG.warning("'%s': %s", self.name, note)
        if len(notes) > _MOST_NOTES:
            _LOG.warning("'%s': and %d more of this kind", self.name, len(notes) - _MOST_NOTES)


def _id_of(node: Mapping[str, Any]) -> str:
    given = node.get("operationId")
    return plain(given, 200) if isinstance(given, str) else ""


def _known(names: Mapping[Spot, str]) -> list[str]:
    return [known for spot, name in names.items() for known in (name, spot.own_name, spot.maps_to)]


def _is_document(_: Change, path: str) -> bool:
    return path.lower().endswith(SUFFIXES)


@dataclass
class OpenApiSource:
    """A document that is served, and read again when its file changes."""

    name: str
    where: str
    options: OpenApiOptions = field(default_factory=OpenApiOptions)
    curation: Curation = field(default_factory=Curation)
    _closed: anyio.Event = field(default_factory=anyio.Event)
    _connections: Connections = field(init=False)
    """Of all versions together, so that none is left behind by one that is no longer served."""
    _files: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        self._connections = Connections(self.name, self.options.bounds)

    async def open(self) -> Adapter:
        """Read the document. An AdapterError says why it cannot be used."""
        document = await self._fetched() if self._is_remote else None
        return await anyio.to_thread.run_sync(self._load, document)

    async def changes(self) -> AsyncIterator[Adapter]:
        """The adapter anew each time that the file or one beside it changes; what cannot be used is logged."""
        if self._is_remote:
            await self._closed.wait()
            return
        async for _ in awatch(*self._folders(), stop_event=self._closed, recursive=False, watch_filter=_is_document):
            try:
                adapter = await anyio.to_thread.run_sync(self._load, None)
            except AdapterError as error:
                _LOG.error("not reloaded, the version before stays: %s", error)
                continue
            yield adapter

    async def close(self) -> None:
        """Stop watching, and close every connection."""
        self._closed.set()
        await self._connections.close()

    def _folders(self) -> set[Path]:
        """The folders of the document and of the files that it refers to: editors replace files, not their folders."""
        return {file.parent for file in (Path(self.where).resolve(), *self._files)}

    @property
    def _is_remote(self) -> bool:
        return urlsplit(self.where).scheme in ("http", "https")

    def _load(self, document: OpenApiDocument | None) -> Adapter:
        read = document or read_document(Path(self.where))
        work = _Import(read, self.options, self.curation, self._connections)
        adapter = work.adapter()
        self._files = work.files
        return adapter

    async def _fetched(self) -> OpenApiDocument:
        """The document behind a URL, within the same bounds as every request."""
        shown = urlsplit(self.where).path.rpartition("/")[2] or self.name
        try:
            bounds = replace(self.options.bounds, max_response_bytes=MAX_DOCUMENT_BYTES)
            sender = Sender(bounds, self.where, name=self.name)
            try:
                answer = await sender.send(OutRequest("GET", self.where))
            finally:
                await sender.close()
        except AqlError as error:
            raise AdapterError(f"The document '{shown}' cannot be fetched: {error.error.message}") from None
        if answer.status != _SUCCESS:
            raise AdapterError(f"The document '{shown}' cannot be fetched: the server answers {answer.status}.")
        return document_of(text_of(answer), shown, url=answer.url)
