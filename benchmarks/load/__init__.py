"""What a caller waits for: a real server over HTTP, many callers at once, and peers beside it."""
