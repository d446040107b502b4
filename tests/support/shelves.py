"""Items for a worker to be killed over, and places where it can be held up for that."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Any

from django.db.models import Count
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from knowledge.access import Access
from knowledge.ingest.adding import add_to_knowledge
from knowledge.ingest.adding_files import finish_upload
from knowledge.ingest.uploads import DOCUMENTS, RECORDINGS, begin_upload
from knowledge.ledger.webhooks import create_webhook
from knowledge.models import Chunk, ChunkEmbedding, ChunkText, Content, Delivery, Item
from knowledge.storage import live_store
from tests.support import files as made
from tests.support.recordings import silence, written
from tests.support.waiting import DEADLINE
from tests.support.wire.assemblyai import AssemblyAI, completed

DOCUMENT_COUNT, SENT_COUNT, LINKED_COUNT = 12, 6, 8
RECORDING_COUNT = SENT_COUNT + LINKED_COUNT
ITEM_COUNT = DOCUMENT_COUNT + RECORDING_COUNT
TRANSFORM_COUNT = 5
MEDIA_TYPES = {"txt": "text/plain", "pdf": "application/pdf", "docx": made.DOCX, "wav": "audio/wav"}


@dataclass
class Shelves:
    """Items of one owner: documents and recordings, sent and linked."""

    access: Access
    site: HTTPServer
    vendor: "Vendor"
    turnstile: "Turnstile"
    folder: Path
    seconds: list[float] = field(default_factory=list)
    expected: dict[Any, str] = field(default_factory=dict)
    """By item, the words that are to be found in it."""

    def fill(self) -> None:
        create_webhook(self.access, self.site.url_for("/hook"), ["item.ready", "item.failed"])
        for number in range(LINKED_COUNT):
            self._link(number)
        for number in range(SENT_COUNT):
            self._send_recording(LINKED_COUNT + number)
        for number in range(DOCUMENT_COUNT):
            self._send_document(number)
        assert len(self.expected) == ITEM_COUNT

    def assert_ready_once(self) -> None:
        items = Item.objects.select_related("content")
        texts = {item.pk: item.content.text for item in items}
        wrong = {pk: text for pk, text in texts.items() if self.expected[pk] not in text}
        assert (len(texts), wrong) == (ITEM_COUNT, {})
        assert set(Content.objects.values_list("state")) == {("ready",)}
        assert set(items.values_list("index_status")) == {("done",)}
        counted = items.annotate(rows=Count("chunks")).values_list("chunk_count", "rows")
        assert all(chunks == rows > 0 for chunks, rows in counted)
        assert ChunkText.objects.count() == ChunkEmbedding.objects.count() == Chunk.objects.count()
        told = Delivery.objects.values_list("payload__item__user_item_id", flat=True)
        assert sorted(told) == sorted(map(str, texts))
        assert set(Delivery.objects.values_list("event", "state")) == {("item.ready", "delivered")}

    def _link(self, number: int) -> None:
        name = f"talk-{number}.wav"
        sound = self._recorded(number)

        def answer(_: Request) -> Response:
            self.turnstile.pass_by("site")
            return Response(sound, content_type="audio/wav")

        self.site.expect_request(f"/{name}").respond_with_handler(answer)
        added = add_to_knowledge(self.access, kind="url", url=self.site.url_for(f"/{name}"))
        self.expected[added.item.pk] = f"Talk number {number}"

    def _send_recording(self, number: int) -> None:
        self._send(f"talk-{number}.wav", self._recorded(number), f"Talk number {number}")

    def _send_document(self, number: int) -> None:
        words = f"Paper number {number} is about stone."
        kinds = {
            "txt": ("\n\n".join([words] * 400)).encode(),
            "pdf": made.pdf(words),
            "docx": made.docx(f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>"),
        }
        end, content = list(kinds.items())[number % 3]
        self._send(f"paper-{number}.{end}", content, words, auto_transform=number < TRANSFORM_COUNT)

    def _send(self, name: str, content: bytes, words: str, *, auto_transform: bool = False) -> None:
        media_type = MEDIA_TYPES[name.rpartition(".")[2]]
        begun = begin_upload(
            self.access, filename=name, media_type=media_type, size=len(content)
        ).upload
        live_store().put(begun.key, content)
        added = finish_upload(
            self.access, begun.pk, kinds=DOCUMENTS | RECORDINGS, auto_transform=auto_transform
        )
        self.expected[added.item.pk] = words

    def _recorded(self, number: int) -> bytes:
        """A recording unlike all others, of which the vendor knows what is said."""
        seconds = 1.2 + 0.3 * number
        path = written(self.folder / f"{number}.wav", silence(seconds))
        self.seconds.append(seconds)
        self.vendor.said[path.read_bytes()] = number
        return path.read_bytes()


class Vendor(AssemblyAI):
    """AssemblyAI, who hears in each recording its own words and can be held up."""

    def __init__(self, server: HTTPServer, turnstile: "Turnstile") -> None:
        self.said: dict[bytes, int] = {}
        self.turnstile = turnstile
        super().__init__(server)

    def doing(self, verb: str, answer: Any) -> Any:
        do = super().doing(verb, answer)

        def handle(request: Request) -> Response:
            given: Response = do(request)
            self.turnstile.pass_by(verb)
            return given

        return handle

    def state_of(self, ref: str) -> str:
        number = self.said[self.uploads[self.jobs[ref]["audio_url"]]]
        words = ["Talk", "number", f"{number}", "is", "over."]
        self.result = completed([(word, 100, 200, "A") for word in words])
        return super().state_of(ref)

    def assert_paid_once(self) -> None:
        paid = [self.said[self.uploads[each["audio_url"]]] for each in self.submissions]
        assert sorted(paid) == list(range(RECORDING_COUNT))


@dataclass
class Turnstile:
    """Everybody passes, until somebody comes to the place where the worker is to be killed."""

    place: str = ""
    passes: int = 0
    lock: Lock = field(default_factory=Lock)
    reached: Event = field(default_factory=Event)
    opened: Event = field(default_factory=Event)

    @contextmanager
    def closed(self, place: str, passes: int) -> Iterator[None]:
        self.reached.clear()
        self.opened.clear()
        self.passes, self.place = passes, place
        try:
            yield
        finally:
            self.place = ""
            self.opened.set()

    def pass_by(self, place: str) -> None:
        if self._is_stopped(place):
            self.reached.set()
            self.opened.wait(DEADLINE)

    def _is_stopped(self, place: str) -> bool:
        with self.lock:
            if self.place not in (place, "anywhere"):
                return False
            self.passes -= 1
            if self.passes >= 0:
                return False
            self.place = ""
            return True
