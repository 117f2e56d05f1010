"""The policies of the page "Keeping an agent in bounds": each does what it promises, and the page shows what is."""

import json
import re
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from headgate import Adapter, mcp_server, sql_adapter
from headgate.adapter.context import Caller
from headgate.cli.audit_rows import Format
from headgate.engine.events import Decided, Event
from headgate.protocol.danger import DangerLevel, Trust
from headgate.safety.danger import PATTERNS
from headgate.safety.policy import reading, rule_tables, setting_tables
from headgate.safety.policy.cases import Case, read_cases
from headgate.safety.policy.checking import check_policy
from headgate.safety.policy.conditions import OPERATORS, PRESENT
from headgate.safety.policy.reading import PolicyError, policy_from, read_policy
from headgate.safety.policy.rules import Policy
from headgate.safety.searching import EVENTS
from headgate.safety.trust import MATRIX
from headgate.server.addresses import Address
from headgate.server.auth import StaticToken, StaticTokens
from headgate.server.http import Access, http_app
from headgate.sources.bookshop import build_bookshop
from headgate.sources.modules import load_adapter
from tests.cli.commands import Shell
from tests.homes import EXAMPLES, Home
from tests.shown import Block, Exchange, Typed, blocks, exchanges, masked, same, sections, typed
from tests.support import ROOT

POLICIES = sorted((EXAMPLES / "policies").glob("*.toml"))
PAGE = ROOT / "docs" / "bounds.md"
DEPLOYMENTS = "deployments.py:deployments"
SOURCES = {"never-touch-production": DEPLOYMENTS, "spend-at-most": DEPLOYMENTS}
"""What a policy is for; the demo unless said."""
ADDRESS = Address("127.0.0.1", 8765)
_WRITTEN = ("state.db", "2026.jsonl")
"""Files that the page has commands write."""

EACH_POLICY = pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in POLICIES])


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's data, for this module alone."""
    path = tmp_path_factory.mktemp("shop") / "bookshop.db"
    build_bookshop(path)
    return path


@asynccontextmanager
async def adapter_of(source: str, shop: Path) -> AsyncIterator[Adapter]:
    adapter = load_adapter(f"{EXAMPLES / source}") if source else sql_adapter(shop, name="bookshop")
    try:
        yield adapter
    finally:
        await adapter.close()


# the files


def test_there_is_a_policy_for_each_wish_and_cases_for_each() -> None:
    wishes = [
        "ask-before-deleting",
        "never-touch-production",
        "only-these-callers",
        "read-only",
        "spend-at-most",
        "supervise-agents",
    ]
    assert [path.stem for path in POLICIES] == wishes
    assert [path.stem for path in sorted((EXAMPLES / "policies" / "cases").glob("*.toml"))] == wishes


@EACH_POLICY
@pytest.mark.anyio
async def test_a_policy_fits_what_it_is_for_and_nothing_in_it_is_odd(path: Path, shop: Path) -> None:
    async with adapter_of(SOURCES.get(path.stem, ""), shop) as adapter:
        assert check_policy(read_policy(path), adapter.name, adapter.operations, trust=Trust.VALIDATED) == []


# the cases, judged and served


@dataclass(frozen=True)
class Ruling:
    """What was decided of a case, by which rule, and who may confirm it."""

    effect: str
    rule: str
    who: str = ""


def judged(shell: Shell, path: Path) -> list[Ruling]:
    """What ``headgate policy test`` says of each case, all of which are as expected."""
    source = SOURCES.get(path.stem)
    words = ["policy", "test", "--policy", str(path), "--cases", str(path.parent / "cases" / path.name), "--json"]
    done = shell(*words, *(["--source", source] if source else []), cwd=EXAMPLES)
    said = json.loads(done.out)
    assert (done.code, done.err, said["warnings"]) == (0, "", [])
    return [Ruling(one["got"]["decision"], one["got"]["rule"], one["got"].get("confirm", "")) for one in said["cases"]]


class Decisions:
    """Hears what the gate decides."""

    def __init__(self) -> None:
        self.last: Decided | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, Decided):
            self.last = event


