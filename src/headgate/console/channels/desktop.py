"""A dialog on the operator's desktop. What it shows goes in by standard input: arguments are seen by every process."""

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import anyio

from headgate.console.channels.interface import ChannelError, Notice

__all__ = ["Desktop", "Dialog", "dialog_here"]


@dataclass(frozen=True, slots=True)
class Dialog:
    """A program that shows dialogs: its words, what it reads, and the exit codes of somebody closing the dialog."""

    command: tuple[str, ...]
    written: Callable[[str, str], str]
    """What the program reads, for a subject and a text."""
    closed: tuple[int, ...] = (0,)

    @property
    def program(self) -> str:
        """The name of the program."""
        return self.command[0]


def _plain(_subject: str, text: str) -> str:
    """zenity shows what it reads letter by letter; only where a text is an argument does it look for markup."""
    return text


def _applescript(subject: str, text: str) -> str:
    """A script in which the text is nothing but a text."""
    return f'display dialog {_apple(text)} with title {_apple(subject)} buttons {{"Close"}} default button 1\n'


def _apple(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _powershell(subject: str, text: str) -> str:
    """The same. It reads by the code page of the machine, in which other signs become quotes: so nothing but ASCII."""
    return (
        "Add-Type -AssemblyName System.Windows.Forms\n"
        f"[void][System.Windows.Forms.MessageBox]::Show({_power(text)}, {_power(subject)})\n"
    )


def _power(text: str) -> str:
    encoded = base64.b64encode(text.encode()).decode()
    return f"[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('{encoded}'))"


ZENITY: Final = Dialog(
    ("zenity", "--text-info", "--title=headgate", "--width=640", "--height=480"), _plain, closed=(0, 1)
)
OSASCRIPT: Final = Dialog(("osascript", "-"), _applescript)
POWERSHELL: Final = Dialog(("powershell", "-NoProfile", "-NonInteractive", "-Command", "-"), _powershell)
_OF_PLATFORMS: Final = {"darwin": OSASCRIPT, "win32": POWERSHELL}


def dialog_here(platform: str = sys.platform, environment: Mapping[str, str] | None = None) -> Dialog | None:
    """What shows dialogs here; None if nothing does, or there is no display."""
    here = os.environ if environment is None else environment
    dialog = _OF_PLATFORMS.get(platform, ZENITY)
    has_display = dialog is not ZENITY or here.get("DISPLAY") or here.get("WAYLAND_DISPLAY")
    return dialog if has_display and shutil.which(dialog.program, path=here.get("PATH")) else None


class Desktop:
    """Shows codes in a dialog of the desktop that the server runs on."""

    name = "desktop"

    def __init__(self, dialog: Dialog) -> None:
        self._dialog = dialog

    async def show(self, notice: Notice) -> None:
        """Open a dialog, and wait until it is closed or the code counts no more."""
        dialog, challenge = self._dialog, notice.challenge
        code = None
        try:
            with anyio.move_on_after(challenge.expires_at - challenge.made_at):
                code = await _run(dialog.command, dialog.written(notice.subject, notice.text))
        except OSError as error:
            raise ChannelError(f"{dialog.program} did not open a dialog: {error.strerror}") from None
        if code is not None and code not in dialog.closed:
            raise ChannelError(f"{dialog.program} failed with exit code {code}")


async def _run(command: Sequence[str], words: str) -> int:
    """Run a program to its end, which comes when its dialog is closed; its exit code."""
    nowhere = subprocess.DEVNULL
    async with await anyio.open_process(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere) as process:
        with suppress(OSError):  # one that has ended already says why by its exit code
            if process.stdin:
                await process.stdin.send(words.encode())
                await process.stdin.aclose()
        return await process.wait()
