"""A local server with a certificate for one name, which every name leads to."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from knowledge.sources import http_exchange
from tests.support.http_servers import RawServer, answer, says, serving

HOST = "secure.example.org"


@dataclass
class Secured:
    """A server with a certificate for one name, and the names that clients asked it for."""

    server: RawServer
    names: list[str | None] = field(default_factory=list)
    reached: list[tuple[str, int]] = field(default_factory=list)


def certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "key.pem").write_bytes(secret)
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return folder / "certificate.pem", folder / "key.pem"


@contextmanager
def serving_securely(
    folder: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, **more: str
) -> Iterator[Secured]:
    """Every name leads to a public address, and every connection to the local server."""
    public, secret = certificate(folder)
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(public, secret)
    with serving(says(answer(body=body, **more)), tls=ours) as server:
        made = Secured(server)
        ours.sni_callback = lambda _, name, __: made.names.append(name)
        connect = socket.socket.connect

        def kept(self: socket.socket, address: tuple[str, int]) -> None:
            made.reached.append(address)
            local = address[0].startswith("127.")
            connect(self, address if local else ("127.0.0.1", server.port))

        rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]
        monkeypatch.setattr(socket.socket, "connect", kept)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
        trusting = ssl.create_default_context(cafile=str(public))
        monkeypatch.setattr(http_exchange, "_tls", lambda: trusting)
        yield made
