"""The sender: from a request to an answer, over redirects and retries, within the bounds."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

import anyio
import httpx2

from headgate._version import __version__
from headgate.adapter.masking import scrubbed
from headgate.protocol.errors import AqlError
from headgate.sources.http.backend import Resolver, resolve
from headgate.sources.http.bodies import ACCEPTED, body_of
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.clients import guarded_client
from headgate.sources.http.credentials import ClientCredentials, Credential, Proof, presented, proof_of
from headgate.sources.http.failures import named, trouble_of, without_secrets
from headgate.sources.http.messages import Answer, OutRequest
from headgate.sources.http.origins import origin_of
from headgate.sources.http.reach import Reach, home_of
from headgate.sources.http.redirects import Hop, redirected
from headgate.sources.http.retries import RETRIED_STATUSES, pause, retry_after
from headgate.sources.http.tokens import Tokens
from headgate.sources.http.transport import GuardedTransport

__all__ = ["Sender", "guarded_client"]

_DEFAULTS: Final = (("User-Agent", f"headgate/{__version__}"), ("Accept", "*/*"))
_RETRIED_CODES: Final = frozenset({"TRANSPORT_CONNECTION_REFUSED", "TRANSPORT_TIMEOUT", "TRANSPORT_NETWORK_ERROR"})
_UNAUTHORIZED: Final = 401


class Sender:
    """Sends the requests of one source. Its credentials go to the origin of its base URL, and to no other."""

    def __init__(
        self,
        bounds: Bounds,
        base_url: str,
        credentials: Sequence[Credential] = (),
        *,
        name: str = "",
        resolver: Resolver = resolve,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._bounds = bounds
        self._name = name
        self._environment = environment
        self._home = home_of(base_url)
        oauth = [one for one in credentials if isinstance(one, ClientCredentials)]
        homes = {self._home, *(home_of(one.token_url, "token URL") for one in oauth)}
        reach = Reach(bounds, frozenset(homes if self._home.is_local else ()))
        self._transport = GuardedTransport(reach, resolver)
        # For whatever is sent or led elsewhere: from there, not even a home on this machine is reached.
        self._abroad = GuardedTransport(Reach(bounds), resolver)
        self._credentials = [one for one in credentials if not isinstance(one, ClientCredentials)]
        self._tokens = [Tokens(one, self._send_as_it_is, environment) for one in oauth]

    async def send(self, request: OutRequest) -> Answer:
        """The answer, whatever its status. Without one, an AqlError says why; nothing in it shows a secret or a URL.

        What changes nothing is tried again as the bounds say; what may change something is never sent twice.
        """
        hop = Hop(request, origin_of(request.url) == self._home)
        secrets: set[str] = set()
        try:
            with anyio.fail_after(self._bounds.total_seconds):
                return await self._persist(hop, secrets)
        except TimeoutError as error:
            failed = trouble_of(error, str(hop.origin), unsure=not hop.is_safe)
        except httpx2.RequestError as error:
            failed = trouble_of(error, str(origin_of(error.request.url)), unsure=not hop.is_safe)
        except AqlError as error:
            failed = error
        raise named(without_secrets(failed, frozenset(secrets)), self._name) from None

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.aclose()
        await self._abroad.aclose()

    async def _persist(self, hop: Hop, secrets: set[str]) -> Answer:
        """The answer of the first attempt that has one worth keeping, or of the last."""
        for attempt in range(self._bounds.retries if hop.is_safe else 0):
            try:
                answer = await self._authorized(hop, secrets)
                if answer.status not in RETRIED_STATUSES:
                    return answer
                wait = pause(attempt, retry_after(answer.headers))
                if not _is_in_time(wait):
                    return answer
            except httpx2.TransportError as error:
                wait = pause(attempt, None)
                if trouble_of(error, "").error.code not in _RETRIED_CODES or not _is_in_time(wait):
                    raise
            await anyio.sleep(wait)
        return await self._authorized(hop, secrets)

    async def _authorized(self, hop: Hop, secrets: set[str]) -> Answer:
        """The answer; if a token is no longer accepted, once more with a new one, where repeating is harmless."""
        proofs = await self._proofs(hop, secrets)
        answer = await self._journey(hop, proofs)
        if answer.status != _UNAUTHORIZED or not self._tokens or not hop.trusted:
            return answer
        for tokens in self._tokens:
            tokens.forget(proofs)
        return await self._journey(hop, await self._proofs(hop, secrets)) if hop.is_safe else answer

    async def _proofs(self, hop: Hop, secrets: set[str]) -> list[Proof]:
        """What the credentials add, all of it known before anything is sent; the secrets are noted."""
        if not hop.trusted:
            return []
        proofs = [proof_of(one, self._environment) for one in self._credentials]
        secrets.update(*(proof.secrets for proof in proofs))
        proofs += [await tokens.proof() for tokens in self._tokens]
        secrets.update(*(proof.secrets for proof in proofs))
        return proofs

    async def _send_as_it_is(self, request: OutRequest) -> Answer:
        """The answer to a request for a token, which has its credentials already. Whatever fails, fails for good."""
        try:
            return await self._journey(Hop(request, trusted=True), [])
        except httpx2.RequestError as error:
            raise trouble_of(error, str(origin_of(error.request.url))) from None

    async def _journey(self, hop: Hop, proofs: list[Proof]) -> Answer:
        """The answer where the redirects end."""
        while True:
            response = await self._exchange(hop, proofs)
            try:
                following = redirected(hop, response.status_code, response.headers, self._bounds.max_redirects)
                if following is None:
                    return await self._answer(hop, response, proofs)
                hop = following
            finally:
                await response.aclose()

    async def _exchange(self, hop: Hop, proofs: list[Proof]) -> httpx2.Response:
        """One request, sent once."""
        request = hop.request
        for proof in proofs if hop.trusted else ():
            request = presented(request, proof)
        given = {name.lower() for name, _ in request.headers}
        headers = [*request.headers, *(pair for pair in _DEFAULTS if pair[0].lower() not in given)]
        sent = httpx2.Request(
            request.method,
            request.url,
            headers=[(name.encode(), value.encode()) for name, value in [*headers, ("Accept-Encoding", ACCEPTED)]],
            content=request.content,
            extensions={"timeout": {"connect": self._bounds.connect_seconds}},
        )
        try:
            return await (self._transport if hop.trusted else self._abroad).handle_async_request(sent)
        except httpx2.RequestError as error:
            error.request = sent
            raise

    async def _answer(self, hop: Hop, response: httpx2.Response, proofs: list[Proof]) -> Answer:
        try:
            content = await body_of(response, hop.request.method, self._bounds.max_response_bytes)
        except httpx2.TransportError as error:
            raise trouble_of(error, str(hop.origin), unsure=not hop.is_safe) from None
        secrets = frozenset(secret for proof in proofs for secret in proof.secrets)
        # A redirect may have repeated a key in the URL that it leads to.
        return Answer(response.status_code, response.headers, content, scrubbed(hop.request.url, secrets), secrets)


def _is_in_time(seconds: float) -> bool:
    """Whether there is time left for a pause and something after it."""
    return anyio.current_time() + seconds < anyio.current_effective_deadline()
