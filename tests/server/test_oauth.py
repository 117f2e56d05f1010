"""OAuth: tokens of an authorization server count if every word of them is right, and nothing else does."""

import base64
import json
import logging
import time
from collections.abc import Iterator
from typing import Any

import anyio
import jwt
import pytest

from headgate.server.auth import OAuth
from headgate.server.oauth import JwtVerifier
from headgate.server.settings import SettingError
from tests.server.authority import Authority, SigningKey, authority
from tests.server.processes import WORKSHOP, Serving, serve_http
from tests.server.requests import Answer, caller, legacy, modern

AUDIENCE = "http://127.0.0.1/mcp"
RSA = SigningKey.make("rsa-1", "RS256")
PSS = SigningKey("rsa-1", "PS256", RSA.private)
EC = SigningKey.make("ec-1", "ES256")
BOUND = SigningKey.make("rsa-bound", "RS256")
STRANGER = SigningKey.make("rsa-1", "RS256")


@pytest.fixture(scope="module")
def issuer() -> Iterator[Authority]:
    with authority() as made:
        made.key_set = {
            "keys": [
                RSA.published(use="sig"),
                EC.published(alg="ES256"),
                BOUND.published(alg="RS512"),
                SigningKey("encryption", "RS256", RSA.private).published(use="enc"),
                {"kty": "oct", "kid": "shared", "k": base64.urlsafe_b64encode(b"s" * 32).decode()},
                {"kty": "unheard of", "kid": "odd"},
                7,
            ]
        }
        yield made


@pytest.fixture(scope="module")
def guarded(issuer: Authority) -> Iterator[Serving]:
    """A server that takes tokens of the issuer, if they have a scope."""
    words = ("--oauth-issuer", issuer.url, "--oauth-audience", AUDIENCE, "--oauth-scope", "library")
    with serve_http(WORKSHOP, *words) as serving:
        yield serving


def bearing(port: int, token: str) -> Answer:
    return modern(port, Authorization=f"Bearer {token}").call("get_caller")


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("key", [RSA, PSS, EC], ids=["RS256", "PS256", "ES256"])
def test_a_good_token_says_who_calls(guarded: Serving, issuer: Authority, key: SigningKey, era: Any) -> None:
    client = caller(era, guarded.port, Authorization=f"Bearer {key.token(issuer.claims())}")
    assert client.call("get_caller").envelope["data"] == {
        "subject": "alice",
        "client_id": "assistant",
        "scopes": ["library", "read"],
        "label": "tests",
    }
    guarded.logged("(alice)")


def unsigned(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, "", "none", {"kid": "rsa-1"})


def shared_secret(claims: dict[str, Any], key_id: str) -> str:
    return jwt.encode(claims, b"s" * 32, "HS256", {"kid": key_id})


def tampered(claims: dict[str, Any]) -> str:
    header, _, signature = RSA.token(claims).split(".")
    changed = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "root"}).encode()).decode().rstrip("=")
    return f"{header}.{changed}.{signature}"


def test_a_token_of_which_anything_is_wrong_is_refused(guarded: Serving, issuer: Authority) -> None:
    good = issuer.claims()
    past = int(time.time()) - 3600
    tokens = {
        "meant for another": RSA.token(issuer.claims(aud="http://127.0.0.1/other")),
        "meant for nobody": RSA.token(issuer.claims(aud=None)),
        "from another issuer": RSA.token(issuer.claims(iss="http://127.0.0.1:1")),
        "from nobody": RSA.token(issuer.claims(iss=None)),
        "expired": RSA.token(issuer.claims(exp=past)),
        "without end": RSA.token(issuer.claims(exp=None)),
        "not yet valid": RSA.token(issuer.claims(nbf=int(time.time()) + 3600)),
        "unsigned": unsigned(good),
        "signed with a secret that was published": shared_secret(good, "shared"),
        "signed with a public key as secret": shared_secret(good, "rsa-1"),
        "signed by another key of that name": STRANGER.token(good),
        "of an unknown key": RSA.token(good, kid="never-heard-of"),
        "without a key": jwt.encode(good, RSA.private, "RS256"),
        "of a key bound to another algorithm": BOUND.token(good),
        "of a key for encryption": RSA.token(good, kid="encryption"),
        "of a key of another kind": jwt.encode(good, EC.private, "ES256", {"kid": "rsa-1"}),
        "tampered with": tampered(good),
        "with a key that is no name": "e30.e30.",
        "not a token": "nonsense",
        "odd scopes": RSA.token(issuer.claims(scope=7)),
    }
    for what, token in tokens.items():
        answer = bearing(guarded.port, token)
        assert answer.status == 401, f"a token {what} got {answer.status}"
        assert answer.json["error"] == "invalid_token"


