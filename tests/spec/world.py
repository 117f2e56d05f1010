"""The adapter under test: notes, files, jobs and long work, with every kind of parameter and every way to fail.

The suite sees it only through tool calls, often from another process, so whatever a test wants to know about the inside
(which handlers ran, in which order) is an operation as well. Tests keep apart by using keys of their own.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from itertools import count
from typing import Annotated, Any, Final, Literal, NotRequired
from uuid import UUID

import anyio
from pydantic import BaseModel
from typing_extensions import TypedDict

from headgate import (
    Adapter,
    Background,
    Binary,
    Conflict,
    Context,
    Denied,
    Deprecated,
    Invalid,
    NotFound,
    Param,
    Patch,
    RateLimited,
    Unavailable,
    require_match,
    with_etag,
)
from headgate.query.collections import Computed, Relationship
from headgate.query.kinds import Kind

world = Adapter("world", "Notes, files and jobs to try a server with", version="1.2.3")

_RUNS: dict[str, list[str]] = defaultdict(list)


def ran(operation: str, key: str) -> None:
    """Remember that a handler was reached."""
    _RUNS[key].append(operation)


@world.read
async def list_runs(key: str) -> list[str]:
    """The operations whose handlers were reached with this key, in order.

    Args:
        key: What the operations were called with.
    """
    return _RUNS[key]


# Notes: a resource with identifier, constraints, nesting, a read-only field and versions.


class Priority(StrEnum):
    """How urgent something is."""

    LOW = "low"
    HIGH = "high"


class Origin(TypedDict, total=False):
    """Where something comes from."""

    place: Annotated[str, Param(description="A town or a land")]
    year: Annotated[int, Param(minimum=0, maximum=3000, description="The year in the common era")]


class Metadata(TypedDict, total=False):
    """What is known about a note."""

    priority: Priority
    tags: Annotated[list[str], Param(description="Words to find it by", max_length=5)]
    author: Annotated[str, Param(description="Who wrote it")]
    origin: Origin
    deprecated_field: Annotated[str, Param(description="Left from an older system")]


class Note(TypedDict):
    """A short text with a title."""

    note_id: Annotated[str, Param(description="The note's own id")]
    title: Annotated[str, Param(min_length=1, max_length=80, description="One line")]
    body: NotRequired[Annotated[str, Param(description="The text itself")]]
    pages: NotRequired[Annotated[int, Param(minimum=1, maximum=500, description="How long it is")]]
    metadata: NotRequired[Metadata]
    created_at: Annotated[str, Param(read_only=True, format="date-time", description="When it was created")]


_NOTES: dict[str, Note] = {}


def _note(note_id: str) -> Note:
    if note_id not in _NOTES:
        raise NotFound("note", note_id)
    return _NOTES[note_id]


@world.create
async def create_note(
    note_id: Annotated[str, Param(description="An id of your choice", min_length=1, max_length=100)],
    title: Annotated[str, Param(description="One line", min_length=1, max_length=80)],
    body: Annotated[str | None, Param(description="The text itself")] = None,
    pages: Annotated[int, Param(description="How long it is", minimum=1, maximum=500)] = 1,
    metadata: Annotated[Metadata | None, Param(description="What is known about it")] = None,
) -> dict[str, object]:
    """Create a note. Nothing existing is changed."""
    ran("create_note", note_id)
    if note_id in _NOTES:
        raise Conflict("note", note_id)
    note = Note(note_id=note_id, title=title, pages=pages, created_at="2026-02-04T10:30:00Z")
    if body is not None:
        note["body"] = body
    if metadata is not None:
        note["metadata"] = metadata
    _NOTES[note_id] = note
    return with_etag(note)


@world.read
async def get_note(
    note_id: Annotated[str, Param(description="Which note")],
    with_body: Annotated[
        bool,
        Param(
            description="Whether the text is wanted.",
            deprecated=Deprecated("the text is always there", replacement="get_note", removal_date=date(2099, 1, 1)),
        ),
    ] = True,
) -> dict[str, object]:
    """One note with all its fields and its version."""
    ran("get_note", note_id)
    return with_etag(_note(note_id))


@world.read
async def list_notes(
    prefix: Annotated[str, Param(description="What the ids begin with")] = "",
    author: Annotated[
        str | None,
        Param(description="Whose notes: a name; null for notes without an author; left out, the notes of everybody."),
    ] = "*",
) -> list[Note]:
    """The notes whose ids begin with a prefix."""
    found = (note for note_id, note in _NOTES.items() if note_id.startswith(prefix))
    return [note for note in found if author in ("*", note.get("metadata", {}).get("author"))]


@world.read(rationale="'list' knows no ranking by words")
async def search_notes(words: Annotated[str, Param(description="What to look for")]) -> list[str]:
    """The ids of the notes whose titles hold the words."""
    return [note_id for note_id, note in _NOTES.items() if words in note["title"]]


@world.read(deprecated=Deprecated(replacement="list_notes", removal_date=date(2099, 1, 1)))
async def list_papers() -> list[str]:
    """The ids of all notes, under their old name."""
    return list(_NOTES)


@world.update
async def update_note(
    note_id: Annotated[str, Param(description="Which note")],
    input: Annotated[Patch[Note], Param(description="The fields to change.")],  # noqa: A002
    if_match: Annotated[str | None, Param(description="Change it only if its _etag is still this one")] = None,
) -> dict[str, object]:
    """Change some fields of a note. Not for notes whose title begins with 'Frozen'."""
    ran("update_note", note_id)
    note = _note(note_id)
    require_match(if_match, note, "note", note_id)
    _NOTES[note_id] = input.apply(note)
    return with_etag(_NOTES[note_id])


@world.delete
async def delete_note(note_id: Annotated[str, Param(description="Which note")]) -> dict[str, str]:
    """Remove a note for good."""
    ran("delete_note", note_id)
    _note(note_id)
    del _NOTES[note_id]
    return {"note_id": note_id}


# Jobs: each call makes new state.

_JOB_IDS: Final = count(1)


@world.execute
async def execute_job(key: Annotated[str, Param(description="A name for it")]) -> dict[str, object]:
    """Start a job. Every call starts another one."""
    ran("execute_job", key)
    return {"job_id": f"job_{next(_JOB_IDS)}", "key": key}


@world.execute
async def cancel_job(key: Annotated[str, Param(description="The job's name")]) -> None:
    """Stop a job."""
    ran("cancel_job", key)


# Values: each kind of parameter, and each kind of value in an answer.


class Color(StrEnum):
    """A colour of the palette."""

    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    """A point on a map."""

    name: str
    height: float = 0.0


@world.read
async def get_sample(
    key: Annotated[str, Param(description="Whose sample")],
    text: Annotated[str, Param(description="A short text", min_length=2, max_length=10)] = "abc",
    code: Annotated[str, Param(description="Three letters and a number", pattern="^[A-Z]{3}-[0-9]+$")] = "ABC-1",
    count: Annotated[int, Param(description="A small number", minimum=1, maximum=10)] = 5,
    ratio: Annotated[float, Param(description="A share", minimum=0, maximum=1)] = 0.5,
    flag: Annotated[bool, Param(description="Yes or no")] = False,
    color: Annotated[Color, Param(description="A colour")] = Color.RED,
    size: Annotated[Literal["small", "large"], Param(description="How large")] = "small",
    words: Annotated[list[str] | None, Param(description="Some words")] = None,
    options: Annotated[dict[str, Any] | None, Param(description="Anything by name")] = None,
    place: Annotated[Place | None, Param(description="Where it is")] = None,
    day: Annotated[date | None, Param(description="A day")] = None,
    moment: Annotated[datetime | None, Param(description="A moment")] = None,
    ident: Annotated[UUID | None, Param(description="A unique id")] = None,
    serial: Annotated[int, Param(description="A long number", minimum=0, maximum=2**64 - 1)] = 0,
    amount: Annotated[Decimal, Param(description="A sum of money")] = Decimal("0.10"),
    user_name: Annotated[str, Param(description="A name of two words")] = "nobody",
) -> dict[str, Any]:
    """What the handler gets: each value, and its Python type."""
    ran("get_sample", key)
    got = dict(locals())
    return {"values": got, "kinds": {name: type(value).__name__ for name, value in got.items()}}


@world.read
async def get_text(text: Annotated[str, Param(description="Any text")]) -> str:
    """The same text again."""
    return text


@world.read
def get_blob(size: Annotated[int, Param(description="How many bytes", minimum=0)]) -> str:
    """A text of a given size."""
    return "x" * size


@world.read
async def get_nothing() -> None:
    """Nothing, which is an answer too."""


@world.read
async def get_times() -> dict[str, Any]:
    """One moment in several notations of Python, and a day."""
    moment = datetime(2026, 2, 4, 10, 30, tzinfo=UTC)
    return {
        "utc": moment,
        "offset": moment.astimezone(timezone(timedelta(hours=5, minutes=30))),
        "without_zone": moment.replace(tzinfo=None),
        "nested": [{"at": moment}],
        "day": date(2026, 2, 4),
    }


@world.read
async def get_numbers() -> dict[str, Any]:
    """Numbers at the edge of what JSON readers keep."""
    return {
        "largest_safe": 2**53 - 1,
        "smallest_safe": -(2**53 - 1),
        "beyond": 2**53,
        "below": -(2**53),
        "huge": 12345678901234567890,
        "money": Decimal("12.50"),
        "nested": [{"beyond": 2**60}],
    }


# Files: binary data as base64, and the other way, by reference.

_FILES: dict[str, Binary] = {}


@world.create(rationale="the content is transferred with it")
async def upload_file(
    file_id: Annotated[str, Param(description="An id of your choice")],
    file_content: Annotated[Binary, Param(description="The content")],
) -> dict[str, object]:
    """Store a file."""
    ran("upload_file", file_id)
    _FILES[file_id] = file_content
    return {"file_id": file_id, "size": len(file_content.data)}


@world.create(rationale="the content comes from elsewhere")
async def import_file(
    file_id: Annotated[str, Param(description="An id of your choice")],
    source: Annotated[str, Param(format="uri", description="A URL to fetch the content from, in place of base64")],
) -> dict[str, object]:
    """Store a file by reference: takes a URL where upload_file takes base64."""
    _FILES[file_id] = Binary(source.encode(), "text/uri-list")
    return {"file_id": file_id}


@world.read
async def get_file(file_id: Annotated[str, Param(description="Which file")]) -> dict[str, object]:
    """A file with its content."""
    if file_id not in _FILES:
        raise NotFound("file", file_id)
    return {"file_id": file_id, "file_content": _FILES[file_id]}


# Secrets and refusals.


@world.create(rationale="an account is entered into a register")
async def register_account(
    account_id: Annotated[str, Param(description="A name for it")],
    password: Annotated[str, Param(description="At least nine characters", sensitive=True)],
    fault: Annotated[Literal["none", "refuse", "break"], Param(description="How it should go wrong")] = "none",
) -> dict[str, str]:
    """Open an account."""
    ran("register_account", account_id)
    if fault == "refuse":
        raise Invalid("password", f"'{password}' is too weak")
    if fault == "break":
        raise RuntimeError(f"cannot store {password}")
    return {"account_id": account_id}


@world.read
async def get_vault(key: Annotated[str, Param(description="Whose vault")]) -> None:
    """What nobody may see."""
    raise Denied("only the owner may look into the vault", required_scope="vault:read")


@world.read
async def get_feed() -> None:
    """What was asked for too often."""
    raise RateLimited(30)


class _InnerMachine(Exception):
    pass


_EMPTY: Final[dict[str, object]] = {}
_Kind = Literal["arithmetic", "lookup", "path", "class", "group", "answer", "upstream"]


@world.execute
async def execute_fault(kind: Annotated[_Kind, Param(description="Which fault")]) -> object:
    """Break in one of many ways."""
    match kind:
        case "arithmetic":
            return 1 // 0
        case "lookup":
            return _EMPTY["no_such_key"]
        case "path":
            raise FileNotFoundError(2, "No such file or directory", "/srv/app/secret/config.yaml")
        case "class":
            raise _InnerMachine("the inner machine stopped in /usr/lib/machine.py")
        case "group":
            raise ExceptionGroup("several", [ValueError("bad value"), TypeError("bad type")])
        case "answer":
            return object()
        case "upstream":
            raise Unavailable("the store is closed for repair")


@world.execute
def execute_sync_fault(key: Annotated[str, Param(description="Which run")]) -> None:
    """Break in a thread."""
    ran("execute_sync_fault", key)
    raise KeyError(key)


@world.read
async def get_session(ctx: Context) -> dict[str, object]:
    """Who the server thinks is calling."""
    caller = ctx.caller
    return {
        "session_id": ctx.session.id,
        "subject": caller.subject,
        "client_id": caller.client_id,
        "scopes": sorted(caller.scopes),
        "authenticated": caller.authenticated,
    }


# Doors: handlers that wait for each other, so that tests of concurrency need no clock.


class Door(TypedDict):
    """Something to be opened by one at a time."""

    name: Annotated[str, Param(description="What stands on it")]


class _Lane:
    """Those who came to a lane, and whether they may pass."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.open = anyio.Event()
        self._news = anyio.Event()

    def write(self, line: str) -> None:
        self.log.append(line)
        self._news.set()
        self._news = anyio.Event()

    async def lines(self, most: int) -> list[str]:
        while len(self.log) < most:
            await self._news.wait()
        return self.log


