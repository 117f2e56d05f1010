"""Tokens that an OAuth authorization server signed (RFC 9068). What is here is loaded only where there is one."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt
from mcp.server.auth.provider import AccessToken

from headgate.server.auth import OAuth, is_safe

__all__ = ["JwtVerifier", "discover"]

_LOG: Final = logging.getLogger("headgate")
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Only signatures with a public key: a shared secret would let every holder make tokens."""

_LEEWAY_SECONDS: Final = 30
_KEYS_KEPT_SECONDS: Final = 600.0
_REFETCH_SECONDS: Final = 10.0
_FETCH_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Key:
    """A public key, and the algorithm that it is bound to, if its owner says so."""

    key: Any
    algorithm: str | None


class JwtVerifier:
    """Checks signature, issuer, audience and times of JWT access tokens, with keys fetched from the issuer."""

    def __init__(self, oauth: OAuth, clock: Callable[[], float] = time.monotonic) -> None:
        self._oauth = oauth
        self._clock = clock
        self._keys: Mapping[str, _Key] = {}
        self._fetched = self._tried = float("-inf")
        self._fetching = anyio.Lock()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who bears this token, if it is good; nothing else is told."""
        claims = await self.claims(token)
        try:
            return _access_token(token, claims) if claims is not None else None
        except (ValueError, TypeError):
            return None

    async def claims(self, token: str) -> Mapping[str, Any] | None:
        """What a token says that its issuer has signed for this audience; None if it is not good."""
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            key = await self._key(str(header.get("kid", ""))) if algorithm in _ALGORITHMS else None
            if key is None or key.algorithm not in (None, algorithm):
                return None
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[str(algorithm)],
                audience=self._oauth.audience,
                issuer=self._oauth.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            return None
        return claims

    async def _key(self, key_id: str) -> _Key | None:
        """The key of that id. An unknown id fetches the keys anew, but not more often than a few times a minute."""
        if self._wants_keys(key_id):
            async with self._fetching:
                if self._wants_keys(key_id):
                    await self._fetch()
        return self._keys.get(key_id)

    def _wants_keys(self, key_id: str) -> bool:
        now = self._clock()
        known = key_id in self._keys and now - self._fetched < _KEYS_KEPT_SECONDS
        return not known and now - self._tried > _REFETCH_SECONDS

    async def _fetch(self) -> None:
        """Take the issuer's keys. While they cannot be had, those that are known still count."""
        self._tried = self._clock()
        try:
            async with httpx2.AsyncClient(timeout=_FETCH_SECONDS, follow_redirects=False) as http:
                self._keys = _keys(await _json(http, self._oauth.jwks_url or await self._discover(http)))
            self._fetched = self._clock()
        except (httpx2.HTTPError, ValueError) as error:
            _LOG.warning("the keys of %s cannot be fetched: %s", self._oauth.issuer, str(error) or "no answer")

    async def _discover(self, http: httpx2.AsyncClient) -> str:
        [keys] = await discover(http, self._oauth.issuer, "jwks_uri")
        return keys


async def discover(http: httpx2.AsyncClient, issuer: str, *names: str) -> list[str]:
    """Addresses that an issuer publishes (RFC 8414, OpenID Connect Discovery); a ValueError if it does not."""
    for url in _metadata_urls(issuer):
        try:
            metadata = await _json(http, url)
        except (httpx2.HTTPStatusError, ValueError):
            continue
        found = [metadata.get(name) for name in names]
        if metadata.get("issuer") == issuer and all(isinstance(one, str) and is_safe(one) for one in found):
            return [str(one) for one in found]
    raise ValueError("it does not say where they are")


def _metadata_urls(issuer: str) -> list[str]:
    parts = urlsplit(issuer.rstrip("/"))
    root = f"{parts.scheme}://{parts.netloc}"
    return [
        f"{root}/.well-known/oauth-authorization-server{parts.path}",
        f"{root}/.well-known/openid-configuration{parts.path}",
        f"{root}{parts.path}/.well-known/openid-configuration",
    ]


async def _json(http: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    response = await http.get(url)
    response.raise_for_status()
    content = response.json()
    if not isinstance(content, dict):
        raise ValueError("the answer is no JSON object")  # noqa: TRY004  (a wrong value from elsewhere)
    return content


def _keys(content: Mapping[str, Any]) -> dict[str, _Key]:
    """The keys of a JSON Web Key Set that signatures can be checked with; what is not understood is left out."""
    keys: dict[str, _Key] = {}
    for raw in content.get("keys") or ():
        try:
            if raw.get("use", "sig") == "sig":
                keys[str(raw.get("kid", ""))] = _Key(jwt.PyJWK.from_dict(raw).key, raw.get("alg"))
        except (jwt.PyJWTError, AttributeError, ValueError, TypeError):
            continue
    if not keys:
        raise ValueError("there is none that could be used")
    return keys


def _access_token(token: str, claims: Mapping[str, Any]) -> AccessToken:
    subject = claims.get("sub")
    client = claims.get("client_id") or claims.get("azp") or subject or ""
    return AccessToken(
        token=token,
        client_id=str(client),
        scopes=_scopes(claims),
        expires_at=int(claims["exp"]),
        subject=str(subject) if subject is not None else None,
        claims={"iss": claims["iss"]},
    )


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    given = claims.get("scope", claims.get("scp", []))
    return given.split() if isinstance(given, str) else [str(scope) for scope in given]
