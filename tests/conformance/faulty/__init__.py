"""A small museum that speaks MCP-AQL by itself, with faults that can be switched on one by one."""
