"""Hourly limits: one bucket for both edges, refused additions, and numbers that operators set."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests.support.edges import over_mcp, over_rest
from tests.support.library import LONG_ENOUGH, Mint, Minted
from tokens import limits
from tokens.hourly import parse_limits, write_limits
from tokens.models import Token

NOTE = {"kind": "text", "title": "new", "text": "granite brand new" + LONG_ENOUGH}
WRONG = {**NOTE, "text": "short"}
ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("stopped_clock")


def left_of(token: Minted, ask: str) -> dict[str, Any]:
    told: dict[str, Any] = over_rest(token, "GET", "whoami")[1]["limits"][ask]
    return told


def test_a_refused_addition_spends_nothing_over_either_edge(mint: Mint) -> None:
    token = mint()
    for _ in range(3):
        assert over_rest(token, "POST", "ingest", **WRONG)[0] == "invalid_body"
        assert over_mcp(token, "add_to_knowledge", **WRONG)[0] == "invalid_body"
    assert left_of(token, "add")["remaining"] == 60
    over_rest(token, "POST", "ingest", **NOTE)
    over_mcp(token, "add_to_knowledge", **NOTE)
    assert left_of(token, "add")["remaining"] == 58


def test_the_headers_of_a_refused_addition_say_what_is_left(mint: Mint) -> None:
    token = mint()
    token.client.post("/api/v1/ingest", NOTE, format="json")
    refused = token.client.post("/api/v1/ingest", WRONG, format="json")
    assert (refused["RateLimit-Limit"], refused["RateLimit-Remaining"]) == ("60", "59")
    uploads = token.client.post("/api/v1/uploads/signed-url", {}, format="json")
    assert (uploads.status_code, uploads["RateLimit-Remaining"]) == (400, "30")


def test_a_flood_of_refused_additions_is_limited_over_both_edges(
    mint: Mint, settings: Settings
) -> None:
    settings.QUARRY_LIMITS = {"add": 2}
    token = mint()
    for _ in range(limits.REFUSALS_PER_CALL):
        assert over_rest(token, "POST", "ingest", **WRONG)[0] == "invalid_body"
        assert over_mcp(token, "add_to_knowledge", **WRONG)[0] == "invalid_body"
    answer = token.client.post("/api/v1/ingest", NOTE, format="json")
    assert (answer.status_code, answer.json()["error"]) == (429, "rate_limited")
    assert "refused 10 times" in answer.json()["message"]
    assert answer["RateLimit-Remaining"] == "0"
    assert int(answer["Retry-After"]) > 0
    assert over_mcp(token, "add_to_knowledge", **NOTE)[0] == "rate_limited"
    assert left_of(token, "add")["remaining"] == 0


def test_refusals_do_not_raise_the_limit_of_additions(mint: Mint, settings: Settings) -> None:
    settings.QUARRY_LIMITS = {"add": 2}
    token = mint()
    outcomes = [
        over_rest(token, "POST", "ingest", **body)[0]
        for body in (NOTE, WRONG, NOTE, WRONG, NOTE, NOTE)
    ]
    refused = ["rate_limited"] * 3
    assert outcomes == ["ok", "invalid_body", "ok", *refused]


def test_other_asks_count_every_call(mint: Mint) -> None:
    token = mint()
    over_rest(token, "GET", "search", query="x" * 20_000)
    assert left_of(token, "search")["remaining"] == 999


def test_a_tokens_own_limit_comes_before_the_servers_and_is_told(
    mint: Mint, settings: Settings
) -> None:
    settings.QUARRY_LIMITS = {"add": 120, "search": 5}
    token, other = mint(), mint(name="other")
    Token.objects.filter(pk=token.row.pk).update(limits={"add": 1})
    assert left_of(token, "add") == {**left_of(token, "add"), "limit": 1, "remaining": 1}
    assert left_of(other, "add")["limit"] == 120
    assert left_of(token, "search")["limit"] == left_of(other, "search")["limit"] == 5
    answer = token.client.post("/api/v1/ingest", NOTE, format="json")
    assert (answer["RateLimit-Limit"], answer["RateLimit-Remaining"]) == ("1", "0")
    code, sentence = over_mcp(token, "add_to_knowledge", **NOTE)
    assert code == "rate_limited"
    assert "its 1 calls an hour" in sentence


def test_limits_are_read_as_they_are_written() -> None:
    assert parse_limits("") == parse_limits(" , \n") == {}
    assert parse_limits("add=120, search = 5000\nexport=1") == {
        "add": 120,
        "search": 5000,
        "export": 1,
    }
    assert parse_limits(write_limits({"search": 7, "add": 1})) == {"search": 7, "add": 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("adds=5", "'adds' is no ask; the asks are activity, add,"),
        ("add", "add must be a whole number from 1 to 1,000,000, as in add=120; it is ''."),
        ("add=0", "it is '0'"),
        ("add=1000001", "it is '1000001'"),
        ("add=5/h", "it is '5/h'"),
        ("add=-5", "it is '-5'"),
        ("=5", "'' is no ask"),
    ],
)
def test_wrong_limits_say_what_is_wrong(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"ask|whole number") as wrong:
        parse_limits(text)
    assert told in str(wrong.value)


def test_a_server_with_wrong_limits_does_not_start_and_says_why(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={"QUARRY_LIMITS": "adds=5", "QUARRY_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("Quarry cannot start: QUARRY_LIMITS: 'adds' is no ask;")
    assert "Traceback" not in ended.stderr


def test_a_token_is_told_its_limits_by_one_look_at_the_counters(
    mint: Mint, django_assert_max_num_queries: Any
) -> None:
    client = mint().client
    client.get("/api/v1/whoami")
    with django_assert_max_num_queries(12):
        client.get("/api/v1/whoami")
