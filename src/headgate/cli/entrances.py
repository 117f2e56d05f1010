"""How a server is shown, and who may reach it: the options that its commands share."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from headgate.cli.options import number_option, option
from headgate.protocol.limits import LIMIT_ROWS, Limits
from headgate.server.auth import OAuth, StaticToken, StaticTokens, read_token_file
from headgate.server.http import Access
from headgate.server.settings import SettingError, with_limits

__all__ = ["Entrance", "Serving"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Serving:
    """How the adapter is shown and treated."""

    mode: Annotated[
        str | None, option("Which tools: semantic (one a family), single, or all.", "MCP_AQL_ENDPOINT_MODE")
    ] = None
    profile: Annotated[
        str | None, option("Which families semantic mode has, such as crude or discover.", "MCP_AQL_ENDPOINT_PROFILE")
    ] = None
    prefix: Annotated[str | None, option("Before every tool's name, such as github_.", "MCP_AQL_TOOL_PREFIX")] = None
    dev: Annotated[bool, option("Warn of unknown parameters instead of refusing them.", "HEADGATE_DEV")] = False
    concurrency: Annotated[
        str | None,
        option("serialized, read-concurrent, fully-concurrent or resource-locked.", "HEADGATE_CONCURRENCY"),
    ] = None
    max_concurrent_requests: Annotated[
        int | None, number_option("How many requests run at once.", "HEADGATE_MAX_CONCURRENT_REQUESTS")
    ] = None
    index_tokens: Annotated[
        int | None, number_option("Tokens that the index in the tools' descriptions may cost.", "HEADGATE_INDEX_TOKENS")
    ] = None
    structured_content: Annotated[
        bool, option("Send answers as structured content too.", "HEADGATE_STRUCTURED_CONTENT")
    ] = False
    session_idle: Annotated[
        int | None,
        number_option("Seconds without a request after which a session over HTTP ends.", "HEADGATE_SESSION_IDLE"),
    ] = None
    max_sessions: Annotated[
        int | None, number_option("How many sessions of the older era are kept over HTTP.", "HEADGATE_MAX_SESSIONS")
    ] = None
    replica: Annotated[
        str | None, option("The name of this server among several behind one address.", "HEADGATE_REPLICA")
    ] = None
    max_request_size: Annotated[int | None, number_option("Bytes of a request.", "HEADGATE_MAX_REQUEST_SIZE")] = None
    max_response_size: Annotated[int | None, number_option("Bytes of an answer.", "HEADGATE_MAX_RESPONSE_SIZE")] = None
    max_string_length: Annotated[int | None, number_option("Bytes of one text.", "HEADGATE_MAX_STRING_LENGTH")] = None
    max_array_elements: Annotated[int | None, number_option("Elements of one list.", "HEADGATE_MAX_ARRAY_ELEMENTS")] = (
        None
    )
    max_nesting_depth: Annotated[int | None, number_option("Levels of nesting.", "HEADGATE_MAX_NESTING_DEPTH")] = None

    def chosen(self) -> dict[str, Any]:
        """The settings that these options make."""
        limits = {name: value for name in LIMIT_ROWS if (value := getattr(self, name)) is not None}
        chosen = {
            "mode": self.mode or None,
            "profile": self.profile or None,
            "prefix": self.prefix,
            "concurrency": self.concurrency or None,
            "max_concurrent_requests": self.max_concurrent_requests,
            "index_tokens": self.index_tokens,
            "session_idle_seconds": self.session_idle,
            "max_sessions": self.max_sessions,
            "replica": self.replica,
        }
        return {
            "strict": not self.dev,
            "structured_content": self.structured_content,
            "limits": with_limits(Limits(), limits),
            **{name: value for name, value in chosen.items() if value is not None},
        }


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Entrance:
    """Who may reach the server over HTTP."""

    tokens: Annotated[
        Path | None, option("A TOML file of bearer tokens: [tokens.NAME] with secret or sha256.", "HEADGATE_TOKENS")
    ] = None
    oauth_issuer: Annotated[
        str | None, option("The authorization server whose tokens count.", "HEADGATE_OAUTH_ISSUER")
    ] = None
    oauth_audience: Annotated[
        str | None, option("For whom tokens must be meant: this server's URL.", "HEADGATE_OAUTH_AUDIENCE")
    ] = None
    oauth_jwks: Annotated[
        str | None, option("Where the issuer's keys are, if it does not say.", "HEADGATE_OAUTH_JWKS")
    ] = None
    oauth_scope: Annotated[
        tuple[str, ...], option("A scope that every token needs; may be repeated.", "HEADGATE_OAUTH_SCOPE")
    ] = ()
    allow_host: Annotated[
        tuple[str, ...], option("A name under which clients reach the server; may be repeated.", "HEADGATE_ALLOW_HOST")
    ] = ()
    allow_origin: Annotated[
        tuple[str, ...], option("A web origin that may call; may be repeated.", "HEADGATE_ALLOW_ORIGIN")
    ] = ()

    def access(self, *, over_http: bool = True) -> Access:
        """The access that these options grant. HEADGATE_TOKEN in the environment is one more token."""
        if not over_http and (self.tokens or self.oauth_issuer):
            raise SettingError("--tokens and --oauth-issuer guard HTTP alone: add --http, or leave them out")
        open_access = Access(allowed_hosts=self.allow_host, allowed_origins=self.allow_origin)
        secret = os.environ.get("HEADGATE_TOKEN")
        if self.oauth_issuer:
            if self.tokens or secret:
                raise SettingError("Choose either static tokens or OAuth, not both")
            if not self.oauth_audience:
                raise SettingError("--oauth-issuer needs --oauth-audience: the URL that tokens must be meant for")
            oauth = OAuth(
                issuer=self.oauth_issuer,
                audience=self.oauth_audience,
                jwks_url=self.oauth_jwks,
                required_scopes=self.oauth_scope,
            )
            from headgate.server.oauth import JwtVerifier  # noqa: PLC0415  (cryptography, for those who need it)

            return replace(open_access, verifier=JwtVerifier(oauth), oauth=oauth)
        if self.oauth_audience or self.oauth_jwks or self.oauth_scope:
            raise SettingError("The --oauth options need --oauth-issuer")
        tokens = read_token_file(self.tokens) if self.tokens else ()
        if secret:
            tokens = (*tokens, StaticToken.from_secret("token", secret))
        return replace(open_access, verifier=StaticTokens(tokens)) if tokens else open_access
