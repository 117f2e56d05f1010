"""A server that works for long stays as it is: no unexpected answer, and memory, handles, threads and tasks stay flat.

The suite soaks for two minutes. ``make soak`` does for thirty, and prints what was seen; ``HEADGATE_SOAK_SECONDS`` says
how long, and ``HEADGATE_SOAK_VISITORS`` how many come at once.
"""

import asyncio
import os
import sys
from pathlib import Path

from tests.soak.soaking import Length, Soak, soaked_server

WANTED = float(os.environ.get("HEADGATE_SOAK_SECONDS", "0"))
VISITORS = int(os.environ.get("HEADGATE_SOAK_VISITORS", "4"))
SHORT = Length(seconds=110, visitors=VISITORS, thinking=0.02)
LONG = Length(seconds=WANTED, visitors=VISITORS, thinking=0.03, quiets=9)
LEAK = int(os.environ.get("HEADGATE_SOAK_LEAK", "0"))


def test_a_server_stays_as_it_is_whatever_its_clients_do(tmp_path: Path) -> None:
    with soaked_server(tmp_path, LEAK) as serving:
        soak = Soak(serving, LONG if WANTED else SHORT)
        asyncio.run(soak.run())
        assert serving.process.poll() is None
    sys.stdout.write(f"\n{soak}\n")
    assert soak.findings() == []
    assert "Traceback" not in serving.log.text
