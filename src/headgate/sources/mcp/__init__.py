"""MCP servers as sources: every tool becomes an operation."""
