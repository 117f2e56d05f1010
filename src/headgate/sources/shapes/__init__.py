"""Foreign JSON Schemas as parameters with names of our own, and the way back."""

from headgate.sources.shapes.normalizing import MalformedSchema, Normalized, normalized
from headgate.sources.shapes.shaping import NOT_GIVEN, Beside, Shaped, has_changes, shaped

__all__ = ["NOT_GIVEN", "Beside", "MalformedSchema", "Normalized", "Shaped", "has_changes", "normalized", "shaped"]
