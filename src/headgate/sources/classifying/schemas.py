"""What the parameters of a tool say of it: code that is to be run, content that is to be kept, or only filters."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.adapter.parameters import Schema
from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.sources.classifying.names import words_of
from headgate.sources.classifying.values import RISK, Doubt, Evidence, Facts, Risk, Witness
from headgate.sources.classifying.verbs import STRONG, VERBS, Strength, Verb

__all__ = ["evidence_of_schema"]

_MOST: Final = 5_000
"""Properties that are looked at; a schema with more is too large to be told."""

_DEEPEST: Final = 16
_LONGEST: Final = 2_000
"""Characters of a description that are read to tell what a parameter is for."""


_CODE: Final = frozenset({"command", "cmd", "commands", "shell", "shell_command", "command_line", "bash", "exec"})
_CODE_IF_RUN: Final = frozenset({"code", "script", "function", "snippet", "program", "source", "eval"})
_CODE_IF_SAID: Final = frozenset({"expression", "formula", "template"})
_CODE_OF_PAGES: Final = frozenset({"javascript", "js"})
_SQL: Final = frozenset({"sql", "sql_query", "cypher", "statement", "statements"})
_SQL_IF_SAID: Final = frozenset({"query", "queries", "q", "pipeline", "mutation"})
_PERHAPS_CODE: Final = _CODE | _CODE_IF_RUN | _CODE_IF_SAID | _CODE_OF_PAGES | _SQL | _SQL_IF_SAID

_RUNNING: Final = re.compile(
    r"\b(?:execut\w*|evaluat\w*|eval|run|runs|running|interpret\w*|inject\w*)\b", re.IGNORECASE
)
_IN_PAGE: Final = re.compile(r"\b(?:browser|page|dom|tab|webpage|puppeteer|playwright|devtools|web)\b", re.IGNORECASE)
_IN_DATABASE: Final = re.compile(
    r"\bsql\b|\bcypher\b|\bmutation\b|\baggregation (?:pipeline|stages?)\b|\bSELECT ", re.IGNORECASE
)
_LANGUAGE: Final = re.compile(r"\b(?:java|type)script\b|\bjs\b|\bpython\b|\bcode\b|\bshell\b", re.IGNORECASE)
_SAVING: Final = re.compile(r"\b(?:sav\w+|writ\w+|stor\w+|download\w*|output)\b", re.IGNORECASE)

_WRITING: Final[Mapping[str, tuple[Category, float]]] = {
    **dict.fromkeys(("edits", "patch", "changes", "updates", "replacement", "replace_with"), (Category.UPDATE, 0.3)),
    **dict.fromkeys(
        ("new_str", "new_string", "new_text", "new_content", "new_name", "new_value"), (Category.UPDATE, 0.3)
    ),
    **dict.fromkeys(("overwrite", "upsert", "cascade", "force", "append"), (Category.UPDATE, 0.25)),
    **dict.fromkeys(("output_path", "output_file", "save_path", "save_to", "outfile"), (Category.CREATE, 0.3)),
    **dict.fromkeys(("output_dir", "output_directory", "download_path", "save_dir"), (Category.CREATE, 0.3)),
    **dict.fromkeys(("file_content", "contents_to_write", "observations"), (Category.CREATE, 0.3)),
    **dict.fromkeys(("dry_run", "confirm", "confirmed"), (Category.EXECUTE, 0.25)),
}
"""Parameters that hardly make sense where nothing changes."""

_CONTENT: Final = frozenset({"content", "contents", "data", "body", "html", "markdown"})
_PLACES: Final = frozenset({"path", "file", "file_path", "filename", "file_name", "filepath", "key", "destination"})
_DESTINATIONS: Final = frozenset({"filename", "file_path", "path", "filepath", "file", "dest", "destination"})
_CHOOSING: Final = frozenset({"action", "command", "operation", "method", "mode", "op", "verb", "subcommand"})
_FILTERS: Final = frozenset(
    {
        *("query", "q", "search", "filter", "filters", "limit", "offset", "page", "per_page", "page_size", "cursor"),
        *("after", "before", "first", "last", "sort", "sort_by", "order", "order_by", "direction", "fields", "since"),
        *("until", "start_cursor", "max_results", "count", "top_k", "language", "lang"),
    }
)
_DOING: Final = STRONG | {
    *("clear", "mark", "create", "update", "overwrite", "replace", "write", "move", "rename", "send", "execute"),
    *("submit", "insert", "upload"),
}
"""What a flag begins with that has something done beside: ``delete_after``, ``mark_as_read``."""

_LOSING: Final = frozenset({"overwrite", "force", "cascade", "recursive"})


@dataclass(frozen=True, slots=True)
class _Property:
    """One parameter, wherever in the schema it stands."""

    name: str
    schema: Mapping[str, Any]
    is_top: bool

    @property
    def says(self) -> str:
        said = self.schema.get("description")
        return said[:_LONGEST] if isinstance(said, str) else ""

    @property
    def choices(self) -> Sequence[object]:
        given = self.schema.get("enum")
        return given[:_MOST] if isinstance(given, list) else ()

    @property
    def is_flag(self) -> bool:
        return self.schema.get("type") == "boolean"

    @property
    def takes_text(self) -> bool:
        """Whether any text can be given, or a list of some."""
        kind = self.schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        return (
            not self.choices
            and "const" not in self.schema
            and not {"boolean", "integer", "number"} & {*map(str, kinds)}
        )


@dataclass(frozen=True, slots=True)
class _Around:
    """What the tool itself says of where its parameters go."""

    runs: bool
    is_page: bool

    @classmethod
    def of(cls, facts: Facts) -> "_Around":
        said = f"{' '.join(words_of(facts.name))} {facts.description[:_LONGEST]}"
        return cls(bool(_RUNNING.search(said)), bool(_IN_PAGE.search(said)))


def evidence_of_schema(facts: Facts) -> Iterator[Evidence | Risk | Doubt]:
    """What the parameters speak for. Those inside of others count as well."""
    walk = _Walk(facts.schema)
    properties = walk.properties()
    around = _Around.of(facts)
    if walk.was_cut:
        yield Doubt("its schema is too large to be read")
        yield Evidence(Witness.SCHEMA, None, 0.3, "it is too large to be read")
    for one in properties:
        yield from _of_code(one, around)
        yield from _of_writing(one)
        yield from _of_choices(one)
    yield from _of_content(properties)
    top = {one.name for one in properties if one.is_top}
    if top & {"query", "q", "search"} and top <= _FILTERS:
        yield Evidence(Witness.SCHEMA, Category.READ, 0.35, "it takes a query and filters alone")


def _of_code(one: _Property, around: _Around) -> Iterator[Evidence | Risk]:
    level = _level_of_code(one, around) if one.name in _PERHAPS_CODE and one.takes_text else None
    if level is not None:
        words = f"the parameter '{one.name}' takes code to be run"
        yield Evidence(Witness.SCHEMA, Category.EXECUTE, 0.6, words)
        yield Risk(Witness.SCHEMA, level, 0.8, words)


def _level_of_code(one: _Property, around: _Around) -> DangerLevel | None:
    """Code on a host can do anything, code in a page or a database what that lets it do."""
    in_page = around.is_page or bool(_IN_PAGE.search(one.says))
    in_database = bool(_IN_DATABASE.search(one.says))
    if one.name in _SQL or (one.name in _SQL_IF_SAID and in_database):
        return DangerLevel.DESTRUCTIVE
    if one.name in _CODE:
        return DangerLevel.DANGEROUS
    is_run = one.name in _CODE_IF_RUN and (around.runs or _RUNNING.search(one.says))
    is_code = one.name in _CODE_OF_PAGES or is_run or (one.name in _CODE_IF_SAID and _LANGUAGE.search(one.says))
    contained = DangerLevel.DESTRUCTIVE if in_page or in_database else DangerLevel.DANGEROUS
    return contained if is_code else None


def _of_writing(one: _Property) -> Iterator[Evidence | Risk]:
    words = f"the parameter '{one.name}'"
    if one.name in _WRITING:
        category, weight = _WRITING[one.name]
        yield Evidence(Witness.SCHEMA, category, weight, words)
    elif one.name in _DESTINATIONS and _SAVING.search(one.says):
        yield Evidence(Witness.SCHEMA, None, 0.3, f"{words} says where something is kept")
    elif one.is_flag and one.name.partition("_")[0] in _DOING:
        yield Evidence(Witness.SCHEMA, None, 0.25, f"a parameter '{one.name.partition('_')[0]}…' may be set")
    if one.name in _LOSING:
        yield Risk(Witness.SCHEMA, DangerLevel.DESTRUCTIVE, 0.5, words)


def _of_choices(one: _Property) -> Iterator[Evidence | Risk]:
    """What can be chosen of a tool that does several things: it is as risky as the riskiest of them."""
    if one.name not in _CHOOSING:
        return
    found = [verb for choice in one.choices if (verb := _chosen(choice))]
    changing = [verb for verb in found if verb.category is not Category.READ]
    if changing:
        worst = max(changing, key=lambda verb: RISK[verb.category])
        words = f"the parameter '{one.name}' may be '{worst.word}'"
        yield Evidence(Witness.SCHEMA, worst.category, 0.6, words)
        yield from (Risk(Witness.SCHEMA, verb.level, 0.6, words) for verb in changing if verb.level.rank)


def _chosen(choice: object) -> Verb | None:
    words = words_of(choice) if isinstance(choice, str) else []
    verb = VERBS.get(words[0]) if words else None
    return verb if verb and (len(words) == 1 or verb.strength is Strength.FIRM) else None


def _of_content(properties: Sequence[_Property]) -> Iterator[Evidence]:
    top = {one.name for one in properties if one.is_top}
    content, place = sorted(top & _CONTENT), sorted(top & _PLACES)
    if content and place:
        words = f"the parameters '{place[0]}' and '{content[0]}' say where something is kept"
        yield Evidence(Witness.SCHEMA, Category.UPDATE, 0.4, words)


@dataclass(slots=True)
class _Walk:
    """Goes through a schema of any form, however odd, and gives up where it is too large."""

    root: Schema
    was_cut: bool = False
    _seen: set[int] = field(default_factory=set)
    _found: list[_Property] = field(default_factory=list)

    def properties(self) -> list[_Property]:
        """Every property with its name in snake_case."""
        waiting: list[tuple[object, int]] = [(self.root, 0)]
        while waiting and not self.was_cut:
            schema, depth = waiting.pop()
            if isinstance(schema, Mapping) and id(schema) not in self._seen:
                self._seen.add(id(schema))
                waiting += self._below(schema, depth)
                self.was_cut = len(self._seen) > _MOST or len(self._found) > _MOST or depth > _DEEPEST
        return self._found[:_MOST]

    def _below(self, schema: Mapping[str, Any], depth: int) -> Iterator[tuple[object, int]]:
        """What a schema holds; alternatives and references stand on its own level."""
        for name, one in _entries(schema.get("properties")):
            self._found.append(_Property("_".join(words_of(name)), one, is_top=depth == 0))
            yield one, depth + 1
        for key in ("allOf", "anyOf", "oneOf"):
            parts = schema.get(key)
            yield from ((one, depth) for one in (parts[: _MOST + 1] if isinstance(parts, list) else ()))
        yield schema.get("items"), depth + 1
        yield schema.get("additionalProperties"), depth + 1
        yield self._target(schema.get("$ref")), depth

    def _target(self, reference: object) -> object:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found: object = self.root
        for part in reference[1:].split("/")[1 : _DEEPEST * 2]:
            found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
        return found


def _entries(properties: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(properties, Mapping):
        for count, (name, one) in enumerate(properties.items()):
            if count > _MOST:
                return
            yield str(name), one if isinstance(one, Mapping) else {}
