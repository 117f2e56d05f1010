"""A webhook: whatever receives it shows the code to a person."""

from typing import Final
from urllib.parse import urlsplit

import httpx2

from headgate.console.channels.interface import ChannelError, subject_of, text_of
from headgate.protocol.times import timestamp
from headgate.safety.loop.challenges import Challenge
from headgate.server.addresses import is_loopback
from headgate.server.settings import SettingError

__all__ = ["Webhook"]

_SECONDS: Final = 10.0


class Webhook:
    """Posts codes as JSON to one address, which is reached by https unless it is on this machine."""

    name = "webhook"

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        if not parts.hostname or not is_safe:
            raise SettingError(f"The webhook '{_shown(url)}' must be an https URL: codes would be read on the way")
        self._url = url
        self._headers = {"authorization": f"Bearer {token}"} if token else {}

    async def show(self, challenge: Challenge, code: str) -> None:
        """Post the code, with all that a person needs to decide."""
        content = {
            "text": f"{subject_of(challenge)}\n\n{text_of(challenge, code)}",
            "agent": challenge.name,
            "challenge_id": challenge.id,
            "about_to": challenge.hint,
            "tier": challenge.tier,
            "reason": challenge.reason,
            "factors": list(challenge.factors),
            "code": code,
            "expires_at": timestamp(challenge.expires_at),
        }
        try:
            async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
                answer = await client.post(self._url, json=content, headers=self._headers)
        except httpx2.HTTPError as error:
            raise ChannelError(f"{_shown(self._url)} was not reached: {type(error).__name__}") from None
        if not answer.is_success:
            raise ChannelError(f"{_shown(self._url)} answered {answer.status_code}")


def _shown(url: str) -> str:
    """A URL without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}/…"
