import base64
import random

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from knowledge.indexing import generations
from knowledge.models import Chunk, ChunkEmbedding, ChunkText, Content, Item
from tests.support.library import Mint
from tests.support.rollback import each_case

WORDS = "Quarry keeps what agents learn. "


def ingest(client: APIClient, **body: object) -> tuple[int, dict[str, object]]:
    answer = client.post("/api/v1/ingest", {"kind": "text", "title": "T", **body}, format="json")
    return answer.status_code, answer.json()


def test_a_short_text_is_ready_and_searchable_when_the_call_returns(mint: Mint) -> None:
    client = mint().client
    status, body = ingest(client, text=WORDS, tags=["a", "b", "a"])
    assert status == 201
    assert body["status"] == "ready"
    assert body["index_status"] == "done"
    assert body["folder_id"] is None
    assert body["transform_error"] is None
    item = client.get(f"/api/v1/items/{body['user_item_id']}").json()
    assert item["text"] == WORDS
    assert item["tags"] == ["a", "b"]
    assert item["content_id"] == body["content_id"]
    found = client.get("/api/v1/search", {"query": "agents learn", "mode": "semantic"}).json()
    assert [hit["user_item_id"] for hit in found["results"]] == [body["user_item_id"]]


@each_case(
    "body, error, says",
    [
        ({"text": "x" * 19}, "invalid_body", "between 20 and 500,000"),
        ({"text": " " * 30}, "invalid_body", "blank"),
        ({"text": "x" * 500_001}, "invalid_body", "500,000"),
        ({"text": WORDS, "title": "x" * 501}, "invalid_body", "500"),
        ({"text": WORDS, "title": ""}, "invalid_body", "title"),
        ({"text": WORDS, "title": " \n "}, "invalid_body", "title"),
        ({}, "invalid_body", "text is required"),
        ({"kind": "carrier pigeon", "text": WORDS}, "invalid_body", "text, url"),
        ({"kind": "file", "text": WORDS}, "forbidden_binary", "/api/v1/uploads"),
        ({"kind": "url"}, "invalid_body", "url is required"),
        ({"kind": "url", "url": "data:image/png;base64,AAAA"}, "forbidden_binary", "uploads"),
        ({"text": "data:image/png;base64,iVBORw0KGgo="}, "forbidden_binary", "uploads"),
        (
            {"text": base64.b64encode(bytes([7, 200, 255]) * 400).decode()},
            "forbidden_binary",
            "uploads",
        ),
        ({"text": WORDS, "tags": ["x" * 101]}, "invalid_body", "tags"),
        ({"text": WORDS, "in_kb": "perhaps"}, "invalid_body", "in_kb"),
        ({"text": WORDS, "surprise": 1}, "invalid_body", "surprise"),
        ({"text": ["not", "a", "string"]}, "invalid_body", "text"),
    ],
)
def test_what_cannot_be_taken_is_refused_and_leaves_nothing(
    mint: Mint, body: dict[str, object], error: str, says: str
) -> None:
    status, answer = ingest(mint().client, **body)
    assert (status, answer["error"]) == (400, error)
    assert says in str(answer["message"])
    assert not Item.objects.exists()
    assert not Content.objects.exists()
    assert not Chunk.objects.exists()


def test_an_asked_for_transform_that_no_model_can_make_leaves_the_item_ready(
    mint: Mint, settings
) -> None:
    settings.QUARRY_SUMMARIZER = "claude"
    status, answer = ingest(mint().client, text=WORDS, auto_transform=True)
    assert (status, answer["status"]) == (201, "ready")
    assert "ANTHROPIC_API_KEY" in str(answer["transform_error"])


