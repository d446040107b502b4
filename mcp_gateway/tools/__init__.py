"""Every toolset; a tool that comes earlier hides one of the same name that comes later."""

# ruff: noqa: I001 (their order is told to clients)
from mcp_gateway.tools import library
from mcp_gateway.tools import memory_search
from mcp_gateway.tools import memory_graph
from mcp_gateway.tools import memory_write
from mcp_gateway.tools import sources
from mcp_gateway.tools import skills_and_units
from mcp_gateway.tools import trust
from mcp_gateway.tools import chatgpt

__all__ = [
    "chatgpt",
    "library",
    "memory_graph",
    "memory_search",
    "memory_write",
    "skills_and_units",
    "sources",
    "trust",
]