_LANES: dict[str, _Lane] = {}


def _lane(name: str) -> _Lane:
    return _LANES.setdefault(name, _Lane())


@world.update(locks="door_id")
async def update_door(
    door_id: Annotated[str, Param(description="Which door")],
    lane: Annotated[str, Param(description="Where the door is")],
    input: Annotated[Patch[Door], Param(description="What to change")],  # noqa: A002
) -> None:
    """Change a door, which takes until its lane is open."""
    here = _lane(lane)
    here.write(f"enter {door_id}")
    await here.open.wait()
    here.write(f"leave {door_id}")


@world.read
async def list_arrivals(
    lane: Annotated[str, Param(description="Which lane")],
    least: Annotated[int, Param(description="Wait until there are so many", minimum=0)] = 0,
) -> list[str]:
    """Who entered and left, in order."""
    return await _lane(lane).lines(least)


@world.execute
async def execute_opening(lane: Annotated[str, Param(description="Which lane")]) -> None:
    """Open a lane for good."""
    _lane(lane).open.set()


@world.read
async def get_meeting(
    lane: Annotated[str, Param(description="Where to meet")],
    guests: Annotated[int, Param(description="How many must be there", minimum=1)],
) -> int:
    """Wait until so many callers are here at once."""
    here = _lane(lane)
    here.write("guest")
    return len(await here.lines(guests))


