"""Redis and RabbitMQ as the brokers' tests need them: on a free port, in a folder of their own."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

REDIS = "redis-server"
# Not the one on the path: Debian puts a wrapper there that changes to a user of its own.
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"
START_SEC = 300


def require(program: str) -> None:
    """Skip where the program is not installed, and fail where it has to be."""
    if not shutil.which(program):
        missing = f"{program} is not installed"
        if os.environ.get("QUARRY_BROKER_TESTS") == "required":
            pytest.fail(missing)
        pytest.skip(missing)


@contextmanager
def redis_server(folder: Path, port: int) -> Iterator[str]:
    require(REDIS)
    command = [REDIS, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with _running([*command, "--save", "", "--appendonly", "yes"], folder):
        _wait_until(lambda: _answers(port, b"PING\r\n", b"+PONG"), folder)
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def rabbitmq_server(folder: Path) -> Iterator[str]:
    require(RABBITMQ)
    port, between_nodes, names = free_port(), free_port(), free_port()
    env = {
        "HOME": str(folder),
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_ALLOW_INPUT": "1",  # the server itself, and not a shell that waits for it
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_DIST_PORT": str(between_nodes),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_LOG_BASE": str(folder),
        "RABBITMQ_MNESIA_BASE": str(folder),
        "RABBITMQ_NODENAME": "quarry@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
    }
    # RabbitMQ would start this one as a daemon that outlives the tests.
    with _running(["epmd"], folder, **env), _running([RABBITMQ, "-noinput"], folder, **env):
        _wait_until(lambda: _answers(port, b"AMQP\0\0\x09\x01", b"\1\0\0"), folder)
        yield f"amqp://guest:guest@127.0.0.1:{port}/%2F"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def _running(command: list[str], folder: Path, **env: str) -> Iterator[None]:
    with (
        (folder / "log").open("a") as log,
        subprocess.Popen(
            command,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            yield
        finally:
            process.kill()


def _answers(port: int, question: bytes, answer: bytes) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
            line.sendall(question)
            return line.recv(64).startswith(answer)
    except OSError:
        return False


def _wait_until(holds: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + START_SEC
    while not holds():
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.05)
