import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import IngestFailed
from knowledge.sources import http_exchange
from knowledge.sources.http import fetch
from tests.support.http_servers import answer, forwarding, header_of, says, serving
from tests.support.tls import HOST, Secured, serving_securely


@pytest.fixture
def secured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Secured]:
    with serving_securely(tmp_path, monkeypatch, b"secret") as made:
        yield made


def test_the_name_is_kept_for_tls_while_the_address_is_pinned(secured: Secured) -> None:
    assert fetch(f"https://{HOST}/").body == b"secret"
    assert secured.reached == [("93.184.216.34", 443)]
    assert secured.names == [HOST]
    assert header_of(secured.server.requests[0], "host") == HOST


def test_a_certificate_for_another_name_is_not_believed(secured: Secured) -> None:
    with pytest.raises(IngestFailed) as failure:
        fetch("https://other.example.org/")
    assert failure.value.details == {"reason": "unreachable"}
    assert secured.server.requests == []


def test_a_certificate_that_nobody_vouches_for_is_not_believed(
    secured: Secured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_exchange, "_tls", ssl.create_default_context)
    with pytest.raises(IngestFailed):
        fetch(f"https://{HOST}/")
    assert secured.server.requests == []


def test_a_server_without_tls_is_unreachable_by_https(settings) -> None:
    with serving(says(answer())) as plain:
        settings.QUARRY_ALLOWED_PRIVATE_HOSTS = [plain.host]
        with pytest.raises(IngestFailed) as failure:
            fetch(f"https://{plain.host}/")
    assert failure.value.details == {"reason": "unreachable", "may_pass": True}


def test_a_tunnel_through_a_proxy_ends_at_the_named_host(secured: Secured, settings) -> None:
    with serving(forwarding(secured.server.port)) as proxy:
        settings.QUARRY_EGRESS_PROXY = f"http://{proxy.host}"
        assert fetch(f"https://{HOST}/").body == b"secret"
        assert proxy.requests[0].startswith(f"CONNECT {HOST}:443 HTTP/1.1".encode())
        assert secured.names == [HOST]
