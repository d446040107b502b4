import json
from typing import Any

import pytest
from pytest_django import Settings

from knowledge.asks import Ask
from knowledge.errors import ProviderUnavailable
from knowledge.providers.fake import FakeEmbedder
from tests.support.library import Add, Mint
from tests.support.rollback import each_case
from tokens.limits import spend


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_a_text_is_found_in_every_mode(mint: Mint, add: Add, mode: str) -> None:
    item = add("Consent", "The user gives consent at the authorize page.")
    add("Bread", "Sourdough needs flour, water and salt.")
    answer = mint().client.get("/api/v1/search", {"query": "consent authorize", "mode": mode})
    assert answer.status_code == 200
    best = answer.json()["results"][0]
    assert best["user_item_id"] == str(item.pk)
    assert 0 < best["score"] <= 1
    assert "consent at the authorize" in best["passage"]
    assert best["locator"]["char_span"] == [0, len(item.content.text)]
    assert best["untrusted"] is True


def test_scores_fall_with_rank_and_stay_within_0_and_1(mint: Mint, add: Add) -> None:
    for number in range(30):
        add(
            f"Note {number}",
            "alpha " * (number % 5 + 1) + f"{'beta gamma ' * (number % 3)}n{number}",
        )
    for mode in ("semantic", "keyword", "hybrid"):
        found = mint().client.get(
            "/api/v1/search", {"query": "alpha gamma", "mode": mode, "limit": 20}
        )
        scores = [hit["score"] for hit in found.json()["results"]]
        assert len(scores) == 20
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


