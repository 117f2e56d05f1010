"""Where requests go: servers of the operation, the path or the document, their variables, and the operator's word."""

from typing import Any

import pytest

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.servers import base_url_of
from tests.sources.openapi.making import Node, adapter_of, call, document, get, prepared

VARIABLES: Node = {"region": {"default": "eu", "enum": ["eu", "us"]}, "port": {"default": 8443}}
TEMPLATE = [{"url": "https://{region}.shop.example:{port}/v1/", "variables": VARIABLES}]


@pytest.mark.parametrize(
    ("servers", "options", "url", "expected"),
    [
        ([{"url": "https://a.example/v1/"}, {"url": "https://b.example"}], {}, None, "https://a.example/v1"),
        ([{"url": "http://a.example/v1/"}, {"url": "https://b.example"}], {}, None, "https://b.example"),
        (TEMPLATE, {}, None, "https://eu.shop.example:8443/v1"),
        (TEMPLATE, {"variables": {"region": "us"}}, None, "https://us.shop.example:8443/v1"),
        (TEMPLATE, {"base_url": "http://localhost:8000/"}, None, "http://localhost:8000"),
        ([{"url": "/v2"}], {}, "https://docs.example/api/openapi.json", "https://docs.example/v2"),
        ([{"url": "v2"}], {}, "https://docs.example/api/openapi.json", "https://docs.example/api/v2"),
        (None, {}, "https://docs.example/api/openapi.json", "https://docs.example"),
        ([], {}, "https://docs.example/openapi.json", "https://docs.example"),
        (["odd"], {}, "https://docs.example/openapi.json", "https://docs.example"),
    ],
)
def test_the_first_server_that_can_be_used_counts(servers: Any, options: Node, url: str | None, expected: str) -> None:
    assert base_url_of(servers, OpenApiOptions(**options), url) == expected


@pytest.mark.parametrize(
    ("servers", "options", "words"),
    [
        (None, {}, "does not say where its server is"),
        ([{"url": "/v1"}], {}, "does not say where its server is"),
        ([{"url": "ftp://x.example"}], {}, "does not say where its server is"),
        ([{"url": "https://user:pw@x.example"}], {}, "must not hold a user name or a password"),
        ([{"url": "https://x.example/a?b=1"}], {}, "must end before any '?' or '#'"),
        ([{"url": "https://{host}"}], {}, "The variable 'host' of the server's URL has no value"),
        (TEMPLATE, {"variables": {"region": "uss"}}, "must be one of eu, us. Did you mean 'us'?"),
        ([], {"base_url": "nonsense"}, "The base URL of the source is not valid"),
        ([{"url": "https://bad host"}], {}, "is not valid"),
        ([{"url": "http://shop.example"}], {}, "must begin with 'https://': 'http://shop.example' is not localhost"),
        ([{"url": "http://169.254.169.254/latest"}], {}, "must begin with 'https://'"),
    ],
)
def test_what_is_no_server_is_refused_with_a_way_out(servers: Any, options: Node, words: str) -> None:
    with pytest.raises(AdapterError) as caught:
        base_url_of(servers, OpenApiOptions(**options), None)
    assert words in str(caught.value)


@pytest.mark.parametrize("url", ["http://localhost:9200", "http://127.0.0.1/v1", "http://[::1]:8080"])
def test_a_document_from_elsewhere_does_not_choose_what_is_reached_on_this_machine(url: str) -> None:
    servers = [{"url": url}]
    with pytest.raises(AdapterError, match="comes from elsewhere, and names this machine"):
        base_url_of(servers, OpenApiOptions(), "https://api.example/openapi.json")
    assert base_url_of(servers, OpenApiOptions(), "http://localhost:3000/openapi.json") == url
    assert base_url_of(servers, OpenApiOptions(), None) == url
    assert base_url_of(servers, OpenApiOptions(base_url=url), "https://api.example/openapi.json") == url


def test_an_operation_and_a_path_may_have_servers_of_their_own() -> None:
    tree = document(
        {
            "/a": {"get": get()},
            "/b": {"servers": [{"url": "https://b.example"}], "get": get()},
            "/c": {"servers": [{"url": "https://b.example"}], "get": get(servers=[{"url": "https://c.example"}])},
        }
    )
    urls = [prepared(operation).url for operation in adapter_of(tree).operations.values()]
    assert urls == ["https://shop.example/a", "https://b.example/b", "https://c.example/c"]


def test_a_document_without_a_server_is_refused_as_a_whole() -> None:
    tree = document({"/a": {"get": get()}, "/b": {"get": get()}}, servers=[])
    with pytest.raises(AdapterError, match="base_url"):
        adapter_of(tree)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "url",
    [
        "https://169.254.169.254",
        "https://metadata.google.internal",
        "https://10.0.0.1",
        "https://[::ffff:127.0.0.1]",
    ],
)
async def test_a_server_in_a_forbidden_place_is_refused_when_it_is_called(url: str) -> None:
    tree = document({"/latest/meta-data": {"get": get()}}, servers=[{"url": url}])
    adapter = adapter_of(tree)
    [operation] = adapter.operations.values()
    with pytest.raises(AqlError):
        await call(operation)
    await adapter.close()
