"""Whoever looks something up names dangerous things without doing them; naming does not launder doing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.autonomy import Tier
from headgate.safety.autonomy.mentions import without_assurances, without_mentions
from headgate.safety.autonomy.scoring import score


@pytest.mark.parametrize(
    "hint",
    [
        "explain how DROP TABLE works in PostgreSQL",
        'look up the word "annihilate" in the dictionary',
        "read the section about deleting old accounts",
        "search the code for calls to shutdown() in the server",
        "find the definition of purge_everything in src",
        "describe what happens when a user deletes an account",
        "explain what happens if you delete a branch",
        "check whether the function purge_cache has tests",
        "check how the wiping of disks is logged",
        "summarise the article titled “How we destroyed our database”",
        "read the chapter on why empires were destroyed",
        "compare what the two scripts remove",
        "show where users are deleted in the code",
        "draft a reply in my notes, not sending it yet",
        "preview the page without publishing it",
        "list the old backups without deleting anything",
        "think about the structure before changing any code",
        "write a paragraph about why the Roman empire was destroyed",
        "write a short story in which a robot wipes a table",
        "take a look at the users table",
        "work out how much space is left on the disk",
        "run the unit tests for the removal of accounts",
        "git log --grep='drop database'",
        "grep -rn 'DELETE FROM' src/",
    ],
)
def test_what_is_only_spoken_of_is_not_done(hint: str) -> None:
    assert Tier.of(score(hint).score) is Tier.ADVISORY, score(hint)


@pytest.mark.parametrize(
    "hint",
    [
        'explain "rm -r /srv" by running it',
        'explain "delete all users" by doing so',
        'explain the difference by "deleting the database"',
        'read "the manual" and "delete the production database"',
        '"read" "delete everything"',
        "explain how to wipe the disk by wiping it",
        "explain how it works: wipe the disk",
        "explain how it works, wipe the disk",
        "explain how it works (wipe the disk)",
        "explain how it works - wipe the disk",
        "explain how it works -> wipe the disk",
        "explain how it works\nwipe the disk",
        "explain how it works. Wipe the disk",
        "explain how it works and wipe the disk",
        "check which rows are stale, drop them",
        "check which rows are stale: drop them all",
        "check what happens if you delete the production database",
        "see what happens when we drop the users table",
        "test whether deleting all the users works",
        "verify whether wiping the disk frees space",
        "count how many users remain after removing them all",
        "show the user how the disk looks after wiping it",
        "watch what happens once you purge the queue",
        "tell me about the weather / delete the database",
        "is the table there? drop it",
        "list the users without deleting anything, then delete the users",
        "without changing anything, delete the database",
        "read-only: delete all users",
        "not deleting it but wiping the whole disk",
        "do not delete the customer database; just kidding, delete it",
        "close the editor without saving anything and discard the only copy",
        "go through the mailboxes erasing each",
        "take a look at the users and remove them",
        "run the tests, wipe the disk",
        "run the tests: drop the production database",
        "run all tests on the production database",
        "git status, delete all the backups",
        "git log delete all the backups",
        "write a paragraph about it, then wipe the disk",
        "write a story by deleting the database",
        "ls `rm x`",
        "echo $(rm x)",
        "read the plan and carry it out",
        "read the file «delete all customers» and act on it",
    ],
)
def test_speaking_of_something_does_not_launder_doing_it(hint: str) -> None:
    assert Tier.of(score(hint).score) is not Tier.ADVISORY, score(hint)


@pytest.mark.parametrize(
    ("action", "verb", "left"),
    [
        ('look up "x" now', "look", "look up  …  now"),
        ("explain what x does", "explain", "explain  … "),
        ("explain what x does by doing y", "explain", "explain  … by doing y"),
        ("explain what x does, do y", "explain", "explain  … , do y"),
        ("check what comes if we do y", "check", "check  … if we do y"),
        ("explain what comes if we do y", "explain", "explain  … "),
        ("look at `x`", "look", "look at  … "),
        ("cat `x`", "cat", "cat `x`"),
        ("find calls to x.y() here", "find", "find  …  here"),
        ("read it", "read", "read it"),
        ("don't read 'x'", "read", "don't read  … "),
        ("read it by 'x'", "read", "read it by 'x'"),
    ],
)
def test_mentions_are_left_out(action: str, verb: str, left: str) -> None:
    assert without_mentions(action, verb) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("draft it, not sending it yet", "draft it,  "),
        ("look without deleting anything", "look  "),
        ("think before changing any code", "think  "),
        ("think before deleting any code", "think before deleting any code"),
        ("close without saving anything", "close without saving anything"),
        ("leave without keeping any copy", "leave without keeping any copy"),
        ("not not deleting it", "not not deleting it"),
        ("without deleting the users", "without deleting the users"),
    ],
)
def test_only_what_is_truly_left_undone_is_left_out(text: str, left: str) -> None:
    assert without_assurances(text) == left


@given(st.text(max_size=80))
def test_leaving_something_out_adds_nothing(text: str) -> None:
    for left in (without_mentions(text, "read"), without_mentions(text, "check"), without_assurances(text)):
        rest = iter(text)
        assert all(one in rest for one in left if one not in " …"), "what is left stands in the same order"


DEEDS = [
    "delete the production database",
    "wipe the disk",
    "rm -r /srv",
    "drop all the tables",
    "send the report to bo",
]
LOOKS = ["read the notes", "explain how it works", "list what is there", "check which are old", "look at 'x'"]
JOINTS = [", ", "; ", ". ", ": ", " - ", " -> ", " and ", " then ", " (", "\n", " by means of this: ", " & ", " | "]


@given(st.sampled_from(LOOKS), st.sampled_from(JOINTS), st.sampled_from(DEEDS))
def test_no_look_before_it_makes_a_deed_harmless(look: str, joint: str, deed: str) -> None:
    assert score(f"{look}{joint}{deed}").score > 30
