"""Signing in with an OpenID Connect provider: the code flow with PKCE, for those whom the operator has named."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import urlencode

import httpx2

from headgate.safety.clock import Clock
from headgate.server.auth import OAuth
from headgate.server.oauth import JwtVerifier, discover
from headgate.server.settings import SettingError
from headgate.store.interface import Store
from headgate.store.records import Record

__all__ = ["CALLBACK", "OAuthError", "Provider", "SignInWithOAuth"]

CALLBACK: Final = "/sign-in-callback"
"""Where the provider sends browsers back to."""

_KIND: Final = "console oauth"
_SECONDS: Final = 600.0
_FETCH_SECONDS: Final = 10.0
_FAILURES: Final = (httpx2.HTTPError, httpx2.InvalidURL, ValueError)
"""What comes of a provider that does not answer, or answers anything else."""
_BYTES: Final = 32


class OAuthError(Exception):
    """Nobody was signed in; the words are for the person at the browser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The provider, how it knows the console, and whom it may sign in: addresses or subjects, with ``*`` if need be.

    What has an ``@`` is an address: a subject that somebody chose to look like one is not let in by it.
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    allowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.allowed:
            raise SettingError("--console-allow must name who may sign in, such as *@example.org")

    def admits(self, claims: Mapping[str, Any]) -> str | None:
        """The name of the person whom a token is about, if they may sign in. An address counts only if it is proved."""
        address = claims.get("email") if claims.get("email_verified") is True else None
        for name, is_address in ((address, True), (claims.get("sub"), False)):
            fitting = (one for one in self.allowed if ("@" in one) is is_address)
            if isinstance(name, str) and name and any(fnmatchcase(name, one) for one in fitting):
                return name
        return None


@dataclass(frozen=True, slots=True)
class Going:
    """A browser on its way to the provider: where it goes, and the secret that it must bring back in a cookie."""

    url: str
    secret: str


class SignInWithOAuth:
    """Sends browsers to the provider, and takes them back."""

    def __init__(self, provider: Provider, store: Store, url: str, clock: Clock) -> None:
        self._provider = provider
        self._store = store
        self._return_to = f"{url}{CALLBACK}"
        self._clock = clock
        self._verifier = JwtVerifier(OAuth(issuer=provider.issuer, audience=provider.client_id))

    async def go(self) -> Going:
        """Begin; an OAuthError if the provider cannot be reached."""
        async with _http() as http:
            authorize = await self._address(http, "authorization_endpoint")
        secret, nonce, verifier = (secrets.token_urlsafe(_BYTES) for _ in range(3))
        value = {"nonce": nonce, "verifier": verifier}
        await self._store.insert(Record(_KIND, _hash(secret), value, None, self._clock() + _SECONDS))
        asked = {
            "response_type": "code",
            "client_id": self._provider.client_id,
            "redirect_uri": self._return_to,
            "scope": "openid email",
            "state": _hash(secret),
            "nonce": nonce,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
        }
        return Going(f"{authorize}{'&' if '?' in authorize else '?'}{urlencode(asked)}", secret)

    async def back(self, secret: str, state: str, code: str) -> str:
        """Who has come back; an OAuthError if it is nobody who may sign in. Each way to the provider counts once."""
        record = await self._store.find(_KIND, _hash(secret))
        if record is None or not _same(record.key, state) or not await self._store.remove(_KIND, record.key):
            raise OAuthError("This sign-in was not begun here, or is used up: begin again.")
        if record.expires_at is None or record.expires_at <= self._clock():
            raise OAuthError("This sign-in took too long: begin again.")
        if not code:
            raise OAuthError("The provider has not signed you in: begin again.")
        claims = await self._verifier.claims(await self._identity(code, str(record.value["verifier"])))
        if claims is None or not _same(str(record.value["nonce"]), str(claims.get("nonce"))):
            raise OAuthError("What the provider says of you cannot be verified.")
        name = self._provider.admits(claims)
        if name is None:
            raise OAuthError("You are not among those who may sign in here.")
        return name

    async def _identity(self, code: str, verifier: str) -> str:
        """The token in which the provider says who it is."""
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._return_to,
            "client_id": self._provider.client_id,
            "code_verifier": verifier,
        }
        if self._provider.client_secret:
            asked["client_secret"] = self._provider.client_secret
        async with _http() as http:
            address = await self._address(http, "token_endpoint")
            try:
                answer = await http.post(address, data=asked, headers={"accept": "application/json"})
                token = answer.json().get("id_token") if answer.is_success else None
            except (*_FAILURES, AttributeError):
                token = None
        if not isinstance(token, str):
            raise OAuthError("The provider did not say who you are: begin again.")
        return token

    async def _address(self, http: httpx2.AsyncClient, name: str) -> str:
        try:
            [address] = await discover(http, self._provider.issuer, name)
        except _FAILURES:
            raise OAuthError("The provider cannot be reached: use a link instead, or try again.") from None
        return address


def _http() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=_FETCH_SECONDS, follow_redirects=False)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()


def _same(ours: str, theirs: str) -> bool:
    return hmac.compare_digest(ours.encode(), theirs.encode(errors="surrogateescape"))


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
