//! MCP, as server and as client.
