"""Whatever a server says, there is a valid result; and more that speaks of change never makes it less risky."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.sources.classification import Classified, Facts, Hints, classified
from headgate.sources.classifying.values import RISK
from headgate.sources.classifying.verbs import VERBS

FLAGS = st.none() | st.booleans()
HINTS = st.builds(Hints, read_only=FLAGS, destructive=FLAGS, idempotent=FLAGS, open_world=FLAGS)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
KEYWORDS = st.sampled_from(["properties", "items", "allOf", "anyOf", "$ref", "enum", "type", "description", "query"])
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    JSON, lambda inner: st.dictionaries(KEYWORDS, inner | st.lists(inner, max_size=3), max_size=4), max_leaves=12
)
WORDS = st.sampled_from(sorted([*VERBS, "file", "user", "and", "status", "git", "browser"]))
NAMES = st.lists(WORDS, min_size=1, max_size=4).map("_".join) | st.text(max_size=40)
FACTS = st.builds(
    Facts,
    name=NAMES,
    title=st.text(max_size=20),
    description=st.lists(WORDS | st.sampled_from([". ", "it", "also", "never"]), max_size=12).map(" ".join) | st.text(),
    schema=SCHEMAS.filter(lambda one: isinstance(one, dict)),
    hints=HINTS,
)
WRITES = st.sampled_from(["deletes", "removes", "overwrites", "executes", "sends", "creates", "updates", "writes"])
CODE = st.sampled_from(["command", "sql", "shell", "edits", "overwrite", "dry_run", "output_path"])


def is_valid(told: Classified) -> bool:
    """Whether a result has what everybody relies on."""
    sure = [told.category.confidence, told.danger.confidence]
    texts = [*told.category.evidence, *told.danger.evidence, *told.reasons]
    return (
        told.kind in Category
        and told.level in DangerLevel
        and all(0 <= one <= 0.97 for one in sure)
        and all(len(one) < 160 and one.isprintable() for one in texts)
        and not any(re.search(r"at\s+\S", one) for one in texts)
        and told.needs_review is bool(told.reasons)
    )


@given(FACTS)
def test_anything_has_a_valid_result(facts: Facts) -> None:
    told = classified(facts)
    assert is_valid(told)
    assert classified(facts) == told


@given(FACTS, WRITES)
def test_a_sentence_about_change_never_makes_it_less_risky(facts: Facts, verb: str) -> None:
    before = classified(facts)
    after = classified(replace(facts, description=f"{facts.description}. It {verb} things."))
    assert after.kind is not Category.READ
    assert after.level.rank >= before.level.rank


@given(FACTS, CODE)
def test_a_parameter_that_changes_something_never_makes_it_less_risky(facts: Facts, name: str) -> None:
    before = classified(facts)
    plain = facts.schema.get("properties")
    properties = {**(plain if isinstance(plain, dict) else {}), name: {"type": "string"}}
    after = classified(replace(facts, schema={**facts.schema, "properties": properties}))
    assert after.kind is not Category.READ
    assert after.level.rank >= before.level.rank


@given(FACTS)
def test_an_annotation_that_it_destroys_never_makes_it_less_risky(facts: Facts) -> None:
    before = classified(facts)
    after = classified(replace(facts, hints=replace(facts.hints, read_only=False, destructive=True)))
    assert after.kind is not Category.READ
    assert after.level.rank >= max(before.level.rank, DangerLevel.DESTRUCTIVE.rank)


@given(FACTS)
def test_a_name_that_deletes_is_never_taken_for_less(facts: Facts) -> None:
    told = classified(replace(facts, name=f"delete_{facts.name}"))
    assert RISK[told.kind] >= RISK[Category.DELETE]
    assert told.level.is_grave


@pytest.mark.parametrize(
    "text",
    [
        "delete " * 150_000,
        "." * 1_000_000,
        "no " * 350_000,
        "x" * 1_000_000,
        "classif" * 150_000,
        "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 300_000,
        "\n" * 1_000_000,
    ],
    ids=["verbs", "dots", "negations", "one-word", "instructions", "growing", "lines"],
)
def test_a_megabyte_of_description_is_looked_at_by_a_person(text: str) -> None:
    told = classified(Facts(name="get_things", title=text, description=text))
    assert is_valid(told)
    assert "its description is too long to be read" in told.reasons


def test_a_schema_that_is_too_large_is_no_read() -> None:
    wide = {"properties": {f"p{number}": {"type": "string"} for number in range(20_000)}}
    deep: dict[str, Any] = {}
    for _ in range(2_000):
        deep = {"properties": {"inner": deep}}
    many: dict[str, Any] = {"anyOf": [{"properties": {f"p{number}": {}}} for number in range(20_000)]}
    for schema in (wide, deep, many):
        told = classified(Facts(name="get_things", schema=schema))
        assert told.kind is not Category.READ
        assert "its schema is too large to be read" in told.reasons


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"$ref": "#/$defs/Node", "$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}, "sql": {}}}}}
    assert classified(Facts(name="get_things", schema=schema)).kind is Category.EXECUTE
    for reference in ("#/$defs/Nobody", "#/$defs/Node/properties/sql/x", "https://example.com/x", "#", 3):
        assert classified(Facts(name="get_things", schema={"$ref": reference})).kind is Category.READ


def test_a_parameter_behind_a_reference_counts() -> None:
    schema = {"allOf": [{"$ref": "#/$defs/A~1B"}], "$defs": {"A/B": {"properties": {"shellCommand": {}}}}}
    told = classified(Facts(name="get_things", schema=schema))
    assert (told.kind, told.level) == (Category.EXECUTE, DangerLevel.DANGEROUS)
