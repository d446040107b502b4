"""Which toolsets open a route: any one of those that its view names, as a tool has its own."""

LIBRARY = ("library",)
MEMORY = ("memory",)
REGISTRY = ("registry",)
ITEMS = ("library", "memory", "registry")
"""Items and their folders are what all three work on."""

SEARCH = ("library", "chatgpt")
READING = (*ITEMS, "chatgpt")
EVERY_TOKEN: tuple[str, ...] = ()