def test_a_token_without_the_scope_is_told_so(guarded: Serving, issuer: Authority) -> None:
    answer = bearing(guarded.port, RSA.token(issuer.claims(scope="read")))
    assert answer.status == 403
    assert answer.json["error"] == "insufficient_scope"
    assert "library" in answer.json["error_description"]
    assert bearing(guarded.port, RSA.token(issuer.claims(scope=None, scp=["library"]))).status == 200


def test_a_client_finds_out_where_to_get_a_token(guarded: Serving, issuer: Authority) -> None:
    refused = modern(guarded.port).call("get_caller")
    assert refused.status == 401
    place = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{place}"' in refused.headers["www-authenticate"]
    metadata = modern(guarded.port).send(b"", "GET", "/.well-known/oauth-protected-resource/mcp").json
    assert metadata["resource"] == AUDIENCE
    assert [server.rstrip("/") for server in metadata["authorization_servers"]] == [issuer.url]
    assert metadata["scopes_supported"] == ["library"]
    assert metadata["bearer_methods_supported"] == ["header"]


def test_a_session_belongs_to_the_caller_who_opened_it(guarded: Serving, issuer: Authority) -> None:
    alice = legacy(guarded.port, Authorization=f"Bearer {RSA.token(issuer.claims())}")
    again, other = RSA.token(issuer.claims(iat=1)), RSA.token(issuer.claims(sub="mallory"))
    assert alice.call("get_caller", Authorization=f"Bearer {again}").status == 200
    assert alice.call("get_caller", Authorization=f"Bearer {other}").status == 404


def test_callers_whose_names_run_together_are_still_told_apart(guarded: Serving, issuer: Authority) -> None:
    def before(**claims: str) -> object:
        client = modern(guarded.port, Authorization=f"Bearer {RSA.token(issuer.claims(**claims))}")
        return client.execute("execute_note", {"text": "x"}).envelope["data"]["before"]

    assert before(client_id="a:b", sub="c") == []
    assert before(client_id="a", sub="b:c") == []
    assert before(client_id="a:b", sub="c") == ["x"]


