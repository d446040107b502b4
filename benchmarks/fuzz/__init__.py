"""Grows what a caller can send, and measures what each request costs the web process."""
