"""The page about many sources is true: every key is there, every file can be read, every command does as shown."""

import re
import shlex
from pathlib import Path

import pytest

from headgate.safety.policy.limits import WINDOWS
from headgate.sources.gate import configuration, tables
from headgate.sources.gate.configuration import read_configuration
from headgate.sources.gate.specs import SourceKind
from tests.cli.commands import Shell
from tests.shown import Typed, blocks, typed
from tests.support import ROOT

PAGE = ROOT / "docs" / "gate.md"
SHOWN = [one for block in blocks(PAGE) if block.heading == "Try it" for one in typed(block) if one.printed]
FILES = [block.text for block in blocks(PAGE) if block.language == "toml"]


def keys_shown() -> set[str]:
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {key for row in rows for key in re.findall(r"`([a-z_]+)`", row)}


def test_every_key_is_documented() -> None:
    known = {*configuration.KEYS, *tables.KEYS}
    assert known - keys_shown() == set()
    assert [window for window in WINDOWS if f"`requests_per_{window}`" not in PAGE.read_text()] == []
    assert [kind for kind in SourceKind if f"`{kind}`" not in PAGE.read_text()] == []


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_every_file_that_is_shown_can_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "servers.json").write_text('{"mcpServers": {}}')
    (tmp_path / "headgate.toml").write_text(text)
    assert len(read_configuration(tmp_path / "headgate.toml").sources) == 3


def test_the_first_file_is_the_one_in_examples() -> None:
    kept = (ROOT / "examples" / "desk.toml").read_text()
    assert FILES[0] in kept


@pytest.mark.parametrize("one", SHOWN, ids=lambda one: one.words)
def test_a_command_prints_what_is_shown(
    one: Typed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = Shell(monkeypatch, capsys)(*shlex.split(one.words)[1:], cwd=ROOT / "examples")
    assert done.out + done.err == one.printed


def test_commands_are_shown() -> None:
    assert len(SHOWN) == 3
