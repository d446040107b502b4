"""What the tests of readers run in a reader."""

import os
import time
from pathlib import Path

from benchmarks.fuzz.texts import HOSTILE
from knowledge.registry.skill_format import read_skill
from knowledge.retrieval.passages import best_passage, word_pairs
from knowledge.retrieval.word_matcher import WordMatcher
from knowledge.screening import screen_document
from knowledge.sources.parsers import docx
from knowledge.sources.parsers.frames import Frame
from knowledge.sources.parsers.reader_main import ask_caller
from knowledge.text.chunking import chunk
from knowledge.text.languages import language_of
from knowledge.text.sentences import sentence_spans
from knowledge.text.words import compound_parts, identifiers, words_of
from knowledge.trust.substance import substance_of


def echo(asked: Frame) -> Frame:
    return asked


def tell_process(asked: Frame) -> Frame:
    time.sleep(asked.value or 0)
    return Frame({"pid": os.getpid(), "environment": dict(os.environ)})


def spin(asked: Frame) -> Frame:
    while True:
        pass


def fail(asked: Frame) -> Frame:
    raise KeyError("an inner secret")


def eat_memory(asked: Frame) -> Frame:
    return Frame(len([bytes(100_000_000) for _ in range(1_000)]))


def ask_back(asked: Frame) -> Frame:
    return Frame(ask_caller({"question": asked.value}).decode())


def read_docx(asked: Frame) -> Frame:
    return Frame(len(docx.read(Path(asked.value), "a.docx").text))


def read_hostile(asked: Frame) -> Frame:
    """Every reader of texts, on one text; the limit of the child's processor time is the test."""
    name, length = asked.value
    text = HOSTILE[name](length)
    screen_document(text)
    words_of(text)
    identifiers(text)
    compound_parts(text)
    language_of(text)
    sentence_spans(text)
    best_passage(text, WordMatcher(["granite", "12", "aaaa"]))
    word_pairs(text)
    substance_of(text)
    read_skill(f"---\nname: a\ndescription: b\n---\n{text[:400_000]}")
    return Frame(len(chunk(text)))
