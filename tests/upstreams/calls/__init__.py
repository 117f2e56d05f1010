"""The table of calls: each is made directly and through headgate, and must give the same content."""

from collections.abc import Mapping

from tests.upstreams.calls import browsers, documents, reference, repositories, services, workbench
from tests.upstreams.calls.call import Call, normal

__all__ = ["CALLS", "Call", "normal"]

CALLS: Mapping[str, tuple[Call, ...]] = {
    "everything": reference.EVERYTHING,
    "filesystem": reference.FILESYSTEM,
    "memory": reference.MEMORY,
    "sequential_thinking": reference.SEQUENTIAL_THINKING,
    "time": reference.TIME,
    "fetch": reference.FETCH,
    "git": repositories.GIT,
    "git_cyanheads": repositories.GIT_CYANHEADS,
    "playwright": browsers.PLAYWRIGHT,
    "chrome_devtools": browsers.CHROME_DEVTOOLS,
    "excel": documents.EXCEL,
    "word": documents.WORD,
    "powerpoint": documents.POWERPOINT,
    "sqlite": workbench.SQLITE,
    "calculator": workbench.CALCULATOR,
    "text_editor": workbench.TEXT_EDITOR,
    "shell": workbench.SHELL,
    "taskmanager": workbench.TASKMANAGER,
    "gitlab": services.GITLAB,
    "redis": services.REDIS,
}
"""By server, in the order in which they are made: later ones may rest on what earlier ones did."""
