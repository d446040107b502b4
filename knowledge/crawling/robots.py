"""robots.txt, by RFC 9309: the longest rule that fits an address decides, and `*` is anything."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from knowledge.crawling.patterns import fits, percent_encode

NAME = "quarry"
LONGEST = 500_000
"""Characters; what stands behind them is not read."""
MOST_RULES = 5_000


@dataclass(frozen=True, slots=True)
class Rule:
    """What a robot may do at the addresses that begin like this."""

    path: str
    allows: bool

    def fits(self, address: str) -> bool:
        if self.path.endswith("$"):
            return fits(self.path[:-1], address)
        return fits(f"{self.path}*", address)


@dataclass(frozen=True, slots=True)
class Robots:
    """What a site asks of us."""

    rules: tuple[Rule, ...] = ()
    delay_sec: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """Whether we may ask for an address; of two rules of one length the kinder counts."""
        parts = urlsplit(url)
        address = percent_encode(f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}")
        fitting = [rule for rule in self.rules if rule.fits(address)]
        decides = max(fitting, key=lambda rule: (len(rule.path), rule.allows), default=None)
        return decides is None or decides.allows


@dataclass(slots=True)
class _Group:
    names: set[str] = field(default_factory=set)
    rules: list[Rule] = field(default_factory=list)
    delay_sec: float | None = None
    is_open: bool = True
    """Whether another name may still join it: until its first rule."""


def read_robots(text: str) -> Robots:
    """The rules for us: those under our own name, else those for everybody."""
    groups: list[_Group] = []
    sitemaps: list[str] = []
    for name, value in _lines(text):
        if name == "sitemap":
            sitemaps.append(value)
        elif name == "user-agent":
            if not groups or not groups[-1].is_open:
                groups.append(_Group())
            groups[-1].names.add(_product(value))
        elif groups:
            _add_rule(groups[-1], name, value)
    ours = [group for group in groups if NAME in group.names]
    ours = ours or [group for group in groups if "*" in group.names]
    rules = [rule for group in ours for rule in group.rules]
    delays = [group.delay_sec for group in ours if group.delay_sec is not None]
    return Robots(tuple(rules[:MOST_RULES]), max(delays, default=None), tuple(sitemaps))


def _lines(text: str) -> list[tuple[str, str]]:
    found = []
    for line in text[:LONGEST].removeprefix("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            found.append((name.strip().lower(), value.strip()))
    return found


def _product(value: str) -> str:
    """`Quarry/1.0 (self-hosted)` and `quarry` are one."""
    return (value.lower().split("/")[0].split() or [""])[0]


def _add_rule(group: _Group, name: str, value: str) -> None:
    group.is_open = False
    if name in ("allow", "disallow") and value:
        group.rules.append(Rule(percent_encode(value), allows=name == "allow"))
    elif name == "crawl-delay":
        group.delay_sec = _seconds(value)


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
