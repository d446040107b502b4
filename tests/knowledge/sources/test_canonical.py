"""One key for every spelling of an address, and never one for two things."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from knowledge.errors import IngestFailed
from knowledge.sources.canonical import (
    LONGEST,
    answer_key,
    episode_key,
    key,
    same_site,
    unwrap_amp,
    video_id,
)

VIDEO = "dQw4w9WgXcQ"
SAME = {
    "https://example.com/": [
        "HTTP://EXAMPLE.com",
        "http://example.com:80/",
        "https://example.com:443",
        "https://www.example.com/",
        "https://example.com./",
        "https://example.com/#about",
        "https://example.com/?",
        "https://user:secret@example.com/",
        " https://example.com/ ",
    ],
    "https://example.com/a/b": [
        "https://example.com/a/b/",
        "https://example.com/a/./c/../b",
        "https://example.com/a/%62",
        "https://example.com/a/b?utm_source=x&utm_medium=y",
        "https://example.com/a/b?gclid=1&fbclid=2&mc_cid=3&igshid=4&_hsenc=5",
        "https://example.com/a/b?UTM_Source=x",
        "https://example.com/a/b?ref=news.ycombinator.com",
        "https://example.com/a/b?amp=1",
        "https://example.com/a/b?amp",
        "https://example.com/a/b?outputType=amp",
        "https://example-com.cdn.ampproject.org/c/s/example.com/a/b",
        "https://www.google.com/amp/s/www.example.com/a/b?utm_source=x",
        "https://www.google.co.uk/amp/s/example-com.cdn.ampproject.org/c/s/example.com/a/b",
    ],
    "https://example.com/a?b=2&a=1": [
        "https://example.com/a?b=2&a=1",
        "https://example.com/a?b=2&utm_campaign=spring&a=1#top",
        "https://example.com/a/?b=2&&a=1",
    ],
    "https://example.com/2024/05/what-we-learned": [
        "https://example.com/2024/05/what-we-learned/amp",
        "https://example.com/2024/05/what-we-learned/amp/",
        "https://example.com/2024/05/what-we-learned/amp/amp",
    ],
    "https://nytimes.com/2024/story.html": [
        "https://www.nytimes.com/2024/story.amp.html",
        "https://mobile.nytimes.com/2024/story.html?smid=tw-share",
    ],
    "https://en.wikipedia.org/wiki/Amp": [
        "https://en.m.wikipedia.org/wiki/Amp",
        "http://en.wikipedia.org/wiki/Amp#History",
    ],
    "https://x.com/ada/status/1": [
        "https://mobile.twitter.com/ada/status/1",
        "https://twitter.com/ada/status/1?ref_src=twsrc%5Etfw",
    ],
    "https://xn--bcher-kva.example/%C3%BC%20b": [
        "https://bücher.example/ü b",
        "https://BÜCHER.example/%c3%bc%20b",
        "https://xn--bcher-kva.example/%C3%BC%20b/",
    ],
    "https://open.spotify.com/episode/4rOoJ6Egrf8K2IrywzwOMk": [
        "https://open.spotify.com/episode/4rOoJ6Egrf8K2IrywzwOMk?si=abc",
    ],
    "https://example.com/app#!/page/2": ["http://www.example.com/app/#!/page/2"],
    "https://[2001:db8::1]:8080/": ["https://[2001:0db8:0:0::1]:8080"],
    f"youtube:{VIDEO}": [
        f"https://www.youtube.com/watch?v={VIDEO}",
        f"http://youtube.com/watch?v={VIDEO}&t=42s&list=PL123&index=2",
        f"https://www.youtube.com/watch?list=PL123&v={VIDEO}",
        f"https://m.youtube.com/watch?v={VIDEO}&feature=youtu.be",
        f"https://music.youtube.com/watch?v={VIDEO}&si=abc",
        f"https://youtu.be/{VIDEO}",
        f"https://youtu.be/{VIDEO}?si=abc&t=10",
        f"https://www.youtube.com/shorts/{VIDEO}",
        f"https://www.youtube.com/live/{VIDEO}?feature=share",
        f"https://www.youtube.com/embed/{VIDEO}?start=3",
        f"https://www.youtube-nocookie.com/embed/{VIDEO}",
        f"https://www.youtube.com/v/{VIDEO}?version=3",
        f"https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3D{VIDEO}%26feature%3Dshare",
        f"HTTPS://WWW.YouTube.com/watch?v={VIDEO}#t=3",
    ],
}
DIFFERENT = [
    ("https://example.com/a", "https://example.com/A"),
    ("https://example.com/a?x=1", "https://example.com/a?x=2"),
    ("https://example.com/a?x=1&y=2", "https://example.com/a?y=2&x=1"),
    ("https://example.com/a%2Fb", "https://example.com/a/b"),
    ("https://example.com:8080/", "https://example.com/"),
    ("https://m.neocities.org/", "https://neocities.org/"),
    ("https://github.com/sindresorhus/amp", "https://github.com/sindresorhus"),
    ("https://en.wikipedia.org/wiki/amp", "https://en.wikipedia.org/wiki"),
    ("https://example.com/a?si=1", "https://example.com/a"),
    ("https://api.github.com/a?ref=v1.io", "https://api.github.com/a"),
    ("https://example.com/a?ref=main", "https://example.com/a"),
    ("https://example.com/app#!/a", "https://example.com/app#!/b"),
    ("https://bucket.s3.amazonaws.com/a?X-Amz-Signature=1", "https://bucket.s3.amazonaws.com/a"),
    ("https://example.com/a?token=secret", "https://example.com/a"),
    (f"https://youtube.com.evil.example/watch?v={VIDEO}", f"https://youtu.be/{VIDEO}"),
    (f"https://evil.example/{VIDEO}", f"https://youtu.be/{VIDEO}"),
    ("https://youtu.be/dQw4w9WgXcQ", "https://youtu.be/dQw4w9WgXcq"),
]


@pytest.mark.parametrize(("expected", "url"), [(k, u) for k, urls in SAME.items() for u in urls])
def test_every_spelling_has_the_one_key(expected: str, url: str) -> None:
    assert key(url) == expected


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_has_another_key(one: str, other: str) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com/",
        "https://",
        "https://exa mple.com/",
        "https://[1::2::3]/",
        "https://example.com:port/",
        "javascript:alert(1)",
        "youtube:short",
        "https://\u2025.example/",
        "https://example.com/" + "-" * 8_000,
    ],
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(IngestFailed) as refused:
        key(url)
    assert refused.value.details["reason"] == "bad_url"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"https://youtu.be/{VIDEO}", VIDEO),
        ("https://www.youtube.com/@channel", None),
        ("https://www.youtube.com/playlist?list=PL123", None),
        ("https://www.youtube.com/embed/videoseries?list=PL1", None),
        ("https://youtu.be/", None),
        ("https://example.com/watch?v=dQw4w9WgXcQ", None),
        ("no address", None),
    ],
)
def test_only_youtubes_own_addresses_name_a_video(url: str, expected: str | None) -> None:
    assert video_id(url) == expected


def test_a_long_address_is_known_by_its_hash() -> None:
    long = "https://example.com/?q=" + "x" * 5_000 + "/a-" * 900
    assert key(long).startswith("hashed:")
    assert len(key(long)) <= LONGEST
    assert key(long) != key(long + "y")
    assert key(key(long)) == key(long)


def test_an_answer_that_expires_is_known_by_the_address_that_led_to_it() -> None:
    asked = "https://example.com/show/1.mp3"
    assert answer_key(asked, "https://cdn.example/1.mp3?Expires=9&Signature=x") == key(asked)
    assert answer_key(asked, "https://cdn.example/1.mp3") == "https://cdn.example/1.mp3"
    secret = "https://cdn.example/1.mp3?token=mine"
    assert answer_key(secret, secret) == secret


def test_an_episode_is_known_by_its_name_within_its_feed() -> None:
    mine = episode_key("https://example.com/feed.xml", "1")
    assert mine == episode_key("http://www.example.com/feed.xml?utm_source=x", "1")
    assert mine != episode_key("https://example.com/feed.xml", "2")
    assert mine != episode_key("https://evil.example/feed.xml", "1")
    assert key(mine) == mine


def test_a_cache_is_unwrapped_to_the_publisher() -> None:
    cached = "https://example-com.cdn.ampproject.org/v/s/example.com/a?x=1"
    assert unwrap_amp(cached) == "https://example.com/a?x=1"
    assert unwrap_amp("https://example.com/c/s/victim.example/a") == (
        "https://example.com/c/s/victim.example/a"
    )


def test_two_addresses_of_one_host_are_the_same_site() -> None:
    assert same_site("https://www.example.com/a", "http://example.com/b")
    assert not same_site("https://example.com/", "https://evil.example/")
    assert not same_site("https://example.com/", "/relative")


HOSTS = [
    *("example.com", "www.www.example.com", "m.facebook.com", "en.m.wikipedia.org", "bücher.de"),
    *("www.google.com", "x.cdn.ampproject.org", "youtu.be", "www.youtube.com", "[::1]"),
]
ADDRESSES = st.builds(
    "{}://{}{}{}{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(HOSTS),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.text(st.sampled_from("/ab-.%2fe?&=#!ü") | st.characters(), max_size=30).map("/{}".format)
    | st.sampled_from(["/a-b-c/amp/amp/", "/x.amp.amp.html/amp", "/amp/s/e.com/a", "/a//../"]),
    st.sampled_from(["", "?amp=1", "?utm_a=1&b=%zz", "?ref=a.com&v=dQw4w9WgXcQ", "?%41=%61+b"]),
    st.sampled_from(["", "#a", "#!", "#!/x y"]),
)


@given(ADDRESSES)
@example("https://example.com/%%41%2541/..//")
def test_a_key_of_a_key_is_itself(url: str) -> None:
    try:
        made = key(url)
    except IngestFailed:
        return
    assert key(made) == made


IDS = st.text(
    st.sampled_from(string.ascii_letters + string.digits + "-_"), min_size=11, max_size=11
).filter(lambda name: name not in ("videoseries", "live_stream"))  # words of the player's
SHAPES = st.sampled_from([url for url in SAME[f"youtube:{VIDEO}"] if "attribution" not in url])


@given(IDS, IDS, SHAPES, SHAPES)
def test_two_videos_never_have_one_key(one: str, other: str, shape: str, elsewhere: str) -> None:
    keys = key(shape.replace(VIDEO, one)), key(elsewhere.replace(VIDEO, other))
    assert keys == (f"youtube:{one}", f"youtube:{other}")