@pytest.mark.parametrize("length", [20, 500_000])
def test_the_shortest_and_the_longest_text_are_taken(mint: Mint, length: int) -> None:
    text = (WORDS * (length // len(WORDS) + 1))[:length].rstrip().ljust(length, "x")
    status, _ = ingest(mint().client, text=text, title="x" * 500)
    assert status == 201
    assert Content.objects.get().text == text


def test_a_long_text_is_found_by_word_at_once_and_by_meaning_after_its_job(mint: Mint) -> None:
    client = mint().client
    text = "\n\n".join(f"Paragraph {n} speaks of marble number {n}." * 8 for n in range(400))
    _, answer = ingest(client, text=text + "\n\nThe zyzzyva is a weevil.")
    assert (answer["status"], answer["index_status"]) == ("ready", "keyword")
    asked = {"query": "zyzzyva weevil", "mode": "keyword"}
    assert client.get("/api/v1/search", asked).json()["results"]
    assert not ChunkEmbedding.objects.exists()

    item = Item.objects.get()
    generations.embed_item(item.pk)
    item.refresh_from_db()
    assert item.index_status == "done"
    assert ChunkEmbedding.objects.count() == Chunk.objects.count() == item.chunk_count
    best = client.get("/api/v1/search", asked | {"mode": "semantic"}).json()["results"][0]
    assert "zyzzyva" in best["passage"]


def test_an_embedding_job_that_runs_twice_makes_no_double_rows(mint: Mint) -> None:
    ingest(mint().client, text=WORDS * 1000)
    item = Item.objects.get()
    generations.embed_item(item.pk)
    generations.embed_item(item.pk)
    assert ChunkEmbedding.objects.count() == item.chunk_count


def test_what_is_not_in_the_knowledge_base_has_no_chunks_until_it_joins(mint: Mint) -> None:
    client = mint().client
    _, answer = ingest(client, text=WORDS, in_kb=False)
    assert answer["index_status"] == "none"
    route = f"/api/v1/items/{answer['user_item_id']}"
    rows = (Chunk, ChunkText, ChunkEmbedding)
    assert [model.objects.count() for model in rows] == [0, 0, 0]

    joined = client.patch(route, {"in_kb": True}, format="json").json()
    assert joined["index_status"] == "done"
    assert [model.objects.count() for model in rows] == [1, 1, 1]

    left = client.patch(route, {"in_kb": False}, format="json").json()
    assert left["index_status"] == "none"
    assert [model.objects.count() for model in rows] == [0, 0, 0]


def test_chunks_are_the_exact_spans_of_the_text(mint: Mint) -> None:
    text = "# Köpfe\r\n\r\nErste Zeile – mit Umlauten.\r\n\r\n```py\nprint('🪨')\n```\n" * 40
    ingest(mint().client, text=text)
    for chunk in Chunk.objects.all():
        assert chunk.text == text[chunk.start : chunk.end]


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧‍👦 " * 3000,
        "永和九年歲在癸丑" * 3000,
        "'; DROP TABLE knowledge_item; -- \\ \"'" * 50,
        "\u202e right to left \u200b and zero width",
        "```" * 5000 + "never closed",
        random.Random(5).randbytes(5000).hex(),
    ],
)
def test_odd_texts_are_taken_whole(mint: Mint, text: str) -> None:
    client = mint().client
    status, answer = ingest(client, text=text, title="it's \\ odd")
    assert status == 201
    assert client.get(f"/api/v1/items/{answer['user_item_id']}").json()["text"] == text
    for mode in ("keyword", "hybrid"):
        asked = {"query": text[:500], "mode": mode}
        assert client.post("/api/v1/search", asked, format="json").status_code == 200


def test_a_body_that_django_refuses_is_too_large_and_not_our_fault(
    mint: Mint, settings: Settings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    status, body = ingest(mint().client, text=WORDS * 10)
    assert (status, body["error"]) == (413, "payload_too_large")


def test_a_body_that_is_no_object_is_named_as_the_body(mint: Mint) -> None:
    answer = mint().client.post("/api/v1/ingest", [WORDS], format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, "body")
    assert answer.json()["message"] == "The body must be a JSON object."
