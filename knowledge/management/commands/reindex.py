import json
import logging
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from knowledge.errors import QuarryError
from knowledge.indexing import large_owners, packing
from knowledge.indexing.generations import live_generation
from knowledge.maintenance import Progress, building, checking, models_in_use, repair
from knowledge.management.owners import user_named
from knowledge.management.progress import ProgressBar
from knowledge.models import Item

logger = logging.getLogger(__name__)

_POLL_SEC = 0.5


class Command(BaseCommand):
    help = (
        "Bring the index up to date: cut stale items anew and embed what lacks vectors. "
        "Searches and additions go on meanwhile; killed, it goes on where it stopped."
    )
    requires_system_checks = []  # `up` and `migrate` make them

    def add_arguments(self, parser: ArgumentParser) -> None:
        work = parser.add_mutually_exclusive_group()
        work.add_argument("--stale", action="store_true", help="the default, said aloud")
        work.add_argument("--embedder", help="embed everything with this one, then search with it")
        work.add_argument("--item", action="append", type=UUID, help="this item anew (repeatable)")
        work.add_argument("--owner", help="every item of this user anew")
        work.add_argument("--check", action="store_true", help="only report what is wrong")
        work.add_argument("--repair", action="store_true", help="delete orphans and count anew")
        work.add_argument("--prune", action="store_true", help="delete retired generations")
        work.add_argument("--whales", action="store_true", help="index very large libraries")
        parser.add_argument(
            "--estimate",
            action="store_true",
            help="with --embedder: say what it would take, and embed nothing",
        )
        parser.add_argument("--json", action="store_true", help="print --check as a JSON object")
        parser.add_argument(
            "--whale-chunks",
            type=int,
            default=large_owners.LARGE_OWNER_CHUNKS,
            help=f"libraries above this are whales (default: {large_owners.LARGE_OWNER_CHUNKS:,})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["estimate"]:
                self._estimate(options["embedder"])
            elif options["check"]:
                self._check(as_json=options["json"])
            else:
                with building.only_one_reindex():
                    self._work(options)
        except QuarryError as error:
            raise CommandError(f"{error.message} Nothing is lost; run it again later.") from None
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from None
        except Error as error:
            raise CommandError(f"The database failed: {error}".strip()) from error

    def _work(self, options: dict[str, Any]) -> None:
        if options["embedder"]:
            self._change_embedder(options["embedder"])
        elif options["item"]:
            self._rebuild(_items_named(options["item"]))
        elif options["owner"]:
            items = Item.objects.filter(owner=user_named(options["owner"]), in_kb=True)
            self._rebuild(list(items.order_by("created_at").values_list("pk", flat=True)))
        elif options["repair"]:
            self._repair()
        elif options["prune"]:
            self._prune()
        elif options["whales"]:
            self._index_whales(options["whale_chunks"])
        else:
            self._bring_up_to_date()

    # Vectors --------------------------------------------------------------------------------

    def _change_embedder(self, name: str) -> None:
        generation = building.next_generation(name)
        if generation is None:
            self.stdout.write(f"The index is made with {name} already; nothing to do.")
            return
        self._show(building.build(generation), "chunks")
        self.stdout.write(f"Searches use {generation} from now on.")
        self.stdout.write(
            "The vectors before are kept, to go back at once with --embedder; "
            "delete them with: manage.py reindex --prune"
        )
        if large_owners.indexes_to_have(generation):
            self.stdout.write("Very large libraries want: manage.py reindex --whales")

    def _estimate(self, name: str | None) -> None:
        if not name:
            raise CommandError("--estimate says what --embedder NAME would take: name it.")
        estimate = models_in_use.estimate_change(name)
        usd = (
            "price not known (see QUARRY_PRICES)"
            if estimate.usd is None
            else f"${estimate.usd:,.2f}"
        )
        self.stdout.write(
            f"{_count_of(estimate.chunks, 'chunk')}, about {estimate.tokens:,} tokens: {usd}, "
            f"{_duration(estimate.seconds)} at the speed of a trial. Nothing was written."
        )

    def _prune(self) -> None:
        retired = building.retired_generations()
        for generation in retired:
            self._show(building.prune(generation), "vectors")
            self.stdout.write(f"Deleted the vectors of {generation}.")
        if not retired:
            self.stdout.write("No generation is retired; nothing to delete.")

    # Items ----------------------------------------------------------------------------------

    def _bring_up_to_date(self) -> None:
        stale = repair.stale_items()
        if stale:
            self._rebuild(stale)
        rest = repair.unfinished_items()
        if rest:
            self._show(repair.embed_rest(rest), "items")
            self.stdout.write(f"Embedded what {_count(rest, 'item')} lacked.")
        waiting = packing.libraries_to_pack()
        self._show(repair.pack_rest(), "chunks")
        if waiting:
            self.stdout.write(f"Packed the words of {_count(waiting, 'library')}.")
        if not stale and not rest and not waiting:
            self.stdout.write("The index is up to date.")

    def _rebuild(self, item_ids: list[UUID]) -> None:
        self._show(repair.rebuild(item_ids), "items")
        self.stdout.write(f"Indexed {_count(item_ids, 'item')} anew.")

    def _repair(self) -> None:
        done = repair.repair()
        self.stdout.write(
            f"Deleted {done.orphans} orphaned rows; counted {done.items} items "
            f"and {done.owners} libraries anew; gave {done.segments} segments of words up."
        )
        if repair.stale_items() or repair.unfinished_items():
            self.stdout.write(f"Some items want indexing now: {checking.REINDEX}")

    def _check(self, *, as_json: bool) -> None:
        report = checking.check()
        if as_json:
            self.stdout.write(json.dumps(asdict(report)))
        else:
            self._tell(report)
        if report.faults:
            fixes = " then ".join(dict.fromkeys(fault.fix for fault in reversed(report.faults)))
            raise CommandError(f"Something is wrong. Run: {fixes}")

    def _tell(self, report: checking.Report) -> None:
        for each in report.generations:
            about = f"{each.embedder}, {each.model}, {each.dimensions} dimensions"
            self.stdout.write(f"{each.vectors:>10,}  vectors, {each.state} ({about})")
        self.stdout.write(f"{report.waiting_items:>10,}  items whose vectors a job is to make")
        for finding in report.findings:
            style = self.style.ERROR if finding.rows else self.style.SUCCESS
            fix = f"  → {finding.fix}" if finding.rows else ""
            self.stdout.write(f"{style(f'{finding.rows:>10,}')}  {finding.about}{fix}")

    # Whales ---------------------------------------------------------------------------------

    def _index_whales(self, whale_chunks: int) -> None:
        generation = live_generation()
        wanted = large_owners.indexes_to_have(generation, whale_chunks)
        existing = large_owners.indexes_there_are()
        whole = {index for index, is_valid in existing.items() if is_valid}
        for index in sorted(existing.keys() - (wanted & whole)):
            large_owners.drop_index(index)
            self.stdout.write(f"Dropped {index.name}.")
        for index in sorted(wanted - whole):
            with _build_shown():
                large_owners.build_index(index, generation.dimensions)
            self.stdout.write(f"Built {index.name}.")
        if not wanted:
            self.stdout.write(f"No library has more than {whale_chunks:,} chunks.")

    def _show(self, steps: Iterable[Progress], unit: str) -> None:
        with ProgressBar(sys.stderr, unit) as bar:
            for progress in steps:
                bar.show(progress.done, progress.total)


def _items_named(item_ids: list[UUID]) -> list[UUID]:
    known = set(Item.objects.filter(pk__in=item_ids, in_kb=True).values_list("pk", flat=True))
    if missing := [str(item_id) for item_id in item_ids if item_id not in known]:
        raise CommandError(f"Not in the knowledge base: {', '.join(missing)}.")
    return item_ids


def _count(things: Sized, noun: str) -> str:
    return _count_of(len(things), noun)


def _count_of(count: int, noun: str) -> str:
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        return _count_of(round(seconds), "second")
    return f"{seconds / 60:.0f} minutes" if seconds < 5_400 else f"{seconds / 3600:.1f} hours"


@contextmanager
def _build_shown() -> Iterator[None]:
    """Show how far the index is that this thread builds; another must ask the database."""
    connection.ensure_connection()
    ended = threading.Event()
    watch = threading.Thread(
        target=_show_build, args=[connection.connection.info.backend_pid, ended], daemon=True
    )
    watch.start()
    try:
        yield
    finally:
        ended.set()
        watch.join()


def _show_build(pid: int, ended: threading.Event) -> None:
    try:
        with ProgressBar(sys.stderr, "blocks") as bar:
            while not ended.wait(_POLL_SEC):
                if found := large_owners.build_progress(pid):
                    phase, done, total = found
                    bar.unit = f"blocks, {phase}"
                    bar.show(done, total)
    except Error:
        logger.warning("The progress of the build is not known", exc_info=True)
    finally:
        connection.close()
