"""How many tokens a text really costs."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the package opens its data in a way that Python is leaving
    import bpe_openai  # type: ignore[import-untyped]

    _O200K = bpe_openai.get_encoding("o200k_base")


def cost(text: str) -> int:
    """The tokens of a text in o200k."""
    return len(_O200K.encode(text))
