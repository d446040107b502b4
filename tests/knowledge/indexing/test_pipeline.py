"""Chunks are kept as they were cut, whatever their texts and headings are made of."""

from knowledge.access import Access
from knowledge.indexing import pipeline
from knowledge.models import Chunk, ChunkText
from knowledge.text.chunking import Piece
from knowledge.text.places import span_locator
from tests.support.headings import HEADINGS
from tests.support.library import Add


def test_chunks_are_read_back_as_they_were_cut(library: Access, add: Add) -> None:
    item = add("Odd")
    item.content.locators = [
        {"start": 0, "end": 90, "page": 1},
        {"start": 90, "end": 500, "page": 2, "start_sec": None},
    ]
    pieces = [
        Piece(at * 40, at * 40 + 40, f"Text {at}: \\. \\N \t \r\n ünï 私 🙂 {path}"[:400], path)
        for at, path in enumerate(HEADINGS)
    ]
    pipeline.index_item(item, pieces, None)
    chunks = list(Chunk.objects.filter(item=item).order_by("position"))
    assert [chunk.piece for chunk in chunks] == pieces
    assert [chunk.position for chunk in chunks] == list(range(len(pieces)))
    assert {chunk.owner_id for chunk in chunks} == {item.owner_id}
    assert [chunk.locator for chunk in chunks] == [
        span_locator(item.content.locators, piece.start, piece.end) for piece in pieces
    ]
    assert [chunk.pk for chunk in chunks] == sorted(chunk.pk for chunk in chunks)
    assert ChunkText.objects.filter(item_id=item.pk).count() == len(pieces)


def test_an_item_without_pieces_has_no_chunk(library: Access, add: Add) -> None:
    item = add("Nothing")
    pipeline.index_item(item, [], None)
    assert not Chunk.objects.filter(item=item).exists()
    assert item.index_status == "done"
