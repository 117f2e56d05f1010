"""Who this source is to its upstream. Secrets come from the environment, are read when used, and are kept nowhere."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import quote, quote_plus, unquote_plus

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.http.messages import TOKEN, OutRequest, is_field_value

__all__ = [
    "ApiKey",
    "Basic",
    "Bearer",
    "ClientCredentials",
    "Credential",
    "Proof",
    "bearer_proof",
    "presented",
    "proof_of",
    "secret_from",
    "spellings",
]

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_COOKIE: Final = re.compile(r"[!#-+\--:<-\[\]-~]*\Z")


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token in the ``Authorization`` header."""

    token_env: str

    def __post_init__(self) -> None:
        _check_variables(self.token_env)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key in a header, in the query or in a cookie."""

    name: str
    key_env: str
    where: Literal["header", "query", "cookie"] = "header"

    def __post_init__(self) -> None:
        _check_variables(self.key_env)
        if self.where not in ("header", "query", "cookie"):
            raise AdapterError(f"An API key stands in 'header', 'query' or 'cookie', not in '{self.where}'")
        if not self.name or (self.where != "query" and not TOKEN.match(self.name)):
            raise AdapterError(f"'{self.name}' cannot be the name of an API key in a {self.where}")


@dataclass(frozen=True, slots=True)
class Basic:
    """A user name and a password in the ``Authorization`` header."""

    username_env: str
    password_env: str

    def __post_init__(self) -> None:
        _check_variables(self.username_env, self.password_env)


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """OAuth 2: a token that the client asks for with its own credentials, and uses until shortly before it expires."""

    token_url: str
    client_id_env: str
    client_secret_env: str
    scopes: tuple[str, ...] = ()
    client_auth: Literal["basic", "body"] = "basic"
    """Where the token's server wants to see the client's credentials."""

    def __post_init__(self) -> None:
        _check_variables(self.client_id_env, self.client_secret_env)
        if self.client_auth not in ("basic", "body"):
            raise AdapterError(
                f"A client shows its credentials by 'basic' or in the 'body', not by '{self.client_auth}'"
            )


Credential: TypeAlias = Bearer | ApiKey | Basic | ClientCredentials


@dataclass(frozen=True, slots=True)
class Proof:
    """What a credential adds to a request, and which texts of it must never be shown."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    cookies: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


def proof_of(credential: Bearer | ApiKey | Basic, environment: Mapping[str, str]) -> Proof:
    """What a credential adds now; AUTH_CREDENTIAL_MISSING names the variable that is not set."""
    match credential:
        case Bearer(token_env):
            return bearer_proof(_one_line(token_env, environment))
        case ApiKey(name, key_env, where):
            return _key_proof(name, key_env, where, environment)
        case Basic(username_env, password_env):
            return _basic_proof(username_env, password_env, environment)


def bearer_proof(token: str) -> Proof:
    """What a token adds."""
    return Proof(headers=(("Authorization", f"Bearer {token}"),), secrets=spellings(token))


def secret_from(variable: str, environment: Mapping[str, str]) -> str:
    """The value of a variable, without the line's end that a file may have left."""
    value = environment.get(variable, "").strip()
    if not value:
        raise AqlError(
            "AUTH_CREDENTIAL_MISSING",
            f"The credential '{variable}' is not set: set this environment variable for the server",
            {"variable": variable},
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _wrong(variable, "holds bytes which are no text") from None
    return value


def presented(request: OutRequest, proof: Proof) -> OutRequest:
    """The request with what a credential adds; whatever stood there under the same name is replaced."""
    taken = {name.lower() for name, _ in proof.headers}
    headers = [(name, value) for name, value in request.headers if name.lower() not in taken]
    return OutRequest(
        request.method,
        _with_query(request.url, proof.query),
        tuple(_with_cookies(headers, proof.cookies)) + proof.headers,
        request.content,
    )


def _key_proof(name: str, variable: str, where: str, environment: Mapping[str, str]) -> Proof:
    if where == "query":
        key = secret_from(variable, environment)
        return Proof(query=((name, key),), secrets=spellings(key))
    key = _one_line(variable, environment)
    if where == "header":
        return Proof(headers=((name, key),), secrets=spellings(key))
    if not _COOKIE.match(key):
        raise _wrong(variable, "cannot stand in a cookie: it has spaces, quotes, commas or other such characters")
    return Proof(cookies=((name, key),), secrets=spellings(key))


def _basic_proof(username_env: str, password_env: str, environment: Mapping[str, str]) -> Proof:
    username, password = secret_from(username_env, environment), secret_from(password_env, environment)
    if ":" in username:
        raise _wrong(username_env, "has a colon, which no user name can hold")
    together = base64.b64encode(f"{username}:{password}".encode()).decode()
    return Proof(headers=(("Authorization", f"Basic {together}"),), secrets=spellings(password, together))


def spellings(*secrets: str) -> frozenset[str]:
    """The secrets as they are, and as a URL or a form would write them."""
    return frozenset(spelled for one in secrets for spelled in (one, quote(one, safe=""), quote_plus(one)))


def _one_line(variable: str, environment: Mapping[str, str]) -> str:
    value = secret_from(variable, environment)
    if not is_field_value(value) or not value.isascii():
        raise _wrong(variable, "cannot stand in a header: it must be one line of plain characters")
    return value


def _with_query(url: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """The URL with these pairs; every other byte of its query stays as it is."""
    if not pairs:
        return url
    path, _, query = url.partition("#")[0].partition("?")
    taken = {name for name, _ in pairs}
    kept = [piece for piece in query.split("&") if piece and unquote_plus(piece.partition("=")[0]) not in taken]
    added = [f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs]
    return f"{path}?{'&'.join([*kept, *added])}"


def _with_cookies(headers: list[tuple[str, str]], cookies: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    if not cookies:
        return headers
    taken = {name for name, _ in cookies}
    pieces = [piece.strip() for name, value in headers if name.lower() == "cookie" for piece in value.split(";")]
    kept = [piece for piece in pieces if piece and piece.partition("=")[0].strip() not in taken]
    line = "; ".join([*kept, *(f"{name}={value}" for name, value in cookies)])
    return [*((name, value) for name, value in headers if name.lower() != "cookie"), ("Cookie", line)]


def _check_variables(*names: str) -> None:
    for name in names:
        if not _VARIABLE.match(name):
            raise AdapterError(
                "A credential names an environment variable such as 'API_TOKEN', but here is something else. "
                "Put the secret itself into the environment, and its variable's name here"
            )


def _wrong(variable: str, why: str) -> AqlError:
    return AqlError("AUTH_CONFIG_INVALID", f"The credential '{variable}' {why}", {"setting": variable})
