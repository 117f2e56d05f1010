"""All checks, area by area."""

from typing import Final

from headgate.conformance.checks import (
    aggregation,
    batches,
    collections,
    concurrency,
    confirmation,
    constraints,
    data,
    defaults,
    discoverability,
    documentation,
    errors,
    executions,
    features,
    formats,
    guidance,
    introspection,
    naming,
    paging,
    parameters,
    protocol,
    refusals,
    requests,
    round_trips,
    routing,
    safety_loop,
    selection,
    sessions,
    types,
    updates,
)
from headgate.conformance.registry import registered
from headgate.conformance.values import Check

__all__ = ["ALL_CHECKS"]

_MODULES: Final = (
    introspection,
    documentation,
    types,
    protocol,
    naming,
    parameters,
    defaults,
    errors,
    round_trips,
    updates,
    refusals,
    constraints,
    features,
    discoverability,
    routing,
    requests,
    data,
    batches,
    collections,
    paging,
    selection,
    aggregation,
    guidance,
    confirmation,
    executions,
    safety_loop,
    sessions,
    concurrency,
    formats,
)
"""Each enters its checks when it is imported."""
_PLACES: Final = {module.__name__: place for place, module in enumerate(_MODULES)}

ALL_CHECKS: Final[tuple[Check, ...]] = tuple(sorted(registered(), key=lambda check: _PLACES[check.run.__module__]))
"""In the order of reports."""
