#!/usr/bin/env python
import atexit
import gc
import os
import signal
import sys

SERVERS = ("up", "worker", "mcp_server")
INTERRUPTED = 130
"""The exit code by which shells know an interrupt."""


def main() -> None:
    # What a start loads is there to stay: to look it through for garbage takes a fifth of the time.
    gc.set_threshold(10_000, 20)
    atexit.register(gc.freeze)  # nor at the end: its memory goes back as a whole
    if sys.argv[1:2] and sys.argv[1] in SERVERS:
        take_stop_signals(sys.argv[1])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Quarry cannot start: {error}")


def take_stop_signals(command: str) -> None:
    """Let Ctrl-C and a service manager stop this process, whatever it inherited.

    A shell starts what it runs in the background with SIGINT ignored.
    """
    stops = (signal.SIGINT, signal.SIGTERM)
    # Until these two take the signals themselves: an exception would be lost within a destructor.
    is_own = command in ("up", "worker")
    signal.signal(signal.SIGINT, end_at_once if is_own else signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)


def end_at_once(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)  # without a traceback
