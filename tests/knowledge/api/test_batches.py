"""Many entries in one call: each as a call of its own would have it, or all or nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from knowledge.access import Access
from knowledge.budgets import JSON_VALUES
from knowledge.errors import ProviderUnavailable
from knowledge.indexing import generations, preparing
from knowledge.indexing.preparing import Prepared
from knowledge.models import (
    Change,
    Chunk,
    ChunkEmbedding,
    ChunkText,
    Content,
    Delivery,
    Filing,
    Folder,
    IdempotencyRecord,
    Item,
    LibrarySize,
    Relation,
    Webhook,
)
from tests.support.library import LONG_ENOUGH, Mint, Minted
from tests.support.rollback import each_case
from tests.support.undo import undo_all

GOOD = {"title": "Granite", "text": "Granite." + LONG_ENOUGH}
LONG = "# Slabs\n\n" + "Granite is cut along its grain. " * 1_500
MEMORY = {"title": "Pool size", "content": "Connections run out at forty workers."}
FolderOf = Callable[[str], Folder]

WRONG: list[Any] = [
    {**GOOD, "text": "short"},
    {**GOOD, "text": 5},
    {**GOOD, "surprise": True},
    {**GOOD, "tags": ["x" * 101]},
    {**GOOD, "text": "data:image/png;base64,iVBORw0KGgo="},
    {**GOOD, "folder_id": "0b8f6f0e-6a55-4a3a-9f0c-2f1f6d1f4c11"},
    {**GOOD, "folder_id": "none"},
    {**GOOD, "title": " \n"},
]


def post(token: Minted, route: str, *entries: Any, **more: Any) -> Any:
    body = {"entries": list(entries), **more}
    return token.client.post(f"/api/v1/{route}/batch", body, format="json")


def refusal(answer: dict[str, Any]) -> dict[str, Any]:
    """An error without what is of its own call."""
    return {name: answer[name] for name in answer if name not in ("request_id", "index")}


def rows() -> list[Any]:
    """All that additions leave of texts, but for ids and moments."""
    chunks = Chunk.objects.order_by("item__custom_title", "item__content__title", "position")
    words = dict(ChunkText.objects.values_list("chunk_id", "tsv"))
    vectors = {each.chunk_id: list(each.vector) for each in ChunkEmbedding.objects.all()}
    lengths = dict(ChunkText.objects.values_list("chunk_id", "length"))
    fields = ("item__content__title", "start", "end", "heading_path", "text", "locator", "position")
    left = [
        (*row, words[pk], lengths[pk], vectors.get(pk))
        for pk, *row in chunks.values_list("pk", *fields)
    ]
    titles = Item.objects.order_by("content__title")
    told = ("content__title", "content__language", "tags", "in_kb", "index_status", "chunk_count")
    items = list(titles.values_list(*told, "word_count", "index_version", "added_by_token"))
    size = list(LibrarySize.objects.values_list("chunks", "words", "fresh", "languages"))
    return [left, items, size, Change.objects.count()]


def test_a_batch_leaves_what_calls_one_by_one_leave(mint: Mint) -> None:
    texts: list[dict[str, Any]] = [
        {"title": "A", "text": LONG[:9_000], "tags": ["x", "y"]},
        {"title": "B", "text": "Der Granit wird entlang seiner Maserung geschnitten und poliert."},
        {"title": "C", "text": "Kept out of the knowledge base.", "in_kb": False},
        {"title": "D", "text": "Granite and basalt are igneous rocks."},
    ]
    token = mint()
    for text in texts:
        added = token.client.post("/api/v1/ingest", {"kind": "text", **text}, format="json")
        assert added.status_code == 201
    alone = rows()
    for model in (Chunk, ChunkText, ChunkEmbedding, Item, Content, LibrarySize, Change):
        model._base_manager.all().delete()
    assert post(token, "ingest", *texts).json()["accepted"] == 4
    together = rows()
    assert [sorted(together[2][0][3]), *together[:2]] == [sorted(alone[2][0][3]), *alone[:2]]
    assert (together[2][0][:3], together[3]) == (alone[2][0][:3], alone[3])


def test_what_is_wrong_with_an_entry_is_said_as_in_a_single_call_and_spares_the_others(
    mint: Mint,
) -> None:
    token = mint()
    answer = post(token, "ingest", GOOD, *WRONG, GOOD, "granite")
    assert answer.status_code == 201
    body = answer.json()
    assert (body["accepted"], body["refused"]) == (2, len(WRONG) + 1)
    assert [result["index"] for result in body["results"]] == list(range(len(WRONG) + 3))
    for entry, result in zip(WRONG, body["results"][1:], strict=False):
        single = token.client.post("/api/v1/ingest", {"kind": "text", **entry}, format="json")
        said, expected = refusal(result), refusal(single.json())
        expected.pop("allowed", None)  # a batch knows no url
        if "surprise" in entry:
            assert said.pop("message").split(" is")[0] == expected.pop("message").split(" is")[0]
        said.pop("allowed", None)
        assert said == expected
    assert "JSON object" in body["results"][-1]["message"]
    for place in (0, -2):
        added = body["results"][place]["answer"]
        assert (added["status"], added["index_status"]) == ("ready", "done")
        assert Item.objects.filter(pk=added["user_item_id"]).exists()
    assert Item.objects.count() == 2


def test_all_or_nothing_leaves_nothing_and_names_every_entry_that_is_wrong(mint: Mint) -> None:
    token = mint()
    answer = post(token, "ingest", GOOD, {**GOOD, "text": "short"}, 7, GOOD, atomic=True)
    said = answer.json()
    assert (answer.status_code, said["error"], said["field"]) == (400, "invalid_body", "text")
    assert said["message"].startswith("entries[1]: text must have between 20 and 500,000")
    assert [each["index"] for each in said["entries"]] == [1, 2]
    assert not Item.objects.exists()
    assert answer["RateLimit-Remaining"] == "60"
    assert post(token, "ingest", GOOD, GOOD, atomic=True).json()["accepted"] == 2


@each_case(
    "body, says",
    [
        ({"entries": []}, "between 1 and 100"),
        ({"entries": [GOOD] * 101}, "between 1 and 100"),
        ({"entries": "granite"}, "entries must be a list"),
        ({}, "entries is required"),
        ({"entries": [GOOD], "more": 1}, "more is not known here"),
        ({"entries": [GOOD], "atomic": "perhaps"}, "atomic must be true or false"),
        (["granite"], "must be a JSON object"),
    ],
)
def test_a_body_that_is_no_batch_is_refused(mint: Mint, body: Any, says: str) -> None:
    answer = mint().client.post("/api/v1/ingest/batch", body, format="json")
    assert answer.status_code == 400
    assert says in answer.json()["message"]
    assert answer["RateLimit-Remaining"] == "60"


def test_links_are_not_taken_in_a_batch(mint: Mint) -> None:
    link = {"kind": "url", "title": "x", "text": "https://example.org/ is a link"}
    [result] = post(mint(), "ingest", link).json()["results"]
    assert result["error"] == "invalid_body"
    assert "POST /ingest" in result["message"]


def test_batches_that_cannot_be_read_are_limited_as_other_refused_calls(
    mint: Mint, settings: Any, stopped_clock: None
) -> None:
    settings.QUARRY_LIMITS = {"add": 1}
    client = mint().client
    crowded = b'{"entries":[' + b"[]," * JSON_VALUES.most + b"[]]}"
    answered = [
        client.post("/api/v1/ingest/batch", body, content_type="application/json").status_code
        for body in (b"{", crowded, crowded, crowded, crowded, crowded)
    ]
    assert answered == [400, 413, 413, 413, 413, 429]


def test_a_batch_that_finds_no_reader_adds_nothing_and_says_so(
    mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> Any:
        raise ProviderUnavailable("Many long texts are being read.")

    monkeypatch.setattr(preparing, "_cut_texts", refuse)
    for route, entry in (("ingest", GOOD), ("memory", MEMORY)):
        answer = post(mint(), route, entry, entry)
        assert (answer.status_code, answer.json()["error"]) == (503, "provider_unavailable")
    assert not Item.objects.exists()


@each_case("count, spent", [(1, 1), (10, 1), (11, 2), (100, 10)])
def test_a_batch_counts_as_one_call_for_every_ten_entries(
    mint: Mint, stopped_clock: None, count: int, spent: int
) -> None:
    answer = post(mint(), "ingest", *[GOOD] * count, dry_run=True)
    assert answer.status_code == 200
    assert answer["RateLimit-Remaining"] == str(60 - spent)


def test_a_batch_for_which_too_few_calls_are_left_adds_nothing_and_spends_nothing(
    mint: Mint, settings: Any, stopped_clock: None
) -> None:
    settings.QUARRY_LIMITS = {"add": 3}
    token = mint()
    assert post(token, "ingest", *[GOOD] * 15, dry_run=True).status_code == 200
    refused = post(token, "ingest", *[GOOD] * 11)
    assert (refused.status_code, refused.json()["error"]) == (429, "rate_limited")
    assert not Item.objects.exists()
    assert post(token, "ingest", GOOD).status_code == 201
    assert post(token, "ingest", GOOD).status_code == 429


def test_a_dry_run_says_what_each_would_be_and_keeps_nothing(mint: Mint) -> None:
    answer = post(mint(), "ingest", GOOD, {**GOOD, "text": "short"}, dry_run=True)
    first, second = answer.json()["results"]
    single = mint().client.post(
        "/api/v1/ingest", {"kind": "text", **GOOD, "dry_run": True}, format="json"
    )
    assert first["answer"] == single.json()
    assert second["error"] == "invalid_body"
    assert not Item.objects.exists()


def test_a_repeated_batch_runs_once(mint: Mint) -> None:
    token = mint()
    headers = {"Idempotency-Key": "notes"}
    sent = [
        token.client.post(
            "/api/v1/ingest/batch", {"entries": [GOOD, 5]}, format="json", headers=headers
        )
        for _ in range(2)
    ]
    assert sent[0].content == sent[1].content
    assert sent[1]["Idempotent-Replayed"] == "true"
    assert (Item.objects.count(), IdempotencyRecord.objects.count()) == (1, 1)


def test_entries_are_filed_recorded_and_announced_as_single_additions_are(
    mint: Mint, folder: FolderOf, library: Access
) -> None:
    shelf, other = folder("Shelf"), folder("Other")
    Webhook.objects.create(owner_id=library.owner_id, url="https://example.org/hook")
    token = mint(shelf, kb_only=True)
    answer = post(
        token, "ingest", GOOD, {**GOOD, "in_kb": False}, {**GOOD, "folder_id": str(other.pk)}
    )
    results = answer.json()["results"]
    assert [each.get("answer", {}).get("folder_id") for each in results] == [
        str(shelf.pk),
        str(shelf.pk),
        None,
    ]
    assert results[2]["error"] == "forbidden_scope"
    assert results[2]["out_of_scope"] == [str(other.pk)]
    assert list(Item.objects.values_list("in_kb", "unfiled_by")) == [(True, None)] * 2
    assert Filing.objects.filter(folder=shelf).count() == 2
    assert Delivery.objects.filter(event="item.ready").count() == 2
    assert undo_all(token).counts == {"item_added": 2}
    assert not Item.objects.exists()


def test_a_folder_that_goes_meanwhile_refuses_its_entry_alone(
    mint: Mint, folder: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = folder("Shelf")
    prepare = preparing.prepare_texts

    def prepare_and_delete(texts: list[tuple[str, str]]) -> list[Prepared]:
        shelf.delete()
        return prepare(texts)

    monkeypatch.setattr("knowledge.ingest.batches.prepare_texts", prepare_and_delete)
    results = post(mint(), "ingest", {**GOOD, "folder_id": str(shelf.pk)}, GOOD).json()["results"]
    assert results[0]["error"] == "forbidden_scope"
    assert "answer" in results[1]
    assert Item.objects.count() == Content.objects.count() == 1


def test_a_long_text_leaves_its_vectors_to_a_job_and_the_others_have_theirs(
    mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "INLINE_CHUNKS", 3)
    results = post(mint(), "ingest", GOOD, {**GOOD, "text": LONG}, GOOD).json()["results"]
    states = [each["answer"]["index_status"] for each in results]
    assert states == ["done", "keyword", "done"]


def test_texts_of_an_embedder_that_reads_neighbours_are_embedded_by_jobs(
    mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.providers.fake.FakeEmbedder.reads_neighbours", True)
    results = post(mint(), "ingest", GOOD, GOOD).json()["results"]
    assert {each["answer"]["index_status"] for each in results} == {"keyword"}


def test_a_batch_of_memories_is_screened_compared_and_related_one_by_one(mint: Mint) -> None:
    token = mint()
    there = token.client.post("/api/v1/memory", MEMORY, format="json").json()["id"]
    secret = {**MEMORY, "content": "The key is AKIAIOSFODNN7EXAMPLA, kept for later."}
    missing = {**MEMORY, "related_to": ["0b8f6f0e-6a55-4a3a-9f0c-2f1f6d1f4c11"]}
    linked = {**MEMORY, "title": "Other", "related_to": [f"supports:{there}"]}
    answer = post(token, "memory", MEMORY, secret, missing, linked, {**MEMORY, "priority": "high"})
    first, *refused, last, task = answer.json()["results"]
    assert [each["id"] for each in first["answer"]["conflicts"]] == [there]
    assert [each["error"] for each in refused] == ["invalid_body", "not_found"]
    assert refused[0]["findings"]
    assert task["error"] == "invalid_body"
    assert last["answer"]["links_made"][0]["target_id"] == there
    assert Relation.objects.count() == 1
    single = token.client.post("/api/v1/memory", MEMORY, format="json").json()
    assert first["answer"].keys() == single.keys()
    assert answer["RateLimit-Remaining"] == "298"


def test_a_memory_that_a_job_embeds_later_says_why_it_was_not_compared(
    mint: Mint, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = mint()
    there = token.client.post("/api/v1/memory", MEMORY, format="json").json()["id"]
    monkeypatch.setattr(generations, "_INLINE_TOKENS", 1)
    first, second = [
        each["answer"] for each in post(token, "memory", MEMORY, MEMORY).json()["results"]
    ]
    assert ([each["id"] for each in first["conflicts"]], first["degraded"]) == ([there], None)
    assert (second["index_status"], second["conflicts"]) == ("keyword", [])
    assert second["degraded"] == "Nothing was compared with it, for a job embeds it later."


def test_memories_all_or_nothing(mint: Mint, stranger: User) -> None:
    hidden = mint(by=stranger).client.post("/api/v1/memory", MEMORY, format="json").json()["id"]
    token = mint()
    wrong = {**MEMORY, "related_to": [hidden]}
    secret = {**MEMORY, "content": "The key is AKIAIOSFODNN7EXAMPLA, kept for later."}
    answer = post(token, "memory", MEMORY, wrong, MEMORY, secret, atomic=True)
    refused = [(each["index"], each["error"]) for each in answer.json()["entries"]]
    assert (answer.status_code, refused) == (404, [(1, "not_found"), (3, "invalid_body")])
    assert not Item.objects.visible_to(token.access).exists()
    assert post(token, "memory", MEMORY, MEMORY, atomic=True).json()["accepted"] == 2