# Crawls: long work, which goes on until its lane is open, and fails as often as it is told to.


async def _crawl(ctx: Context, lane: str, failures: int) -> list[str]:
    here = _lane(lane)
    here.write(f"attempt {ctx.attempt}")
    await ctx.progress(1, 4, "the first page")
    try:
        await here.open.wait()
    except anyio.get_cancelled_exc_class():
        here.write("cleaned up")
        raise
    if ctx.attempt <= failures:
        raise Unavailable("the site does not answer")
    return ["home", "news", "help", "about"]


_LaneParam = Annotated[str, Param(description="Which lane")]
_Failures = Annotated[int, Param(description="How many attempts fail", minimum=0)]


@world.execute(background=Background(key="lane"))
async def execute_crawl(ctx: Context, lane: _LaneParam, failures: _Failures = 0) -> list[str]:
    """Visit the pages of a lane, which takes until it is open."""
    return await _crawl(ctx, lane, failures)


@world.execute(background=Background(key="lane", session="cancel", retries=1, backoff=300))
async def execute_tour(ctx: Context, lane: _LaneParam, failures: _Failures = 0) -> list[str]:
    """Visit the pages of a lane, until the session ends."""
    return await _crawl(ctx, lane, failures)


@world.execute(background=Background(session="fail"))
async def execute_patrol(ctx: Context, lane: _LaneParam) -> list[str]:
    """Visit the pages of a lane, and fail if the session ends before that is done."""
    return await _crawl(ctx, lane, 0)


