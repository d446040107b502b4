"""One key for every spelling of an address, so that the same thing is kept once.

A key is made from an address alone, never from what a page says about itself: a page could
claim another's address, and so change what other owners get.
"""

import hashlib
import re
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qs, quote, unquote_plus, urlsplit

import idna

from knowledge.errors import IngestFailed

LONGEST_URL = 8_000
LONGEST = 1_000
"""A longer key is known by its hash: a row of an index has room for little more."""

_OURS = re.compile(r"youtube:[\w-]{11}|hashed:[0-9a-f]{64}|podcast:[0-9a-f]{64}", re.ASCII)
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_VIDEO = re.compile(r"[\w-]{11}", re.ASCII)
_VIDEO_HOSTS = {"youtube.com", "youtube-nocookie.com", "youtubekids.com", "music.youtube.com"}
_VIDEO_PATHS = {"shorts", "live", "embed", "v", "e", "watch"}
_NO_VIDEO = {"videoseries", "live_stream"}  # words of the player's that are as long as an id

# A host that anybody can rent a name under would let one customer answer for another, so that
# mobile names are known by heart; `www` is the same site wherever there is one.
_MOBILE = re.compile(r"(?:m|mobile|touch|amp)\.(.+)")
_WITH_MOBILE = {
    *("facebook.com", "twitter.com", "x.com", "youtube.com", "reddit.com", "instagram.com"),
    *("imdb.com", "linkedin.com", "quora.com", "nytimes.com", "theguardian.com", "bbc.co.uk"),
    *("wikidata.org", "mediawiki.org", "vk.com", "douban.com", "weibo.com", "bilibili.com"),
}
_WIKI = re.compile(
    r"([a-z-]+)\.m\.(wikipedia|wiktionary|wikibooks|wikinews|wikiquote|wikisource|wikiversity"
    r"|wikivoyage|wikimedia)\.org"
)
_RENAMED = {"twitter.com": "x.com", "old.reddit.com": "reddit.com", "np.reddit.com": "reddit.com"}

_AMP_CACHE = re.compile(r"(?:[\w-]+\.)?(?:cdn\.ampproject\.org|bing-amp\.com)", re.ASCII)
_AMP_VIEWER = re.compile(r"(?:www\.)?google\.(?:com|[a-z]{2}|com?\.[a-z]{2})")
_AMP_CACHED = re.compile(r"/[acv]/(s/)?(.+)")
_AMP_VIEWED = re.compile(r"/amp/(s/)?(.+)")
_AMP_FILE = re.compile(r"(?:\.amp)+(\.html?)$")

_TRACKING = re.compile(
    r"utm_.*|mc_.*|mtm_.*|pk_(?:campaign|kwd|keyword|source|medium|content|cid|vid)|"
    r"piwik_.*|fb_(?:action_ids|action_types|source|ref)|hsa_.*|oly_.*_id|vero_.*|_hs.*|__hs.*|"
    r"gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|twclid|ttclid|yclid|li_fat_id|srsltid|"
    r"igshid|igsh|mkt_tok|_ga|_gl|__twitter_impression|ref_src|ref_url|cmpid|guccounter|"
    r"guce_referrer.*|hsctatracking|wt\.mc_id|ns_(?:source|mchannel|campaign)"
)
_TRACKING_AT = {
    "si": re.compile(r"(?:.*\.)?(?:youtube\.com|spotify\.com)"),
    "feature": re.compile(r"(?:.*\.)?youtube\.com"),
    "smid": re.compile(r"nytimes\.com"),
    "trk": re.compile(r"(?:.*\.)?linkedin\.com"),
    "at_medium": re.compile(r"bbc\.com?(\.uk)?"),
    "at_campaign": re.compile(r"bbc\.com?(\.uk)?"),
}
_CAME_FROM = re.compile(
    r"(?:[a-z0-9-]+\.)+[a-z]{2,}|hackernews|hn|producthunt|twitter|facebook|linkedin|newsletter|rss"
)
_BRANCHES = re.compile(r"(?:.*\.)?(?:github|gitlab|bitbucket|codeberg|gitea|sr)\..*")
_SIGNED = re.compile(
    r"x-(?:amz|goog)-signature|signature|sig|token|policy|hdnea|hdnts|expires|auth_key|md5"
)


def key(url: str) -> str:
    """The canonical key of an address; a key of a key is itself."""
    url = url.strip()
    if len(url) > LONGEST_URL:
        raise _bad_url()
    if _OURS.fullmatch(url):
        return url
    parts = _parts(unwrap_amp(url))
    if video := _video(parts):
        return f"youtube:{video}"
    host = _plain_host(_host(parts))
    path = _path(parts.path)
    made = (
        f"https://{_bracket_ipv6(host)}{_port(parts)}{path}{_query(parts, host)}{_fragment(parts)}"
    )
    return made if len(made) <= LONGEST else f"hashed:{_hash(made)}"


def answer_key(asked: str, answered: str) -> str:
    """The key of the address that answered, or of the one asked when the answer's expires.

    Many sites send to a storage address that is signed anew each time.
    """
    if _is_signed(answered) and not _is_signed(asked):
        return key(asked)
    return key(answered)


def address_for_people(url: str) -> str:
    """The address as people open it, without what only tells who sent them there."""
    parts = _parts(url)
    kept = [field for field in parts.query.split("&") if not _is_tracking(field, _host(parts))]
    return parts._replace(query="&".join(kept), fragment="").geturl()


