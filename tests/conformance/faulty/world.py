"""What the museum holds, and what it remembers of those who ask."""

import base64
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

__all__ = ["READS", "Agent", "Museum", "Record", "Refusal", "Run", "Token", "stamp"]

READS: Final = 1
"""After so many looks a stocktaking is done."""
Record = dict[str, Any]

_EXHIBITS: Final = (
    ("Bronze mirror", "Unknown workshop", -400, 5200.5, True, "north", "1931-04-02", ("bronze",), 18, 18),
    ("Painted vase", "Exekias", -530, 90000.0, True, "north", "1908-09-17", ("clay", "slip"), 61, 40),
    ("Marble torso", "Unknown workshop", -120, 150000.0, True, "garden", "1897-01-30", ("marble",), 112, 55),
    ("Silver coin", "Mint of Athens", -440, 800.0, False, "north", "1954-06-11", ("silver",), 2, 2),
    ("River landscape", "Anna Verhoeven", 1664, 42000.0, True, "south", "1922-03-08", ("oil", "canvas"), 70, 95),
    ("Portrait of a clerk", "Anna Verhoeven", 1671, 38000.0, False, "south", "1922-03-08", ("oil", "panel"), 48, 36),
    ("Winter harbour", "Jan Kuyper", 1688, 27000.0, True, "south", "1960-11-21", ("oil", "canvas"), 80, 120),
    ("Brass astrolabe", "Georg Halder", 1553, 64000.0, True, "south", "1911-05-05", ("brass",), 22, 22),
    ("Stone lantern", "Unknown workshop", 1790, 9000.0, True, "garden", "1978-08-14", ("granite",), 150, 60),
    ("Iron gate", "Georg Halder", 1561, 12000.0, True, "garden", "1911-05-05", ("iron",), 210, 140),
    ("Glass beaker", "Cologne glassworks", 310, 7300.0, False, "north", "1949-02-27", ("glass",), 14, 9),
    ("Woven carpet", "Tabriz weavers", 1890, 21000.0, True, "south", "1985-10-03", ("wool", "silk"), 320, 210),
)
_ROOMS: Final = (
    ("Antiquity", 0, 80),
    ("Painting", 1, 60),
    ("Instruments", 1, 25),
    ("Textiles", 2, 30),
    ("Court", 0, 200),
)
_LOANS: Final = (
    ("ex_4", "Town museum", "2026-03-01", False),
    ("ex_6", "Harbour museum", "2026-04-15", True),
    ("ex_11", "Town museum", "2026-05-20", False),
    ("ex_2", "University", "2025-11-05", True),
    ("ex_7", "Harbour museum", "2026-01-12", False),
)


class Refusal(Exception):
    """A request that is not carried out, and why."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


@dataclass
class Token:
    """A confirmation that was offered, and what for."""

    operation: str
    params: str
    session: str
    used: bool = False


@dataclass
class Run:
    """One stocktaking."""

    id: str
    session: str
    started_at: str
    cancelled_at: str = ""
    asked: int = 0
    """How often somebody looked: it counts on while it is watched, so that no test waits for a clock."""


@dataclass
class Agent:
    """An agent under supervision."""

    name: str
    active: bool = False
    steps: int = 0
    challenge: str = ""
    code: str = ""
    alarm: Record = field(default_factory=dict)
    """What all others are told while it is blocked."""
    pending: dict[str, str] = field(default_factory=dict)
    """What waits for a person, by the id of the approval; the token is told to nobody here."""

    @property
    def blocked(self) -> bool:
        """Whether it may do nothing until a person has given the code."""
        return bool(self.challenge)


@dataclass
class Museum:
    """Everything that outlasts a connection, and the faults that are switched on."""

    defects: frozenset[str] = frozenset()
    exhibits: dict[str, Record] = field(default_factory=dict)
    rooms: dict[str, Record] = field(default_factory=dict)
    loans: dict[str, Record] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    made: int = 0
    views: int = 0

    def __post_init__(self) -> None:
        """Fill the house."""
        for row in _EXHIBITS:
            title, maker, year, value, shown, hall, acquired, materials, height, width = row
            self.add(
                {
                    "title": title,
                    "maker": maker,
                    "year": year,
                    "value": value,
                    "on_display": shown,
                    "hall": hall,
                    "acquired_on": acquired,
                    "materials": list(materials),
                    "dimensions": {"height_cm": height, "width_cm": width, "note": "as measured"},
                }
            )
        for place, (name, floor, seats) in enumerate(_ROOMS, 1):
            plan = base64.b64encode(f"a plan {place}".encode()).decode()
            self.rooms[f"room_{place}"] = {
                "id": f"room_{place}",
                "name": name,
                "floor": floor,
                "seats": seats,
                "plan": plan.rstrip("=") if self.has("base64-unpadded") else plan,
                "plan_encoding": "base64",
                "plan_mime_type": "text/plain",
            }
        for place, (exhibit, borrower, due, returned) in enumerate(_LOANS, 1):
            row_of = {"id": f"loan_{place}", "exhibit_id": exhibit, "borrower": borrower}
            self.loans[f"loan_{place}"] = {**row_of, "due_on": due, "returned": returned}

    def has(self, defect: str) -> bool:
        """Whether a fault is switched on."""
        return defect in self.defects

    def add(self, fields: Record) -> Record:
        """Put a new exhibit on the books."""
        self.made += 1
        record = {
            "id": f"ex_{self.made}",
            **fields,
            "accession": f"A-{self.made:04}",
            "created_at": "2026-02-04T10:30:00Z",
            "_etag": f"{self.made}-1",
        }
        self.exhibits[record["id"]] = record
        return record

    def end(self, session: str) -> None:
        """Forget what belongs to a connection that is over."""
        for run in self.runs.values():
            if run.session == session and not run.cancelled_at and run.asked < READS:
                run.cancelled_at = stamp()


def stamp() -> str:
    """Now, as the texts want it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
