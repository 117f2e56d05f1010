"""Python's search for garbage, put off while a command starts: what is made then stays, and is searched for nothing.

Looking through hundreds of thousands of new objects again and again is a tenth of a start. Afterwards none of them is
looked at any more, which spares a server that search for as long as it runs.
"""

import gc

__all__ = ["put_off", "resume"]


def put_off() -> None:
    """Search for no garbage until all is there."""
    gc.disable()


def resume() -> None:
    """Search again, if that was put off, among what is made from now on."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
