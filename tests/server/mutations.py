"""Messages that were almost right: each changed in a few places, the same way in every run."""

import json
import random
from collections.abc import Iterator

from tests.server.processes import INITIALIZED, MODERN_META, tool_call

_MESSAGES = [
    tool_call(1, "get_echo", {"text": "x"}),
    {**tool_call(2, "get_echo", {"text": "x"}), "_meta": MODERN_META},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
    {
        "jsonrpc": "2.0",
        "id": 4,
        "method": "tools/call",
        "params": {"name": "mcp_aql_read", "_meta": {"progressToken": 1}},
    },
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "id": 5, "result": {}},
    INITIALIZED,
]
_PIECES = [
    b"NaN",
    b"null",
    b"[]",
    b"{}",
    b'"\\ud800"',
    b"1e999",
    b"\xff",
    b'"',
    b"\\",
    b"\x00",
    b"9" * 30,
    b'{"a":' * 40,
]


def mutated(count: int, seed: int) -> Iterator[bytes]:
    """As many lines, none with a line break inside."""
    chance = random.Random(seed)  # noqa: S311  (not for secrets)
    for _ in range(count):
        line = bytearray(json.dumps(chance.choice(_MESSAGES)).encode())
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(line))
            match chance.randrange(4):
                case 0:
                    line[place] = chance.randrange(256)
                case 1:
                    line[place:place] = chance.choice(_PIECES)
                case 2:
                    del line[place : place + chance.randint(1, 20)]
                    line = line or bytearray(b" ")
                case _:
                    line[place:place] = line[: chance.randint(1, 20)]
        yield bytes(line).replace(b"\n", b" ")
