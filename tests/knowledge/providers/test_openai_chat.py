import json
from collections.abc import Iterator

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from knowledge.errors import ProviderUnavailable
from knowledge.providers.openai_answers import OpenAIAnswerer, cited_parts
from knowledge.providers.openai_api import OpenAIServer
from knowledge.providers.openai_chat import THINKING_TOKENS, OpenAISummarizer
from knowledge.providers.protocols import Citation, SourcePassage
from tests.support.wire.openai import SUMMARY, OpenAI, completion, openai_error

TEXT = "Granite is hard.\nIt is quarried   on the coast,\nwhere ships can load it."
PASSAGES = (
    SourcePassage(title="Stone", source="a", sentences=("Granite is hard.", "Chalk is soft.")),
    SourcePassage(title="Ships", source="b", sentences=("Ships carry stone.",)),
)


@pytest.fixture
def vendor(httpserver: HTTPServer) -> Iterator[OpenAI]:
    yield OpenAI(httpserver)
    httpserver.check_assertions()


def summarizer(vendor: OpenAI, *, context: int = 16_000, prices=None) -> OpenAISummarizer:
    return OpenAISummarizer(vendor.server_of("llama3.2"), context=context, prices=prices or {})


def answerer(vendor: OpenAI) -> OpenAIAnswerer:
    return OpenAIAnswerer(vendor.server_of("llama3.2"), prices={})


def told(**changes) -> str:
    return json.dumps(SUMMARY | changes)


def test_a_text_is_summed_up_by_a_chat_model_in_the_shape_that_is_asked_for(vendor):
    answer = told(quotes=["Granite is hard.", "Nobody said this."])
    vendor.answers = {"chat": [completion(answer, tokens=(1_000_000, 500_000))]}

    summary = summarizer(vendor, prices={"llama3": (0.5, 2.0)}).summarize("Stone", TEXT)

    assert (summary.tldr, summary.quotes) == ("Granite is hard.", ("Granite is hard.",))
    assert (summary.model, summary.cost_usd) == ("llama3.2", 1.5)
    asked = vendor.requests[0]
    assert asked["response_format"]["json_schema"]["schema"]["required"] == [*SUMMARY]
    assert "Granite is hard." in asked["messages"][1]["content"]


def test_a_server_without_schemas_is_asked_in_words(vendor):
    vendor.answers = {"chat": [openai_error(400, "response_format is not supported")]}
    model = summarizer(vendor)

    for _ in range(2):
        assert model.summarize("Stone", TEXT).tldr == "Granite is hard."

    assert ["response_format" in request for request in vendor.requests] == [True, False, False]


@pytest.mark.parametrize(
    "around", ["<think>It is {hard}.</think>{}", "Here it is:\n```json\n{}\n```"]
)
def test_thoughts_and_fences_around_the_summary_are_left_out(vendor, around):
    vendor.answers = {"chat": [completion(around.replace("{}", told()))]}
    assert summarizer(vendor).summarize("Stone", TEXT).tldr == "Granite is hard."


def test_a_text_that_the_context_does_not_hold_is_summed_up_in_parts(vendor):
    text = "\n\n".join(f"Paragraph {n} says that granite is hard." for n in range(1_500))

    summary = summarizer(vendor, context=8_000).summarize("Stone", text)

    assert summary.tldr == "Granite is hard."
    parts = [request["messages"][1]["content"] for request in vendor.requests]
    assert len(parts) > 3
    assert all(f"Paragraph {n} says" in "".join(parts) for n in (0, 700, 1_499))
    assert "list of summaries" in parts[-1]


@pytest.mark.parametrize(
    ("answer", "said", "may_pass"),
    [
        (completion("no JSON"), "no summary", True),
        (completion('{"tldr": ""}'), "no summary", True),
        (Response('{"choices": []}'), "no message", True),
        (completion(told(), reason="length"), "cut off", False),
        (completion(told(), reason="content_filter"), "declined", False),
        (completion("", refusal="I cannot help"), "declined", False),
        (completion(told(), tokens=(9, 9)), "read only the 9 tokens", False),
        (openai_error(503, "loading model"), "failed: loading model", True),
        (Response('{"error": "Unexpected endpoint"}'), "refused the request", False),
    ],
)
def test_whatever_goes_wrong_is_told_in_a_sentence(vendor, answer, said, may_pass):
    vendor.answers = {"chat": [answer]}
    with pytest.raises(ProviderUnavailable, match=said) as failure:
        summarizer(vendor).summarize("Stone", TEXT)
    assert failure.value.details["may_pass"] is may_pass


def test_an_answer_comes_sentence_by_sentence_with_what_each_stands_on(vendor):
    text = "Granite is hard [1.1]. Chalk is not [1.2], and ships carry both [2.1].\n\nSo it is."
    vendor.answers = {"chat": [completion(text)]}

    drafts = list(answerer(vendor).answer("What is hard?", PASSAGES))

    assert len(drafts) > 2
    assert drafts[0].parts[0].citations == (Citation(0, 0, 1),)
    whole = drafts[-1]
    assert "".join(part.text for part in whole.parts) == (
        "Granite is hard. Chalk is not, and ships carry both.\n\nSo it is."
    )
    assert [part.citations for part in whole.parts] == [
        (Citation(0, 0, 1),),
        (Citation(0, 1, 2), Citation(1, 0, 1)),
        (),
    ]
    asked = vendor.requests[0]
    assert "[2.1] Ships carry stone." in asked["messages"][1]["content"]
    assert asked["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("It is hard. [1.1]", [(Citation(0, 0, 1),)]),
        ("It is hard [1.1-2].", [(Citation(0, 0, 2),)]),
        ("It is hard [1.1, 2.1].", [(Citation(0, 0, 1), Citation(1, 0, 1))]),
        ("It is hard 【1.1】。 So it is.", [(Citation(0, 0, 1),), ()]),
        ("It is hard [1.3]. It floats [3.1] [0.1].", [(), ()]),
        ("The list [1] has 3.4 of them [sic].", [()]),
    ],
)
def test_a_number_that_was_not_sent_is_no_citation(text, cited):
    assert [part.citations for part in cited_parts(text, PASSAGES)] == cited


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (completion("Granite is", reason=None), "half an answer"),
        (completion(""), "an empty answer"),
        (Response('data: {"error": {"message": "CUDA"}}\n\n'), "failed: CUDA"),
        (Response('data: {"object": "error", "message": "CUDA"}\n\n'), "failed: CUDA"),
        (Response("data: {broken\n\n"), "a broken event"),
        (openai_error(404, "model not found"), "has no model"),
    ],
)
def test_an_answer_that_breaks_off_is_no_answer(vendor, answer, said):
    vendor.answers = {"chat": [answer]}
    with pytest.raises(ProviderUnavailable, match=said):
        list(answerer(vendor).answer("What is hard?", PASSAGES))


def test_openais_models_may_think_beside_an_answer_and_that_is_in_its_highest_price():
    answerers = [
        OpenAIAnswerer(OpenAIServer(url=url, model="gpt-5-mini"), prices={})
        for url in ("http://gpu:8000/v1", "https://api.openai.com/v1")
    ]
    plain, thinking = (each.highest_price(0) for each in answerers)
    assert thinking - plain == pytest.approx(THINKING_TOKENS * 2 / 1e6)
