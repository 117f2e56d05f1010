"""An OpenID Connect provider: the small authority of the tests, with the code flow and PKCE (RFC 6749, RFC 7636)."""

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tests.server.authority import Authority, SigningKey, authority

__all__ = ["CLIENT", "OpenId", "openid"]

CLIENT = "headgate-console"
_KEY = SigningKey.make("ec-1", "ES256")


@dataclass
class OpenId:
    """The provider: whom it signs in, and how it misbehaves, both to be changed while it runs."""

    authority: Authority
    person: dict[str, Any] = field(default_factory=dict)
    """What it says of whoever signs in; None leaves a claim out."""
    secret: str | None = None
    """What the console must prove itself with."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    key: SigningKey = _KEY

    @property
    def url(self) -> str:
        return self.authority.url

    async def authorize(self, request: Request) -> Response:
        """Send somebody who has signed in back, with a code."""
        asked = dict(request.query_params)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert set(asked["scope"].split()) == {"openid", "email"}
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        back = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def token(self, request: Request) -> Response:
        """Say who it is, once, to whoever began it."""
        form = await request.form()
        code = str(form["code"])
        asked = self.codes.get(code)
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        is_right = (
            asked is not None
            and form["grant_type"] == "authorization_code"
            and form["client_id"] == CLIENT
            and form["redirect_uri"] == asked["redirect_uri"]
            and challenge == asked["code_challenge"]
            and form.get("client_secret") == self.secret
            and code not in self.used
        )
        self.used.append(code)
        if asked is None or not is_right:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": self.says(asked["nonce"])})

    def says(self, nonce: str) -> str:
        """What it signs of a person."""
        about = {"aud": CLIENT, "sub": "u-1", "client_id": None, "scope": None, "nonce": nonce, **self.person}
        return self.key.token(self.authority.claims(**about))

    def begin(self, **person: Any) -> None:
        """Be a good provider again, which signs this person in."""
        self.person, self.secret, self.key = person, None, _KEY
        self.codes.clear()
        self.used.clear()
        self.authority.key_set = {"keys": [_KEY.published(alg="ES256")]}
        self.authority.metadata = {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize?prompt=login",
                "token_endpoint": f"{self.url}/token",
            }
        }
        self.authority.pages = {"/authorize": self.authorize, "/token": self.token}

    def answers(self, path: str, page: Callable[[Request], Awaitable[Response]]) -> None:
        """Let it answer something else."""
        self.authority.pages[path] = page


@contextmanager
def openid() -> Iterator[OpenId]:
    """A provider that runs."""
    with authority() as made:
        provider = OpenId(made)
        provider.begin()
        yield provider
