"""Verbs of tools' names and descriptions, and what each says of its tool. All of it is data.

A *firm* verb is hardly ever a noun, so that it tells wherever it stands: ``issue_create``. A *loose* one may be a noun
as well (``commit``, ``run``, ``log``), and counts only where no firm one stands before it. A *mild* one looks or
computes, which is no proof that nothing changes: ``validate``, ``compare``. A *faint* one does so too, but what it
makes is often kept somewhere: ``export``, ``convert``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel

__all__ = ["BEGINNINGS", "FORMS", "IDIOMS", "NOUNS", "READING_NOUNS", "STRONG", "VERBS", "Strength", "Verb"]


class Strength(StrEnum):
    """How much a verb says by itself."""

    FIRM = "firm"
    LOOSE = "loose"
    MILD = "mild"
    FAINT = "faint"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, the category that it speaks for, and how dangerous it is in every case."""

    word: str
    category: Category
    strength: Strength
    level: DangerLevel = DangerLevel.SAFE


_TABLE: Final[tuple[tuple[Category, Strength, str], ...]] = (
    (
        Category.READ,
        Strength.FIRM,
        """get list read search find show view describe retrieve lookup inspect check count fetch preview peek ls
        enumerate""",
    ),
    (
        Category.READ,
        Strength.MILD,
        """query browse explain compare analyze analyse summarize summarise validate verify calculate compute parse
        encode decode translate estimate measure detect classify echo ping suggest recommend diff grep cat head tail
        stat whoami pwd has is can exists tokenize hash multiply subtract divide sum lint observe examine identify
        locate trace recall return display provide determine explore introspect match rank predict infer""",
    ),
    (
        Category.READ,
        Strength.FAINT,
        """export convert extract print render report scan monitor audit ask think wait poll filter crawl scrape
        transcribe simulate assert expect score forecast discover""",
    ),
    (
        Category.CREATE,
        Strength.FIRM,
        """create add insert append generate upload make mkdir register provision publish subscribe duplicate compose
        initialize initialise init enqueue attach spawn prepend""",
    ),
    (
        Category.CREATE,
        Strength.LOOSE,
        """new post comment fork clone copy import download commit tag branch record note log schedule draft capture
        save store cache backup book reply mint star bookmark vote plot draw chart""",
    ),
    (
        Category.UPDATE,
        Strength.FIRM,
        """update edit set modify write overwrite replace rename move patch upsert merge assign unassign enable disable
        toggle configure alter adjust rewrite reorder resize restore revert rollback unarchive migrate apply transform
        activate deactivate mark unmark mutate increment decrement reassign relabel rearrange refactor""",
    ),
    (
        Category.UPDATE,
        Strength.LOOSE,
        """change put stage unstage archive label pin unpin link unlink lock unlock close reopen sync stash rebase
        checkout reset amend annotate complete approve reject dismiss accept decline transition promote demote grant
        share unshare tune fix resolve format sort populate customize customise highlight protect unprotect unapprove
        expire trim hide unhide freeze unfreeze align wrap""",
    ),
    (
        Category.EXECUTE,
        Strength.FIRM,
        """execute exec eval invoke send submit click navigate scroll hover install deploy launch trigger
        perform cancel abort halt terminate kill reboot restart shutdown pay purchase buy withdraw broadcast notify
        dispatch authenticate login logout impersonate unblock drag tap swipe fill bypass emulate unsubscribe""",
    ),
    (
        Category.EXECUTE,
        Strength.LOOSE,
        """run start stop resume pause push pull call request press type select choose open load evaluate test build
        compile play mute refresh retry replay process handle control interact switch go visit drive transfer charge
        refund trade order email mail message dial ring connect disconnect mount unmount scale drain cordon enter
        upgrade downgrade release wake sleep signal proxy focus blur tweet ingest index train use act do batch""",
    ),
    (
        Category.DELETE,
        Strength.FIRM,
        """delete remove destroy erase purge wipe truncate drop clear unregister revoke invalidate discard rm rmdir del
        evict expunge obliterate deprovision prune unset detach uninstall""",
    ),
    (Category.DELETE, Strength.LOOSE, "clean flush empty pop dequeue forget trash undo nuke"),
)
"""The table: a category, how firmly its words speak for it, the words."""

