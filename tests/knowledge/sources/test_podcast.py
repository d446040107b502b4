"""Podcasts: feeds, episodes' pages and Apple links, with the publisher's transcript first."""

import json
from datetime import UTC, datetime

import pytest
from pytest_httpserver import HTTPServer

from knowledge.errors import IngestFailed
from knowledge.sources import podcast
from knowledge.sources.canonical import episode_key
from knowledge.sources.extracted import Extracted, Recording
from knowledge.sources.feeds import is_feed, read_feed
from knowledge.sources.links import open_link
from tests.support.pages import serve_page
from tests.support.podcasts import FEED, VTT, item, transcript

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Steine</title>
<author><name>Ada</name></author><entry><id>urn:1</id><title>Eins</title>
<published>2024-01-02T03:04:05Z</published><link href="https://a.example/eins"/>
<link rel="enclosure" type="video/mp4" href="/1.mp4"/>
<link rel="enclosure" type="audio/mpeg" href="/1.mp3"/></entry></feed>"""


@pytest.fixture
def site(httpserver: HTTPServer, settings) -> HTTPServer:
    settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [f"{httpserver.host}:{httpserver.port}"]
    return httpserver


def serve_feed(site: HTTPServer, *items: str, path: str = "/feed.xml") -> str:
    site.expect_request(path).respond_with_data(
        FEED.format(items="".join(items)), content_type="application/rss+xml"
    )
    return str(site.url_for(path))


MEDIA_FEED = """<rss version="2.0" xmlns:m="http://search.yahoo.com/mrss/"><channel>
<title>Stones</title><item><guid>1</guid><title>One</title>{media}</item></channel></rss>"""
PICTURE = '<m:content url="/1.jpg" type="image/jpeg" medium="image"/>'
SOUND = '<m:content url="/1.mp3" type="audio/mpeg" duration="93"/>'
VIDEO = '<m:content url="/1.mp4" medium="video" duration="95"/>'
ENCLOSURE = '<enclosure url="/e.mp3" type="audio/mpeg"/>'


@pytest.mark.parametrize(
    ("media", "path", "seconds"),
    [
        (PICTURE + SOUND, "/1.mp3", 93),
        ('<m:content url="/1" medium="audio"/>', "/1", None),
        (VIDEO, "/1.mp4", 95),
        (f"<m:group>{PICTURE}{VIDEO}{SOUND}</m:group>", "/1.mp3", 93),
        (SOUND + ENCLOSURE, "/e.mp3", None),
        (SOUND + ENCLOSURE.replace("audio/mpeg", "video/mp4"), "/1.mp3", 93),
    ],
    ids=["by type", "by medium", "video", "group", "enclosure first", "sound before pictures"],
)
def test_the_recording_of_a_media_feed_is_its_sound(
    media: str, path: str, seconds: float | None
) -> None:
    feed = read_feed(MEDIA_FEED.format(media=media).encode(), url="https://a.example/feed")
    assert feed.newest.media_url == f"https://a.example{path}"
    assert feed.newest.duration_sec == seconds


def test_a_media_feed_of_pictures_holds_no_recordings() -> None:
    with pytest.raises(IngestFailed, match="no recordings"):
        read_feed(MEDIA_FEED.format(media=PICTURE).encode(), url="https://a.example/feed")


def test_a_feed_leads_to_its_newest_episode(site: HTTPServer) -> None:
    url = serve_feed(site, item("old", day=1), item("new", day=9), item("older", day=2))
    fetched = open_link(url)
    assert fetched.found == Recording(
        media_url=site.url_for("/new.mp3"),
        title="Episode new",
        author="Ada Fielding",
        language="en",
        published_at=datetime(2024, 1, 9, 10, tzinfo=UTC),
        duration_sec=3723,
    )
    assert (fetched.kind, fetched.rung) == ("podcast", "")
    assert fetched.key == episode_key(url, "new")
    assert not fetched.is_lasting


def fetched_from(url: str, named: str) -> str:
    return url + named.partition("#")[0]


@pytest.mark.parametrize("named", ["#old", "?episode=old", "?episode=7", "#https://a.example/old"])
def test_a_link_that_names_an_episode_leads_to_that_one(site: HTTPServer, named: str) -> None:
    old = item("old", day=1, number=7, link="https://a.example/old")
    url = serve_feed(site, item("new", day=9), old)
    fetched = open_link(url + named)
    assert fetched.found.title == "Episode old"
    assert fetched.key == episode_key(fetched_from(url, named), "old")
    assert fetched.is_lasting is ("#" not in named)


def test_an_episode_that_the_feed_does_not_have_is_refused(site: HTTPServer) -> None:
    url = serve_feed(site, item("new"))
    with pytest.raises(IngestFailed) as refused:
        open_link(f"{url}#missing")
    assert refused.value.details["reason"] == "no_such_episode"


def test_the_publishers_transcript_comes_before_the_recording(site: HTTPServer) -> None:
    offered = transcript("/t.html", "text/html") + transcript("/t.vtt", "text/vtt")
    url = serve_feed(site, item("one", more=offered))
    site.expect_request("/t.vtt").respond_with_data(VTT, content_type="text/vtt")
    fetched = open_link(url)
    assert isinstance(fetched.found, Extracted)
    assert fetched.rung == "publisher"
    assert fetched.found.text.startswith("Ada: Welcome to the quarry.")
    assert fetched.found.parts[0].start_sec == 1
    assert fetched.found.duration_sec == 3723


def test_a_transcript_in_the_shows_language_comes_first(site: HTTPServer) -> None:
    offered = transcript("/de.vtt", "text/vtt", "de") + transcript("/en.srt", "text/srt", "en-US")
    url = serve_feed(site, item("one", more=offered))
    site.expect_request("/en.srt").respond_with_data(VTT.replace("WEBVTT", "1"))
    assert open_link(url).found.language == "en"


@pytest.mark.parametrize(
    ("media_type", "body", "said"),
    [
        (
            "application/json",
            json.dumps({"segments": [{"startTime": 3, "endTime": 9, "body": "Stone " * 50}]}),
            "Stone",
        ),
        ("text/html", "<cite>Ada</cite><time>0:03</time><p>" + "Stone " * 50, "Ada: Stone"),
        ("application/x-subrip", "1\n00:00:03,000 --> 00:00:09,000\n" + "Stone " * 50, "Stone"),
    ],
)
def test_every_form_of_transcript_is_read(
    site: HTTPServer, media_type: str, body: str, said: str
) -> None:
    url = serve_feed(site, item("one", more=transcript("/t", media_type)))
    site.expect_request("/t").respond_with_data(body, content_type=media_type)
    found = open_link(url).found
    assert isinstance(found, Extracted)
    assert found.text.startswith(said)
    assert found.parts[0].start_sec == 3


def test_a_broken_transcript_gives_way_to_the_next_and_then_to_the_recording(
    site: HTTPServer,
) -> None:
    broken = transcript("/gone.vtt", "text/vtt") + transcript("/stub.srt", "application/srt")
    stub = "1\n00:00:00,000 --> 00:00:01,000\nComing soon.\n"
    site.expect_request("/stub.srt").respond_with_data(stub)
    site.expect_request("/t.json").respond_with_data('[{"start": 1, "text": "%s"}]' % ("a " * 200))
    first = serve_feed(site, item("one", more=broken), path="/one.xml")
    assert isinstance(open_link(first).found, Recording)
    whole = broken + transcript("/t.json", "application/json")
    second = serve_feed(site, item("two", more=whole), path="/two.xml")
    assert open_link(second).rung == "publisher"


def test_atom_feeds_are_read_too_and_sound_is_taken_before_pictures() -> None:
    feed = read_feed(ATOM.encode(), url="https://a.example/feed")
    episode = feed.newest
    assert (episode.guid, episode.title, episode.author) == ("urn:1", "Eins", "Ada")
    assert (episode.media_url, episode.link) == (
        "https://a.example/1.mp3",
        "https://a.example/eins",
    )
    assert episode.published_at == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert episode.language == "de"


def test_a_malformed_feed_is_read_as_far_as_it_goes() -> None:
    body = FEED.format(items=item("one", more="<description>Tom & Jerry &nbsp;</b>")).encode()
    assert read_feed(body, url="https://a.example/feed").newest.guid == "one"


def declaring(entities: str, title: str) -> bytes:
    body = FEED.format(items=item("one")).replace("Episode one", title)
    return body.replace("<rss", f"<!DOCTYPE rss [{entities}]><rss", 1).encode()


def test_a_feed_cannot_read_our_files(tmp_path) -> None:
    (tmp_path / "secret").write_text("the secret")
    body = declaring(f'<!ENTITY f SYSTEM "{tmp_path}/secret">', "x &f; y")
    assert "secret" not in read_feed(body, url="https://a.example/feed").newest.title


def test_a_feed_that_is_a_bomb_is_refused() -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    body = declaring(f'<!ENTITY e0 "boom">{bomb}', "x &e11; y")
    with pytest.raises(IngestFailed) as refused:
        read_feed(body, url="https://a.example/feed")
    assert refused.value.details["reason"] == "not_extractable"


@pytest.mark.parametrize(
    "body", [FEED.format(items="<item><title>News</title></item>"), "<rss", "<html/>", "{}"]
)
def test_what_is_no_podcast_is_refused(body: str) -> None:
    with pytest.raises(IngestFailed) as refused:
        read_feed(body.encode(), url="https://a.example/feed")
    assert refused.value.details["reason"] == "not_extractable"


@pytest.mark.parametrize(
    ("media_type", "head", "expected"),
    [
        ("application/rss+xml", b"", True),
        ("text/xml", b'<?xml version="1.0"?>\n<rss version="2.0">', True),
        ("application/xml", b"<feed xmlns='http://www.w3.org/2005/Atom'>", True),
        ("text/html", b"<rss>", True),
        ("text/html", b"<html><body>&lt;rss&gt; <rss>", False),
        ("application/xml", b"<sitemapindex>", False),
        ("audio/mpeg", b"<rss>", False),
    ],
)
def test_a_feed_is_known_by_its_type_or_its_first_words(
    media_type: str, head: bytes, expected: bool
) -> None:
    assert is_feed(media_type, head) is expected


PAGE = """<html lang="en"><head><title>Episode one</title>
<link rel="alternate" type="application/rss+xml" title="Podcast" href="/feed.xml">{more}</head>
<body><p>Notes about the show.</p></body></html>"""


def test_an_episodes_page_leads_to_the_episode_of_its_feed(site: HTTPServer) -> None:
    url = serve_page(site, "/one", PAGE.format(more=""))
    feed_url = serve_feed(site, item("new", day=9), item("one", link=url))
    fetched = open_link(url)
    assert fetched.found.title == "Episode one"
    assert fetched.key == episode_key(feed_url, "one")
    assert [request.path for request, _ in site.log] == ["/one", "/feed.xml"]


def test_a_page_that_is_not_in_the_feed_it_claims_gets_nothing_of_it(site: HTTPServer) -> None:
    url = serve_page(site, "/one", PAGE.format(more=""))
    serve_feed(site, item("new", link="https://victim.example/one"))
    fetched = open_link(url)
    assert fetched.kind == "webpage"
    assert fetched.key == url.replace("http:", "https:")


@pytest.mark.parametrize(
    "more",
    [
        '<meta property="og:audio" content="/sound.mp3">',
        '<script type="application/ld+json">{"@type": "PodcastEpisode", "associatedMedia":'
        ' {"@type": "MediaObject", "contentUrl": "/sound.mp3"}}</script>',
        '</head><body><audio src="/sound.mp3"></audio>',
    ],
)
def test_a_page_that_is_about_a_recording_leads_to_it(site: HTTPServer, more: str) -> None:
    url = serve_page(site, "/one", f"<html><head><title>One</title>{more}</head></html>")
    fetched = open_link(url)
    assert fetched.kind == "podcast"
    assert fetched.found == Recording(media_url=site.url_for("/sound.mp3"), title="One")
    assert fetched.key == url.replace("http:", "https:")


def test_an_article_that_can_be_listened_to_stays_an_article(site: HTTPServer) -> None:
    words = "<p>" + "The river is a saw and the pebbles are its teeth. " * 40 + "</p>"
    page = f"<html><body><article><audio src='/read.mp3'></audio>{words}</article></body></html>"
    assert open_link(serve_page(site, "/one", page)).kind == "webpage"


@pytest.fixture
def apple(site: HTTPServer, monkeypatch) -> HTTPServer:
    monkeypatch.setattr(podcast, "APPLE_LOOKUP", site.url_for("/lookup"))
    show = {"kind": "podcast", "collectionId": 123, "feedUrl": site.url_for("/feed.xml")}
    episode = {"kind": "podcast-episode", "trackId": 456, "episodeGuid": "old"}
    site.expect_request(
        "/lookup", query_string={"id": "123", "entity": "podcastEpisode", "limit": "200"}
    ).respond_with_json({"resultCount": 2, "results": [show, episode]})
    site.expect_request("/lookup").respond_with_json({"resultCount": 0, "results": []})
    serve_feed(site, item("new", day=9), item("old", day=1), item("older", day=1))
    return site


@pytest.mark.parametrize(
    ("url", "title"),
    [
        ("https://podcasts.apple.com/us/podcast/stone-talk/id123?i=456", "Episode old"),
        ("https://podcasts.apple.com/podcast/id123?i=456&mt=2", "Episode old"),
        ("https://podcasts.apple.com/us/podcast/episode-older/id123?i=789", "Episode older"),
        ("https://podcasts.apple.com/us/podcast/stone-talk/id123", "Episode new"),
    ],
)
def test_an_apple_link_leads_through_the_feed_to_its_episode(
    apple: HTTPServer, url: str, title: str
) -> None:
    fetched = open_link(url)
    assert fetched.found.title == title
    assert fetched.is_lasting is ("i=" in url)


def test_a_podcast_that_apple_does_not_know_is_refused(apple: HTTPServer) -> None:
    with pytest.raises(IngestFailed) as refused:
        open_link("https://podcasts.apple.com/us/podcast/none/id9")
    assert refused.value.details["reason"] == "not_extractable"
