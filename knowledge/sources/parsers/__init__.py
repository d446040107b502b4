"""Readers of files, one module a kind. They meet hostile bytes, and so run in a child alone."""
