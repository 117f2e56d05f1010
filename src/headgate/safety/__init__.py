"""Decisions over values: may this call run, now, for this caller? Decides; never runs anything."""
