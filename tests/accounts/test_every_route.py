"""A member on every address of the server, with the ids of another's rows of every kind in it."""

import re
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from tests.support.matrix import (
    CARRIERS,
    DOCUMENTED,
    OPERATIONS,
    PAGES,
    SECRET,
    Pair,
    faults,
    leaks,
    make_members,
    page_calls,
    rest_calls,
    said,
    snapshot,
)
from tests.support.routes import every_address


@pytest.fixture
def pair(db: None, settings: Settings, tmp_path: Any) -> Pair:
    settings.QUARRY_HOME = tmp_path
    settings.QUARRY_METRICS_TOKEN = "the operator's"
    return make_members()


def test_every_documented_route_is_an_address_of_the_resolver() -> None:
    assert set(every_address()) >= DOCUMENTED
    assert len(PAGES) > 200


@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_page_tells_a_member_anything_of_anothers(pair: Pair, carrier: str) -> None:
    """By a session about every row; a token is nothing to a page, whichever row it is about."""
    pair = replace(pair, one_of_a_kind=carrier == "token")
    pages = [template for template in PAGES if not template.startswith("/admin/")]
    found = [
        fault
        for template in pages
        for fault in faults(pair, pair.me, page_calls(template, pair), carrier)
    ]
    assert found == []


def test_no_route_tells_a_member_anything_of_anothers(pair: Pair) -> None:
    """By a person's session; by tokens of every shape in tests/edges/test_scope_matrix.py."""
    found = [
        fault
        for path, method, operation in OPERATIONS
        for fault in faults(pair, pair.me, rest_calls(path, method, operation, pair), "session")
    ]
    assert found == []


def test_the_walk_finds_what_the_owner_themselves_is_told(pair: Pair) -> None:
    """The same walk by the other in person: where it finds nothing then, it proves nothing."""
    found = [
        fault
        for path, method, operation in OPERATIONS
        if method == "GET"
        for fault in faults(pair, pair.them, rest_calls(path, method, operation, pair), "token")
    ]
    assert len({fault.split(" by ")[0] for fault in found}) > 30


def test_a_member_opens_no_page_of_the_admin(pair: Pair) -> None:
    before = snapshot(pair.them.person)
    pages = [template for template in PAGES if template.startswith("/admin/")]
    for template in pages:
        calls = page_calls(template, pair)
        for theirs in (next(calls)[0], next(calls)[0]):
            answer = pair.me.send("session", theirs)
            assert answer.status_code in (302, 403), theirs
            assert leaks(pair, said(answer), theirs) == [], theirs
    assert len(pages) > 150
    assert snapshot(pair.them.person) == before


def test_no_route_and_no_page_changes_anything_of_anothers(pair: Pair) -> None:
    before = snapshot(pair.them.person)
    assert len(before) > 30
    for path, method, operation in OPERATIONS:
        carrier = "session" if re.search("/(tokens|connections)", path) else "token"
        for theirs, _missing in rest_calls(path, method, operation, pair):
            says_their_words = SECRET in str(theirs.body)  # what I write with them is mine
            if method != "GET" and not says_their_words:
                pair.me.send(carrier, theirs)
    for template in PAGES:
        for theirs, _missing in page_calls(template, pair):
            if theirs.method == "POST":
                pair.me.send("session", theirs)
    assert snapshot(pair.them.person) == before
