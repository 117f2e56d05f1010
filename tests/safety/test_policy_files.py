"""Whatever a file holds, it becomes a policy or is refused: nothing in it is passed over."""

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety.policy.reading import PolicyError, policy_from, read_policy
from headgate.safety.policy.rules import Policy
from tests.safety.policies import mistakes_in


def refusal(file: Path) -> str:
    with pytest.raises(PolicyError) as refused:
        read_policy(file)
    assert isinstance(refused.value, ValueError)
    message = str(refused.value)
    assert all(line.startswith(f"{file}: ") for line in message.splitlines())
    return message.replace(f"{file}: ", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "it rules nothing: an empty policy is refused, so leave it out or write rules", id="empty"),
        pytest.param(
            b"# nothing\n", "it rules nothing: an empty policy is refused, so leave it out or write rules", id="remarks"
        ),
        pytest.param(
            b"[policy]\n",
            "key 'policy': it rules nothing: an empty policy is refused, so leave it out or write rules",
            id="an empty policy in a larger file",
        ),
        pytest.param(
            b'default = "deny"\n[[rule]\nname = 5',
            "line 2, column 7: it is no TOML from here on: Expected ']]' at the end of an array declaration",
            id="a bracket too few",
        ),
        pytest.param(
            b"default deny",
            "line 1, column 9: it is no TOML from here on: Expected '=' after a key in a key/value pair",
            id="no equals sign",
        ),
        pytest.param(
            b'default = "deny', "end of document: it is no TOML from here on: Unterminated string", id="an open quote"
        ),
        pytest.param(
            b'default = "deny"\ndefault = "allow"\n',
            "line 2, column 18: it is no TOML from here on: Cannot overwrite a value",
            id="said twice",
        ),
        pytest.param(b"default = \xff", "it is no UTF-8 from byte 11 on: save it as UTF-8", id="not UTF-8"),
        pytest.param("default = 1".encode("utf-16"), "it is no UTF-8 from byte 1 on: save it as UTF-8", id="UTF-16"),
        pytest.param(b"a = " + b"[" * 100_000, "it cannot be read: it is nested too deep", id="nested without end"),
        pytest.param(
            b"a = " + b"9" * 100_000,
            "it cannot be read: it, or its name, has something in it too strange to be meant",
            id="a number of a hundred thousand digits",
        ),
        pytest.param(
            b"#" * (2**20 + 1), "it is larger than 1048576 bytes, and so hardly meant", id="larger than a megabyte"
        ),
        pytest.param(
            b"policy = 5\nsorce = 'x'\n",
            "key 'sorce': there is no such key; known are policy, source, state. Did you mean 'source'?\n"
            "key 'policy': this must be a table, not the number 5",
            id="a larger file",
        ),
        pytest.param(
            b'[policy]\ndefault = "deny"\n[[rule]]\nname = "r"\ndecision = "deny"',
            "key 'rule': this belongs into the policy, which is a table here: write it as policy.rule",
            id="a rule beside the policy",
        ),
        pytest.param(
            b'[policy.policy]\ndefault = "deny"',
            "key 'policy': there is no such key; known are trust, default, rule, danger, confirmation, escalation, "
            "api_limit, quota, cost, audit, autonomy",
            id="a policy in the policy",
        ),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_bytes(content)
    assert refusal(file) == message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.toml") == "there is no such file"
    assert refusal(tmp_path) == "it is a folder: name the file in it"
    assert refusal(tmp_path / "a\0b") == (
        "it cannot be read: it, or its name, has something in it too strange to be meant"
    )
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refusal(tmp_path / "loop") == "it cannot be read: Too many levels of symbolic links"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:  # a real one would let root pass
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert refusal(tmp_path / "policy.toml") == "it cannot be read: Permission denied"


def test_all_mistakes_of_a_file_are_said_together() -> None:
    toml = """
    trust = "high"
    defualt = "deny"
    [[rule]]
    name = "one"
    decision = "confirm"
    operations = ["delete_*", 5, "!"]
    when = { amount = { gt = true, lt = nan }, sku = { matches = "(" } }
    [[rule]]
    name = "one"
    decision = "deny"
    remember = "session"
    [confirmation]
    max_live = 1
    [[quota]]
    metric = "requests_per_day"
    warn = 9
    pause = 8
    """
    places = [one.rpartition(": ")[0].split(": ")[0] for one in mistakes_in(toml)]
    assert places == [
        "key 'defualt'",
        "key 'trust'",
        "rule 1 ('one'), key 'operations'",
        "rule 1 ('one'), key 'operations'",
        "rule 1 ('one'), key 'when', parameter 'amount', operator 'gt'",
        "rule 1 ('one'), key 'when', parameter 'amount', operator 'lt'",
        "rule 1 ('one'), key 'when', parameter 'sku', operator 'matches'",
        "rule 2 ('one'), key 'name'",
        "rule 2 ('one'), key 'remember'",
        "confirmation, key 'max_live'",
        "quota 1",
    ]


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates()
KEYS = st.sampled_from(
    [
        *("trust", "default", "rule", "danger", "confirmation", "escalation", "api_limit", "quota", "cost", "audit"),
        *("name", "decision", "operations", "callers", "when", "level", "seconds", "after", "limit", "pricing", "x"),
    ]
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(content=st.dictionaries(KEYS, ANYTHING, max_size=5))
def test_whatever_it_says_it_is_a_policy_or_a_list_of_mistakes(content: dict[str, Any]) -> None:
    try:
        made = policy_from(content, "p")
    except PolicyError as error:
        mistakes = error.mistakes
        assert mistakes
        assert all(one.isprintable() for one in mistakes)
    else:
        assert isinstance(made, Policy)
        assert content.keys() <= {"trust", "default", "rule", "danger", "confirmation", "escalation"} | {
            *("api_limit", "quota", "cost", "audit")
        }
        assert made.version


@given(key=st.text(min_size=1, max_size=20), value=SCALARS)
def test_a_key_that_is_not_known_is_never_passed_over(key: str, value: object) -> None:
    for content in (
        {"default": "deny", f"{key}?": value},
        {"rule": [{"name": "r", "decision": "deny", f"{key}?": value}]},
        {"audit": {"keep_days": 1, f"{key}?": value}},
        {"confirmation": {"seconds": {"safe": 1, f"{key}?": value}}},
    ):
        with pytest.raises(PolicyError, match="there is no such key"):
            policy_from(content, "p")
