"""The gate in front of REST, before anybody is known."""

from tokens import rest_gate


def test_long_paths_of_strangers_are_not_kept() -> None:
    known = rest_gate._find_known_route
    known.cache_clear()
    for path in ("/api/v1/search", "/api/v1/items/" + "a" * 60_000):
        assert rest_gate.takes_token({"type": "http", "path": path})
    assert known.cache_info().currsize == 1
