"""Screens values in a reader process."""

from dataclasses import astuple

from knowledge.screening import screen_document
from knowledge.sources.parsers.frames import Frame


def screen_each(asked: Frame) -> Frame:
    """The findings in each of the JSON values."""
    verdicts = map(screen_document, asked.value)
    return Frame([[astuple(finding) for finding in each.findings] for each in verdicts])
