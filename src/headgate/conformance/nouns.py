"""What operations are about, as their names and declarations tell it."""

from collections.abc import Iterable, Mapping
from typing import Final

from headgate.conformance.survey import SeenOperation
from headgate.protocol.names import SYNONYMS, resource_of, singular, verb_of

__all__ = ["VERBS", "moves_by_itself", "named_after", "noun_of", "phrase_of", "put_somewhere", "returned"]

VERBS: Final = {
    "READ": ("get", "read", "fetch", "show", "describe", "find", "view", "retrieve", "load", "lookup"),
    "CREATE": ("create", "add", "insert", "register", "new", "make", "post"),
    "UPDATE": ("update", "edit", "patch", "modify", "change"),
    "DELETE": ("delete", "remove", "unregister", "destroy", "erase"),
}
_FILLERS: Final = frozenset({"a", "an", "the", "my", "new", "one", "single", "existing"})
_PLACES: Final = frozenset({"to", "into", "in", "on", "from", "onto"})
_TURNS: Final = _PLACES | {"by", "with", "of", "for", "using"}
_ENDS: Final = frozenset({"details", "detail", "info"})

_GOING: Final = frozenset({"execute", "cancel"})
_LIVE: Final = frozenset({"execution", "agent", "job", "task", "status", "run"})
_SIDES: Final = frozenset({"status", "state", "progress", "result", "output", "log", "logs", "run", "execution"})
"""What can be asked of something that runs, such as ``get_job_status``."""


def phrase_of(name: str) -> str:
    """What an operation's name says that it is about: ``create_new_note`` and ``get_note_by_id`` are about a note."""
    words = resource_of(name).split("_")
    turn = next((place for place, word in enumerate(words) if word in _TURNS and place), len(words))
    kept = words[:turn]
    while len(kept) > 1 and kept[0] in _FILLERS:
        kept = kept[1:]
    return "_".join(kept[:-1] if len(kept) > 1 and kept[-1] in _ENDS else kept)


def noun_of(name: str) -> str:
    """The same in the singular, by which names can be compared."""
    return _singular_of(phrase_of(name))


def put_somewhere(name: str) -> bool:
    """Whether a name tells a place, so that it may mean something that is only put there or taken out of it."""
    return not _PLACES.isdisjoint(resource_of(name).split("_")[1:])


def named_after(operation: SeenOperation, noun: str, get: SeenOperation) -> bool:
    """Whether an operation is about things that another reads: by its name's last word, or any if it gives the same."""
    own = noun_of(operation.name)
    if own == noun or own.endswith(f"_{noun}"):
        return True
    words = {singular(word) for word in resource_of(operation.name).split("_")}
    return operation.category != "DELETE" and noun in words and returned(operation) == returned(get) != ""


def moves_by_itself(get: SeenOperation, resource: str, others: Iterable[SeenOperation], *, kept: bool) -> bool:
    """Whether things of a resource change although nobody changes them: an operation starts or stops them.

    A name alone says so only of what nobody can make, change or delete, which is a view of something else.
    """
    if isinstance(get.details.get("lifecycle"), Mapping) or any(_sets_going(one, get, resource) for one in others):
        return True
    return not kept and bool(_LIVE & set(resource.split("_")))


def _sets_going(operation: SeenOperation, get: SeenOperation, resource: str) -> bool:
    """Whether an operation starts or stops things of a resource: by its name, or because it gives what is under way."""
    if operation.category != "EXECUTE":
        return False
    verb, noun = verb_of(operation.name), _singular_of(resource_of(operation.name))
    of_it = _singular_of(resource) == noun or resource in {f"{noun}_{side}" for side in _SIDES}
    alive = isinstance(operation.details.get("lifecycle"), Mapping)
    if of_it:
        return alive or SYNONYMS.get(verb, verb) in _GOING
    return alive and returned(operation) == returned(get) != ""


def _singular_of(words: str) -> str:
    first, cut, last = words.rpartition("_")
    return f"{first}{cut}{singular(last)}"


def returned(operation: SeenOperation) -> str:
    """The type that an operation gives, if it has a name of its own; else nothing."""
    told = operation.details.get("returns")
    name = str(told.get("name") or "") if isinstance(told, Mapping) else ""
    return name if name[:1].isupper() else ""
