"""Imports thousands of bookmarks from a local site while workers are killed, and counts.

`python -m benchmarks.imports --bookmarks 2000 --home FOLDER`. One bookmark in twenty is dead. The
import runs in workers of its own, which are killed with -9 three times on the way. Then the same
file is imported once more, which must add nothing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DEAD_EVERY = 20
KILLS_AT = (0.1, 0.4, 0.7)
PAGE = """<!doctype html><html lang="en"><head><title>Quarry number {number}</title></head><body>
<main><h1>Quarry number {number}</h1><p>Quarry number {number} gives a stone of its own kind, which
masons of the valley have cut since the year {year}. It splits well in winter, and its dust is kept
for mortar.</p><p>Whoever asks for it by its number gets {number} blocks and no more.</p></main>
</body></html>"""


class Site(BaseHTTPRequestHandler):
    """A page for every number; every twentieth is gone."""

    asked: Counter[str] = Counter()

    def do_GET(self) -> None:
        Site.asked[self.path] += 1
        number = int(self.path.rpartition("/")[2] or 0)
        is_dead = number % DEAD_EVERY == 0
        body = b"" if is_dead else PAGE.format(number=number, year=1000 + number % 900).encode()
        self.send_response(404 if is_dead else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bookmarks", type=int, default=2000)
    parser.add_argument("--home", type=Path, default=None)
    asked = parser.parse_args()
    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    home = asked.home or Path(tempfile.mkdtemp(prefix="quarry-import-"))
    os.environ.update(
        DJANGO_SETTINGS_MODULE="config.settings",
        QUARRY_HOME=str(home),
        QUARRY_EMBEDDER="fake",
        QUARRY_ALLOWED_PRIVATE_HOSTS=f"127.0.0.1:{site.server_port}",
    )
    import django

    django.setup()
    run(home, f"http://127.0.0.1:{site.server_port}", asked.bookmarks)


def run(home: Path, base: str, count: int) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from knowledge.access import Access
    from knowledge.imports import batches
    from knowledge.models import Chunk, ImportRow, Item

    call_command("migrate", verbosity=0)
    owner, _ = User.objects.get_or_create(username="importer")
    access = Access.whole_library(owner.pk)
    file = home / "bookmarks.html"
    file.write_text(_bookmarks(base, count))
    for turn in (1, 2):
        started = time.monotonic()
        batch = batches.read_import(access, file, filename=file.name)
        print(f"{turn}: preview after {time.monotonic() - started:.1f} s: {_told(batch)}")
        batches.start_import(access, batch.pk, batches.ImportOptions(keeps_folders=True))
        _work(access, batch.pk, kills=list(KILLS_AT) if turn == 1 else [])
        batch = batches.get_import(access, batch.pk)
        print(f"{turn}: {batch.state} after {time.monotonic() - started:.0f} s: {_told(batch)}")
        failed = ImportRow.objects.filter(batch=batch, state="failed")
        print("   reasons:", dict(Counter(failed.values_list("reason", flat=True))))
    items = Item.objects.filter(owner=owner)
    pages = items.values("content").distinct().count()
    twice = sum(asked - 1 for asked in Site.asked.values())
    print(f"items {items.count()}, of contents {pages}, chunks {Chunk.objects.count()}")
    print(f"requests {sum(Site.asked.values())}, more than once {twice}")


def _bookmarks(base: str, count: int) -> str:
    lines = (
        f'<DT><A HREF="{base}/{number}" ADD_DATE="16{number:08}" TAGS="n{number % 7}">'
        f"Quarry {number}</A>"
        for number in range(count)
    )
    head = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT><H3>Quarries</H3><DL><p>\n"
    return head + "\n".join(lines) + "\n</DL></DL>\n"


def _work(access: Any, batch_id: Any, kills: list[float]) -> None:
    from knowledge.imports import batches

    worker = _start_worker()
    try:
        while (batch := batches.get_import(access, batch_id)).state == "running":
            if kills and batch.percent >= kills[0] * 100:
                kills.pop(0)
                worker.kill()
                worker.wait()
                print(f"   killed at {batch.percent} %: {_told(batch)}")
                worker = _start_worker()
            time.sleep(2)
    finally:
        worker.terminate()
        worker.wait()


def _start_worker() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "manage.py", "worker"])


def _told(batch: Any) -> dict[str, int]:
    return {state: count for state, count in batch.row_counts.items() if count}


if __name__ == "__main__":
    main()
