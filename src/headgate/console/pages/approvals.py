"""What waits for a person: in full, and to be approved, changed, refused, or approved together with others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import RedirectResponse, Response

from headgate.adapter.masking import MASK, masked
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.console.console import Console
from headgate.console.differences import Difference, differences
from headgate.console.doors import LONGEST_REASON, Door, Visit
from headgate.console.words import caller_shown, draft_json, typed_json
from headgate.engine.pipeline import Engine
from headgate.protocol.errors import AqlError
from headgate.safety.approvals import approve, approve_changed, turn_down, waiting
from headgate.safety.grants import APPROVAL, GRANT, Grant, Purpose
from headgate.safety.loop.agents import RECORD_STEP
from headgate.safety.loop.persons import show_token

__all__ = ["doors"]


def doors(console: Console) -> list[Door]:
    """The routes of approvals."""
    pages = _Approvals(console)
    return [
        Door("GET", "/approvals", pages.show_all),
        Door("POST", "/approvals", pages.decide_several),
        Door("GET", "/approvals/{id}", pages.show_one),
        Door("POST", "/approvals/{id}/approve", pages.approve),
        Door("POST", "/approvals/{id}/change", pages.change),
        Door("POST", "/approvals/{id}/refuse", pages.refuse),
        Door("POST", "/approvals/{id}/token", pages.reveal),
    ]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a dry run tells: what would change, or why nobody can say."""

    said: str = ""
    changes: tuple[Difference, ...] = ()
    answer: object = None


