"""What a program says to the valgrind that it runs in: to count from here on, and to write down what it has counted.

valgrind takes such requests as a row of instructions that do nothing elsewhere, with the request in a register. They
stand in its ``valgrind.h`` and ``callgrind.h``, so that C has macros for them; here they are written into memory.
"""

import ctypes
import mmap
import platform
from typing import Final

__all__ = ["MACHINES", "Callgrind"]

MACHINES: Final = ("x86_64",)
"""The processors whose instructions are known here."""

_CODE: Final = bytes.fromhex(
    "4889f8"  # mov rax, rdi: where the request stands
    "31d2"  # xor edx, edx: the answer outside of valgrind
    "48c1c703 48c1c70d 48c1c73d 48c1c733 4887db"  # the row: rol rdi by 3, 13, 61 and 51, xchg rbx, rbx
    "4889d0 c3"  # mov rax, rdx; ret
)
_TOOL: Final = (ord("C") << 24) | (ord("T") << 16)
_ZERO, _DUMP_AT, _START, _STOP = (_TOOL + number for number in (1, 3, 4, 5))


class Callgrind:
    """The tool of valgrind that counts instructions. Outside of it, nothing happens."""

    def __init__(self) -> None:
        if platform.machine() not in MACHINES:
            raise RuntimeError(f"there is no way to speak with valgrind on {platform.machine()}")
        self._memory = mmap.mmap(-1, len(_CODE), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._memory.write(_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._request = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)

    def start(self) -> None:
        """Count from here on."""
        self._ask(_START)

    def stop(self) -> None:
        """Count no longer: what follows is quicker."""
        self._ask(_STOP)

    def zero(self) -> None:
        """Forget what was counted."""
        self._ask(_ZERO)

    def dump(self, name: str) -> None:
        """Write down what was counted since the last time, under a name, and begin anew."""
        text = ctypes.create_string_buffer(name.encode())
        self._ask(_DUMP_AT, ctypes.addressof(text))

    def _ask(self, request: int, argument: int = 0) -> None:
        words = (ctypes.c_uint64 * 6)(request, argument)
        self._request(ctypes.addressof(words))
