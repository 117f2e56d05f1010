"""What a model understood is judged by patterns and by meaning."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from headgate.conformance.evidence.bundle import BundleError
from headgate.conformance.evidence.transcripts import judge_case, read_transcripts, transcript_results
from headgate.conformance.values import Area, Demand, Outcome, Verdict
from tests.conformance.evidence.bundles import fine
from tests.support import ROOT

CASE = fine()["semantic_tests"][0]


def case(**changed: Any) -> dict[str, Any]:
    return {**CASE, **changed}


def meaning(**changed: Any) -> dict[str, Any]:
    return case(semantic={**CASE["semantic"], **changed})


@pytest.mark.parametrize(
    ("given", "verdict", "words"),
    [
        pytest.param(CASE, "PASS", "right", id="patterns and meaning"),
        pytest.param(case(structural={}), "PASS", "right", id="no patterns"),
        pytest.param(case(semantic={}), "PASS", "right", id="no meaning is asked for"),
        pytest.param({"name": "bare"}, "PASS", "right", id="nothing is asked for"),
        pytest.param(
            case(structural={"required_patterns": ["show_lamps"]}), "WARN", "'show_lamps' does not occur", id="patterns"
        ),
        pytest.param(meaning(phrase_groups=[["cellar", "attic"]]), "FAIL", "none of 'cellar', 'attic'", id="phrases"),
        pytest.param(meaning(phrase_groups=[["cellar", "HALL."]]), "PASS", "right", id="one of a group is enough"),
        pytest.param(meaning(phrase_groups=[[]]), "FAIL", "an empty group", id="an empty group is never met"),
        pytest.param(meaning(expected_operations=["introspect"]), "FAIL", "'introspect' was not called", id="calls"),
        pytest.param(case(tool_calls=[]), "FAIL", "'list_lamps' was not called", id="no calls"),
        pytest.param(meaning(expected_parameters=["room"]), "PASS", "right", id="a value in a call counts"),
        pytest.param(meaning(expected_parameters=["choosing"]), "PASS", "right", id="as does what was said"),
        pytest.param(meaning(expected_parameters=["sort"]), "FAIL", "neither given nor spoken of", id="parameters"),
        pytest.param(
            case(response_text=None, semantic={}), "WARN", "widen the patterns", id="an answer that is not there"
        ),
        pytest.param(
            {**meaning(phrase_groups=[["cellar"]]), "structural": {"required_patterns": ["zzz"]}},
            "FAIL",
            "'zzz' does not occur",
            id="neither",
        ),
    ],
)
def test_a_conversation_is_judged_by_two_tiers(given: dict[str, Any], verdict: str, words: str) -> None:
    judged = judge_case(given)
    assert judged.verdict.value == verdict
    assert words in judged.words


@pytest.mark.parametrize("said", ["Choosing  FIELDS", "choosing, fields!", "…choosing—fields…", "choosing\nfields"])
def test_punctuation_case_and_space_do_not_matter(said: str) -> None:
    wanted = {"phrase_groups": [["choosing fields"]]}
    assert judge_case({"name": "spoken", "response_text": said, "semantic": wanted}).verdict is Verdict.PASS


def test_underscores_do_matter() -> None:
    wanted = {"phrase_groups": [["list lamps"]]}
    assert judge_case({"name": "x", "response_text": "list_lamps", "semantic": wanted}).verdict is Verdict.FAIL


def written(tmp_path: Path, content: object) -> Path:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize("content", [[CASE], {"semantic_tests": [CASE]}, fine()], ids=["list", "object", "bundle"])
def test_conversations_are_read_from_a_list_or_a_bundle(tmp_path: Path, content: object) -> None:
    assert read_transcripts(written(tmp_path, content)) == (CASE,)


def test_the_conversation_that_is_documented_is_understood(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "evidence.md").read_text(), re.DOTALL)
    assert transcript_results(written(tmp_path, json.loads(shown)))[0].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "a list of conversations is expected"),
        ({"conversations": [CASE]}, "alone or as 'semantic_tests'"),
        ("text", "a list of conversations is expected"),
        ([CASE, 3], "conversation 2 must be an object"),
        ([{"name": "x"}], "conversation 1: 'response_text' must be a text"),
        ([case(name=None)], "conversation 1: 'name' must be a text"),
        ([case(tool_calls={})], "'tool_calls' must be a list of objects with 'operation' and 'params'"),
        ([case(semantic=[])], "'semantic' must be an object"),
        ([meaning(expected_operations="search")], "'semantic.expected_operations' must be a list of texts"),
        ([meaning(phrase_groups=["hall"])], "'semantic.phrase_groups' must be a list of lists of texts"),
        ([case(structural={"required_patterns": {}})], "'structural.required_patterns' must be a list of texts"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(tmp_path: Path, content: object, words: str) -> None:
    with pytest.raises(BundleError) as wrong:
        read_transcripts(written(tmp_path, content))
    assert words in str(wrong.value)


def test_conversations_become_the_result_of_one_check(tmp_path: Path) -> None:
    wrong = {**meaning(expected_operations=["introspect"]), "name": "wrong"}
    (result,) = transcript_results(written(tmp_path, [CASE, wrong]))
    assert (result.check.id, result.check.demand, result.check.area) == (
        "semantic.transcript",
        Demand.SHOULD,
        Area.SEMANTIC,
    )
    assert result.verdict is Verdict.WARN
    assert [(one.outcome, one.subject) for one in result.findings] == [
        (Outcome.HOLDS, "finds the lamps"),
        (Outcome.BROKEN, "wrong"),
    ]
    assert result.broken[0].words == "'introspect' was not called"


def test_it_passes_if_all_are_understood_and_tier_1_says_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, [CASE])
    assert transcript_results(file, "2")[0].verdict is Verdict.PASS
    assert transcript_results(file, "1")[0].verdict is Verdict.SKIP
    assert "patterns alone" in transcript_results(file, "1")[0].reason


@pytest.mark.anyio
async def test_the_check_asks_no_server(tmp_path: Path) -> None:
    (result,) = transcript_results(written(tmp_path, [CASE]))
    found = [finding async for finding in result.check.run(None)]  # type: ignore[arg-type]
    assert [finding.outcome for finding in found] == [Outcome.UNSEEN]
