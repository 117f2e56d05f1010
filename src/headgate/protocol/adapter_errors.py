"""What can be wrong with an adapter while it is built."""

__all__ = ["AdapterError"]


class AdapterError(ValueError):
    """The adapter cannot be built as written; the message says what to change."""
