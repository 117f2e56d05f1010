"""The MCP side: binding, transports, authentication and settings. Only here and in the client is MCP known."""
