"""Agents as the loop knows them: what they are executing, what holds them up, and who they are. Pure values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, NamedTuple

from headgate.protocol.autonomy import Notification, NotificationType, Tolerance
from headgate.protocol.canonical import digest
from headgate.protocol.visible import visible
from headgate.safety.autonomy.rules import Tightening
from headgate.safety.autonomy.texts import skeleton
from headgate.safety.autonomy.verdicts import History, PastStep, Way
from headgate.safety.grants import Grant
from headgate.safety.loop.challenges import Challenge
from headgate.store.records import Record

__all__ = [
    "AGENT",
    "BLOCKED",
    "EXECUTE_AGENT",
    "EXECUTING",
    "IDLE",
    "KEPT_AGENT_SECONDS",
    "LONGEST_NAME",
    "MARK",
    "RECORD_STEP",
    "SESSION",
    "SHOWN",
    "Agent",
    "Block",
    "Execution",
    "Leave",
    "Party",
    "Pause",
    "Step",
    "agent_key",
    "brief",
    "exactly",
    "hint_digest",
    "named",
]

AGENT: Final = "agent"
"""The kind of record that agents are kept as."""

MARK: Final = "agent mark"
"""The kind of record that tells for which agents a caller or a session speaks."""

BLOCKED: Final = "blocked"
EXECUTING: Final = "executing"
IDLE: Final = "idle"
"""The owners of an agent's record, by which those that matter are found."""

EXECUTE_AGENT: Final = "execute_agent"
RECORD_STEP: Final = "record_execution_step"
"""The operations by which agents begin and report."""

SHOWN: Final = 500
"""How much of what an agent says is kept and shown."""

LONGEST_NAME: Final = 200
_KEPT_STEPS: Final = 20
"""As many as the evaluation looks back at: all of them are written again with each step. The audit has every one."""
_BRIEF: Final = 16
_KEPT_PARTIES: Final = 200
_KEPT_NOTES: Final = 100
KEPT_AGENT_SECONDS: Final = 30 * 86400.0
"""How long an agent is known that does nothing and is not held up."""
SESSION: Final = "session:"
"""How the mark of a session begins."""


def agent_key(name: str) -> str:
    """What agents are told apart by: a name reads the same in any case, form of its letters, and spacing."""
    return skeleton(name)


def hint_digest(hint: str) -> str:
    """What two hints have in common that read the same."""
    return digest(skeleton(hint))


def exactly(hint: str) -> str:
    """What only the very same hint has: a person's leave is for nothing that merely reads like it."""
    return digest(hint)


def brief(digest: str) -> str:
    """As much of a digest as tells a few steps apart."""
    return digest[:_BRIEF]


def named(name: str) -> str:
    """An agent's name as it may stand in a sentence."""
    return f"'{visible(name)[:LONGEST_NAME]}'"


@dataclass(frozen=True, slots=True)
class Party:
    """Who sends a request, as far as it was proved: an identity, a session, or neither."""

    identity: str | None
    session: str | None

    @property
    def marks(self) -> tuple[str, ...]:
        """What it can be known by again; whoever cannot be known is like all others who cannot."""
        known = [f"caller:{self.identity}" if self.identity else "", f"{SESSION}{self.session}" if self.session else ""]
        return tuple(filter(None, known)) or ("nobody",)


class Step(NamedTuple):
    """One report and what came of it."""

    number: int
    at: float
    hint: str
    digest: str
    way: Way
    factors: tuple[str, ...] = ()
    score: int | None = None
    tier: str = ""
    description: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What an agent is executing."""

    id: str
    task: str
    adapter: str
    started_at: float
    caller: str
    marks: tuple[str, ...]
    """Who started it, and so who may report for it."""
    own: Tightening = field(default_factory=Tightening)
    steps: int = 0
    taken: int = 0
    """How many steps since a person last acted."""
    log: tuple[Sequence[Any], ...] = ()
    """The last steps as they are kept, each a list of a step's fields. Few look at more than two of these."""

    @property
    def recent(self) -> tuple[Step, ...]:
        """The last steps."""
        return tuple(map(_step, self.log))

    @property
    def last(self) -> Step | None:
        """The last step."""
        return _step(self.log[-1]) if self.log else None

    @property
    def history(self) -> History:
        """What the evaluation looks back at: what it has weighed. Who asks whether to wait still repeats nothing."""
        weighed = [PastStep(step[_DIGEST], step[_SCORE]) for step in self.log if step[_SCORE] is not None]
        return History(self.taken, tuple(weighed))

    def value(self) -> dict[str, object]:
        """The execution as JSON, which is written with every step and so by hand."""
        own = {name: given for name in _OWN if (given := getattr(self.own, name)) is not None}
        return {**{name: getattr(self, name) for name in _PLAIN_OF_EXECUTION}, "own": own, "recent": self.log}

    def with_step(self, step: Step) -> "Execution":
        """One step further."""
        log = (*self.log, tuple(step))[-_KEPT_STEPS:]
        went_on = step.way is Way.CONTINUE
        return replace(self, steps=self.steps + 1, taken=self.taken + went_on, log=log)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A step that waits for a person: for a confirmation, or for a verification."""

    at: float
    digest: str
    reason: str
    factors: tuple[str, ...]
    hint: str
    grant_id: str = ""
    challenge_id: str = ""

    @property
    def waits_for(self) -> str:
        """The id of what a person must decide."""
        return self.challenge_id or Grant.approval_of(self.grant_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Why an agent may do nothing at all, until a person verifies that it may, or an administrator overrides it."""

    at: float
    hint: str
    digest: str
    reason: str
    factors: tuple[str, ...]
    challenge_id: str

    @classmethod
    def of(cls, challenge: Challenge, now: float) -> "Block":
        """The block that ends when a challenge is met."""
        return cls(
            at=now,
            hint=challenge.hint,
            digest=challenge.digest,
            reason=challenge.reason,
            factors=challenge.factors,
            challenge_id=challenge.id,
        )


