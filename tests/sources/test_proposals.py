"""Entries that wait for somebody to confirm them, beside whatever stands in a file."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.adapter.origins import Inferred, Origin, Provenance
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.sources.curation import Choice, Curation
from headgate.sources.proposals import Proposal, with_proposals


def proposal(own: str = "frobIt", name: str = "frob_it", evidence: str = "name: 'frob'") -> Proposal:
    told = Inferred("EXECUTE", 0.1, Provenance.HEURISTIC, (evidence,))
    danger = Inferred("reversible", 0.1, Provenance.HEURISTIC, (evidence,))
    return Proposal(name, Origin(own_name=own, maps_to=f"TOOL {own}", category=told, danger=danger, needs_review=True))


def test_an_entry_says_what_is_taken_and_why_and_counts_for_nothing_yet() -> None:
    text, added = with_proposals("", [proposal()], "review.toml")
    assert added == 1
    assert "[operations.frobIt]\n# name: 'frob'\ncategory = \"execute\"\n" in text
    curation = Curation.of(tomllib.loads(text), "review.toml")
    assert curation.choice("frob_it", "frobIt") is None
    entry = curation.entry("frob_it", "frobIt")
    assert entry is not None
    assert (entry.category, entry.confirmed) == (Category.EXECUTE, False)


def test_what_stands_in_a_file_stays_letter_for_letter() -> None:
    before = '# mine\n\ninclude = [ "frob*" ]   # so\n[operations.frob_it]\n  category="read"'
    assert with_proposals(before, [proposal()], "review.toml") == (before, 0)
    after, added = with_proposals(before, [proposal(), proposal("other", "other")], "review.toml")
    assert added == 1
    assert after.startswith(f"{before}\n\n[operations.other]\n")
    assert Curation.of(tomllib.loads(after), "x").choice("frob_it", "frobIt") == Choice(category=Category.READ)


def test_one_name_is_proposed_once() -> None:
    assert with_proposals("", [proposal(), proposal()], "review.toml")[1] == 1


@pytest.mark.parametrize("text", ["operations = {x = {hide = true}}", "x = [", "operations = 3"])
def test_a_file_that_takes_no_entries_is_refused(text: str) -> None:
    with pytest.raises(AdapterError, match=r"review\.toml: "):
        with_proposals(text, [proposal()], "review.toml")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_and_evidence_make_a_file_that_can_be_read(own: str, evidence: str) -> None:
    text, added = with_proposals("", [proposal(own, "frob_it", evidence)], "review.toml")
    assert added == 1
    assert list(Curation.of(tomllib.loads(text), "x").operations) == [own]
