from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from knowledge.models import Chunk, Content, Folder, Item
from tests.support.library import Add, Mint

MakeFolder = Callable[[str], Folder]


def test_items_are_listed_newest_first_by_pages(mint: Mint, add: Add) -> None:
    made = [str(add(f"Item {n}").pk) for n in range(5)]
    client = mint().client
    pages = [
        client.get("/api/v1/items", {"page": page, "per_page": 2}).json() for page in (1, 2, 3, 4)
    ]
    assert [[row["user_item_id"] for row in page["items"]] for page in pages] == [
        [made[4], made[3]],
        [made[2], made[1]],
        [made[0]],
        [],
    ]
    assert {(page["total"], page["per_page"]) for page in pages} == {(5, 2)}


def test_every_filter_narrows(mint: Mint, add: Add, folder: MakeFolder) -> None:
    inbox = folder("Inbox")
    filed = add("Filed tide", "", inbox)
    hidden = add("Hidden", in_kb=False)
    old = add("Old tide")
    client = mint().client
    client.patch(f"/api/v1/items/{old.pk}", {"archived": True, "tags": ["x"]}, format="json")

    def listed(**filters: Any) -> set[str]:
        answer = client.get("/api/v1/items", filters)
        assert answer.status_code == 200
        return {row["user_item_id"] for row in answer.json()["items"]}

    assert listed() == {str(filed.pk), str(hidden.pk), str(old.pk)}
    assert listed(folder_id=inbox.pk) == {str(filed.pk)}
    assert listed(in_kb="false") == {str(hidden.pk)}
    assert listed(archived="true") == {str(old.pk)}
    assert listed(archived="false") == {str(filed.pk), str(hidden.pk)}
    assert listed(tag="x") == {str(old.pk)}
    assert listed(q="TIDE") == {str(filed.pk), str(old.pk)}
    assert listed(since="1d", type="document", in_kb="true") == {str(filed.pk), str(old.pk)}


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"page": 0}, 400),
        ({"per_page": 101}, 400),
        ({"type": "sonnet"}, 400),
        ({"folder_id": "not-an-id"}, 400),
        ({"since": "yesterday-ish"}, 400),
        ({"order": "asc"}, 400),
        ({"folder_id": str(uuid4())}, 404),
    ],
)
def test_a_wrong_filter_is_refused(mint: Mint, asked: dict[str, Any], status: int) -> None:
    assert mint().client.get("/api/v1/items", asked).status_code == status


def test_only_what_is_sent_is_changed(mint: Mint, add: Add) -> None:
    item = add("Before")
    client = mint().client
    route = f"/api/v1/items/{item.pk}"
    changed = client.patch(route, {"title": "After", "tags": ["new"]}, format="json").json()
    assert (changed["title"], changed["tags"], changed["in_kb"]) == ("After", ["new"], True)
    changed = client.patch(route, {"archived": True}, format="json").json()
    assert (changed["title"], changed["tags"], changed["archived"]) == ("After", ["new"], True)
    assert client.patch(route, {"visibility": "everyone"}, format="json").status_code == 400
    assert client.patch(route, {"text": "rewritten"}, format="json").status_code == 400


def test_a_renamed_item_is_found_by_its_new_name(mint: Mint, add: Add) -> None:
    item = add("Before")
    client = mint().client
    client.patch(f"/api/v1/items/{item.pk}", {"title": "Xylophone"}, format="json")
    for mode in ("keyword", "semantic"):
        found = client.get("/api/v1/search", {"query": "xylophone", "mode": mode}).json()
        assert found["results"][0]["title"] == "Xylophone"


def test_a_deleted_item_leaves_no_row_behind(mint: Mint, add: Add) -> None:
    item = add("Gone")
    client = mint().client
    assert client.delete(f"/api/v1/items/{item.pk}").status_code == 204
    assert client.delete(f"/api/v1/items/{item.pk}").status_code == 404
    for model in (Item, Content, Chunk):
        assert not model.objects.exists()


@pytest.mark.parametrize("item_id", ["nonsense", "123", "../../etc/passwd", "%00"])
def test_an_id_that_is_no_id_is_told_so(mint: Mint, item_id: str) -> None:
    answer = mint().client.get(f"/api/v1/items/{item_id}")
    assert answer.status_code in (400, 404)
    assert answer.json()["error"] in ("invalid_id", "not_found")


def test_filing_is_idempotent_and_unfiling_too(mint: Mint, add: Add, folder: MakeFolder) -> None:
    item, shelf = add("Book"), folder("Shelf")
    client = mint().client
    route = f"/api/v1/items/{item.pk}/folders"
    for _ in range(2):
        answer = client.post(route, {"folder_ids": [str(shelf.pk)]}, format="json")
        assert answer.json()["folder_ids"] == [str(shelf.pk)]
    for _ in range(2):
        assert client.delete(f"{route}/{shelf.pk}").status_code == 204
    assert client.get(f"/api/v1/items/{item.pk}").json()["folder_ids"] == []


def test_an_unknown_route_answers_in_the_same_envelope(mint: Mint) -> None:
    answer = mint().client.get("/api/v1/teapots")
    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"


def test_a_wrong_method_and_a_body_that_is_not_json_are_told(mint: Mint) -> None:
    client = mint().client
    refused = client.put("/api/v1/items", {}, format="json")
    assert (refused.status_code, refused.json()["error"]) == (405, "method_not_allowed")
    assert refused["Allow"].startswith("GET")
    assert refused.json()["allowed"] == ["GET", "HEAD"]
    assert refused.json()["message"] == "This route takes GET, HEAD."
    broken = client.generic("POST", "/api/v1/ingest", "{", content_type="application/json")
    assert (broken.status_code, broken.json()["error"]) == (400, "invalid_body")
    form = client.generic("POST", "/api/v1/ingest", "a=1", content_type="text/plain")
    assert (form.status_code, form.json()["error"]) == (415, "unsupported_media")
    assert form.json()["allowed"] == ["application/json"]
