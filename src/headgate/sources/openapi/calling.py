"""A call: from parameters to the request that the document means, and from the upstream's answer to data."""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.adapter.operations import DRY_RUN
from headgate.protocol.errors import AqlError
from headgate.protocol.names import resource_of
from headgate.sources.http.decoding import data_of
from headgate.sources.http.failures import failure_of
from headgate.sources.http.messages import Answer, OutRequest
from headgate.sources.openapi.bodies import Body
from headgate.sources.openapi.connections import Connections
from headgate.sources.openapi.escaping import json_text, text_of
from headgate.sources.openapi.forms import form, multipart
from headgate.sources.openapi.inputs import Given, Inputs
from headgate.sources.openapi.media import Kind
from headgate.sources.openapi.parameters import Located
from headgate.sources.openapi.paths import PathTemplate
from headgate.sources.openapi.security import Security
from headgate.sources.openapi.styles import as_cookies, as_header, as_path, as_query
from headgate.sources.selecting import selected
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["Call", "Prepared"]

_SUCCESS: Final = range(200, 300)
_TOLD_OF_A_HEAD: Final = ("content-type", "content-length", "etag", "last-modified", "location")
_FIELDS: Final = "fields"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request whose query is still in pairs, so that pages can be turned."""

    method: str
    url: str
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    content: bytes | None
    identifier: object = None

    def with_query(self, query: tuple[tuple[str, str], ...]) -> OutRequest:
        """The request with a query."""
        asked = "&".join(f"{name}={value}" for name, value in query)
        return OutRequest(self.method, f"{self.url}?{asked}" if asked else self.url, self.headers, self.content)

    @property
    def request(self) -> OutRequest:
        """The request as it is."""
        return self.with_query(self.query)


@dataclass(frozen=True)
class Call:
    """Everything that a call of one operation needs."""

    name: str
    method: str
    base_url: str
    template: PathTemplate
    located: Mapping[str, Located]
    inputs: Inputs
    security: Security
    connections: Connections
    accept: str = ""
    selects: bool = False

    async def __call__(self, **values: Any) -> object:
        """Send one request, and give the data of its answer."""
        fields = values.pop(_FIELDS, NOT_GIVEN) if self.selects else NOT_GIVEN
        prepared = self.prepared(values)
        return selected(self.data(await self.send(prepared.request), prepared), fields)

    async def send(self, request: OutRequest) -> Answer:
        """The upstream's answer, whatever its status."""
        return await self.connections.send(self.base_url, self.security, request)

    def data(self, answer: Answer, prepared: Prepared) -> object:
        """The data of an answer; one that tells of a failure is raised."""
        if answer.status not in _SUCCESS:
            resource = resource_of(self.name)
            raise failure_of(answer, operation=self.name, resource=resource, identifier=prepared.identifier)
        if self.method == "HEAD":
            told = {name: answer.headers[name] for name in _TOLD_OF_A_HEAD if name in answer.headers}
            return {"status": answer.status, "headers": told}
        return data_of(answer)

    def prepared(self, values: Mapping[str, Any]) -> Prepared:
        """The request that parameters mean."""
        given = self.inputs.given({name: value for name, value in values.items() if name != DRY_RUN})
        paths = {one.name: (key, one) for key, one in self.located.items() if one.where == "path"}

        def text_of_name(name: str) -> str:
            if name not in paths or paths[name][0] not in given.located:
                raise AqlError("PROTOCOL_MISSING_PARAM", f"Missing parameter '{name}'", {"param_name": name})
            key, one = paths[name]
            return as_path(one.name, one.style, given.located[key])

        content, content_type = self._content(given)
        headers = (*self._headers(given), *((("Content-Type", content_type),) if content_type else ()))
        path = self.template.filled(text_of_name)
        return Prepared(
            self.method, f"{self.base_url}{path}", tuple(self._query(given)), headers, content, self._identifier(given)
        )

    def _identifier(self, given: Given) -> object:
        """What tells the resource from others, for messages: the last name in the path."""
        keys = {one.name: key for key, one in self.located.items() if one.where == "path"}
        last = next(iter(reversed(self.template.names)), None)
        return given.located.get(keys.get(last, "")) if last else None

    def _at(self, where: str, given: Given) -> Iterator[tuple[Located, Any]]:
        for key, one in self.located.items():
            if one.where == where and key in given.located:
                yield one, given.located[key]

    def _query(self, given: Given) -> Iterator[tuple[str, str]]:
        yield from self.template.query
        for one, value in self._at("query", given):
            yield from as_query(one.name, one.style, value)

    def _headers(self, given: Given) -> Iterator[tuple[str, str]]:
        if self.accept:
            yield "Accept", self.accept
        for one, value in self._at("header", given):
            line = as_header(one.name, one.style, value)
            if line is not None:
                yield one.name, line
        cookies = [pair for one, value in self._at("cookie", given) for pair in as_cookies(one.name, one.style, value)]
        if cookies:
            yield "Cookie", "; ".join(f"{name}={value}" for name, value in cookies)

    def _content(self, given: Given) -> tuple[bytes | None, str]:
        body = self.inputs.body
        if body is None or given.body is NOT_GIVEN:
            return None, ""
        return _written(body, given.body, given.content_type)


def _written(body: Body, value: Any, content_type: str | None) -> tuple[bytes, str]:
    match body.kind:
        case Kind.JSON:
            return json_text(value).encode(), body.media
        case Kind.FORM:
            return form(value, body.fields), body.media
        case Kind.MULTIPART:
            return multipart(value, body.fields, body.media)
        case Kind.TEXT:
            media = content_type or body.media
            return text_of(value).encode("utf-8", "replace"), media if ";" in media else f"{media}; charset=utf-8"
        case Kind.BINARY:
            return base64.b64decode(value), content_type or body.media
