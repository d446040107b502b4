"""How a documentation site becomes items: politely, page by page, and again when it changes."""
