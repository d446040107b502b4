"""Screens a value in a reader process."""

from dataclasses import astuple

from knowledge.screening import screen_document
from knowledge.sources.parsers.frames import Frame


def screen(asked: Frame) -> Frame:
    """The findings in a JSON value."""
    return Frame([astuple(finding) for finding in screen_document(asked.value).findings])
