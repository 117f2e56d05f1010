"""Who may call over HTTP: whoever has a static token, or one that an OAuth authorization server signed."""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from mcp.server.auth.provider import AccessToken

from headgate.server.addresses import is_loopback
from headgate.server.settings import SettingError

__all__ = ["OAuth", "StaticToken", "StaticTokens", "is_safe", "read_token_file"]

_SHORTEST_SECRET: Final = 16
_SENDABLE: Final = re.compile(r"[\x21-\x7e]+")
_SHA256: Final = re.compile(r"[0-9A-Fa-f]{64}")


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
        if not _SENDABLE.fullmatch(secret):
            raise SettingError(f"The token of '{name}' cannot be sent in a header: use ASCII without spaces.")
        return cls(name, hashlib.sha256(secret.encode()).hexdigest(), scopes)


class StaticTokens:
    """Checks bearer tokens against a fixed list. Hashes are compared, so that time tells nothing of a secret."""

    def __init__(self, tokens: tuple[StaticToken, ...]) -> None:
        self._by_hash: dict[str, StaticToken] = {}
        for token in tokens:
            same = self._by_hash.setdefault(token.sha256, token)
            if same is not token:
                raise SettingError(
                    f"'{same.name}' and '{token.name}' have the same token: nobody could tell them apart."
                )

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who bears this token, if anybody."""
        found = self._by_hash.get(hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest())
        if found is None:
            return None
        return AccessToken(token=token, client_id=found.name, scopes=list(found.scopes), subject=found.name)


def read_token_file(path: Path) -> tuple[StaticToken, ...]:
    """The tokens of a TOML file: ``[tokens.NAME]`` with ``secret`` or ``sha256``, and ``scopes``."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise SettingError(f"The token file '{path}' cannot be read.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
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
    if isinstance(digest, str) and secret is None and _SHA256.fullmatch(digest):
        return StaticToken(name, digest.lower(), tuple(scopes))
    raise SettingError(f"[tokens.{name}] in '{path}' needs either secret or sha256 (64 hexadecimal digits).")


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """The authorization server whose tokens count, and for whom they must be meant."""

    issuer: str
    audience: str
    jwks_url: str | None = None
    required_scopes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, url in (("issuer", self.issuer), ("address of the keys", self.jwks_url)):
            if url is not None and not is_safe(url):
                raise SettingError(
                    f"The OAuth {what} '{url}' is not a URL such as https://login.example.org "
                    "(http counts for this machine alone)."
                )
        if self.is_resource and not _host(self.audience):
            raise SettingError(
                f"The OAuth audience '{self.audience}' is not a URL such as https://api.example.org/mcp."
            )

    @property
    def is_resource(self) -> bool:
        """Whether the audience is the URL of a protected resource, and not just a name."""
        return self.audience.startswith(("http://", "https://"))


def is_safe(url: str) -> bool:
    """Whether keys fetched there can be believed: nobody between may answer instead."""
    host = _host(url)
    return host is not None and (url.startswith("https://") or (url.startswith("http://") and is_loopback(host)))


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
