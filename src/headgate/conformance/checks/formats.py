"""Transport and format: every answer of a run is looked at once more, when all other checks are done."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import orjson

from headgate.conformance.hindsight import in_hindsight, of_envelopes
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_KNOWN: Final = frozenset(
    {
        *("success", "data", "error", "warnings", "confirmation", "results", "summary", "halted_at"),
        *("pending_operations", "deprecated", "deprecationMessage", "deprecatedSince", "removalVersion"),
    }
)
"""What the schemas know at the top of an envelope."""
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]*")

_LARGE: Final = 65_536
_DEEP: Final = 30


def _is_extreme(arguments: object) -> bool:
    """Whether a request is so large, deep or odd that what carries it may refuse it before the server sees it."""
    try:
        raw = orjson.dumps(arguments)
    except TypeError:
        return True
    return len(raw) > _LARGE or raw.count(b"{") + raw.count(b"[") > _DEEP


@check(
    "transport.opens",
    "The server starts, greets, and lists a tool of MCP-AQL.",
    section="specification 3.3",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Connects, and looks for a tool 'mcp_aql' or tools such as 'mcp_aql_read', with any prefix.",
    proves=("spec-3.3-one-endpoint-mode-supported", "spec-10.1-one-endpoint-mode-supported"),
)
async def opens(probe: Probe) -> AsyncIterator[Finding]:
    """It does, or there would be no probe."""
    yield holds(probe.survey.introspection_tool)


@in_hindsight(
    "transport.answers-everything",
    "Every request is answered in time, and the connection lasts.",
    section="operations 5.4",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every request of the run.",
    proves=("ops-5.4-validation-failures-are-answers",),
)
def answers_everything(exchange: Exchange, _probe: Probe) -> str | None:
    """Nothing stays without an answer."""
    return exchange.problem if exchange.kind in ("silent", "lost") else None


@check(
    "transport.clean-output",
    "A server over stdio writes messages to its standard output, and nothing else.",
    section="MCP, stdio transport",
    demand=Demand.SHOULD,
    area=Area.FORMAT,
    level=1,
    how="Looks at every line that the process of the server wrote during the run.",
    proves=(),
)
async def clean_output(probe: Probe) -> AsyncIterator[Finding]:
    """Logs go elsewhere."""
    if probe.wire.noise:
        words = f"it wrote '{probe.wire.noise}' to its standard output, which is for messages of MCP alone"
        yield broken("server", f"{words}; logs belong on standard error")
    elif probe.wire.is_process:
        yield holds("server")


@in_hindsight(
    "format.errors-are-answers",
    "What is wrong with a request is said in an envelope, not as an error of JSON-RPC.",
    section="operations 5.4",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every request of the run that is an object of ordinary size.",
    proves=("ops-5.4-validation-failures-are-answers", "spec-10.1-standard-formats-used"),
)
def errors_are_answers(exchange: Exchange, _probe: Probe) -> str | None:
    """No exception in place of an answer."""
    if exchange.kind == "answered":
        return None
    if exchange.kind != "refused" or not isinstance(exchange.arguments, Mapping) or _is_extreme(exchange.arguments):
        return ""
    return f"answered with a {exchange.problem}; an envelope with 'success': false is expected"


@in_hindsight(
    "format.json-object",
    "Every answer is one JSON object in the text of the tool's result.",
    section="specification 5.1",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every answer of the run; structured content in place of text is taken too.",
    proves=("spec-5.1-discriminated-response-envelope", "spec-10.1-standard-formats-used"),
)
def json_object(exchange: Exchange, _probe: Probe) -> str | None:
    """There is something to read."""
    if exchange.answer is None:
        return ""
    return None if exchange.envelope is not None else "the answer holds no JSON object"


@in_hindsight(
    "format.success-flag",
    "Every answer says with 'success': true or false what it is.",
    section="operations 3.1",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every envelope of the run.",
    proves=(
        "spec-5.1-discriminated-response-envelope",
        "ops-3.1-discriminated-response-envelope",
        "intro-3.1-discriminated-response-envelope",
        "intro-8.1-discriminated-response-envelope",
    ),
)
@of_envelopes
def success_flag(envelope: Mapping[str, Any]) -> str | None:
    """The discriminator is there, and a boolean."""
    if "success" not in envelope:
        return "'success' is missing; true or false is expected"
    flag = envelope["success"]
    return None if isinstance(flag, bool) else f"'success' is {_shown(flag)}; true or false is expected"


@in_hindsight(
    "format.success-has-data",
    "A success holds its payload in 'data'.",
    section="operations 3.2",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every success of the run; null is a payload.",
    proves=("ops-3.2-success-has-true-and-data",),
)
@of_envelopes
def success_has_data(envelope: Mapping[str, Any]) -> str | None:
    """A payload is where it belongs."""
    if envelope.get("success") is not True:
        return ""
    return None if "data" in envelope else "a success without 'data'; null is written where there is nothing to say"


@in_hindsight(
    "format.success-without-error",
    "A success holds no 'error'.",
    section="operations 3.1",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every success of the run.",
    proves=("ops-3.1-success-has-no-error",),
)
@of_envelopes
def success_without_error(envelope: Mapping[str, Any]) -> str | None:
    """A success is nothing but that."""
    if envelope.get("success") is not True:
        return ""
    return "a success holds an 'error' too" if "error" in envelope else None


@in_hindsight(
    "format.failure-has-error",
    "A failure holds an 'error' that is an object.",
    section="operations 3.3",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every failure of the run; a bare text is not enough.",
    proves=("ops-3.3-failure-has-false-and-error", "ops-8.2-errors-are-structured-objects"),
)
@of_envelopes
def failure_has_error(envelope: Mapping[str, Any]) -> str | None:
    """What went wrong can be read by a program."""
    if envelope.get("success") is not False:
        return ""
    error = envelope.get("error")
    if isinstance(error, Mapping):
        return None
    seen = "is missing" if error is None else f"is {_shown(error)}"
    return f"'error' of a failure {seen}; an object with 'code' and 'message' is expected"


@in_hindsight(
    "format.failure-without-data",
    "A failure holds no 'data'.",
    section="operations 3.1",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every failure of the run.",
    proves=("ops-3.1-failure-has-no-data",),
)
@of_envelopes
def failure_without_data(envelope: Mapping[str, Any]) -> str | None:
    """A failure is nothing but that."""
    if envelope.get("success") is not False:
        return ""
    return "a failure holds 'data' too" if "data" in envelope else None


@in_hindsight(
    "format.error-code",
    "Every error has a code in capital letters that programs can tell it by.",
    section="operations 8.2",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every error object of the run.",
    proves=("ops-8.2-error-has-registry-code",),
)
@of_envelopes
def error_code(envelope: Mapping[str, Any]) -> str | None:
    """Its form; which code it is, other checks look at."""
    error = envelope.get("error")
    if not isinstance(error, Mapping):
        return ""
    code = error.get("code")
    if isinstance(code, str) and _CODE.fullmatch(code):
        return None
    return f"the code of an error is {_shown(code)}; one such as VALIDATION_MISSING_PARAM is expected"


@in_hindsight(
    "format.error-message",
    "Every error has a message that people can read.",
    section="operations 8.2",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at every error object of the run.",
    proves=("ops-8.2-error-has-readable-message",),
)
@of_envelopes
def error_message(envelope: Mapping[str, Any]) -> str | None:
    """There is one, and it is not empty."""
    error = envelope.get("error")
    if not isinstance(error, Mapping):
        return ""
    message = error.get("message")
    if isinstance(message, str) and message.strip():
        return None
    return f"the message of an error is {_shown(message)}; a text is expected"


@in_hindsight(
    "format.metadata-underscored",
    "Whatever else stands in an envelope begins with an underscore.",
    section="operations 3.4",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Looks at the members of every envelope of the run that the schemas do not know.",
    proves=("ops-3.4-metadata-fields-underscored", "spec-10.3-extensions-keep-core-behaviour"),
)
@of_envelopes
def metadata_underscored(envelope: Mapping[str, Any]) -> str | None:
    """Metadata is not taken for payload."""
    strange = [name for name in envelope if name not in _KNOWN and not name.startswith("_")]
    return f"'{strange[0]}' is no member of an envelope; metadata is named like '_{strange[0]}'" if strange else None


@in_hindsight(
    "format.warnings",
    "Warnings are a list of objects with a code and a message, beside a success.",
    section="operation-result schema",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=2,
    how="Looks at the warnings of every envelope of the run that has some.",
)
@of_envelopes
def warnings(envelope: Mapping[str, Any]) -> str | None:
    """What is told beside an answer can be read by a program."""
    if "warnings" not in envelope:
        return ""
    told = envelope["warnings"]
    if envelope.get("success") is False:
        return "a failure holds 'warnings'; they go with a success"
    if not isinstance(told, list) or not all(_is_warning(entry) for entry in told):
        return "'warnings' is no list of objects with 'code' and 'message'"
    return None


def _is_warning(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    code, message = entry.get("code"), entry.get("message")
    is_told = isinstance(code, str) and _CODE.fullmatch(code) is not None and isinstance(message, str)
    return is_told and entry.get("severity") in (None, "low", "medium", "high")


def _shown(value: object) -> str:
    """A value in a sentence."""
    return "nothing" if value is None else f"'{str(value)[:80]}'"
