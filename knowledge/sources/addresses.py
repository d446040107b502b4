"""Which addresses may be reached: a URL is read strictly, and every address of its name vetted."""

import re
import socket
import threading
import unicodedata
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NoReturn
from urllib.parse import quote, urljoin

import idna
from django.conf import settings

from knowledge.errors import IngestFailed

Address = IPv4Address | IPv6Address

LONGEST_URL = 8_192
WEB_PORTS = frozenset({80, 443, 8000, 8080, 8443})
_PORTS = range(1, 65_536)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_URL = re.compile(r"(https?)://([^/?#]*)([^#]*)", re.IGNORECASE)
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# What may stand in a path or query, and the percent sign of what is quoted already.
_KEPT = "%/:?@!$&'()*+,;=-._~[]"

# Names that are never of the public internet; some resolvers answer them all the same.
_INNER_ZONES = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "lan",
    "home",
    "corp",
    "home.arpa",
)

_BAD_V4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's metadata, on an address that looks public
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
]
# IPv6 outside global unicast is refused whole: mapped, compatible and NAT64 addresses, the site,
# link and unique local ones, multicast. Inside it lie Teredo, documentation, 6to4, old test nets:
_GLOBAL_V6 = IPv6Network("2000::/3")
_BAD_V6 = [
    IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3ffe::/16", "3fff::/20")
]
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A URL that may be asked for, as far as its letters tell; its addresses are yet to vet."""

    scheme: str
    host: str
    """Lower-case ASCII, without brackets."""
    port: int
    target: str
    """Path and query as they go into the request."""
    is_named_by_operator: bool = False

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def authority(self) -> str:
        """What the Host header says."""
        return self.url_host if self.has_default_port else f"{self.url_host}:{self.port}"

    @property
    def url_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def has_default_port(self) -> bool:
        return _DEFAULT_PORTS[self.scheme] == self.port

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def read_url(url: str) -> Place:
    """The parts of a URL that may be fetched; anything odd is refused before any lookup."""
    _refuse_odd_characters(url)
    match = _URL.match(url)
    if match is None:
        _bad("Only http:// and https:// addresses can be fetched; give such a URL.")
    scheme = match[1].lower()
    host, port = _host_and_port(match[2])
    place = Place(
        scheme=scheme,
        host=host,
        port=_DEFAULT_PORTS[scheme] if port is None else port,
        target=_quote_target(match[3]),
    )
    if _is_named_by_operator(place):
        return replace(place, is_named_by_operator=True)
    _refuse_inner(place)
    return place


def read_redirect(place: Place, location: str) -> Place:
    """Where a redirect leads, checked as strictly as the URL that a person gave."""
    location = location.strip(" ").replace(" ", "%20")
    _refuse_odd_characters(location)  # joining would drop some of them unseen
    if _ABSOLUTE.match(location):
        return read_url(location)
    return read_url(urljoin(place.url, location))


def addresses_of(place: Place, *, seconds: float) -> list[Address]:
    """Every address of the host, looked up once; one bad address refuses the whole name."""
    addresses = look_up(place.host, place.port, seconds=seconds)
    if not place.is_named_by_operator and not all(map(is_public, addresses)):
        _refuse_address()
    return addresses


def is_public(address: Address) -> bool:
    """Whether an address belongs to a machine of the public internet, and to nothing else."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _BAD_V4)
    if address.scope_id or address not in _GLOBAL_V6:
        return False
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return False
    return address.is_global and not any(address in network for network in _BAD_V6)


def look_up(host: str, port: int, *, seconds: float) -> list[Address]:
    """What the resolver says, asked in a thread because it knows no time limit of its own."""
    if literal := _literal(host):
        return [literal]
    answers: list[list[Address]] = []
    thread = threading.Thread(
        target=lambda: answers.append(_resolve(host, port)), name="quarry-lookup", daemon=True
    )
    thread.start()
    thread.join(max(seconds, 0))
    if not answers:
        raise IngestFailed(
            "The host name could not be looked up in time; try again later.",
            reason="timed_out",
            may_pass=True,
        )
    if not answers[0]:
        raise IngestFailed(
            f"The host name {host} is not known; check the URL, or try again later.",
            reason="unreachable",
            may_pass=True,
        )
    return answers[0]


def _resolve(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ip_address(row[4][0]) for row in found))
    except (OSError, ValueError):
        return []


def _refuse_odd_characters(url: str) -> None:
    if len(url) > LONGEST_URL:
        _bad(f"A URL may have at most {LONGEST_URL:,} characters; give a shorter one.")
    if any(_is_odd(character) for character in url):
        _bad("The URL holds a space, a backslash or a control character; take it out.")


def _is_odd(character: str) -> bool:
    category = unicodedata.category(character)
    return character == "\\" or category in ("Cc", "Cs") or category.startswith("Z")


def _host_and_port(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        _bad("The URL holds credentials; give it without a user name and password.")
    match = _AUTHORITY.fullmatch(authority)
    if match is None or int(match[2] or 80) not in _PORTS:
        _bad("The URL's host or port cannot be read; check its spelling.")
    host = _v6(match[1][1:-1]) if match[1].startswith("[") else _name_or_v4(match[1])
    return host, None if match[2] is None else int(match[2])


def _v6(text: str) -> str:
    try:
        address = IPv6Address(text)
    except ValueError:
        _bad("The URL has no valid IPv6 address between its brackets; check its spelling.")
    if address.scope_id:
        _refuse_address()
    return str(address)


def _name_or_v4(host: str) -> str:
    """The host in lower-case ASCII; an address in its one canonical spelling alone."""
    name = host.lower() if host.isascii() else _idna(host)
    labels = name.split(".")
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        _bad("The URL has no valid host name; check its spelling.")
    if _NUMBER.fullmatch(labels[-1]) and not (host.isascii() and _literal(name)):
        _refuse_address()
    return name


def _idna(host: str) -> str:
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except UnicodeError:  # idna's own errors are of this kind
        _bad("The URL has no valid international host name; check its spelling.")


def _quote_target(target: str) -> str:
    quoted = quote(target, safe=_KEPT)
    return quoted if quoted.startswith("/") else f"/{quoted}"


def _is_named_by_operator(place: Place) -> bool:
    """QUARRY_ALLOWED_PRIVATE_HOSTS names a host with every port, or one port of a host."""
    named = {name.lower() for name in settings.QUARRY_ALLOWED_PRIVATE_HOSTS}
    return not named.isdisjoint({place.host, place.url_host, f"{place.url_host}:{place.port}"})


def _refuse_inner(place: Place) -> None:
    if place.port not in WEB_PORTS:
        _bad(f"Port {place.port} is not one that web pages are served on; give another URL.")
    literal = _literal(place.host)
    if literal is None and _is_inner_name(place.host):
        _refuse_address()
    if literal is not None and not is_public(literal):
        _refuse_address()


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_inner_name(host: str) -> bool:
    if "." not in host:
        return True
    return any(host == zone or host.endswith(f".{zone}") for zone in _INNER_ZONES)


def _bad(message: str) -> NoReturn:
    raise IngestFailed(message, reason="bad_url")


def _refuse_address() -> NoReturn:
    raise IngestFailed(
        "The URL leads to a private or special address, or spells one in an odd way; give a public "
        "one, or let the operator name the host in QUARRY_ALLOWED_PRIVATE_HOSTS.",
        reason="refused_address",
    )
