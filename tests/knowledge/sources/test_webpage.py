"""Web pages: what is kept of them, and which are refused."""

from datetime import UTC, datetime

import pytest

from knowledge.errors import IngestFailed
from knowledge.sources.webpage import parse_page, read_page
from tests.support.pages import (
    ARTICLE,
    CHALLENGE,
    DOCUMENTATION,
    LOGIN,
    SCRIPTED,
    SHORT,
)

URL = "https://geology.example/rivers"


def test_an_article_keeps_its_structure_and_loses_what_stands_around_it() -> None:
    text = read_page(ARTICLE.encode(), url=URL).text
    for kept in (
        "## Three ways to cut",
        "- Abrasion by pebbles\n- Plucking of blocks",
        "| Granite | 0.005 |\n| Limestone | 0.08 |",
        "```\ndef cut(years, rate):\n    return years * rate\n\nprint(cut(1000, 0.08))\n```",
        "very sure",
        "`cut()`",
    ):
        assert kept in text
    for lost in ("Home", "Ten best lakes", "Cookie", "var a"):
        assert lost not in text


def test_an_article_tells_who_wrote_it_when_and_in_which_language() -> None:
    found = read_page(ARTICLE.encode(), url=URL)
    assert found.title == "How rivers carve stone"
    assert found.author == "Ada Fielding"
    assert found.language == "en"
    assert found.published_at == datetime(2024, 3, 5, 9, tzinfo=UTC)


def test_a_short_page_is_kept_whole() -> None:
    found = read_page(SHORT.encode(), url=URL)
    assert found.text == ("# Example Domain\n\nThis domain is for use in documentation examples.")
    assert (found.title, found.author, found.language) == ("Example Domain", "", "")


def test_a_page_of_documentation_keeps_its_main_part_and_not_its_menu() -> None:
    found = read_page(DOCUMENTATION.encode(), url=URL)
    assert found.text.startswith("# widgets.dumps\n")
    assert "| indent | spaces per level |" in found.text
    assert "```\nimport widgets\n\nwidgets.dumps(1)\n```" in found.text
    assert "module 7" not in found.text


def test_comments_below_an_article_are_not_taken_for_it() -> None:
    prose = "".join(f"<p>Granite is cut along its grain, says mason {n}.</p>" for n in range(12))
    remarks = "".join(f"<p>Reader {n} does not agree with any of this.</p>" for n in range(60))
    page = f"""<html><head><title>Grain</title></head><body><main><h1>Grain</h1><article>{prose}
        </article><div class="post-comments">{remarks}</div></main></body></html>"""
    found = read_page(page.encode(), url=URL)
    assert "says mason 11" in found.text
    assert "Reader" not in found.text


@pytest.mark.parametrize(
    "code",
    [
        '<pre><code class="hljs language-python">{}</code></pre>',
        '<pre class="lang-python">{}</pre>',
        '<div class="highlight-python notranslate"><div><pre>{}</pre></div></div>',
        '<div class="highlight highlight-source-python"><pre>{}</pre></div>',
    ],
)
@pytest.mark.parametrize("is_long", [True, False], ids=["article", "short page"])
def test_code_keeps_its_fence_its_blank_lines_and_its_language(code: str, is_long: bool) -> None:
    code = code.format("<span>import</span> widgets\n\n\nwidgets.dumps(1)\n")
    prose = "<p>Widgets are written down by the function that is told of here.</p>" * 9
    page = f"<html><body><article><h1>Use</h1>{prose * is_long}{code}</article></body></html>"
    found = read_page(page.encode(), url=URL)
    assert "```python\nimport widgets\n\n\nwidgets.dumps(1)\n```" in found.text


def test_code_that_names_no_language_is_fenced_without_one() -> None:
    code = '<pre><code class="language-text">one\ntwo</code></pre>'
    page = f"<html><body><article><h1>Use</h1><p>Write:</p>{code}</article></body></html>"
    assert "```\none\ntwo\n```" in read_page(page.encode(), url=URL).text


