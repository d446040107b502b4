"""`manage.py reindex` in a process of its own that knows a slow embedder, so it can be killed."""

import sys

import django
from django.core.management import call_command

from knowledge import providers
from knowledge.providers.fake import FakeEmbedder


def main() -> None:
    django.setup()
    delay = float(sys.argv[1])
    providers._EMBEDDERS["other"] = lambda: FakeEmbedder(dimensions=32, delay=delay)
    call_command("reindex", *sys.argv[2:])


if __name__ == "__main__":
    main()
