"""What the exit codes mean, and how a program ends whose work does not."""

import logging
import os

__all__ = ["FAILED", "MISCONFIGURED", "OK", "UNREACHABLE", "USAGE", "leave_behind"]

OK = 0
"""It worked."""

FAILED = 1
"""The operation answered with an error."""

USAGE = 2
"""The command line or a setting is wrong; nothing was started."""

UNREACHABLE = 3
"""The source could not be loaded, or the server could not be reached."""

MISCONFIGURED = 3
"""Of ``check``, where 2 stands for warnings: its command line is wrong, or there is nothing to check."""


def leave_behind(executions: int) -> None:
    """End at once if there is work that does not stop: Python would wait for it, however long that takes.

    What becomes of it is written down already, as for a process that is gone.
    """
    if executions:
        logging.getLogger("headgate").warning("left behind, since it does not stop: %d of the executions", executions)
        logging.shutdown()
        os._exit(OK)
