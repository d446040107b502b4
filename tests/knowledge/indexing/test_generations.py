"""A generation is one embedder's vectors, and no writer ever mixes two."""

import pytest
from django.utils import timezone
from dramatiq import get_broker

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.indexing import generations, pipeline, preparing
from knowledge.ingest import adding, followups
from knowledge.ingest.items import index_text
from knowledge.maintenance import building
from knowledge.models import ChunkEmbedding, Generation, Item
from knowledge.providers.fake import FakeEmbedder
from knowledge.text.chunking import chunk
from tests.support.index import Register, faults
from tests.support.library import Add

LONG = "\n\n".join(f"# Part {n}\n\n{'Words of this part follow here. ' * 40}" for n in range(40))


def change_to(name: str) -> Generation:
    generation = building.next_generation(name)
    assert generation
    for _ in building.build(generation):
        pass
    return generation


def test_the_first_generation_says_which_model_made_it(owner: object) -> None:
    generation = generations.live_generation()
    assert (generation.embedder, generation.model) == ("fake", "fake")
    assert (generation.dimensions, generation.state) == (64, "live")
    assert generations.live_generation() == generation


def test_another_model_under_the_same_name_is_refused(add: Add, register: Register) -> None:
    add("Ships")
    register("fake", FakeEmbedder(dimensions=16)).name = "another"
    with pytest.raises(ProviderUnavailable, match="reindex --embedder fake"):
        generations.embedder_of(generations.live_generation())
    item = add("Boats")
    assert item.index_status == "keyword"
    assert not ChunkEmbedding.objects.filter(item_id=item.pk).exists()


def test_vectors_made_before_a_change_are_not_written_after_it(
    library: Access, add: Add, other: FakeEmbedder
) -> None:
    item = add("Ships")
    ready = preparing.prepare(item.content.text, item.title)
    live = change_to("other")
    index_text(item, ready)
    item.refresh_from_db()
    assert item.index_status == "keyword"
    assert not ChunkEmbedding.objects.filter(item_id=item.pk).exists()
    [queued] = get_broker().queues["default"].queue
    assert str(item.pk) in queued.decode()
    followups.embed_item(str(item.pk))
    item.refresh_from_db()
    assert item.index_status == "done"
    assert {row.generation_id for row in ChunkEmbedding.objects.filter(item_id=item.pk)} == {
        live.pk
    }


def test_a_job_that_meets_a_change_goes_on_in_the_new_generation(
    library: Access, other: FakeEmbedder, register: Register
) -> None:
    item = adding.add_text(library, title="Long", text=LONG)
    assert item.index_status == "keyword"
    before = generations.live_generation()

    class ChangedMeanwhile(FakeEmbedder):
        def embed_document(self, chunks):
            if generations.live_generation() == before:
                Generation.objects.filter(pk=before.pk).update(
                    is_live=False, retired_at=timezone.now()
                )
                fresh = generations.generation_by("other", other)
                fresh.is_live = True
                fresh.save()
            return super().embed_document(chunks)

    register("fake", ChangedMeanwhile())
    generations.embed_item(item.pk)
    item.refresh_from_db()
    live = generations.live_generation()
    assert (live.embedder, item.index_status) == ("other", "done")
    assert ChunkEmbedding.objects.filter(generation=live).count() == item.chunk_count
    assert not ChunkEmbedding.objects.filter(generation=before).exists()
    assert faults() == {}


def test_an_item_deleted_while_it_is_embedded_is_no_error(
    library: Access, register: Register
) -> None:
    item = adding.add_text(library, title="Long", text=LONG)

    class DeletedMeanwhile(FakeEmbedder):
        def embed_document(self, chunks):
            Item.objects.filter(pk=item.pk).delete()
            return super().embed_document(chunks)

    register("fake", DeletedMeanwhile())
    generations.embed_item(item.pk)
    assert not ChunkEmbedding.objects.exists()


def test_an_answer_of_the_wrong_shape_is_not_written(library: Access, register: Register) -> None:
    item = adding.add_text(library, title="Long", text=LONG)

    class Forgetful(FakeEmbedder):
        def embed_document(self, chunks):
            return super().embed_document(chunks)[1:]

    register("fake", Forgetful())
    with pytest.raises(ProviderUnavailable, match="answered"):
        generations.embed_item(item.pk)
    assert not ChunkEmbedding.objects.exists()


MANY = "\n\n".join(f"# Part {n}\n\n{'Words of this part follow here. ' * 40}" for n in range(150))


class Counting(FakeEmbedder):
    """Notes how many vectors are kept whenever it is asked for more."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[int] = []

    def embed_document(self, chunks):
        self.kept.append(ChunkEmbedding.objects.count())
        return super().embed_document(chunks)


def test_what_was_quick_to_embed_is_written_at_once(
    library: Access, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "_SECONDS_AT_RISK", 60.0)
    item = adding.add_text(library, title="Many", text=MANY)
    counting = Counting()
    register("fake", counting)
    generations.embed_item(item.pk)
    assert counting.kept == [0] * -(-item.chunk_count // 64)
    assert ChunkEmbedding.objects.count() == item.chunk_count
    assert faults() == {}


@pytest.mark.parametrize(("seconds", "at_once"), [(0.0, 512), (60.0, 100)])
def test_what_took_long_or_is_much_is_written_before_more_is_embedded(
    library: Access,
    register: Register,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    at_once: int,
) -> None:
    monkeypatch.setattr(generations, "_SECONDS_AT_RISK", seconds)
    monkeypatch.setattr(generations, "_STORED_AT_ONCE", at_once)
    item = adding.add_text(library, title="Many", text=MANY)
    counting = Counting()
    register("fake", counting)
    generations.embed_item(item.pk)
    expected = [0, 64, 128] if seconds == 0.0 else [0, 0, 100]
    assert counting.kept[:3] == expected
    assert ChunkEmbedding.objects.count() == item.chunk_count
    assert faults() == {}


def test_a_failure_keeps_what_was_written_and_the_next_try_makes_the_rest(
    library: Access, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "_SECONDS_AT_RISK", 0.0)
    item = adding.add_text(library, title="Many", text=MANY)

    class FailsOnce(Counting):
        def embed_document(self, chunks):
            vectors = super().embed_document(chunks)
            if len(self.kept) == 2:
                raise ProviderUnavailable("away")
            return vectors

    failing = FailsOnce()
    register("fake", failing)
    with pytest.raises(ProviderUnavailable):
        generations.embed_item(item.pk)
    assert ChunkEmbedding.objects.count() == 64
    generations.embed_item(item.pk)
    assert failing.kept[:3] == [0, 64, 64]
    assert ChunkEmbedding.objects.count() == item.chunk_count
    assert faults() == {}


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_item_written_anew_while_it_is_embedded_lacks_nothing(
    library: Access, register: Register, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(generations, "_STORED_AT_ONCE", 100)
    item = adding.add_text(library, title="Many", text=MANY)

    class WrittenMeanwhile(Counting):
        def embed_document(self, chunks):
            vectors = super().embed_document(chunks)
            if len(self.kept) == at:
                pipeline.index_item(item, chunk(MANY), None)
            return vectors

    register("fake", WrittenMeanwhile())
    generations.embed_item(item.pk)
    item.refresh_from_db()
    assert item.index_status == "done"
    assert ChunkEmbedding.objects.count() == item.chunk_count
    assert faults() == {}
