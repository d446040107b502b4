import pytest

from knowledge.crawling.patterns import fits, is_of, is_wanted


@pytest.mark.parametrize(
    ("pattern", "url", "is_match"),
    [
        ("/docs/*", "https://x.example/docs/", True),
        ("/docs/*", "https://x.example/docs/a/b", True),
        ("/docs/*", "https://x.example/docs", False),
        ("/docs", "https://x.example/docs/a", False),
        ("*.html", "https://x.example/a/b.html", True),
        ("*.html", "https://x.example/a/b.html?x=1", True),
        ("/*/api/*", "https://x.example/v2/api/get", True),
        ("/Docs/*", "https://x.example/docs/a", False),
        ("*?page=*", "https://x.example/list?page=2", True),
        ("*?page=*", "https://x.example/page=2", False),
        ("/café*", "https://x.example/caf%C3%A9s", True),
        ("/", "https://x.example", True),
        ("*", "https://x.example/anything", True),
    ],
)
def test_a_pattern_stands_for_a_whole_path(pattern: str, url: str, is_match: bool) -> None:
    assert is_of(pattern, url) is is_match


@pytest.mark.parametrize(
    ("pattern", "text", "is_match"),
    [("a*a", "a", False), ("a*a", "aa", True), ("a**b", "ab", True), ("*ab*ab", "ab", False)],
)
def test_no_character_counts_twice(pattern: str, text: str, is_match: bool) -> None:
    assert fits(pattern, text) is is_match


def test_what_is_excluded_is_out_even_if_it_is_included() -> None:
    wanted = {"include": ["/docs/*"], "exclude": ["/docs/old/*"]}
    assert is_wanted("https://x.example/docs/a", **wanted)
    assert not is_wanted("https://x.example/docs/old/a", **wanted)
    assert not is_wanted("https://x.example/blog", **wanted)
    assert is_wanted("https://x.example/blog", [], ["/docs/old/*"])
