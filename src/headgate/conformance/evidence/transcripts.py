"""What a model understood of a server, judged from a transcript: by patterns, and by meaning.

The first tier looks for texts that a right answer has. The second looks for what the answer means: of each group of
phrases one must occur, and the operations and parameters that the task needs must have been used. Who misses the
patterns and has the meaning shows that the patterns are too narrow, which is a warning; without
the meaning nothing helps.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from headgate.conformance.evidence.bundle import BundleError, read_json, require_case
from headgate.conformance.evidence.readings import compact, plain_words, text_of
from headgate.conformance.survey import entries
from headgate.conformance.values import Area, Check, CheckResult, Demand, Finding, Outcome, Verdict

__all__ = ["TRANSCRIPT", "Case", "JudgedCase", "Tier", "judge_case", "read_transcripts", "transcript_results"]

Tier: TypeAlias = Literal["1", "2", "both"]
Case: TypeAlias = Mapping[str, Any]

_WITHOUT_MEANING: Final = "tier 1 looks at patterns alone, and no verdict rests on those"


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """What became of one case."""

    name: str
    verdict: Verdict
    words: str


def judge_case(case: Case) -> JudgedCase:
    """Judge one conversation by both tiers."""
    said = plain_words(case.get("response_text"))
    patterns = _lacking(_list(case, "structural", "required_patterns"), said)
    meaning = [*_phrases(case, said), *_operations(case), *_parameters(case, said)]
    name = text_of(case.get("name", ""))
    if meaning:
        return JudgedCase(name, Verdict.FAIL, "; ".join([*meaning, *patterns]))
    if patterns:
        return JudgedCase(name, Verdict.WARN, f"{'; '.join(patterns)}; but the meaning is right: widen the patterns")
    return JudgedCase(name, Verdict.PASS, "the patterns and the meaning are right")


def _list(case: Case, part: str, key: str) -> list[Any]:
    told: Mapping[str, Any] = case.get(part) or {}
    return told.get(key) or []


def _lacking(patterns: Iterable[object], said: str) -> list[str]:
    return [f"'{text_of(one)}' does not occur" for one in patterns if plain_words(one) not in said]


def _phrases(case: Case, said: str) -> list[str]:
    groups: list[list[object]] = _list(case, "semantic", "phrase_groups")
    return [
        f"none of {_quoted(group)} occurs"
        for group in groups
        if not any(plain_words(phrase) in said for phrase in group)
    ]


def _quoted(group: list[object]) -> str:
    return ", ".join(f"'{text_of(phrase)}'" for phrase in group) or "an empty group"


def _operations(case: Case) -> list[str]:
    called = [call.get("operation") for call in entries(case.get("tool_calls"))]
    expected = _list(case, "semantic", "expected_operations")
    return [f"'{text_of(one)}' was not called" for one in expected if one not in called]


def _parameters(case: Case, said: str) -> list[str]:
    given = [plain_words(compact(call.get("params") or {})) for call in entries(case.get("tool_calls"))]
    expected = _list(case, "semantic", "expected_parameters")
    return [
        f"'{text_of(one)}' was neither given nor spoken of"
        for one in expected
        if not any(plain_words(one) in text for text in (*given, said))
    ]


def read_transcripts(path: Path) -> tuple[Case, ...]:
    """The cases in a file: a list of them, or a bundle that has some. BundleError says what is wrong."""
    content = read_json(path)
    cases = content.get("semantic_tests") if isinstance(content, Mapping) else content
    if not isinstance(cases, list) or not cases:
        raise BundleError(f"'{path}': a list of conversations is expected, alone or as 'semantic_tests'")
    for place, case in enumerate(cases):
        _require(case, f"'{path}': conversation {place + 1}")
    return tuple(cases)


def _require(case: object, where: str) -> None:
    if not isinstance(case, Mapping):
        raise BundleError(f"{where} must be an object")
    for key in ("name", "response_text"):
        if not isinstance(case.get(key), str):
            raise BundleError(f"{where}: '{key}' must be a text")
    require_case(case, where)


async def _never(_probe: object) -> AsyncIterator[Finding]:
    """No server can show it."""
    yield Finding(Outcome.UNSEEN, "transcript", "it is judged from a transcript, without a server")


TRANSCRIPT: Final = Check(
    id="semantic.transcript",
    title="A model that was given the server understands it.",
    section="companion: conformance testing 5",
    demand=Demand.SHOULD,
    area=Area.SEMANTIC,
    level=2,
    how="Looks for patterns, phrases, operations and parameters in the transcript of a conversation.",
    proves=(),
    run=_never,
)
"""The check of a transcript, which no server is asked for."""


def transcript_results(path: Path, tier: Tier = "both") -> tuple[CheckResult, ...]:
    """What a file of transcripts shows, as the result of a check."""
    cases = read_transcripts(path)
    if tier == "1":
        unseen = Finding(Outcome.UNSEEN, "transcript", _WITHOUT_MEANING)
        return (CheckResult(TRANSCRIPT, Verdict.SKIP, (unseen,), 0.0),)
    findings = tuple(_finding(judge_case(case)) for case in cases)
    fine = all(finding.outcome is Outcome.HOLDS for finding in findings)
    return (CheckResult(TRANSCRIPT, Verdict.PASS if fine else Verdict.WARN, findings, 0.0),)


def _finding(judged: JudgedCase) -> Finding:
    if judged.verdict is Verdict.PASS:
        return Finding(Outcome.HOLDS, judged.name, "")
    return Finding(Outcome.BROKEN, judged.name, judged.words)
