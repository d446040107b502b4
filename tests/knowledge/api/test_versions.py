"""ETags: nothing is sent twice, and nothing is overwritten unseen."""

from collections.abc import Callable

import pytest

from knowledge.models import Folder, Item
from tests.support.library import Add, Mint


def test_an_item_that_is_known_is_not_sent_again(mint: Mint, add: Add) -> None:
    client = mint().client
    route = f"/api/v1/items/{add('Stone').pk}"
    etag = client.get(route)["ETag"]
    for known in (etag, f'W/{etag}, "other"', "*"):
        answer = client.get(route, headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", etag)
        assert answer["X-Request-ID"]
    client.patch(route, {"tags": ["new"]}, format="json")
    changed = client.get(route, headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert changed["ETag"] != etag


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_a_write_to_a_version_that_is_gone_is_refused(mint: Mint, add: Add, method: str) -> None:
    client = mint().client
    item = add("Stone")
    route = f"/api/v1/items/{item.pk}"
    stale = client.get(route)["ETag"]
    client.patch(route, {"title": "Theirs"}, format="json")
    headers = {"If-Match": stale}
    refused = getattr(client, method)(route, {"title": "Mine"}, format="json", headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (409, "conflict")
    assert refused.json()["reason"] == "changed"
    assert Item.objects.get().custom_title == "Theirs"


@pytest.mark.parametrize("wanted", ["{etag}", '"other", {etag}', "*"])
def test_a_write_to_the_version_that_is_there_goes_through(
    mint: Mint, add: Add, wanted: str
) -> None:
    client = mint().client
    route = f"/api/v1/items/{add('Stone').pk}"
    headers = {"If-Match": wanted.format(etag=client.get(route)["ETag"])}
    changed = client.patch(route, {"title": "Mine"}, format="json", headers=headers)
    assert (changed.status_code, changed.json()["title"]) == (200, "Mine")
    assert changed["ETag"] == client.get(route)["ETag"]
    headers = {"If-Match": changed["ETag"]}
    assert client.delete(route, headers=headers).status_code == 204


@pytest.mark.parametrize("wanted", ["nonsense", 'W/"weak"', ""])
def test_a_condition_that_nothing_meets_changes_nothing(mint: Mint, add: Add, wanted: str) -> None:
    route = f"/api/v1/items/{add('Stone').pk}"
    answer = mint().client.patch(
        route, {"title": "Mine"}, format="json", headers={"If-Match": wanted}
    )
    assert answer.status_code == 409


def test_a_condition_tells_nobody_of_what_it_may_not_see(
    mint: Mint, add: Add, folder: Callable[[str], Folder]
) -> None:
    route = f"/api/v1/items/{add('Stone').pk}"
    etag = mint().client.get(route)["ETag"]
    stranger = mint(folder("Elsewhere")).client
    for headers in ({"If-None-Match": etag}, {"If-None-Match": "*"}):
        assert stranger.get(route, headers=headers).status_code == 404
    assert stranger.delete(route, headers={"If-Match": etag}).status_code == 404