@asynccontextmanager
async def client_of(adapter: Adapter, caller: Caller, **settings: Any) -> AsyncIterator[Client]:
    """A client in process: on the server itself, or if it has a name, with a bearer token over HTTP."""
    server = mcp_server(adapter, mode="single", **settings)
    name = caller.subject or caller.client_id
    if name is None:
        async with Client(server) as client:
            yield client
        return
    secret = f"a-long-secret-of-{name}"
    tokens = StaticTokens((StaticToken.from_secret(name, secret, tuple(caller.scopes)),))
    app = http_app(server, ADDRESS, Access(verifier=tokens))
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=headers) as http,
        Client(streamable_http_client(f"http://{ADDRESS.netloc}/mcp", http_client=http)) as client,
    ):
        yield client


async def ask(client: Client, request: Mapping[str, Any]) -> Any:
    result = await client.call_tool("mcp_aql", dict(request))
    return json.loads(getattr(result.content[0], "text", ""))


async def served(adapter: Adapter, path: Path, case: Case) -> Ruling:
    """What a server under the policy makes of a case, by its answer and by what it tells of its decision."""
    heard = Decisions()
    async with client_of(adapter, case.caller, policy=path, listeners=[heard]) as client:
        answer = await ask(client, {"operation": case.operation, "params": dict(case.params)})
    assert heard.last is not None
    error = answer.get("error") or {"code": "", "details": {}}
    by_answer = {"CONFIRMATION_REQUIRED": "confirm", "PERMISSION_DENIED": "deny"}.get(error["code"], "allow")
    assert answer["success"] is (by_answer == "allow")
    assert heard.last.decision == by_answer
    assert error["details"].get("rule", heard.last.rule) == heard.last.rule
    who = {True: "person", False: "client"}["approval_id" in error["details"]] if by_answer == "confirm" else ""
    return Ruling(by_answer, heard.last.rule, who)


@EACH_POLICY
def test_a_server_decides_as_the_cases_say(path: Path, shop: Path, shell: Shell) -> None:
    cases, rulings = read_cases(path.parent / "cases" / path.name), judged(shell, path)
    assert len(cases) == len(rulings) >= 3

    async def serve() -> list[Ruling]:
        async with adapter_of(SOURCES.get(path.stem, ""), shop) as adapter:
            return [await served(adapter, path, case) for case in cases]

    for case, ruling, found in zip(cases, rulings, anyio.run(serve), strict=True):
        expected = ruling if found.rule else replace(ruling, rule="")  # what is open to all needs no rule
        assert found == expected, case.title


# the page


def policy_of(heading: str) -> Path | None:
    """The policy that a section of the page is about."""
    found = re.search(r"policies/([a-z-]+)\.toml", sections(PAGE)[heading])
    return EXAMPLES / "policies" / f"{found[1]}.toml" if found else None


def shown_blocks(language: str = "") -> Iterator[Block]:
    return (block for block in blocks(PAGE) if block.language == language)


def test_the_page_shows_each_policy_as_it_is() -> None:
    shown = [block.text for block in shown_blocks("toml")]
    assert [path.name for path in POLICIES if path.read_text() not in shown] == []


@pytest.mark.anyio
async def test_every_policy_that_the_page_shows_fits_something(shop: Path) -> None:
    shown = [(block.heading, tomllib.loads(block.text)) for block in shown_blocks("toml")]
    policies = [(heading, content) for heading, content in shown if not content.keys() & {"case", "tokens"}]
    async with adapter_of("", shop) as books, adapter_of(DEPLOYMENTS, shop) as team:
        for heading, content in policies:
            policy = policy_from(content.get("policy", content), heading)
            assert any(fits(policy, adapter) for adapter in (books, team)), heading
    assert len(policies) > len(POLICIES)


def fits(policy: Policy, adapter: Adapter) -> bool:
    """Whether there is nothing wrong or odd; that it counts something as less dangerous is what some parts show."""
    try:
        told = check_policy(policy, adapter.name, adapter.operations, trust=policy.trust or Trust.VALIDATED)
    except PolicyError:
        return False
    return all("less dangerous than usual" in one for one in told)


def test_the_cases_that_the_page_shows_are_cases(tmp_path: Path) -> None:
    shown = [block.text for block in shown_blocks("toml") if "[[case]]" in block.text]
    for text in shown:
        (tmp_path / "cases.toml").write_text(text)
        assert read_cases(tmp_path / "cases.toml")
    assert shown


