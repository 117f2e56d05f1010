"""Requests that may cost the connection: they are sent over one of their own, and kept out of the ledger.

What is far too large, or no text at all, may rightly be refused below MCP-AQL: with an HTTP status, with an error of
JSON-RPC. That says nothing about how a server answers what it can read. A server that ends, or hangs up, has refused
nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from headgate.client.wires import Lost, Refused, WireError
from headgate.conformance.probe import NotAllowed, Probe, named_in
from headgate.conformance.survey import INTROSPECT
from headgate.conformance.values import Exchange

__all__ = ["asked_apart"]

_SECONDS: Final = 5.0
"""What is refused is refused at once; what a transport drops without a word is never answered."""
_HOPELESS: Final = 2
"""After so many without an answer nothing more is tried: each costs the whole time that an answer may take."""


async def asked_apart(probe: Probe, requests: Sequence[Mapping[str, object]]) -> list[Exchange]:
    """What became of each request to ``introspect``, one after another over a further connection.

    Where one is not answered, those after it get another connection; NotAllowed if one names any other operation.
    """
    for request in requests:
        if list(named_in(request)) != [INTROSPECT]:
            raise NotAllowed("only 'introspect' is asked over a connection of its own")
    done: list[Exchange] = []
    while len(done) < len(requests):
        if [one.kind for one in done[-_HOPELESS:]] == ["silent"] * _HOPELESS:
            tool, rest = probe.survey.introspection_tool, requests[len(done) :]
            return done + [Exchange(tool, request, None, "silent", "it was not tried any more") for request in rest]
        done += await _visit(probe, requests[len(done) :])
    return done


async def _visit(probe: Probe, requests: Sequence[Mapping[str, object]]) -> list[Exchange]:
    """The exchanges over one connection, up to the first that is not answered."""
    done: list[Exchange] = []
    tool = probe.survey.introspection_tool
    try:
        async with probe.opener(era=probe.options.era) as wire:
            for request in requests:
                answer = await wire.call(tool, request, seconds=min(probe.options.seconds, _SECONDS))
                done.append(Exchange.of(tool, request, answer))
    except WireError as error:
        if len(done) < len(requests):
            done.append(Exchange(tool, requests[len(done)], None, _kind(error), str(error)))
    except UnicodeEncodeError:
        done.append(
            Exchange(tool, requests[len(done)], None, "lost", "over HTTP, such a text cannot be sent from here")
        )
    return done


def _kind(error: WireError) -> Literal["refused", "silent", "lost"]:
    """An HTTP status is a refusal; and what there was no connection for was never sent, so that nobody is to blame."""
    if isinstance(error, Lost):
        return "refused" if error.status else "lost"
    return "refused" if isinstance(error, Refused) else "silent"
