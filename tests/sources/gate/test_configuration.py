"""``headgate.toml``: every key of a source, and every mistake in its place."""

from pathlib import Path

import pytest

from headgate.protocol.danger import Trust
from headgate.safety.decisions import Effect
from headgate.sources.gate.configuration import Configuration, ConfigurationError, read_configuration
from headgate.sources.gate.planning import Choices
from headgate.sources.gate.specs import SourceKind, SourceSpec

ENVIRONMENT = {"GITHUB_TOKEN": "s3cret"}

EVERYTHING = """
name = "desk"
state = "state.db"
policy = "rules.toml"
mcp_servers = "servers.json"

[sources.github]
command = "npx"
args = ["-y", "server-github"]
env = {GITHUB_PERSONAL_ACCESS_TOKEN = "${GITHUB_TOKEN}"}
cwd = "work"
prefix = "gh"
trust = "community_reviewed"
include = ["list_*", "get_*", "create_issue"]
exclude = ["*_secret_*"]
timeout = 20
start_timeout = 60
limits = {requests_per_minute = 60, requests_per_day = 1000}

[sources.github.policy]
default = "deny"
[[sources.github.policy.rule]]
name = "reading is fine"
decision = "allow"
operations = "list_*"

[sources.github.operations.create_issue]
name = "open_issue"

[sources.linear]
url = "https://mcp.linear.app/mcp"
headers = {Authorization = "Bearer ${GITHUB_TOKEN}"}
disabled = true

[sources.shop]
source = "shop.db"
read_only = true
statement_timeout = 5
tables = "tables.toml"
policy = "shop-rules.toml"

[sources.pets]
openapi = "petstore.yaml"
base_url = "https://staging.example/v1"
variables = {region = "eu"}
allow = ["10.0.0.0/8"]
review = "review.toml"
[sources.pets.credentials.api_key]
key = "PETS_KEY"

[sources.weather]
adapter = "weather-adapter.md"
trust = "validated"

[sources.tools]
source = "tools.py:adapter"

[sources.lines]
command = "python -m lines"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "servers.json").write_text(
        '{"mcpServers": {"files": {"command": "npx"}, "off": {"command": "x", "disabled": true}}}'
    )
    (tmp_path / "shop-rules.toml").write_text('[[api_limit]]\nscope = "global"\nlimit = 5\nwindow = "second"\n')
    (tmp_path / "review.toml").write_text('exclude = ["*_admin"]\n')
    return tmp_path


def read(folder: Path, text: str) -> Configuration:
    path = folder / "headgate.toml"
    path.write_text(text)
    return read_configuration(path, ENVIRONMENT)


def test_every_key_reaches_its_source(folder: Path) -> None:
    found = read(folder, EVERYTHING)
    assert (found.name, found.state, found.policy) == ("desk", str(folder / "state.db"), folder / "rules.toml")
    specs = {spec.name: spec for spec in found.sources}
    assert list(specs) == ["files", "off", "github", "linear", "shop", "pets", "weather", "tools", "lines"]
    github = specs["github"]
    assert github.mcp is not None
    assert (github.mcp.command, github.mcp.args) == ("npx", ("-y", "server-github"))
    assert github.mcp.env == {"GITHUB_PERSONAL_ACCESS_TOKEN": "s3cret"}
    assert github.mcp.cwd == str(folder / "work")
    assert (github.prefix, github.trust, github.timeout, github.start_timeout) == (
        "gh",
        Trust.COMMUNITY_REVIEWED,
        20,
        60,
    )
    assert github.policy is not None
    assert github.policy.default is Effect.DENY
    assert [rule.name for rule in github.policy.rules] == ["reading is fine"]
    assert [(limit.limit, limit.window) for limit in github.policy.api_limits] == [(60, "minute"), (1000, "day")]
    assert github.curation is not None
    assert github.curation.picks("list_issues", "listIssues")
    assert not github.curation.picks("list_secret_things", "x")
    assert specs["linear"].disabled
    assert specs["linear"].mcp is not None
    assert specs["linear"].mcp.headers == {"Authorization": "Bearer s3cret"}
    _check_the_rest(specs, folder)
    assert set(found.files) == {
        folder / name
        for name in ("headgate.toml", "rules.toml", "servers.json", "tables.toml", "shop-rules.toml", "review.toml")
    }
    assert "s3cret" not in repr(found)


def _check_the_rest(specs: dict[str, SourceSpec], folder: Path) -> None:
    shop, pets, weather = specs["shop"], specs["pets"], specs["weather"]
    assert (shop.kind, shop.where, shop.database.read_only) == (SourceKind.DATABASE, str(folder / "shop.db"), True)
    assert (shop.database.statement_timeout, shop.database.tables) == (5, folder / "tables.toml")
    assert shop.policy is not None
    assert [limit.limit for limit in shop.policy.api_limits] == [5]
    assert (pets.kind, pets.where, pets.base_url) == (
        SourceKind.OPENAPI,
        str(folder / "petstore.yaml"),
        "https://staging.example/v1",
    )
    assert (pets.variables, pets.credentials) == ({"region": "eu"}, {"api_key": {"key": "PETS_KEY"}})
    assert pets.allow == ("10.0.0.0/8",)
    assert pets.curation is not None
    assert (weather.kind, weather.is_vouched_for) == (SourceKind.ADAPTER_FILE, True)
    assert (specs["tools"].kind, specs["tools"].where) == (SourceKind.MODULE, str(folder / "tools.py:adapter"))
    assert specs["lines"].mcp is not None
    assert (specs["lines"].mcp.command, specs["lines"].mcp.args) == ("python", ("-m", "lines"))


def test_one_source_outside_any_table_stands_beside_the_others(folder: Path) -> None:
    found = read(folder, 'source = "shop.db"\n[sources.tools]\nsource = "stdio:npx x"\n')
    plan = found.plan(Choices())
    assert [spec.name for spec in plan.sources] == ["shop", "tools"]
    assert plan.sources[1].mcp is not None
    assert plan.sources[1].mcp.command == "npx"
    assert plan.name == "headgate"


def test_a_variable_that_is_not_set_is_no_mistake_of_the_file(folder: Path) -> None:
    found = read(folder, '[sources.a]\ncommand = "x"\nenv = {K = "${NOT_THERE}"}\n[sources.b]\ncommand = "y"\n')
    assert [bool(spec.problem) for spec in found.sources] == [True, False]
    assert "'NOT_THERE'" in found.sources[0].problem


MISTAKES = {
    "no source": ('state = "memory:"', "it names no source"),
    "nothing": ("", "it names no source"),
    "a typo": ('sorces = "x"', "key 'sorces': there is no such key"),
    "no tables": ("sources = 5", "key 'sources': this must be a table for each source"),
    "no table": ("[sources]\na = 5", "source 'a': this must be a table"),
    "a key that is none": ('[sources.a]\ncomand = "x"', "source 'a', key 'comand': there is no such key"),
    "nothing said": (
        '[sources.a]\nprefix = "x"',
        "source 'a': say what it is with source, command, url, openapi or adapter",
    ),
    "two ways": ('[sources.a]\ncommand = "x"\nurl = "https://y.example"', "it has command and url: keep one of them"),
    "args of a URL": ('[sources.a]\nurl = "https://y.example"\nargs = []', "key 'args': this goes with command"),
    "headers of a command": ('[sources.a]\ncommand = "x"\nheaders = {}', "key 'headers': this goes with url"),
    "a prefix": ('[sources.a]\ncommand = "x"\nprefix = "Git Hub"', "key 'prefix': this must be lower-case"),
    "no prefix": ('[sources.a]\ncommand = "x"\nprefix = 5', "key 'prefix': this must be a text"),
    "trust": ('[sources.a]\ncommand = "x"\ntrust = "much"', "key 'trust': 'much' is not known"),
    "limits": (
        '[sources.a]\ncommand = "x"\nlimits = 5',
        "key 'limits': this must be a table with some of requests_per",
    ),
    "a limit": ('[sources.a]\ncommand = "x"\nlimits = {requests_per_minute = 0}', "must be 1 or more"),
    "an unknown limit": ('[sources.a]\ncommand = "x"\nlimits = {calls_per_minute = 5}', "there is no such key"),
    "timeout": ('[sources.a]\ncommand = "x"\ntimeout = 0', "key 'timeout': this must be more than 0"),
    "disabled": ('[sources.a]\ncommand = "x"\ndisabled = "no"', "key 'disabled': this must be true or false"),
    "allow": ('[sources.a]\ncommand = "x"\nallow = ["not a host!"]', "key 'allow'"),
    "a policy": ('[sources.a]\ncommand = "x"\npolicy = {defualt = "deny"}', "source 'a', key 'policy'"),
    "no policy": ('[sources.a]\ncommand = "x"\npolicy = 5', "key 'policy': this must be a text"),
    "a policy that is not there": ('[sources.a]\ncommand = "x"\npolicy = "none.toml"', "there is no such file"),
    "what is for all": (
        '[sources.a]\ncommand = "x"\npolicy = {trust = "certified"}',
        "trust cannot be ruled for one source",
    ),
    "include": ('[sources.a]\ncommand = "x"\ninclude = 5', "source 'a'"),
    "a review that is not there": ('[sources.a]\ncommand = "x"\nreview = "none.toml"', "source 'a'"),
    "review and include": (
        '[sources.a]\ncommand = "x"\nreview = "review.toml"\ninclude = ["x"]',
        "belong into the file",
    ),
    "read_only": ('[sources.a]\nsource = "x.py"\nread_only = true', "key 'read_only': this is for databases"),
    "a wrong source": ("[sources.a]\nsource = 5", "key 'source': this must be a text"),
    "a wrong document": ("[sources.a]\nopenapi = 5", "key 'openapi': this must be a text"),
    "a wrong file": ("[sources.a]\nadapter = 5", "key 'adapter': this must be a text"),
    "a secret": (
        '[sources.a]\nopenapi = "x.json"\ncredentials = {k = {token = "sk-123"}}',
        "the secret itself does not belong here",
    ),
    "credentials": ('[sources.a]\nopenapi = "x.json"\ncredentials = 5', "a table for each security scheme"),
    "variables": ('[sources.a]\nopenapi = "x.json"\nvariables = 5', "a table of names and texts"),
    "a wrong command": ('[sources.a]\ncommand = "x"\nargs = "y"', "source 'a': 'args' must be a list"),
    "a list that is not there": ('mcp_servers = "none.json"', "key 'mcp_servers': The file"),
    "twins": ('mcp_servers = "servers.json"\n[sources.files]\ncommand = "x"', "there are two sources named 'files'"),
    "no TOML": ("[sources", "no TOML"),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES)
def test_every_mistake_is_named_with_its_place(folder: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as told:
        read(folder, text)
    assert said in str(told.value)
    for line in str(told.value).splitlines():
        assert line.startswith(str(folder / "headgate.toml"))
        assert "sk-123" not in line


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    with pytest.raises(ConfigurationError) as told:
        read(folder, '[sources.a]\ncommand = "x"\ntrust = "much"\ntimeout = 0\n[sources.b]\nprefix = 5\n')
    assert len(str(told.value).splitlines()) == 4


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no such file"):
        read_configuration(tmp_path / "none.toml")
