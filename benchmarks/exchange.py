"""A library out and in again: seconds and memory, and whether anything differs afterwards."""

import hashlib
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import harness
from benchmarks.synthetic import Library

ITEMS, SMALL_ITEMS = 10_000, 500
MOST_MB = 300
FOLDERS = 40
TOGETHER = 200
OWNER = "librarian"


def main() -> None:
    options = harness.parser(__doc__).parse_args()
    home = options.home / "exchange"
    items = SMALL_ITEMS if options.small else ITEMS
    harness.start_product(home, embedder="fake", fresh=True)
    owner_id = harness.new_owner(OWNER)
    with harness.stopwatch(f"{items:,} items added"):
        _fill(owner_id, items)
    before = _digests(owner_id)
    first, second = home / "first.zip", home / "second.zip"
    rows = [_measured(home, "export", _export, owner_id, first)]
    harness.execute(
        "TRUNCATE knowledge_content, knowledge_chunktext, knowledge_chunkembedding, "
        "knowledge_folder, knowledge_librarysize CASCADE"
    )
    rows.append(_measured(home, "import", _import, owner_id, first))
    with harness.stopwatch("jobs of the import"):
        _embed()
    after = _digests(owner_id)
    rows.append(_measured(home, "export again", _export, owner_id, second))
    for row in rows:
        row["items"], row["items/s"] = items, items / row["seconds"]
    harness.show(f"A library of {items:,} items out and in again", rows)
    same = {name: before[name] == after[name] for name in before}
    same["archive"] = first.read_bytes() == second.read_bytes()
    told = [
        {"what": name, "identical": "yes" if is_same else "no"} for name, is_same in same.items()
    ]
    harness.show("The same as before", told)
    harness.write_json(options, {"exchange": rows, "identical": told})
    assert all(same.values())
    assert all(row["peak MB"] < MOST_MB for row in rows)


def _fill(owner_id: int, count: int) -> None:
    """Texts of one to ten passages with tags, most of them filed."""
    from django.db import transaction

    from knowledge.access import Access
    from knowledge.ingest.adding import add_text
    from knowledge.library.items import create_folder, file_item

    transaction.set_autocommit(False)  # a commit for each would take most of the time
    access = Access.whole_library(owner_id)
    folders = [create_folder(access, f"Folder {number}") for number in range(FOLDERS)]
    library = Library(5_000)
    passages = [text for batch in library.batches() for text in library.texts(batch)]
    for number in range(count):
        if number % TOGETHER == 0:
            transaction.commit()
        at = number * 7 % (len(passages) - 10)
        text = f"# Item {number}\n\n" + "\n\n".join(passages[at : at + 1 + number % 10])
        tags = [f"tag {number % 13}", f"tag {number % 7 + 20}"]
        item = add_text(access, title=f"Item {number}", text=text, tags=tags)
        if number % 5:
            file_item(access, item.pk, [folders[number % FOLDERS].pk])
    transaction.commit()
    transaction.set_autocommit(True)


def _measured(
    home: Path, what: str, work: Callable[..., None], owner_id: int, path: Path
) -> harness.Row:
    """In a process of its own, for the memory that it takes at most."""
    spawn = get_context("spawn")
    told = spawn.Queue()
    process = spawn.Process(target=_run, args=(home, work, owner_id, path, told))
    process.start()
    seconds, peak = told.get()
    process.join()
    size = path.stat().st_size / 1e6
    return {"what": what, "seconds": seconds, "MB of archive": size, "peak MB": peak}


def _run(home: Path, work: Callable[..., None], owner_id: int, path: Path, told: Any) -> None:
    harness.start_product(home, embedder="fake")
    start = time.perf_counter()
    work(owner_id, path)
    told.put((time.perf_counter() - start, _peak_mb()))


def _export(owner_id: int, path: Path) -> None:
    from knowledge.access import Access
    from knowledge.exchange.exporting import export_library

    with path.open("wb") as file:
        for piece in export_library(Access.whole_library(owner_id)):
            file.write(piece)


def _import(owner_id: int, path: Path) -> None:
    from dramatiq import get_broker

    from knowledge.access import Access
    from knowledge.exchange.importing import import_library
    from knowledge.ingest import followups

    # Jobs go to a database or a server, not to this process's memory.
    get_broker().enqueue = lambda message, *, delay=None: message  # type: ignore[method-assign]
    assert followups.embed_item
    with path.open("rb") as file:
        report = import_library(Access.whole_library(owner_id), file)
    assert not report.failed, report.problems


def _embed() -> None:
    from knowledge.maintenance import repair

    for _ in repair.embed_rest(repair.unfinished_items()):
        pass


def _digests(owner_id: int) -> dict[str, str]:
    """What may not change, table by table, without what is only of this server."""
    tables = {
        "items": "SELECT id, content_id, type, custom_title, in_kb, tags, attributes, visibility, "
        "archived, index_status, chunk_count, created_at FROM knowledge_item "
        "WHERE owner_id = %s ORDER BY id",
        "folders": "SELECT id, name, created_at FROM knowledge_folder "
        "WHERE owner_id = %s ORDER BY id",
        "filings": "SELECT item_id, folder_id, filed_at FROM knowledge_filing f "
        "JOIN knowledge_item i ON i.id = item_id WHERE i.owner_id = %s ORDER BY 1, 2",
        "contents": "SELECT id, kind, url, title, author, language, text, locators, state "
        "FROM knowledge_content WHERE owner_id = %s ORDER BY id",
        "chunks": 'SELECT item_id, position, start, "end", heading_path, text, locator '
        "FROM knowledge_chunk WHERE owner_id = %s ORDER BY 1, 2",
        "words": "SELECT t.item_id, position, tsv::text, length FROM knowledge_chunktext t "
        "JOIN knowledge_chunk c ON c.id = chunk_id "
        "WHERE t.owner_id = %s AND c.item_id = t.item_id ORDER BY 1, 2",
        "vectors": "SELECT e.item_id, position, vector::text FROM knowledge_chunkembedding e "
        "JOIN knowledge_chunk c ON c.id = chunk_id WHERE e.owner_id = %s ORDER BY 1, 2",
    }
    return {name: _digest(sql, owner_id) for name, sql in tables.items()}


def _digest(sql: str, owner_id: int) -> str:
    digest = hashlib.sha256()
    for row in harness.execute(sql, [owner_id]):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1000


if __name__ == "__main__":
    main()