# Gardens and plants: collections, which nothing changes, so that every test sees the same ones.


@dataclass(frozen=True)
class Garden:
    """Where plants grow."""

    garden_id: int
    name: str
    country: str | None = None


@dataclass(frozen=True)
class Plant:
    """What grows in a garden."""

    plant_id: int
    name: str
    kind: Literal["tree", "herb", "flower"]
    garden_id: int
    height: float
    planted: date | None = None


GARDENS: Final = (Garden(1, "Kew", "GB"), Garden(2, "Giverny", "FR"), Garden(3, "Eden"))
_KINDS: Final = ("tree", "herb", "flower")
PLANTS: Final = tuple(
    Plant(
        number,
        f"{_KINDS[number % 3]} number {number}",
        _KINDS[number % 3],
        1 + number % 2,
        number * 7 % 10 / 2,
        date(2020, 1, number) if number % 4 else None,
    )
    for number in range(1, 31)
)

world.collection(Garden, key="garden_id", items=GARDENS)
world.collection(
    Plant,
    key="plant_id",
    items=PLANTS,
    computed=[Computed(name="tall", kind=Kind.BOOLEAN, function=lambda plant: plant.height > 3)],
    presets={"card": ["name", "garden.name"]},
    relationships=[Relationship(name="garden", target="gardens", local=("garden_id",), remote=("garden_id",))],
)
