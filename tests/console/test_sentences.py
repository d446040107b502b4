"""What people read when something is refused: the words of the page, at the field concerned."""

import json
import re

import pytest
from django.test import Client

from console.sentences import for_people
from knowledge.errors import InvalidInput, OutOfScope, QuarryError, not_found
from knowledge.validation import as_id, clean_line, clean_tags, refuse_blob, within
from tests.support.library import Add

HTMX = {"HX-Request": "true"}
OF_THE_API = re.compile(
    r"\b[a-z]+_[a-z]+\b|\b[Tt]oken|UUID|^(size|tags|title|name) (must|may)\b|/api/"
)


def refusals() -> list[QuarryError]:
    found = [OutOfScope([]), not_found("item")]
    for refuse in (
        lambda: as_id("x", field="folder_id"),
        lambda: clean_line(" ", field="custom_title", longest=9),
        lambda: clean_line("x" * 10, field="name", longest=9),
        lambda: clean_tags(["x"] * 51),
        lambda: clean_tags(["x" * 101]),
        lambda: within(0, field="max_pages", low=1, high=9),
        lambda: refuse_blob("data:image/png;base64,AAAA"),
    ):
        with pytest.raises(QuarryError) as refused:
            refuse()
        found.append(refused.value)
    return found


def test_no_sentence_names_an_argument_a_token_or_a_route() -> None:
    said = [for_people(error) for error in refusals()]
    assert [sentence for sentence in said if OF_THE_API.search(sentence)] == []
    assert said[1] == "No such item."
    assert said[3] == "The title must not be empty."
    assert said[4] == "The name can have at most 9 characters; it has 10."
    assert said[5] == "There can be at most 50 tags."
    assert (
        for_people(InvalidInput("max_wait must be 1.", field="max_wait")) == "Max wait must be 1."
    )


@pytest.mark.parametrize(
    ("asked", "field", "sentence"),
    [
        ({"action": "tag", "tags": ""}, "tags", "Name at least one tag."),
        ({"action": "tag", "tags": "x" * 101}, "tags", "A tag can have at most 100 characters"),
        ({"action": "file", "new_folder": ""}, "new_folder", "Choose a folder, or name a new"),
        ({"action": "file", "new_folder": "x" * 300}, "new_folder", "The name can have at most"),
        ({"action": "archive", "item": "x"}, "item", "Load it again"),
    ],
)
def test_a_refused_action_says_so_at_its_field(
    visitor: Client, add: Add, asked: dict[str, str], field: str, sentence: str
) -> None:
    item = add("Basalt")
    answer = visitor.post("/items/actions", {"item": str(item.pk), **asked}, headers=HTMX)
    told = json.loads(answer["HX-Trigger-After-Settle"])["problem"]
    assert 400 <= answer.status_code < 500
    assert told["field"] == field
    assert sentence in told["sentence"]
    assert sentence in answer.content.decode()  # for whoever has no such field on the page


def test_a_form_without_scripts_has_the_sentence_at_its_field(visitor: Client) -> None:
    page = visitor.post("/folders/", {"name": " "}).content.decode()
    assert "The name must not be empty." in page
    told = {"kind": "source", "start_url": "https://example.org/", "name": "Docs"}
    told |= {"include": "docs", "depth": "2", "max_pages": "10"}
    page = visitor.post("/sources", told).content.decode()
    assert "Each pattern of “Only pages” must begin with / or *" in page
