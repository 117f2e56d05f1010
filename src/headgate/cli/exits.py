"""What the exit codes mean."""

__all__ = ["FAILED", "OK", "UNREACHABLE", "USAGE"]

OK = 0
"""It worked."""

FAILED = 1
"""The operation answered with an error."""

USAGE = 2
"""The command line or a setting is wrong; nothing was started."""

UNREACHABLE = 3
"""The source could not be loaded, or the server could not be reached."""