NOUNS: Final = frozenset(
    {
        *("log", "branch", "tag", "request", "message", "note", "record", "type", "index", "label", "chart", "book"),
        *("email", "mail", "process", "signal", "order", "batch", "comment", "link", "release", "test", "build"),
    }
)
"""Loose verbs that are nouns where they end a name: ``git_log``."""

STRONG: Final = frozenset({"delete", "remove", "destroy", "erase", "purge", "wipe", "truncate", "drop", "rm", "kill"})
"""What is told wherever it stands in a name, even behind a verb that reads."""

BEGINNINGS: Final = ("delete", "remove", "destroy", "truncate", "create", "update", "upload", "execute", "overwrite")
"""Verbs that are found in names which are written in one: ``deleteall``."""

_LEVELS: Final[Mapping[DangerLevel, str]] = {
    DangerLevel.DESTRUCTIVE: """send pay purchase buy withdraw broadcast publish overwrite replace reset restore
    revert rollback deploy kill terminate transfer charge refund trade email mail tweet dial nuke shutdown reboot
    uninstall rebase migrate bypass impersonate""",
}
"""What cannot be called back or may lose something, whatever its category says."""

READING_NOUNS: Final = frozenset(
    {
        *(
            "status",
            "info",
            "information",
            "details",
            "detail",
            "stats",
            "statistics",
            "history",
            "version",
            "versions",
        ),
        *("log", "logs", "tree", "diff", "schema", "metadata", "summary", "overview", "help", "docs", "documentation"),
        *("reference", "metrics", "health", "balance", "weather", "forecast", "snapshot", "contents", "structure"),
        *("usage", "usages", "size", "results", "examples", "lineage", "changelog", "blame", "capabilities"),
    }
)
"""What a tool that has no verb in its name is called if it shows something: ``git_status``, ``directory_tree``."""

IDIOMS: Final[Mapping[tuple[str, ...], str | None]] = {
    ("pull", "request"): None,
    ("pull", "requests"): None,
    ("merge", "request"): None,
    ("merge", "requests"): None,
    ("workflow", "run"): None,
    ("check", "run"): None,
    ("test", "run"): None,
    ("call", "graph"): None,
    ("call", "hierarchy"): None,
    ("code", "review"): None,
    ("release", "notes"): None,
    ("build", "log"): None,
    ("console", "log"): None,
    ("log", "entry"): None,
    ("log", "entries"): None,
    ("commit", "message"): None,
    ("drag", "and", "drop"): "drag",
    ("mouse", "move"): "hover",
    ("file", "upload"): "upload",
    ("check", "out"): "checkout",
    ("check", "in"): "create",
    ("get", "rid"): "delete",
    ("git", "fetch"): "pull",
    ("git", "add"): "stage",
    ("git", "show"): "show",
    ("look", "up"): "lookup",
    ("set", "up"): "configure",
    ("log", "in"): "login",
    ("log", "out"): "logout",
    ("sign", "in"): "login",
    ("sign", "out"): "logout",
    ("sign", "up"): "register",
    ("shut", "down"): "shutdown",
    ("clean", "up"): "clean",
    ("back", "up"): "backup",
    ("roll", "back"): "rollback",
    ("write", "off"): "update",
    ("turn", "on"): "enable",
    ("turn", "off"): "disable",
}
"""Words that mean something else together: the verb that they are, or none."""


def _verbs() -> Iterator[Verb]:
    levels = {word: level for level, words in _LEVELS.items() for word in words.split()}
    for category, strength, words in _TABLE:
        yield from (Verb(word, category, strength, levels.get(word, DangerLevel.SAFE)) for word in words.split())


VERBS: Final[Mapping[str, Verb]] = {verb.word: verb for verb in reversed(list(_verbs()))}
"""Every verb by its plain form; of a word that stands in two rows, the first counts."""


def _forms(word: str) -> Iterator[str]:
    """The plain form, and how a description inflects it: ``deletes``, ``deleting``."""
    yield word
    yield word[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in "aeou" else word + "s"
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield word + "es"
    yield word + "ing"
    yield word + word[-1] + "ing"
    if word.endswith("e"):
        yield word[:-1] + "ing"


FORMS: Final[Mapping[str, Verb]] = {
    **{form: verb for verb in reversed(list(VERBS.values())) for form in _forms(verb.word)},
    **VERBS,
}
"""Every verb by each form that it has in a sentence."""
