"""Asks that put things in, and the steps that a content goes through."""
