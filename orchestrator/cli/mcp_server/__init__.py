"""The server of `task mcp`: its tools, what bounds their results, and the protocol."""