@each_case(
    "asked, field, allowed",
    [
        ({"query": "x", "mode": "hybrid", "limit": 21}, "limit", "20"),
        ({"query": "x", "mode": "hybrid", "limit": 0}, "limit", "1"),
        ({"query": "x", "fold": True, "limit": "many"}, "limit", "integer"),
        ({"query": ""}, "query", "between 1 and 10,000"),
        ({"query": "   "}, "query", "blank"),
        ({"query": "x" * 10_001}, "query", "10,000"),
        ({}, "query", "required"),
        ({"query": "x", "mode": "psychic"}, "mode", "semantic"),
        ({"query": "x", "since": "soon"}, "since", "7d"),
        ({"query": "x", "limt": 3}, "limt", "limit"),
        ({"query": "a\x00b"}, "query", "NUL"),
        ({"query": "a\ud800b"}, "query", "surrogate"),
        ({"query": 5}, "query", "must be a string"),
        ({"query": None}, "query", "must not be null"),
        ({"query": "x", "limit": "3"}, "limit", "must be an integer"),
        ({"query": "x", "limit": True}, "limit", "must be an integer"),
        ({"query": "x", "fold": "true"}, "fold", "must be true or false"),
        ({"query": "x", "tags": "one"}, "tags", "must be a list"),
        ({"query": "x", "tags": [1]}, "tags", "Each of tags must be a string"),
        ({"query": "x", "a\ud800": 1}, "a\\ud800", "is not known"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_is_allowed(
    mint: Mint, asked: dict[str, Any], field: str, allowed: str
) -> None:
    answer = mint().client.generic(
        "POST", "/api/v1/search", json.dumps(asked), content_type="application/json"
    )
    assert answer.status_code == 400
    body = answer.json()
    assert body["error"] == "invalid_body"
    assert body["field"] == field
    assert allowed in body["message"]
    assert body["request_id"] == answer["X-Request-ID"]


def test_get_and_post_answer_alike(mint: Mint, add: Add) -> None:
    add("Tides", "The moon pulls the tides.")
    client = mint().client
    asked: dict[str, Any] = {
        "query": "moon",
        "limit": 3,
        "mode": "hybrid",
        "types": ["document"],
        "since": "1d",
    }
    got = client.get("/api/v1/search", asked).json()
    assert got == client.post("/api/v1/search", asked, format="json").json()
    assert len(got["results"]) == 1


def test_offset_goes_on_where_the_first_page_ended(mint: Mint, add: Add) -> None:
    for number in range(7):
        add(f"Stone {number}", f"granite and basalt {number}")
    client = mint().client
    pages = [
        client.get(f"/api/v1/search?query=granite&limit=3&offset={offset}").json()
        for offset in (0, 3, 6)
    ]
    seen = [hit["chunk_id"] for page in pages for hit in page["results"]]
    assert len(seen) == len(set(seen)) == 7


def test_a_failing_embedder_leaves_keyword_search_and_says_so(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Tides", "The moon pulls the tides.")
    broken = FakeEmbedder(failure=ProviderUnavailable("The model is away."))
    monkeypatch.setattr("knowledge.indexing.generations.embedder_named", lambda name: broken)
    client = mint().client
    found = client.get("/api/v1/search", {"query": "moon"}).json()
    assert found["results"]
    assert found["mode"] == "keyword"
    assert "The model is away" in found["degraded"]
    refused = client.get("/api/v1/search", {"query": "moon", "mode": "semantic"})
    assert refused.status_code == 503
    assert refused.json()["error"] == "provider_unavailable"


@pytest.mark.usefixtures("stopped_clock")
def test_the_call_after_the_last_is_told_when_to_come_back(mint: Mint, settings: Settings) -> None:
    settings.QUARRY_LIMITS = {"search": 2}
    client = mint().client
    for left in ("1", "0"):
        allowed = client.get("/api/v1/search", {"query": "x"})
        assert allowed.status_code == 200
        assert allowed["RateLimit-Remaining"] == left
    refused = client.get("/api/v1/search", {"query": "x"})
    assert refused.status_code == 429
    assert refused.json()["error"] == "rate_limited"
    assert 1 <= refused.json()["retry_after_sec"] <= 3600
    assert refused["Retry-After"] == str(refused.json()["retry_after_sec"])
    assert mint().client.get("/api/v1/search", {"query": "x"}).status_code == 200


@pytest.mark.usefixtures("stopped_clock")
def test_the_1001st_search_of_an_hour_is_refused(mint: Mint) -> None:
    token = mint()
    for _ in range(1000):
        spend(token.row, Ask.SEARCH)
    assert token.client.get("/api/v1/search", {"query": "x"}).status_code == 429


def test_search_hides_what_is_archived(mint: Mint, add: Add) -> None:
    item = add("Tides", "The moon pulls the tides.")
    client = mint().client
    client.patch(f"/api/v1/items/{item.pk}", {"archived": True}, format="json")
    assert client.get("/api/v1/search", {"query": "moon"}).json()["results"] == []


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_phrases_are_required_and_minus_words_excluded(mint: Mint, add: Add, mode: str) -> None:
    exact = add("One", "A folder scope is a list.")
    add("Two", "The scope of a folder is long.")
    add("Three", "A folder scope with salt.")
    found = mint().client.get("/api/v1/search", {"query": '"folder scope" -salt', "mode": mode})
    assert [hit["user_item_id"] for hit in found.json()["results"]] == [str(exact.pk)]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_phrase_beside_other_words_comes_first_and_the_rest_fill_up(
    mint: Mint, add: Add, mode: str
) -> None:
    add("Words", "The scope of a folder, the scope of a token, a token and a folder: list them.")
    add("Phrase", "A folder scope.")
    query = {"query": 'list token "folder scope"', "mode": mode}
    hits = mint().client.get("/api/v1/search", query).json()["results"]
    assert [hit["title"] for hit in hits] == ["Phrase", "Words"]
    assert 1 >= hits[0]["score"] > hits[1]["score"] > 0


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
def test_a_query_of_ten_thousand_characters_finds_the_text_it_was_made_of(
    mint: Mint, add: Add, mode: str
) -> None:
    words = " ".join(f"word{n}" for n in range(2_000))[:9_900]
    add("Other", "granite and marble")
    add("Long", f"{words[:4_000]} zyzzyva")
    for query in (f"{words} -zyzzyva", f'"{words}'):
        sent = {"query": query, "mode": mode}
        found = mint().client.post("/api/v1/search", sent, format="json")
        assert found.json()["results"][0]["title"] == "Long"


@pytest.mark.parametrize("asked", [{}, {"types": "document"}])
def test_what_narrows_nothing_or_by_type_is_no_query_of_its_own(
    mint: Mint, add: Add, monkeypatch: pytest.MonkeyPatch, asked: dict[str, str]
) -> None:
    """Django takes longer to write such a query than the search takes."""
    item = add("Granite")
    monkeypatch.setattr("knowledge.retrieval.scope.items_within", None)
    found = mint().client.get("/api/v1/search", {"query": "granite", **asked})
    assert [hit["user_item_id"] for hit in found.json()["results"]] == [str(item.pk)]
    if asked:
        elsewhere = mint().client.get("/api/v1/search", {"query": "granite", "types": "rule"})
        assert elsewhere.json()["results"] == []
