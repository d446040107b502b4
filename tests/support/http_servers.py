"""Servers of a few lines that say exactly the bytes a test wants, and a proxy that keeps a list."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Script = Callable[[bytes, socket.socket], None]


class RawServer:
    """Reads one request per connection, keeps it, and lets a script answer on the socket."""

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[bytes] = []
        self.closing = threading.Event()
        self.script = script
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}{path}"

    def close(self) -> None:
        self.closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.settimeout(5)
            if self._tls is None:
                self._answer(connection)
            else:
                with self._tls.wrap_socket(connection, server_side=True) as secured:
                    self._answer(secured)

    def _answer(self, connection: socket.socket) -> None:
        request = read_request(connection)
        self.requests.append(request)
        self.script(request, connection)


@contextmanager
def serving(script: Script, *, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    server = RawServer(script, tls=tls)
    try:
        yield server
    finally:
        server.close()


def says(*parts: bytes | str) -> Script:
    """A script that says the same to everybody."""
    whole = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return lambda _, connection: connection.sendall(whole)


def answer(status: str = "200 OK", body: bytes = b"", **headers: str) -> bytes:
    """A whole answer with its length; underscores in names of headers stand for hyphens."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *lines])
    return head.encode() + b"\r\n\r\n" + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nLocation: ".encode()
    return head + location.encode(errors="surrogatepass") + b"\r\n\r\n"


def path_of(request: bytes) -> str:
    return request.split(b" ")[1].decode()


def header_of(request: bytes, name: str) -> str | None:
    for line in request.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]:
        key, _, value = line.decode("latin-1").partition(":")
        if key.lower() == name:
            return value.strip()
    return None


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            return data
        data += more
        if data.startswith(b"\x16"):
            return data  # TLS, said to a server that speaks none
    length = int(header_of(data, "content-length") or 0)
    while len(data.partition(b"\r\n\r\n")[2]) < length:
        data += connection.recv(65_536)
    return data


def forwarding(to: int) -> Script:
    """A proxy that sends everything to one local port, whatever host it is asked for."""

    def forward(request: bytes, client: socket.socket) -> None:
        with socket.socket() as upstream:
            upstream.settimeout(5)
            upstream.connect(("127.0.0.1", to))
            if request.startswith(b"CONNECT "):
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                _pump_both_ways(client, upstream)
            else:
                upstream.sendall(request)
                _pump(upstream, client)

    return forward


def _pump_both_ways(client: socket.socket, upstream: socket.socket) -> None:
    upwards = threading.Thread(target=_pump, args=(client, upstream), daemon=True)
    upwards.start()
    _pump(upstream, client)
    with suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)
    upwards.join(5)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