class _Approvals:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._store = console.store
        self._clock = console.clock

    async def show_all(self, visit: Visit, *, said: str = "", status: int = 200) -> Response:
        grants = await waiting(self._store, self._clock())
        return await self._console.page(visit, "approvals.html", status=status, grants=grants, said=said)

    async def show_one(self, visit: Visit) -> Response:
        return await self._page(visit)

    async def approve(self, visit: Visit) -> Response:
        done = await approve(self._store, _id(visit), visit.operator.name, self._clock)
        return await self._decided(visit, "" if done else "It waits no longer, so nothing was approved.")

    async def refuse(self, visit: Visit) -> Response:
        if visit.reason is None:
            said = f"Say why in up to {LONGEST_REASON} characters: nothing was refused."
            return await self._page(visit, said=said, status=422)
        done = await turn_down(self._store, _id(visit), visit.operator.name, self._clock, visit.reason)
        return await self._decided(visit, "" if done else "It waits no longer, so nothing was refused.")

    async def _decided(self, visit: Visit, failed: str) -> Response:
        """To the page that tells what became of it, under its own address; or at once why nothing became of it."""
        if failed:
            return await self._page(visit, said=failed, status=409)
        return RedirectResponse(f"/approvals/{_id(visit)}", 303)

    async def change(self, visit: Visit) -> Response:
        text = visit.said("params")
        grant = await self._grant(visit)
        if grant is None:
            return await self._page(visit)
        try:
            params = self._changed(grant, text)
        except ValueError as error:
            return await self._page(visit, said=f"{error} Nothing was approved.", draft=text, status=422)
        done = await approve_changed(self._store, grant.approval_id, params, visit.operator.name, self._clock)
        if done is None:
            return await self._decided(visit, "It waits no longer, so nothing was approved.")
        return RedirectResponse(f"/approvals/{done.approval_id}", 303)

    def _changed(self, grant: Grant, text: str) -> Mapping[str, object]:
        """The parameters that a person has written, as the server would take them; a ValueError if it would not."""
        found = self._found(grant)
        if found is None or _holds_masks(grant.params):
            raise ValueError("This call can only be approved or refused as it is.")
        engine, operation = found
        try:
            params: object = typed_json(text)
        except ValueError as error:
            raise ValueError(f"The parameters are not JSON: {error}.") from None
        if not isinstance(params, dict):
            raise ValueError("The parameters must be a JSON object: { … }.")  # noqa: TRY004  (a person's mistake)
        try:
            given = engine.checked(operation.name, params)
        except AqlError as error:
            raise ValueError(f"{error.error.message}.") from None
        if masked(operation, given) != given:
            raise ValueError("A value that must stay hidden cannot be given here, where others could read it.")
        return given

    async def reveal(self, visit: Visit) -> Response:
        token = await show_token(self._store, _id(visit), visit.operator.name, self._clock)
        if token is None:
            return await self._page(visit, said="It waits no longer: there is no token.", status=409)
        return await self._page(visit, token=token)

    async def decide_several(self, visit: Visit) -> Response:
        chosen = list(dict.fromkeys(visit.form.get("id", [])))
        decide, word = (turn_down, "refused") if visit.said("refuse") else (approve, "approved")
        if not chosen:
            return await self.show_all(visit, said=f"Nothing was chosen, so nothing was {word}.", status=422)
        done = [bool(await decide(self._store, one, visit.operator.name, self._clock)) for one in chosen]
        late = "" if all(done) else f" {done.count(False)} waited no longer."
        return await self.show_all(visit, said=f"{done.count(True)} {word}.{late}", status=200 if any(done) else 409)

    def _found(self, grant: Grant) -> tuple[Engine, Operation] | None:
        """The operation that somebody wants to call, if it is one of the engine beside the console, and no report."""
        engine, name = self._console.engine, grant.binding.operation
        if engine is None or engine.adapter.name != grant.binding.adapter or name == RECORD_STEP:
            return None
        operation = engine.introspector.operations.get(name) if grant.purpose is Purpose.CONFIRMATION else None
        return (engine, operation) if operation else None

    async def _grant(self, visit: Visit) -> Grant | None:
        record = await self._store.find(GRANT, _id(visit).removeprefix(APPROVAL))
        return Grant.read(record) if record else None

    async def _page(
        self, visit: Visit, *, said: str = "", token: str = "", draft: str | None = None, status: int = 200
    ) -> Response:
        grant = await self._grant(visit)
        if grant is None:
            return await self._console.page(visit, "missing.html", status=404, what="approval")
        now = self._clock()
        waits = grant.is_pending and grant.expires_at > now
        return await self._console.page(
            visit,
            "approval.html",
            status=status,
            grant=grant,
            waits=waits,
            state=_state(grant, now),
            said=said,
            token=token,
            draft=draft_json(grant.params) if draft is None else draft,
            can_be_changed=waits and self._found(grant) is not None and not _holds_masks(grant.params),
            effect=await self._effect(visit, grant) if waits and not visit.is_refresh else None,
        )

    async def _effect(self, visit: Visit, grant: Grant) -> Effect | None:
        """What the call would do, by a dry run; None where nothing could try."""
        found = self._found(grant)
        if found is None:
            return None
        _, operation = found
        if operation.category.read_only or operation.tries_nothing or operation.parameter(DRY_RUN) is None:
            return None
        if _holds_masks(grant.params):
            return Effect("Nothing was tried: some of the values are hidden.")
        request = {"operation": operation.name, "params": {**grant.params, DRY_RUN: True}}
        answer = await self._console.call(visit, request)
        if not answer.get("success"):
            return Effect(f"A dry run fails: {answer['error']['message']}")
        return _told(answer.get("data"))


def _told(data: Any) -> Effect | None:
    if not isinstance(data, dict) or "would_run" in data:
        return None
    before, after = data.get("before"), data.get("after")
    if isinstance(before, dict) and isinstance(after, dict):
        found = tuple(differences(before, after))
        same = "" if found else "Nothing would change: all fields have these values already."
        return Effect(same, found)
    affected = data.get("affected")
    said = f"{affected} would be affected." if isinstance(affected, int) else ""
    rest = {name: value for name, value in data.items() if name not in ("dry_run", "affected")}
    return Effect(said, answer=rest or None)


def _id(visit: Visit) -> str:
    return str(visit.request.path_params["id"])


def _holds_masks(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_masks(child) for child in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_masks(child) for child in value)
    return value == MASK


def _state(grant: Grant, now: float) -> str:
    """What became of it, in a word or two."""
    if grant.replaced_by:
        return f"changed: {Grant.approval_of(grant.replaced_by)} was approved in its place"
    if grant.turned_down_by is not None:
        return f"refused by {grant.turned_down_by}" + (
            f": {grant.turned_down_because}" if grant.turned_down_because else ""
        )
    if grant.revoked_at is not None:
        return "withdrawn"
    if grant.consumed_at is not None:
        return f"approved by {caller_shown(grant.approved_by)}, and used"
    if grant.approved_at is not None:
        return f"approved by {caller_shown(grant.approved_by)}"
    return "waits" if grant.expires_at > now else "refused: nobody approved in time"
