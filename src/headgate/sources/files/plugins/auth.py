"""The ways to authenticate that are there: none, bearer, api_key and basic. All secrets come from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.files.values import Auth
from headgate.sources.http.credentials import ApiKey, Basic, Bearer, Credential

__all__ = ["API_KEY", "BASIC", "BEARER", "NONE", "ApiKeyAuth", "BasicAuth", "BearerAuth", "NoAuth"]

_AUTHORIZATION: Final = "authorization"
_BEARER: Final = "bearer"
_PLACES: Final[Mapping[str, Literal["header", "query", "cookie"]]] = {
    "header": "header",
    "query": "query",
    "cookie": "cookie",
}


@dataclass(frozen=True, slots=True)
class NoAuth:
    """Requests say nothing of who sends them."""

    name: str = "none"
    description: str = "No authentication"
    keys: tuple[str, ...] = ()

    def credentials(self, auth: Auth, adapter: str) -> tuple[Credential, ...]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """A token in the ``Authorization`` header."""

    name: str = "bearer"
    description: str = "A bearer token out of the environment"
    keys: tuple[str, ...] = ("token_env", "header", "prefix")

    def credentials(self, auth: Auth, adapter: str) -> tuple[Credential, ...]:
        """The token of ``token_env``; of a variable named after the adapter if the file names none."""
        header, prefix = auth.options.get("header", _AUTHORIZATION), auth.options.get("prefix", _BEARER)
        if header.lower() != _AUTHORIZATION or prefix.strip().lower() != _BEARER:
            raise AdapterError("a bearer token is sent as 'Authorization: Bearer …'; use 'api_key' for another header")
        return (Bearer(auth.options.get("token_env", _variable(adapter, "TOKEN"))),)


@dataclass(frozen=True, slots=True)
class ApiKeyAuth:
    """A key in a header, or where ``in`` says."""

    name: str = "api_key"
    description: str = "A key out of the environment, in a header, the query or a cookie"
    keys: tuple[str, ...] = ("header_name", "header", "param_name", "key_env", "in")

    def credentials(self, auth: Auth, adapter: str) -> tuple[Credential, ...]:
        """The key of ``key_env`` under the name that the file gives it."""
        where = _PLACES.get(auth.options.get("in", "header"))
        if where is None:
            raise AdapterError(f"its key stands nowhere: 'in' is one of {', '.join(_PLACES)}")
        name = next((auth.options[key] for key in ("header_name", "header", "param_name") if key in auth.options), "")
        if not name:
            raise AdapterError("it does not say under which name the key is sent: add 'header_name'")
        key_env = auth.options.get("key_env", _variable(adapter, "API_KEY"))
        return (ApiKey(name, key_env, where),)


@dataclass(frozen=True, slots=True)
class BasicAuth:
    """A user name and a password."""

    name: str = "basic"
    description: str = "A user name and a password out of the environment"
    keys: tuple[str, ...] = ("username_env", "password_env")

    def credentials(self, auth: Auth, adapter: str) -> tuple[Credential, ...]:
        """Those of the two variables; named after the adapter if the file names none."""
        username = auth.options.get("username_env", _variable(adapter, "USERNAME"))
        return (Basic(username, auth.options.get("password_env", _variable(adapter, "PASSWORD"))),)


def _variable(adapter: str, what: str) -> str:
    """The variable that holds a secret of an adapter unless its file says otherwise: ``GITHUB_API_TOKEN``."""
    return f"{adapter.upper().replace('-', '_')}_{what}"


NONE: Final = NoAuth()
BEARER: Final = BearerAuth()
API_KEY: Final = ApiKeyAuth()
BASIC: Final = BasicAuth()
