"""Bearer tokens that an operator hands out: who has one may call, and is known by name."""

import hashlib
from pathlib import Path

import pytest

from headgate.server.auth import StaticToken, StaticTokens, read_token_file
from headgate.server.settings import SettingError
from tests.server.processes import WORKSHOP, serve_http
from tests.server.requests import Answer, legacy, modern

ALICE, BOB, PLAIN = "alice-has-a-long-token", "bob-has-a-long-token-too", "and-one-in-the-environment"
FILE = f"""
[tokens.alice]
secret = "{ALICE}"
scopes = ["read", "write"]

[tokens.bob]
sha256 = "{hashlib.sha256(BOB.encode()).hexdigest().upper()}"
"""


def test_a_server_with_tokens_serves_those_who_have_one(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(FILE)
    with serve_http(WORKSHOP, "--tokens", str(file), env={"HEADGATE_TOKEN": PLAIN}) as serving:
        for token, name, scopes in ((ALICE, "alice", ["read", "write"]), (BOB, "bob", []), (PLAIN, "token", [])):
            headers = {"Authorization": f"Bearer {token}"}
            for client in (modern(serving.port, **headers), legacy(serving.port, **headers)):
                seen = client.call("get_caller").envelope["data"]
                assert seen == {"subject": name, "client_id": name, "scopes": scopes, "label": "tests"}
        serving.logged("(alice)")
        _others_are_refused(serving.port)
        _a_caller_has_a_session_of_its_own(serving.port)
        _a_session_belongs_to_its_caller(serving.port)
    assert ALICE not in serving.log.text


def _others_are_refused(port: int) -> None:
    without = modern(port).call("get_caller")
    wrong = modern(port, Authorization="Bearer nobody-has-such-a-token").call("get_caller")
    odd = modern(port, Authorization="Bearer ÿ".encode().decode("latin-1")).call("get_caller")
    basic = modern(port, Authorization=f"Basic {ALICE}").call("get_caller")
    for refused in (without, wrong, odd, basic):
        assert is_refusal(refused)
    assert modern(port).send(b"", "GET", "/health").status == 200


def is_refusal(answer: Answer) -> bool:
    return (
        answer.status == 401
        and answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
        and answer.json == {"error": "invalid_token", "error_description": "Authentication required"}
    )


def _a_caller_has_a_session_of_its_own(port: int) -> None:
    def before(token: str, text: str) -> object:
        client = modern(port, Authorization=f"Bearer {token}")
        return client.execute("execute_note", {"text": text}).envelope["data"]["before"]

    assert before(ALICE, "a") == []
    assert before(ALICE, "b") == ["a"]
    assert before(BOB, "c") == []
    assert before(ALICE, "d") == ["a", "b"]


def _a_session_belongs_to_its_caller(port: int) -> None:
    alice = legacy(port, Authorization=f"Bearer {ALICE}")
    assert alice.call("get_caller").status == 200
    assert alice.call("get_caller", Authorization=f"Bearer {BOB}").status == 404
    assert alice.send(b"", "DELETE", Authorization=f"Bearer {BOB}").status == 404
    assert alice.call("get_caller").status == 200


BAD_FILES = {
    "not TOML": ("tokens = [", "is not TOML"),
    "not UTF-8": ("\udcff", "is not TOML"),
    "empty": ("", "needs tables of the form [tokens.NAME], and nothing else."),
    "other tables": ("[token.a]\nsecret = 'x'", "needs tables of the form [tokens.NAME], and nothing else."),
    "more than tokens": ("[tokens.a]\nsecret = 'x'\n[more]", "needs tables of the form"),
    "no table": ("[tokens]\na = 'secret'", "[tokens.a] in '{path}' may have secret, sha256 and scopes, and nothing"),
    "unknown key": (
        "[tokens.a]\nsecrt = 'x'",
        "[tokens.a] in '{path}' may have secret, sha256 and scopes, and nothing",
    ),
    "no secret": ("[tokens.a]\nscopes = []", "[tokens.a] in '{path}' needs either secret or sha256"),
    "both": (
        f"[tokens.a]\nsecret = '{ALICE}'\nsha256 = '{'0' * 64}'",
        "[tokens.a] in '{path}' needs either secret or sha256",
    ),
    "not a hash": (f"[tokens.a]\nsha256 = '{'x' * 64}'", "needs either secret or sha256 (64 hexadecimal digits)."),
    "scopes": (
        "[tokens.a]\nsecret = 'x'\nscopes = 'read'",
        "scopes of [tokens.a] in '{path}' must be a list of texts.",
    ),
    "short": ("[tokens.a]\nsecret = 'short'", "The token of 'a' is too short: use 16 characters or more."),
    "spaces": (
        "[tokens.a]\nsecret = 'a token with spaces'",
        "The token of 'a' cannot be sent in a header: use ASCII without spaces.",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_token_file_with_a_mistake_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "tokens.toml"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(SettingError) as refused:
        read_token_file(file)
    assert message.replace("{path}", str(file)) in str(refused.value)


def test_a_token_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"The token file '.*none\.toml' cannot be read\."):
        read_token_file(tmp_path / "none.toml")


def test_two_callers_cannot_share_a_token() -> None:
    with pytest.raises(SettingError, match="'a' and 'b' have the same token"):
        StaticTokens((StaticToken.from_secret("a", ALICE), StaticToken.from_secret("b", ALICE)))
