"""A podcast's feed, its episodes and their transcripts."""

ITEM = """<item><title>{title}</title><guid isPermaLink="false">{guid}</guid><link>{link}</link>
<pubDate>{date}</pubDate><itunes:duration>1:02:03</itunes:duration>
<itunes:episode>{number}</itunes:episode>
<enclosure url="/{guid}.mp3" length="1" type="audio/mpeg"/>{more}</item>"""

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
 xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>Stone Talk</title><language>en-us</language><atom:link rel="self" href="/feed"/>
<itunes:author>Ada Fielding</itunes:author>{items}</channel></rss>"""

VTT = "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ada>" + "Welcome to the quarry. " * 20 + "\n"


def item(guid: str, *, link: str = "", more: str = "", day: int = 1, number: int = 1) -> str:
    return ITEM.format(
        guid=guid,
        title=f"Episode {guid}",
        link=link,
        date=f"Mon, {day:02} Jan 2024 10:00:00 +0000",
        number=number,
        more=more,
    )


def transcript(url: str, media_type: str, language: str = "") -> str:
    return f'<podcast:transcript url="{url}" type="{media_type}" language="{language}"/>'
