"""How many instructions the hot path takes: the same on a busy machine as on a quiet one."""

from pathlib import Path
from typing import Final

__all__ = ["RECORDED"]

RECORDED: Final = Path(__file__).with_name("recorded.json")
"""What was counted when it was last meant to change."""
