"""Who may call over HTTP: static tokens, or tokens that an OAuth authorization server signed."""

import hashlib
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import jwt
from mcp.server.auth.provider import AccessToken

from headgate.server.settings import SettingError

__all__ = ["JwtVerifier", "OAuth", "StaticToken", "StaticTokens", "read_token_file"]

_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Only signatures with a public key: a shared secret would let every holder make tokens."""

_LEEWAY_SECONDS: Final = 30
_KEYS_KEPT_SECONDS: Final = 600.0
_REFETCH_SECONDS: Final = 10.0
_SHORTEST_SECRET: Final = 16


@dataclass(frozen=True, slots=True)
class StaticToken:
    """One caller that an operator named: known by the hash of its secret alone."""

    name: str
    sha256: str
    scopes: tuple[str, ...] = ()

    @classmethod
    def from_secret(cls, name: str, secret: str, scopes: tuple[str, ...] = ()) -> "StaticToken":
        """The token whose secret this is."""
        if len(secret) < _SHORTEST_SECRET:
            raise SettingError(f"The token of '{name}' is too short: use {_SHORTEST_SECRET} characters or more.")
        return cls(name, hashlib.sha256(secret.encode()).hexdigest(), scopes)


class StaticTokens:
    """Checks bearer tokens against a fixed list. Hashes are compared, so that time tells nothing of a secret."""

    def __init__(self, tokens: tuple[StaticToken, ...]) -> None:
        self._by_hash = {token.sha256: token for token in tokens}

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who bears this token, if anybody."""
        found = self._by_hash.get(hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest())
        if found is None:
            return None
        return AccessToken(token=token, client_id=found.name, scopes=list(found.scopes), subject=found.name)


def read_token_file(path: Path) -> tuple[StaticToken, ...]:
    """The tokens of a TOML file: ``[tokens.NAME]`` with ``secret`` or ``sha256``, and ``scopes``."""
    try:
        content = tomllib.loads(path.read_text())
    except OSError:
        raise SettingError(f"The token file '{path}' cannot be read.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"The token file '{path}' is not TOML: {error}") from None
    tokens = content.get("tokens")
    if not isinstance(tokens, dict) or not tokens or set(content) != {"tokens"}:
        raise SettingError(f"The token file '{path}' needs tables of the form [tokens.NAME], and nothing else.")
    return tuple(_static_token(name, entry, path) for name, entry in tokens.items())


def _static_token(name: str, entry: Any, path: Path) -> StaticToken:
    if not isinstance(entry, dict) or not set(entry) <= {"secret", "sha256", "scopes"}:
        raise SettingError(f"[tokens.{name}] in '{path}' may have secret, sha256 and scopes, and nothing else.")
    scopes = entry.get("scopes", [])
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
        raise SettingError(f"scopes of [tokens.{name}] in '{path}' must be a list of texts.")
    secret, digest = entry.get("secret"), entry.get("sha256")
    if isinstance(secret, str) and digest is None:
        return StaticToken.from_secret(name, secret, tuple(scopes))
    if isinstance(digest, str) and secret is None and len(digest) == 64:
        return StaticToken(name, digest.lower(), tuple(scopes))
    raise SettingError(f"[tokens.{name}] in '{path}' needs either secret or sha256 (64 hexadecimal digits).")


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """The authorization server whose tokens count, and for whom they must be meant."""

    issuer: str
    audience: str
    jwks_url: str | None = None
    required_scopes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Keys:
    by_id: Mapping[str, jwt.PyJWK] = field(default_factory=dict)
    fetched: float = float("-inf")


class JwtVerifier:
    """Checks signature, issuer, audience and times of JWT access tokens, with keys fetched from the issuer."""

    def __init__(self, oauth: OAuth, http: httpx2.AsyncClient | None = None) -> None:
        self._oauth = oauth
        self._http = http or httpx2.AsyncClient(timeout=10, follow_redirects=False)
        self._keys = _Keys()
        self._fetching = anyio.Lock()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who bears this token, if it is good; nothing else is told."""
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(str(header.get("kid", "")))
            if key is None or header.get("alg") not in _ALGORITHMS:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=[str(header["alg"])],
                audience=self._oauth.audience,
                issuer=self._oauth.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, httpx2.HTTPError, ValueError):
            return None
        return _access_token(token, claims)

    async def _key(self, key_id: str) -> jwt.PyJWK | None:
        """The key of that id. An unknown id fetches the keys anew, but not more often than a few times a minute."""
        age = time.monotonic() - self._keys.fetched
        if age > _KEYS_KEPT_SECONDS or (key_id not in self._keys.by_id and age > _REFETCH_SECONDS):
            async with self._fetching:
                if time.monotonic() - self._keys.fetched > min(age, _REFETCH_SECONDS):
                    self._keys = await self._fetch()
        return self._keys.by_id.get(key_id)

    async def _fetch(self) -> _Keys:
        response = await self._http.get(self._oauth.jwks_url or await self._discover())
        response.raise_for_status()
        keys = jwt.PyJWKSet.from_dict(response.json()).keys
        return _Keys({str(key.key_id or ""): key for key in keys}, time.monotonic())

    async def _discover(self) -> str:
        """Where the issuer publishes its keys (RFC 8414, OpenID Connect Discovery)."""
        base = self._oauth.issuer.rstrip("/")
        for path in ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"):
            response = await self._http.get(base + path)
            if response.status_code == httpx2.codes.OK:
                found = response.json().get("jwks_uri")
                if isinstance(found, str):
                    return found
        raise ValueError("the issuer names no keys")


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
