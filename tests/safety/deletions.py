"""A shop whose deletions must be confirmed, and a call to try tokens on."""

from typing import Any

from headgate import Adapter, Caller
from headgate.safety.policy.rules import Policy
from headgate.store.sql import SqlStore
from tests.engine.asking import leaks
from tests.safety.guarding import Guarded, code_of

__all__ = ["ANN", "CALL", "Shop"]

ANN = Caller(subject="ann")
CALL: dict[str, Any] = {"one": 1, "two": {"deep": [1, {"flag": True}]}, "three": [1, 2], "text": "caf\u00e9"}


def shop(name: str, ran: list[Any]) -> Adapter:
    """An adapter whose deletions must be confirmed, with parameters that take anything."""
    adapter = Adapter(name)

    @adapter.delete
    async def delete_thing(one: Any, two: Any = None, three: Any = None, text: Any = None) -> str:
        """Delete a thing."""
        ran.append((one, two, three, text))
        return "gone"

    @adapter.delete
    async def delete_other(one: Any, two: Any = None, three: Any = None, text: Any = None) -> str:
        """Delete another thing."""
        ran.append(("other", one))
        return "gone"

    return adapter


class Shop(Guarded):
    """Such an adapter behind a gatekeeper, and all that ran."""

    def __init__(self, store: SqlStore, rules: str | Policy = "", *, name: str = "shop", **more: Any) -> None:
        self.ran: list[Any] = []
        super().__init__(shop(name, self.ran), store, rules, **more)

    async def refused(self, code: str, params: object, token: str, operation: str = "delete_thing", **who: Any) -> Any:
        """A call that must be refused: nothing runs, the audit tells, and no secret is in it."""
        before = len(self.ran)
        envelope = await self.call(operation, params, token=token, **who)
        assert code_of(envelope) == code, envelope
        assert len(self.ran) == before
        assert leaks(envelope["error"]["message"]) == []
        last = (await self.audit())[-1]
        assert (last.event, last.code, last.operation) == ("refused", code, operation)
        told = await self.told()
        assert len(token) < 30 or (token not in told and token[30:] not in told)
        return envelope["error"]
