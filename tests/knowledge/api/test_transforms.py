from collections.abc import Callable
from uuid import uuid4

import pytest

from knowledge.api.shapes import TransformOutput
from knowledge.ingest import followups
from knowledge.models import Content, Folder, Transform
from tests.support.library import Add, Mint


def test_a_summary_is_asked_for_and_then_there(mint: Mint, add: Add) -> None:
    item = add("Stone", "Granite is hard.")
    answer = mint().client.post(f"/api/v1/items/{item.pk}/transform")
    assert answer.status_code == 202
    body = answer.json()
    assert (body["user_item_id"], body["state"]) == (str(item.pk), "queued")
    assert answer.headers["RateLimit-Limit"] == "60"

    followups.summarize_item(str(item.pk))

    done = TransformOutput(Transform.objects.get()).data
    assert (done["state"], done["tldr"]) == ("done", "Granite is hard.")
    assert done["quotes"][0] == {"text": "Granite is hard.", "locator": {"char_span": [0, 16]}}


def test_the_ask_takes_nothing_but_the_path(mint: Mint, add: Add) -> None:
    route = f"/api/v1/items/{add('Stone').pk}/transform"
    answer = mint().client.post(route, {"model": "opus"}, format="json")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_body")


def test_only_who_may_write_and_sees_the_item_may_ask(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    item = add("Stone")
    route = f"/api/v1/items/{item.pk}/transform"
    assert mint(write=False).client.post(route).status_code == 403
    assert mint(folder("Elsewhere")).client.post(route).status_code == 404
    assert mint().client.post(f"/api/v1/items/{uuid4()}/transform").status_code == 404
    assert mint().client.post("/api/v1/items/7/transform").json()["error"] == "invalid_id"
    assert not Transform.objects.exists()


def test_an_item_without_its_text_is_a_conflict(mint: Mint, add: Add) -> None:
    item = add("Stone")
    Content.objects.update(state="queued")
    answer = mint().client.post(f"/api/v1/items/{item.pk}/transform")
    assert (answer.status_code, answer.json()["error"]) == (409, "conflict")


@pytest.mark.parametrize("key", ["", "key"])
def test_without_a_key_the_answer_names_it(mint: Mint, add: Add, settings, key: str) -> None:
    settings.QUARRY_SUMMARIZER, settings.ANTHROPIC_API_KEY = "claude", key
    answer = mint().client.post(f"/api/v1/items/{add('Stone').pk}/transform")
    if key:
        assert answer.status_code == 202
        return
    assert (answer.status_code, answer.json()["error"]) == (503, "provider_unavailable")
    assert "ANTHROPIC_API_KEY" in answer.json()["message"]
