"""Feeds that people follow: asked politely, and each new entry becomes an item."""
