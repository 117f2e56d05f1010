"""The audit, read on from where it was read before, and what it tells of each call."""

from collections import Counter
from pathlib import Path

from headgate.safety.auditing import APPROVED, EXECUTED, REFUSED, RETURNED
from headgate.store.audit import GENESIS, Row, first_break
from headgate.store.opening import open_store
from tests.safety_processes.ledger import Trace, traces_in

__all__ = ["AuditRead"]


class AuditRead:
    """What the audit of one store has told so far, by the ids of requests. Each new part of its chain is verified."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._place = GENESIS
        self.rows = 0
        self.grants: dict[str, str] = {}
        self.executed: dict[str, str] = {}
        self.returned: dict[str, str] = {}
        self.refused: Counter[str] = Counter()

    async def read_on(self) -> None:
        """Take in what is new, and see that it continues the chain up to its end."""
        store = open_store(self._state)
        try:
            head = await store.head()
            new = [row async for row in store.rows(after=self._place.number)]
        finally:
            await store.close()
        assert first_break(new, self._place, head) is None
        for row in new:
            self._take(row)
        self._place = head
        self.rows += len(new)

    def _take(self, row: Row) -> None:
        entry = row.entry
        key = str((entry.params or {}).get("key", ""))
        if entry.event == APPROVED:
            assert entry.request_id not in self.grants
            self.grants[entry.request_id] = str(entry.details["grant"])
        elif entry.event == EXECUTED:
            assert entry.request_id not in self.executed
            self.executed[entry.request_id] = key
        elif entry.event == RETURNED:
            assert self.executed[entry.request_id] == key
            assert entry.request_id not in self.returned
            self.returned[entry.request_id] = entry.code
        elif entry.event == REFUSED:
            self.refused[entry.code] += 1

    def agrees_with(self, file: Path) -> set[Trace]:
        """See that what was run is what the audit says, each time by a confirmation of its own; what was run."""
        traces = traces_in(file)
        done = set(traces)
        assert len(done) == len(traces), "something was run twice"
        told = {Trace(*pair) for pair in self.executed.items()}
        assert not done - told, "something was run that the audit does not tell of"
        assert {request_id for request_id, code in self.returned.items() if not code} <= {
            one.request_id for one in done
        }
        assert self.grants.keys() == self.executed.keys()
        assert len(set(self.grants.values())) == len(self.grants), "a token was spent twice"
        return done

    @property
    def unfinished(self) -> dict[str, str]:
        """What was begun and never told to be done: entries by the ids of requests."""
        return {request_id: key for request_id, key in self.executed.items() if request_id not in self.returned}
