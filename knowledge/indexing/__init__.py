"""Chunks, words and vectors: how they are made, written, and renewed in generations."""