def _tokens() -> str:
    return next(block.text for block in shown_blocks("toml") if "[tokens." in block.text)


def commands() -> list[Typed]:
    return [one for block in blocks(PAGE) for one in typed(block)]


def test_the_page_shows_what_commands_really_print(shell: Shell, tmp_path: Path) -> None:
    home = Home(shell, tmp_path, written=_WRITTEN)
    wrong = []
    for one in commands():
        if one.words.startswith("headgate serve") or "://" in one.words:
            continue
        out, err = home.types(one.words)
        if one.printed and not (same(one.printed, out + err) or same(one.printed, err + out)):
            wrong.append((one.words, masked(out + err)))
    assert wrong == []


@pytest.mark.parametrize("words", [one.words for one in commands() if one.words.startswith("headgate serve")])
def test_a_server_that_the_page_shows_comes_up(words: str, shell: Shell, tmp_path: Path) -> None:
    if "postgresql://" not in words:
        Home(shell, tmp_path, written=_WRITTEN, files={"tokens.toml": _tokens()}).serves(words)


def conversations() -> list[Any]:
    found = [(block.heading, list(exchanges(block))) for block in shown_blocks()]
    return [pytest.param(heading, said, id=heading) for heading, said in found if said]


@pytest.mark.parametrize(("heading", "said"), conversations())
@pytest.mark.anyio
async def test_the_page_shows_what_a_server_really_answers(heading: str, said: list[Exchange], shop: Path) -> None:
    path = policy_of(heading)
    settings: dict[str, Any] = {"policy": path} if path else {}
    tokens: dict[str, str] = {}
    wrong = []
    async with (
        adapter_of(SOURCES.get(path.stem, "") if path else "", shop) as adapter,
        client_of(adapter, Caller(), **settings) as client,
    ):
        for one in said:
            request = one.request
            for stand_in, token in tokens.items():
                request = request.replace(stand_in, token)
            answer = json.dumps(await ask(client, json.loads(request)))
            if not same(one.answer, answer):
                wrong.append((one.request, masked(answer)))
            given = re.finditer(r"\b(conf|quota_continue)_[\w-]{40,}", answer)
            tokens.update((f"{found[1]}_…", found[0]) for found in given)
    assert wrong == []


# the reference


def rows(heading: str) -> str:
    return "".join(line.split("|")[1] for line in sections(PAGE)[heading].splitlines() if line.startswith("| "))


KEYS = {
    "The policy file": reading._KEYS,
    "[[rule]]": rule_tables._KEYS,
    "[danger]": setting_tables._DANGER_KEYS,
    "[confirmation]": setting_tables._CONFIRMATION_KEYS,
    "[escalation]": ("after", "within", "levels"),
    "[[api_limit]]": ("scope", "endpoint", "category", "limit", "window"),
    "[[quota]]": ("metric", "warn", "pause", "hard_stop", "per", "operations", "currency", "confirm"),
    "[cost]": ("currency", "pricing", "operations", "cost_per_call"),
    "[audit]": ("operations", "keep_days"),
    "Conditions": (*OPERATORS, PRESENT),
}


@pytest.mark.parametrize("heading", KEYS)
def test_every_key_of_a_policy_is_documented(heading: str) -> None:
    shown = rows(heading)
    assert [key for key in KEYS[heading] if f"`{key}`" not in shown] == []


def test_the_matrix_that_is_shown_is_the_one_that_counts() -> None:
    table = [line for line in sections(PAGE)["Trust"].splitlines() if line.startswith("|")]
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]
    assert cells[0][1:] == [trust.value for trust in Trust]
    shown = {row[0]: row[1:] for row in cells[2:]}
    assert shown == {level.value: [MATRIX[level][trust].value for trust in Trust] for level in DangerLevel}


def test_every_pattern_event_and_form_is_documented() -> None:
    page = PAGE.read_text()
    grave = [pattern for level in (DangerLevel.DANGEROUS, DangerLevel.FORBIDDEN) for pattern in PATTERNS[level]]
    assert [one for one in (*grave, *EVENTS, *get_args(Format)) if f"`{one}`" not in page] == []
