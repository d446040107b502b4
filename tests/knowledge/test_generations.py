"""A generation is one embedder's vectors, and no writer ever mixes two."""

import pytest
from django.utils import timezone
from dramatiq import get_broker

from knowledge import generations, ingestion, shelving, tasks
from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.maintenance import building
from knowledge.models import ChunkEmbedding, Generation, Item
from knowledge.providers.fake import FakeEmbedder
from tests.conftest import Add
from tests.knowledge.conftest import Register, faults

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
    register("fake", FakeEmbedder(dimensions=16))
    with pytest.raises(ProviderUnavailable, match="reindex --embedder fake"):
        generations.embedder_of(generations.live_generation())
    item = add("Boats")
    assert item.index_status == "keyword"
    assert not ChunkEmbedding.objects.filter(item_id=item.pk).exists()


def test_vectors_made_before_a_change_are_not_written_after_it(
    library: Access, add: Add, other: FakeEmbedder
) -> None:
    item = add("Ships")
    ready = shelving.prepare(item.content.text, item.title)
    live = change_to("other")
    shelving.index(item, ready)
    item.refresh_from_db()
    assert item.index_status == "keyword"
    assert not ChunkEmbedding.objects.filter(item_id=item.pk).exists()
    [queued] = get_broker().queues["default"].queue
    assert str(item.pk) in queued.decode()
    tasks.embed_item(str(item.pk))
    item.refresh_from_db()
    assert item.index_status == "done"
    assert {row.generation_id for row in ChunkEmbedding.objects.filter(item_id=item.pk)} == {
        live.pk
    }


def test_a_job_that_meets_a_change_goes_on_in_the_new_generation(
    library: Access, other: FakeEmbedder, register: Register
) -> None:
    item = ingestion.add_text(library, title="Long", text=LONG)
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
    item = ingestion.add_text(library, title="Long", text=LONG)

    class DeletedMeanwhile(FakeEmbedder):
        def embed_document(self, chunks):
            Item.objects.filter(pk=item.pk).delete()
            return super().embed_document(chunks)

    register("fake", DeletedMeanwhile())
    generations.embed_item(item.pk)
    assert not ChunkEmbedding.objects.exists()


def test_an_answer_of_the_wrong_shape_is_not_written(library: Access, register: Register) -> None:
    item = ingestion.add_text(library, title="Long", text=LONG)

    class Forgetful(FakeEmbedder):
        def embed_document(self, chunks):
            return super().embed_document(chunks)[1:]

    register("fake", Forgetful())
    with pytest.raises(ProviderUnavailable, match="answered"):
        generations.embed_item(item.pk)
    assert not ChunkEmbedding.objects.exists()
