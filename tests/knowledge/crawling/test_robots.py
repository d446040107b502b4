import pytest

from knowledge.crawling.robots import read_robots

SITE = "https://docs.example"


@pytest.mark.parametrize(
    ("rules", "path", "is_allowed"),
    [
        ("Disallow: /private", "/private/x", False),
        ("Disallow: /private", "/privately", False),
        ("Disallow: /private/", "/private", True),
        ("Disallow: /a\nAllow: /a/open", "/a/open/x", True),
        ("Allow: /a\nDisallow: /a/shut", "/a/shut", False),
        ("Allow: /same\nDisallow: /same", "/same", True),
        ("Disallow: /*.pdf$", "/x/y.pdf", False),
        ("Disallow: /*.pdf$", "/x/y.pdf?z", True),
        ("Disallow: /*?page=", "/list?page=2", False),
        ("Disallow: /*?page=", "/list", True),
        ("Disallow:", "/anything", True),
        ("Disallow: /", "/", False),
        ("Disallow: /caf%C3%A9", "/café", False),
        ("Disallow: /a*b*c*d", "/a" + "b" * 5000, True),
    ],
)
def test_the_longest_rule_that_fits_decides(rules: str, path: str, is_allowed: bool) -> None:
    assert read_robots(f"User-agent: *\n{rules}").allows(SITE + path) is is_allowed


def test_rules_under_our_own_name_take_the_place_of_those_for_all() -> None:
    text = (
        "user-agent: *\ndisallow: /\n\n"
        "User-Agent: otherbot\nUser-agent: Quarry/2.0 (x)\nDisallow: /mine # a remark\n"
        "Crawl-delay: 3\n\nUser-agent: quarry\nDisallow: /also\n"
    )
    robots = read_robots(text)
    assert robots.allows(f"{SITE}/elsewhere")
    assert not robots.allows(f"{SITE}/mine")
    assert not robots.allows(f"{SITE}/also")
    assert robots.delay_sec == 3


def test_sitemaps_hold_for_everybody_wherever_they_stand() -> None:
    text = f"Sitemap: {SITE}/one.xml\nUser-agent: x\nDisallow: /\nSITEMAP:{SITE}/two.xml"
    assert read_robots(text).sitemaps == (f"{SITE}/one.xml", f"{SITE}/two.xml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff",
        "nonsense",
        "Disallow: /",
        ": :\n::::",
        "<html><body>Not found</body></html>",
        "User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: inf",
        "User-agent: other\nDisallow: /",
    ],
)
def test_what_cannot_be_read_forbids_nothing(text: str) -> None:
    robots = read_robots(text)
    assert robots.allows(f"{SITE}/x")
    assert robots.delay_sec is None
