"""The page Ask: a question costs nothing until it is sent, and every sentence leads somewhere."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from console.ask_views import EVENT_STREAM, PER_HOUR
from knowledge.access import Access
from knowledge.asking.answering import stream_answer
from knowledge.ingest.adding import add_text
from knowledge.models import Usage
from tests.support.library import Add
from tests.support.wire.anthropic import Anthropic, cited, failure

QUESTION = "Which stone of the coast is the hardest?"


@pytest.fixture
def vendor(httpserver: HTTPServer, settings: Settings) -> Anthropic:
    anthropic = Anthropic(httpserver)
    settings.QUARRY_ANSWERER = "claude"
    settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = "secret", anthropic.base_url
    return anthropic


def test_without_a_key_the_page_says_what_to_set(visitor: Client, settings: Settings) -> None:
    settings.QUARRY_ANSWERER = "claude"
    page = visitor.get("/ask/").content.decode()
    assert "ANTHROPIC_API_KEY" in page
    assert "<textarea" not in page


def test_the_price_is_shown_before_and_after(visitor: Client, vendor: Anthropic, add: Add) -> None:
    item = add("Stones", "Granite is the hardest stone of the coast.")
    before = visitor.get("/ask/?q=Which+stone").content.decode()
    assert "At most $0.0" in before
    assert "Which stone" in before
    assert vendor.requests == []
    vendor.answers = [cited(("Granite is the hardest.", [(0, 0, 1)]))]

    page = visitor.post("/ask/", {"question": QUESTION}).content.decode()

    assert f'href="/items/{item.pk}?at=0,42#char=0,42"' in page
    assert "Granite is the hardest." in page
    assert "read 1 passage · $0.0040" in page
    assert Usage.objects.get().answers == 1


def streamed(visitor: Client, question: str = QUESTION) -> list[tuple[str, str]]:
    """The events of an answer: what each is, and its part of the page."""
    answer = visitor.post("/ask/", {"question": question}, headers={"Accept": EVENT_STREAM})
    assert answer["Content-Type"] == EVENT_STREAM
    events = b"".join(answer).decode().split("\n\n")[:-1]
    pairs = (event.split("\ndata: ") for event in events)
    return [(name.removeprefix("event: "), json.loads(data)) for name, data in pairs]


def test_an_answer_comes_sentence_by_sentence_and_none_without_its_passage(
    visitor: Client, vendor: Anthropic, add: Add
) -> None:
    item = add("Stones", "Granite is the hardest stone of the coast. Slate splits.")
    first, last = ("Granite is the hardest. ", [(0, 0, 1)]), ("Slate splits.", [(0, 1, 2)])
    vendor.answers = [cited(first, ("I guess it is old. ", []), last)]

    *drafts, (name, whole) = streamed(visitor)

    assert {name for name, _ in drafts} == {"draft"}
    assert "Granite is the hardest." in drafts[0][1]
    assert "Slate splits.<a" not in drafts[0][1]
    assert f'href="/items/{item.pk}?at=' in drafts[0][1]
    assert name == "done"
    assert "Slate splits.<a" in whole
    assert "$0.0040" in whole
    assert "1 sentence without a passage left out" in whole
    assert "I guess" not in "".join(part for _, part in [*drafts, (name, whole)])
    assert Usage.objects.get().answers == 1


def test_a_stream_says_what_went_wrong_beside_the_question(
    visitor: Client, vendor: Anthropic, add: Add
) -> None:
    add("Stones", "Granite is the hardest stone of the coast.")
    vendor.answers = [failure(529)]
    [(name, part)] = streamed(visitor)
    assert name == "done"
    assert "try again later" in part
    assert QUESTION in part
    vendor.answers = [cited(("I know that it is diamond.", []))]
    parts = [part for _, part in streamed(visitor)]
    assert "does not answer this question" in parts[-1]
    assert "diamond" not in "".join(parts)
    short = visitor.post("/ask/", {"question": "?"}, headers={"Accept": EVENT_STREAM})
    assert short.status_code == 422
    assert "<html" not in short.content.decode()


def test_whoever_leaves_early_has_paid_for_what_came(
    vendor: Anthropic, library: Access, add: Add
) -> None:
    add("Stones", "Granite is the hardest stone of the coast.")
    vendor.answers = [cited(("Granite is. ", [(0, 0, 1)]), ("It is hard.", [(0, 0, 1)]))]
    answers = stream_answer(library, QUESTION)
    assert not next(answers).is_whole
    answers.close()
    assert Usage.objects.get().answers == 1


def test_what_the_passages_do_not_say_is_refused_with_what_was_found(
    visitor: Client, vendor: Anthropic, add: Add
) -> None:
    add("Stones", "Granite is the hardest stone of the coast.")
    vendor.answers = [cited(("I know that it is diamond.", []))]
    page = visitor.post("/ask/", {"question": QUESTION}).content.decode()
    assert "Your library does not answer this question." in page
    assert "diamond" not in page
    assert ">Stones</a>" in page
    nothing = visitor.post("/ask/", {"question": "Zebra crossings?"}).content.decode()
    assert "nothing was spent" in nothing


def test_nothing_that_a_model_or_a_title_says_runs(
    visitor: Client, vendor: Anthropic, add: Add
) -> None:
    add("<img src=x onerror=alert(1)>", "Granite <script>alert(2)</script> is the hardest stone.")
    vendor.answers = [cited(("<script>alert(3)</script> is the hardest.", [(0, 0, 1)]))]
    page = visitor.post("/ask/", {"question": QUESTION}).content.decode()
    assert "alert(3)" in page
    for code in ("<img src=x", "<script>alert"):
        assert code not in page


@pytest.mark.parametrize(("status", "says"), [(401, "ANTHROPIC_API_KEY"), (529, "try again later")])
def test_a_failed_call_is_told_beside_the_question(
    visitor: Client, vendor: Anthropic, add: Add, status: int, says: str
) -> None:
    add("Stones", "Granite is the hardest stone of the coast.")
    vendor.answers = [failure(status)]
    answer = visitor.post("/ask/", {"question": QUESTION})
    page = answer.content.decode()
    assert answer.status_code == 503
    assert says in page
    assert QUESTION in page
    assert not Usage.objects.exists()


def test_a_question_must_be_one(visitor: Client, vendor: Anthropic) -> None:
    for question in ("", "Hi", "x" * 1_001):
        answer = visitor.post("/ask/", {"question": question})
        assert answer.status_code == 422
    assert vendor.requests == []


def test_only_ones_own_library_answers_and_another_ones_folder_is_no_choice(
    other_visitor: Client, vendor: Anthropic, add: Add, folder, owner: User, stranger: User
) -> None:
    mine = folder("Ada's folder")
    add("Ada's stones", "Granite is the hardest stone of the coast, says Ada.", mine)
    text = "Slate is the hardest stone, says Eve, who sees the coast."
    add_text(Access.whole_library(stranger.pk), title="Eve's", text=text)
    vendor.answers = [cited(("Slate.", [(0, 0, 1)]))]

    page = other_visitor.post("/ask/", {"question": QUESTION}).content.decode()
    refused = other_visitor.post("/ask/", {"question": QUESTION, "folder": str(mine.pk)})

    assert "Ada" not in page
    assert "Ada" not in str(vendor.requests)
    assert refused.status_code == 422
    assert "Ada" not in refused.content.decode()


def test_an_hour_has_so_many_questions(
    visitor: Client, other_visitor: Client, stopped_clock: None
) -> None:
    for _ in range(PER_HOUR):
        assert visitor.post("/ask/", {"question": QUESTION}).status_code == 200
    assert visitor.post("/ask/", {"question": QUESTION}).status_code == 429
    assert other_visitor.post("/ask/", {"question": QUESTION}).status_code == 200
    assert "0 of 60 left" in visitor.get("/settings/").content.decode()
