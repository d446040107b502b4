"""The made-up library: the same every time, and shaped like a real one."""

from itertools import pairwise

import numpy as np

from benchmarks.peers import exact_nearest, owner_numbers
from benchmarks.synthetic import Block, Library, blocks_of

LIBRARY = Library(10_000, dimensions=64)
FIRST = next(iter(LIBRARY.batches()))


def test_blocks_cover_every_chunk_once_and_the_whale_has_half() -> None:
    blocks = blocks_of(10_000)
    assert [blocks[0].start, blocks[-1].stop] == [0, 10_000]
    assert all(first.stop == second.start for first, second in pairwise(blocks))
    assert sum(block.size for block in blocks if block.owner == "whale") == 5_000
    assert [block.size for block in blocks if block.folder] == [10, 100, 1_000]


def test_no_item_lies_in_two_blocks() -> None:
    starts = set(LIBRARY.item_starts.tolist())
    assert all(block.start in starts for block in LIBRARY.blocks)
    assert LIBRARY.item_sizes().sum() == 10_000
    assert len(set(LIBRARY.item_ids)) == LIBRARY.items


def test_a_second_library_of_the_same_size_is_the_same() -> None:
    other = Library(10_000, dimensions=64)
    assert other.item_ids == LIBRARY.item_ids
    assert other.texts(FIRST) == LIBRARY.texts(FIRST)
    assert np.array_equal(other.vectors(FIRST), LIBRARY.vectors(FIRST))
    mine, theirs = (one.questions(0, 100, 3) for one in (LIBRARY, other))
    assert [question.text for question in mine] == [question.text for question in theirs]


def test_vectors_have_unit_length_and_neighbours_are_nearer_than_strangers() -> None:
    vectors = LIBRARY.vectors(FIRST).astype(np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=2e-3)
    items = LIBRARY.item_of(np.array(FIRST))
    same = items[1:] == items[:-1]
    near = (vectors[1:] * vectors[:-1]).sum(axis=1)[same].mean()
    far = (vectors[:1000] * vectors[-1000:]).sum(axis=1).mean()
    assert near > far + 0.3


def test_texts_are_of_a_chunk_length_and_share_common_words() -> None:
    texts = [text.split() for text in LIBRARY.texts(FIRST)[:200]]
    assert all(150 <= len(words) <= 240 for words in texts)
    shares = {word: 0 for words in texts for word in words}
    for words in texts:
        for word in set(words):
            shares[word] += 1
    assert max(shares.values()) > 190
    assert sum(count == 1 for count in shares.values()) > len(shares) / 2


def test_no_two_questions_are_alike() -> None:
    texts = {question.text for question in LIBRARY.questions(0, 10, 500)}
    assert len(texts) == 500


def test_the_nearest_are_those_of_the_block_alone() -> None:
    block = Block("owner", "", 4_990, 5_010)
    questions = LIBRARY.questions(block.start, block.stop, 3)
    vectors = np.concatenate([LIBRARY.vectors(batch) for batch in LIBRARY.batches()])
    mine = vectors[block.start : block.stop].astype(np.float32)
    mine /= np.linalg.norm(mine, axis=1, keepdims=True)
    for question, found in zip(questions, exact_nearest(LIBRARY, block, questions), strict=True):
        assert len(found) == 10
        assert found[0] == int(np.argmax(mine @ question.vector)) + block.start + 1


def test_every_chunk_has_its_owners_number() -> None:
    numbers = owner_numbers(LIBRARY)
    assert len(numbers) == 10_000
    assert set(numbers[:5_000]) == {0}
    assert 0 not in numbers[5_000:]
