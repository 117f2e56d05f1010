"""A server that works for long stays as it is: no unexpected answer, and memory, handles, threads and tasks stay flat.

The suite soaks for two minutes. ``make soak`` does for thirty, and prints what was seen; ``HEADGATE_SOAK_SECONDS`` says
how long, and ``HEADGATE_SOAK_VISITORS`` how many come at once.
"""

import asyncio
import os
import sys
from pathlib import Path

from tests.soak.soaking import Soak, soaked_server
from tests.soak.wanted import wanted


def test_a_server_stays_as_it_is_whatever_its_clients_do(tmp_path: Path) -> None:
    asked = wanted(os.environ)
    with soaked_server(tmp_path, asked.leak) as serving:
        soak = Soak(serving, asked.length)
        asyncio.run(soak.run())
        assert serving.process.poll() is None
    sys.stdout.write(f"\n{soak}\n")
    assert soak.findings() == []
    assert "Traceback" not in serving.log.text
