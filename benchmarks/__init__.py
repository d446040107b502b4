"""Measurements of the search engine: quality, latency, ingest, and peers on the same data."""
