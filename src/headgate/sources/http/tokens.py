"""Tokens of OAuth 2 client credentials: asked for once, shared by all who wait, renewed before they expire."""

import base64
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote_plus, urlencode

import anyio

from headgate.protocol.errors import AqlError, quoted
from headgate.sources.http.credentials import ClientCredentials, Proof, bearer_proof, secret_from, spellings
from headgate.sources.http.decoding import data_of
from headgate.sources.http.failures import without_secrets
from headgate.sources.http.messages import Answer, OutRequest, is_field_value

__all__ = ["Tokens"]

_EARLY_SECONDS: Final = 30.0
"""How long before its end a token is no longer used."""
_UNSAID_SECONDS: Final = 300.0
_LONGEST_SECONDS: Final = 86_400.0
_FORM: Final = ("Content-Type", "application/x-www-form-urlencoded")


@dataclass(frozen=True, slots=True)
class _Token:
    text: str = field(repr=False)
    until: float


class Tokens:
    """The token of one credential, whoever needs it."""

    def __init__(
        self,
        credential: ClientCredentials,
        send: Callable[[OutRequest], Awaitable[Answer]],
        environment: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._credential = credential
        self._send = send
        self._environment = environment
        self._clock = clock
        self._lock = anyio.Lock()
        self._token: _Token | None = None

    async def proof(self) -> Proof:
        """What the token adds to a request; a new one is asked for if need be, by one of all who wait."""
        async with self._lock:
            client_id, secret = self._client()
            if self._token is None or self._token.until <= self._clock():
                self._token = await self._ask(client_id, secret)
            proof = bearer_proof(self._token.text)
        return Proof(headers=proof.headers, secrets=proof.secrets | spellings(secret))

    def forget(self, used: Iterable[Proof]) -> None:
        """The upstream did not accept what was shown. A token that somebody else has renewed meanwhile stays."""
        if self._token is not None and any(self._token.text in proof.secrets for proof in used):
            self._token = None

    def _client(self) -> tuple[str, str]:
        names = (self._credential.client_id_env, self._credential.client_secret_env)
        client_id, secret = (secret_from(name, self._environment) for name in names)
        return client_id, secret

    async def _ask(self, client_id: str, secret: str) -> _Token:
        form = {"grant_type": "client_credentials"}
        if self._credential.scopes:
            form["scope"] = " ".join(self._credential.scopes)
        headers = [_FORM, ("Accept", "application/json")]
        together = base64.b64encode(f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()).decode()
        if self._credential.client_auth == "body":
            form |= {"client_id": client_id, "client_secret": secret}
        else:
            headers.append(("Authorization", f"Basic {together}"))
        asked = self._clock()
        try:
            request = OutRequest("POST", self._credential.token_url, tuple(headers), urlencode(form).encode())
            return _token_in(await self._send(request), asked)
        except AqlError as error:
            raise without_secrets(error, spellings(secret, together)) from None


def _token_in(answer: Answer, asked: float) -> _Token:
    """The token that an answer gives; AUTH_CONFIG_INVALID if it gives none."""
    data = _data(answer)
    if answer.status != 200 or "access_token" not in data:
        said = quoted(data.get("error"))
        raise _refused(f"gave no token (HTTP {answer.status}{f', {said}' if said else ''})")
    token, kind = data["access_token"], data.get("token_type", "bearer")
    if not isinstance(token, str) or not token.isascii() or not is_field_value(token) or not token:
        raise _refused("gave a token of a kind which cannot be sent")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise _refused("gave a token of another type than 'bearer'")
    return _Token(token, asked + max(0.0, _lifetime(data.get("expires_in")) - _EARLY_SECONDS))


def _data(answer: Answer) -> Mapping[str, object]:
    try:
        data = data_of(answer)
    except AqlError:
        data = None
    return data if isinstance(data, dict) else {}


def _lifetime(value: object) -> float:
    """The seconds that a token is good for; some servers write the number as text."""
    if isinstance(value, bool):
        return _UNSAID_SECONDS
    try:
        seconds = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        return _UNSAID_SECONDS
    return min(seconds, _LONGEST_SECONDS) if seconds >= 0 else _UNSAID_SECONDS


def _refused(why: str) -> AqlError:
    return AqlError(
        "AUTH_CONFIG_INVALID",
        f"The server of the tokens {why}: check the client's credentials, its scopes and the token URL",
        {"setting": "token_url"},
    )
