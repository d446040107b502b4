"""The admin of who may do what: tokens, what they did, and people. Importing registers them."""

from tokens.admin import events, people, tokens

__all__ = ["events", "people", "tokens"]
