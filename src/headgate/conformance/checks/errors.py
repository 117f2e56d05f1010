"""Error Quality: what errors say, and what they must not. Every error of a run is looked at when it is over."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from headgate.conformance.hindsight import in_hindsight
from headgate.conformance.probe import Probe
from headgate.conformance.survey import SeenOperation
from headgate.conformance.values import Area, Demand, Exchange

__all__: list[str] = []

_LANGUAGE: Final = re.compile(
    r"""\b(?:Type|Value|Key|Attribute|Name|Index|Reference|Syntax|Range|ZeroDivision|Runtime|Assertion|Unicode\w+)Error\b
    | \b[A-Z]\w+Exception\b | \bNoneType\b | \bundefined\ is\ not\b | \bis\ not\ a\ function\b
    | Cannot\ read\ propert(?:y|ies)\ of | object\ is\ not\ (?:subscriptable|callable|iterable)
    | unexpected\ keyword\ argument | missing\ \d+\ required\ positional | invalid\ literal\ for | has\ no\ attribute
    | Unexpected\ token\b | \[object\ Object\] | nil\ pointer\ dereference | called\ `\w+::unwrap\(\)` | \bpanicked\b
    """,
    re.VERBOSE,
)
_TRACE: Final = re.compile(
    r"""Traceback\ \(most\ recent | \bFile\ "[^"]+",\ line\ \d+ | (?:^|\n)\s*at\ [\w.$<>\[\]\ ]+\(.*?\)
    | \bat\ [\w.$/]+\.\w+:\d+ | \.(?:py|js|mjs|ts|go|rs|java|kt|cs|rb|php):\d+ | stack\ backtrace: | goroutine\ \d+\ \[
    """,
    re.VERBOSE,
)
_INSIDE: Final = re.compile(
    r"""(?<![\w:/])/(?:usr|home|root|src|app|opt|var|etc|tmp|node_modules|site-packages|Users)/[\w./-]+
    | /(?:src|node_modules|site-packages)/ | \b[A-Z]:\\\w+ | <[\w.]+\ object\ at\ 0x | \#<\w+ | \b0x[0-9a-fA-F]{8,}\b
    | \bself\.\w+ | \b[a-z_]+(?:\.[a-z_]+)+\.[A-Z]\w+\b
    """,
    re.VERBOSE,
)
_WORDS, _PIECE, _NAMES = (
    "words of a programming language",
    "a piece of a stack trace",
    "something of the program's inside",
)
_LEAKS: Final = {_PIECE: _TRACE, _WORDS: _LANGUAGE, _NAMES: _INSIDE}
_FAMILIES: Final = (
    *("VALIDATION_", "NOT_FOUND_", "PERMISSION_", "CONFLICT_", "RATE_LIMIT_", "TOKEN_", "SCHEMA_", "INTERNAL_"),
    *("PLUGIN_", "TRANSPORT_", "PROTOCOL_", "SERIALIZATION_", "AUTH_"),
)
_ALONE: Final = frozenset({"CONFIRMATION_REQUIRED", "INTROSPECTION_ERROR"})
_SHORTEST_ECHO: Final = 3


def _own_words(exchange: Exchange) -> str:
    """The message without what the request itself brought: a path that was asked for is no leak."""
    message = exchange.message
    for text in sorted(_texts(exchange.arguments), key=len, reverse=True):
        if len(text) >= _SHORTEST_ECHO:
            message = message.replace(text, "…")
    return message


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _leaks(what: str, exchange: Exchange) -> str | None:
    """Each leak is held against a server once: a trace shows names and paths as well."""
    if not exchange.message:
        return ""
    words = _own_words(exchange)
    for kind, pattern in _LEAKS.items():
        found = pattern.search(words)
        if found:
            return f"the message of an error holds {what}: '{found.group().strip()[:80]}'" if kind == what else ""
    return None


@in_hindsight(
    "errors.no-language-words",
    "No message of an error speaks the language that the server is written in.",
    section="introspection 8.1.3",
    demand=Demand.MUST,
    area=Area.ERRORS,
    level=1,
    how="Searches every message of the run for words such as 'TypeError' or 'is not a function'.",
    proves=("intro-8.1.3-no-language-errors-in-messages",),
)
def no_language_words(exchange: Exchange, _probe: Probe) -> str | None:
    """What a runtime says stays inside."""
    return _leaks(_WORDS, exchange)


@in_hindsight(
    "errors.no-stack-traces",
    "No message of an error shows where in the program it happened.",
    section="introspection 8.1.3",
    demand=Demand.MUST,
    area=Area.ERRORS,
    level=1,
    how="Searches every message of the run for lines of traces and for files with numbers of lines.",
    proves=("intro-8.1.3-no-stack-traces-in-messages",),
)
def no_stack_traces(exchange: Exchange, _probe: Probe) -> str | None:
    """A trace belongs into a log."""
    return _leaks(_PIECE, exchange)


@in_hindsight(
    "errors.no-internal-names",
    "No message of an error shows paths, classes or objects of the program.",
    section="introspection 8.1.3",
    demand=Demand.MUST,
    area=Area.ERRORS,
    level=1,
    how="Searches every message of the run, leaving out what the request itself brought.",
    proves=("intro-8.1.3-no-internal-names-in-messages", "ops-8.4-error-messages-safe"),
)
def no_internal_names(exchange: Exchange, _probe: Probe) -> str | None:
    """What it is built of is nobody's business."""
    return _leaks(_NAMES, exchange)


@in_hindsight(
    "errors.standard-codes",
    "Errors have codes of the standard families.",
    section="operations 8.3",
    demand=Demand.MUST,
    area=Area.ERRORS,
    level=1,
    how="Compares the code of every error of the run with the families of the registry, such as VALIDATION_.",
    proves=("ops-8.3-standard-error-codes-used", "ops-8.2-error-has-registry-code"),
)
def standard_codes(exchange: Exchange, _probe: Probe) -> str | None:
    """A program can tell what kind of error it is."""
    if not exchange.code or exchange.code != exchange.code.upper():
        return ""
    if exchange.code in _ALONE or exchange.code.startswith(_FAMILIES):
        return None
    return f"'{exchange.code}' belongs to no family of codes; expected one of {', '.join(_FAMILIES[:8])}"


def _params(exchange: Exchange) -> Mapping[str, object]:
    """The parameters of a request, wherever they stand."""
    arguments = exchange.arguments if isinstance(exchange.arguments, Mapping) else {}
    inner = arguments.get("params")
    beside = {name: value for name, value in arguments.items() if name not in ("operation", "params")}
    return {**beside, **(inner if isinstance(inner, Mapping) else {})}


def _at_fault(exchange: Exchange, operation: SeenOperation) -> set[str]:
    """The parameters that a validation error may be about."""
    given = _params(exchange)
    documented = {parameter.name for parameter in operation.parameters}
    if exchange.code == "VALIDATION_MISSING_PARAM":
        return {one.name for one in operation.parameters if one.required and one.name not in given}
    if exchange.code == "VALIDATION_UNKNOWN_PARAM":
        return {name for name in given if name not in documented and not name.startswith("_")}
    if exchange.code == "VALIDATION_INVALID_TYPE":
        inner = {key for value in given.values() if isinstance(value, Mapping) for key in value}
        return {name for name in given if name in documented} | inner
    return set()


@in_hindsight(
    "errors.name-what-is-wrong",
    "A validation error names the parameter that is wrong.",
    section="operations 8.4",
    demand=Demand.SHOULD,
    area=Area.ERRORS,
    level=1,
    how="Looks whether messages about missing, unknown and wrong parameters name one of those that can be meant.",
    proves=(
        "ops-8.4-error-messages-actionable",
        "ops-8.4-error-messages-specific",
        "intro-8.2.3-error-messages-describe-fault",
        "intro-8.2.3-error-messages-actionable",
    ),
)
def name_what_is_wrong(exchange: Exchange, probe: Probe) -> str | None:
    """Whoever reads it knows what to mend."""
    operation = probe.survey.operations.get(exchange.operation)
    names = _at_fault(exchange, operation) if operation is not None and operation.details else set()
    if not names or not exchange.message:
        return ""
    if any(name in exchange.message for name in names):
        return None
    return f"{exchange.code} does not name what is wrong; '{min(names)}' is expected in its message"


@in_hindsight(
    "errors.name-operation",
    "An error about an operation names it.",
    section="introspection 8.2.3",
    demand=Demand.SHOULD,
    area=Area.ERRORS,
    level=1,
    how="Looks whether messages about unknown and misplaced operations name the operation.",
    proves=("intro-8.2.3-error-messages-name-operation",),
)
def name_operation(exchange: Exchange, _probe: Probe) -> str | None:
    """Whoever reads it knows which one is meant."""
    about = ("NOT_FOUND_OPERATION", "VALIDATION_ENDPOINT_MISMATCH")
    if exchange.code not in about or not exchange.operation.strip() or not exchange.message:
        return ""
    if exchange.operation in exchange.message:
        return None
    return f"{exchange.code} does not name the operation '{exchange.operation[:60]}'"


@in_hindsight(
    "errors.missing-param-words",
    "The error of a missing parameter says its name and what is expected.",
    section="introspection 8.2.3",
    demand=Demand.SHOULD,
    area=Area.ERRORS,
    level=1,
    how="Compares messages of VALIDATION_MISSING_PARAM with the form that is recommended.",
    proves=("intro-8.2.3-missing-param-message-format",),
)
def missing_param_words(exchange: Exchange, _probe: Probe) -> str | None:
    """The recommended form."""
    if exchange.code != "VALIDATION_MISSING_PARAM" or not exchange.message:
        return ""
    if re.match(r"Missing required parameter '[^']+'\. Expected: \S+", exchange.message):
        return None
    return f"'{exchange.message[:120]}': expected is Missing required parameter 'name'. Expected: type (description)"
