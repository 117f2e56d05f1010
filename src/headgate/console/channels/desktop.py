"""A dialog on the operator's desktop. What it shows goes in by standard input: arguments are seen by every process."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import anyio

from headgate.console.channels.interface import ChannelError, subject_of, text_of
from headgate.safety.loop.challenges import Challenge

__all__ = ["Desktop", "dialog_program"]

_ZENITY: Final = ("zenity", "--text-info", "--title=headgate", "--width=640", "--height=420")
_OSASCRIPT: Final = ("osascript", "-")
_POWERSHELL: Final = ("powershell", "-NoProfile", "-NonInteractive", "-Command", "-")


def dialog_program(platform: str = sys.platform, environment: Mapping[str, str] = os.environ) -> Sequence[str] | None:
    """The program that shows dialogs here; None if there is none, or no display."""
    if platform == "darwin":
        return _OSASCRIPT if shutil.which("osascript") else None
    if platform == "win32":
        return _POWERSHELL if shutil.which("powershell") else None
    has_display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return _ZENITY if has_display and shutil.which("zenity") else None


class Desktop:
    """Shows codes in a dialog of the desktop that the server runs on."""

    name = "desktop"

    def __init__(self, program: Sequence[str]) -> None:
        self._program = tuple(program)

    async def show(self, challenge: Challenge, code: str) -> None:
        """Open a dialog, and wait until it is closed or the code counts no more."""
        words = _written(self._program[0], subject_of(challenge), text_of(challenge, code))
        try:
            with anyio.move_on_after(max(1.0, challenge.expires_at - challenge.made_at)):
                await anyio.run_process(
                    self._program,
                    input=words.encode(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                )
        except OSError as error:
            raise ChannelError(f"no dialog could be opened with {self._program[0]}: {error.strerror}") from None


def _written(program: str, subject: str, text: str) -> str:
    """What the program reads: a text, or a script in which the text is nothing but a text."""
    match program:
        case "osascript":
            return f'display dialog "{_apple(text)}" with title "{_apple(subject)}" buttons {{"Close"}}\n'
        case "powershell":
            return (
                "Add-Type -AssemblyName System.Windows.Forms\n"
                f"[void][System.Windows.Forms.MessageBox]::Show('{_power(text)}', '{_power(subject)}')\n"
            )
        case _:
            return text


def _apple(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _power(text: str) -> str:
    quotes = str.maketrans({quote: quote * 2 for quote in "'\u2018\u2019\u201a\u201b"})
    return "' + [char]10 + '".join(line.translate(quotes) for line in text.split("\n"))
