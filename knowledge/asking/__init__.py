"""Answers out of a library, in which every sentence cites its passages."""
