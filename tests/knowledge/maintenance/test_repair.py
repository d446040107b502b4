"""`manage.py reindex`: the check finds what is wrong, and the rest of it puts that right."""

import io
import json
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from knowledge.access import Access
from knowledge.errors import ProviderUnavailable
from knowledge.indexing import pipeline
from knowledge.ingest.adding import add_text
from knowledge.library.editing import ItemChanges, update_item
from knowledge.maintenance import checking
from knowledge.models import Chunk, ChunkText, Item
from knowledge.providers.fake import FakeEmbedder
from tests.support.index import Register, faults, reindex, text_of, vectors_by_state
from tests.support.library import Add
from tests.support.packing import pack
from tests.support.searching import search

ONE_CHUNK = "(SELECT min(id) FROM knowledge_chunk WHERE item_id = %(item)s)"
EMPTY_INDEX = """
    DELETE FROM knowledge_chunktext WHERE item_id = %(item)s;
    DELETE FROM knowledge_chunkembedding WHERE item_id = %(item)s;
    DELETE FROM knowledge_chunk WHERE item_id = %(item)s;
"""
DEFECTS = {
    "items without chunks": EMPTY_INDEX,
    "items of an older index version": (
        "UPDATE knowledge_item SET index_version = 0 WHERE id = %(item)s"
    ),
    "chunks without words": f"DELETE FROM knowledge_chunktext WHERE chunk_id = {ONE_CHUNK}",
    "chunks without live vectors": (
        f"DELETE FROM knowledge_chunkembedding WHERE chunk_id = {ONE_CHUNK}"
    ),
    "items whose embedding failed": (
        "UPDATE knowledge_item SET index_status = 'failed' WHERE id = %(item)s"
    ),
    "orphaned chunks": "UPDATE knowledge_item SET in_kb = false WHERE id = %(item)s",
    "orphaned words": (
        f"UPDATE knowledge_chunktext SET owner_id = %(stranger)s WHERE chunk_id = {ONE_CHUNK}"
    ),
    "orphaned vectors": (
        f"UPDATE knowledge_chunkembedding SET owner_id = %(stranger)s WHERE chunk_id = {ONE_CHUNK}"
    ),
    "items with a wrong count": (
        "UPDATE knowledge_item SET chunk_count = chunk_count + 1 WHERE id = %(item)s"
    ),
    "owners with a wrong count": "UPDATE knowledge_librarysize SET chunks = chunks - 1",
    "segments unlike their words": "DELETE FROM knowledge_wordpostings WHERE lexeme = 'harbour'",
}


@pytest.mark.parametrize("about", DEFECTS)
def test_each_defect_is_found_and_mended(library: Access, stranger: User, about: str) -> None:
    items = [add_text(library, title=f"Text {n}", text=text_of(3)) for n in range(3)]
    pack(library.owner_id)
    reindex("--check")
    before = ranking(library)
    with connection.cursor() as cursor:
        cursor.execute(DEFECTS[about], {"item": items[1].pk, "stranger": stranger.pk})
    with pytest.raises(CommandError, match=r"Something is wrong. Run: manage.py reindex"):
        reindex("--check")
    assert about in faults()
    reindex("--repair")
    reindex()
    assert faults() == {}
    reindex("--check")
    if about != "orphaned chunks":  # that item is no longer in the knowledge base
        assert ranking(library) == before


def ranking(access: Access) -> list[tuple[UUID, int, float]]:
    hits = search(access, query="harbour part 2", limit=20).hits
    return sorted((hit.item.pk, hit.chunk.position, round(hit.score, 6)) for hit in hits)


def test_the_check_as_json_says_what_to_run(add: Add) -> None:
    add("Ships")
    Item.objects.update(index_version=0)
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("reindex", "--check", "--json", stdout=out)
    report = json.loads(out.getvalue())
    [wrong] = [finding for finding in report["findings"] if finding["rows"]]
    assert wrong == {
        "about": "items of an older index version",
        "rows": 1,
        "fix": "manage.py reindex",
    }
    [generation] = report["generations"]
    assert (generation["state"], generation["vectors"], report["waiting_items"]) == ("live", 1, 0)


def test_the_check_of_an_empty_database_finds_nothing_wrong(db: None) -> None:
    reindex("--check")
    assert "up to date" in reindex()


def test_a_raised_version_makes_everything_stale_and_only_once(
    add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = add("Ships")
    add("Not searched", in_kb=False)
    before = Chunk.objects.get().pk
    raised = pipeline.INDEX_VERSION + 1
    monkeypatch.setattr(pipeline, "INDEX_VERSION", raised)
    monkeypatch.setattr(checking, "INDEX_VERSION", raised)
    assert "Indexed 1 item anew." in reindex("--stale")
    assert Chunk.objects.get().pk != before
    assert "up to date" in reindex("--stale")
    touched = Item.objects.get(pk=item.pk)
    assert touched.updated_at == item.updated_at


def test_one_item_or_one_owner_is_indexed_anew(library: Access, add: Add, stranger: User) -> None:
    first, second = add("Ships"), add("Boats")
    foreign = add_text(Access.whole_library(stranger.pk), title="Trains", text=text_of(1))

    def chunk_ids() -> dict[UUID, int]:
        return dict(Chunk.objects.values_list("item_id", "pk"))

    before = chunk_ids()
    reindex("--item", str(first.pk))
    changed = {pk for pk, chunk in chunk_ids().items() if chunk != before[pk]}
    assert changed == {first.pk}
    reindex("--owner", "ada")
    changed = {pk for pk, chunk in chunk_ids().items() if chunk != before[pk]}
    assert changed == {first.pk, second.pk}
    assert foreign.pk not in changed
    assert faults() == {}


def test_an_item_that_is_not_in_the_knowledge_base_is_an_error(add: Add) -> None:
    outside, unknown = add("Outside", in_kb=False), uuid4()
    with pytest.raises(CommandError, match=f"Not in the knowledge base: {outside.pk}, {unknown}"):
        reindex("--item", str(outside.pk), "--item", str(unknown))
    with pytest.raises(CommandError, match="there are: ada"):
        reindex("--owner", "nobody")


def test_a_dead_embedder_loses_no_vector_of_a_stale_item(add: Add, register: Register) -> None:
    add("Ships")
    Item.objects.update(index_version=0)
    register("fake", FakeEmbedder(failure=ProviderUnavailable("The vendor is down.")))
    with pytest.raises(CommandError, match="The vendor is down"):
        reindex()
    assert vectors_by_state() == {"live": 1}
    assert ChunkText.objects.count() == 1


def test_an_item_renamed_while_it_is_indexed_anew_keeps_its_new_name_there(
    library: Access, add: Add, register: Register
) -> None:
    item = add("Ships")
    renamed: list[str] = []

    class RenamedMeanwhile(FakeEmbedder):
        def embed_document(self, chunks):
            if not renamed:
                renamed.append("Zeppelins")
                update_item(library, item.pk, ItemChanges(title="Zeppelins"))
            return super().embed_document(chunks)

    register("fake", RenamedMeanwhile())
    reindex("--item", str(item.pk))
    [hit] = search(library, query="zeppelins", mode="keyword").hits
    assert hit.item.pk == item.pk
    assert faults() == {}