def test_a_command_is_fenced_even_if_nothing_in_it_looks_like_code() -> None:
    prose = "".join(f"<p>Lamp {n} is lit at dusk by the keeper of week {n}.</p>" for n in range(12))
    code = "<pre><code>inspect --what lamps --day monday</code></pre>"
    page = f"<html><body><main><h1>Lamps</h1>{prose}{code}</main></body></html>"
    text = read_page(page.encode(), url=URL).text
    assert "```\ninspect --what lamps --day monday\n```" in text


@pytest.mark.parametrize(
    ("page", "reason", "words"),
    [
        (SCRIPTED, "not_extractable", "scripts"),
        (LOGIN, "not_extractable", "login"),
        (CHALLENGE, "blocked", "human"),
        ("<html><body></body></html>", "not_extractable", "no text"),
        ("", "not_extractable", "no text"),
        ("\x00\x01\x02", "not_extractable", "no text"),
    ],
)
def test_a_page_without_text_says_why_and_what_to_do(page: str, reason: str, words: str) -> None:
    with pytest.raises(IngestFailed) as refused:
        read_page(page.encode(), url=URL)
    assert refused.value.details["reason"] == reason
    assert words in refused.value.message
    assert "kind text" in refused.value.message


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<html><body><p>Größe über alles, und noch ein Wort.</p></body></html>".encode(), ""),
        ("<html><body><p>Größe über alles, und noch ein Wort.</p>".encode("latin-1"), "iso-8859-1"),
        ("<meta charset=cp1252><p>Größe über alles, und noch ein Wort.".encode("cp1252"), ""),
        ("<p>Größe über alles, und noch ein Wort.".encode("utf-8-sig"), "latin-1"),
        ("<p>Größe über alles, und noch ein Wort.".encode("utf-16"), "nonsense"),
        ("<p>Größe über alles, und noch ein Wort.".encode("cp1252"), "utf-8"),
    ],
)
def test_the_encoding_is_found_where_the_page_or_the_server_tells_it(
    body: bytes, charset: str
) -> None:
    assert read_page(body, url=URL, charset=charset).text == (
        "Größe über alles, und noch ein Wort."
    )


def test_an_address_that_a_page_claims_is_told_only_when_it_is_of_its_own_host() -> None:
    assert parse_page(ARTICLE.encode(), url=URL).canonical == ""
    assert parse_page(ARTICLE.encode(), url="https://www.victim.example/x").canonical == (
        "https://victim.example/other"
    )


def test_a_page_that_nests_without_end_is_refused_with_a_reason() -> None:
    page = "<html><body>" + "<div>" * 100_000 + "Some words that stand very deep."
    with pytest.raises(IngestFailed) as refused:
        read_page(page.encode(), url=URL)
    assert refused.value.details["reason"] == "not_extractable"


def test_a_very_large_page_is_read_whole() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>value {n}</td></tr>" for n in range(10_000))
    page = f"<html><head><title>Large</title></head><body><table>{rows}</table></body></html>"
    found = read_page(page.encode(), url=URL)
    assert found.title == "Large"
    assert "| 9999 | value 9999 |" in found.text


def test_feeds_and_recordings_of_a_page_are_told_with_whole_addresses() -> None:
    page = parse_page(
        b"""<html><head><title>Episode 1</title>
        <link rel="alternate" type="application/rss+xml" href="/feed.xml">
        <link rel="alternate" type="text/html" href="/other">
        <meta property="og:audio" content="/1.mp3"><meta property="og:audio:type" content="x/y">
        <script type="application/ld+json">{"@graph": [{"@type": "NewsArticle", "audio":
        {"@type": "AudioObject", "contentUrl": "https://cdn.example/read.mp3"}}]}</script>
        <script type="application/ld+json">{broken</script>
        </head><body><audio src="javascript:x"></audio>
        <audio><source src="2.mp3"></audio></body>""",
        url="https://show.example/episodes/one",
    )
    assert page.feeds == ("https://show.example/feed.xml",)
    assert page.episodes == ("https://show.example/1.mp3",)
    assert page.sounds == ("https://cdn.example/read.mp3", "https://show.example/episodes/2.mp3")
    assert page.sounds_like_podcast
