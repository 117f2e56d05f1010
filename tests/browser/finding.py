"""Where this machine has a browser."""

import shutil

__all__ = ["chromium"]


def chromium() -> str | None:
    """Where Chromium is installed, as the system's packages do it: no browser is downloaded."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