def episode_key(feed_url: str, guid: str) -> str:
    """The key of one episode: its name within the feed that answered."""
    return f"podcast:{_hash(f'{key(feed_url)} {guid}')}"


def video_id(url: str) -> str | None:
    """The id of the YouTube video that an address of any shape leads to."""
    try:
        made = key(url)
    except IngestFailed:
        return None
    return made.removeprefix("youtube:") if made.startswith("youtube:") else None


def unwrap_amp(url: str) -> str:
    """The publisher's address behind one of an AMP cache; any other address as it is."""
    while inner := _behind_cache(url):
        url = inner
    return url


def same_site(url: str, other: str) -> bool:
    """Whether two addresses are of one host, mobile names and `www` aside."""
    try:
        return _plain_host(_host(_parts(url))) == _plain_host(_host(_parts(other)))
    except IngestFailed:
        return False


def _behind_cache(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return None
    found = None
    if _AMP_CACHE.fullmatch(host):
        found = _AMP_CACHED.fullmatch(parts.path)
    elif _AMP_VIEWER.fullmatch(host):
        found = _AMP_VIEWED.fullmatch(parts.path)
    if not found:
        return None
    scheme = "https" if found[1] else "http"
    return f"{scheme}://{found[2]}{'?' + parts.query if parts.query else ''}"


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError:
        raise _bad_url() from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _bad_url()
    return parts


def _bad_url() -> IngestFailed:
    return IngestFailed(
        "This is not an address that can be opened; send one that begins with https://.",
        reason="bad_url",
    )


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    try:
        if ":" in host:
            return ip_address(host).compressed
        if not host.isascii():
            host = idna.encode(host, uts46=True).decode().rstrip(".")
    except ValueError:
        raise _bad_url() from None
    if not _HOST.fullmatch(host):
        raise _bad_url()
    return host


def _plain_host(host: str) -> str:
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    if (mobile := _MOBILE.fullmatch(host)) and mobile[1] in _WITH_MOBILE:
        host = mobile[1]
    elif wiki := _WIKI.fullmatch(host):
        host = f"{wiki[1]}.{wiki[2]}.org"
    return _RENAMED.get(host, host)


def _bracket_ipv6(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _port(parts: SplitResult) -> str:
    return "" if parts.port in (None, 80, 443) else f":{parts.port}"


def _path(path: str) -> str:
    steps: list[str] = []
    for step in _tidy(path, safe="/:@!$&'()*+,;=").split("/")[1:]:
        if step == "..":
            steps = steps[:-1]
        elif step != ".":
            steps.append(step)
    path = "/" + "/".join(_without_amp(steps)).rstrip("/")
    return _AMP_FILE.sub(r"\1", path)


def _without_amp(steps: list[str]) -> list[str]:
    """After a slug or a file `amp` is the same article; after a short name it may be anything."""
    kept = list(steps)
    while kept and kept[-1] in ("", "amp"):
        kept.pop()
    is_article = bool(kept) and (kept[-1].count("-") >= 2 or kept[-1].endswith((".html", ".htm")))
    return kept if is_article else steps


def _query(parts: SplitResult, host: str) -> str:
    kept = [
        _tidy(field, safe="/:@!$'()*+,;=?")
        for field in parts.query.split("&")
        if field and not _is_tracking(field, host)
    ]
    return f"?{'&'.join(kept)}" if kept else ""


def _is_tracking(field: str, host: str) -> bool:
    name, _, value = (unquote_plus(part).lower() for part in field.partition("="))
    if _TRACKING.fullmatch(name):
        return True
    if name in _TRACKING_AT:
        return bool(_TRACKING_AT[name].fullmatch(host))
    if name == "ref":
        return bool(_CAME_FROM.fullmatch(value)) and not _BRANCHES.fullmatch(host)
    return (name == "amp" and value in ("", "1", "true")) or (name, value) == ("outputtype", "amp")


def _fragment(parts: SplitResult) -> str:
    if not parts.fragment.startswith("!") or len(parts.fragment) == 1:
        return ""
    return "#" + _tidy(parts.fragment, safe="/:@!$&'()*+,;=?")


def _tidy(text: str, *, safe: str) -> str:
    """Percent-encoding in its one normal form, with nothing encoded that need not be."""
    text = re.sub(r"%(?![0-9a-fA-F]{2})", "%25", text)
    text = quote(text, safe=safe + "%~", errors="surrogatepass")
    return re.sub(r"%[0-9a-fA-F]{2}", _tidy_escape, text)


def _tidy_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[0][1:], 16))
    plain = character.isascii() and (character.isalnum() or character in "-._~")
    return character if plain else escape[0].upper()


def _video(parts: SplitResult) -> str | None:
    host = _plain_host(_host(parts))
    steps = [step for step in parts.path.split("/") if step]
    if host == "youtu.be":
        return _id_or_none(steps[0]) if steps else None
    if host not in _VIDEO_HOSTS or not steps:
        return None
    asked = parse_qs(parts.query)
    if steps == ["watch"]:
        return _id_or_none(asked.get("v", [""])[0])
    if steps == ["attribution_link"]:
        return video_id(f"https://youtube.com{asked.get('u', [''])[0]}")
    return _id_or_none(steps[1]) if len(steps) > 1 and steps[0] in _VIDEO_PATHS else None


def _id_or_none(text: str) -> str | None:
    return text if _VIDEO.fullmatch(text) and text not in _NO_VIDEO else None


def _is_signed(url: str) -> bool:
    fields = parse_qs(urlsplit(url).query, keep_blank_values=True)
    return any(_SIGNED.fullmatch(name.lower()) for name in fields)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
