"""URLs that must never be fetched, and addresses that nothing may connect to."""

import re
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from hypothesis import strategies as st

TABLE = Path(__file__).resolve().parents[1] / "data" / "ssrf.txt"
_ESCAPE = re.compile(r"\\(\\|t|r|n|u[0-9a-fA-F]{4})")
_PLAIN = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\"}

URLS = [
    # This machine, in every spelling that some resolver takes.
    "http://127.0.0.1/",
    "http://127.9.8.7:8080/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.01/",
    "http://0x7f000001/",
    "http://0x7f.0.0.0x1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0::1]:8080/",
    "http://localhost/",
    "http://LocalHost:8000/",
    "http://localhost./",
    "http://a.b.localhost/",
    "http://ip6-localhost/",
    "http://box.localdomain/",
    # Inner networks.
    "http://10.1.2.3/",
    "http://172.20.0.5/",
    "http://192.168.178.1/",
    "http://169.254.0.1/",
    "http://100.64.0.9/",
    "http://100.100.100.200/",
    "http://168.63.129.16/machine",
    "http://192.0.0.192/",
    "http://169.254.169.254/latest/meta-data/iam/",
    "http://0xA9FEA9FE/",
    "http://025177524776/",
    "http://169.16689662/",
    "http://metadata.google.internal/",
    "http://instance-data/",
    "http://printer.local/",
    "http://nas.lan/",
    "http://router.home.arpa/",
    "http://wiki.corp/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25lo]/",
    "http://[fe80::1%lo]/",
    "http://[fec0::1]/",
    # Addresses that carry another.
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a00:1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:a00:1::1]/",
    "http://[2001:0:5ef5:79fd::1]/",
    "http://[2a00:1450::200:5efe:10.0.0.1]/",
    "http://[2a00:1450::5efe:7f00:1]/",
    # Ranges that belong to nobody.
    "http://192.0.2.1/",
    "http://198.19.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://192.88.99.1/",
    "http://239.1.1.1/",
    "http://250.0.0.1/",
    "http://255.255.255.255/",
    "http://[2001:db8:1::1]/",
    "http://[3fff::1]/",
    "http://[100::1]/",
    "http://[ff0e::1]/",
    "http://[2001:20::1]/",
    # Who is the host?
    "http://example.org@127.0.0.1/",
    "http://127.0.0.1@example.org/",
    "http://a:b@example.org/",
    "http://@example.org/",
    "http://example.org%40127.0.0.1/",
    "http://example.org\\@10.0.0.1/",
    "http:\\\\10.0.0.1/",
    "http:/\\10.0.0.1/",
    "http://10.0.0.1\\.example.org/",
    "http://10.0.0.1#.example.org/",
    "http://10.0.0.1?.example.org/",
    "http://exam ple.org/",
    "http://example.org /",
    "http://example\u00a0.org/",
    "http://exa\tmple.org/",
    "http://example.org\r\nHost: 10.0.0.1/",
    "http://example.org/a\r\nX: y",
    "http://example.org/\x00",
    "http://example.org/\x85",
    "\x1fhttp://example.org/",
    "http://example.org/\ud800",
    "http://[::1/",
    "http://::1/",
    "http://[]/",
    "http://[127.0.0.1]/",
    "http://[::1]a/",
    "http://example..org/",
    "http://.example.org/",
    "http://-a.example.org/",
    "http://a-.example.org/",
    "http://exa*mple.org/",
    "http://example.org,10.0.0.1/",
    "http://" + "a" * 64 + ".example.org/",
    "http://" + ".".join(["a" * 50] * 6) + "/",
    "http://example.org/" + "a" * 9_000,
    # Letters that become others.
    "http://１２７.０.０.１/",
    "http://⑧.⑧.⑧.⑧/",
    "http://127。0。0。1/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://local\u00adhost/",
    "http://LOCALHOſT/",
    "http://%31%32%37.0.0.1/",
    "http://127%2e0.0.1/",
    "http://%6cocalhost/",
    # Ports and schemes.
    "http://example.org:0/",
    "http://example.org:22/",
    "http://example.org:3306/",
    "http://example.org:6379/",
    "http://example.org:65536/",
    "http://example.org:-80/",
    "http://example.org:80:80/",
    "http://example.org:８０/",
    "http://example.org:+80/",
    "https://:443/",
    "http:///",
    "http://",
    "http:example.org",
    "http:/example.org/",
    "//example.org/",
    "example.org",
    "",
    "file:///etc/passwd",
    "ftp://example.org/",
    "gopher://example.org/",
    "ws://example.org/",
    "data:text/plain,x",
    "javascript:alert(1)",
    "view-source:http://example.org/",
]

BAD_ADDRESSES = [
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.255",
    "192.88.99.2",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.0",
    "203.0.113.0",
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.255",
    "::",
    "::1",
    "::8.8.8.8",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:1ff:ffff::1",
    "2001:db8::1",
    "2002:808:808::1",
    "2a00:1450::5efe:808:808",
    "2a00:1450::200:5efe:808:808",
    "3ffe::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fe80::1",
    "fe80::1%eth0",
    "2a00:1450::1%eth0",
    "fec0::1",
    "ff02::1",
]
GOOD_ADDRESSES = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00:1450:4001::1",
]


def urls_of_the_table() -> list[str]:
    """Cases that nobody chose with this code in sight; the file says how they are written."""
    rows = [line for line in TABLE.read_text().split("\n") if line and not line.startswith("#")]
    return [_ESCAPE.sub(_unescaped, row.partition("\t")[0]) for row in rows]


def _unescaped(match: re.Match[str]) -> str:
    return _PLAIN.get(match[1]) or chr(int(match[1][1:], 16))


INNER = [
    IPv4Network(network)
    for network in ("127.0.0.0/8", "10.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16", "0.0.0.0/8")
]


@st.composite
def inner_addresses(draw: st.DrawFn) -> IPv4Address:
    network = draw(st.sampled_from(INNER))
    return network[draw(st.integers(0, network.num_addresses - 1))]


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """One of the many ways in which some parser somewhere reads an address."""
    address = draw(inner_addresses())
    shape = draw(st.sampled_from(["dotted", "short", "v6", "letters", "percent", "userinfo"]))
    if shape == "v6":
        prefix = draw(st.sampled_from(["::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "fe80::5efe:"]))
        return f"[{prefix}{address}]"
    if shape == "letters":
        return str(address).translate({48 + n: 0xFF10 + n for n in range(10)})
    if shape == "percent":
        return "".join(f"%{ord(character):02x}" for character in str(address))
    if shape == "userinfo":
        return f"example.org@{address}"
    kept = draw(st.integers(1, 4)) if shape == "short" else 4
    whole = int(address)
    parts = [(whole >> shift) & 0xFF for shift in (24, 16, 8)[: kept - 1]]
    parts.append(whole & ((1 << (8 * (5 - kept))) - 1))
    bases = [draw(st.sampled_from(["{}", "0{:o}", "0x{:x}", "0X{:X}", "{:03}"])) for _ in parts]
    dot = draw(st.sampled_from([".", ".", "。", "．"]))
    return dot.join(base.format(part) for base, part in zip(bases, parts, strict=True))
