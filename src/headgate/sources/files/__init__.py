"""Adapter files: Markdown whose head says in YAML what an API can be asked to do (Adapter Element Type)."""
