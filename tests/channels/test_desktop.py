"""Dialogs on the operator's desktop.

There is no display here, and on no machine all three of the programs: so each is stood in for by a small script of that
name on PATH, which writes down its arguments, its environment and what it reads. What the real ones make of that is
known from their manuals, and checked by reading the script that they get with their rules for texts.
"""

import base64
import os
import re
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.console.channels.desktop import OSASCRIPT, POWERSHELL, ZENITY, Desktop, Dialog, dialog_here
from headgate.console.channels.interface import ChannelError, Notice
from tests.channels.notices import CODE, HOSTILE, notice
from tests.server.processes import until

pytestmark = pytest.mark.anyio

RECORDING = """#!/bin/sh
cd "$(dirname "$0")"
printf '%s\\n' "$@" > argv
env > environment
cat > read
exit "$(cat code 2>/dev/null || echo 0)"
"""
HANGING = """#!/bin/sh
cd "$(dirname "$0")"
echo $$ > pid
exec sleep 3600
"""
DIALOGS = {"zenity": ZENITY, "osascript": OSASCRIPT, "powershell": POWERSHELL}

Install = Callable[[str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a script of some name before everything else on PATH; its folder."""

    def installed(name: str, script: str = RECORDING) -> Path:
        program = tmp_path / name
        program.write_text(script)
        program.chmod(0o755)
        return tmp_path

    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return installed


async def shown(dialog: Dialog, install: Install, about: Notice) -> tuple[str, str, str]:
    """What a program gets: its arguments, its environment, and its standard input."""
    folder = install(dialog.program, RECORDING)
    await Desktop(dialog).show(about)
    argv, environment, read = ((folder / name).read_bytes() for name in ("argv", "environment", "read"))
    return argv.decode(), environment.decode(), read.decode()


# what is shown


async def test_zenity_shows_the_text_as_it_is(install: Install) -> None:
    about = notice()
    argv, _, read = await shown(ZENITY, install, about)
    assert read == about.text
    assert argv.splitlines()[0] == "--text-info"  # which reads plain text; --info and others take Pango markup
    assert "--html" not in argv


async def test_applescript_shows_both_texts_and_a_button(install: Install) -> None:
    about = notice(name="Zoë", hint='say "hi"\\')
    argv, _, read = await shown(OSASCRIPT, install, about)
    assert argv == "-\n"
    assert read_applescript(read) == (about.text, about.subject)


async def test_powershell_shows_both_texts(install: Install) -> None:
    about = notice(name="Zoë")
    argv, _, read = await shown(POWERSHELL, install, about)
    assert argv.splitlines()[-2:] == ["-Command", "-"]
    assert read_powershell(read) == (about.text, about.subject)


@pytest.mark.parametrize("dialog", DIALOGS.values(), ids=DIALOGS)
async def test_no_other_process_sees_the_code_or_what_an_agent_says(install: Install, dialog: Dialog) -> None:
    """Arguments and environment of a process can be read by others; what goes through a pipe cannot."""
    argv, environment, read = await shown(dialog, install, notice(name=HOSTILE, hint="say Supercalifragilistic"))
    for seen in (argv, environment):
        assert CODE not in seen
        assert "evil" not in seen
        assert "Supercali" not in seen
    assert tuple(argv.splitlines()) == dialog.command[1:]
    assert read


# texts stay texts


def read_applescript(script: str) -> tuple[str, str]:
    """The two texts of the one statement, read by AppleScript's rules: in quotes, a backslash before some signs."""
    literal = r'"((?:[^"\\]|\\.)*)"'
    statement = rf'display dialog {literal} with title {literal} buttons {{"Close"}} default button 1\n'
    found = re.fullmatch(statement, script, re.DOTALL)
    assert found, script
    first, second = (re.sub(r"\\(.)", lambda one: {"n": "\n"}.get(one[1], one[1]), text) for text in found.group(1, 2))
    return first, second


def read_powershell(script: str) -> tuple[str, str]:
    """The two texts of the one call; nothing in the script is anything but ASCII, whatever the texts are."""
    assert script.isascii()
    decoded = r"\[Text\.Encoding\]::UTF8\.GetString\(\[Convert\]::FromBase64String\('([A-Za-z0-9+/=]*)'\)\)"
    call = rf"\[void\]\[System\.Windows\.Forms\.MessageBox\]::Show\({decoded}, {decoded}\)\n"
    found = re.fullmatch(rf"Add-Type -AssemblyName System\.Windows\.Forms\n{call}", script)
    assert found, script
    first, second = (base64.b64decode(text).decode() for text in found.group(1, 2))
    return first, second


@given(name=st.text(max_size=200), hint=st.text(max_size=300))
def test_whatever_an_agent_says_the_scripts_hold_two_texts_and_nothing_else(name: str, hint: str) -> None:
    about = notice(name=name, hint=hint)
    assert read_applescript(OSASCRIPT.written(about.subject, about.text)) == (about.text, about.subject)
    assert read_powershell(POWERSHELL.written(about.subject, about.text)) == (about.text, about.subject)


ATTACKS = {
    "an end of the text in AppleScript": '" & (do shell script "id") & "',
    "a backslash before that": '\\" & (do shell script "id") & "',
    "an end of the text in PowerShell": "'; Start-Process calc; '",
    "quotes that only typographers use": "\u2019; Start-Process calc; \u2018",
    "letters whose bytes are such quotes in the code page 1252": "\u0111; Start-Process calc; \u0111",
    "an expression in PowerShell": '"$(Start-Process calc)"',
    "everything": HOSTILE,
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_known_ways_out_of_a_text_lead_nowhere(attack: str) -> None:
    about = notice(name=attack, hint=attack)
    assert read_applescript(OSASCRIPT.written(about.subject, about.text)) == (about.text, about.subject)
    script = POWERSHELL.written(about.subject, about.text)
    assert read_powershell(script) == (about.text, about.subject)
    assert "calc" not in script


# what can go wrong


@pytest.mark.parametrize(("dialog", "code"), [(ZENITY, 0), (ZENITY, 1), (OSASCRIPT, 0), (POWERSHELL, 0)])
async def test_closing_a_dialog_in_any_way_is_no_failure(install: Install, dialog: Dialog, code: int) -> None:
    (install(dialog.program, RECORDING) / "code").write_text(str(code))
    await Desktop(dialog).show(notice())


@pytest.mark.parametrize(("dialog", "code"), [(ZENITY, 2), (ZENITY, 255), (OSASCRIPT, 1), (POWERSHELL, 1)])
async def test_a_program_that_fails_is_told_of(install: Install, dialog: Dialog, code: int) -> None:
    (install(dialog.program, RECORDING) / "code").write_text(str(code))
    with pytest.raises(ChannelError, match=f"^{dialog.program} failed with exit code {code}$"):
        await Desktop(dialog).show(notice())


async def test_one_that_ends_without_reading_is_told_of(install: Install) -> None:
    install("zenity", "#!/bin/sh\nexec <&-\nexit 3\n")
    with pytest.raises(ChannelError, match=r"^zenity failed with exit code 3$"):
        await Desktop(ZENITY).show(notice(hint="x" * 100_000, factors=("y",) * 1000))


async def test_one_that_is_gone_or_cannot_be_run_is_told_of(install: Install, tmp_path: Path) -> None:
    missing = Dialog((str(tmp_path / "zenity"),), ZENITY.written)
    with pytest.raises(ChannelError, match="did not open a dialog: No such file or directory"):
        await Desktop(missing).show(notice())
    install("zenity", "").joinpath("zenity").chmod(0o644)
    with pytest.raises(ChannelError, match="did not open a dialog: Permission denied"):
        await Desktop(missing).show(notice())


def pid_in(folder: Path) -> int:
    file = folder / "pid"
    return int(file.read_text() or "0") if file.exists() else 0


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def ended(pid: int) -> None:
    """Wait until a program has ended, and nothing of it is left."""
    await anyio.to_thread.run_sync(until, lambda: not is_running(pid), "its end")


async def test_a_dialog_that_nobody_closes_ends_with_the_code(install: Install) -> None:
    folder = install("zenity", HANGING)
    await Desktop(ZENITY).show(notice(seconds=0.5))
    await ended(pid_in(folder))


async def test_a_dialog_ends_with_the_server(install: Install) -> None:
    folder = install("zenity", HANGING)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Desktop(ZENITY).show, notice())
        pid = await anyio.to_thread.run_sync(until, lambda: pid_in(folder), "the dialog")
        assert is_running(pid)
        tasks.cancel_scope.cancel()
    await ended(pid)


# where there are dialogs

PLACES: dict[str, tuple[str, str, dict[str, str], Dialog | None]] = {
    "X11": ("linux", "zenity", {"DISPLAY": ":0"}, ZENITY),
    "Wayland": ("linux", "zenity", {"WAYLAND_DISPLAY": "wayland-0"}, ZENITY),
    "no display": ("linux", "zenity", {}, None),
    "an empty display": ("linux", "zenity", {"DISPLAY": ""}, None),
    "no zenity": ("linux", "xmessage", {"DISPLAY": ":0"}, None),
    "BSD": ("freebsd14", "zenity", {"DISPLAY": ":0"}, ZENITY),
    "macOS": ("darwin", "osascript", {}, OSASCRIPT),
    "macOS without it": ("darwin", "zenity", {"DISPLAY": ":0"}, None),
    "Windows": ("win32", "powershell", {}, POWERSHELL),
    "Windows without it": ("win32", "osascript", {}, None),
}


@pytest.mark.parametrize(("platform", "program", "variables", "expected"), PLACES.values(), ids=PLACES)
def test_a_dialog_is_offered_only_where_one_can_be_seen(
    install: Install, platform: str, program: str, variables: dict[str, str], expected: Dialog | None
) -> None:
    folder = install(program, RECORDING)
    assert dialog_here(platform, {**variables, "PATH": str(folder)}) is expected
