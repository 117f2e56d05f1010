"""What must be decided of a call, for every danger, trust, policy and caller. Nothing here asks the gatekeeper.

The first table is the specification's (Danger Levels 4.1), written out. The second says what each policy demands of
each caller. Whichever of the two is more restrictive counts. ``python -m tests.safety.decision_table`` prints it all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headgate import Caller

__all__ = ["CALLERS", "DANGERS", "POLICIES", "TRUSTS", "Case", "Demand", "rendered", "squares"]

MATRIX = """
             untested  generated  validated  community_reviewed  certified
safe         deny      allow      allow      allow               allow
reversible   deny      deny       allow      allow               allow
destructive  deny      deny       client     allow               allow
dangerous    deny      deny       deny       client              allow
forbidden    deny      deny       deny       deny                client
"""

CODES_OF_THE_MATRIX = {
    "safe": "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
    "reversible": "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
    "destructive": "PERMISSION_DANGER_LEVEL_DENIED",
    "dangerous": "PERMISSION_DANGER_LEVEL_DENIED",
    "forbidden": "PERMISSION_DANGER_LEVEL_DENIED",
}

STRICTNESS = ("allow", "client", "person", "deny")
"""The words of all tables, from the least restrictive: it runs, a client or a person confirms, nobody may."""

CALLERS = {
    "nobody in particular": Caller(),
    "ann": Caller(subject="ann"),
    "bob": Caller(subject="bob", client_id="desk"),
    "carol the admin": Caller(subject="carol", scopes=frozenset({"admin", "read"})),
    "eve": Caller(subject="eve"),
}


@dataclass(frozen=True)
class Demand:
    """A policy, and what it demands of each of the callers, in their order."""

    words: str
    toml: str
    of_callers: str
    remembered: bool = False
    """Whether the call was confirmed before in the same session."""
    by_person: bool = False
    """Whether only a person may confirm, whoever asks for it."""

    def of(self, caller: str) -> str:
        demands = self.of_callers.split()
        return demands[0] if len(demands) == 1 else demands[list(CALLERS).index(caller)]


def rule(decision: str, *more: str) -> str:
    name = f"{decision} {len(more)}"
    return "\n".join(["[[rule]]", f'name = "{name}"', f'decision = "{decision}"', *more, ""])


DENIED_BY_DEFAULT = 'default = "deny"\n'


def leave(*more: str) -> str:
    return DENIED_BY_DEFAULT + rule("allow", *more)


HOLDS = "when = {size = {gt = 5}}"
FAILS = "when = {size = {gt = 50}}"

POLICIES = (
    # Each call has the size 10. What is demanded: of all, or of nobody in particular, ann, bob, carol and eve.
    Demand("no policy", "", "allow"),
    Demand("a rule that allows", rule("allow"), "allow"),
    Demand("a rule that the client confirms", rule("confirm"), "client"),
    Demand("a rule that a person confirms", rule("confirm", 'confirm = "person"'), "person"),
    Demand("a rule that denies", rule("deny"), "deny"),
    Demand("a default that denies", DENIED_BY_DEFAULT, "deny"),
    Demand("a default that confirms", 'default = "confirm"', "client"),
    Demand("a default that denies and a rule that allows", DENIED_BY_DEFAULT + rule("allow"), "allow"),
    Demand("a default that denies and a rule that confirms", DENIED_BY_DEFAULT + rule("confirm"), "client"),
    Demand("rules that allow and confirm", rule("allow") + rule("confirm"), "client"),
    Demand("rules that allow and deny", rule("allow") + rule("deny"), "deny"),
    Demand("rules that confirm and deny", rule("confirm") + rule("deny"), "deny"),
    Demand(
        "rules that the client and a person confirm",
        rule("confirm") + rule("confirm", 'confirm = "person"'),
        "person",
    ),
    Demand("a denial under a condition that holds", rule("deny", HOLDS), "deny"),
    Demand("a denial under a condition that fails", rule("deny", FAILS), "allow"),
    Demand("a confirmation under a condition that holds", rule("confirm", HOLDS), "client"),
    Demand("a confirmation under a condition that fails", rule("confirm", FAILS), "allow"),
    Demand("leave under a condition that holds", leave(HOLDS), "allow"),
    Demand("leave under a condition that fails", leave(FAILS), "deny"),
    Demand("a denial of ann", rule("deny", 'callers = "ann"'), "allow deny allow allow allow"),
    Demand("a denial of all but ann", rule("deny", 'callers = "!ann"'), "deny allow deny deny deny"),
    Demand("a denial of callers without a name", rule("deny", 'callers = "anonymous"'), "deny allow allow allow allow"),
    Demand("leave for ann", leave('callers = "ann"'), "deny allow deny deny deny"),
    Demand("leave for a client", leave('callers = "client:desk"'), "deny deny allow deny deny"),
    Demand("leave for a scope", leave('callers = "scope:admin"'), "deny deny deny allow deny"),
    Demand("leave for all but eve", leave('callers = "!eve"'), "allow allow allow allow deny"),
    Demand("leave for all with a name but eve", leave('callers = ["*", "!eve"]'), "deny allow allow allow deny"),
    Demand(
        "a confirmation for all but admins",
        rule("confirm", 'callers = ["!scope:admin"]'),
        "client client client allow client",
    ),
    Demand(
        "a person for eve and a client for bob",
        rule("confirm", 'callers = ["eve"]', 'confirm = "person"') + rule("confirm", 'callers = ["bob"]'),
        "allow allow client allow person",
    ),
    Demand(
        "a condition and a caller together",
        rule("deny", 'callers = "eve"', HOLDS) + rule("deny", 'callers = ["bob"]', FAILS, "optional = true"),
        "allow allow allow allow deny",
    ),
    Demand("a denial of another category", rule("deny", 'categories = "DELETE"', "optional = true"), "allow"),
    Demand("a denial of its category", rule("deny", 'categories = "EXECUTE"'), "deny"),
    Demand("a denial of another adapter", rule("deny", 'sources = "elsewhere"', "optional = true"), "allow"),
    Demand("a denial of this adapter", rule("deny", 'sources = "work*"'), "deny"),
    Demand("a denial of other operations", rule("deny", 'operations = "!execute_*"', "optional = true"), "allow"),
    Demand(
        "a confirmation that is remembered", rule("confirm", 'remember = "session"'), "client", remembered=True
    ),
    Demand(
        "one confirmation that is remembered and one that is not",
        rule("confirm", 'remember = "session"') + rule("confirm"),
        "client",
    ),
    Demand("confirmations by a person", '[confirmation]\nby = "person"', "allow", by_person=True),
    Demand(
        "a rule that the client confirms where persons do",
        rule("confirm") + '[confirmation]\nby = "person"',
        "client",
        by_person=True,
    ),
    Demand(
        "danger that requires a person each time",
        '[danger."*"]\nlevel = "{danger}"\nrequires_reauth = true',
        "client",
        by_person=True,
    ),
    Demand(
        "danger that requires a person each time and a rule that remembers",
        rule("confirm", 'remember = "session"') + '[danger."*"]\nlevel = "{danger}"\nrequires_reauth = true',
        "client",
        by_person=True,
    ),
)  # fmt: skip


def _read(table: str) -> dict[str, dict[str, str]]:
    head, *lines = [line.split() for line in table.strip().splitlines()]
    return {first: dict(zip(head, rest, strict=True)) for first, *rest in lines}


BY_TRUST = _read(MATRIX)
DANGERS = tuple(BY_TRUST)
TRUSTS = tuple(BY_TRUST["safe"])


@dataclass(frozen=True)
class Case:
    """One call, and what must come of it."""

    danger: str
    trust: str
    demand: Demand
    caller: str

    @property
    def by_trust(self) -> str:
        return BY_TRUST[self.danger][self.trust]

    @property
    def decision(self) -> str:
        """The most restrictive of what the two tables say: allow, client, person or deny."""
        decided = max(self.by_trust, self.demand.of(self.caller), key=STRICTNESS.index)
        if decided == "client" and self.demand.by_person:
            return "person"
        return decided

    @property
    def code(self) -> str:
        """The code of the answer, or nothing if the call runs."""
        if self.decision == "deny":
            return CODES_OF_THE_MATRIX[self.danger] if self.by_trust == "deny" else "PERMISSION_DENIED"
        return "" if self.decision == "allow" else "CONFIRMATION_REQUIRED"

    @property
    def toml(self) -> str:
        return self.demand.toml.replace("{danger}", self.danger)

    def __str__(self) -> str:
        about = f"a {self.danger} operation of a {self.trust} adapter, under {self.demand.words}, by {self.caller}"
        return f"{about}: {_WORDS[self.decision]}"


_WORDS: dict[str, str] = {
    "allow": "it runs",
    "client": "the client confirms",
    "person": "a person confirms",
    "deny": "it is denied",
}


def squares() -> Iterator[list[Case]]:
    """All cases; those that differ in the caller alone stand together."""
    for demand in POLICIES:
        for danger in DANGERS:
            for trust in TRUSTS:
                yield [Case(danger, trust, demand, caller) for caller in CALLERS]


def rendered() -> str:
    """The whole table as text: callers of whom the same is demanded stand together."""
    lines: list[str] = []
    for demand in POLICIES:
        together: dict[str, list[str]] = {}
        for caller in CALLERS:
            together.setdefault(demand.of(caller), []).append(caller)
        for callers in together.values():
            whom = "anybody" if len(callers) == len(CALLERS) else ", ".join(callers)
            lines += ["", f"Under {demand.words}, called by {whom}:"]
            lines += [_line("", TRUSTS)]
            lines += [
                _line(danger, (_shown(Case(danger, trust, demand, callers[0])) for trust in TRUSTS))
                for danger in DANGERS
            ]
    return "\n".join(lines).strip()


def _shown(case: Case) -> str:
    return case.decision if not case.code.startswith("PERMISSION_") else f"deny ({_SHORT[case.code]})"


_SHORT: dict[str, str] = {
    "PERMISSION_TRUST_LEVEL_INSUFFICIENT": "trust",
    "PERMISSION_DANGER_LEVEL_DENIED": "danger",
    "PERMISSION_DENIED": "policy",
}


def _line(first: str, rest: Any) -> str:
    return "  " + "".join(f"{word:<20}" for word in (first, *rest)).rstrip()


if __name__ == "__main__":
    print(rendered())  # noqa: T201
