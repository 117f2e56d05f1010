"""Security schemes: credentials from the environment, in the first way that is there, and never for a model to see."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.openapi.options import OpenApiOptions
from tests.sources.http.upstream import Received, Upstream, always, by_path, reply, running
from tests.sources.openapi.making import Node, adapter_of, call, document, get

pytestmark = pytest.mark.anyio

SCHEMES: Node = {
    "api_key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query_key": {"type": "apiKey", "in": "query", "name": "key"},
    "cookieKey": {"type": "apiKey", "in": "cookie", "name": "session"},
    "token": {"type": "http", "scheme": "Bearer"},
    "login": {"type": "http", "scheme": "basic"},
    "oauth": {
        "type": "oauth2",
        "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {"read": "Read"}}},
    },
    "user": {"type": "oauth2", "flows": {"authorizationCode": {"authorizationUrl": "/a", "tokenUrl": "/t"}}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://x.example"},
    "digest": {"type": "http", "scheme": "digest"},
    "odd": {"type": "apiKey", "in": "body", "name": "x"},
    "broken": {"type": "apiKey", "in": "header", "name": "no header name"},
}


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    token = json.dumps({"access_token": "t0ken", "token_type": "Bearer", "expires_in": 60}).encode()
    answers = {"things": reply(200, b"[]", content_type="application/json"), "token": reply(200, token)}
    async with running(by_path(**answers)) as serving:
        yield serving


def secured(upstream: Upstream | None, requirements: list[Node] | None, **options: Any) -> Adapter:
    """An adapter with one operation that has these requirements."""
    extra = {} if requirements is None else {"security": requirements}
    base_url = upstream.url if upstream else "https://shop.example"
    tree = document(
        {"/things": {"get": get(**extra)}}, components={"securitySchemes": SCHEMES}, security=[{"token": []}]
    )
    return adapter_of(tree, OpenApiOptions(base_url=base_url, **options))


async def asked(adapter: Adapter) -> Any:
    [operation] = adapter.operations.values()
    try:
        return await call(operation)
    finally:
        await adapter.close()


@pytest.mark.parametrize(
    ("scheme", "variables", "shown"),
    [
        ("api_key", {"SHOP_API_KEY": "s3cret"}, ("x-key", "s3cret")),
        ("query_key", {"SHOP_QUERY_KEY": "s3 cret"}, ("", "/things?key=s3%20cret")),
        ("cookieKey", {"SHOP_COOKIE_KEY": "s3cret"}, ("cookie", "session=s3cret")),
        ("token", {"SHOP_TOKEN": "s3cret"}, ("authorization", "Bearer s3cret")),
        ("login", {"SHOP_LOGIN_USERNAME": "ada", "SHOP_LOGIN_PASSWORD": "x"}, ("authorization", "Basic YWRhOng=")),
        ("oauth", {"SHOP_OAUTH_CLIENT_ID": "i", "SHOP_OAUTH_CLIENT_SECRET": "s"}, ("authorization", "Bearer t0ken")),
        ("user", {"SHOP_USER": "s3cret"}, ("authorization", "Bearer s3cret")),
    ],
)
async def test_a_scheme_has_variables_of_its_own(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch, scheme: str, variables: Node, shown: tuple[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    await asked(secured(upstream, [{scheme: ["read"]}]))
    last = upstream.requests[-1]
    assert shown in [*last.headers.items(), ("", last.target)]


async def test_the_documents_own_security_holds_where_an_operation_says_nothing(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    await asked(secured(upstream, None))
    await asked(secured(upstream, []))
    assert [request.headers.get("authorization") for request in upstream.requests] == ["Bearer s3cret", None]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SHOP_API_KEY": "k", "SHOP_TOKEN": "t"}, {"x-key": "k"}),
        ({"SHOP_TOKEN": "t", "SHOP_QUERY_KEY": "q"}, {"authorization": "Bearer t"}),
        ({"SHOP_TOKEN": "t"}, {}),
        ({"SHOP_API_KEY": " "}, {}),
    ],
    ids=["the first", "the second, together", "half of the second", "blank"],
)
async def test_the_first_way_whose_variables_are_set_is_taken(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch, variables: Node, expected: Node
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    await asked(secured(upstream, [{}, {"oidc": []}, {"api_key": []}, {"token": [], "query_key": []}]))
    [request] = upstream.requests
    assert {key: request.headers[key] for key in ("x-key", "authorization") if key in request.headers} == expected
    assert ("key=q" in request.target) == ("SHOP_QUERY_KEY" in variables)


async def test_a_missing_variable_is_named_and_nothing_is_sent(upstream: Upstream) -> None:
    with pytest.raises(AqlError) as caught:
        await asked(secured(upstream, [{"login": []}, {"api_key": [], "token": []}]))
    error = caught.value.error
    assert error.code == "AUTH_CREDENTIAL_MISSING"
    assert error.details == {"variable": "SHOP_LOGIN_USERNAME"}
    assert "or instead SHOP_API_KEY and SHOP_TOKEN" in error.message
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        ("oidc", "'openIdConnect', which headgate does not have"),
        ("digest", "'digest', which headgate does not have"),
        ("odd", "'apiKey', which headgate does not have"),
        ("gone", "which its document does not describe"),
        ("broken", "which cannot be used"),
    ],
)
async def test_a_scheme_that_cannot_be_used_is_said(upstream: Upstream, scheme: str, words: str) -> None:
    with pytest.raises(AqlError) as caught:
        await asked(secured(upstream, [{scheme: []}]))
    assert caught.value.error.code == "AUTH_CONFIG_INVALID"
    assert words in caught.value.error.message
    assert upstream.requests == []


async def test_an_operator_may_name_other_variables(upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "mine")
    await asked(secured(upstream, [{"token": []}], credentials={"token": {"token": "MY_TOKEN"}}))
    await asked(secured(upstream, [{"oauth": []}], credentials={"oauth": {"token": "MY_TOKEN"}}))
    assert [request.headers["authorization"] for request in upstream.requests] == ["Bearer mine"] * 2


def test_a_secret_is_not_taken_for_the_name_of_a_variable() -> None:
    with pytest.raises(AdapterError) as caught:
        OpenApiOptions(credentials={"token": {"token": "sk-12345"}})
    assert "sk-12345" not in str(caught.value)
    assert "the name of an environment variable" in str(caught.value)


def test_a_parameter_that_only_carries_a_key_is_not_shown() -> None:
    parameters = [
        {"name": name, "in": where, "schema": {"type": "string"}}
        for name, where in (("x-key", "header"), ("key", "query"), ("session", "cookie"), ("session", "query"))
    ]
    tree = document({"/things": {"get": get(*parameters)}}, components={"securitySchemes": SCHEMES})
    [operation] = adapter_of(tree).operations.values()
    assert [parameter.name for parameter in operation.parameters] == ["session", "fields"]


async def test_no_secret_is_in_what_introspection_and_errors_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_QUERY_KEY", "s3cret")

    async def echo(received: Received, writer: object) -> bytes:
        return reply(500, f"failed: {received.target}".encode(), content_type="text/plain")

    async with running(echo) as upstream:
        adapter = secured(upstream, [{"query_key": []}])
        [operation] = adapter.operations.values()
        with pytest.raises(AqlError) as caught:
            await asked(adapter)
    assert "s3cret" in upstream.requests[0].target
    for shown in (repr(operation), repr(operation.schema), str(caught.value), str(caught.value.error.details)):
        assert "s3cret" not in shown


async def test_security_that_is_no_list_asks_for_nothing() -> None:
    async with running(always(reply(200, b"5", content_type="application/json"))) as upstream:
        tree = document({"/things": {"get": get(security="odd")}}, components={"securitySchemes": SCHEMES})
        assert await asked(adapter_of(tree, OpenApiOptions(base_url=upstream.url))) == 5