class Clock:
    """A time that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def fresh() -> Iterator[Authority]:
    """An issuer that the test may change."""
    with authority() as made:
        made.key_set = {"keys": [RSA.published()]}
        yield made


def verifier(issuer: Authority, clock: Clock | None = None, **more: Any) -> JwtVerifier:
    return JwtVerifier(OAuth(issuer=issuer.url, audience=AUDIENCE, **more), clock or Clock())


@pytest.mark.anyio
async def test_keys_are_fetched_once_and_again_when_a_new_one_is_used(fresh: Authority) -> None:
    clock = Clock()
    checks = verifier(fresh, clock)
    for _ in range(5):
        assert await checks.verify_token(RSA.token(fresh.claims()))
    assert fresh.asked.count("/keys") == 1
    rotated = SigningKey.make("rsa-2", "RS256")
    fresh.key_set = {"keys": [rotated.published()]}
    assert not await checks.verify_token(rotated.token(fresh.claims()))
    assert fresh.asked.count("/keys") == 1, "unknown keys must not be looked up as often as somebody likes"
    clock.now += 11
    assert await checks.verify_token(rotated.token(fresh.claims()))
    assert not await checks.verify_token(RSA.token(fresh.claims())), "a key that was withdrawn counts no more"


@pytest.mark.anyio
async def test_however_many_ask_at_once_keys_are_fetched_once(fresh: Authority) -> None:
    checks, names = verifier(fresh), list[str | None]()

    async def check(name: str) -> None:
        found = await checks.verify_token(RSA.token(fresh.claims(sub=name)))
        names.append(found.subject if found else None)

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(check, f"caller {number}")
    assert sorted(names, key=str) == [f"caller {number}" for number in range(10)]
    assert fresh.asked.count("/keys") == 1


@pytest.mark.anyio
async def test_known_keys_are_looked_up_again_after_a_while(fresh: Authority) -> None:
    clock = Clock()
    checks = verifier(fresh, clock, jwks_url=f"{fresh.url}/keys")
    assert await checks.verify_token(RSA.token(fresh.claims()))
    clock.now += 601
    assert await checks.verify_token(RSA.token(fresh.claims()))
    assert fresh.asked == ["/keys", "/keys"]


@pytest.mark.anyio
async def test_while_the_issuer_is_away_the_keys_that_are_known_still_count(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    with authority() as issuer:
        issuer.key_set = {"keys": [RSA.published()]}
        checks = verifier(issuer, clock)
        assert await checks.verify_token(RSA.token(issuer.claims()))
    clock.now += 601
    assert await checks.verify_token(RSA.token(issuer.claims()))
    assert not await checks.verify_token(EC.token(issuer.claims()))
    assert f"the keys of {issuer.url} cannot be fetched" in caplog.text


ODD_KEY_SETS: dict[str, Any] = {
    "a list": [],
    "no keys": {"keys": []},
    "nothing": {},
    "keys of a wrong type": {"keys": {"a": 1}},
    "not JSON": b"<html>",
    "not UTF-8": b"\xff",
    "useless keys": {"keys": [{"kty": "RSA", "kid": "rsa-1", "n": "!", "e": 5}, {"kid": "x"}, None]},
}


@pytest.mark.anyio
@pytest.mark.parametrize("key_set", ODD_KEY_SETS.values(), ids=ODD_KEY_SETS)
async def test_an_issuer_with_odd_keys_proves_nothing(
    fresh: Authority, key_set: Any, caplog: pytest.LogCaptureFixture
) -> None:
    fresh.key_set = key_set
    assert await verifier(fresh).verify_token(RSA.token(fresh.claims())) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.anyio
async def test_keys_are_found_as_openid_connect_says_too(fresh: Authority) -> None:
    fresh.metadata = {"/.well-known/openid-configuration": {"issuer": fresh.url, "jwks_uri": f"{fresh.url}/keys"}}
    assert await verifier(fresh).verify_token(RSA.token(fresh.claims()))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "place",
    [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ],
)
async def test_an_issuer_may_have_a_path(fresh: Authority, place: str) -> None:
    issuer = f"{fresh.url}/tenant"
    fresh.metadata = {place: {"issuer": issuer, "jwks_uri": f"{fresh.url}/keys"}}
    checks = JwtVerifier(OAuth(issuer=issuer, audience=AUDIENCE))
    assert await checks.verify_token(RSA.token(fresh.claims(iss=issuer)))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://somebody.example", "jwks_uri": "{url}/keys"},
        {"issuer": "{url}"},
        {"issuer": "{url}", "jwks_uri": 7},
        {"issuer": "{url}", "jwks_uri": "http://keys.example/"},
        ["{url}"],
    ],
    ids=["another issuer", "no keys", "wrong type", "not safe", "a list"],
)
async def test_metadata_that_cannot_be_believed_is_not(
    fresh: Authority, metadata: Any, caplog: pytest.LogCaptureFixture
) -> None:
    said = json.loads(json.dumps(metadata).replace("{url}", fresh.url))
    fresh.metadata = {"/.well-known/oauth-authorization-server": said}
    assert await verifier(fresh).verify_token(RSA.token(fresh.claims())) is None
    assert "it does not say where they are" in caplog.text


@pytest.mark.anyio
async def test_a_caller_without_a_name_is_known_by_its_client(fresh: Authority) -> None:
    found = await verifier(fresh).verify_token(RSA.token(fresh.claims(sub=None, client_id=None, azp="robot")))
    assert found
    assert (found.subject, found.client_id) == (None, "robot")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"issuer": "login"}, "The OAuth issuer 'login' is not a URL"),
        ({"issuer": "http://login.example.org"}, "The OAuth issuer 'http://login.example.org' is not a URL"),
        ({"issuer": "https://"}, "The OAuth issuer 'https://' is not a URL"),
        ({"issuer": "https://[half"}, "The OAuth issuer 'https://[half' is not a URL"),
        ({"jwks_url": "http://keys.example.org"}, "The OAuth address of the keys 'http://keys.example.org' is not"),
        ({"audience": "https://"}, "The OAuth audience 'https://' is not a URL"),
    ],
)
def test_settings_that_could_not_be_safe_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as refused:
        OAuth(**{"issuer": "https://login.example.org", "audience": "library", **settings})
    assert str(refused.value).startswith(message)


def test_an_audience_may_be_a_name_and_the_resource_is_then_where_the_server_listens(issuer: Authority) -> None:
    keys = ("--oauth-jwks", f"{issuer.url}/keys")
    with serve_http(WORKSHOP, "--oauth-issuer", issuer.url, "--oauth-audience", "library", *keys) as serving:
        assert bearing(serving.port, EC.token(issuer.claims(aud=["library", "x"]))).status == 200
        assert bearing(serving.port, EC.token(issuer.claims())).status == 401
        metadata = modern(serving.port).send(b"", "GET", "/.well-known/oauth-protected-resource/mcp").json
        assert metadata["resource"] == serving.url
