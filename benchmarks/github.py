"""An adapter of 89 operations, with names, parameters and words such as a server for GitHub has.

``github.txt`` has one row an operation: category, name, parameters, description. A parameter is a text that is
required, unless marked: ``#`` an integer, ``!`` a boolean, ``*`` a list of texts, ``?`` optional. What stands after
``/`` are the fields that an update changes.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from headgate import Adapter, Category, Operation, Parameter

__all__ = ["ROWS", "adapter", "discrete_tools", "github"]

_TABLE: Final = Path(__file__).with_suffix(".txt")

_WORDS: Final = {
    "owner": "The account that owns the repository",
    "repo": "The name of the repository, without its owner",
    "query": "What to search for, with GitHub's search syntax",
    "page": "Which page of the results, from 1",
    "per_page": "How many results on a page, 100 at most",
    "sort": "By which field the results are sorted",
    "order": "Ascending or descending",
    "issue_number": "The number of the issue",
    "pull_number": "The number of the pull request",
    "branch": "The name of the branch",
    "sha": "The SHA of a commit or blob",
    "body": "The text, in Markdown",
    "title": "The title",
    "state": "Only those in this state, or the state to set",
    "run_id": "The number of the workflow run",
}
_TYPES: Final[dict[str, dict[str, Any]]] = {
    "#": {"type": "integer"},
    "!": {"type": "boolean"},
    "*": {"type": "array", "items": {"type": "string"}},
}


class _Row(NamedTuple):
    category: Category
    name: str
    identifiers: tuple[Parameter, ...]
    fields: tuple[Parameter, ...]
    description: str


def _row(line: str) -> _Row:
    category, name, parameters, description = (part.strip() for part in line.split("|"))
    identifiers, _, fields = parameters.partition("/")
    return _Row(Category(category.upper()), name, _parameters(identifiers), _parameters(fields), description)


def _parameters(text: str) -> tuple[Parameter, ...]:
    return tuple(_parameter(word) for word in text.split())


def _parameter(word: str) -> Parameter:
    marked = word.removesuffix("?")
    name = marked.rstrip("#!*")
    said = _WORDS.get(name, f"The {name.replace('_', ' ')}")
    schema = {**_TYPES.get(marked[len(name) :], {"type": "string"}), "description": said}
    return Parameter(name, schema, required=not word.endswith("?"))


ROWS: Final = tuple(_row(line) for line in _TABLE.read_text().splitlines())


def github() -> Adapter:
    """All of it as one adapter."""
    adapter = Adapter("github", "Repositories, issues, pull requests and workflows")
    for row in ROWS:
        changes = (Parameter("input", _object(row.fields)),) if row.fields else ()
        operation = Operation(row.name, row.category, _nothing, row.identifiers + changes, row.description)
        adapter.add(operation)
    return adapter


def discrete_tools() -> list[dict[str, object]]:
    """The same as one MCP tool an operation, each with its JSON Schema and nothing more."""
    return [
        {"name": row.name, "description": row.description, "inputSchema": _object(row.identifiers + row.fields)}
        for row in ROWS
    ]


def _object(parameters: Iterable[Parameter]) -> dict[str, Any]:
    known = tuple(parameters)
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in known},
        "required": [parameter.name for parameter in known if parameter.required],
    }


async def _nothing(**_params: object) -> None:
    pass


adapter: Final = github()
"""The same as a source for commands: ``headgate tokens benchmarks.github:adapter``."""
