"""A webhook: whatever receives it shows the code to a person."""

import json
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import anyio
import httpx2

from headgate.console.channels.interface import ChannelError, Notice
from headgate.protocol.times import timestamp
from headgate.server.addresses import is_loopback
from headgate.server.settings import SettingError

__all__ = ["Webhook"]

_SECONDS: Final = 10.0
"""How long a receiver may take to answer."""
_WAITS: Final = (1.0, 5.0)
"""How long after each try that failed for the moment the next one comes."""
_FOR_THE_MOMENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_SIGNS: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Webhook:
    """Posts codes as JSON to one address, which is reached by https unless it is on this machine."""

    name = "webhook"

    def __init__(
        self, url: str, token: str | None = None, *, seconds: float = _SECONDS, waits: Sequence[float] = _WAITS
    ) -> None:
        if not _is_safe(url):
            raise SettingError(f"--notify '{_shown(url)}' must be a whole https URL: others could read the code")
        if token is not None and not (token.isascii() and token.isprintable()):
            raise SettingError("HEADGATE_WEBHOOK_TOKEN must be plain letters, digits and signs on one line")
        self._url = url
        self._headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
        self._seconds = seconds
        self._waits = tuple(waits)

    async def show(self, notice: Notice) -> None:
        """Post the code, with all that a person needs to decide; again after a while if that may help."""
        content = json.dumps(_content(notice)).encode()  # plain ASCII, whatever the agent calls itself
        for wait in self._waits:
            failure = await self._post(content)
            if failure is None:
                return
            if not failure.may_pass:
                raise failure
            await anyio.sleep(wait)
        failure = await self._post(content)
        if failure is not None:
            raise failure

    async def _post(self, content: bytes) -> "_Failure | None":
        """Post once; what went wrong, if anything did. What the receiver answers beyond a status is not even read."""
        shown = _shown(self._url)
        # What goes to this machine goes straight there, not through a proxy of the environment in the clear.
        uses_proxies = self._url.startswith("https:")
        try:
            with anyio.fail_after(self._seconds):
                async with (
                    httpx2.AsyncClient(timeout=None, follow_redirects=False, trust_env=uses_proxies) as client,
                    client.stream("POST", self._url, content=content, headers=self._headers) as answer,
                ):
                    status = answer.status_code
                    if answer.is_success:
                        return None
        except TimeoutError:
            return _Failure(f"{shown} did not answer within {self._seconds:g} seconds", may_pass=True)
        except httpx2.ConnectError:
            return _Failure(f"no safe connection to {shown} could be made", may_pass=True)
        except httpx2.HTTPError:
            return _Failure(f"{shown} broke the connection off, or does not speak HTTP", may_pass=True)
        if answer.is_redirect:
            return _Failure(f"{shown} sends elsewhere, and a code goes nowhere else: name the address it moved to")
        return _Failure(f"{shown} answered {status}", may_pass=status in _FOR_THE_MOMENT)


class _Failure(ChannelError):
    """A try that failed, for good or for the moment."""

    def __init__(self, words: str, *, may_pass: bool = False) -> None:
        super().__init__(words)
        self.may_pass = may_pass


def _content(notice: Notice) -> dict[str, object]:
    challenge = notice.challenge
    return {
        "text": _as_chats_take_it(f"{notice.subject}\n\n{notice.text}"),
        "agent": challenge.name,
        "challenge_id": challenge.id,
        "about_to": challenge.hint,
        "tier": challenge.tier,
        "reason": challenge.reason,
        "factors": list(challenge.factors),
        "code": notice.code,
        "expires_at": timestamp(challenge.expires_at),
    }


def _as_chats_take_it(text: str) -> str:
    """A text in which what an agent wrote becomes no link, no mention and no picture in a chat."""
    plain = text.replace("```", "'''").translate(_SIGNS)
    return f"```\n{plain}```"


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
        httpx2.URL(url)
        is_whole = bool(parts.hostname) and parts.port != 0 and not any(sign.isspace() for sign in url)
    except (ValueError, httpx2.InvalidURL):
        return False
    return is_whole and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or "")))


def _shown(url: str) -> str:
    """A URL without what may be secret in it."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2].partition("?")[0]
    return f"{scheme}://{host}/…"
