#!/usr/bin/env python
import os
import signal
import sys

SERVERS = ("up", "worker", "mcp_server")


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in SERVERS:
        take_stop_signals()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Quarry cannot start: {error}")


def take_stop_signals() -> None:
    """Let Ctrl-C and a service manager stop this process, whatever it inherited.

    A shell starts what it runs in the background with SIGINT ignored.
    """
    stops = (signal.SIGINT, signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell counts an interrupt, and without a traceback
