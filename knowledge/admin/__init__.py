"""The admin of the library: one module per noun. Importing them registers them."""

from knowledge.admin import contents, folders, generations, items, jobs, usage

__all__ = ["contents", "folders", "generations", "items", "jobs", "usage"]
