"""Bringing a library in: other programs' exports and lists of links, row by row."""
