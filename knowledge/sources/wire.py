"""Connections that go to vetted addresses alone and end when their time or their bytes are up."""

import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore2

from knowledge.errors import IngestFailed
from knowledge.sources.addresses import Address

CONNECT_SECONDS = 10
ADDRESSES_TRIED = 4
SILENT_SECONDS = 30
WRITE_BYTES = 65_536


class Deadline:
    """The moment by which a whole exchange is over, redirects and lookups included."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def seconds_left(self, at_most: float = float("inf")) -> float:
        """Seconds left, more than none; the exchange fails when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise timeout_error()
        return min(left, at_most)


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the given addresses, whatever name it is told: nothing is looked up again."""

    def __init__(self, addresses: Sequence[Address], *, deadline: Deadline, max_bytes: int) -> None:
        self._addresses = addresses
        self._deadline = deadline
        self._max_bytes = max_bytes

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        for address in self._addresses[:ADDRESSES_TRIED]:
            try:
                connected = self._connect(address, port)
            except OSError:
                continue
            return Wire(connected, deadline=self._deadline, max_bytes=self._max_bytes)
        raise unreachable("The server could not be reached")

    def _connect(self, address: Address, port: int) -> socket.socket:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.settimeout(self._deadline.seconds_left(CONNECT_SECONDS))
            connection.connect((str(address), port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            connection.close()
            raise
        return connection


class Wire(httpcore2.NetworkStream):
    """One connection; the timeouts it is told give way to the exchange's own deadline."""

    def __init__(self, connection: socket.socket, *, deadline: Deadline, max_bytes: int) -> None:
        self._socket = connection
        self._deadline = deadline
        self._bytes_left = max_bytes

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._socket.settimeout(self._deadline.seconds_left(SILENT_SECONDS))
            data = self._socket.recv(max_bytes)
        except TimeoutError:
            raise timeout_error() from None
        except OSError:
            raise unreachable("The server broke the connection off") from None
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise too_large()
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        try:
            while rest:
                self._socket.settimeout(self._deadline.seconds_left(SILENT_SECONDS))
                rest = rest[self._socket.send(rest[:WRITE_BYTES]) :]
        except TimeoutError:
            raise timeout_error() from None
        except OSError as error:
            # A server may answer and hang up before it has read all; its answer is still read.
            raise httpcore2.WriteError(error) from error

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            self._socket.settimeout(self._deadline.seconds_left(CONNECT_SECONDS))
            secured = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except BaseException as error:
            self.close()
            raise _handshake_failure(error) from None
        return Wire(secured, deadline=self._deadline, max_bytes=self._bytes_left)

    def get_extra_info(self, info: str) -> Any:
        return None  # asked for HTTP/2 and for idle connections, and we have neither


def timeout_error() -> IngestFailed:
    return IngestFailed(
        "The server took too long to answer; try again later.", reason="timed_out", may_pass=True
    )


def unreachable(what: str) -> IngestFailed:
    return IngestFailed(f"{what}; try again later.", reason="unreachable", may_pass=True)


def too_large() -> IngestFailed:
    return IngestFailed(
        "The link serves more than is taken in one piece; give a link to a smaller one.",
        reason="too_large",
    )


def _handshake_failure(error: BaseException) -> BaseException:
    if isinstance(error, ssl.SSLCertVerificationError):
        return IngestFailed(
            "The server's certificate is not valid for its name; check the URL.",
            reason="unreachable",
        )
    if isinstance(error, TimeoutError):
        return timeout_error()
    if isinstance(error, OSError):
        return unreachable("The server did not agree on a secure connection")
    return error