@dataclass(frozen=True, slots=True)
class Leave:
    """What a person has allowed an agent, once: an action, up to this gravity."""

    digest: str
    way: Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent."""

    key: str
    name: str
    execution: Execution | None = None
    pause: Pause | None = None
    block: Block | None = None
    leave: Leave | None = None
    refused: tuple[str, ...] = ()
    """The digests of hints that a person has refused in this execution."""
    waiting: tuple[str, ...] = ()
    """The grants of operations that the gatekeeper has put before a person for this agent."""
    notes: tuple[Notification, ...] = ()
    """What it is told once, with its next directive."""
    marks: tuple[str, ...] = ()
    """By whom requests in its name have come: none of them may decide for it."""
    seen_at: float = 0.0
    version: int = 0

    @property
    def owner(self) -> str:
        """Under which of the three its record is found."""
        return BLOCKED if self.block else EXECUTING if self.execution else IDLE

    def is_party(self, party: Party) -> bool:
        """Whether a request comes from this agent, or cannot be told from one that does."""
        return any(mark in self.marks for mark in party.marks)

    def marked(self, party: Party) -> "Agent":
        """The agent, known to speak through this party too."""
        marks = tuple(dict.fromkeys((*self.marks, *party.marks)))
        return self if marks == self.marks else replace(self, marks=marks[-_KEPT_PARTIES:])

    def freed(self) -> "Agent":
        """The agent without what belonged to an execution."""
        return replace(self, pause=None, leave=None, refused=(), waiting=(), notes=())

    def told(self, note: Notification) -> "Agent":
        """The agent with something more to be told."""
        return replace(self, notes=(*self.notes, note)[-_KEPT_NOTES:])

    def record(self) -> Record:
        """The agent as it is kept. One that does nothing and is not held up is forgotten after a while."""
        value = {name: getattr(self, name) for name in _PLAIN}
        value |= {name: asdict(held) for name in ("pause", "block", "leave") if (held := getattr(self, name))}
        value["notes"] = [asdict(note) for note in self.notes]
        if self.execution:
            value["execution"] = self.execution.value()
        expires = self.seen_at + KEPT_AGENT_SECONDS if self.owner == IDLE else None
        return Record(AGENT, self.key, value, self.owner, expires, self.version)

    @classmethod
    def read(cls, record: Record) -> "Agent":
        """The agent that a record holds."""
        value: dict[str, Any] = dict(record.value)
        return cls(
            key=value["key"],
            name=value["name"],
            execution=_execution(value.get("execution")),
            pause=_made(Pause, value.get("pause")),
            block=_made(Block, value.get("block")),
            leave=Leave(value["leave"]["digest"], Way(value["leave"]["way"])) if value.get("leave") else None,
            refused=tuple(value["refused"]),
            waiting=tuple(value["waiting"]),
            notes=tuple(Notification(**{**note, "type": NotificationType(note["type"])}) for note in value["notes"]),
            marks=tuple(value["marks"]),
            seen_at=value["seen_at"],
            version=record.version,
        )


_PLAIN: Final = ("key", "name", "refused", "waiting", "marks", "seen_at")
_PLAIN_OF_EXECUTION: Final = ("id", "task", "adapter", "started_at", "caller", "marks", "steps", "taken")
_OWN: Final = tuple(one.name for one in fields(Tightening))
_DIGEST, _SCORE = Step._fields.index("digest"), Step._fields.index("score")


def _made(kind: type[Any], value: Mapping[str, Any] | None) -> Any:
    return kind(**{**value, "factors": tuple(value["factors"])}) if value else None


def _execution(value: Mapping[str, Any] | None) -> Execution | None:
    if not value:
        return None
    plain = {name: value[name] for name in _PLAIN_OF_EXECUTION}
    plain["marks"] = tuple(value["marks"])
    return Execution(**plain, own=_tightening(value["own"]), log=tuple(value["recent"]))


def _step(kept: Sequence[Any]) -> Step:
    step = Step(*kept)
    return step._replace(way=Way(step.way), factors=tuple(step.factors))


def _tightening(value: Mapping[str, Any]) -> Tightening:
    tolerance, auto = value.get("risk_tolerance"), value.get("auto_approve")
    return Tightening(
        max_autonomous_steps=value.get("max_autonomous_steps"),
        risk_tolerance=Tolerance(tolerance) if tolerance else None,
        deny=tuple(value["deny"]),
        requires_approval=tuple(value["requires_approval"]),
        auto_approve=None if auto is None else tuple(auto),
    )
