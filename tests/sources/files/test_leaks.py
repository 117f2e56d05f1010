"""Credentials in a file are found wherever they stand, and what only looks like one is left alone."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.sources.files.documents import read_document
from headgate.sources.files.leaks import leaks_in, without_credentials, without_secrets
from headgate.sources.files.reading import adapter_file_from
from tests.sources.files.texts import changed, head, mistakes_in, mistakes_in_text, text_of

DRAWN = random.Random(20260204)  # noqa: S311  (the same each time)


def drawn(count: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(DRAWN.choice(letters) for _ in range(count))


HEX = "0123456789abcdef"
# None of these was ever valid anywhere: each has the form of a credential, and is drawn here.
TOKENS = {
    "github": f"ghp_{drawn(36)}",
    "github fine": f"github_pat_{drawn(22)}_{drawn(59)}",
    "gitlab": f"glpat-{drawn(20)}",
    "openai": f"sk-proj-{drawn(48)}",
    "anthropic": f"sk-ant-api03-{drawn(40)}",
    "stripe": f"sk_live_{drawn(24)}",
    "slack": f"xoxb-{drawn(12, string.digits)}-{drawn(24)}",
    "aws": f"AKIA{drawn(16, string.ascii_uppercase + string.digits)}",
    "google": f"AIza{drawn(35)}",
    "npm": f"npm_{drawn(36)}",
    "hugging face": f"hf_{drawn(34)}",
    "sendgrid": f"SG.{drawn(22)}.{drawn(43)}",
    "jwt": f"eyJ{drawn(20)}.eyJ{drawn(30)}.{drawn(40)}",
    "shopify": f"shpat_{drawn(32, HEX)}",
    "telegram": f"{drawn(10, string.digits)}:AA{drawn(33)}",
}
PLACES = {
    "a token_env": lambda secret: text_of(head(auth={"type": "bearer", "token_env": secret})),
    "a description": lambda secret: text_of(head(description=f"Use {secret} to try it")),
    "a default": lambda secret: text_of(changed("operations.read.0.params.id.default", secret)),
    "an example": lambda secret: text_of(changed("operations.read.0.examples", [{"params": {"id": secret}}])),
    "a comment": lambda secret: text_of(head()).replace("type: adapter", f"type: adapter  # {secret}"),
    "the prose": lambda secret: text_of(head(), f"# Items\n\n    curl -H 'X-Key: {secret}' https://x.example\n"),
    "a key": lambda secret: text_of(head(**{secret: 1})),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
@pytest.mark.parametrize("secret", TOKENS.values(), ids=list(TOKENS))
def test_a_token_of_known_form_is_found_anywhere_and_never_shown(secret: str, place: object) -> None:
    text = place(secret)  # type: ignore[operator]
    found = mistakes_in_text(text)
    leaks = [one for one in found if one.code == "AUTH_CONFIG_INVALID" and "like" in one.found]
    assert leaks
    lines = [number for number, line in enumerate(text.split("\n"), 1) if secret in line]
    assert leaks[0].line in lines
    assert "environment variable" in leaks[0].fix
    told = "\n".join(f"{one.sentence} {one.wire()}" for one in found)
    assert secret not in told
    assert secret[:12] not in told
    assert secret[-12:] not in told


@pytest.mark.parametrize(
    "line",
    [
        f"Authorization: Bearer {drawn(40)}",
        f"-H 'Authorization: Bearer {drawn(32, HEX)}'",
        f"Authorization: Basic {drawn(28)}==",
        f"Authorization: token {drawn(40, HEX)}",
        "see https://ada:Lovelace1815x@db.example.org/x",
        "postgresql://shop:p4ssw0rt-7x@db.example.org/shop",
        f"password: {drawn(20)}",
        f"api_key={drawn(32, HEX)}",
        f'"client_secret": "{drawn(40)}"',
        f"apiKey: {drawn(24)}",
        "access_token = 6f1c2b9e-70a4-4c55-9d0e-2f3b8a7d6c51",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_credential_in_prose_is_found(line: str) -> None:
    found = mistakes_in(head(), f"# Items\n\nFirst.\n\n{line}\n")
    assert [one.code for one in found] == ["AUTH_CONFIG_INVALID"]
    assert found[0].line == text_of(head(), "").count("\n") + 5


@pytest.mark.parametrize(
    "line",
    [
        "Set `GITHUB_TOKEN` to a token with the scope `repo`.",
        "Authorization: Bearer ${GITHUB_TOKEN}",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_API_TOKEN_GOES_HERE",
        "Authorization: Bearer xxxxxxxxxxxxxxxxxxxxxxxx",
        "Authorization: Basic base64(user:password)",
        "curl -H 'X-Api-Key: $KEY' https://api.example.com/v1/items",
        "https://api.example.com:8443/v1/items?token=abc",
        "https://user:password@example.com",
        "https://<user>:<password>@example.com",
        "ssh://git@example.com:22/repository.git",
        "A token looks like `ghp_` and 36 more characters.",
        "Tokens match `^ghp_[A-Za-z0-9]{36}$`.",
        "password: at least sixteen characters",
        "api_key: EXAMPLE_API_KEY_0123456789",
        "token: authentication-required-for-everything",
        "token_type: urn_ietf_params_oauth_token_type_access_token",
        "secret: ********************",
        "key: primary_key_of_the_orders_table_2024",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 7b1bba5c0ffee0123456789abcdef0123456789a",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "api_key: 00000000-0000-0000-0000-000000000000",
        "keyboard: internationalization2024layout",
        "monkey=banana12345678901234",
        "basic authentication-with-username2 and password1",
        "bearer tokens1234",
        "sk-learn is a library",
    ],
)
def test_what_only_looks_like_a_credential_is_left_alone(line: str) -> None:
    file = adapter_file_from(text_of(head(), f"# Items\n\n{line}\n"), "items-adapter.md")
    assert line in file.documentation


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ("operations.read.0.params.api_token", {"type": "string", "default": drawn(32)}),
        ("operations.read.0.params.password", {"type": "string", "examples": [drawn(24)]}),
        ("operations.read.0.params.id", {"type": "string", "required": True, "x-secret": drawn(24)}),
    ],
)
def test_a_drawn_text_under_a_name_for_secrets_is_found(steps: str, value: object) -> None:
    found = mistakes_in(changed(steps, value))
    assert any(one.found == "something like a secret" for one in found)


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ("operations.read.0.params.api_token", {"type": "string", "pattern": "^[A-Za-z0-9]{32,64}$"}),
        ("operations.read.0.params.token_kind", {"type": "string", "enum": ["access_token_v1", "refresh_token_v2"]}),
        ("operations.read.0.params.page_token", {"type": "string", "description": "What the page before has told."}),
        ("auth", {"type": "bearer", "token_env": "GITHUB_ENTERPRISE_TOKEN_2"}),
        ("auth", {"type": "api_key", "header_name": "X-Api-Key", "key_env": "SHOP_KEY"}),
    ],
)
def test_names_and_patterns_of_secrets_are_no_secrets(steps: str, value: object) -> None:
    assert not leaks_in(read_document(text_of(changed(steps, value)), "x"))


def test_other_mistakes_of_the_same_value_do_not_show_it() -> None:
    secret = TOKENS["github"]
    found = mistakes_in(changed("operations.read.0.params.id.type", secret))
    assert len(found) == 2
    assert all(secret[:8] not in one.sentence for one in found)
    assert {"a value which is not shown", "something like a GitHub token"} == {one.found for one in found}


@pytest.mark.parametrize("secret", TOKENS.values(), ids=list(TOKENS))
def test_what_is_written_here_has_stars_in_their_place(secret: str) -> None:
    assert without_credentials(f"before {secret} after") == "before *** after"
    assert secret not in str(without_secrets({"a": [secret], "b": {"c": f"x {secret}"}}))


def test_a_secret_that_only_its_name_tells_has_stars_too() -> None:
    assert without_secrets({"password": drawn(24), "n": 1}) == {"password": "***", "n": 1}
    assert without_secrets({"words": f"password: {drawn(24)}"}) == {"words": "***"}


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    assert isinstance(without_credentials(text), str)


@given(st.text(alphabet=string.ascii_lowercase + " ,.", max_size=300))
def test_prose_is_never_taken_for_a_credential(text: str) -> None:
    assert without_credentials(text) == text
    assert without_secrets({"password": text}) == {"password": text}
