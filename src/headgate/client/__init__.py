"""A Python client for MCP-AQL servers."""
